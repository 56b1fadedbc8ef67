/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The uprobe engine: the kernel's own traps in the text, with a BPF program each. As
 * many as one likes, and nothing stays behind when the server is gone. Here: putting in
 * place and taking out.
 */
#include "bpf/uprobe/uprobe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/log.h"
#include "bpf/placement/placement_explain.h"
#include "bpf/placement/placement_output.h"
#include "bpf/placement/placement_report.h"
#include "bpf/placement/placement_stop.h"
#include "bpf/uprobe/uprobe_program.h"
#include "bpf/uprobe/uprobe_memory.h"
#include "bpf/uprobe/uprobe_sequence.h"
#include "bpf/uprobe/uprobe_site.h"
#include "bpf/uprobe/uprobe_stop.h"
#include "bpf/uprobe/uprobe_text.h"
#include "bpf/uprobe/uprobe_trial.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/inferior/thread_end.h"
#include "gdbstub/locations/hit_costs.h"
#include "gdbstub/pads/pads.h"
#include "gdbstub/text/trap.h"
#include "gdbstub/text/undo.h"

/* ---- the state ---- */

static void state_free(struct uprobe *state)
{
	background_close_destroy(state->closer);
	programs_deinit(&state->programs);
	free(state);
}

static struct error *uprobe_probe(struct engine *engine)
{
	struct placements *placements = engine->placements;
	struct uprobe *state;
	struct error *error;

	if (placements->unusable)
		return error_copy(placements->unusable);
	if (!arch_native()->undo)
		return error_create(0, "what instructions change is not known here");
	state = calloc(1, sizeof(*state));
	if (!state)
		return error_create(ENOMEM, "the uprobe engine");
	state->arch = arch_native();
	TAILQ_INIT(&state->open);
	state->placements = placements;
	programs_init(&state->programs, &placements->kernel, state->arch, true);
	state->closer = background_close_create();
	error = state->closer
			? uprobe_choose(state->arch, state->closer, &state->options)
			: error_create(ENOMEM, "the uprobe engine");
	if (error) {
		state_free(state);
		return error;
	}
	engine->state = state;
	return NULL;
}

static void uprobe_deinit(struct engine *engine)
{
	state_free(engine->state);
	engine->state = NULL;
}

/* ---- one placement ---- */

static struct bpf_location *shared_of(const struct uprobe_placement *placement)
{
	return placement_shared(&placement->base, placement->state->placements);
}

static void placement_free(struct uprobe_placement *placement)
{
	struct uprobe *state = placement->state;

	TAILQ_REMOVE(&state->open, placement, link);
	if (TAILQ_EMPTY(&state->open))
		uprobe_file_deinit(&state->file);
	location_pad_destroy(&placement->pad);
	uprobe_target_deinit(&placement->target);
	free(placement);
}

/* Its program must not serve anybody else before. */
static void on_closed(struct closing *closing)
{
	struct uprobe_placement *placement =
		(struct uprobe_placement *)((char *)closing -
					    offsetof(struct uprobe_placement, closing));

	placement_deinit(&placement->base);
	placement_free(placement);
}

/* Nothing may hit it any more. Takes over the placement. */
static void placement_close(struct uprobe_placement *placement)
{
	placement->closing.closed = on_closed;
	if (placement->closing.fd < 0)
		on_closed(&placement->closing);
	else
		background_close_add(placement->state->closer, &placement->closing);
}

/* ---- which locations ---- */

/* Programs see only what is there: reading brings the page of a variable in. */
static void touch_variable(struct inferior *inferior, const struct insn_undo *undo,
			   uint64_t addr)
{
	const struct insn_store *store = &undo->store;
	uint8_t bytes[UNDO_BYTES_MAX];

	if (store->len > 0 && store->base == inferior->arch->pc_reg)
		inferior_read(inferior, addr + (uint64_t)store->displacement, bytes,
			      store->len);
}

