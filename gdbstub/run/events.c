/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/run/events.h"

#include "gdbstub/base/log.h"
#include "gdbstub/tracing/group_stop.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/inferior/syscalls.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/stops/alone.h"
#include "gdbstub/breakpoints/commit.h"
#include "gdbstub/run/fork.h"
#include "gdbstub/hits/hit.h"
#include "gdbstub/run/interrupt.h"
#include "gdbstub/run/retired.h"
#include "gdbstub/run/under_counter.h"
#include "gdbstub/hits/last_hit.h"
#include "gdbstub/locations/index.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/hits/look_after.h"
#include "gdbstub/text/old_traps.h"
#include "gdbstub/stops/pending.h"
#include "gdbstub/control/ready.h"
#include "gdbstub/hits/step_over.h"
#include "gdbstub/text/text.h"
#include "gdbstub/text/trap.h"

/* ---- events ---- */

/* A stop at watchpoints is about all those that are told together. */
static void add_others(struct stop *stop, const struct hits *hits,
		       const struct hit *first)
{
	for (unsigned int i = 0; i < hits->count; i++) {
		const struct hit *hit = &hits->hit[i];

		if (hit->told && hit != first)
			stop->others[stop->nothers++] =
				(struct watch_hit){.type = hit->location->type,
						   .addr = hit->location->addr,
						   .values = hit->values};
	}
}

static struct stop hit_stop(const struct hits *hits, const struct hit *hit)
{
	const struct location *location = hit->location;
	struct stop stop = {
		.signal = SIGTRAP, .addr = location->addr, .values = hit->values};

	/* Clients ignore breakpoints where there are none. */
	if (hit->late)
		stop.kind = STOP_SIGNAL;
	else if (location->type == BREAKPOINT_SOFTWARE)
		stop.kind = STOP_SWBREAK;
	else if (location->type == BREAKPOINT_HARDWARE)
		stop.kind = STOP_HWBREAK;
	else
		stop.kind = STOP_WATCH;
	stop.watch = location->type;
	add_others(&stop, hits, hit);
	return stop;
}

static bool ends_step_over_call(const struct event *event)
{
	struct inferior *inferior = event->inferior;
	uint64_t pc;

	return inferior->arch->syscall_step_is_user && event->siginfo.si_pid == 0 &&
	       thread_get_pc(event->thread, &pc) == 0 &&
	       syscall_is_at(inferior, pc - inferior->arch->syscall_len);
}

/*
 * The SIGTRAP that ends a single step: TRAP_TRACE; TRAP_BRKPT after a system call
 * (x86 user_single_step_report), or instead (unexplained.h); SIGTRAP itself where a
 * signal handler was entered (kernel/signal.c, signal_setup_done:
 * ptrace_notify(SIGTRAP)); SI_USER at a uprobe (arch_uprobe_post_xol,
 * arch_uprobe_skip_sstep: send_sig), and after a system call of aarch64.
 */
static bool ends_step(const struct event *event)
{
	int code = event->siginfo.si_code;

	return event->signal == SIGTRAP && event->thread->stepping &&
	       (code == TRAP_TRACE || code == TRAP_BRKPT || code == SIGTRAP ||
		(code == SI_USER && (event->thread->control->steps_program ||
				     ends_step_over_call(event))));
}

static bool is_sequence(struct inferior *inferior, uint64_t addr)
{
	const struct insn_pattern *pattern = &inferior->arch->sequence;
	uint32_t insn;

	return pattern->mask != 0 &&
	       breakpoints_read_memory(inferior, addr, &insn, sizeof(insn)) ==
		       (ssize_t)sizeof(insn) &&
	       (insn & pattern->mask) == pattern->value;
}

/* Wherever that leads to? */
static bool has_more_steps(const struct run *run, struct thread *thread)
{
	const struct resume_action *action = &thread->control->action;

	if (action->kind != RESUME_STEP)
		return action->kind == RESUME_RANGE;
	return retired_is_on(thread) ? retired_steps_on(run, thread)
				     : action->steps > 0;
}

/* Is the client's step to go on? It may end early: the client asks again. */
static bool steps_on(const struct run *run, struct thread *thread)
{
	struct resume_action *action = &thread->control->action;
	uint64_t pc;

	if (!has_more_steps(run, thread))
		return false;
	if (thread_get_pc(thread, &pc) < 0 || is_sequence(thread->inferior, pc))
		return false;
	if (action->kind == RESUME_RANGE)
		return pc >= action->start && pc < action->end;
	if (!retired_is_on(thread))
		action->steps--;
	return true;
}

