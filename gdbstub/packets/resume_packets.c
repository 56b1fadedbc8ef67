/* SPDX-License-Identifier: BSD-2-Clause */
/* vCont c C s S ?: letting threads run, and why they stopped. */
#include <errno.h>

#include "gdbstub/inferior/compat.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/client/notify.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/client/report.h"
#include "gdbstub/client/threads.h"
#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"
#include "gdbstub/client/live_stats.h"
#include "gdbstub/client/signal_number.h"
#include "gdbstub/stops/client_view.h"
#include "gdbstub/run/run.h"

/* One action of vCont and the threads that it is for. */
struct assignment {
	struct resume_action action;
	struct thread_id threads;
};

static const struct thread_id every_thread = {.pid = -1, .tid = -1, .named_pid = true};

/* Two hex digits: a signal in the client's numbers to one of ours. */
static struct error *parse_signal(const struct session *session, struct cursor *args,
				  int *signal)
{
	uint64_t number;

	if (!cursor_hex(args, &number))
		return error_create(0, "no signal number");
	*signal = signal_numbered(session, number);
	if (*signal < 0)
		return error_create(0, "this system has no signal for the number %llu",
				    (unsigned long long)number);
	return NULL;
}

static struct error *parse_range(struct cursor *args, struct resume_action *action)
{
	if (!cursor_hex(args, &action->start) || !cursor_char(args, ',') ||
	    !cursor_hex(args, &action->end))
		return error_create(0, "vCont;r: not START,END");
	/* "An empty range steps once" (manual, vCont). */
	if (action->start == action->end)
		action->kind = RESUME_STEP;
	return NULL;
}

enum operand { OPERAND_NONE, OPERAND_SIGNAL, OPERAND_RANGE };

static const struct {
	char letter;
	enum resume_kind kind;
	enum operand operand;
} action_rows[] = {
	{'c', RESUME_CONTINUE, OPERAND_NONE}, {'C', RESUME_CONTINUE, OPERAND_SIGNAL},
	{'s', RESUME_STEP, OPERAND_NONE},     {'S', RESUME_STEP, OPERAND_SIGNAL},
	{'t', RESUME_STOP, OPERAND_NONE},     {'r', RESUME_RANGE, OPERAND_RANGE},
};

enum { NACTIONS = sizeof(action_rows) / sizeof(action_rows[0]) };

static struct error *parse_action(const struct session *session, struct cursor *args,
				  struct resume_action *action)
{
	for (int i = 0; i < NACTIONS; i++) {
		if (!cursor_char(args, action_rows[i].letter))
			continue;
		*action = (struct resume_action){.kind = action_rows[i].kind};
		if (action_rows[i].operand == OPERAND_SIGNAL)
			return parse_signal(session, args, &action->signal);
		if (action_rows[i].operand == OPERAND_RANGE)
			return parse_range(args, action);
		return NULL;
	}
	return error_create(0, "vCont: not an action (c, C, s, S, t or r)");
}

static struct error *parse_assignment(const struct session *session,
				      struct cursor *args,
				      struct assignment *assignment)
{
	struct error *error = parse_action(session, args, &assignment->action);

	if (error)
		return error;
	assignment->threads = every_thread;
	if (cursor_char(args, ':') && !cursor_thread_id(args, &assignment->threads))
		return error_create(0, "vCont: not a thread id");
	if (cursor_left(args) > 0 && !cursor_char(args, ';'))
		return error_create(0, "vCont: no ';' after an action");
	return NULL;
}

/* Of a process that has ended only the leader is left, which stands for all. */
static bool is_for(const struct assignment *assignment, const struct thread *thread)
{
	struct thread_id id = assignment->threads;

	if (thread->inferior->control->pending_stop)
		id.tid = 0;
	return thread_id_matches(&id, thread);
}

/* The leftmost assignment that is for the thread wins; NULL: there is none. */
static const struct assignment *find(const struct thread *thread,
				     const struct assignment *assignments, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_for(&assignments[i], thread))
			return &assignments[i];
	return NULL;
}

/* A single step may be so many (monitor stepi). */
static bool assign(struct client *client, struct thread *thread,
		   const struct assignment *assignment)
{
	struct resume_action action = {.kind = RESUME_NONE};

	if (assignment)
		action = assignment->action;
	if (action.kind == RESUME_STEP)
		action.steps = client->session.more_steps;
	run_set_action(client->run, thread, action);
	return assignment != NULL;
}

static bool is_step(const struct assignment *assignment)
{
	return assignment && (assignment->action.kind == RESUME_STEP ||
			      assignment->action.kind == RESUME_RANGE);
}

/* Nobody is stepped who cannot be. */
static struct error *check(struct client *client, const struct assignment *assignments,
			   size_t count)
{
	const struct inferior *inferior;
	const struct thread *thread;
	struct error *error = NULL;

	TAILQ_FOREACH (inferior, &client->run->inferiors.list, link) {
		if (!inferior->compat)
			continue;
		FOREACH_THREAD (thread, inferior)
			if (!error && is_step(find(thread, assignments, count)))
				error = compat_refuse(inferior);
	}
	return error;
}

/* Where a client passes exclusive accesses by breakpoints, there was no single step. */
static void note_more_steps(struct client *client, const struct assignment *assignments,
			    size_t count)
{
	bool any = false;

	for (size_t i = 0; i < count; i++)
		any |= assignments[i].action.kind == RESUME_STEP;
	if (!any)
		client->session.unused_steps += client->session.more_steps;
	client->session.more_steps = 0;
}

