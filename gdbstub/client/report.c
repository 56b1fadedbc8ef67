/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/client/report.h"

#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/inferior/inferior.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/client/expedited.h"
#include "gdbstub/client/lldb_stop.h"
#include "gdbstub/client/signal_number.h"
#include "gdbstub/client/stop_reply.h"
#include "gdbstub/client/threads.h"
#include "gdbstub/client/client.h"
#include "gdbstub/stops/told.h"

static void choose_thread(struct client *client, const struct thread *thread)
{
	client->session.general = (struct thread_id){
		.pid = thread->inferior->pid,
		.tid = thread->tid,
		.named_pid = true,
	};
}

static uint64_t tag_of(const struct thread *thread, enum breakpoint_type type,
		       uint64_t addr)
{
	const struct location *location =
		breakpoints_wanted(thread->inferior->breakpoints, type, addr);

	return location ? location->tag : 0;
}

/* With the addresses of watchpoints as the client has them. */
static struct stop as_asked(const struct thread *thread, const struct stop *stop)
{
	struct stop asked = *stop;

	if (stop->kind != STOP_WATCH || !thread || !thread->inferior->breakpoints)
		return asked;
	asked.addr |= tag_of(thread, stop->watch, stop->addr);
	for (unsigned int i = 0; i < stop->nothers; i++)
		asked.others[i].addr |=
			tag_of(thread, stop->others[i].type, stop->others[i].addr);
	return asked;
}

/* @thread: NULL, or the one that has stopped. */
static void print(struct client *client, const struct thread *thread,
		  const struct stop *stop, struct buffer *reply)
{
	struct buffer registers _cleanup_buffer_ = {0}, lldb _cleanup_buffer_ = {0};
	_cleanup_free_ char *program = NULL;
	const struct stop asked = as_asked(thread, stop);
	struct stop_reply text = {.stop = &asked, .core = -1};

	text.gdb_signal = (unsigned int)signal_number(&client->session, stop->signal);
	if (thread) {
		text.core = expedited_cpu(thread);
		expedited_append(thread, &registers);
		if (client->session.lldb)
			lldb_stop_append(client, thread, &asked, &lldb);
		if (stop->kind == STOP_EXEC)
			program = inferior_exe(thread->inferior);
	}
	text.program = program;
	text.registers = buffer_string(&registers);
	text.lldb = buffer_string(&lldb);
	stop_reply_print(&text, &client->session, reply);
}

void report_stop(struct client *client, const struct stop *stop, struct buffer *reply)
{
	const struct thread *thread = thread_find(&client->run->inferiors, stop->tid);

	if (stop->kind == STOP_EXITED || stop->kind == STOP_KILLED)
		thread = NULL;
	if (thread && !client->run->non_stop)
		choose_thread(client, thread);
	print(client, thread, stop, reply);
}

void report_thread(struct client *client, const struct thread *thread,
		   struct buffer *reply)
{
	const struct stop stop = lldb_stop_of(thread);

	print(client, thread, &stop, reply);
}

/* The last stop, or that of a thread that has stopped for no reason of its own. */
static struct stop last_stop(struct client *client, const struct inferior *inferior)
{
	const struct thread_id any = {.pid = inferior->pid};
	const struct stop *last = &client->run->last;
	const struct thread *thread = thread_find(&client->run->inferiors, last->tid);
	const bool has_gone =
		last->kind == STOP_NONE || !thread || !thread_is_shown(thread);

	if (has_gone)
		thread = threads_find(client, &any);
	if (client->session.lldb && thread) {
		told_give_reasons(client->run);
		return lldb_stop_of(thread);
	}
	if (!has_gone)
		return *last;
	return (struct stop){
		.kind = STOP_SIGNAL,
		.pid = inferior->pid,
		.tid = thread ? thread->tid : inferior->pid,
	};
}

void report_last_stop(struct client *client, struct buffer *reply)
{
	const struct inferior *inferior = TAILQ_FIRST(&client->run->inferiors.list);
	struct stop stop;

	if (!inferior) {
		buffer_append_string(reply, "W00");
		return;
	}
	stop = last_stop(client, inferior);
	report_stop(client, &stop, reply);
}
