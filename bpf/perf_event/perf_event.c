/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hardware engine: perf breakpoint events with a BPF program each. The
 * program decides the condition; a false hit ends in the kernel. Here: putting in
 * place and taking out.
 */
#include "bpf/perf_event/perf_event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/base/descriptors.h"
#include "bpf/kernel/hw_event.h"
#include "bpf/perf_event/perf_probe.h"
#include "bpf/placement/placement_explain.h"
#include "bpf/placement/placement_output.h"
#include "bpf/placement/placement_report.h"
#include "bpf/placement/placement_stop.h"
#include "gdbstub/breakpoints/slots.h"
#include "gdbstub/breakpoints/watch.h"

static void perf_placement_close(struct perf_placement *placement)
{
	for (size_t i = 0; i < placement->nfds; i++)
		close(placement->fds[i]);
	free(placement->fds);
	placement->fds = NULL;
	placement->nfds = 0;
}

static int open_on_thread(const struct perf_event *state,
			  struct perf_placement *placement, const struct thread *thread)
{
	struct hw_event_options options = {
		.arch = state->arch,
		.program_fd = placement->base.program->fd,
		.sigtrap = state->sigtrap,
		.sig_data = placement->sig_data,
		.kernel = placement->sees_kernel,
	};
	struct hw_region regions[HW_SLOTS_MAX];
	int nregions = slots_plan(placement->base.location, regions, HW_SLOTS_MAX);
	int *fds;

	if (nregions < 0)
		return nregions;
	fds = reallocarray(placement->fds, placement->nfds + (size_t)nregions,
			   sizeof(*fds));
	if (!fds)
		return -ENOMEM;
	placement->fds = fds;
	for (int i = 0; i < nregions; i++) {
		int fd;

		options.region = regions[i];
		fd = hw_event_open(&options, thread->tid);
		if (fd < 0)
			return fd;
		placement->fds[placement->nfds++] = fd;
	}
	return 0;
}

/* Those from the @first on. */
static int enable_events(const struct perf_placement *placement, size_t first)
{
	int result = 0;

	for (size_t i = first; i < placement->nfds; i++) {
		int r = hw_event_enable(placement->fds[i]);

		if (r < 0)
			result = r;
	}
	return result;
}

/* By a word that the program reads: to switch events off and on takes the kernel an
 * interrupt for each sleeping thread (1,000 of them: up to 16 ms). */
static void suspend(const struct perf_event *state,
		    const struct perf_placement *placement, bool is_suspended)
{
	struct bpf_location *shared =
		placement_shared(&placement->base, state->placements);

	__atomic_store_n(&shared->suspended, is_suspended, __ATOMIC_SEQ_CST);
}

static int perf_placement_open(const struct perf_event *state,
			       struct perf_placement *placement)
{
	const struct thread *thread;

	FOREACH_THREAD (thread, placement->base.location->inferior) {
		int r = descriptors_are_short()
				? -EMFILE
				: open_on_thread(state, placement, thread);

		if (r < 0 && r != -ESRCH) /* else just gone */
			return r;
	}
	/* The program may be one that was suspended when it was last in place. */
	suspend(state, placement, false);
	placement_shared(&placement->base, state->placements)->dropped = 0;
	/* Nothing fires before everything is there. */
	return enable_events(placement, 0);
}

static struct error *insert_error(int r)
{
	switch (r) {
	case -ENOSPC:
		return error_create(ENOSPC, "no hardware breakpoint slot is free");
	case -EOPNOTSUPP:
		return error_create(EOPNOTSUPP,
				    "the processor has no such breakpoints");
	case -EPERM:
	case -EACCES:
		return error_create(-r, "perf events of this process may not be opened "
					"(it is protected: needs root)");
	case -EMFILE:
		return descriptors_error("a hardware breakpoint needs an event for "
					 "each thread");
	default:
		return error_create(-r, "a hardware breakpoint event cannot be opened");
	}
}

static void perf_placement_destroy(struct perf_event *state,
				   struct perf_placement *placement)
{
	perf_placement_close(placement);
	placement_retire(&placement->base, state->placements);
	placement_deinit(&placement->base);
	free(placement);
}

/* Are writes by system calls to be hits of the location? */
static bool wants_kernel(const struct engine *engine, const struct location *location)
{
	const struct perf_event *state = engine->state;

	return location->type == WATCHPOINT_WRITE && engine->watch_kernel &&
	       !state->no_kernel_hits;
}

/* Its conditions are read before accesses, and others' accesses may be late. */
static bool reads_with_others(const struct location *location)
{
	return watch_looks_after(location) && watch_has_others(location);
}

static struct bpf_site site_of(const struct location *location)
{
	return (struct bpf_site){
		.watch =
			{
				.access = location->type > BREAKPOINT_HARDWARE,
				.addr = location->watch.filters ? location->addr : 0,
				.len = location->watch.filters ? location->len : 0,
				.stub_decides = watch_looks_after(location),
				.shared_reads = reads_with_others(location),
			},
	};
}

