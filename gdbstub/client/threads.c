/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/client/threads.h"

#include <limits.h>

#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/client/client.h"

bool thread_id_matches(const struct thread_id *id, const struct thread *thread)
{
	return (id->pid <= 0 || id->pid == thread->inferior->pid) &&
	       (id->tid <= 0 || id->tid == thread->tid);
}

bool thread_is_shown(const struct thread *thread)
{
	const struct thread_list *threads = &thread->inferior->threads;
	bool alone = TAILQ_FIRST(threads) == thread && !TAILQ_NEXT(thread, link);

	return !thread->inferior->control->hidden && !thread->control->hidden &&
	       (alone || !thread->running || !thread_is_zombie(thread));
}

struct thread *threads_find(struct client *client, const struct thread_id *id)
{
	struct inferior *inferior;
	struct thread *thread;

	if (id->tid > 0) {
		thread = thread_find(&client->run->inferiors, id->tid);
		return thread && thread_id_matches(id, thread) &&
				       thread_is_shown(thread)
			       ? thread
			       : NULL;
	}
	TAILQ_FOREACH (inferior, &client->run->inferiors.list, link) {
		FOREACH_THREAD (thread, inferior) {
			if (thread_id_matches(id, thread) && thread_is_shown(thread))
				return thread;
		}
	}
	return NULL;
}

struct error *threads_inferior(struct client *client, uint64_t pid,
			       struct inferior **ret)
{
	*ret = pid <= INT_MAX ? inferior_find(&client->run->inferiors, (pid_t)pid)
			      : NULL;
	if (!*ret)
		return error_create(0, "process %llu is not being debugged",
				    (unsigned long long)pid);
	return NULL;
}
