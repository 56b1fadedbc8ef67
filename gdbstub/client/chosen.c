/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/client/chosen.h"

#include "gdbstub/inferior/late.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/client/client.h"
#include "gdbstub/client/threads.h"

struct thread *client_thread(struct client *client)
{
	const struct thread_id *chosen = &client->session.general;
	const struct thread_id any = {0};
	struct thread *thread = NULL;

	if (chosen->tid > 0 || chosen->pid > 0)
		thread = threads_find(client, chosen);
	/* It may end at any time in non-stop mode; its process is still meant. */
	if (!thread && chosen->pid > 0)
		return threads_find(client, &(struct thread_id){.pid = chosen->pid});
	if (!thread)
		thread = thread_find(&client->run->inferiors, client->run->last.tid);
	return thread ? thread : threads_find(client, &any);
}

struct inferior *client_inferior(struct client *client)
{
	const struct thread *thread = client_thread(client);

	return thread ? thread->inferior : NULL;
}

struct error *threads_current(struct client *client, struct thread **ret)
{
	*ret = client_thread(client);
	return *ret ? NULL : error_create(0, "no process is being debugged");
}

struct error *threads_stopped(struct client *client, struct thread **ret)
{
	const struct thread_id *chosen = &client->session.general;
	struct error *error = threads_current(client, ret);

	if (error)
		return error;
	if (chosen->tid > 0 && (*ret)->tid != chosen->tid)
		return error_create(0, "thread %d has ended", chosen->tid);
	if (!thread_is_held(*ret))
		return error_create(0, "thread %d is running", (*ret)->tid);
	return NULL;
}
