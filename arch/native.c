/* SPDX-License-Identifier: BSD-2-Clause */
/* Native code at work: bytes, labels and states, the same for every processor. */
#include "arch/native.h"

#include <string.h>

#include "arch/arch.h"
#include "arch/register_table.h"

enum { REFERENCE_LEN = 4 };

void native_append(struct native_code *code, const void *bytes, unsigned int len)
{
	if (len > NATIVE_MAX - code->len) {
		code->failed = true;
		return;
	}
	memcpy(code->bytes + code->len, bytes, len);
	code->len += len;
}

unsigned int native_new_labels(struct native_code *code, unsigned int count)
{
	const unsigned int first = code->nlabels;

	if (count > NATIVE_LABELS_MAX - first) {
		code->failed = true;
		return NATIVE_NOT_FALSE;
	}
	for (unsigned int i = 0; i < count; i++)
		code->label[code->nlabels++] = NATIVE_UNBOUND;
	return first;
}

void native_bind(struct native_code *code, unsigned int label)
{
	if (label < code->nlabels)
		code->label[label] = (uint16_t)code->len;
}

void native_refer(struct native_code *code, unsigned int label)
{
	static const uint8_t unknown[REFERENCE_LEN];

	if (code->nfixups == NATIVE_FIXUPS_MAX) {
		code->failed = true;
		return;
	}
	code->fixup[code->nfixups++] = (struct native_fixup){
		(uint16_t)code->len, (uint16_t)label, REFERENCE_LEN};
	native_append(code, unknown, sizeof(unknown));
}

void native_begin_state(struct native_code *code, struct native_state state)
{
	if (code->nstates == NATIVE_STATES_MAX) {
		code->failed = true;
		return;
	}
	state.offset = (uint16_t)code->len;
	code->state[code->nstates++] = state;
}

static void move_back(uint16_t *offset, unsigned int from, unsigned int by)
{
	if (*offset >= from)
		*offset = (uint16_t)(*offset - by);
}

/* The bytes before @end are not needed any more. */
static void cut(struct native_code *code, unsigned int end, unsigned int len)
{
	memmove(code->bytes + end - len, code->bytes + end, code->len - end);
	code->len -= len;
	for (unsigned int i = 0; i < code->nlabels; i++)
		move_back(&code->label[i], end, len);
	for (unsigned int i = 0; i < code->nfixups; i++)
		move_back(&code->fixup[i].at, end, len);
	for (unsigned int i = 0; i < code->nstates; i++)
		move_back(&code->state[i].offset, end, len);
}

static int32_t distance(const struct native_code *code,
			const struct native_fixup *fixup)
{
	return (int32_t)code->label[fixup->label] - fixup->at;
}

/* Is one shorter now? Others may be near enough then. */
static bool shorten(struct native_code *code, const struct native_ops *ops)
{
	bool any = false;

	for (unsigned int i = 0; i < code->nfixups; i++) {
		struct native_fixup *fixup = &code->fixup[i];
		const unsigned int end = fixup->at + REFERENCE_LEN;
		unsigned int len;

		if (fixup->len != REFERENCE_LEN)
			continue;
		len = ops->shorten(code->bytes + fixup->at, distance(code, fixup));
		if (len == 0)
			continue;
		fixup->len = 1;
		fixup->at = (uint16_t)(end - len - fixup->len);
		cut(code, end, len);
		any = true;
	}
	return any;
}

void native_link(struct native_code *code, const struct native_ops *ops)
{
	for (unsigned int i = 0; i < code->nfixups; i++)
		code->failed |= code->label[code->fixup[i].label] == NATIVE_UNBOUND;
	if (code->failed)
		return;
	while (ops->shorten && shorten(code, ops)) {
	}
	for (unsigned int i = 0; i < code->nfixups; i++) {
		const struct native_fixup *fixup = &code->fixup[i];

		ops->refer(code->bytes + fixup->at, fixup->len, distance(code, fixup));
	}
}

unsigned int native_saved_before(uint32_t used, unsigned int reg)
{
	unsigned int count = NATIVE_SAVED_OTHERS;

	if (reg == 0)
		return NATIVE_SAVED_SCRATCH;
	for (unsigned int i = 1; i < reg; i++)
		count += used >> i & 1;
	return count;
}

/* Labels of a check, one after the other. */
enum { CHECK_REST, CHECK_FINE, CHECK_GAPS, CHECK_LABELS = CHECK_GAPS + NATIVE_GAPS };

void native_check_shadow(struct native_code *code, const struct native_ops *ops)
{
	const unsigned int check = native_new_labels(code, CHECK_LABELS);

	if (code->nchecks == NATIVE_CHECKS_MAX) {
		code->failed = true;
		return;
	}
	code->check[code->nchecks++] = (uint16_t)check;
	ops->compare_shared(code, false, offsetof(struct native_shared, end));
	ops->branch_on(code, NATIVE_LT_UNSIGNED, check + CHECK_REST);
	native_bind(code, check + CHECK_FINE);
}

static void check_rest(struct native_code *code, const struct native_ops *ops,
		       unsigned int check)
{
	native_bind(code, check + CHECK_REST);
	ops->compare_shared(code, true, offsetof(struct native_shared, start));
	ops->branch_on(code, NATIVE_LT_UNSIGNED, check + CHECK_FINE);
	for (unsigned int i = 0; i < NATIVE_GAPS; i++) {
		const unsigned int next = check + CHECK_GAPS + i;

		ops->compare_shared(code, false,
				    offsetof(struct native_shared, gaps[i].start));
		ops->branch_on(code, NATIVE_LT_UNSIGNED, next);
		ops->compare_shared(code, true,
				    offsetof(struct native_shared, gaps[i].end));
		ops->branch_on(code, NATIVE_LT_UNSIGNED, check + CHECK_FINE);
		native_bind(code, next);
	}
	ops->jump(code, NATIVE_NOT_FALSE);
}

void native_check_rest(struct native_code *code, const struct native_ops *ops)
{
	for (unsigned int i = 0; i < code->nchecks; i++)
		check_rest(code, ops, code->check[i]);
}

int native_restore(struct regs *regs, const struct native_state *state, uint32_t used,
		   const uint64_t *saved, unsigned int count, const uint8_t *encoded)
{
	const unsigned int sp_reg = regs->arch->sp_reg;
	uint64_t sp;
	int err = reg_read_u64(regs, sp_reg, &sp);

	if (err == 0)
		err = reg_write_u64(regs, sp_reg, sp + state->lowered);
	for (unsigned int number = 0; err == 0 && number < count; number++) {
		const unsigned int reg = encoded ? encoded[number] : number;
		const unsigned int index = native_saved_before(used, reg);

		if (state->changed && used >> reg & 1 && index < state->saved)
			err = reg_write_u64(regs, number,
					    saved[state->saved - 1 - index]);
	}
	return err;
}

const struct native_state *native_find_state(const struct native_code *code,
					     uint64_t offset)
{
	unsigned int i = 0;

	while (i + 1 < code->nstates && code->state[i + 1].offset <= offset)
		i++;
	return &code->state[i];
}
