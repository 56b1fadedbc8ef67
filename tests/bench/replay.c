/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server that only repeats what another one said: what a session with it takes is
 * what gdb and the socket take, and what the kernel takes for steps and for reads of
 * memory: those are made in a program of its own, wherever that is.
 *
 * replay FILE --once :0 PROGRAM ARG...
 *
 * tells its port, serves one client, and ends with it. FILE has entries: a line with
 * two numbers, the bytes of a packet and those of what was sent after it, and then
 * both. A client that sends another packet than that whose turn it is ends it with a
 * message.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INPUT_SIZE = 1 << 20 };

struct entry {
	char *packet, *answer;
	size_t packet_size, answer_size;
};

struct program {
	pid_t pid;
	int memory;	     /* /proc/PID/mem */
	unsigned long begin; /* an address that can be read */
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
static size_t find_packet(const char *input, size_t used, size_t *begin)
{
	const char *end;

	for (*begin = 0; *begin < used && input[*begin] != '$'; (*begin)++)
		;
	end = memchr(input + *begin, '#', used - *begin);
	return end && end + 3 <= input + used ? (size_t)(end + 3 - input) - *begin : 0;
}

/* To its first instruction. */
static pid_t start(char **argv)
{
	const pid_t pid = fork();

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_EXITKILL);
	return pid;
}

/* A step, and the registers that its stop tells of. */
static void step(pid_t pid)
{
	struct user_regs_struct regs;
	struct iovec iov = {.iov_base = &regs, .iov_len = sizeof(regs)};
	int status;

	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) < 0 ||
	    waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_GETREGSET, pid, (void *)1, &iov) < 0) /* NT_PRSTATUS */
		fail("the program cannot be stepped");
}

static bool is_step(const char *packet)
{
	return strncmp(packet, "$vCont;s", 8) == 0 ||
	       strncmp(packet, "$vCont;r", 8) == 0;
}

/* The first mapping of a program that has begun: its file's own. */
static unsigned long first_mapping(pid_t pid)
{
	unsigned long start = 0;
	char path[64];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "r");
	if (!maps || fscanf(maps, "%lx-", &start) != 1)
		fail("%s cannot be read", path);
	fclose(maps);
	return start;
}

static void open_program(struct program *program, char **argv)
{
	char path[64];

	program->pid = start(argv);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)program->pid);
	program->memory = open(path, O_RDONLY | O_CLOEXEC);
	program->begin = first_mapping(program->pid);
	if (program->memory < 0)
		fail("%s cannot be opened", path);
}

/* As many bytes as a packet "mADDR,LENGTH" or "xADDR,LENGTH" asks for. */
static void read_memory(const struct program *program, const char *packet)
{
	static char bytes[INPUT_SIZE];
	size_t length;

	if (sscanf(packet, "$%*1[mx]%*[0-9a-f],%zx#", &length) == 1 &&
	    length <= sizeof(bytes) &&
	    pread(program->memory, bytes, length, (off_t)program->begin) < 0)
		fail("the program's memory cannot be read");
}

static void serve(int client, FILE *file, const struct program *program)
{
	static char input[INPUT_SIZE];
	size_t used = 0, begin, size;
	struct entry entry;

	while (read_entry(file, &entry)) {
		while ((size = find_packet(input, used, &begin)) == 0) {
			const ssize_t n =
				read(client, input + used, sizeof(input) - used);

			if (n <= 0)
				return;
			used += (size_t)n;
		}
		if (size != entry.packet_size ||
		    memcmp(input + begin, entry.packet, size) != 0)
			fail("%.*s instead of %s", (int)size, input + begin,
			     entry.packet);
		if (is_step(entry.packet))
			step(program->pid);
		read_memory(program, entry.packet);
		used -= begin + size;
		memmove(input, input + begin + size, used);
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
	FILE *file = argc > 4 ? fopen(argv[1], "r") : NULL;
	struct program program;

	if (!file)
		fail("usage: replay FILE --once :0 PROGRAM ARG...");
	open_program(&program, argv + 4);
	serve(take_client(), file, &program);
	kill(program.pid, SIGKILL);
	return 0;
}
