/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/rsp/connection.h"
#include "gdbstub/rsp/frame.h"
#include "gdbstub/rsp/listener.h"
#include "gdbstub/client/session.h"

enum { PATIENCE = 5000 };

/* ---- COMM ---- */

static struct comm comm(const char *text)
{
	struct comm parsed;
	struct error *error _cleanup_error_ = comm_parse(text, &parsed);

	cr_assert_null(error, "%s", text);
	return parsed;
}

static void expect_tcp(const char *text, const char *host, unsigned int port)
{
	struct comm parsed = comm(text);

	cr_expect_eq(parsed.kind, COMM_TCP, "%s", text);
	cr_expect_str_eq(parsed.host, host, "%s", text);
	cr_expect_eq(parsed.port, port, "%s", text);
}

Test(comm, forms)
{
	expect_tcp(":2345", "", 2345);
	expect_tcp("localhost:0", "localhost", 0);
	expect_tcp("127.0.0.1:65535", "127.0.0.1", 65535);
	expect_tcp("[::1]:80", "::1", 80);
	expect_tcp("::1:80", "::1", 80);
	expect_tcp("tcp8:123:80", "tcp8:123", 80);
	cr_expect_eq(comm("-").kind, COMM_STDIO);
	cr_expect_eq(comm("stdio").kind, COMM_STDIO);
	cr_expect_str_eq(comm("unix:/tmp/s").path, "/tmp/s");
	cr_expect_eq(comm("/dev/ttyS0").kind, COMM_SERIAL);
	cr_expect_str_eq(comm("/dev/ttyS0").path, "/dev/ttyS0");
}

Test(comm, errors)
{
	static const char *const bad[] = {
		"",	     ":",   ":x",	    "x:",    ":65536",
		":-1",	     ":1x", ":99999999999", "unix:", "udp:localhost:1",
		"localhost:"};
	char longest[COMM_HOST_MAX + 8];
	struct comm parsed;
	struct error *error;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error *refused _cleanup_error_ = comm_parse(bad[i], &parsed);

		cr_expect(refused, "%s", bad[i]);
	}
	memset(longest, 'h', sizeof(longest));
	strcpy(longest + COMM_HOST_MAX, ":1");
	error = comm_parse(longest, &parsed);
	cr_expect(error);
	error_destroy(error);
}

/* ---- listening ---- */

static struct listener listen_at(const char *text)
{
	struct comm where = comm(text);
	struct listener listener;
	struct error *error _cleanup_error_ = listener_open(&listener, &where);

	cr_assert_null(error, "%s: %s", text, error_text(error));
	return listener;
}

static void expect_refused(const char *text, const char *reason)
{
	struct comm where = comm(text);
	struct listener listener;
	struct error *error _cleanup_error_ = listener_open(&listener, &where);

	cr_assert(error, "%s", text);
	cr_expect(strstr(error_text(error), reason), "%s", error_text(error));
	cr_expect_eq(listener.nfds, 0);
}

