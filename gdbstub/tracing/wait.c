/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/tracing/wait.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "gdbstub/base/log.h"
#include "gdbstub/tracing/decode.h"
#include "gdbstub/inferior/late.h"
#include "gdbstub/tracing/leaving.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/tracing/early.h"

/* ---- waiting ---- */

void inferiors_changed(struct inferiors *inferiors)
{
	inferiors->changed = true;
}

/* What was known of a moment ago holds for the first wait after it. */
static bool is_quiet(struct inferiors *inferiors)
{
	const bool quiet = inferiors->quiet;

	inferiors->quiet = false;
	return quiet;
}

/* A SIGCHLD that comes after this one was taken, and before the wait, stays pending. */
static bool sigchld_has_come(void)
{
	const struct timespec at_once = {0};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	return sigtimedwait(&set, NULL, &at_once) == SIGCHLD;
}

static bool may_have_changed(struct inferiors *inferiors)
{
	if (!inferiors->told_by_sigchld ||
	    (!is_quiet(inferiors) && !inferiors->changed && sigchld_has_come()))
		inferiors->changed = true;
	return inferiors->changed;
}

/* To ask for one thread costs the same however many there are; those that were
 * interrupted first have most probably stopped. 0: ask for all. */
static pid_t take_expected(struct inferiors *inferiors, int *status)
{
	enum { IN_VAIN_MAX = 8 };
	struct thread *thread;

	for (int in_vain = 0; in_vain < IN_VAIN_MAX;) {
		thread = TAILQ_FIRST(&inferiors->expected);
		if (!thread)
			return 0;
		TAILQ_REMOVE(&inferiors->expected, thread, expected);
		thread->is_expected = false;
		if (!thread->running || !thread->interrupting)
			continue;
		if (waitpid(thread->tid, status, __WALL | WNOHANG) == thread->tid)
			return thread->tid;
		thread_expect(thread);
		in_vain++;
	}
	return 0;
}

/* 0: nothing has changed; negative: there is nobody to wait for, or EINTR. */
static pid_t take_status(struct inferiors *inferiors, bool block, int *status)
{
	pid_t tid = early_take_any(inferiors, status);

	if (tid > 0)
		return tid;
	if (!block && !may_have_changed(inferiors))
		return 0;
	tid = take_expected(inferiors, status);
	if (tid == 0)
		tid = waitpid(-1, status, __WALL | (block ? 0 : WNOHANG));
	if (tid == 0)
		inferiors->changed = false;
	return tid;
}

void inferiors_wait(struct inferiors *inferiors, bool block, struct event *event)
{
	for (;;) {
		int status;
		pid_t tid = take_status(inferiors, block, &status);

		if (tid < 0 && errno == EINTR)
			continue;
		if (tid > 0 && wait_decode(inferiors, tid, status, event)) {
			log_debug(LOG_INFERIOR, "%d: event %s", tid,
				  event_kind_name(event->kind));
			return;
		}
		if (tid <= 0)
			break;
	}
	*event = (struct event){.kind = EVENT_NONE};
}
