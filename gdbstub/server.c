/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/server.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

#include "gdbstub/base/shutdown.h"
#include "gdbstub/base/log.h"
#include "gdbstub/server_signals.h"
#include "gdbstub/tracing/leaving.h"
#include "gdbstub/tracing/shell.h"
#include "gdbstub/inferior/signals.h"
#include "gdbstub/tracing/wait.h"
#include "gdbstub/client/client_program.h"
#include "gdbstub/rsp/connection.h"
#include "gdbstub/rsp/disable.h"
#include "gdbstub/client/live_stats.h"
#include "gdbstub/client/notify.h"
#include "gdbstub/client/program_terminal.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/client/report.h"
#include "gdbstub/client/threads.h"
#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/stops/client_view.h"
#include "gdbstub/run/interrupt.h"
#include "gdbstub/run/lifetimes.h"
#include "gdbstub/run/nonstop.h"
#include "gdbstub/run/unattended.h"

enum {
	DRAIN_PATIENCE = 2000, /* ms for a client to go on reading our last words */
	DELIVERY_CHECK = 10,   /* ms */
	/* While commands print, we look so often (ms), instead of being woken by each.
	 */
	PRINT_INTERVAL = 10,
	PRINT_TURNS = 4,
	IDLE = 50,	     /* ms without anything to do, for the trial of engines */
	SIGNALS_AT_ONCE = 8, /* more than signal_fd is for */
	AT_ONCE_MAX = 16,    /* requests of the client's */
	MISSES_MAX = 2,	     /* ... that had not come at once, one after the other, */
	SKIPS = 8,	     /* ... then so many are not looked for so */
	OTHERS_MAX = 4,	     /* descriptors that are polled, besides the client's */
};

/* ---- the program ---- */

static void tell_stop(struct server *server, const struct stop *stop)
{
	if (server->run.non_stop)
		notify_stop(&server->client, stop);
	else if (server->client.session.resumed)
		server->client.untold = *stop;
	else if (client_is_last_end(&server->client, stop))
		server->ending = true;
}

/* A stop comes after the text that was printed before it. */
static void tell_when_shown(struct server *server)
{
	struct buffer reply _cleanup_buffer_ = {0};
	struct stop *stop = &server->client.untold;

	if (stop->kind != STOP_NONE)
		program_terminal_read(&server->client);
	if (stop->kind == STOP_NONE || !console_settle(&server->client))
		return;
	server->client.session.resumed = false;
	server->leaving = client_is_last_end(&server->client, stop);
	report_stop(&server->client, stop, &reply);
	connection_send(server->client.connection, buffer_string(&reply), reply.len);
	stop->kind = STOP_NONE;
}

static void poll_stops(struct server *server)
{
	bool stopped, had_process = client_has_process(&server->client);
	struct stop stop;

	/* The program waits until the client has read. */
	if (server->run.running && console_is_full(&server->client))
		return;
	server->run.inferiors.quiet = server->quiet;
	stopped = client_take_stop(&server->client, &stop);
	server->run.inferiors.quiet = false;
	if (stopped) {
		if (server->client.connection)
			tell_stop(server, &stop);
		else if (client_is_last_end(&server->client, &stop))
			server->ending = true;
	}
	/* One that ran with nobody to tell has ended. */
	if (!server->client.connection && had_process &&
	    !client_has_process(&server->client) && !client_stays(&server->client))
		server->ending = true;
}

/* ---- the client ---- */

static void begin_session(struct server *server)
{
	packet_renew_session(&server->client.session);
	server->client.session.disabled = server->options.disabled;
	if (!arch_native()->memory_tags || !arch_native()->memory_tags())
		server->client.session.disabled |= DISABLE_MEMORY_TAGS;
	run_forget_wishes(&server->run);
	if (!listener_is_reliable(&server->listener))
		server->client.session.disabled |= DISABLE_NO_ACK;
}

static void accept_client(struct server *server)
{
	server->client.connection = listener_accept(&server->listener);
	if (!server->client.connection)
		return;
	server->run.inferiors.client = connection_input(server->client.connection);
	begin_session(server);
	run_rejoin(&server->run);
	if (server->options.once)
		listener_close(&server->listener);
}

/* The program stays as it is, for the next client; but if it runs, commands that are
 * to go on do so. */
