/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How often a program comes to each of many places, by single steps, without a
 * debugger: steps PLACES PROGRAM ARGUMENTS. PLACES is a file of addresses, sorted, one
 * a line, in hexadecimal. To standard error, for each: the address and how often; and
 * at last "steps N". The program's addresses are not randomized.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PLACES_MAX = 1 << 20 };

static struct place {
	uint64_t addr, count;
} places[PLACES_MAX];

static size_t nplaces;

static void give_up(const char *what)
{
	perror(what);
	exit(1);
}

static void read_places(const char *path)
{
	FILE *file = fopen(path, "r");

	if (!file)
		give_up(path);
	while (nplaces < PLACES_MAX &&
	       fscanf(file, "%" SCNx64, &places[nplaces].addr) == 1)
		nplaces++;
	fclose(file);
}

static pid_t start(char **argv)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	personality(ADDR_NO_RANDOMIZE);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	execv(argv[0], argv);
	_exit(127);
}

static int compare(const void *key, const void *element)
{
	const uint64_t a = *(const uint64_t *)key;
	const uint64_t b = ((const struct place *)element)->addr;

	return a < b ? -1 : a > b;
}

static void count(pid_t pid)
{
	struct __ptrace_syscall_info info;
	struct place *place;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) < 0)
		give_up("PTRACE_GET_SYSCALL_INFO");
	place = bsearch(&info.instruction_pointer, places, nplaces, sizeof(*places),
			compare);
	if (place)
		place->count++;
}

static uint64_t step_through(pid_t pid)
{
	uint64_t steps = 0;
	int status;

	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		const int signal = WSTOPSIG(status);

		count(pid);
		ptrace(PTRACE_SINGLESTEP, pid, NULL,
		       (void *)(intptr_t)(signal == SIGTRAP ? 0 : signal));
		steps++;
	}
	return steps;
}

int main(int argc, char **argv)
{
	uint64_t steps;
	pid_t pid;

	if (argc < 3) {
		fputs("usage: steps PLACES PROGRAM ARGUMENTS\n", stderr);
		return 2;
	}
	read_places(argv[1]);
	pid = start(argv + 2);
	if (pid < 0)
		give_up("fork");
	steps = step_through(pid);
	for (size_t i = 0; i < nplaces; i++)
		fprintf(stderr, "%" PRIx64 " %" PRIu64 "\n", places[i].addr,
			places[i].count);
	fprintf(stderr, "steps %" PRIu64 "\n", steps);
	return 0;
}
