/* SPDX-License-Identifier: BSD-2-Clause */
/* jThreadsInfo qThreadStopInfo: why threads have stopped. */
#include <errno.h>

#include "gdbstub/client/client.h"
#include "gdbstub/client/lldb_stop.h"
#include "gdbstub/client/report.h"
#include "gdbstub/client/threads.h"
#include "gdbstub/lldb/lldb_packets.h"

struct error *packet_jThreadsInfo(struct client *client, struct cursor *args,
				  struct buffer *reply)
{
	(void)args;
	lldb_stop_append_threads(client, reply);
	if (reply->len == 0)
		return error_create(ESRCH, "no process is being debugged");
	return NULL;
}

/* As a stop reply, of any thread. */
struct error *packet_qThreadStopInfo(struct client *client, struct cursor *args,
				     struct buffer *reply)
{
	const struct thread *thread;
	struct thread_id id;

	if (!cursor_thread_id(args, &id) || cursor_left(args) > 0 || id.tid <= 0)
		return error_create(EINVAL, "qThreadStopInfo: not a thread id");
	thread = threads_find(client, &id);
	if (!thread)
		return error_create(ESRCH, "thread %d", id.tid);
	report_thread(client, thread, reply);
	return NULL;
}
