/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Going on from a hit, where the kernel steps a thread past it (kernel_step.h). A
 * thread in that step is continued by PTRACE_SINGLESTEP, which ends it, and is brought
 * out of it before a step of its own. If it was in none, the end of the former comes
 * as a step's, and is nothing.
 */
#include <errno.h>
#include <stdint.h>
#include <sys/ptrace.h>

#include "bpf/library/library.h"
#include "gdbstub/inferior/kernel_step.h"

/* ---- who was continued by a step ---- */

static pid_t *find_stepped(struct truehit *truehit, pid_t tid)
{
	for (unsigned int i = 0; i < STEPPED_MAX; i++)
		if (truehit->stepped[i] == tid)
			return &truehit->stepped[i];
	return NULL;
}

static void forget_stepped(struct truehit *truehit, pid_t tid)
{
	pid_t *slot = find_stepped(truehit, tid);

	if (slot)
		*slot = 0;
}

bool context_step_is_nothing(struct truehit *truehit, pid_t tid, const siginfo_t *info)
{
	return kernel_step_is_end(info) && find_stepped(truehit, tid);
}

/* ---- how it goes on ---- */

/* Stops that are no signal's have the kernel's code for them: SIGTRAP, or one with an
 * event (ptrace(2), PTRACE_GETSIGINFO); a group stop has none. */
static bool is_at_signal(pid_t tid, siginfo_t *info)
{
	return ptrace(PTRACE_GETSIGINFO, tid, NULL, info) == 0 &&
	       (info->si_signo != SIGTRAP || (info->si_code & 0x7f) != SIGTRAP);
}

/* A thread that has just made a step is in none of the kernel's, but looks like it. */
static bool is_in_kernel_step(const struct arch_ops *arch, pid_t tid, bool at_signal,
			      const siginfo_t *info)
{
	return arch->hit_step &&
	       !(at_signal && info->si_signo == SIGTRAP &&
		 info->si_code == TRAP_TRACE) &&
	       kernel_step_is_on(tid, arch);
}

/* As a step, for want of room if it need be: then it hits where it is once more. */
static bool note_stepped(struct truehit *truehit, pid_t tid)
{
	pid_t *slot = find_stepped(truehit, 0);

	if (slot)
		*slot = tid;
	return slot;
}

int truehit_resume(struct truehit *truehit, pid_t tid, int request, int signal,
		   int *status)
{
	siginfo_t info = {0};
	const bool at_signal = is_at_signal(tid, &info);
	int r = 0, stop = 0;

	if (request != PTRACE_CONT && request != PTRACE_SINGLESTEP)
		return -EINVAL;
	forget_stepped(truehit, tid);
	if (is_in_kernel_step(truehit->arch, tid, at_signal, &info)) {
		if (request == PTRACE_CONT && note_stepped(truehit, tid))
			request = PTRACE_SINGLESTEP;
		else
			r = kernel_step_end(tid, truehit->arch, at_signal, &stop);
	}
	if (r == -EAGAIN)
		*status = stop;
	if (r < 0)
		return r == -EAGAIN ? 1 : r;
	if (stop != 0) /* job control's: it goes back to it */
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	return ptrace((enum __ptrace_request)request, tid, NULL,
		      (void *)(intptr_t)signal) < 0
		       ? -errno
		       : 0;
}
