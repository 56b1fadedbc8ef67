/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flow: run_resume() sets threads going; events.c takes one event of one thread
 * and either lets the thread go on (a false hit, a step inside a range, a signal
 * that nobody wants to see) or notes a pending stop; run_poll() sees the pending
 * stop, halts everything in all-stop mode, and reports it.
 */
#include "gdbstub/run/run.h"

#include <signal.h>
#include <string.h>

#include "gdbstub/tracing/resume.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/inferior/thread_end.h"
#include "gdbstub/tracing/wait.h"
#include "gdbstub/stops/alone.h"
#include "gdbstub/stops/client_view.h"
#include "gdbstub/breakpoints/commit.h"
#include "gdbstub/stops/ahead.h"
#include "gdbstub/run/continuation.h"
#include "gdbstub/run/events.h"
#include "gdbstub/run/halt.h"
#include "gdbstub/text/trap_inspection.h"
#include "gdbstub/breakpoints/install.h"
#include "gdbstub/run/hot.h"
#include "gdbstub/run/interrupt.h"
#include "gdbstub/hits/look_after.h"
#include "gdbstub/stops/next_stop.h"
#include "gdbstub/stops/pending.h"
#include "gdbstub/locations/planted_bytes.h"
#include "gdbstub/run/proceed.h"
#include "gdbstub/run/retired.h"
#include "gdbstub/control/pace.h"
#include "gdbstub/control/ready.h"
#include "gdbstub/hits/replay.h"
#include "gdbstub/stops/stale.h"
#include "gdbstub/stops/told.h"
#include "gdbstub/text/traps.h"
#include "gdbstub/run/under_counter.h"
#include "gdbstub/run/unattended.h"
#include "gdbstub/breakpoints/watch.h"

enum {
	EVENTS_AT_ONCE = 256, /* taken by one run_poll */
	STEP_TURNS = 4,	      /* of the processor, for a step to end in */
};

/* ---- actions ---- */

/* A signal that has not reached its thread is kept: the client will not give it
 * again. */
static void clear_action(struct thread *thread)
{
	if (thread->inferior->unattended)
		return;
	if (thread->control->action.signal != 0)
		thread->owed_signal = thread->control->action.signal;
	thread->control->action = (struct resume_action){0};
	thread->control->how = RESUME_BY_ACTION;
	thread->control->fresh = false;
	thread->control->stop_requested = false;
}

/* A step over a trap that has not ended starts anew: run_resume puts the traps
 * back. */
static void clear_actions(struct run *run)
{
	struct inferior *inferior;
	struct thread *thread;

	alone_forget_step(run);
	ahead_forget(run);
	ready_clear(run);
	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		FOREACH_THREAD (thread, inferior)
			clear_action(thread);
	}
}

static bool is_resumed(const struct thread *thread)
{
	return thread->control->action.kind != RESUME_NONE &&
	       !thread->inferior->unattended;
}

static void request_stop(struct run *run, struct thread *thread)
{
	if (thread->control->passed_over) {
		thread->control->passed_over = false;
		thread->control->untold = run->any_untold = true;
		thread->control->last_signal = 0;
		return;
	}
	if (!is_resumed(thread) || thread->control->pending_stop ||
	    thread->control->stop_requested)
		return;
	thread->control->stop_requested = true;
	if (!thread_is_held(thread))
		thread_interrupt(thread);
	else
		pending_set(run, thread, (struct stop){.kind = STOP_SIGNAL});
}

void run_set_action(struct run *run, struct thread *thread, struct resume_action action)
{
	if (!client_view_is_right(run, thread))
		return;
	if (run->non_stop && action.kind == RESUME_STOP) {
		request_stop(run, thread);
		return;
	}
	if (run->non_stop && (action.kind == RESUME_NONE || is_resumed(thread)))
		return;
	thread->control->action = action;
	thread->control->steps_left = 0;
	thread->control->passed_over = false;
	thread->control->fresh = is_resumed(thread);
	if (action.kind == RESUME_RANGE)
		retired_note_run(thread);
	if (!thread->control->fresh)
		return;
	thread->inferior->control->awaited = true;
	told_forget(thread);
}

/* ---- resuming ---- */

static bool any_fresh(const struct inferior *inferior)
{
	const struct thread *thread;

	FOREACH_THREAD (thread, inferior) {
		if (thread->control->fresh)
			return true;
	}
	return false;
}

