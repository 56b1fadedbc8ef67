/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdint.h>
#include <sys/ptrace.h>

#include "bpf/library/library.h"
#include "gdbstub/inferior/kernel_step.h"

/* Stops that are no signal's have the kernel's code for them: SIGTRAP, or one with an
 * event (ptrace(2), "PTRACE_GETSIGINFO"); a group stop has none. */
static bool is_at_signal(pid_t tid, siginfo_t *info)
{
	return ptrace(PTRACE_GETSIGINFO, tid, NULL, info) == 0 &&
	       (info->si_signo != SIGTRAP || (info->si_code & 0x7f) != SIGTRAP);
}

/* A thread that has just made a step is in none of the kernel's, but looks like it. */
static bool is_step_end(const siginfo_t *info)
{
	return info->si_signo == SIGTRAP && info->si_code == TRAP_TRACE;
}

/* 0, 1: it has stopped for something else, or a negative errno. */
static int end_kernel_step(const struct arch_ops *arch, pid_t tid, int *status)
{
	siginfo_t info;
	const bool at_signal = is_at_signal(tid, &info);
	int err;

	if ((at_signal && is_step_end(&info)) || !kernel_step_is_on(tid, arch))
		return 0;
	err = kernel_step_end(tid, arch, at_signal, status);
	return err == -EAGAIN ? 1 : err;
}

int truehit_resume(struct truehit *truehit, pid_t tid, int request, int signal,
		   int *status)
{
	const int r = truehit->arch->hit_step
			      ? end_kernel_step(truehit->arch, tid, status)
			      : 0;

	if (r != 0)
		return r;
	return ptrace((enum __ptrace_request)request, tid, NULL,
		      (void *)(intptr_t)signal) < 0
		       ? -errno
		       : 0;
}
