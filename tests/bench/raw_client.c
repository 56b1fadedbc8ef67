/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The quickest client there can be: what it measures is the server.
 *
 * raw_client FD COUNT PACKET...
 *
 * sends the packets on a connection that has been made and needs no acknowledgements,
 * COUNT times, each after the reply to the one before it, and prints the seconds that
 * those which begin with + have taken, for one time. A packet that ends with ^C is
 * followed by an interrupt at once; one that ends with @ has there the process that the
 * stop before it told of as forked. A reply that is an error, or none of a stop or of
 * what was asked for, ends it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PACKET_SIZE = 1 << 16 };

static char reply[PACKET_SIZE]; /* the last one */

struct packet {
	char *bytes;
	size_t size;
	int is_timed;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static _Noreturn void fail(const char *what, const char *detail)
{
	fprintf(stderr, "raw_client: %s: %s\n", what, detail);
	exit(1);
}

static struct packet frame(const char *text)
{
	struct packet packet = {.is_timed = *text == '+'};
	size_t length;
	unsigned int sum = 0;
	int interrupts;

	text += packet.is_timed;
	length = strlen(text);
	interrupts = length > 2 && strcmp(text + length - 2, "^C") == 0;
	length -= interrupts ? 2 : 0;
	for (size_t i = 0; i < length; i++)
		sum += (unsigned char)text[i];
	packet.bytes = malloc(length + 8);
	if (!packet.bytes)
		fail(text, "no memory");
	packet.size = (size_t)sprintf(packet.bytes, "$%.*s#%02x%s", (int)length, text,
				      sum & 0xff, interrupts ? "\x03" : "");
	return packet;
}

/* Lets console output pass: it is no reply. */
static int is_console(void)
{
	return reply[1] == 'O' && reply[2] != 'K';
}

static void receive(int fd)
{
	size_t size = 0;
	char *end;

	for (;;) {
		ssize_t count = read(fd, reply + size, sizeof(reply) - 1 - size);

		if (count <= 0)
			fail("connection", count ? strerror(errno) : "closed");
		size += (size_t)count;
		reply[size] = 0;
		end = strchr(reply, '#');
		while (end && end + 2 < reply + size && is_console()) {
			size -= (size_t)(end + 3 - reply);
			memmove(reply, end + 3, size + 1);
			end = strchr(reply, '#');
		}
		if (end && end + 2 < reply + size)
			return;
	}
}

/* A run of a digit is its number and what follows it ("Debugging with GDB", appendix E,
 * "Overview"). */
static void copy_unpacked(char *to, const char *end, const char *from)
{
	for (; *from != '.' && to < end; from++) {
		int more = from[0] == '*' && from[1] ? *++from - 29 : 0;

		if (more == 0)
			*to++ = *from;
		for (; more > 0 && to < end; more--, to++)
			*to = to[-1];
	}
	*to = 0;
}

/* "T05fork:pPID.TID;...": the packet with the PID. */
static struct packet of_child(const char *text)
{
	const char *child = strstr(reply, "fork:p");
	const size_t length = strlen(text) - 1;
	char whole[256];

	if (!child || length > sizeof(whole) / 2)
		fail("no fork", reply);
	memcpy(whole, text, length);
	copy_unpacked(whole + length, whole + sizeof(whole) - 1,
		      child + strlen("fork:p"));
	return frame(whole);
}

static double exchange(int fd, const struct packet *packet)
{
	double start = now();

	if (write(fd, packet->bytes, packet->size) != (ssize_t)packet->size)
		fail("write", strerror(errno));
	receive(fd);
	if (reply[1] == 'E' || reply[1] == '#' || reply[1] == 'W' || reply[1] == 'X')
		fail(packet->bytes, reply);
	return packet->is_timed ? now() - start : 0;
}

static double exchange_text(int fd, const char *text)
{
	struct packet packet = of_child(text);
	const double time = exchange(fd, &packet);

	free(packet.bytes);
	return time;
}

int main(int argc, char **argv)
{
	const int count = argc - 3, fd = argc > 1 ? atoi(argv[1]) : -1;
	struct packet *packets =
		count > 0 ? calloc((size_t)count, sizeof(*packets)) : NULL;
	double total = 0;

	if (!packets)
		fail("usage", "raw_client FD COUNT PACKET...");
	for (int i = 0; i < count; i++)
		if (!strchr(argv[3 + i], '@'))
			packets[i] = frame(argv[3 + i]);
	for (long turn = atol(argv[2]); turn > 0; turn--)
		for (int i = 0; i < count; i++)
			total += packets[i].bytes ? exchange(fd, &packets[i])
						  : exchange_text(fd, argv[3 + i]);
	printf("%.9f\n", total / (double)atol(argv[2]));
	return 0;
}