/* Where the kernel steps over a hit, it must not be at what enters the kernel
 * (gdbstub/tracing/hit_step.h). */
static bool is_at_call(const struct location *location)
{
	return location->inferior->arch->hit_step &&
	       location->type <= BREAKPOINT_HARDWARE &&
	       syscall_is_at(location->inferior, location->addr);
}

static struct error *perf_event_insert(struct engine *engine, struct location *location)
{
	struct perf_event *state = engine->state;
	struct perf_placement *placement;
	const struct bpf_site site = site_of(location);
	struct error *error;
	int r;

	if (is_at_call(location))
		return error_create(EOPNOTSUPP,
				    "the kernel cannot step over a hit at a system "
				    "call's instruction here");
	placement = calloc(1, sizeof(*placement));
	if (!placement)
		return insert_error(-ENOMEM);
	placement->sig_data = state->next_sig_data;
	placement->sees_kernel = wants_kernel(engine, location);
	placement->shares_reads = site.watch.shared_reads;
	error = placement_init(&placement->base, engine,
			       placement->sees_kernel ? &state->kernel_programs
						      : &state->programs,
			       location, &site);
	if (error) {
		free(placement);
		return error;
	}
	location->inferior->has_perf_events = true;
	r = perf_placement_open(state, placement);
	if (r < 0) {
		perf_placement_destroy(state, placement);
		return insert_error(r);
	}
	state->next_sig_data = (state->next_sig_data & ~UINT64_C(0xffffffff)) |
			       (uint32_t)(state->next_sig_data + 1);
	location->engine_data = placement;
	return NULL;
}

/*
 * The events of threads that have ended are closed here and not before: threads
 * that they made inherited from them, and the kernel takes an inherited event
 * away together with the one that was opened.
 */
static void perf_event_remove(struct engine *engine, struct location *location,
			      bool gone)
{
	struct perf_event *state = engine->state;
	struct perf_placement *placement = location->engine_data;

	/* Closing is all there is to do, whether or not anybody is left. */
	(void)gone;
	perf_placement_close(placement);
	placements_print_output(state->placements, engine->output, engine->own_output,
				true);
	perf_placement_destroy(state, placement);
	location->engine_data = NULL;
}

static int perf_event_suspend(struct engine *engine, struct location *location)
{
	suspend(engine->state, location->engine_data, true);
	return 0;
}

static int perf_event_resume(struct engine *engine, struct location *location)
{
	suspend(engine->state, location->engine_data, false);
	return 0;
}

static bool perf_event_outdated(struct engine *engine, const struct location *location)
{
	const struct perf_placement *placement = location->engine_data;

	return placement->sees_kernel != wants_kernel(engine, location) ||
	       placement->shares_reads != reads_with_others(location);
}

/* Threads inherit in the kernel, tasks without CLONE_THREAD do not. */
static int perf_event_thread_added(struct engine *engine, struct location *location,
				   struct thread *thread)
{
	const struct perf_event *state = engine->state;
	struct perf_placement *placement = location->engine_data;
	size_t first = placement->nfds;
	int r;

	placement_thread_added(&placement->base, state->placements, thread);
	if (!thread_leads(thread))
		return 0;
	r = open_on_thread(state, placement, thread);
	return r < 0 ? r : enable_events(placement, first);
}

static void perf_event_give_back(struct engine *engine)
{
	struct perf_event *state = engine->state;

	programs_forget_idle(&state->programs);
	programs_forget_idle(&state->kernel_programs);
}

/* How many slots of a thread can be taken now, or a negative errno. */
static int thread_slots_free(const struct hw_event_options *options, pid_t tid)
{
	int fds[HW_SLOTS_MAX], count = 0, r = 0;

	while (count < HW_SLOTS_MAX && r >= 0) {
		r = hw_event_open(options, tid);
		if (r >= 0)
			fds[count++] = r;
	}
	for (int i = 0; i < count; i++)
		close(fds[i]);
	return r >= 0 || r == -ENOSPC ? count : r;
}

static int perf_event_slots_free(struct engine *engine, const struct inferior *inferior,
				 enum hw_kind kind)
{
	const struct perf_event *state = engine->state;
	const struct hw_region place = {kind, 0x1000, 1}; /* never switched on */
	struct hw_event_options options = {.arch = state->arch, .program_fd = -1};
	const struct thread *thread;
	int least = HW_SLOTS_MAX;

	if (state->arch->hw_plan(&place, &options.region, 1) != 1)
		return -EOPNOTSUPP;
	FOREACH_THREAD (thread, inferior) {
		int count = thread_slots_free(&options, thread->tid);

		if (count < 0 && count != -ESRCH)
			return count;
		if (count >= 0 && count < least)
			least = count;
	}
	return least;
}

