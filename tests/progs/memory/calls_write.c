/* SPDX-License-Identifier: BSD-2-Clause */
/* System calls that write to memory: to an int, to the middle of a buffer, to structs;
 * in pieces with a wait in between; and the frame of a signal handler. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile int number;
static volatile long wide;
static char buffer[64];
static struct stat status;
static struct tms ticks;
static struct timespec now;
static volatile uint64_t *below; /* in the frame of a signal handler */
static int pipe_fds[2], sockets[2], tcp[2];

static void must(int ok)
{
	if (!ok) {
		perror("calls_write");
		exit(1);
	}
}

static void send_bytes(int fd, const void *bytes, size_t len)
{
	must(write(fd, bytes, len) == (ssize_t)len);
}

static void fill_number(void)
{
	const int values[] = {1111, 2222, 3333};
	int other;
	struct iovec parts[] = {{&other, sizeof(other)},
				{(void *)&number, sizeof(number)}};

	send_bytes(pipe_fds[1], &values[0], sizeof(int));
	must(read(pipe_fds[0], (void *)&number, sizeof(int)) == sizeof(int));
	send_bytes(pipe_fds[1], values, 2 * sizeof(int));
	must(readv(pipe_fds[0], parts, 2) == 2 * sizeof(int));
	send_bytes(sockets[1], &values[2], sizeof(int));
	must(recv(sockets[0], (void *)&number, sizeof(int), 0) == sizeof(int));
	send_bytes(pipe_fds[1], "12345", 5);
	must(ioctl(pipe_fds[0], FIONREAD, &number) == 0);
	must(read(pipe_fds[0], buffer, 5) == 5);
	/* The same value: nothing to tell. */
	number = 5555;
	send_bytes(pipe_fds[1], (void *)&number, sizeof(int));
	must(read(pipe_fds[0], (void *)&number, sizeof(int)) == sizeof(int));
	number = 6666; /* NUMBER */
}

static void fill_structs(void)
{
	char text[64];

	for (int i = 0; i < 64; i++)
		text[i] = (char)('A' + i % 26);
	send_bytes(pipe_fds[1], text, 64);
	must(read(pipe_fds[0], buffer, 64) == 64);
	must(fstat(pipe_fds[0], &status) == 0);
	must(syscall(SYS_clock_gettime, CLOCK_REALTIME, &now) == 0);
	must(times(&ticks) != (clock_t)-1);
}

static void *send_the_rest(void *unused)
{
	(void)unused;
	usleep(300 * 1000);
	send_bytes(tcp[1], "rest", 4);
	return NULL;
}

/* One call that writes, waits, and writes again. */
static void receive_all(void)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, send_the_rest, NULL) == 0);
	send_bytes(tcp[1], "some", 4);
	wide = recv(tcp[0], buffer, 8, MSG_WAITALL);
	pthread_join(thread, NULL);
	must(wide > 0); /* RECEIVED */
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	below = (uint64_t *)&((ucontext_t *)context)->uc_sigmask;
}

static void take_signal(void)
{
	raise(SIGUSR1);
	*below = 0;
	raise(SIGUSR1); /* SIGNAL */
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
	sigset_t set;

	(void)argv;
	sigemptyset(&set);
	sigaddset(&set, argc > 1 ? SIGTRAP : SIGUSR2); /* with an argument: blocked */
	sigprocmask(SIG_BLOCK, &set, NULL);
	must(pipe(pipe_fds) == 0);
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, tcp) == 0);
	must(sigaction(SIGUSR1, &action, NULL) == 0);
	fill_number();
	fill_structs(); /* STRUCTS */
	receive_all();	/* WAIT */
	take_signal();
	return 0;
}