/* Only one thread's steps: what is unwanted now will be wanted again soon. */
static bool only_steps(const struct inferior *inferior)
{
	const struct thread *thread;

	FOREACH_THREAD (thread, inferior) {
		if (thread->control->action.kind == RESUME_CONTINUE)
			return false;
	}
	return true;
}

static bool any_steps(const struct inferior *inferior)
{
	const struct thread *thread;

	FOREACH_THREAD (thread, inferior) {
		if (thread->control->action.kind == RESUME_STEP ||
		    thread->control->action.kind == RESUME_RANGE)
			return true;
	}
	return false;
}

/* The thread is still at the stop that tells of the signal owed: that one can be
 * delivered as it is, and one that the client gives now is sent. */
static void pay_signal(struct thread *thread)
{
	if (thread->owed_signal == 0)
		return;
	if (thread->control->action.signal != 0)
		thread_send_signal(thread, thread->control->action.signal);
	thread->control->action.signal = thread->owed_signal;
	thread->owed_signal = 0;
}

static void prepare_thread(struct run *run, struct thread *thread)
{
	if (!thread->control->fresh)
		return;
	thread->control->fresh = false;
	pay_signal(thread);
	stale_drop(run, thread);
	pending_pass_signal(run, thread);
	/* The client's signal must not get lost when a stop is reported
	 * before the thread runs. */
	if (thread->control->pending_stop && thread->control->action.signal != 0) {
		thread_send_signal(thread, thread->control->action.signal);
		thread->control->action.signal = 0;
	}
}

/* In non-stop mode others may go on while the client looks at this one. */
static void end_replay(const struct run *run, struct inferior *inferior)
{
	const struct thread *thread =
		inferior_thread(inferior, replay_thread(inferior));

	if (!run->non_stop || !thread || thread->control->fresh)
		replay_end(inferior);
}

static struct error *prepare_inferior(struct run *run, struct inferior *inferior)
{
	struct error *error = NULL;
	struct thread *thread;

	if (inferior->control->pending_stop || !any_fresh(inferior))
		return NULL;
	breakpoints_forget_refusal(inferior->breakpoints);
	end_replay(run, inferior);
	if (!any_steps(inferior))
		breakpoints_inspect(inferior->breakpoints);
	/* In non-stop mode others may run, which no change of traps must find. */
	if (breakpoints_need_commit(inferior->breakpoints)) {
		halt_all(run);
		if (inferior->control->pending_stop)
			return NULL; /* it has ended meanwhile */
		error = breakpoints_commit(inferior->breakpoints, only_steps(inferior));
	}
	if (error)
		return error;
	traps_update_shadow(inferior->breakpoints, only_steps(inferior));
	inferior->breakpoints->swept = inferior->breakpoints->inspected = false;
	inferior->breakpoints->period++;
	FOREACH_THREAD (thread, inferior) {
		if (thread->control->fresh || !run->non_stop)
			watch_looked(thread);
	}
	watch_prepare(inferior->breakpoints);
	FOREACH_THREAD (thread, inferior)
		prepare_thread(run, thread);
	return NULL;
}

/* Nobody is to run whom the client has just resumed. */
static void forget_fresh(struct run *run)
{
	struct inferior *inferior;
	struct thread *thread;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		FOREACH_THREAD (thread, inferior) {
			if (thread->control->fresh || !run->non_stop)
				clear_action(thread);
		}
	}
}

struct error *run_resume(struct run *run)
{
	struct inferior *inferior;
	struct error *error = NULL;

	/* In non-stop mode the last one may have ended just now. */
	if (TAILQ_EMPTY(&run->inferiors.list) && !run->non_stop)
		return error_create(0,
				    "no process to resume: start one (run) or attach");
	if (!run->non_stop && !control_any_unattended(run))
		alone_forget_step(run);
	error = continuation_check(run);
	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		if (!error)
			error = prepare_inferior(run, inferior);
	}
	if (error)
		forget_fresh(run);
	else
		pace_set_running(run, !run->non_stop || client_view_any_resumed(run));
	/* The client asked before it resumed: nobody is to run. */
	if (!error && run->interrupt_requested)
		interrupt_answer_at_once(run);
	if (!run->non_stop)
		ahead_begin(run);
	proceed_all(run);
	return error;
}

