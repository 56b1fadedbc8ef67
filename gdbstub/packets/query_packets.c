/* SPDX-License-Identifier: BSD-2-Clause */
/* What the two sides can do, and what there is to debug. */
#include <string.h>

#include "gdbstub/inferior/inferior.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/rsp/frame.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/client/threads.h"
#include "gdbstub/packets/xfer.h"
#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"
#include "gdbstub/run/nonstop.h"

static void ok(struct buffer *reply)
{
	buffer_append_string(reply, "OK");
}

/* ---- features ---- */

/* What clients say in qSupported that makes a difference here; after a '=' any
 * value. */
static const struct {
	const char *name;
	size_t offset; /* of the flag in struct session */
} client_features[] = {
	{"multiprocess+", offsetof(struct session, multiprocess)},
	{"swbreak+", offsetof(struct session, swbreak)},
	{"hwbreak+", offsetof(struct session, hwbreak)},
	{"exec-events+", offsetof(struct session, exec_events)},
	{"fork-events+", offsetof(struct session, fork_events)},
	{"vfork-events+", offsetof(struct session, vfork_events)},
	{"no-resumed+", offsetof(struct session, no_resumed)},
	{"error-message+", offsetof(struct session, error_message)},
	{"QThreadOptions+", offsetof(struct session, thread_options)},
	{"xmlRegisters=", offsetof(struct session, reads_target_xml)},
	{"single-inf-arg+", offsetof(struct session, single_argument)},
	{"multi-wp-addr+", offsetof(struct session, several_watches)},
};

static void note_feature(struct session *session, struct cursor feature)
{
	for (size_t i = 0; i < sizeof(client_features) / sizeof(client_features[0]);
	     i++) {
		struct cursor rest = feature;

		if (cursor_text(&rest, client_features[i].name) &&
		    (cursor_left(&rest) == 0 || rest.p[-1] == '='))
			*(bool *)((char *)session + client_features[i].offset) = true;
	}
}

struct error *packet_qSupported(struct client *client, struct cursor *args,
				struct buffer *reply)
{
	cursor_char(args, ':');
	while (cursor_left(args) > 0) {
		note_feature(&client->session, cursor_until(args, ';'));
		cursor_char(args, ';');
	}
	client->run->wishes.no_resumed = client->session.no_resumed;
	client->run->wishes.fork = client->session.fork_events;
	client->run->wishes.vfork = client->session.vfork_events;
	client->run->wishes.all_watches = client->session.several_watches;
	buffer_printf(reply, "PacketSize=%x", RSP_PACKET_SIZE);
	packet_append_features(client->session.disabled, reply);
	buffer_append_char(reply, ';');
	xfer_append_features(reply);
	return NULL;
}

struct error *packet_QStartNoAckMode(struct client *client, struct cursor *args,
				     struct buffer *reply)
{
	(void)args;
	client->session.no_ack = true;
	ok(reply);
	return NULL;
}

/* ---- settings ---- */

struct error *packet_QNonStop(struct client *client, struct cursor *args,
			      struct buffer *reply)
{
	bool on = false;
	struct error *error = cursor_switch(args, "QNonStop", &on);

	if (error)
		return error;
	run_set_non_stop(client->run, on);
	ok(reply);
	return NULL;
}

/* ---- processes and threads ---- */

struct error *packet_qAttached(struct client *client, struct cursor *args,
			       struct buffer *reply)
{
	struct inferior *inferior = client_inferior(client);
	struct error *error;
	uint64_t pid;

	if (cursor_char(args, ':')) {
		if (!cursor_hex(args, &pid))
			return error_create(0, "qAttached: not a process id");
		error = threads_inferior(client, pid, &inferior);
		if (error)
			return error;
	}
	if (!inferior)
		return error_create(0, "no process is being debugged");
	buffer_append_char(reply, inferior->attached ? '1' : '0');
	return NULL;
}

struct error *packet_qC(struct client *client, struct cursor *args,
			struct buffer *reply)
{
	struct thread *thread;
	struct error *error = threads_current(client, &thread);

	(void)args;
	if (error)
		return error;
	buffer_append_string(reply, "QC");
	threads_append_id(reply, client->session.multiprocess, thread->inferior->pid,
			  thread->tid);
	return NULL;
}

struct error *packet_qfThreadInfo(struct client *client, struct cursor *args,
				  struct buffer *reply)
{
	const struct inferior *inferior;
	const struct thread *thread;
	char before = 'm';

	(void)args;
	TAILQ_FOREACH (inferior, &client->run->inferiors.list, link) {
		FOREACH_THREAD (thread, inferior) {
			if (!thread_is_shown(thread))
				continue;
			buffer_append_char(reply, before);
			threads_append_id(reply, client->session.multiprocess,
					  inferior->pid, thread->tid);
			before = ',';
		}
	}
	if (reply->len > 0)
		return NULL;
	/* lldb takes an empty list for a thread without a number. */
	if (client->session.lldb)
		ok(reply);
	else
		buffer_append_char(reply, 'l');
	return NULL;
}

/* qfThreadInfo told all of them. */
struct error *packet_qsThreadInfo(struct client *client, struct cursor *args,
				  struct buffer *reply)
{
	(void)client;
	(void)args;
	buffer_append_char(reply, 'l');
	return NULL;
}

struct error *packet_qThreadExtraInfo(struct client *client, struct cursor *args,
				      struct buffer *reply)
{
	const struct thread *thread;
	struct thread_id id;
	char name[64];

	if (!cursor_thread_id(args, &id) || cursor_left(args) > 0)
		return error_create(0, "qThreadExtraInfo: not a thread id");
	thread = threads_find(client, &id);
	if (!thread)
		return error_create(0, "no such thread");
	thread_name(thread, name, sizeof(name));
	buffer_append_hex(reply, name, strlen(name));
	return NULL;
}

/* ---- threads ---- */

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
