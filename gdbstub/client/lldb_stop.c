/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/client/lldb_stop.h"

#include <inttypes.h>
#include <string.h>

#include "gdbstub/inferior/inferior.h"
#include "gdbstub/inferior/proc.h"

#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"
#include "gdbstub/client/expedited.h"
#include "gdbstub/client/signal_number.h"
#include "gdbstub/client/threads.h"

/* ---- one stop ---- */

static const char *signal_reason(const struct stop *stop)
{
	if (stop->stepped || stop->looks)
		return "trace";
	return stop->signal == 0 ? NULL : "signal";
}

const char *lldb_stop_reason(const struct stop *stop)
{
	switch (stop->kind) {
	case STOP_SIGNAL:
		return signal_reason(stop);
	case STOP_SWBREAK:
	case STOP_HWBREAK:
		return "breakpoint";
	case STOP_WATCH:
		return "watchpoint";
	case STOP_FORK:
		return "fork";
	case STOP_VFORK:
		return "vfork";
	case STOP_VFORK_DONE:
		return "vforkdone";
	case STOP_EXEC:
		return "exec";
	default:
		return NULL;
	}
}

/* Decimal numbers. A watchpoint is found by its address; the slot in between is nothing
 * to lldb. */
static void describe(const struct stop *stop, struct buffer *out)
{
	if (stop->kind == STOP_WATCH)
		buffer_printf(out, "%" PRIu64 " 0 %" PRIu64, stop->addr, stop->addr);
	else if (stop->kind == STOP_FORK || stop->kind == STOP_VFORK)
		buffer_printf(out, "%d %d", stop->child, stop->child);
}

struct stop lldb_stop_of(const struct thread *thread)
{
	struct stop stop = thread->control->told;

	if (stop.kind == STOP_NONE)
		stop = (struct stop){.kind = STOP_SIGNAL};
	stop.pid = thread->inferior->pid;
	stop.tid = thread->tid;
	return stop;
}

/* ---- stop replies ---- */

/* A name with what means something in a packet is told in hex. */
static void append_name(const struct thread *thread, struct buffer *out)
{
	char name[64];

	thread_name(thread, name, sizeof(name));
	if (name[0] == '\0')
		return;
	if (!strpbrk(name, "#$*}:;")) {
		buffer_printf(out, "name:%s;", name);
		return;
	}
	buffer_append_string(out, "hexname:");
	buffer_append_hex(out, name, strlen(name));
	buffer_append_char(out, ';');
}

static void append_list(struct client *client, const struct inferior *inferior,
			bool pcs, struct buffer *out)
{
	const char *before = pcs ? "thread-pcs:" : "threads:";
	const struct thread *thread;

	FOREACH_THREAD (thread, inferior) {
		if (!thread_is_shown(thread))
			continue;
		buffer_append_string(out, before);
		before = ",";
		if (pcs)
			buffer_printf(out, "%" PRIx64, expedited_pc(thread));
		else
			threads_append_id(out, client->session.multiprocess,
					  inferior->pid, thread->tid);
	}
	buffer_append_char(out, ';');
}

static void append_reason(const struct stop *stop, struct buffer *out)
{
	struct buffer description _cleanup_buffer_ = {0};
	const char *reason = lldb_stop_reason(stop);

	if (reason)
		buffer_printf(out, "reason:%s;", reason);
	describe(stop, &description);
	if (description.len == 0)
		return;
	buffer_append_string(out, "description:");
	buffer_append_hex(out, description.data, description.len);
	buffer_append_char(out, ';');
}

/* ---- JSON ---- */

static void append_json_reason(const struct session *session, const struct stop *stop,
			       struct buffer *out)
{
	struct buffer description _cleanup_buffer_ = {0};
	const char *reason = lldb_stop_reason(stop);

	if (stop->signal != 0)
		buffer_printf(out, ",\"signal\":%d",
			      signal_number(session, stop->signal));
	if (!reason)
		return;
	buffer_printf(out, ",\"reason\":\"%s\"", reason);
	describe(stop, &description);
	if (description.len > 0)
		buffer_printf(out, ",\"description\":\"%s\"",
			      buffer_string(&description));
}

static void append_json(const struct session *session, const struct thread *thread,
			bool registers, struct buffer *out)
{
	const struct stop stop = lldb_stop_of(thread);
	char name[64];

	buffer_printf(out, "{\"tid\":%d", thread->tid);
	thread_name(thread, name, sizeof(name));
	if (name[0] != '\0') {
		buffer_append_string(out, ",\"name\":");
		buffer_append_json(out, name);
	}
	append_json_reason(session, &stop, out);
	if (registers) {
		buffer_append_string(out, ",\"registers\":{");
		expedited_append_json(thread, out);
		buffer_append_char(out, '}');
	}
	buffer_append_char(out, '}');
}

static bool has_reason(const struct thread *thread)
{
	const struct stop stop = lldb_stop_of(thread);

	return lldb_stop_reason(&stop) != NULL;
}

static void append_json_list(const struct session *session,
			     const struct inferior *inferior, bool all,
			     struct buffer *out)
{
	const struct thread *thread;

	FOREACH_THREAD (thread, inferior) {
		if (!thread_is_shown(thread) || (!all && !has_reason(thread)))
			continue;
		buffer_append_char(out, out->len == 0 ? '[' : ',');
		append_json(session, thread, all, out);
	}
	buffer_append_string(out, out->len == 0 ? "[]" : "]");
}

void lldb_stop_append_threads(struct client *client, struct buffer *out)
{
	const struct inferior *inferior = client_inferior(client);

	if (inferior)
		append_json_list(&client->session, inferior, true, out);
}

/* Why each has stopped that has a reason, unless there is but one thread. */
static void append_reasons(const struct session *session,
			   const struct inferior *inferior, struct buffer *out)
{
	struct buffer json _cleanup_buffer_ = {0};

	if (!TAILQ_NEXT(TAILQ_FIRST(&inferior->threads), link))
		return;
	append_json_list(session, inferior, false, &json);
	buffer_append_string(out, "jstopinfo:");
	buffer_append_hex(out, json.data, json.len);
	buffer_append_char(out, ';');
}

void lldb_stop_append(struct client *client, const struct thread *thread,
		      const struct stop *stop, struct buffer *out)
{
	append_name(thread, out);
	if (client->run->wishes.all_stops) {
		append_list(client, thread->inferior, false, out);
		append_list(client, thread->inferior, true, out);
		append_reasons(&client->session, thread->inferior, out);
	}
	append_reason(stop, out);
}
