/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/client/stop_reply.h"

#include <string.h>

#include "gdbstub/rsp/disable.h"
#include "gdbstub/client/threads.h"

static const char *watch_name(enum breakpoint_type type)
{
	switch (type) {
	case WATCHPOINT_READ:
		return "rwatch";
	case WATCHPOINT_ACCESS:
		return "awatch";
	default:
		return "watch";
	}
}

static void print_watch(enum breakpoint_type type, uint64_t addr, struct buffer *out)
{
	buffer_printf(out, "%s:%llx;", watch_name(type), (unsigned long long)addr);
}

/* Older clients take the last address for the only one. */
static void print_watches(const struct stop *stop, const struct session *session,
			  struct buffer *out)
{
	print_watch(stop->watch, stop->addr, out);
	for (unsigned int i = 0; session->several_watches && i < stop->nothers; i++)
		print_watch(stop->others[i].type, stop->others[i].addr, out);
}

static void print_child(const char *what, const struct stop *stop,
			const struct session *session, struct buffer *out)
{
	pid_t pid = stop->kind == STOP_CLONE ? stop->pid : stop->child;

	buffer_printf(out, "%s:", what);
	threads_append_id(out, session->multiprocess, pid, stop->child);
	buffer_append_char(out, ';');
}

/* Why it stopped, beyond the signal. */
static void print_reason(const struct stop_reply *reply, const struct session *session,
			 struct buffer *out)
{
	const struct stop *stop = reply->stop;

	switch (stop->kind) {
	case STOP_SWBREAK:
		if (session->swbreak)
			buffer_append_string(out, "swbreak:;");
		break;
	case STOP_HWBREAK:
		if (session->hwbreak)
			buffer_append_string(out, "hwbreak:;");
		break;
	case STOP_WATCH:
		print_watches(stop, session, out);
		break;
	case STOP_FORK:
		print_child("fork", stop, session, out);
		break;
	case STOP_VFORK:
		print_child("vfork", stop, session, out);
		break;
	case STOP_CLONE:
		print_child("clone", stop, session, out);
		break;
	case STOP_CREATED:
		buffer_append_string(out, "create:;");
		break;
	case STOP_SYSCALL_ENTRY:
		buffer_printf(out, "syscall_entry:%x;", (unsigned int)stop->syscall);
		break;
	case STOP_SYSCALL_RETURN:
		buffer_printf(out, "syscall_return:%x;", (unsigned int)stop->syscall);
		break;
	case STOP_VFORK_DONE:
		buffer_append_string(out, "vforkdone:;");
		break;
	case STOP_EXEC:
		if (!session->exec_events || !reply->program)
			break;
		buffer_append_string(out, "exec:");
		buffer_append_hex(out, reply->program, strlen(reply->program));
		buffer_append_char(out, ';');
		break;
	default:
		break;
	}
}

static void print_thread_stop(const struct stop_reply *reply,
			      const struct session *session, struct buffer *out)
{
	const struct stop *stop = reply->stop;

	if (session->disabled & DISABLE_T) {
		buffer_printf(out, "S%02x", reply->gdb_signal);
		return;
	}
	buffer_printf(out, "T%02x", reply->gdb_signal);
	print_reason(reply, session, out);
	buffer_append_string(out, reply->registers);
	if (!(session->disabled & DISABLE_TTHREAD)) {
		buffer_append_string(out, "thread:");
		threads_append_id(out, session->multiprocess, stop->pid, stop->tid);
		buffer_append_char(out, ';');
	}
	if (reply->core >= 0)
		buffer_printf(out, "core:%x;", (unsigned int)reply->core);
	if (reply->lldb)
		buffer_append_string(out, reply->lldb);
}

/* Two digits always: some clients read a single one as 0. */
static void print_end(char letter, unsigned int number, const struct stop *stop,
		      const struct session *session, struct buffer *out)
{
	buffer_printf(out, "%c%02x", letter, number & 0xff);
	if (session->multiprocess)
		buffer_printf(out, ";process:%x", (unsigned int)stop->pid);
}

void stop_reply_print(const struct stop_reply *reply, const struct session *session,
		      struct buffer *out)
{
	const struct stop *stop = reply->stop;

	switch (stop->kind) {
	case STOP_EXITED:
		print_end('W', (unsigned int)stop->status, stop, session, out);
		break;
	case STOP_KILLED:
		print_end('X', reply->gdb_signal, stop, session, out);
		break;
	case STOP_THREAD_EXITED:
		buffer_printf(out, "w%02x;", (unsigned int)stop->status & 0xff);
		threads_append_id(out, session->multiprocess, stop->pid, stop->tid);
		break;
	case STOP_NO_RESUMED:
		buffer_append_char(out, 'N');
		break;
	default:
		print_thread_stop(reply, session, out);
		break;
	}
}