static struct error *resume(struct client *client, const struct assignment *assignments,
			    size_t count, struct buffer *reply)
{
	struct inferior *inferior;
	struct thread *thread;
	bool any = false;
	struct error *error = check(client, assignments, count);

	if (error)
		return error;
	TAILQ_FOREACH (inferior, &client->run->inferiors.list, link) {
		FOREACH_THREAD (thread, inferior)
			any |= assign(client, thread, find(thread, assignments, count));
	}
	note_more_steps(client, assignments, count);
	/* In non-stop mode it may have ended just now. */
	if (!any && !client->run->non_stop)
		return error_create(0, "no such thread to resume");
	live_stats_prepare(client);
	error = run_resume(client->run);
	if (error)
		return error;
	if (client->run->non_stop)
		buffer_append_string(reply, "OK");
	else
		client->session.resumed = true;
	return NULL;
}

struct error *packet_vCont(struct client *client, struct cursor *args,
			   struct buffer *reply)
{
	struct buffer list _cleanup_buffer_ = {0};
	size_t count = 0;

	while (cursor_left(args) > 0) {
		struct assignment assignment = {0};
		struct error *error =
			parse_assignment(&client->session, args, &assignment);

		if (error)
			return error;
		if (assignment.action.kind == RESUME_STOP && !client->run->non_stop)
			return error_create(0, "vCont;t is for non-stop mode");
		buffer_append(&list, &assignment, sizeof(assignment));
		count++;
	}
	if (buffer_failed(&list))
		return error_create(ENOMEM, "vCont");
	return resume(client, (const void *)list.data, count, reply);
}

struct error *packet_vCont_query(struct client *client, struct cursor *args,
				 struct buffer *reply)
{
	(void)client;
	(void)args;
	buffer_append_string(reply, "vCont");
	for (int i = 0; i < NACTIONS; i++)
		buffer_printf(reply, ";%c", action_rows[i].letter);
	return NULL;
}

/* The address to go on at, if the packet names one. */
static struct error *jump(struct client *client, struct cursor *args)
{
	struct thread *thread;
	struct error *error;
	uint64_t pc;
	int err;

	if (cursor_left(args) == 0)
		return NULL;
	error = threads_stopped(client, &thread);
	if (error)
		return error;
	if (!cursor_hex(args, &pc) || cursor_left(args) > 0)
		return error_create(0, "not an address to go on at");
	err = thread_set_pc(thread, pc);
	return err < 0 ? error_create(-err, "the PC cannot be set") : NULL;
}

/* The packets from before vCont: an action for one thread. The others go on, too,
 * unless Hc chose the one. */
static struct error *resume_current(struct client *client, struct cursor *args,
				    struct resume_action action, struct buffer *reply)
{
	const struct thread_id *chosen = &client->session.resuming;
	bool alone = chosen->tid > 0 && threads_find(client, chosen);
	struct assignment assignments[2] = {
		{.action = action},
		{.action = {.kind = RESUME_CONTINUE}, .threads = every_thread},
	};
	struct thread *thread;
	struct error *error = jump(client, args);

	if (!error)
		error = threads_current(client, &thread);
	if (error)
		return error;
	if (alone)
		assignments[0].threads = *chosen;
	else
		assignments[0].threads = (struct thread_id){
			.pid = thread->inferior->pid, .tid = thread->tid};
	return resume(client, assignments, alone ? 1 : 2, reply);
}

static struct error *resume_with_signal(struct client *client, struct cursor *args,
					enum resume_kind kind, struct buffer *reply)
{
	struct resume_action action = {.kind = kind};
	struct error *error = parse_signal(&client->session, args, &action.signal);

	if (error)
		return error;
	if (cursor_left(args) > 0 && !cursor_char(args, ';'))
		return error_create(0, "no ';' after the signal number");
	return resume_current(client, args, action, reply);
}

struct error *packet_c(struct client *client, struct cursor *args, struct buffer *reply)
{
	return resume_current(client, args,
			      (struct resume_action){.kind = RESUME_CONTINUE}, reply);
}

struct error *packet_s(struct client *client, struct cursor *args, struct buffer *reply)
{
	return resume_current(client, args, (struct resume_action){.kind = RESUME_STEP},
			      reply);
}

struct error *packet_C(struct client *client, struct cursor *args, struct buffer *reply)
{
	return resume_with_signal(client, args, RESUME_CONTINUE, reply);
}

struct error *packet_S(struct client *client, struct cursor *args, struct buffer *reply)
{
	return resume_with_signal(client, args, RESUME_STEP, reply);
}

struct error *packet_stop_reason(struct client *client, struct cursor *args,
				 struct buffer *reply)
{
	(void)args;
	if (client->run->non_stop)
		return notify_first(client, reply);
	report_last_stop(client, reply);
	return NULL;
}

/* As the byte 0x03, but it may be asked whether there is such a packet. */
struct error *packet_vCtrlC(struct client *client, struct cursor *args,
			    struct buffer *reply)
{
	(void)args;
	client_interrupt(client);
	buffer_append_string(reply, "OK");
	return NULL;
}

/* The client has the stop that it was told last, and asks for the next one. */
struct error *packet_vStopped(struct client *client, struct cursor *args,
			      struct buffer *reply)
{
	(void)args;
	client_view_acknowledge(client->run);
	if (client->run->non_stop)
		notify_next(client, reply);
	else
		buffer_append_string(reply, "OK");
	return NULL;
}
