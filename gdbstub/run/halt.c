/* SPDX-License-Identifier: BSD-2-Clause */
/* Stopping every thread. */
#include "gdbstub/run/halt.h"

#include <signal.h>
#include <time.h>

#include "gdbstub/inferior/late.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/tracing/resume.h"
#include "gdbstub/inferior/thread_end.h"
#include "gdbstub/tracing/wait.h"
#include "gdbstub/stops/alone.h"
#include "gdbstub/breakpoints/commit.h"
#include "gdbstub/run/events.h"
#include "gdbstub/run/fork.h"
#include "gdbstub/locations/location.h"

/*
 * A leader that ended while other threads live on is a zombie that tells nothing
 * until they end; one that is alone is about to tell of the process's end.
 */
static bool will_tell(const struct thread *thread)
{
	const struct thread_list *threads = &thread->inferior->threads;
	bool alone = TAILQ_FIRST(threads) == thread && !TAILQ_NEXT(thread, link);

	return thread->running && (alone || !thread_is_zombie(thread));
}

/* The other threads end with this leader, which then tells of the process's end. */
static bool ends_all(const struct thread *thread)
{
	return thread->running && thread->tid == thread->inferior->pid &&
	       thread_is_zombie(thread) && !thread_is_outlived(thread);
}

/* One that the client does not wait for tells nothing before it is resumed. */
static bool is_expected_to_tell(const struct thread *thread)
{
	return (!thread->late || thread->control->action.kind != RESUME_NONE) &&
	       (will_tell(thread) || ends_all(thread));
}

/* For a vfork child of another thread's (fork.c), which need not be resumed itself. */
static bool waits_for_memory(const struct run *run, const struct thread *thread)
{
	return !thread->running && !thread->control->pending_stop &&
	       thread->control->action.kind != RESUME_NONE &&
	       inferior_lends_memory(thread->inferior) && !alone_lets_run(run, thread);
}

bool halt_any_will_tell(const struct run *run)
{
	const struct inferior *inferior;
	const struct thread *thread;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		FOREACH_THREAD (thread, inferior) {
			if (is_expected_to_tell(thread) ||
			    waits_for_memory(run, thread))
				return true;
		}
	}
	return false;
}

/* ---- who does not stop ---- */

/* They are waited for again if they have woken up. */
static void look_again(const struct run *run)
{
	struct inferior *inferior;
	struct thread *thread;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		FOREACH_THREAD (thread, inferior)
			thread_look_again(thread);
	}
}

struct halt {
	struct lateness lateness;
	struct buffer text;	     /* on the first thread that has become late */
	const struct output *output; /* where it is to be shown */
	unsigned int late;	     /* so many have */
};

static void note_late(const struct run *run, struct halt *halt,
		      const struct thread *thread)
{
	if (halt->late++ > 0)
		return;
	halt->output = control_output(run, thread->inferior);
	thread_explain_late(thread, &halt->text);
}

static void say_late(struct halt *halt)
{
	if (halt->late == 0)
		return;
	if (halt->late > 1)
		buffer_printf(&halt->text, "; nor do %u others", halt->late - 1);
	buffer_append_string(&halt->text, ".\n");
	halt->output->print(halt->output->data, buffer_string(&halt->text),
			    halt->text.len);
}

/* Is there a thread that must be waited for? */
static bool any_may_stop(const struct run *run, struct halt *halt)
{
	struct inferior *inferior;
	struct thread *thread;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		FOREACH_THREAD (thread, inferior) {
			if (thread_is_held(thread) || !will_tell(thread))
				continue;
			if (!thread_becomes_late(thread, &halt->lateness))
				return true;
			note_late(run, halt, thread);
		}
	}
	return false;
}

/* ---- all of them ---- */

static void interrupt_all(const struct run *run)
{
	struct inferior *inferior;
	struct thread *thread;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		FOREACH_THREAD (thread, inferior) {
			if (thread->running && !thread->interrupting)
				thread_interrupt(thread);
		}
	}
}

/*
 * A blocking wait would sleep for ever on a leader that becomes a zombie while
 * other threads live: the kernel sends SIGCHLD for that, but no wait returns.
 */
static void wait_for_sigchld(struct run *run)
{
	const struct timespec limit = {.tv_nsec = 20 * 1000 * 1000};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigtimedwait(&set, NULL, &limit);
	inferiors_changed(&run->inferiors);
}

/* Events meanwhile resume nobody. Have there been some? */
static bool take_all(struct run *run)
{
	struct event event;
	bool any = false;

	for (;;) {
		inferiors_wait(&run->inferiors, false, &event);
		if (event.kind == EVENT_NONE)
			return any;
		events_handle(run, &event);
		any = true;
	}
}

void halt_threads(struct run *run)
{
	struct halt halt = {0};

	run->halting = true;
	/* Who is held may have been killed. */
	take_all(run);
	look_again(run);
	lateness_begin(&halt.lateness);
	while (any_may_stop(run, &halt)) {
		interrupt_all(run);
		lateness_look(&halt.lateness);
		if (take_all(run))
			lateness_begin(&halt.lateness);
		else
			wait_for_sigchld(run);
	}
	say_late(&halt);
	buffer_deinit(&halt.text);
	run->halting = false;
}

/* ---- what is done meanwhile ---- */

/* A location that is stepped over stays as it is. */
static bool locations_may_move(const struct run *run)
{
	return run->locations_move && !run->stepping_over;
}

bool halt_has_work(const struct run *run)
{
	return locations_may_move(run) || run->any_orphans ||
	       !TAILQ_EMPTY(&run->lendings);
}

/* No hit is under way now whose stop has not been seen. */
static void move_locations(struct run *run)
{
	struct inferior *inferior;

	run->locations_move = false;
	TAILQ_FOREACH (inferior, &run->inferiors.list, link)
		if (inferior->breakpoints)
			locations_move_outdated(inferior->breakpoints);
}

void halt_settle(struct run *run)
{
	fork_lend_all(run);
	if (run->any_orphans)
		fork_let_orphans_go(run);
	alone_put_back(run);
	if (locations_may_move(run))
		move_locations(run);
}

/* Whose memory is lent has gone on, and may be done with it by the time that it has
 * stopped: then the traps are to be put back. */
void halt_all(struct run *run)
{
	halt_threads(run);
	while (halt_has_work(run) || run->traps_away) {
		halt_settle(run);
		halt_threads(run);
	}
}
