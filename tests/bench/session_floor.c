/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The floor of what a client that speaks the protocol itself can see: a server that
 * does nothing but what the kernel makes every server do.
 *
 * session_floor --once :0 PROGRAM ARG...
 * session_floor --once --attach :0 PID
 *
 * starts the program, or attaches to one with one thread, tells its port, and serves
 * one client. It knows vCont;s and vCont;c (a system call to resume, one to wait, and
 * one for the registers), Z0 and z0 (a trap is in the text from Z0 to z0), m and M;
 * what else the client asks for, it says OK to. It checks nothing. Forked children it
 * lets go, as each server has to whose traps they would have, and passes SIGCHLD on.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

enum { PACKET_SIZE = 1 << 16, TRAPS_MAX = 1 << 16 };

#ifdef __x86_64__
static const unsigned char trap[] = {0xcc};
#define PC_OF(regs)  ((regs).rip)
#define TRAP_ADVANCE 1
#else
static const unsigned char trap[] = {0x00, 0x00, 0x20, 0xd4};
#define PC_OF(regs)  ((regs).pc)
#define TRAP_ADVANCE 0
#endif

struct planted {
	unsigned long addr; /* 0: none is here now */
	unsigned char original[sizeof(trap)];
};

struct floor {
	pid_t pid;
	int memory, socket;
	struct planted traps[TRAPS_MAX];
	char reply[PACKET_SIZE];
	size_t used;
};

static void fetch(struct floor *floor, struct user_regs_struct *regs)
{
	struct iovec iov = {.iov_base = regs, .iov_len = sizeof(*regs)};

	ptrace(PTRACE_GETREGSET, floor->pid, (void *)1, &iov); /* NT_PRSTATUS */
}

/* By the low bits of their addresses, which the client's are not to share. */
static struct planted *place_of(struct floor *floor, unsigned long addr)
{
	return &floor->traps[addr % TRAPS_MAX];
}

static bool trap_at(struct floor *floor, unsigned long addr)
{
	return place_of(floor, addr)->addr == addr;
}

static void leave_trap(struct floor *floor, struct user_regs_struct *regs)
{
	struct iovec iov = {.iov_base = regs, .iov_len = sizeof(*regs)};

	if (TRAP_ADVANCE == 0 || !trap_at(floor, PC_OF(*regs) - TRAP_ADVANCE))
		return;
	PC_OF(*regs) -= TRAP_ADVANCE;
	ptrace(PTRACE_SETREGSET, floor->pid, (void *)1, &iov);
}

static void let_child_go(const struct floor *floor)
{
	unsigned long child = 0;

	ptrace(PTRACE_GETEVENTMSG, floor->pid, NULL, &child);
	waitpid((pid_t)child, NULL, __WALL);
	ptrace(PTRACE_DETACH, (pid_t)child, NULL, NULL);
}

static int resume_to_stop(const struct floor *floor, int request)
{
	int status, signal = 0, goes_on;

	do {
		ptrace(request, floor->pid, NULL, (void *)(long)signal);
		waitpid(floor->pid, &status, __WALL);
		signal = WSTOPSIG(status) == SIGCHLD ? SIGCHLD : 0;
		goes_on = WIFSTOPPED(status) &&
			  (signal || status >> 16 == PTRACE_EVENT_FORK);
		if (goes_on && !signal)
			let_child_go(floor);
	} while (goes_on);
	return status;
}

/* As long as what a server says. */
static void resume(struct floor *floor, int request)
{
	struct user_regs_struct regs;
	const int status = resume_to_stop(floor, request);

	if (!WIFSTOPPED(status)) {
		floor->used = (size_t)sprintf(floor->reply, "W00");
		return;
	}
	fetch(floor, &regs);
	leave_trap(floor, &regs);
	floor->used = (size_t)sprintf(
		floor->reply, "T0506:%016lx;07:%016lx;10:%016lx;thread:p%x.%x;core:0;",
		1ul, 2ul, (unsigned long)PC_OF(regs), floor->pid, floor->pid);
}

static void set_trap(struct floor *floor, const char *packet)
{
	const unsigned long addr = strtoul(packet + 3, NULL, 16);
	struct planted *place = place_of(floor, addr);

	if (place->addr ||
	    pread(floor->memory, place->original, sizeof(trap), (off_t)addr) < 0 ||
	    pwrite(floor->memory, trap, sizeof(trap), (off_t)addr) < 0)
		exit(1);
	place->addr = addr;
	floor->used = (size_t)sprintf(floor->reply, "OK");
}

static void take_trap(struct floor *floor, const char *packet)
{
	const unsigned long addr = strtoul(packet + 3, NULL, 16);
	struct planted *place = place_of(floor, addr);

	if (place->addr != addr ||
	    pwrite(floor->memory, place->original, sizeof(trap), (off_t)addr) < 0)
		exit(1);
	place->addr = 0;
	floor->used = (size_t)sprintf(floor->reply, "OK");
}

