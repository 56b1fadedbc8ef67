/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/text/access.h"

#include <stdio.h>
#include <string.h>

#include "gdbstub/text/kept_decoder.h"

enum {
	CALL_MAX = 8,			/* bytes of the longest call */
	FUNCTION_MAX = 4 * 1024 * 1024, /* bytes of code that are decoded in order */
};

struct search {
	const struct arch_ops *arch;
	const struct access_stop *stop;
	struct decoder *decoder;
};

/* Decodes the instruction at @addr. */
static bool decode(struct search *search, uint64_t addr)
{
	uint8_t code[INSN_LEN_MAX];
	ssize_t n = search->stop->read(search->stop->data, addr, code, sizeof(code));

	return n > 0 && decoder_run(search->decoder, code, (size_t)n, addr);
}

static bool ends_at(struct search *search, uint64_t addr, uint64_t end)
{
	return decode(search, addr) && addr + search->decoder->insn->size == end;
}

static bool covers(const struct access_stop *stop, const struct insn_access *access)
{
	uint64_t from = access->addr - access->before;
	uint64_t to = access->addr + access->size + access->after;

	return access->known && from < stop->addr + stop->len && stop->addr < to;
}

static bool is_of_kind(const struct access_stop *stop, const struct insn_access *access)
{
	return (stop->by_write && access->writes) || (stop->by_read && access->reads);
}

/* Has the decoded instruction accessed what is watched? LIKELY: it may have. */
static enum access_trust judge(const struct search *search, struct insn_accesses *found,
			       unsigned int *size)
{
	enum access_trust trust = ACCESS_UNKNOWN;
	struct insn_written written;

	*size = 0;
	decoder_find_written(search->decoder, &written);
	search->arch->accesses(search->decoder->insn, &written, search->stop->regs,
			       found);
	for (unsigned int i = 0; i < found->count; i++) {
		const struct insn_access *access = &found->access[i];

		if (!is_of_kind(search->stop, access))
			continue;
		if (covers(search->stop, access)) {
			*size = access->size;
			return ACCESS_SURE;
		}
		if (!access->known && trust == ACCESS_UNKNOWN) {
			*size = access->size;
			trust = ACCESS_LIKELY;
		}
	}
	return trust;
}

/* In the syntax that gdb uses by default, where there is a choice. */
static void keep(const struct search *search, enum access_trust trust,
		 unsigned int size, struct access *ret)
{
	ret->trust = trust;
	ret->pc = search->decoder->insn->address;
	ret->size = size;
	snprintf(ret->text, sizeof(ret->text), "%s%s%s",
		 search->decoder->insn->mnemonic,
		 search->decoder->insn->op_str[0] != '\0' ? " " : "",
		 search->decoder->insn->op_str);
}

/* One that is not done with its rounds: the PC is at it. */
static void find_repeating(struct search *search, struct access *ret)
{
	struct insn_accesses found;
	unsigned int size;

	if (decode(search, search->stop->pc) &&
	    judge(search, &found, &size) == ACCESS_SURE && found.repeats)
		keep(search, ACCESS_SURE, size, ret);
}

/* A call that led here: what it has pushed is the address after it. */
static void find_call(struct search *search, struct access *ret)
{
	const struct access_stop *stop = search->stop;

	for (unsigned int len = 2; len <= CALL_MAX && stop->stack_top != 0; len++) {
		struct insn_accesses found;
		unsigned int size;
		bool here;

		if (!ends_at(search, stop->stack_top - len, stop->stack_top) ||
		    judge(search, &found, &size) != ACCESS_SURE || !found.calls)
			continue;
		here = found.target_known && found.target == stop->pc;
		if (here || (!found.target_known && ret->trust == ACCESS_UNKNOWN))
			keep(search, here ? ACCESS_SURE : ACCESS_LIKELY, size, ret);
	}
}

/* Where the instruction that ends at the PC begins, by all that are before it in the
 * function; 0: it does not come out. */
static uint64_t begin_in_order(struct search *search)
{
	uint64_t at = search->stop->start, pc = search->stop->pc;

	if (at == 0 || pc <= at || pc - at > FUNCTION_MAX)
		return 0;
	while (decode(search, at)) {
		uint64_t next = at + search->decoder->insn->size;

		if (next == pc)
			return at;
		if (next > pc)
			break;
		at = next;
	}
	return 0;
}

static void find_in_order(struct search *search, struct access *ret)
{
	uint64_t at = begin_in_order(search);
	struct insn_accesses found;
	enum access_trust trust;
	unsigned int size;

	if (at == 0 || !decode(search, at))
		return;
	trust = judge(search, &found, &size);
	if (trust > ret->trust)
		keep(search, trust, size, ret);
}

/*
 * Every start before the PC: the longest has the prefixes. If there is but one that may
 * have made the access, it has; a read may also be one of a jump that led here.
 */
static void find_by_trial(struct search *search, struct access *ret)
{
	uint64_t pc = search->stop->pc;
	unsigned int candidates = 0;

	for (unsigned int len = INSN_LEN_MAX; len > 0; len--) {
		enum access_trust trust = ACCESS_UNKNOWN;
		struct insn_accesses found;
		unsigned int size;

		if (ends_at(search, pc - len, pc))
			trust = judge(search, &found, &size);
		candidates += trust != ACCESS_UNKNOWN;
		if (trust == ACCESS_SURE && ret->trust == ACCESS_UNKNOWN)
			keep(search, ACCESS_LIKELY, size, ret);
	}
	if (candidates == 1 && ret->trust == ACCESS_LIKELY && !search->stop->by_read)
		ret->trust = ACCESS_SURE;
}

static void find(struct search *search, struct access *ret)
{
	find_repeating(search, ret);
	if (ret->trust != ACCESS_SURE)
		find_in_order(search, ret);
	if (ret->trust != ACCESS_SURE)
		find_call(search, ret);
	if (ret->trust == ACCESS_UNKNOWN)
		find_by_trial(search, ret);
}

/* The text as gdb shows it by default: details are told in the other syntax only. */
static void show_as_gdb(struct search *search, struct access *ret)
{
	if (ret->trust == ACCESS_UNKNOWN || !decoder_be_like_gdb(search->decoder, true))
		return;
	if (decode(search, ret->pc))
		keep(search, ret->trust, ret->size, ret);
	decoder_be_like_gdb(search->decoder, false);
}

/* Where the trap comes before the access. */
static void find_ahead(struct search *search, struct access *ret)
{
	if (decode(search, search->stop->pc))
		keep(search, ACCESS_SURE, 0, ret);
}

void access_find(const struct inferior *inferior, const struct access_stop *stop,
		 struct access *ret)
{
	const struct arch_ops *arch = inferior->arch;
	struct search search = {
		.arch = arch, .stop = stop, .decoder = decoder_take(inferior)};

	*ret = (struct access){0};
	if (!search.decoder)
		return;
	if (arch->stores) {
		find_ahead(&search, ret);
	} else if (arch->accesses) {
		find(&search, ret);
		show_as_gdb(&search, ret);
	}
	decoder_give_back(inferior, search.decoder);
}
