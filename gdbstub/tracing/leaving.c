/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/tracing/leaving.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "gdbstub/base/log.h"
#include "gdbstub/inferior/inferior.h"

static void add(struct inferiors *inferiors, pid_t tid, bool bound)
{
	struct leaving *leaving = malloc(sizeof(*leaving));

	if (!leaving) {
		log_warning(
			"out of memory: thread %d stays traced until the server ends",
			tid);
		return;
	}
	*leaving = (struct leaving){inferiors->leaving, tid, bound};
	inferiors->leaving = leaving;
}

void leaving_add(const struct thread *thread, bool bound)
{
	add(thread->inferior->owner, thread->tid, bound);
}

bool leaving_cancel(struct inferiors *inferiors, pid_t tid, bool *bound)
{
	struct leaving **link = &inferiors->leaving, *leaving;

	while (*link && (*link)->tid != tid)
		link = &(*link)->next;
	leaving = *link;
	if (!leaving)
		return false;
	*link = leaving->next;
	*bound = leaving->bound;
	free(leaving);
	return true;
}

/* The signal that it has stopped for is the program's, unless the kernel has raised it:
 * then it is of a trap of ours. */
static int signal_of(pid_t tid, int status)
{
	siginfo_t info;

	if (status >> 16 != 0 || WSTOPSIG(status) == (SIGTRAP | 0x80) ||
	    ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) < 0)
		return 0;
	return info.si_code > 0 &&
			       (info.si_signo == SIGTRAP || info.si_signo == SIGSTOP)
		       ? 0
		       : info.si_signo;
}

/* What it has just made is traced as well. */
static void add_child(struct inferiors *inferiors, pid_t tid, int status, bool bound)
{
	int trace_event = status >> 16;
	unsigned long child;

	if ((trace_event == PTRACE_EVENT_CLONE || trace_event == PTRACE_EVENT_FORK ||
	     trace_event == PTRACE_EVENT_VFORK) &&
	    ptrace(PTRACE_GETEVENTMSG, tid, NULL, &child) == 0)
		add(inferiors, (pid_t)child, bound);
}

bool leaving_on_status(struct inferiors *inferiors, pid_t tid, int status)
{
	bool bound;

	if (!leaving_cancel(inferiors, tid, &bound))
		return false;
	log_debug(LOG_INFERIOR, "%d: let go by its status 0x%x", tid,
		  (unsigned int)status);
	if (!WIFSTOPPED(status))
		return true;
	add_child(inferiors, tid, status, bound);
	arch_native()->debugreg_set(tid, NULL, 0);
	ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)signal_of(tid, status));
	return true;
}

/* One that has to be waited for, or NULL. */
static const struct leaving *find_bound(const struct inferiors *inferiors)
{
	const struct leaving *leaving = inferiors->leaving;

	while (leaving && !leaving->bound)
		leaving = leaving->next;
	return leaving;
}

void leaving_wait(struct inferiors *inferiors)
{
	const struct leaving *leaving = find_bound(inferiors);
	int status;
	pid_t tid;
	bool bound;

	if (leaving)
		log_info("The server goes on until thread %d, which sleeps in the "
			 "kernel, "
			 "can be let go.",
			 leaving->tid);
	while (find_bound(inferiors)) {
		tid = waitpid(-1, &status, __WALL);
		if (tid > 0)
			leaving_on_status(inferiors, tid, status);
		else if (errno != EINTR)
			break;
	}
	while (inferiors->leaving)
		leaving_cancel(inferiors, inferiors->leaving->tid, &bound);
}