void run_pause(struct run *run)
{
	if (run->running)
		halt_all(run);
}

struct error *run_unpause(struct run *run, struct error *error)
{
	struct inferior *inferior;
	struct error *other = NULL;

	if (!run->running)
		return error;
	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		if (!other && !inferior->control->pending_stop &&
		    !inferior->control->hidden)
			other = breakpoints_commit(inferior->breakpoints, false);
	}
	proceed_all(run);
	if (!error)
		return other;
	error_destroy(other);
	return error;
}

/* ---- reporting ---- */

/* Traps of whom this may be about. The ends of a client's steps follow each other
 * closely: it is done before the client has threads continue (prepare_inferior). */
static void inspect_traps(const struct run *run, const struct stop *stop)
{
	bool now = stop->kind != STOP_EXITED && stop->kind != STOP_KILLED &&
		   (stop->kind != STOP_SIGNAL || stop->signal != SIGTRAP);
	struct inferior *inferior;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		if (!inferior->breakpoints)
			continue;
		inferior->breakpoints->inspected = false;
		inferior->breakpoints->period++;
		if (now)
			breakpoints_inspect(inferior->breakpoints);
	}
}

/* The end of a thread does not say whether the client waits for another one. */
static bool no_resumed_may_follow(const struct run *run, const struct stop *stop)
{
	return stop->kind == STOP_THREAD_EXITED && run->wishes.no_resumed;
}

static void report(struct run *run, const struct stop *stop)
{
	struct thread *thread = thread_find(&run->inferiors, stop->tid);

	/* A request that came too late for this stop holds for the next resume: the
	 * client may let the program go on without telling its user. Not of lldb, which
	 * takes any stop for the answer. */
	if (stop->signal == SIGINT || TAILQ_EMPTY(&run->inferiors.list) ||
	    run->wishes.all_stops)
		run->interrupt_requested = false;
	/* What ran before the stop is printed before it is told. */
	engines_print_output(&run->engines, true);
	run->last = *stop;
	inspect_traps(run, stop);
	if (thread &&
	    (stop->looks || (stop->kind == STOP_WATCH && !look_is_shown(thread))))
		watch_told(thread, stop);
	if (thread)
		told_note(thread, stop);
	if (run->non_stop)
		run->unacknowledged = *stop;
	if (!run->non_stop) {
		clear_actions(run);
	} else if (thread) {
		clear_action(thread);
		client_view_reported(thread->inferior);
	}
	pace_set_running(run, run->non_stop && (client_view_any_resumed(run) ||
						no_resumed_may_follow(run, stop)));
}

/* In non-stop mode one at a time. */
static bool may_report(const struct run *run)
{
	return run->non_stop ? run->unacknowledged.kind == STOP_NONE : run->running;
}

static bool report_pending(struct run *run, struct stop *stop)
{
	if (!may_report(run) || !next_stop_any(run))
		return false;
	if (!run->non_stop)
		halt_all(run);
	if (!next_stop_take(run, stop)) {
		/* The thread that it was about was killed meanwhile: nothing is to be
		 * told, and so nobody is to stay halted. */
		proceed_all(run);
		return false;
	}
	report(run, stop);
	if (run->wishes.all_stops && !run->non_stop)
		told_take_rest(run);
	return true;
}

/* The end of a leader that other threads outlive is no event: it is found out here,
 * after the SIGCHLD that the kernel sends. */
static void note_ended_leaders(struct run *run)
{
	struct inferior *inferior;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		struct thread *leader = inferior_thread(inferior, inferior->pid);

		if (!leader || leader->control->end_told || !leader->running ||
		    (!run->wishes.thread_events &&
		     !(leader->options & THREAD_OPTION_EXIT)) ||
		    !thread_is_outlived(leader))
			continue;
		leader->control->end_told = true;
		pending_set_thread_end(run, inferior, leader->tid, 0);
	}
}

/* Was the last thread that had been resumed the one that ended? */
static bool report_no_resumed(struct run *run, struct stop *stop)
{
	if (!run->running || !run->wishes.no_resumed || !may_report(run) ||
	    halt_any_will_tell(run))
		return false;
	*stop = (struct stop){.kind = STOP_NO_RESUMED};
	report(run, stop);
	pace_set_running(run, false);
	return true;
}

