/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "gdbstub/rsp/connection.h"
#include "gdbstub/rsp/frame.h"
#include "gdbstub/client/client.h"

static struct run run;
static struct client client = {.run = &run};
static struct output console;
static struct buffer own;      /* what came in the server's own output */
static struct buffer received; /* what the client has, undecoded but for run lengths */
static int peer;

static void print_own(void *data, const char *text, size_t len)
{
	buffer_append(data, text, len);
}

static void begin(void)
{
	int fds[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	peer = fds[0];
	client.connection = connection_create(fds[1], -1);
	connection_set_no_ack(client.connection);
	client.run->own_output = (struct output){.print = print_own, .data = &own};
	console = console_output(&client);
}

static void end(void)
{
	connection_destroy(client.connection);
	client.connection = NULL;
	console_close(&client);
	close(peer);
	buffer_deinit(&own);
	buffer_deinit(&received);
}

TestSuite(console, .init = begin, .fini = end, .timeout = 300);

static void print(const char *text)
{
	console.print(console.data, text, strlen(text));
}

static int hex_digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* Appends the text of an O packet, of which @packet is the payload. */
static void take_packet(struct cursor packet)
{
	cr_assert_eq(*packet.p, 'O');
	cr_assert_lt(cursor_left(&packet), RSP_PACKET_SIZE);
	for (const char *p = packet.p + 1; p < packet.end; p += 2)
		buffer_append_char(&received,
				   (char)(hex_digit(p[0]) << 4 | hex_digit(p[1])));
}

/* The client reads all that there is. */
static void client_reads(void)
{
	struct frame_decoder decoder;
	char chunk[65536];
	ssize_t n;

	frame_decoder_init(&decoder, RSP_PACKET_SIZE);
	for (;;) {
		const char *p = chunk;

		connection_io(client.connection);
		console_send(&client);
		n = recv(peer, chunk, sizeof(chunk), 0);
		if (n <= 0)
			break;
		while (p < chunk + n) {
			if (frame_decode(&decoder, &p, chunk + n) == FRAME_PACKET)
				take_packet(
					(struct cursor){buffer_string(&decoder.packet),
							buffer_string(&decoder.packet) +
								decoder.packet.len});
		}
	}
	frame_decoder_deinit(&decoder);
}

/* Numbered on through all calls. */
static void print_lines(size_t bytes)
{
	static unsigned int number;
	char line[32];
	size_t printed = 0;

	while (printed < bytes) {
		snprintf(line, sizeof(line), "line %u\n", number++);
		print(line);
		printed += strlen(line);
	}
}

/* The lines are in order from the first one on; returns how many. */
static unsigned int count_lines(const char *text)
{
	unsigned int count = 0;

	while (strncmp(text, "line ", 5) == 0) {
		char *end;

		cr_assert_eq(strtoul(text + 5, &end, 10), count, "%.20s", text);
		cr_assert_eq(*end, '\n');
		text = end + 1;
		count++;
	}
	return count;
}

Test(console, waits_for_the_program_to_run)
{
	print("a\n");
	print("b\n");
	client_reads();
	cr_expect_eq(received.len, 0);
	client.session.resumed = true;
	print("c\n");
	client_reads();
	cr_expect_str_eq(buffer_string(&received), "a\nb\nc\n");
	cr_expect_eq(own.len, 0);
}

Test(console, without_a_reader)
{
	struct connection *connection = client.connection;

	print("kept\n");
	client.run->non_stop = true;
	client.session.resumed = true;
	print("non-stop\n");
	client.run->non_stop = false;
	client.connection = NULL;
	print("nobody\n");
	cr_expect_str_eq(buffer_string(&own), "kept\nnon-stop\nnobody\n");
	cr_expect(console.ready(console.data));
	client.connection = connection;
	client_reads();
	cr_expect_eq(received.len, 0);
}

Test(console, what_is_kept_when_the_client_goes)
{
	print("kept\n");
	console_close(&client);
	cr_expect_str_eq(buffer_string(&own), "kept\n");
	console_close(&client);
	cr_expect_str_eq(buffer_string(&own), "kept\n");
}

/* A client that does not read: nothing is lost, and memory is bounded. */
Test(console, a_stop_comes_after_the_text)
{
	client.session.resumed = true;
	cr_expect(console_settle(&client));
	print_lines(CONSOLE_LIMIT / 2);
	cr_expect_not(console_settle(&client));
	cr_expect(console.ready(console.data));
	cr_expect_lt(connection_unsent(client.connection), 100000);
	print_lines(CONSOLE_LIMIT);
	cr_expect_not(console.ready(console.data));
	cr_expect_not(console_settle(&client));
	client_reads();
	cr_expect(console.ready(console.data));
	cr_expect(console_settle(&client));
	cr_expect_geq(received.len, CONSOLE_LIMIT / 2 + CONSOLE_LIMIT);
	cr_expect_gt(count_lines(buffer_string(&received)), CONSOLE_LIMIT / 16);
}

Test(console, ctrl_c)
{
	unsigned int before, after;
	const char *notice;
	size_t left = 0;

	client.session.resumed = true;
	print_lines(CONSOLE_LIMIT + (1 << 20));
	cr_expect_not(console.ready(console.data));
	console_hurry(&client);
	/* What the kernel has is taken before the stop, but not shown. */
	cr_expect(console.ready(console.data));
	client_reads();
	print_lines(1000);
	client_reads();
	cr_expect(console_settle(&client));
	cr_expect_not(console.ready(console.data));
	client.session.resumed = false;
	client_reads();
	before = count_lines(buffer_string(&received));
	cr_expect_gt(before, CONSOLE_CUT / 16);
	cr_expect_lt(received.len, 1 << 20);
	notice = strstr(buffer_string(&received), "\n[truehit: ");
	cr_assert(notice);
	cr_assert_eq(sscanf(notice, "\n[truehit: %zu bytes", &left), 1);

	/* It goes on where it was cut off. */
	buffer_consume(&received, received.len);
	client.session.resumed = true;
	client_reads();
	cr_expect_eq(received.len, left);
	after = (unsigned int)atoi(buffer_string(&received) + 5);
	cr_expect_eq(after, before);
	cr_expect(console_settle(&client));
}

Test(console, ctrl_c_within_a_long_line)
{
	struct buffer line _cleanup_buffer_ = {0};

	for (int i = 0; i < 1 << 20; i++)
		buffer_append_char(&line, 'x');
	client.session.resumed = true;
	print(buffer_string(&line));
	console_hurry(&client);
	cr_expect(console_settle(&client));
	client.session.resumed = false;
	client_reads();
	cr_expect(strstr(buffer_string(&received), "x\n[truehit: "));
}

/* Little text is shown whole, and the next stop is one like any other. */
Test(console, ctrl_c_without_much_text)
{
	client.session.resumed = true;
	print("a\n");
	console_hurry(&client);
	cr_expect(console_settle(&client));
	client_reads();
	cr_expect_str_eq(buffer_string(&received), "a\n");
	print_lines(CONSOLE_LIMIT);
	cr_expect_not(console_settle(&client));
	console_hurry(&client);
	console_close(&client);
	print_lines(CONSOLE_LIMIT);
	cr_expect_not(console_settle(&client));
}

Test(console, monitor_commands)
{
	struct buffer text _cleanup_buffer_ = {0};

	for (int i = 0; i < 100000; i++)
		buffer_append_char(&text, (char)('a' + i % 26));
	console_show(&client, buffer_string(&text), text.len);
	client_reads();
	cr_expect_str_eq(buffer_string(&received), buffer_string(&text));
}
