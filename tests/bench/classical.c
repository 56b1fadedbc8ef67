/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a tool pays that looks for a state by a breakpoint: runs a program that measures
 * itself, with the processor's trap at an address, and at each pass fetches the
 * registers, compares them, and steps over the trap. None is the one that it looks for:
 * classical ADDRESS PROGRAM ARGUMENTS...
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/arch.h"
#include "gdbstub/inferior/task_registers.h"

#define NEVER UINT64_C(0x123456789abcdef)

struct tool {
	const struct arch_ops *arch;
	pid_t pid;
	uint64_t addr;
	long original, trap; /* the words that are there */
};

/* Stopped at its start, at the addresses that programs are built for. */
static pid_t start(char **argv)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
		return -1;
	return pid;
}

static int put(const struct tool *tool, long word)
{
	return (int)ptrace(PTRACE_POKETEXT, tool->pid, (void *)(uintptr_t)tool->addr,
			   (void *)word);
}

static int plant(struct tool *tool)
{
	errno = 0;
	tool->original =
		ptrace(PTRACE_PEEKTEXT, tool->pid, (void *)(uintptr_t)tool->addr, NULL);
	if (errno != 0)
		return -1;
	tool->trap = tool->original;
	memcpy(&tool->trap, tool->arch->breakpoint_insn, tool->arch->breakpoint_len);
	return put(tool, tool->trap);
}

/* Until it stops or ends. */
static int resume(const struct tool *tool, int request)
{
	int status;

	if (ptrace((enum __ptrace_request)request, tool->pid, NULL, NULL) < 0 ||
	    waitpid(tool->pid, &status, 0) < 0)
		return -1;
	return status;
}

static void go_back(const struct tool *tool, struct regs *regs)
{
	unsigned int count;
	const struct reg_def *pc = &tool->arch->registers(&count)[tool->arch->pc_reg];

	if (tool->arch->breakpoint_pc_advance == 0)
		return;
	tool->arch->reg_write(regs, pc, &tool->addr);
	task_regs_store(tool->pid, regs, pc->regset);
}

/* At the trap: is it the pass that it looks for? The status after the step over it. */
static int pass(const struct tool *tool, struct regs *regs)
{
	uint64_t first = 0;

	regs_init(regs, tool->arch);
	if (task_regs_fetch(tool->pid, regs, 0) < 0 ||
	    reg_read_u64(regs, 0, &first) < 0 || first == NEVER)
		return -1;
	go_back(tool, regs);
	if (put(tool, tool->original) < 0)
		return -1;
	return resume(tool, PTRACE_SINGLESTEP);
}

static int run(struct tool *tool)
{
	static struct regs regs;
	int status = resume(tool, PTRACE_CONT);

	while (status >= 0 && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP) {
		status = pass(tool, &regs);
		if (status < 0 || !WIFSTOPPED(status))
			break;
		if (put(tool, tool->trap) < 0)
			return -1;
		status = resume(tool, PTRACE_CONT);
	}
	return status;
}

int main(int argc, char **argv)
{
	struct tool tool = {.arch = arch_native()};
	int status;

	if (argc < 3) {
		fprintf(stderr, "usage: classical ADDRESS PROGRAM ARGUMENTS...\n");
		return 1;
	}
	if (tool.arch->init()) {
		fprintf(stderr, "classical: this processor is not known\n");
		return 1;
	}
	tool.addr = strtoull(argv[1], NULL, 0);
	tool.pid = start(argv + 2);
	if (tool.pid < 0 || plant(&tool) < 0) {
		fprintf(stderr, "classical: %s: %s\n", argv[2], strerror(errno));
		if (tool.pid > 0)
			kill(tool.pid, SIGKILL);
		return 1;
	}
	status = run(&tool);
	if (status != 0) {
		fprintf(stderr, "classical: the program has failed, %#x\n",
			(unsigned int)status);
		kill(tool.pid, SIGKILL);
		return 1;
	}
	return 0;
}
