/* SPDX-License-Identifier: BSD-2-Clause */
#include "inferior/wait.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "base/log.h"
#include "inferior/decode.h"
#include "inferior/late.h"
#include "inferior/leaving.h"
#include "inferior/proc.h"

int wait_status(pid_t tid, int *status)
{
	enum { TURNS_AT_ONCE = 100 }; /* mostly, it takes some microseconds */
	const struct timespec pause = {.tv_nsec = 50000};
	struct lateness lateness;
	pid_t ret;

	lateness_begin(&lateness);
	for (int turn = 0;; turn++) {
		lateness_look(&lateness);
		ret = waitpid(tid, status, __WALL | WNOHANG);
		if (ret == tid)
			return 0;
		if (ret < 0 && errno != EINTR)
			return -errno;
		if (turn < TURNS_AT_ONCE)
			sched_yield();
		else if (lateness_is_over(&lateness, tid))
			return -ETIMEDOUT;
		else
			nanosleep(&pause, NULL);
	}
}

/* ---- statuses that came too early ---- */

/* The process whose thread made @tid: its own if @tid is a thread, else the parent. */
static pid_t creator_of(pid_t tid)
{
	pid_t tgid = (pid_t)proc_status_number(tid, "Tgid");

	return tgid == tid ? (pid_t)proc_status_number(tid, "PPid") : tgid;
}

void wait_keep(struct inferiors *inferiors, pid_t tid, int status)
{
	struct early_stop *stop = malloc(sizeof(*stop));

	if (!stop) {
		log_warning("out of memory: lost a stop of thread %d", tid);
		return;
	}
	stop->next = inferiors->early_stops;
	stop->tid = tid;
	stop->creator = creator_of(tid);
	stop->status = status;
	inferiors->early_stops = stop;
}

static void early_stop_remove(struct early_stop **link)
{
	struct early_stop *stop = *link;

	*link = stop->next;
	free(stop);
}

bool wait_take_kept(struct inferiors *inferiors, pid_t tid, int *status)
{
	for (struct early_stop **link = &inferiors->early_stops; *link;
	     link = &(*link)->next) {
		if ((*link)->tid != tid)
			continue;
		*status = (*link)->status;
		early_stop_remove(link);
		return true;
	}
	return false;
}

/* Takes a status kept for any thread that is known by now. */
static pid_t take_any_kept(struct inferiors *inferiors, int *status)
{
	for (struct early_stop *stop = inferiors->early_stops; stop;
	     stop = stop->next) {
		pid_t tid = stop->tid;

		if (thread_find(inferiors, tid) &&
		    wait_take_kept(inferiors, tid, status))
			return tid;
	}
	return 0;
}

void wait_forget(struct inferior *inferior)
{
	struct early_stop **link = &inferior->owner->early_stops;

	while (*link) {
		struct early_stop *stop = *link;

		if (stop->creator != inferior->pid &&
		    !inferior_thread(inferior, stop->tid)) {
			link = &stop->next;
			continue;
		}
		if (!leaving_on_status(inferior->owner, stop->tid, stop->status) &&
		    WIFSTOPPED(stop->status))
			ptrace(PTRACE_DETACH, stop->tid, NULL, NULL);
		early_stop_remove(link);
	}
}

/* ---- waiting ---- */

void inferiors_changed(struct inferiors *inferiors)
{
	inferiors->changed = true;
}

/* A SIGCHLD that comes after this one was taken, and before the wait, stays pending. */
static bool may_have_changed(struct inferiors *inferiors)
{
	const struct timespec at_once = {0};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (!inferiors->told_by_sigchld ||
	    (!inferiors->quiet && !inferiors->changed &&
	     sigtimedwait(&set, NULL, &at_once) == SIGCHLD))
		inferiors->changed = true;
	return inferiors->changed;
}

void wait_expect(struct thread *thread)
{
	if (!thread->is_expected)
		TAILQ_INSERT_TAIL(&thread->inferior->owner->expected, thread, expected);
	thread->is_expected = true;
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
		wait_expect(thread);
		in_vain++;
	}
	return 0;
}

/* 0: nothing has changed; negative: there is nobody to wait for, or EINTR. */
static pid_t take_status(struct inferiors *inferiors, bool block, int *status)
{
	pid_t tid = take_any_kept(inferiors, status);

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
