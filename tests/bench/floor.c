/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The least that a filtered hardware breakpoint costs here: a perf breakpoint
 * event whose BPF program is `return 0`, on a loop in a traced child that
 * measures itself. Prints the nanoseconds of one hit, of the loop's function, or
 * of what it writes to: floor ITERATIONS [write]
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

static volatile long count;

static __attribute__((noinline)) void hit(void)
{
	count++;
}

static double loop(long iterations)
{
	double start = now_ns();

	for (long i = 0; i < iterations; i++)
		hit();
	return (now_ns() - start) / (double)iterations;
}

/* The loop without the breakpoint, then a stop to set it, then with it. */
static int child(long iterations, int fd)
{
	double cost[2];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	cost[0] = loop(iterations);
	raise(SIGSTOP);
	cost[1] = loop(iterations);
	return write(fd, cost, sizeof(cost)) == sizeof(cost) ? 0 : 1;
}

static int fail(const char *what)
{
	fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
	return 1;
}

static int load_program(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "floor", "GPL", insns, 2, NULL);
}

/* The event that truehit opens: a system call that writes is a hit, too. */
static int open_breakpoint(pid_t pid, int program, bool writes)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.sample_period = 1,
		.disabled = 1,
		.inherit = 1,
		.exclude_kernel = !writes,
		.exclude_hv = 1,
		.inherit_thread = 1,
		.remove_on_exec = 1,
		.sigtrap = 1,
		.bp_type = writes ? HW_BREAKPOINT_W : HW_BREAKPOINT_X,
		.bp_addr = writes ? (unsigned long)&count : (unsigned long)hit,
		.bp_len = sizeof(long),
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1,
			      PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) < 0 ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return -1;
	return fd;
}

/* Some virtual machines have breakpoint registers that never fire. */
static bool all_were_hits(int event, long iterations)
{
	uint64_t hits;

	if (read(event, &hits, sizeof(hits)) != sizeof(hits))
		return false;
	if (hits == (uint64_t)iterations)
		return true;
	fprintf(stderr, "floor: %llu of %ld hits\n", (unsigned long long)hits,
		iterations);
	return false;
}

/* A hypervisor may make a SIGTRAP of a hit (gdbstub/hits/unexplained.h). */
static int run_to_end(pid_t pid, int *status)
{
	do {
		ptrace(PTRACE_CONT, pid, NULL, NULL);
		if (waitpid(pid, status, 0) < 0)
			return -1;
	} while (WIFSTOPPED(*status) && WSTOPSIG(*status) == SIGTRAP);
	return 0;
}

int main(int argc, char **argv)
{
	long iterations = argc > 1 ? atol(argv[1]) : 0;
	bool writes = argc > 2 && strcmp(argv[2], "write") == 0;
	double cost[2];
	int fds[2], status, program, event;
	pid_t pid;

	if (iterations <= 0) {
		fprintf(stderr, "usage: floor ITERATIONS [write]\n");
		return 1;
	}
	program = load_program();
	if (program < 0)
		return fail("loading a BPF program");
	if (pipe(fds) < 0)
		return fail("pipe");
	pid = fork();
	if (pid == 0)
		_exit(child(iterations, fds[1]));
	close(fds[1]);
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
		return fail("starting the child");
	event = open_breakpoint(pid, program, writes);
	if (event < 0) {
		fail("opening the breakpoint event");
		kill(pid, SIGKILL);
		return 1;
	}
	if (run_to_end(pid, &status) < 0 || status ||
	    read(fds[0], cost, sizeof(cost)) != sizeof(cost)) {
		fprintf(stderr, "floor: the child failed, status %#x\n", status);
		kill(pid, SIGKILL);
		return 1;
	}
	if (!all_were_hits(event, iterations))
		return 1;
	printf("%.1f ns per hit (loop alone %.1f)\n", cost[1] - cost[0], cost[0]);
	return 0;
}