static int connect_to(unsigned int port)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_port = htons((uint16_t)port),
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	cr_assert_eq(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static struct connection *accept_from(struct listener *listener)
{
	struct pollfd fds[LISTENER_SOCKETS_MAX];
	unsigned int n = listener_poll(listener, fds);

	cr_assert_gt(poll(fds, n, PATIENCE), 0);
	return listener_accept(listener);
}

Test(listener, loopback_with_a_port_of_its_own_choice)
{
	struct listener listener = listen_at(":0");
	int client;
	struct connection *connection;

	cr_expect_gt(listener.port, 0);
	for (unsigned int i = 0; i < listener.nfds; i++)
		cr_expect(fcntl(listener.fds[i], F_GETFD) & FD_CLOEXEC);
	client = connect_to(listener.port);
	connection = accept_from(&listener);
	cr_expect(connection);
	cr_expect_null(listener_accept(&listener));
	connection_destroy(connection);
	close(client);
	listener_close(&listener);
	cr_expect_not(listener_is_open(&listener));
}

/* An empty host never means the outside world. */
Test(listener, loopback_only)
{
	struct listener listener = listen_at(":0");

	for (unsigned int i = 0; i < listener.nfds; i++) {
		struct sockaddr_storage addr = {0};
		socklen_t len = sizeof(addr);

		getsockname(listener.fds[i], (struct sockaddr *)&addr, &len);
		if (addr.ss_family == AF_INET)
			cr_expect_eq(((struct sockaddr_in *)&addr)->sin_addr.s_addr,
				     htonl(INADDR_LOOPBACK));
		else
			cr_expect(IN6_IS_ADDR_LOOPBACK(
				&((struct sockaddr_in6 *)&addr)->sin6_addr));
	}
	listener_close(&listener);
}

static bool has_ipv6(void)
{
	struct sockaddr_in6 addr = {.sin6_family = AF_INET6,
				    .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	bool works = fd >= 0 && bind(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0;

	close(fd);
	return works;
}

/* A client reaches "localhost", whichever of its addresses it tries first. */
Test(listener, loopback_of_both_families)
{
	struct listener listener = listen_at(":0");

	cr_expect_eq(listener.nfds, has_ipv6() ? 2 : 1);
	for (unsigned int i = 0; i < listener.nfds; i++) {
		struct sockaddr_in6 addr = {0};
		socklen_t len = sizeof(addr);

		getsockname(listener.fds[i], (struct sockaddr *)&addr, &len);
		cr_expect_eq(ntohs(addr.sin6_port), listener.port);
	}
	listener_close(&listener);
}

Test(listener, port_in_use)
{
	struct listener listener = listen_at("127.0.0.1:0");
	char same[32];

	snprintf(same, sizeof(same), ":%u", listener.port);
	expect_refused(same, "Can't bind address: Address already in use.");
	listener_close(&listener);
}

Test(listener, names_that_cannot_be_resolved)
{
	expect_refused("tcp8:123:2345", "tcp8:123: cannot resolve name: ");
	expect_refused("no such host:2345", "no such host: cannot resolve name: ");
}

Test(listener, unix_socket)
{
	char directory[] = "/tmp/truehit-XXXXXX", path[64], text[80];
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct listener listener, other;
	struct connection *connection;
	struct stat st;
	int client = socket(AF_UNIX, SOCK_STREAM, 0), stale;

	cr_assert(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/s", directory);
	snprintf(text, sizeof(text), "unix:%s", path);
	strcpy(addr.sun_path, path);

	/* One that nobody listens at any more is replaced. */
	stale = socket(AF_UNIX, SOCK_STREAM, 0);
	cr_assert_eq(bind(stale, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(stale);
	listener = listen_at(text);
	cr_assert_eq(lstat(path, &st), 0);
	cr_expect_eq(st.st_mode & 0777, 0600);
	expect_refused(text, "Address already in use");
	cr_assert_eq(connect(client, (struct sockaddr *)&addr, sizeof(addr)), 0);
	connection = accept_from(&listener);
	cr_expect(connection);
	cr_expect_null(listener_accept(&listener)); /* the refused one left no trace */
	connection_destroy(connection);
	listener_close(&listener);
	cr_expect_eq(lstat(path, &st), -1);

	/* Any other file is left alone. */
	close(open(path, O_CREAT | O_WRONLY, 0600));
	expect_refused(text, "exists and is not a socket");
	cr_expect_eq(lstat(path, &st), 0);
	unlink(path);
	close(client);

	/* Also when the server ends. */
	listener = listen_at(text);
	unlink(path);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	listener_close(&listener);
	cr_expect_eq(lstat(path, &st), 0);
	unlink(path);

	/* And another server's socket. */
	listener = listen_at(text);
	unlink(path);
	other = listen_at(text);
	listener_close(&listener);
	cr_expect_eq(lstat(path, &st), 0);
	expect_refused(text, "Address already in use");
	listener_close(&other);
	cr_expect_eq(lstat(path, &st), -1);
	cr_expect_eq(rmdir(directory), 0);
}

/* A line that hangs up when its other end is closed. */
Test(listener, serial_line)
{
	int other = posix_openpt(O_RDWR | O_NOCTTY);
	struct connection *connection;
	struct listener listener;
	struct cursor packet;
	struct termios termios;

	cr_assert_eq(grantpt(other), 0);
	cr_assert_eq(unlockpt(other), 0);
	listener = listen_at(ptsname(other));
	cr_expect_not(listener_is_reliable(&listener));
	cr_assert_eq(tcgetattr(other, &termios), 0);
	cr_expect_eq(termios.c_lflag & (ICANON | ECHO | ISIG), 0);
	cr_expect_eq(termios.c_oflag & OPOST, 0);

	connection = listener_accept(&listener);
	cr_assert(connection);
	cr_assert_eq(write(other, "$?#3f", 5), 5);
	connection_io(connection);
	cr_assert_eq(connection_next(connection, &packet), CONNECTION_PACKET);
	cr_expect_eq(*packet.p, '?');
	connection_destroy(connection);
	cr_expect(listener_is_open(&listener));
	close(other);
	cr_expect_null(listener_accept(&listener));
	cr_expect_not(listener_is_open(&listener));
	listener_close(&listener);
}

Test(listener, no_serial_line)
{
	expect_refused("localhost",
		       "Could not open remote device: localhost: No such file");
	expect_refused("/dev/null",
		       "Could not open remote device: /dev/null: Inappropriate ioctl");
}

/* ---- packets ---- */

struct pair {
	int client;
	struct connection *connection;
};

static struct pair pair_create(void)
{
	int fds[2];

	signal(SIGPIPE, SIG_IGN);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	return (struct pair){fds[0], connection_create(fds[1], -1)};
}

static void client_sends(struct pair *pair, const char *text)
{
	cr_assert_eq(write(pair->client, text, strlen(text)), (ssize_t)strlen(text));
	connection_io(pair->connection);
}

static void expect_packet(struct pair *pair, const char *expected)
{
	struct cursor packet;

	cr_assert_eq(connection_next(pair->connection, &packet), CONNECTION_PACKET);
	cr_assert_eq(cursor_left(&packet), strlen(expected));
	cr_expect_eq(memcmp(packet.p, expected, strlen(expected)), 0);
}

static void expect_nothing(struct pair *pair)
{
	struct cursor packet;

	cr_expect_eq(connection_next(pair->connection, &packet), CONNECTION_NOTHING);
}

static void client_receives(struct pair *pair, const char *expected)
{
	char text[512];
	ssize_t n;

	connection_io(pair->connection);
	n = recv(pair->client, text, sizeof(text) - 1, MSG_DONTWAIT);
	text[n > 0 ? n : 0] = '\0';
	cr_expect_str_eq(text, expected);
}

Test(connection, acknowledges_and_replies)
{
	struct pair pair = pair_create();

	client_sends(&pair, "+$qC#b4$OK#9a");
	expect_packet(&pair, "qC");
	client_receives(&pair, "+");
	connection_send(pair.connection, "QC1", 3);
	client_receives(&pair, "$QC1#c5");
	expect_packet(&pair, "OK");
	client_receives(&pair, "+");
	expect_nothing(&pair);
	connection_destroy(pair.connection);
}

Test(connection, sends_again_when_asked)
{
	struct pair pair = pair_create();

	connection_send(pair.connection, "OK", 2);
	client_receives(&pair, "$OK#9a");
	client_sends(&pair, "-");
	expect_nothing(&pair);
	client_receives(&pair, "$OK#9a");
	client_sends(&pair, "$qC#b5");
	expect_nothing(&pair);
	client_receives(&pair, "-");
	connection_destroy(pair.connection);
}

/* Else '-' would be for an older packet than the one that is sent again. */
Test(connection, one_packet_at_a_time_is_unacknowledged)
{
	struct pair pair = pair_create();

	connection_send(pair.connection, "O61", 3);
	connection_send(pair.connection, "O62", 3);
	connection_send(pair.connection, "O#", 2);
	client_receives(&pair, "$O61#b6");
	client_sends(&pair, "-");
	expect_nothing(&pair);
	client_receives(&pair, "$O61#b6");
	client_sends(&pair, "+");
	expect_nothing(&pair);
	client_receives(&pair, "$O62#b7");
	client_sends(&pair, "-+");
	expect_nothing(&pair);
	client_receives(&pair, "$O62#b7$O}\003#cf");
	cr_expect_eq(connection_unsent(pair.connection), 0);
	connection_destroy(pair.connection);
}

/* A request is an acknowledgement, too. */
Test(connection, what_waits_is_not_forgotten)
{
	struct pair pair = pair_create();

	connection_send(pair.connection, "O61", 3);
	connection_send(pair.connection, "O62", 3);
	connection_send(pair.connection, "O63", 3);
	client_sends(&pair, "$OK#9a");
	expect_packet(&pair, "OK");
	client_receives(&pair, "$O61#b6+$O62#b7");
	cr_expect_gt(connection_unsent(pair.connection), 0);
	connection_set_no_ack(pair.connection);
	client_receives(&pair, "$O63#b8");
	connection_destroy(pair.connection);
}

/* One that asks for more and more. */
Test(connection, client_that_acknowledges_nothing, .timeout = 300)
{
	enum { REPLY = RSP_PACKET_SIZE / 2, MANY = (64 << 20) / REPLY };
	struct pair pair = pair_create();
	struct cursor packet;
	char *text = calloc(1, REPLY);

	cr_assert(text);
	memset(text, 'a', REPLY);
	for (size_t i = 1; i < REPLY; i += 2)
		text[i] = 'b'; /* or it would be compressed */
	for (int i = 0; i < MANY; i++)
		connection_send(pair.connection, text, REPLY);
	cr_expect_lt(connection_unsent(pair.connection), 40U << 20);
	cr_expect_eq(connection_next(pair.connection, &packet), CONNECTION_GONE);
	connection_drain(pair.connection, 1000);
	connection_destroy(pair.connection);
	close(pair.client);
	free(text);
}

Test(connection, without_acknowledgements)
{
	struct pair pair = pair_create();

	connection_set_no_ack(pair.connection);
	client_sends(&pair, "$qC#b4-");
	expect_packet(&pair, "qC");
	expect_nothing(&pair);
	client_receives(&pair, "");
	/* The client waits: it must get some answer. */
	client_sends(&pair, "$qC#b5");
	expect_nothing(&pair);
	client_receives(&pair, "$E.the packet's checksum is wrong#a2");
	connection_destroy(pair.connection);
}

Test(connection, interrupt)
{
	struct pair pair = pair_create();
	struct cursor packet;

	client_sends(&pair, "\x03");
	cr_expect_eq(connection_next(pair.connection, &packet), CONNECTION_INTERRUPT);
	expect_nothing(&pair);
	connection_destroy(pair.connection);
}

Test(connection, what_was_sent_before_the_end_is_taken)
{
	struct pair pair = pair_create();
	struct cursor packet;

	client_sends(&pair, "$qC#b4");
	shutdown(pair.client, SHUT_WR);
	connection_io(pair.connection);
	expect_packet(&pair, "qC");
	connection_send(pair.connection, "", 0);
	client_receives(&pair, "+$#00");
	cr_expect_eq(connection_next(pair.connection, &packet), CONNECTION_GONE);
	connection_destroy(pair.connection);
}

/* Sends without reading: nothing blocks, and memory is bounded. */
Test(connection, client_that_does_not_read, .timeout = 300)
{
	struct pair pair = pair_create();
	struct buffer big _cleanup_buffer_ = {0};
	struct pollfd fds[CONNECTION_POLL_FDS];
	struct cursor packet;
	unsigned int served = 0;
	char chunk[65536];

	for (int i = 0; i < RSP_PACKET_SIZE; i++)
		buffer_append_char(&big, (char)('a' + i % 2));
	for (int i = 0; i < 100; i++) {
		client_sends(&pair, "$qC#b4");
		while (connection_next(pair.connection, &packet) == CONNECTION_PACKET) {
			connection_send(pair.connection, big.data, big.len);
			served++;
		}
	}
	cr_expect_lt(served, 20);
	connection_poll(pair.connection, fds);
	cr_expect_not(fds[0].events & POLLIN);
	cr_expect(fds[1].events & POLLOUT);
	connection_drain(pair.connection, 10);

	/* Once it reads, everything is served. */
	while (served < 100) {
		while (recv(pair.client, chunk, sizeof(chunk), MSG_DONTWAIT) > 0)
			;
		connection_io(pair.connection);
		while (connection_next(pair.connection, &packet) == CONNECTION_PACKET) {
			connection_send(pair.connection, big.data, big.len);
			served++;
		}
	}
	close(pair.client);
	connection_io(pair.connection);
	connection_drain(pair.connection, PATIENCE);
	cr_expect_eq(connection_next(pair.connection, &packet), CONNECTION_GONE);
	connection_destroy(pair.connection);
}

/* ---- the end ---- */

struct reader {
	int fd;
	size_t count;
};

/* Slower than the server's patience for the whole, and never silent. */
static void *read_slowly(void *arg)
{
	struct reader *reader = arg;
	char chunk[65536];
	ssize_t n;

	while ((n = recv(reader->fd, chunk, sizeof(chunk), 0)) > 0) {
		reader->count += (size_t)n;
		usleep(20000);
	}
	return NULL;
}

/* Over TCP, where a reset destroys what is on its way. */
Test(connection, nothing_is_cut_off_at_the_end, .timeout = 300)
{
	struct listener listener = listen_at(":0");
	struct reader reader = {.fd = connect_to(listener.port)};
	struct connection *connection = accept_from(&listener);
	struct buffer big _cleanup_buffer_ = {0};
	int small = 65536;
	pthread_t thread;

	cr_assert_eq(
		setsockopt(reader.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
	for (int i = 0; i < RSP_PACKET_SIZE; i++)
		buffer_append_char(&big, (char)('a' + i % 2));
	connection_set_no_ack(connection);
	for (int i = 0; i < 30; i++)
		connection_send(connection, big.data, big.len);
	cr_expect_not(connection_delivered(connection));
	cr_assert_eq(write(reader.fd, "$qC#b4", 6), 6);
	pthread_create(&thread, NULL, read_slowly, &reader);
	connection_drain(connection, 500);
	cr_expect(connection_delivered(connection));
	connection_destroy(connection);
	pthread_join(thread, NULL);
	cr_expect_eq(reader.count, 30 * (big.len + 4));
	close(reader.fd);
	listener_close(&listener);
}

Test(connection, a_client_that_does_not_read_is_left, .timeout = 300)
{
	struct listener listener = listen_at(":0");
	int client = connect_to(listener.port);
	struct connection *connection = accept_from(&listener);
	struct buffer big _cleanup_buffer_ = {0};

	for (int i = 0; i < 100 * RSP_PACKET_SIZE; i++)
		buffer_append_char(&big, (char)('a' + i % 2));
	connection_send(connection, big.data, big.len);
	connection_drain(connection, 100);
	cr_expect_not(connection_delivered(connection));
	connection_destroy(connection);
	close(client);
	listener_close(&listener);
}

/* Who sends no more acknowledges no more. */
Test(connection, half_closed)
{
	struct pair pair = pair_create();
	char text[64] = "";

	connection_send(pair.connection, "O61", 3);
	connection_send(pair.connection, "W00", 3);
	shutdown(pair.client, SHUT_WR);
	connection_drain(pair.connection, 10);
	cr_expect_gt(recv(pair.client, text, sizeof(text) - 1, 0), 0);
	cr_expect_str_eq(text, "$O61#b6$W00#b7");
	connection_destroy(pair.connection);
}