static void release_program(struct server *server)
{
	bool running = server->run.running;
	struct inferior *inferior;

	run_set_non_stop(&server->run, false);
	run_halt(&server->run);
	TAILQ_FOREACH (inferior, &server->run.inferiors.list, link) {
		struct error *error _cleanup_error_ = NULL;

		breakpoints_remove_all(inferior->breakpoints);
		client_view_end(inferior);
		if (running && !inferior->control->hidden &&
		    breakpoints_persist(inferior->breakpoints))
			error = run_leave(&server->run, inferior);
		if (error)
			log_warning("%s", error_text(error));
	}
}

static void lose_client(struct server *server)
{
	bool useful =
		client_has_process(&server->client) || client_stays(&server->client);

	client_end_accesses(&server->client);
	connection_drain(server->client.connection, DRAIN_PATIENCE);
	server->run.inferiors.client = PATIENCE_NOBODY;
	connection_destroy(server->client.connection);
	server->client.connection = NULL;
	console_close(&server->client);
	server->client.untold.kind = STOP_NONE;
	if (!listener_is_open(&server->listener) || !useful) {
		server->ending = true;
		return;
	}
	release_program(server);
	begin_session(server);
	log_info("Remote side has terminated connection.  "
		 "truehit will reopen the connection.");
	listener_announce(&server->listener);
}

static void on_packet(struct server *server, struct cursor packet)
{
	struct session *session = &server->client.session;
	struct buffer reply _cleanup_buffer_ = {0};
	bool had_process = client_has_process(&server->client),
	     was_resumed = session->resumed;

	session->silent = false;
	packet_dispatch(&server->client, packet.p, cursor_left(&packet), &reply);
	client_check_accesses(&server->client, false);
	if (!session->silent && (was_resumed || !session->resumed))
		connection_send(server->client.connection, buffer_string(&reply),
				reply.len);
	if (session->no_ack)
		connection_set_no_ack(server->client.connection);
	if (had_process && !client_has_process(&server->client))
		server->client.untold.kind = STOP_NONE;
	if (!server->run.running && server->client.untold.kind == STOP_NONE)
		session->resumed = false;
	if (session->exit_server ||
	    (had_process && !client_has_process(&server->client) &&
	     !client_stays(&server->client) &&
	     server->run.unacknowledged.kind == STOP_NONE))
		server->ending = true;
}

/* What has been read may be thousands of requests; before the first one, poll(2) has
 * just told whether the end was asked for. */
static void serve_packets(struct server *server)
{
	struct cursor packet;

	for (bool first = true; server->client.connection && !server->ending;
	     first = false) {
		if (!first && connection_has_input(server->client.connection) &&
		    shutdown_asked())
			return;
		switch (connection_next(server->client.connection, &packet)) {
		case CONNECTION_NOTHING:
			return;
		case CONNECTION_PACKET:
			server->run.inferiors.quiet = first && server->quiet;
			on_packet(server, packet);
			server->run.inferiors.quiet = false;
			break;
		case CONNECTION_INTERRUPT:
			client_interrupt(&server->client);
			break;
		case CONNECTION_GONE:
			lose_client(server);
			break;
		}
		if (server->client.connection && server->client.session.ending &&
		    !server->ending)
			lose_client(server);
	}
}

/*
 * Only the client can make anything happen: the program is stopped, and all is told.
 * Once output that waited is gone, more of it is due: that is poll's to tell.
 */
static bool is_client_alone(const struct server *server)
{
	const struct connection *connection = server->client.connection;

	return connection && !server->ending && !server->run.running &&
	       server->client.untold.kind == STOP_NONE &&
	       connection_unsent(connection) == 0;
}

/*
 * While the program is stopped, a quick client has sent its next request by the time
 * that we have answered the last one; then poll(2) would tell nothing new. Did it?
 * Others have their turn after so many. One that is not so quick is not tried each
 * time.
 */
static bool serve_at_once(struct server *server)
{
	bool any = false;

	if (server->at_once == 0 || !is_client_alone(server))
		return false;
	if (server->skips > 0) {
		server->skips--;
		return false;
	}
	while (server->at_once > 0 && is_client_alone(server)) {
		server->at_once--;
		server->quiet = false;
		if (!connection_io(server->client.connection))
			break;
		serve_packets(server);
		any = true;
	}
	server->misses = any ? 0 : server->misses + 1;
	if (server->misses > MISSES_MAX) {
		server->misses = MISSES_MAX;
		server->skips = SKIPS;
	}
	return any;
}

static void serve_client(struct server *server)
{
	connection_io(server->client.connection);
	serve_packets(server);
	server->at_once = AT_ONCE_MAX;
}

/* ---- the event loop ---- */