static void on_step_end(struct run *run, struct thread *thread)
{
	const struct resume_action *action = &thread->control->action;

	if (steps_on(run, thread) ||
	    (action->kind == RESUME_STEP && hits_stepped_to_counted(thread))) {
		ready_note(run, thread);
		return;
	}
	thread->control->steps_left = action->steps;
	if (action->kind == RESUME_STEP || action->kind == RESUME_RANGE)
		pending_set_step_ended(run, thread);
	else
		ready_note(run, thread);
}

static void on_program_signal(struct run *run, const struct event *event)
{
	struct thread *thread = event->thread;

	if (run->halting || !pending_may_pass(run, event)) {
		pending_set_signal(run, event);
		return;
	}
	thread->control->action.signal = event->signal;
	ready_note(run, thread);
}

static void on_false_hit(struct run *run, struct thread *thread,
			 const struct hits *hits)
{
	/* Without a hit, the signal was of an earlier one. */
	if (hits->count > 0 && trap_skip_own(thread)) {
		on_step_end(run, thread);
		return;
	}
	for (unsigned int i = 0; i < hits->count; i++) {
		const struct location *location = hits->hit[i].location;

		if (!location->engine->ops->pass) /* else hits_pass() has done it */
			step_over_want(thread, location);
	}
	ready_note(run, thread);
}

/* A signal that cuts a call off comes after the return from that. */
static bool ends_call(struct run *run, const struct event *event)
{
	if (!syscalls_wanted(&event->inferior->syscalls, event->syscall))
		return false;
	event->thread->pending = *event;
	pending_set(run, event->thread,
		    (struct stop){.kind = STOP_SYSCALL_RETURN,
				  .signal = SIGTRAP,
				  .syscall = event->syscall});
	return true;
}

/* The hit that the client is to be told of, or NULL. */
static const struct hit *take_hits(struct run *run, const struct event *event,
				   struct hits *hits)
{
	struct thread *thread = event->thread;
	const struct hit *hit;

	hits_collect(&run->engines, event, hits);
	hits->signal_is_ours |= under_counter_takes(event);
	if (hits->count == 0 && !hits->signal_is_ours)
		hits->signal_is_ours = old_traps_undo(event);
	thread->control->at_hit = hits->count > 0 || hits->signal_is_ours;
	if (alone_is_stepping(run, thread) && event->kind == EVENT_SIGNAL &&
	    ends_step(event))
		look_end(thread, hits);
	hit = hits_evaluate(hits, thread, control_output(run, thread->inferior),
			    run->wishes.all_watches);
	/* A watchpoint's hit is shown after the instruction. */
	if (!hit || hit->location->type > BREAKPOINT_HARDWARE)
		hits_pass(hits, thread);
	return hit;
}

/* Is the thread at it, where hardware is, too? */
static bool is_in_hardware_too(const struct thread *thread,
			       const struct location *location)
{
	const struct location *other;
	struct index_walk walk;
	uint64_t pc;

	if (thread_get_pc(thread, &pc) < 0 || pc != location->addr)
		return false;
	for (other = index_begin(&walk, location->inferior->breakpoints, location->addr,
				 location->addr);
	     other; other = index_next(&walk))
		if (other->type <= BREAKPOINT_HARDWARE && other->state == LOCATION_IN &&
		    other->engine->ops->by_slots)
			return true;
	return false;
}

static void on_true_hit(struct run *run, struct thread *thread, const struct hits *hits,
			const struct hit *hit)
{
	const struct location *location = hit->location;

	if (location->type > BREAKPOINT_HARDWARE)
		last_hit_note(run, thread, hit);
	/* It has executed a trap: hardware there has had its say before. */
	else if (location->trap && is_in_hardware_too(thread, location))
		thread_hit_no_more(thread);
	pending_set(run, thread, hit_stop(hits, hit));
}