/* MADDR,LENGTH:BYTES, of a few bytes. */
static void write_memory(struct floor *floor, const char *packet)
{
	unsigned char bytes[64];
	char *end;
	const unsigned long addr = strtoul(packet + 1, &end, 16);
	const unsigned long len = strtoul(end + 1, &end, 16);

	for (unsigned long i = 0; i < len && i < sizeof(bytes); i++)
		sscanf(end + 1 + 2 * i, "%2hhx", &bytes[i]);
	if (len > sizeof(bytes) ||
	    pwrite(floor->memory, bytes, len, (off_t)addr) != (ssize_t)len)
		exit(1);
	floor->used = (size_t)sprintf(floor->reply, "OK");
}

static void read_memory(struct floor *floor, const char *packet)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[PACKET_SIZE / 2];
	char *end;
	const unsigned long addr = strtoul(packet + 1, &end, 16);
	const unsigned long len = strtoul(end + 1, NULL, 16);

	if (len > sizeof(bytes) || pread(floor->memory, bytes, len, (off_t)addr) < 0)
		exit(1);
	for (unsigned long i = 0; i < len; i++) {
		floor->reply[2 * i] = digits[bytes[i] >> 4];
		floor->reply[2 * i + 1] = digits[bytes[i] & 15];
	}
	floor->used = 2 * len;
}

static void answer(struct floor *floor, const char *packet)
{
	if (strncmp(packet, "vCont;s", 7) == 0)
		resume(floor, PTRACE_SINGLESTEP);
	else if (strncmp(packet, "vCont;c", 7) == 0)
		resume(floor, PTRACE_CONT);
	else if (packet[0] == 'Z')
		set_trap(floor, packet);
	else if (packet[0] == 'z')
		take_trap(floor, packet);
	else if (packet[0] == 'm')
		read_memory(floor, packet);
	else if (packet[0] == 'M')
		write_memory(floor, packet);
	else if (packet[0] == '?')
		floor->used = (size_t)sprintf(floor->reply, "T05thread:p%x.%x;",
					      floor->pid, floor->pid);
	else
		floor->used = (size_t)sprintf(floor->reply, "OK");
}

static void send_reply(const struct floor *floor)
{
	char frame[PACKET_SIZE + 8];
	unsigned int sum = 0;
	int size;

	for (size_t i = 0; i < floor->used; i++)
		sum += (unsigned char)floor->reply[i];
	size = sprintf(frame, "$%.*s#%02x", (int)floor->used, floor->reply, sum & 0xff);
	if (write(floor->socket, frame, (size_t)size) != size)
		exit(1);
}

/* One packet at a time is all that the client sends. */
static void serve(struct floor *floor)
{
	char input[PACKET_SIZE];
	ssize_t n;

	while ((n = read(floor->socket, input, sizeof(input) - 1)) > 0) {
		char *packet, *end;

		input[n] = 0;
		packet = strchr(input, '$');
		end = packet ? strchr(packet, '#') : NULL;
		if (!end)
			continue;
		*end = 0;
		answer(floor, packet + 1);
		send_reply(floor);
	}
}

static void attach(struct floor *floor, const char *pid)
{
	floor->pid = (pid_t)strtol(pid, NULL, 10);
	if (ptrace(PTRACE_SEIZE, floor->pid, NULL, (void *)PTRACE_O_TRACEFORK) < 0 ||
	    ptrace(PTRACE_INTERRUPT, floor->pid, NULL, NULL) < 0)
		exit(1);
	waitpid(floor->pid, NULL, __WALL);
}

static void start(struct floor *floor, char **argv)
{
	floor->pid = fork();
	if (floor->pid == 0) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[0], argv);
		_exit(127);
	}
	waitpid(floor->pid, NULL, 0);
	ptrace(PTRACE_SETOPTIONS, floor->pid, NULL,
	       (void *)(PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK));
}

static void open_memory(struct floor *floor)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", floor->pid);
	floor->memory = open(path, O_RDWR | O_CLOEXEC);
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
		exit(1);
	printf("Listening on port %d\n", ntohs(address.sin_port));
	fflush(stdout);
	client = accept(listener, NULL, NULL);
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return client;
}

int main(int argc, char **argv)
{
	static struct floor floor;
	bool attached;

	if (argc < 4) {
		fprintf(stderr, "usage: session_floor --once :0 PROGRAM ARG...\n"
				"       session_floor --once --attach :0 PID\n");
		return 2;
	}
	attached = strcmp(argv[2], "--attach") == 0;
	if (attached)
		attach(&floor, argv[argc - 1]);
	else
		start(&floor, argv + 3);
	open_memory(&floor);
	floor.socket = take_client();
	serve(&floor);
	if (!attached)
		kill(floor.pid, SIGKILL);
	return 0;
}
