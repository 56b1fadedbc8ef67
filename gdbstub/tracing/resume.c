/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/inferior/maps.h"
#include "gdbstub/tracing/resume.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ptrace.h>

#include "gdbstub/base/log.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/tracing/group_stop.h"
#include "gdbstub/tracing/hit_step.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/tracing/wait.h"

void thread_send_signal(struct thread *thread, int signal)
{
	if (tgkill(thread->group, thread->tid, signal) == 0)
		thread->injected_signal = signal;
}

/*
 * The kernel takes a signal from PTRACE_CONT only at a signal-delivery stop. At
 * any other stop the signal is sent, and decode.c lets its delivery stop pass. The
 * signal that a group stop is told by has been delivered before.
 */
static int signal_to_inject(struct thread *thread, int signal)
{
	if (signal == 0 || signal == thread->at_group_stop)
		return 0;
	if (!thread->at_signal) {
		thread_send_signal(thread, signal);
		return 0;
	}
	group_stop_expect(thread, signal);
	return signal;
}

/* It will stop as its process is stopped by job control, if it still is. */
static void return_to_group_stop(struct thread *thread)
{
	if (thread->left_group_stop)
		ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
	thread->left_group_stop = false;
}

/* A thread that cannot be resumed is dying: it counts as running, for a wait
 * will tell of its end. */
static int resume(struct thread *thread, int request, int signal)
{
	int inject = signal_to_inject(thread, signal);

	thread->ends_hit_step = request != PTRACE_SINGLESTEP && hit_step_may_be(thread);
	log_debug(LOG_INFERIOR, "%d: %s, signal %d", thread->tid,
		  request == PTRACE_SINGLESTEP ? "step" : "continue", signal);
	return_to_group_stop(thread);
	thread->running = true;
	maps_outdate(thread->inferior->owner);
	thread->inferior->owner->steps =
		request == PTRACE_SINGLESTEP && thread->request == PTRACE_SINGLESTEP;
	regs_forget(thread);
	thread->listening = false;
	thread->request = request;
	thread->at_signal = false;
	thread->at_group_stop = 0;
	thread->step_ended = false;
	thread->in_syscall = false;
	if (request != PTRACE_SYSCALL) {
		thread->syscall = SYSCALL_NONE;
		thread->call_cut_off = false;
	}
	if (thread->ends_hit_step)
		request = PTRACE_SINGLESTEP;
	if (ptrace((enum __ptrace_request)request, thread->tid, NULL,
		   (void *)(intptr_t)inject) < 0)
		return -errno;
	return 0;
}

int thread_continue(struct thread *thread, int signal)
{
	bool told = syscalls_any(&thread->inferior->syscalls);

	thread->stepping = false;
	return resume(thread, told ? PTRACE_SYSCALL : PTRACE_CONT, signal);
}

/*
 * PTRACE_SINGLESTEP would tell neither of the entry of a call nor of the return. From
 * within a call (the stop at its entry, at clone, fork or vfork), it would moreover end
 * where the call returns, and the thread would not have moved: EVENT_SYSCALL comes
 * first then, and the step proper is the next one.
 */
static bool steps_by_syscall(struct thread *thread)
{
	if (thread->in_syscall)
		return true;
	if (!syscalls_any(&thread->inferior->syscalls))
		return false;
	thread->stepping = syscall_is_next(thread);
	return thread->stepping || thread->call_cut_off;
}

int thread_step(struct thread *thread, int signal)
{
	if (steps_by_syscall(thread))
		return resume(thread, PTRACE_SYSCALL, signal);
	thread->stepping = true;
	if (hit_step_may_swallow(thread) && hit_step_end(thread) < 0) {
		if (signal != 0)
			thread_send_signal(thread, signal);
		return 0;
	}
	return resume(thread, PTRACE_SINGLESTEP, signal);
}

int thread_continue_anew(struct thread *thread, int signal)
{
	thread->stepping = false;
	if (hit_step_may_be(thread) && hit_step_end(thread) < 0) {
		if (signal != 0)
			thread_send_signal(thread, signal);
		return 0;
	}
	return thread_continue(thread, signal);
}

int thread_resume_again(struct thread *thread, int signal)
{
	return resume(thread, thread->request, signal);
}

int thread_listen(struct thread *thread)
{
	int err = ptrace(PTRACE_LISTEN, thread->tid, NULL, NULL) < 0 ? errno : 0;

	if (err != 0 && err != ESRCH)
		return -err;
	thread->running = true;
	thread->listening = true;
	thread->at_signal = false;
	thread->at_group_stop = 0;
	group_stop_forget(thread);
	thread->in_syscall = false;
	return -err;
}

int thread_interrupt(struct thread *thread)
{
	if (ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) < 0)
		return -errno;
	thread->interrupting = true;
	thread_expect(thread);
	return 0;
}
