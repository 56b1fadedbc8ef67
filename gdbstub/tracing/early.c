/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/tracing/early.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "gdbstub/base/log.h"
#include "gdbstub/tracing/leaving.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/thread.h"

/* The process whose thread made @tid: its own if @tid is a thread, else the parent. */
static pid_t creator_of(pid_t tid)
{
	const char *const names[] = {"Tgid", "PPid"};
	long numbers[] = {-1, -1};

	proc_status_numbers(tid, names, numbers, 2);
	return (pid_t)(numbers[0] == tid ? numbers[1] : numbers[0]);
}

void early_keep(struct inferiors *inferiors, pid_t tid, int status)
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

bool early_take(struct inferiors *inferiors, pid_t tid, int *status)
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
pid_t early_take_any(struct inferiors *inferiors, int *status)
{
	for (struct early_stop *stop = inferiors->early_stops; stop;
	     stop = stop->next) {
		pid_t tid = stop->tid;

		if (thread_find(inferiors, tid) && early_take(inferiors, tid, status))
			return tid;
	}
	return 0;
}

void early_forget(struct inferior *inferior)
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
