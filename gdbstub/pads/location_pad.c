/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/pads/location_pad.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/locations/index.h"
#include "gdbstub/locations/sequences.h"
#include "gdbstub/text/kept_decoder.h"
#include "gdbstub/text/text.h"
#include "gdbstub/text/trap.h"
#include "gdbstub/text/undo.h"

/* ---- whether ---- */

/* In the text, the kernel would take a trap of ours for one of other servers' uprobes
 * at the same place of the file. It has none in a pad. */
static bool is_safer(const struct location *location, bool trap_stays)
{
	return trap_stays && location->among_uprobes;
}

static bool is_wanted(const struct location *location, bool trap_stays)
{
	const struct engines *engines = location->inferior->breakpoints->engines;

	return (engines->pads == PADS_ALWAYS ||
		(engines->pads == PADS_AUTO &&
		 (location->hot || is_safer(location, trap_stays)))) &&
	       !engines->others_run;
}

/* A probe of the kernel's in the text: nobody can tell when it comes and goes. */
static bool is_probe(const struct location *location)
{
	return location->state != LOCATION_OUT && location->trap &&
	       location->engine->ops->kernel_traps && !trap_is_jump(location);
}

/* Is one in the bytes that the jump takes? */
static bool is_crowded(const struct location *location, unsigned int span)
{
	const struct location *other;
	struct index_walk walk;

	for (other = index_begin(&walk, location->inferior->breakpoints,
				 location->addr + 1, location->addr + span - 1);
	     other; other = index_next(&walk))
		if (is_probe(other))
			return true;
	return false;
}

/* A number that tells of all others that may be in the way of a jump. */
static uint64_t number_neighbours(const struct location *location)
{
	const struct location *other;
	struct index_walk walk;
	uint64_t number = 0;

	for (other = index_begin(&walk, location->inferior->breakpoints,
				 location->addr + 1,
				 location->addr + TRAP_CODE_MAX - 1);
	     other; other = index_next(&walk))
		if (other->type <= BREAKPOINT_HARDWARE)
			number += UINT64_C(2) * other->number + is_probe(other);
	return number;
}

/* One that is being closed may still be there. */
static bool is_end_there(const struct location *location, const struct pad *pad)
{
	const unsigned int len = pad->jump_len - pad->planted;
	uint8_t end[JUMP_LEN_MAX];

	return len == 0 ||
	       (inferior_read(location->inferior, location->addr + pad->planted, end,
			      len) == (ssize_t)len &&
		memcmp(end, pad->jump + pad->planted, len) == 0);
}

/* A filter's reads would be hits. */
static bool is_reading_watched(const struct location *location)
{
	const struct location *watch;

	TAILQ_FOREACH (watch, &location->inferior->breakpoints->watchpoints, watch_link)
		if (watch->type != WATCHPOINT_WRITE)
			return true;
	return false;
}

enum { SEQUENCE_INSNS = 16 };

/* Where a store may follow that fails if something else was done meanwhile, as by code
 * that tries until nothing was. */
static bool may_be_in_sequence(const struct location *location)
{
	const struct insn_pattern *pattern = &location->inferior->arch->sequence;
	uint64_t addr = location->addr;
	uint32_t insn;

	for (unsigned int i = 0; pattern->mask != 0 && i < SEQUENCE_INSNS; i++) {
		addr -= sizeof(insn);
		if (breakpoints_read_memory(location->inferior, addr, &insn,
					    sizeof(insn)) != (ssize_t)sizeof(insn))
			return false; /* the text begins after it */
		if ((insn & pattern->mask) == pattern->value)
			return true;
	}
	return false;
}

/* The copy of a call is a push and a jump, of which a shadow stack hears nothing; the
 * copies of what follows must be in no restartable sequence either. */
static const char *why_not(const struct location *location, const struct pad *pad)
{
	const struct thread *thread = TAILQ_FIRST(&location->inferior->threads);

	if (is_crowded(location, pad->jump_len))
		return "a probe is in the bytes that a jump takes there";
	if (!is_end_there(location, pad))
		return "what follows it is about to change";
	if (sequences_near(location, pad->jump_len))
		return "it is in a restartable sequence (rseq), or right before one";
	if (may_be_in_sequence(location))
		return "it may be in a sequence of exclusive accesses";
	if (pad->pushes_return && thread && undo_has_shadow_stack(thread))
		return "it changes the shadow stack";
	return NULL;
}

static const char *why_unwanted(const struct location *location)
{
	const struct engines *engines = location->inferior->breakpoints->engines;

	if (engines->others_run)
		return "in non-stop mode there are none";
	return engines->pads == PADS_AUTO
		       ? "it is not hit often"
		       : "pads are off (monitor set pads auto|always)";
}

static void refuse(struct location_pad *pad, const char *why)
{
	location_pad_destroy(pad);
	pad->why_not = strdup(why);
}

/* A trap that stops at each hit, where programs in the kernel could decide. */
static bool is_outdone(const struct location *location, const struct site *site)
{
	const struct engines *engines = location->inferior->breakpoints->engines;

	return site->trap_stays && !site_filters(site) &&
	       location->conditions.count > 0 &&
	       !engines->engine[ENGINE_PERF_EVENT].unusable;
}

