/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/uprobe/uprobe_site.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/uprobe/uprobe_program.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/locations/index.h"
#include "gdbstub/locations/sequences.h"
#include "gdbstub/pads/pads.h"
#include "gdbstub/text/decoder.h"
#include "gdbstub/text/trap.h"
#include "gdbstub/text/undo.h"

static struct bpf_location *shared_of(const struct uprobe_placement *placement)
{
	return placement_shared(&placement->base, placement->state->placements);
}

/* ---- whether ---- */

static bool are_wanted(const struct location *location)
{
	const struct engines *engines = location->inferior->breakpoints->engines;

	return (engines->pads == PADS_ALWAYS ||
		(engines->pads == PADS_AUTO && location->hot)) &&
	       !engines->others_run && !location->crowded;
}

/* Is another location in the bytes that the jump takes? */
static bool is_crowded(const struct location *location, unsigned int span)
{
	const struct location *other;
	struct index_walk walk;

	for (other = index_begin(&walk, location->inferior->breakpoints,
				 location->addr + 1, location->addr + span - 1);
	     other; other = index_next(&walk))
		if (other->type <= BREAKPOINT_HARDWARE)
			return true;
	return false;
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

/* The copy of a call is a push and a jump, of which a shadow stack hears nothing; the
 * copies of what follows must be in no restartable sequence either. */
static const char *why_not(const struct location *location, const struct pad *pad)
{
	const struct thread *thread = TAILQ_FIRST(&location->inferior->threads);

	if (is_crowded(location, pad->jump_len))
		return "another breakpoint is in the bytes that a jump takes there";
	if (sequences_near(location, pad->jump_len))
		return "it is in a restartable sequence (rseq), or right before one";
	if (pad->pushes_return && thread && undo_has_shadow_stack(thread))
		return "it changes the shadow stack";
	return NULL;
}

void uprobe_make_site(struct uprobe_placement *placement, struct location *location)
{
	_cleanup_error_ struct error *error = NULL;
	const char *why = NULL;

	placement->pads_wanted = are_wanted(location);
	if (location->crowded)
		why = "another breakpoint is or was in the bytes that a jump takes "
		      "there";
	else if (location->inferior->breakpoints->engines->others_run)
		why = "in non-stop mode there are none";
	else if (!placement->pads_wanted)
		why = location->inferior->breakpoints->engines->pads == PADS_AUTO
			      ? "it is not hit often"
			      : "pads are off (monitor set pads auto|always)";
	if (!why)
		error = site_create(
			location->inferior, location->addr,
			is_reading_watched(location) ? NULL : &location->conditions,
			&placement->site);
	if (!why && !error)
		why = why_not(location, &placement->site->pad);
	if (why)
		uprobe_destroy_site(placement);
	if (why || error)
		placement->why_no_pad = strdup(why ? why : error_text(error));
}

void uprobe_destroy_site(struct uprobe_placement *placement)
{
	if (placement->site)
		site_destroy(take_ptr(placement->site));
	free(take_ptr(placement->why_no_pad));
}

bool uprobe_site_is_outdated(const struct uprobe_placement *placement)
{
	return placement->pads_wanted != are_wanted(placement->base.location) ||
	       (placement->site && placement->site->filter &&
		(is_reading_watched(placement->base.location) ||
		 site_filter_is_outdated(placement->site)));
}

/* To make a pad costs some tens of microseconds, and all threads halt for it; a hit
 * that it spares, half a microsecond and more. */
enum { HOT = 1000 };

/* Nothing is to be had of a pad, or of a second one. */
static bool is_settled(const struct uprobe_placement *placement)
{
	const struct location *location = placement->base.location;

	return placement->site || location->hot || location->crowded ||
	       location->conditions.count == 0;
}

unsigned int uprobe_note_hot(struct engine *engine, bool *any)
{
	uint64_t hits[BPF_LOCATIONS_MAX] = {0};
	struct placement *placement;
	unsigned int cold = 0;

	tally_false_hits(engine->placements->kernel.shared, hits);
	TAILQ_FOREACH (placement, &engine->placements->list, link) {
		struct location *location = placement->location;

		if (placement->engine != engine ||
		    is_settled((struct uprobe_placement *)placement))
			continue;
		location->hot = hits[placement->index] >= HOT;
		*any |= location->hot;
		cold += !location->hot;
	}
	return cold;
}

/* ---- where ---- */

int uprobe_site_target(const struct uprobe_placement *placement,
		       struct uprobe_target *ret)
{
	const struct site *site = placement->site;

	*ret = placement->target;
	ret->path = NULL;
	if (!site) {
		ret->path = strdup(placement->target.path);
	} else {
		ret->offset = site->offset;
		if (asprintf(&ret->path, "/proc/self/fd/%d", site->fd) < 0)
			ret->path = NULL;
	}
	return ret->path ? 0 : -ENOMEM;
}

static uint64_t trap_of(const struct site *site)
{
	return site->pad.addr + site->pad.trap;
}

void uprobe_site_arm(const struct uprobe_placement *placement)
{
	const struct arch_ops *arch = placement->state->arch;
	const struct location *location = placement->base.location;
	struct bpf_location *shared = shared_of(placement);

	shared->pc = location->addr;
	if (placement->site)
		uprobe_arm(shared, trap_of(placement->site), arch->displaced->nop,
			   arch->displaced->nop_len);
	else
		uprobe_arm(shared, location->addr, placement->insn,
			   placement->undo.len);
}

static bool is_trap_in_pad(const struct uprobe_placement *placement)
{
	const struct arch_ops *arch = placement->state->arch;
	uint8_t insn[TRAP_CODE_MAX];

	return inferior_read(placement->base.location->inferior,
			     trap_of(placement->site), insn,
			     arch->breakpoint_len) == (ssize_t)arch->breakpoint_len &&
	       memcmp(insn, arch->breakpoint_insn, arch->breakpoint_len) == 0;
}

bool uprobe_site_plant(const struct uprobe_placement *placement)
{
	struct location *location = placement->base.location;
	struct site *site = placement->site;

	if (!site)
		return trap_is_planted(location);
	trap_be(location, site->pad.jump, site->pad.planted, site->pad.jump_len);
	site->planted = is_trap_in_pad(placement) && trap_plant(location) == 0 &&
			trap_is_planted(location);
	return site->planted;
}

/* ---- what is told ---- */

static void print_code(const struct uprobe_placement *placement, struct buffer *out)
{
	const struct pad *pad = &placement->site->pad;
	struct decoder decoder;
	unsigned int at = pad->trap;

	if (!decoder_init(&decoder, placement->state->arch))
		return;
	while (at < pad->len &&
	       decoder_run(&decoder, pad->code + at, pad->len - at, pad->addr + at)) {
		const struct displaced_state *state =
			pad_find_state(pad, pad->addr + at);

		if (!state) /* what follows is data */
			break;
		buffer_printf(out, "    0x%" PRIx64 "  %s %s  (0x%" PRIx64 ")\n",
			      pad->addr + at, decoder.insn->mnemonic,
			      decoder.insn->op_str, state->pc);
		at += decoder.insn->size;
	}
	decoder_deinit(&decoder);
}

static void explain_filter(const struct uprobe_placement *placement, struct buffer *out)
{
	const struct site *site = placement->site;
	struct decoder decoder;
	unsigned int at = 0;

	if (!site->filter) {
		buffer_printf(out, "\nNo filter: %s\n",
			      site->why_no_filter ? site->why_no_filter
						  : "out of memory");
		return;
	}
	if (!decoder_init(&decoder, placement->state->arch))
		return;
	buffer_append_string(out, "\nThe filter, in the program, by which a false hit "
				  "meets no trap:\n");
	while (at < site->pad.trap &&
	       decoder_run(&decoder, site->pad.code + at, site->pad.trap - at,
			   site->pad.addr + at)) {
		buffer_printf(out, "    0x%" PRIx64 "  %s %s\n", site->pad.addr + at,
			      decoder.insn->mnemonic, decoder.insn->op_str);
		at += decoder.insn->size;
	}
	decoder_deinit(&decoder);
}

void uprobe_site_explain(const struct uprobe_placement *placement, struct buffer *out)
{
	if (placement->site)
		explain_filter(placement, out);
	if (!placement->site) {
		buffer_printf(out, "\nNo pad: %s\n",
			      placement->why_no_pad ? placement->why_no_pad
						    : "out of memory");
		return;
	}
	buffer_append_string(out, "\nThe uprobe is in a pad, to which a jump in the "
				  "place of the instruction leads\n(in parentheses: "
				  "the PC that threads are shown at there):\n");
	print_code(placement, out);
}
