/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/rsp/connection.h"
#include "gdbstub/rsp/frame.h"
#include "tests/unit/client/listening.h"

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