/*
 * Nobody has answered: who was asked may sleep where it cannot stop. In all-stop mode
 * everybody is asked anyway. In the end one that is late answers.
 */
static void answer_late(struct run *run)
{
	halt_all(run);
	if (run->interrupt_requested && !next_stop_any(run))
		interrupt_answer_at_once(run);
	proceed_all(run);
}

/*
 * Is there one? A step is mostly over by the time that the program has had the
 * processor. It is given away where the client makes one step after the other: who does
 * so has his turn later than others from then on, which a stop at a breakpoint, with
 * one step in it, would wait for.
 */
static bool take_event(struct run *run, struct event *event)
{
	struct inferiors *inferiors = &run->inferiors;

	inferiors_wait(inferiors, false, event);
	for (int i = 0; event->kind == EVENT_NONE && inferiors->steps && i < STEP_TURNS;
	     i++) {
		if (!turn_give(&run->turn))
			break;
		inferiors_wait(inferiors, false, event);
	}
	inferiors->steps = false;
	return event->kind != EVENT_NONE;
}

static bool poll_stop(struct run *run, struct stop *stop)
{
	struct event event;

	run->more = false;
	if (report_pending(run, stop))
		return true;
	/* The client has its say even if hits never end. */
	for (int i = 0; i < EVENTS_AT_ONCE; i++) {
		if (!take_event(run, &event))
			break;
		events_handle(run, &event);
		proceed(run);
		if (report_pending(run, stop))
			return true;
	}
	run->more = event.kind != EVENT_NONE;
	if (ahead_look(run))
		proceed_all(run);
	note_ended_leaders(run);
	if (report_pending(run, stop))
		return true;
	if (run->running && run->interrupt_requested && interrupt_is_overdue(run))
		answer_late(run);
	if (report_pending(run, stop))
		return true;
	return !run->more && report_no_resumed(run, stop);
}

/* Of two times, of which -1 is none. */
static int sooner(int first, int second)
{
	return first < 0 || (second >= 0 && second < first) ? second : first;
}

int run_patience(const struct run *run)
{
	return sooner(sooner(under_counter_patience(run), ahead_patience(run)),
		      sooner(hot_patience(run), interrupt_patience(run)));
}

bool run_poll(struct run *run, struct stop *stop)
{
	bool stopped;

	hot_look(run);
	under_counter_look(run);
	stopped = poll_stop(run, stop);

	unattended_go_on(run);
	return stopped;
}

bool run_print(struct run *run)
{
	return engines_print_output(&run->engines, false) > 0;
}

int run_print_fd(struct run *run)
{
	return run->output.ready(run->output.data) ? engines_output_fd(&run->engines)
						   : -1;
}

static void forget_thread_wishes(struct thread *thread)
{
	const struct pending_stop *pending = thread->control->pending_stop;
	enum stop_kind kind = pending ? pending->stop.kind : STOP_NONE;

	thread->options = 0;
	thread->control->hidden = false;
	if (kind == STOP_CLONE || kind == STOP_CREATED || kind == STOP_SYSCALL_ENTRY ||
	    kind == STOP_SYSCALL_RETURN)
		pending_clear(thread);
}

void run_forget_wishes(struct run *run)
{
	struct inferior *inferior;
	struct thread *thread;

	run->wishes = (struct run_wishes){0};
	run->engines.every_write = false;
	continuation_disturb(run);
	if (!control_any_unattended(run))
		variables_forget(&run->engines.variables);
	memset(run->pass_signal, 0, sizeof(run->pass_signal));
	memset(run->withhold_signal, 0, sizeof(run->withhold_signal));
	/* gdb's way until the client tells: those that are a debugger's own. */
	run->withhold_signal[SIGTRAP] = run->withhold_signal[SIGINT] = true;
	pending_forget_thread_ends(run, 0);
	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		syscalls_clear(&inferior->syscalls);
		FOREACH_THREAD (thread, inferior)
			forget_thread_wishes(thread);
	}
}

void run_halt(struct run *run)
{
	run->interrupt_requested = false;
	if (!run->running)
		return;
	halt_all(run);
	engines_print_output(&run->engines, true);
	pace_set_running(run, false);
	clear_actions(run);
	run->last.kind = STOP_NONE;
}
