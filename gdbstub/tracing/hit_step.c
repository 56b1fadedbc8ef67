/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/tracing/hit_step.h"

#include <errno.h>
#include <sys/ptrace.h>

#include "gdbstub/base/log.h"
#include "gdbstub/inferior/kernel_step.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/inferior/syscalls.h"
#include "gdbstub/tracing/early.h"

bool hit_step_may_be(const struct thread *thread)
{
	const struct inferior *inferior = thread->inferior;

	return inferior->arch->hit_step && inferior->has_perf_events &&
	       !thread->step_ended && kernel_step_is_on(thread->tid, inferior->arch) &&
	       !syscall_is_next(thread);
}

bool hit_step_may_swallow(const struct thread *thread)
{
	return thread->request != PTRACE_SINGLESTEP && hit_step_may_be(thread);
}

bool hit_step_explains(const struct thread *thread, const siginfo_t *info)
{
	return thread->ends_hit_step && kernel_step_is_end(info);
}

int hit_step_end(struct thread *thread)
{
	int status = 0;
	const int err = kernel_step_end(thread->tid, thread->inferior->arch,
					thread->at_signal, &status);

	regs_outdate(thread);
	switch (-err) {
	case 0:
		thread->step_ended = true;
		thread->left_group_stop |= status != 0;
		return 0;
	case EAGAIN:
		early_keep(thread->inferior->owner, thread->tid, status);
		break;
	case ENOTSUP:
		log_warning("thread %d cannot be brought out of the kernel's step over "
			    "a hit: a step may not end",
			    thread->tid);
		return 0;
	default:
		break; /* it is being killed */
	}
	thread->running = true;
	return -EAGAIN;
}