static void on_signal(struct run *run, const struct event *event)
{
	struct thread *thread = event->thread;
	struct hits hits;
	const struct hit *hit = take_hits(run, event, &hits);

	/* A step that ends at a signal handler's first instruction. */
	if (event->siginfo.si_code == SIGTRAP)
		retired_note_cut_off(thread);
	if (alone_is_stepping(run, thread)) {
		thread->control->needs_step_over = !ends_step(event);
		alone_end_step(run, event->inferior);
	}
	if (hit) {
		if (!hits.signal_is_ours && !hits.signal_comes_again &&
		    !ends_step(event))
			thread->pending = *event;
		on_true_hit(run, thread, &hits, hit);
		return;
	}
	if (hits.signal_is_ours)
		on_false_hit(run, thread, &hits);
	else if (ends_step(event))
		on_step_end(run, thread);
	else if (!ends_call(run, event))
		on_program_signal(run, event);
}

/*
 * SIGCONT takes back the SIGSTOP by which a program stops a thread, wherever that is on
 * its way; but it stops every thread itself, before the next instruction. Nothing else
 * can have come between the hit and this stop.
 */
static bool is_quiet_hit(struct run *run, const struct event *event)
{
	struct hits hits;
	const struct hit *hit = take_hits(run, event, &hits);

	if (hit)
		on_true_hit(run, event->thread, &hits, hit);
	return hit;
}

static void on_interrupted(struct run *run, const struct event *event)
{
	struct thread *thread = event->thread;
	bool hit = is_quiet_hit(run, event);

	if (alone_is_stepping(run, thread))
		alone_end_step(run, event->inferior);
	if (hit)
		return;
	if (interrupt_is_for(run, thread)) {
		run->interrupt_requested = false;
		pending_set(run, thread,
			    (struct stop){.kind = STOP_SIGNAL, .signal = SIGINT});
	} else {
		ready_note(run, thread);
	}
}

/*
 * As with gdbserver, the client is told of a group stop as of the signal, once more,
 * and the thread that it resumes runs on. In all-stop mode one thread tells for all.
 * What runs with nobody to tell stays stopped until a SIGCONT comes.
 */
static void on_group_stop(struct run *run, const struct event *event)
{
	struct thread *thread = event->thread;
	bool hit = is_quiet_hit(run, event);

	if (alone_is_stepping(run, thread))
		alone_end_step(run, event->inferior);
	if (event->inferior->unattended && !run->halting && !hit) {
		ready_note_how(run, thread, RESUME_LISTENING);
		return;
	}
	if (!run->non_stop && !event->inferior->unattended)
		group_stop_tell_for_all(thread);
	if (hit)
		thread->pending = *event;
	else if (run->halting || !pending_may_pass(run, event))
		pending_set_signal(run, event);
	else
		ready_note(run, thread);
}

static void on_unasked(struct run *run, const struct event *event)
{
	struct thread *thread = event->thread;

	if (!is_quiet_hit(run, event))
		ready_note_how(run, thread, RESUME_AGAIN);
	else if (alone_is_stepping(run, thread))
		alone_end_step(run, event->inferior);
}

/* The client resumes the child itself, when it knows of it. */
static void tell_clone(struct run *run, struct thread *thread, struct thread *child)
{
	child->control->hidden = true;
	pending_set(run, thread,
		    (struct stop){.kind = STOP_CLONE,
				  .signal = SIGTRAP,
				  .child = child->tid});
}

static void start_thread(struct run *run, const struct thread *parent,
			 struct thread *child)
{
	child->control->action.kind = RESUME_CONTINUE;
	child->control->stop_requested = parent->control->stop_requested;
	if (run->wishes.thread_events)
		pending_set(run, child,
			    (struct stop){.kind = STOP_CREATED, .signal = SIGTRAP});
	else
		ready_note(run, child);
}

static void on_added(struct run *run, struct thread *thread, struct thread *child)
{
	if (thread->options & THREAD_OPTION_CLONE) {
		tell_clone(run, thread, child);
		return;
	}
	start_thread(run, thread, child);
	ready_note(run, thread);
}

/* The instruction with the trap that the thread steps over is the call's in which it
 * has stopped: it is past it. Others need not wait until it returns: a client may
 * look at the thread for long, and a vfork child is what it waits for. */
static void end_step_in_call(struct run *run, const struct event *event)
{
	if (!alone_is_stepping(run, event->thread))
		return;
	event->thread->control->needs_step_over = false;
	alone_end_step(run, event->inferior);
}

static void on_call(struct run *run, const struct event *event)
{
	retired_note_call(event->thread, false);
	end_step_in_call(run, event);
}

/* For a second thread, which could see what is stored and undone, and for a task that
 * is a process of its own, locations move before anybody goes on. */
