/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/tracing/siginfo.h"

#include <errno.h>
#include <sys/ptrace.h>

int thread_get_siginfo(const struct thread *thread, siginfo_t *info)
{
	return ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, info) < 0 ? -errno : 0;
}

int thread_set_siginfo(const struct thread *thread, const siginfo_t *info)
{
	return ptrace(PTRACE_SETSIGINFO, thread->tid, NULL, info) < 0 ? -errno : 0;
}

int thread_get_mask(const struct thread *thread, uint64_t *mask)
{
	return ptrace(PTRACE_GETSIGMASK, thread->tid, (void *)sizeof(*mask), mask) < 0
		       ? -errno
		       : 0;
}

int thread_set_mask(const struct thread *thread, uint64_t mask)
{
	return ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)sizeof(mask), &mask) < 0
		       ? -errno
		       : 0;
}