/*
 * Tasks that are shown as threads, and are none for the kernel, pass a probe of the
 * process. With one of their own they would take it along into another program.
 */
static bool is_one_process(const struct inferior *inferior)
{
	return inferior->ntasks == 0;
}

/*
 * The kernel finds the memory of a process by its leader: when that has ended before
 * other threads, any change of the probes in the file may take ours away. So it is to
 * tell of its end beforehand. False: it has ended.
 */
static bool leader_will_tell(struct inferior *inferior)
{
	struct thread *leader = inferior_thread(inferior, inferior->pid);

	return leader && !inferior->leaderless && thread_tell_end(leader) == 0;
}

/* In memory that a vfork child shares: the kernel takes all traps there for its own. */
static bool is_taken(struct location *location)
{
	const struct location *other = trap_at(location->inferior, location->addr);

	return other && other->engine->ops != &uprobe_engine;
}

static struct error *look_at_insn(struct uprobe_placement *placement,
				  const struct location *location)
{
	struct insn_undo *undo = &placement->undo;

	if (placement->pad.site) {
		*undo = (struct insn_undo){.len = placement->pad.site->pad.insn_len};
		return NULL;
	}
	if (placement->state->options.redirects)
		return undo_find_nothing(location->inferior, location->addr, undo);
	return undo_find(location->inferior, location->addr, undo);
}

/* The only place that a jump of few bytes can lead to may be that of a pad before,
 * which stays until the kernel has closed the probe in it. */
static void make_pad(struct uprobe_placement *placement, struct location *location)
{
	struct location_pad *pad = &placement->pad;

	location_pad_make(pad, location, false);
	if (!pad->wanted || pad->site)
		return;
	background_close_collect(placement->state->closer, true);
	location_pad_destroy(pad);
	location_pad_make(pad, location, false);
}

static struct error *prepare(struct uprobe_placement *placement,
			     struct location *location)
{
	struct error *error;

	if (location->type != BREAKPOINT_SOFTWARE)
		return error_create(EOPNOTSUPP,
				    "uprobes serve software breakpoints only");
	make_pad(placement, location);
	error = look_at_insn(placement, location);
	if (!error && uprobe_has_witnesses(placement, location->inferior))
		error = error_create(0, "the instruction there writes to memory that "
					"other threads may see");
	if (!error && uprobe_stores_to_shared(placement, location))
		error = error_create(0, "the instruction there writes to memory that "
					"is mapped shared, which others may see");
	if (!error && !is_one_process(location->inferior))
		error = error_create(0,
				     "a task that is no thread of the process shares "
				     "its memory");
	if (!error && !leader_will_tell(location->inferior))
		error = error_create(0, "the first thread of the process has ended");
	if (!error && is_taken(location))
		error = error_create(0, "another process has a trap there, in the same "
					"memory");
	if (!error)
		error = uprobe_target_find(location->inferior, location->addr,
					   placement->undo.len, &placement->state->file,
					   &placement->target);
	if (!error)
		error = uprobe_check_sequence(placement, location);
	if (!error && uprobe_note_insn(placement, location) < 0)
		error = error_create(0, "the instruction cannot be read");
	if (!error)
		touch_variable(location->inferior, &placement->undo, location->addr);
	return error;
}

/* ---- the operations ---- */

/* The kernel has planted its trap, or has it? */
static struct error *open_and_check(struct uprobe_placement *placement)
{
	struct location *location = placement->base.location;
	struct uprobe_target target;
	int err = trap_note(location);

	if (err < 0)
		return error_create(-err, "the instruction cannot be read");
	uprobe_site_arm(placement);
	placement->target.cookie = placement->base.index;
	err = uprobe_site_target(placement, &target);
	if (err == 0)
		err = uprobe_event_open(&placement->state->options, &target,
					location->inferior->pid,
					placement->base.program->fd);
	uprobe_target_deinit(&target);
	placement->closing.fd = err;
	if (err >= 0 && uprobe_site_plant(placement))
		return NULL;
	shared_of(placement)->armed = 0;
	trap_lift(location);
	trap_forget(location);
	if (err < 0)
		return uprobe_event_error(&placement->state->options, -err);
	return error_create(0, "the kernel has planted no trap");
}

