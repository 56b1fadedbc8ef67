/* SPDX-License-Identifier: BSD-2-Clause */
/* QPassSignals QProgramSignals QCatchSyscalls QThreadEvents QThreadOptions: what the
 * client wants to hear of, beyond what is always told. */
#include <errno.h>
#include <string.h>

#include "gdbstub/packets/packet.h"
#include "gdbstub/client/threads.h"
#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"
#include "gdbstub/client/signal_number.h"

static void ok(struct buffer *reply)
{
	buffer_append_string(reply, "OK");
}

/* ---- signals ---- */

/* Signals in the client's numbers, separated by ';'. */
static struct error *parse_signals(const struct session *session, struct cursor *args,
				   const char *name, bool named[SIGNALS_MAX])
{
	while (cursor_left(args) > 0) {
		uint64_t number;
		int signal;

		if (!cursor_hex(args, &number) ||
		    (cursor_left(args) > 0 && !cursor_char(args, ';')))
			return error_create(0, "%s: not a list of signals", name);
		/* gdb also names signals of other systems, and what is one signal
		 * here by two names (SIGPOLL, SIGIO): only ours counts. */
		signal = signal_numbered(session, number);
		if (signal > 0 && signal < SIGNALS_MAX &&
		    (uint64_t)signal_number(session, signal) == number)
			named[signal] = true;
	}
	return NULL;
}

/* Signals for the program that the client does not want to hear of. */
struct error *packet_QPassSignals(struct client *client, struct cursor *args,
				  struct buffer *reply)
{
	bool named[SIGNALS_MAX] = {false};
	struct error *error =
		parse_signals(&client->session, args, "QPassSignals", named);

	if (error)
		return error;
	memcpy(client->run->pass_signal, named, sizeof(named));
	ok(reply);
	return NULL;
}

/* Signals that the program may see after a detach. */
struct error *packet_QProgramSignals(struct client *client, struct cursor *args,
				     struct buffer *reply)
{
	bool named[SIGNALS_MAX] = {false};
	struct error *error =
		parse_signals(&client->session, args, "QProgramSignals", named);

	if (error)
		return error;
	for (int signal = 1; signal < SIGNALS_MAX; signal++)
		client->run->withhold_signal[signal] = !named[signal];
	ok(reply);
	return NULL;
}

/* ---- system calls ---- */

static struct error *parse_syscalls(struct cursor *args, struct syscalls *set)
{
	struct buffer numbers _cleanup_buffer_ = {0};

	while (cursor_left(args) > 0) {
		uint64_t number;

		if (!cursor_char(args, ';') || !cursor_hex(args, &number))
			return error_create(0, "QCatchSyscalls: not a list of numbers");
		buffer_append(&numbers, &number, sizeof(number));
	}
	if (buffer_failed(&numbers) || syscalls_set(set, (const void *)numbers.data,
						    numbers.len / sizeof(uint64_t)) < 0)
		return error_create(ENOMEM, "QCatchSyscalls");
	return NULL;
}

/* "0": none; "1": all; "1;NUMBER;..." of the chosen process. */
struct error *packet_QCatchSyscalls(struct client *client, struct cursor *args,
				    struct buffer *reply)
{
	struct inferior *inferior = client_inferior(client);
	bool on = cursor_char(args, '1');
	struct error *error = NULL;

	if (!inferior)
		return error_create(0, "no process is being debugged");
	if (!on && !(cursor_char(args, '0') && cursor_left(args) == 0))
		return error_create(0, "QCatchSyscalls: neither 0 nor 1");
	if (on && cursor_left(args) == 0)
		syscalls_set_all(&inferior->syscalls);
	else
		error = parse_syscalls(args, &inferior->syscalls);
	if (error)
		return error;
	ok(reply);
	return NULL;
}

/* ---- threads ---- */

struct error *packet_QThreadEvents(struct client *client, struct cursor *args,
				   struct buffer *reply)
{
	bool on = false;
	struct error *error = cursor_switch(args, "QThreadEvents", &on);

	if (error)
		return error;
	client->run->wishes.thread_events = on;
	ok(reply);
	return NULL;
}

struct thread_options {
	unsigned int options; /* enum thread_option */
	struct thread_id threads;
};

static struct error *parse_options(struct cursor *args, struct thread_options *options)
{
	uint64_t value;

	if (!cursor_hex(args, &value))
		return error_create(0, "QThreadOptions: no options");
	if (value & ~(uint64_t)THREAD_OPTIONS)
		return error_create(0, "QThreadOptions: an unknown option in 0x%llx",
				    (unsigned long long)value);
	options->options = (unsigned int)value;
	options->threads = (struct thread_id){.pid = -1, .tid = -1};
	if (cursor_char(args, ':') && !cursor_thread_id(args, &options->threads))
		return error_create(0, "QThreadOptions: not a thread id");
	if (cursor_left(args) > 0 && !cursor_char(args, ';'))
		return error_create(0, "QThreadOptions: no ';' after a thread id");
	return NULL;
}

/* The last options that are for a thread win; others keep what they have. */
static void set_options(struct run *run, const struct thread_options *options,
			size_t count)
{
	struct inferior *inferior;
	struct thread *thread;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		FOREACH_THREAD (thread, inferior) {
			for (size_t i = 0; i < count; i++) {
				if (thread_id_matches(&options[i].threads, thread))
					thread->options = options[i].options;
			}
		}
	}
}

/* OPTIONS[:THREAD], separated by ';'. */
struct error *packet_QThreadOptions(struct client *client, struct cursor *args,
				    struct buffer *reply)
{
	struct buffer list _cleanup_buffer_ = {0};
	struct error *error = NULL;

	do {
		struct thread_options options;

		error = parse_options(args, &options);
		if (error)
			return error;
		buffer_append(&list, &options, sizeof(options));
	} while (cursor_left(args) > 0);
	if (buffer_failed(&list))
		return error_create(ENOMEM, "QThreadOptions");
	set_options(client->run, (const void *)list.data,
		    list.len / sizeof(struct thread_options));
	ok(reply);
	return NULL;
}
