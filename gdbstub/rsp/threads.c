/* SPDX-License-Identifier: BSD-2-Clause */
#include "rsp/threads.h"

#include <limits.h>

#include "inferior/proc.h"
#include "inferior/thread.h"
#include "rsp/client.h"
#include "rsp/packet.h"

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
		TAILQ_FOREACH (thread, &inferior->threads, link) {
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

/* H: which thread the packets that follow are about. */
struct error *packet_H(struct client *client, struct cursor *args, struct buffer *reply)
{
	struct session *session = &client->session;
	struct thread_id *chosen = NULL, id;

	if (cursor_char(args, 'g'))
		chosen = &session->general;
	else if (cursor_char(args, 'c'))
		chosen = &session->resuming;
	if (!chosen)
		return NULL;
	if (!cursor_thread_id(args, &id) || cursor_left(args) > 0)
		return error_create(0, "H: not a thread id");
	if ((id.tid > 0 || id.pid > 0) && !threads_find(client, &id))
		return error_create(0, "no such thread");
	*chosen = id;
	buffer_append_string(reply, "OK");
	return NULL;
}

/* T: does the thread live? */
struct error *packet_T(struct client *client, struct cursor *args, struct buffer *reply)
{
	struct thread_id id;

	if (!cursor_thread_id(args, &id) || cursor_left(args) > 0)
		return error_create(0, "T: not a thread id");
	if (!threads_find(client, &id))
		return error_create(0, "no such thread");
	buffer_append_string(reply, "OK");
	return NULL;
}