static void on_clone(struct run *run, const struct event *event)
{
	struct breakpoints *breakpoints = event->inferior->breakpoints;

	on_call(run, event);
	breakpoints_thread_added(breakpoints, event->child);
	run->locations_move |= locations_are_outdated(breakpoints);
	on_added(run, event->thread, event->child);
}

static void on_fork(struct run *run, const struct event *event)
{
	on_call(run, event);
	fork_on_fork(run, event);
}

static void on_vfork(struct run *run, const struct event *event)
{
	on_call(run, event);
	fork_on_vfork(run, event);
}

/* No step of the thread's ends where this call returns. */
static void on_exec(struct run *run, const struct event *event)
{
	retired_note_call(event->thread, true);
	fork_on_exec(run, event);
}

static void on_syscall(struct run *run, const struct event *event)
{
	struct thread *thread = event->thread;

	retired_note_call(thread, !event->entry);
	if (thread->stepping)
		end_step_in_call(run, event);
	if (syscalls_wanted(&event->inferior->syscalls, event->syscall))
		pending_set(run, thread,
			    (struct stop){.kind = event->entry ? STOP_SYSCALL_ENTRY
							       : STOP_SYSCALL_RETURN,
					  .signal = SIGTRAP,
					  .syscall = event->syscall});
	else if (thread->stepping && !event->entry)
		on_step_end(run, thread);
	else
		ready_note(run, thread);
}

/* A uprobe needs the leader (engine_ops.outdated): locations move before it ends. The
 * call that it ends by may be what it steps over. */
static void on_leader_ends(struct run *run, const struct event *event)
{
	struct inferior *inferior = event->inferior;

	on_call(run, event);
	inferior->leaderless = true;
	run->locations_move |= locations_are_outdated(inferior->breakpoints);
	ready_note(run, event->thread);
}

static void on_thread_exit(struct run *run, const struct event *event)
{
	alone_count_lenders(run, event->inferior);
	fork_note_orphans(run);
	if (event->tid == run->stepping_over)
		alone_end_step(run, event->inferior);
	if (run->wishes.thread_events || event->options & THREAD_OPTION_EXIT)
		pending_set_thread_end(run, event->inferior, event->tid, event->status);
}

static void on_end(struct run *run, const struct event *event)
{
	struct thread *thread;

	if (inferior_thread(event->inferior, run->stepping_over))
		alone_end_step(run, event->inferior);
	alone_forget_lenders(event->inferior);
	fork_leave_memory(run, event->inferior);
	event->inferior->control->traps_away = false;
	FOREACH_THREAD (thread, event->inferior) {
		thread->running = false;
		pending_clear(thread);
	}
	pending_set_end(run, event);
	fork_note_orphans(run);
}

static event_handler *const event_handlers[] = {
	[EVENT_SIGNAL] = on_signal,
	[EVENT_INTERRUPTED] = on_interrupted,
	[EVENT_UNASKED] = on_unasked,
	[EVENT_GROUP_STOP] = on_group_stop,
	[EVENT_CLONE] = on_clone,
	[EVENT_FORK] = on_fork,
	[EVENT_VFORK] = on_vfork,
	[EVENT_VFORK_DONE] = fork_on_vfork_done,
	[EVENT_EXEC] = on_exec,
	[EVENT_SYSCALL] = on_syscall,
	[EVENT_LEADER_ENDS] = on_leader_ends,
	[EVENT_THREAD_EXIT] = on_thread_exit,
	[EVENT_EXITED] = on_end,
	[EVENT_KILLED] = on_end,
};

void events_handle(struct run *run, const struct event *event)
{
	struct inferior *inferior = event->inferior;
	struct thread *thread = event->thread;
	bool steps = run->stepping_over != 0, lends = inferior->lenders > 0;
	bool counted = under_counter_end(run, event);

	log_debug(LOG_STOPS, "thread %d: %s %d", event->tid,
		  event_kind_name(event->kind), event->signal);
	if (thread && thread->debugreg_stale && !thread->late)
		engines_catch_up(&run->engines, thread);
	event_handlers[event->kind](run, event);
	/* However it has stopped, it has got where it was to. */
	if (counted && event->kind < EVENT_THREAD_EXIT)
		pending_set_step_ended(run, thread);
	if ((steps && !run->stepping_over) || (lends && inferior->lenders == 0))
		ready_note_all(run);
}