static const char *perf_event_no_kernel_hits(const struct engine *engine)
{
	const struct perf_event *state = engine->state;
	const struct error *error = state->no_kernel_hits;

	return error ? error_text(error) : NULL;
}

/* What the events themselves have counted, those of new threads included. */
static uint64_t event_count(const struct perf_placement *placement)
{
	uint64_t total = 0;

	for (size_t i = 0; i < placement->nfds; i++) {
		uint64_t count;

		if (read(placement->fds[i], &count, sizeof(count)) ==
		    (ssize_t)sizeof(count))
			total += count;
	}
	return total;
}

/* By programs. */
static uint64_t hits_seen(const struct perf_placement *placement,
			  const struct placements *placements)
{
	return placement_hits_seen(&placement->base, placements) +
	       placement_shared(&placement->base, placements)->dropped;
}

/*
 * Hits that no program has seen: on a CPU where bpf_prog_active is raised (a task
 * that was preempted inside a map operation of bpf(2), on kernels that preempt
 * there) the kernel runs no program and takes that for its 0
 * (kernel/events/core.c, bpf_overflow_handler). Nothing can be done then, but the
 * user has to know. Programs may run while we look, so theirs is read last; and of a
 * hit that was counted, the program may be about to run: to read an event waits until
 * its CPU takes an interrupt (perf_event_read), which is after that.
 */
static uint64_t hits_missed(const struct perf_placement *placement,
			    const struct placements *placements)
{
	const uint64_t counted = event_count(placement);
	uint64_t seen = hits_seen(placement, placements);

	if (counted > seen) {
		event_count(placement);
		seen = hits_seen(placement, placements);
	}
	return counted > seen ? counted - seen : 0;
}

static void perf_event_describe(struct engine *engine, const struct location *location,
				struct buffer *out)
{
	const uint64_t missed = hits_missed(location->engine_data, engine->placements);

	placement_describe(engine, location, out);
	if (missed > 0)
		buffer_printf(out, "; %" PRIu64 " hits missed", missed);
}

static struct perf_placement *find_by_sig_data(const struct perf_event *state,
					       uint64_t sig_data)
{
	struct placement *placement;

	TAILQ_FOREACH (placement, &state->placements->list, link) {
		struct perf_placement *own = (struct perf_placement *)placement;

		if (placement->engine->state == state && own->sig_data == sig_data)
			return own;
	}
	return NULL;
}

/*
 * Our SIGTRAP. That it finds no record is not a lost record by itself: the thread
 * may have stopped by another signal just before, which took the record along.
 */
static void take_trap(struct perf_event *state, uint64_t sig_data, struct hits *hits)
{
	struct perf_placement *placement = find_by_sig_data(state, sig_data);

	hits->signal_is_ours = true;
	for (unsigned int i = 0; placement && i < hits->count; i++)
		if (hits->hit[i].location == placement->base.location)
			return;
	if (placement)
		placement_take_lost(&placement->base, state->placements, hits);
}

static void perf_event_on_stop(struct engine *engine, const struct event *event,
			       struct hits *hits)
{
	struct perf_event *state = engine->state;
	uint64_t sig_data;

	placements_on_stop(state->placements, event, hits);
	if (hw_event_siginfo(&event->siginfo, &sig_data) &&
	    sig_data >> 32 == state->next_sig_data >> 32)
		take_trap(state, sig_data, hits);
}

static void perf_event_deinit(struct engine *engine)
{
	perf_event_free(engine->state);
	engine->state = NULL;
}

static void perf_event_print_found(const struct engine *engine, struct buffer *out)
{
	const struct perf_event *state = engine->state;

	buffer_append_string(
		out, state->sigtrap ? "threads stop by the event; its program drops "
				      "false hits"
				    : "threads stop by a signal that the program "
				      "sends; the event itself would tell false "
				      "hits, too");
}

const struct engine_ops perf_event_engine = {
	.name = "perf_event",
	.title = "hardware breakpoints, conditions decided in the kernel by BPF",
	.by_slots = true,
	.drops_in_place = true,
	.probe = perf_event_probe,
	.deinit = perf_event_deinit,
	.insert = perf_event_insert,
	.remove = perf_event_remove,
	.suspend = perf_event_suspend,
	.resume = perf_event_resume,
	.outdated = perf_event_outdated,
	.thread_added = perf_event_thread_added,
	.give_back = perf_event_give_back,
	.slots_free = perf_event_slots_free,
	.on_stop = perf_event_on_stop,
	.print_found = perf_event_print_found,
	.counts = placement_counts,
	.gate = placement_gate,
	.last = placement_last,
	.reset_counts = placement_reset_counts,
	.describe = perf_event_describe,
	.left_over = placement_left_over,
	.print_program = placement_print_program,
	.no_kernel_hits = perf_event_no_kernel_hits,
};