static struct error *uprobe_insert(struct engine *engine, struct location *location)
{
	struct uprobe *state = engine->state;
	struct uprobe_placement *placement = calloc(1, sizeof(*placement));
	struct bpf_site site = {.kind = uprobe_kind(&state->options),
				.redirects = state->options.redirects};
	struct error *error;

	if (!placement)
		return error_create(ENOMEM, "a uprobe");
	placement->closing.fd = -1;
	background_close_collect(state->closer, false);
	placement->state = state;
	TAILQ_INSERT_TAIL(&state->open, placement, link);
	error = prepare(placement, location);
	if (!error) {
		site.store = placement->undo.store;
		site.insn_len = placement->undo.len;
		site.in_pad = placement->pad.site;
		if (site.in_pad) {
			site.redirects = false;
			site.insn_len = state->arch->displaced->nop_len;
		}
		error = placement_init(&placement->base, engine, &state->programs,
				       location, &site);
	}
	if (error) {
		placement_free(placement);
		return error;
	}
	placement->base.taken = uprobe_undo;
	error = open_and_check(placement);
	if (error) {
		placement_retire(&placement->base, state->placements);
		placement_close(placement);
		return error;
	}
	location->engine_data = placement;
	return NULL;
}

static void uprobe_remove(struct engine *engine, struct location *location, bool gone)
{
	struct uprobe *state = engine->state;
	struct uprobe_placement *placement = location->engine_data;
	int err = 0;

	shared_of(placement)->armed = 0;
	if (placement->pad.site)
		placement->pad.site->planted = false;
	if (!gone && location->state == LOCATION_IN)
		err = trap_lift(location);
	if (err < 0)
		log_debug(LOG_STOPS,
			  "trap at 0x%jx stays until its probe is closed: %s",
			  (uintmax_t)location->addr, strerror(-err));
	placements_print_output(state->placements, engine->output, engine->own_output,
				true);
	placement_retire(&placement->base, state->placements);
	placement_close(placement);
	trap_forget(location);
	location->engine_data = NULL;
}

/* Where the program maps its text anew, the kernel plants the trap again. */
static int uprobe_suspend(struct engine *engine, struct location *location)
{
	struct uprobe_placement *placement = location->engine_data;
	int err = trap_lift(location);

	(void)engine;
	if (err == 0)
		shared_of(placement)->armed = 0;
	if (placement->pad.site)
		placement->pad.site->planted = false;
	return err;
}

/* While it was switched off, nobody has looked after what it lies in. */
static int uprobe_resume(struct engine *engine, struct location *location)
{
	struct uprobe_placement *placement = location->engine_data;
	int err = trap_plant_over(location, placement->insn, placement->undo.len);

	(void)engine;
	if (err == 0)
		uprobe_site_arm(placement);
	if (placement->pad.site)
		placement->pad.site->planted = err == 0;
	return err;
}

static bool uprobe_intact(struct engine *engine, const struct location *location)
{
	(void)engine;
	return trap_is_planted(location) && uprobe_is_insn(location->engine_data);
}

static bool uprobe_vanished(struct engine *engine, const struct location *location)
{
	(void)engine;
	return uprobe_has_vanished(location->engine_data);
}

static bool uprobe_outdated(struct engine *engine, const struct location *location)
{
	const struct uprobe_placement *placement = location->engine_data;

	(void)engine;
	return placement->inexact ||
	       location_pad_is_outdated(&placement->pad, location) ||
	       uprobe_has_witnesses(placement, location->inferior) ||
	       !is_one_process(location->inferior) || location->inferior->leaderless;
}

static int uprobe_thread_added(struct engine *engine, struct location *location,
			       struct thread *thread)
{
	struct uprobe_placement *placement = location->engine_data;

