/* SPDX-License-Identifier: BSD-2-Clause */
/* Stopping every thread. */
#include "stops/control.h"

#include <signal.h>
#include <time.h>

#include "stops/events.h"

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

bool halt_needed(const struct run *run)
{
	const struct inferior *inferior;
	const struct thread *thread;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		TAILQ_FOREACH (thread, &inferior->threads, link) {
			if (will_tell(thread))
				return true;
		}
	}
	return false;
}

static void interrupt_all(const struct run *run)
{
	struct inferior *inferior;
	struct thread *thread;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		TAILQ_FOREACH (thread, &inferior->threads, link) {
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

void halt_all(struct run *run)
{
	bool halting = run->halting;

	run->halting = true;
	while (halt_needed(run)) {
		interrupt_all(run);
		if (!take_all(run))
			wait_for_sigchld(run);
	}
	run->halting = halting;
}