static void take_signal(struct server *server, const struct signalfd_siginfo *info)
{
	if (info->ssi_signo == SIGCHLD) {
		inferiors_changed(&server->run.inferiors);
		return;
	}
	server->ending = true;
	raise((int)info->ssi_signo); /* nobody shall wait any more */
	log_debug(LOG_SERVER, "ended by %s", signal_name((int)info->ssi_signo));
}

/* Those that wait, in one call: each is there once at most. */
static void take_signals(struct server *server)
{
	struct signalfd_siginfo info[SIGNALS_AT_ONCE];
	ssize_t n = read(server->signal_fd, info, sizeof(info));

	for (size_t i = 0; n > 0 && i < (size_t)n / sizeof(*info); i++)
		take_signal(server, &info[i]);
}

/* The shorter one; negative: for ever. */
static int shorter(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* In ms. */
static int patience(const struct server *server)
{
	int of_run = shorter(run_patience(&server->run),
			     live_stats_patience(&server->client));

	if (server->leaving)
		return DELIVERY_CHECK;
	if (server->run.more && !console_is_full(&server->client))
		return 0;
	if (server->counting == ACCESSES_MANY)
		return 0;
	return server->printing || server->counting ? PRINT_INTERVAL : of_run;
}

/* Clients have not come yet by then, or their users think. */
static int poll_or_try_engines(struct server *server, struct pollfd *fds, nfds_t count)
{
	int limit = patience(server), ready;
	bool idle = limit < 0 && !server->run.engines_tried;

	ready = poll(fds, count, idle ? IDLE : limit);
	if (ready == 0 && idle)
		run_try_engines(&server->run);
	return ready;
}

static int print_fd(struct server *server)
{
	return server->printing ? -1 : run_print_fd(&server->run);
}

static int accesses_fd(const struct server *server)
{
	return server->counting ? -1 : access_log_fd(server->client.accesses);
}

/* What is to be waited for. */
struct work {
	struct pollfd fds[OTHERS_MAX + LISTENER_SOCKETS_MAX + CONNECTION_POLL_FDS];
	nfds_t count;
};

/* Also rows without a descriptor would cost time at each packet. Its row, or none. */
static const struct pollfd *add_input(struct work *work, int fd)
{
	if (fd < 0)
		return NULL;
	work->fds[work->count] = (struct pollfd){.fd = fd, .events = POLLIN};
	return &work->fds[work->count++];
}

static void add_client(const struct server *server, struct work *work)
{
	struct pollfd *fds = work->fds + work->count;

	work->count += server->client.connection
			       ? connection_poll(server->client.connection, fds)
			       : listener_poll(&server->listener, fds);
}

static bool any_is_ready(const struct work *work, nfds_t first, nfds_t end)
{
	for (nfds_t i = first; i < end; i++)
		if (work->fds[i].revents)
			return true;
	return false;
}

/* Does what poll(2) tells of. Was it the client's, and nothing else? */
static bool poll_once(struct server *server)
{
	const struct pollfd *signals, *terminal;
	struct work work = {.count = 0};
	nfds_t others;

	signals = add_input(&work, server->signal_fd);
	terminal = add_input(&work, program_terminal_fd(&server->client));
	add_input(&work, print_fd(server));
	add_input(&work, accesses_fd(server));
	others = work.count;
	add_client(server, &work);
	server->quiet = false;
	if (poll_or_try_engines(server, work.fds, work.count) <= 0)
		return false;
	server->quiet = !signals->revents;
	if (signals->revents)
		take_signals(server);
	if (terminal && terminal->revents)
		program_terminal_read(&server->client);
	if (!any_is_ready(&work, others, work.count) || !server->client.connection)
		return false;
	serve_client(server);
	return !any_is_ready(&work, 0, others);
}

static bool is_at_rest(const struct server *server)
{
	return server->client.session.at_rest && is_client_alone(server);
}

/* A request that leaves all at rest makes work for nobody: the next one is waited for
 * at once. */
static void wait_for_work(struct server *server)
{
	int turns = AT_ONCE_MAX;

	server->client.session.at_rest = true;
	do {
		if (serve_at_once(server) && !is_at_rest(server))
			return;
	} while (poll_once(server) && is_at_rest(server) && --turns > 0);
}

/* Before a stop is taken, as that prints all the rest, ready or not: of a program that
 * runs on meanwhile, each turn leaves less. */
static void print_output(struct server *server)
{
	int turns = 0;

	while (turns < PRINT_TURNS && run_print(&server->run))
		turns++;
	server->printing = turns > 0;
}

static void serve(struct server *server)
{
	while (!server->ending) {
		print_output(server);
		server->counting = access_log_poll(server->client.accesses);
		poll_stops(server);
		client_check_accesses(&server->client, true);
		live_stats_look(&server->client);
		console_send(&server->client);
		tell_when_shown(server);
		if (!server->client.connection)
			accept_client(server);
		else if (server->leaving &&
			 connection_delivered(server->client.connection))
			server->ending = true;
		if (!server->client.connection && !listener_is_open(&server->listener))
			server->ending = true;
		if (!server->ending)
			wait_for_work(server);
	}
}

/* ---- begin and end ---- */

static struct error *open_listener(struct server *server)
{
	struct comm comm;
	struct error *error = comm_parse(server->options.comm, &comm);

	if (!error)
		error = listener_open(&server->listener, &comm);
	return error;
}

static struct error *set_program(struct server *server)
{
	char **argv = server->options.program_argv;
	struct buffer arguments _cleanup_buffer_ = {0};

	if (*argv[0] == '\0')
		return error_create(0, "No program to debug");
	if (server->options.escape_args)
		return startup_set_program(&server->startup, argv[0], argv);
	shell_join_words(&arguments, argv + 1);
	if (buffer_failed(&arguments))
		return error_create(ENOMEM, "%s", argv[0]);
	return startup_set_command(&server->startup, argv[0],
				   buffer_string(&arguments));
}

/* Scripts wait for gdbserver's last words, whatever the reason was. */
static struct error *started(struct error *error)
{
	struct error *reason _cleanup_error_ = error;

	if (!error || error_errno(error) == 0)
		return take_ptr(reason);
	log_warning("%s", error_text(error));
	return error_create(0, "During startup program exited with code 127.");
}

static struct error *open_program(struct server *server)
{
	const struct options *options = &server->options;
	struct error *error;

	if (options->attach_pid > 0)
		return client_attach(&server->client, options->attach_pid);
	if (!options->program_argv)
		return NULL;
	error = set_program(server);
	return error ? error : started(client_launch(&server->client));
}

static void say_processes(const struct server *server, const char *what, bool attached)
{
	struct buffer pids _cleanup_buffer_ = {0};
	const struct inferior *inferior;

	TAILQ_FOREACH (inferior, &server->run.inferiors.list, link) {
		if (inferior->attached == attached)
			buffer_printf(&pids, " %d", inferior->pid);
	}
	if (pids.len > 0)
		log_info("%s process(es):%s", what, buffer_string(&pids));
}

static void close_server(struct server *server)
{
	if (server->client.connection)
		connection_drain(server->client.connection, DRAIN_PATIENCE);
	say_processes(server, "Killing", false);
	say_processes(server, "Detaching", true);
	client_end_accesses(&server->client);
	run_deinit(&server->run);
	packet_renew_session(&server->client.session);
	server->run.inferiors.client = PATIENCE_NOBODY;
	program_terminal_close(&server->client);
	connection_destroy(server->client.connection);
	server->client.connection = NULL;
	console_close(&server->client);
	listener_close(&server->listener);
	startup_deinit(&server->startup);
	close(server->signal_fd);
	leaving_wait(&server->run.inferiors);
}

int server_main(struct server *server)
{
	struct error *error _cleanup_error_ = open_listener(server);

	startup_init(&server->startup, server->options.wrapper);
	server->startup.with_shell = server->options.with_shell;
	server->startup.disable_randomization = server->options.disable_randomization;
	if (!error)
		error = server_signals_catch(server->guard, &server->signal_fd);
	if (error) {
		listener_close(&server->listener);
		log_info("%s\nExiting", error_text(error));
		return EXIT_FAILURE;
	}
	run_init(&server->run);
	server->client = (struct client){
		.run = &server->run,
		.startup = &server->startup,
		.guard = server->guard,
		.multi = server->options.multi,
		.over_stdio = server->listener.comm.kind == COMM_STDIO,
	};
	/* It has been blocked, and take_signals tells. */
	server->run.inferiors.told_by_sigchld = server_signals_tell_of_children();
	if (server->client.over_stdio)
		server->run.own_output = output_descriptor(STDERR_FILENO);
	server->run.output = console_output(&server->client);
	error = open_program(server);
	if (error) {
		log_info("%s\nExiting", error_text(error));
	} else {
		listener_announce(&server->listener);
		serve(server);
	}
	close_server(server);
	return error ? EXIT_FAILURE : EXIT_SUCCESS;
}
