/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server that only repeats what another one said: what a session with it takes is
 * what gdb and the socket take.
 *
 * replay FILE
 *
 * tells its port, serves one client, and ends with it. FILE has entries: a line with
 * two numbers, the bytes of a packet and those of what was sent after it, and then
 * both. A client that sends another packet than that whose turn it is ends it with a
 * message.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { INPUT_SIZE = 1 << 20 };

struct entry {
	char *packet, *answer;
	size_t packet_size, answer_size;
};

static _Noreturn __attribute__((format(printf, 1, 2))) void fail(const char *format,
								 ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("replay: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	exit(1);
}

static char *read_bytes(FILE *file, size_t size)
{
	char *bytes = malloc(size + 1);

	if (!bytes || fread(bytes, 1, size, file) != size)
		fail("the file ends too early");
	bytes[size] = 0;
	return bytes;
}

static bool read_entry(FILE *file, struct entry *entry)
{
	if (fscanf(file, "%zu %zu", &entry->packet_size, &entry->answer_size) != 2)
		return false;
	fgetc(file); /* the line's end */
	entry->packet = read_bytes(file, entry->packet_size);
	entry->answer = read_bytes(file, entry->answer_size);
	return true;
}

/* The whole packet that the input begins with, after acknowledgements; 0: there is none
 * yet. */
static size_t find_packet(const char *input, size_t used, size_t *start)
{
	const char *end;

	for (*start = 0; *start < used && input[*start] != '$'; (*start)++)
		;
	end = memchr(input + *start, '#', used - *start);
	return end && end + 3 <= input + used ? (size_t)(end + 3 - input) - *start : 0;
}

static void serve(int client, FILE *file)
{
	static char input[INPUT_SIZE];
	size_t used = 0, start, size;
	struct entry entry;

	while (read_entry(file, &entry)) {
		while ((size = find_packet(input, used, &start)) == 0) {
			const ssize_t n =
				read(client, input + used, sizeof(input) - used);

			if (n <= 0)
				return;
			used += (size_t)n;
		}
		if (size != entry.packet_size ||
		    memcmp(input + start, entry.packet, size) != 0)
			fail("%.*s instead of %s", (int)size, input + start,
			     entry.packet);
		used -= start + size;
		memmove(input, input + start + size, used);
		if (write(client, entry.answer, entry.answer_size) !=
		    (ssize_t)entry.answer_size)
			return;
		free(entry.packet);
		free(entry.answer);
	}
}

static int take_client(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	const int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	int client;

	if (bind(listener, (struct sockaddr *)&address, size) < 0 ||
	    listen(listener, 1) < 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &size) < 0)
		fail("no port");
	printf("Listening on port %d\n", ntohs(address.sin_port));
	fflush(stdout);
	client = accept(listener, NULL, NULL);
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return client;
}

int main(int argc, char **argv)
{
	FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;

	if (!file)
		fail("usage: replay FILE");
	serve(take_client(), file);
	return 0;
}
