/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/child.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gdbstub/inferior/proc.h"
#include "gdbstub/tracing/inferiors.h"

enum { AWAIT_SECONDS = 120 };

pid_t child_fork(void)
{
	pid_t test = getpid(), pid = fork();

	cr_assert_geq(pid, 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != test) /* it ended before */
		_exit(1);
	return 0;
}

pid_t child_start(void (*main)(void))
{
	pid_t pid = child_fork();

	if (pid == 0) {
		main();
		_exit(0);
	}
	return pid;
}

pid_t child_trace(void (*main)(uint64_t arg), uint64_t arg)
{
	pid_t pid = child_fork();

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) == 0)
			raise(SIGSTOP);
		if (main)
			main(arg);
		_exit(1);
	}
	cr_assert_eq(child_wait_stop(pid), SIGSTOP);
	return pid;
}

int child_wait_stop(pid_t pid)
{
	int status = 0;

	cr_assert_eq(waitpid(pid, &status, __WALL | WUNTRACED), pid);
	cr_assert(WIFSTOPPED(status), "status 0x%x", (unsigned int)status);
	return WSTOPSIG(status);
}

void child_wait_good(pid_t pid)
{
	int status = 0;

	cr_assert_geq(pid, 0);
	cr_assert_eq(waitpid(pid, &status, __WALL), pid);
	cr_assert_eq(status, 0, "status 0x%x", (unsigned int)status);
}

void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WALL);
}

/* ---- turns ---- */

void turns_open(struct turns *turns)
{
	cr_assert_eq(pipe(turns->to), 0);
	cr_assert_eq(pipe(turns->from), 0);
}

void turns_give(const int *pipe)
{
	if (write(pipe[1], "", 1) != 1)
		abort();
}

void turns_await(const int *pipe)
{
	struct pollfd other = {.fd = pipe[0], .events = POLLIN};
	char byte;

	if (poll(&other, 1, AWAIT_SECONDS * 1000) != 1 || read(pipe[0], &byte, 1) != 1)
		abort();
}

/* ---- tracees ---- */

void tracee_start(struct tracee *tracee, void (*main)(uint64_t arg), uint64_t arg)
{
	pid_t pid = child_trace(main, arg);

	inferiors_init(&tracee->inferiors);
	tracee->inferior = (struct inferior){.pid = pid,
					     .arch = arch_native(),
					     .owner = &tracee->inferiors,
					     .mem_fd = proc_open_memory(pid)};
	tracee->thread = (struct thread){
		.inferior = &tracee->inferior, .tid = pid, .group = pid};
	TAILQ_INSERT_TAIL(&tracee->inferiors.list, &tracee->inferior, link);
	TAILQ_INIT(&tracee->inferior.threads);
	TAILQ_INSERT_TAIL(&tracee->inferior.threads, &tracee->thread, link);
	table_insert(&tracee->inferiors.by_tid, &tracee->thread.by_tid, (uint64_t)pid);
}

siginfo_t tracee_wait(const struct tracee *tracee)
{
	pid_t pid = tracee->inferior.pid;
	siginfo_t info;

	child_wait_stop(pid);
	cr_assert_eq(ptrace(PTRACE_GETSIGINFO, pid, 0, &info), 0);
	return info;
}

siginfo_t tracee_resume(const struct tracee *tracee, enum __ptrace_request request)
{
	cr_assert_eq(ptrace(request, tracee->inferior.pid, 0, 0), 0);
	return tracee_wait(tracee);
}

void tracee_end(const struct tracee *tracee)
{
	if (tracee->inferior.pid <= 0)
		return;
	child_end(tracee->inferior.pid);
	close(tracee->inferior.mem_fd);
}