void location_pad_make(struct location_pad *pad, struct location *location,
		       bool trap_stays)
{
	const struct site_wish wish = {
		.addr = location->addr,
		.executed = location->hot,
		.conditions =
			is_reading_watched(location) ? NULL : &location->conditions,
		.trap_stays = trap_stays,
	};
	_cleanup_error_ struct error *error = NULL;
	const char *why;

	pad->trap_stays = trap_stays;
	pad->wanted = is_wanted(location, trap_stays);
	if (!pad->wanted) {
		refuse(pad, why_unwanted(location));
		return;
	}
	error = site_create(location->inferior, &wish, &pad->site);
	why = error ? error_text(error) : why_not(location, &pad->site->pad);
	pad->neighbours = number_neighbours(location);
	location->padless = why || is_outdone(location, pad->site);
	if (why)
		refuse(pad, why);
}

void location_pad_destroy(struct location_pad *pad)
{
	if (pad->site)
		site_destroy(take_ptr(pad->site));
	free(take_ptr(pad->why_not));
}

bool location_pad_is_outdated(const struct location_pad *pad,
			      const struct location *location)
{
	return pad->wanted != is_wanted(location, pad->trap_stays) ||
	       (pad->wanted && !pad->site &&
		pad->neighbours != number_neighbours(location)) ||
	       (pad->site &&
		((site_filters(pad->site) && is_reading_watched(location)) ||
		 site_filter_is_outdated(pad->site)));
}

bool location_pad_plant(const struct location_pad *pad, struct location *location)
{
	struct site *site = pad->site;

	trap_be_jump(location, site->pad.jump, site->pad.planted, site->pad.jump_len);
	site->planted = trap_plant(location) == 0 && trap_is_planted(location);
	return site->planted;
}

/* ---- what is told ---- */

/* Filters do not tell threads apart. */
void location_pad_add_counts(const struct location_pad *pad, struct counts *counts)
{
	const struct hit_counts filtered = {
		.hits = pad->site ? site_false_hits(pad->site) : 0};

	if (filtered.hits > 0)
		counts_add(counts, 0, &filtered);
}

void location_pad_reset_counts(const struct location_pad *pad)
{
	if (pad->site)
		site_forget_hits(pad->site);
}

const char *location_pad_why_none(const struct location_pad *pad)
{
	if (pad->site)
		return NULL;
	return pad->why_not ? pad->why_not : "out of memory";
}

const char *location_pad_why_no_filter(const struct location_pad *pad)
{
	if (site_filters(pad->site))
		return NULL;
	return pad->site->why_no_filter ? pad->site->why_no_filter : "out of memory";
}

void location_pad_tell(const struct location_pad *pad, struct buffer *out)
{
	const char *why_none = location_pad_why_none(pad), *why_no_filter;

	if (why_none) {
		buffer_printf(out, "No pad: %s\n", why_none);
		return;
	}
	buffer_append_string(out, "The trap is in a pad: code that is made for it, to "
				  "which a jump in the place of\nthe instruction "
				  "leads.\n");
	why_no_filter = location_pad_why_no_filter(pad);
	if (why_no_filter)
		buffer_printf(out, "No filter: %s\n", why_no_filter);
	else
		buffer_append_string(out, "The filter, native code at the pad's start, "
					  "has false hits meet no trap.\n");
}

static void print_body(struct decoder *decoder, const struct pad *pad,
		       struct buffer *out)
{
	unsigned int at = pad->trap;

	buffer_append_string(out, "The trap, and the instructions that the jump has "
				  "displaced (in parentheses: the PC\nthat threads are "
				  "shown at there):\n");
	if (pad->hop_len > 0)
		buffer_printf(out,
			      "    0x%" PRIx64 "  a jump that leads on  (0x%" PRIx64
			      ")\n",
			      pad->entry, pad->insn);
	for (unsigned int i = 0; i < pad->nnext; i++)
		buffer_printf(out,
			      "    0x%" PRIx64 "  a jump from a next one  (0x%" PRIx64
			      ")\n",
			      pad->next[i].entry, pad->next[i].insn);
	while (at < pad->len &&
	       decoder_run(decoder, pad->code + at, pad->len - at, pad->addr + at)) {
		const struct displaced_state *state =
			pad_find_state(pad, pad->addr + at);

		if (!state) /* what follows is data */
			break;
		buffer_printf(out, "    0x%" PRIx64 "  %s %s  (0x%" PRIx64 ")\n",
			      pad->addr + at, decoder->insn->mnemonic,
			      decoder->insn->op_str, state->pc);
		at += decoder->insn->size;
	}
}

static void print_filter(struct decoder *decoder, const struct site *site,
			 struct buffer *out)
{
	const struct pad *pad = &site->pad;
	unsigned int at = 0;

	if (site_filters(site))
		buffer_append_string(out, "The filter, by which a false hit meets no "
					  "trap:\n");
	else if (site->is_plain)
		buffer_append_string(out, "Code that goes past the trap once the "
					  "server has been killed:\n");
	while (at < pad->trap &&
	       decoder_run(decoder, pad->code + at, pad->trap - at, pad->addr + at)) {
		buffer_printf(out, "    0x%" PRIx64 "  %s %s\n", pad->addr + at,
			      decoder->insn->mnemonic, decoder->insn->op_str);
		at += decoder->insn->size;
	}
}

void location_pad_print(const struct location_pad *pad, const struct inferior *inferior,
			struct buffer *out)
{
	struct decoder *decoder = decoder_take(inferior);

	if (!decoder)
		return;
	print_filter(decoder, pad->site, out);
	print_body(decoder, &pad->site->pad, out);
	decoder_give_back(inferior, decoder);
}