	placement_thread_added(&placement->base, engine->placements, thread);
	return 0;
}

static bool uprobe_has_hit(struct engine *engine, const struct thread *thread,
			   uint64_t addr)
{
	return placements_have_hit(engine->placements, thread, addr);
}

static void uprobe_on_stop(struct engine *engine, const struct event *event,
			   struct hits *hits)
{
	((struct uprobe *)engine->state)->undone = (struct undone){0};
	placements_on_stop(engine->placements, event, hits);
	uprobe_take_moved(engine, event, hits);
}

static void uprobe_settle(struct engine *engine)
{
	background_close_collect(((struct uprobe *)engine->state)->closer, true);
}

static void uprobe_give_back(struct engine *engine)
{
	struct uprobe *state = engine->state;

	background_close_collect(state->closer, true);
	programs_forget_idle(&state->programs);
}

/* They are measured when they are first asked for: that takes longer than all else that
 * the server does before it listens. */
static const struct hit_costs *uprobe_costs(const struct engine *engine)
{
	struct uprobe *state = engine->state;

	if (!state->costs_known)
		state->costs =
			hit_costs_measure(state->arch, &state->options, state->closer);
	state->costs_known = true;
	return &state->costs;
}

static void uprobe_print_found(const struct engine *engine, struct buffer *out)
{
	const struct uprobe *state = engine->state;
	const struct hit_costs *costs = uprobe_costs(engine);

	buffer_printf(out, "made by %s; threads stop %s; a false hit costs ",
		      state->options.multi ? "uprobe links of BPF" : "perf events",
		      state->options.redirects
			      ? "before the instruction"
			      : "after the instruction, which is undone");
	hit_costs_append(costs->emulated_ns, out);
	buffer_append_string(out, " where the kernel emulates the instruction, else ");
	hit_costs_append(costs->stepped_ns, out);
	if (costs->hardware_ns == 0)
		return;
	buffer_append_string(out, " (in hardware ");
	hit_costs_append(costs->hardware_ns, out);
	buffer_append_char(out, ')');
}

static void uprobe_counts(struct engine *engine, const struct location *location,
			  struct counts *counts)
{
	const struct uprobe_placement *placement = location->engine_data;

	placement_counts(engine, location, counts);
	location_pad_add_counts(&placement->pad, counts);
}

static void uprobe_reset_counts(struct engine *engine, struct location *location)
{
	const struct uprobe_placement *placement = location->engine_data;

	placement_reset_counts(engine, location);
	location_pad_reset_counts(&placement->pad);
}

static const struct location_pad *uprobe_pad(const struct location *location)
{
	return &((const struct uprobe_placement *)location->engine_data)->pad;
}

const struct engine_ops uprobe_engine = {
	.name = "uprobe",
	.title = "the kernel's traps in the program's text, conditions decided in the "
		 "kernel by BPF",
	.probe = uprobe_probe,
	.deinit = uprobe_deinit,
	.insert = uprobe_insert,
	.remove = uprobe_remove,
	.suspend = uprobe_suspend,
	.resume = uprobe_resume,
	.intact = uprobe_intact,
	.vanished = uprobe_vanished,
	.outdated = uprobe_outdated,
	.thread_added = uprobe_thread_added,
	.on_stop = uprobe_on_stop,
	.has_hit = uprobe_has_hit,
	.pass = uprobe_pass,
	.kernel_traps = true,
	.show_originals = uprobe_show_originals,
	.settle = uprobe_settle,
	.give_back = uprobe_give_back,
	.costs = uprobe_costs,
	.print_found = uprobe_print_found,
	.note_hot = uprobe_note_hot,
	.counts = uprobe_counts,
	.gate = placement_gate,
	.last = placement_last,
	.reset_counts = uprobe_reset_counts,
	.describe = placement_describe,
	.left_over = placement_left_over,
	.print_program = placement_print_program,
	.pad = uprobe_pad,
};
