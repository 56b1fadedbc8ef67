/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/tracing/siginfo.h"

#include <errno.h>
#include <sys/ptrace.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gdbstub/base/log.h"
#include "gdbstub/inferior/proc.h"

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

bool signal_is_by_kernel(const siginfo_t *info)
{
	return info->si_code > 0 ||
	       (info->si_signo == SIGTRAP && info->si_code == SI_USER);
}

/* ---- signals that come when nobody is to see them ---- */

bool signals_put_aside(struct signals_aside *aside, const struct thread *thread)
{
	siginfo_t info;

	if (aside->count == sizeof(aside->info) / sizeof(aside->info[0]) ||
	    thread_get_siginfo(thread, &info) < 0)
		return false;
	if (signal_is_by_kernel(&info))
		return info.si_signo == SIGSTOP;
	aside->info[aside->count++] = info;
	return true;
}

static bool is_pending(const struct thread *thread, int signal)
{
	return ((proc_status_bits(thread->tid, "SigPnd") |
		 proc_status_bits(thread->tid, "ShdPnd")) &
		signal_bit(signal)) != 0;
}

/* The kernel lets nobody give another sender than itself for kill(2) and tgkill(2). */
static void send_again(const struct thread *thread, const siginfo_t *info)
{
	const int signal = info->si_signo;

	long ret;

	/* SIGSTOP and SIGCONT discard each other: one that waits has come after it. */
	if (signal == SIGSTOP && is_pending(thread, SIGCONT))
		return;
	if (info->si_code == SI_USER)
		ret = kill(thread->group, signal);
	else if (info->si_code == SI_TKILL)
		ret = tgkill(thread->group, thread->tid, signal);
	else
		ret = syscall(SYS_rt_sigqueueinfo, thread->group, signal, info);
	/* To trace a process of another user's, and to send it signals, are two rights.
	 */
	if (ret < 0 && errno != ESRCH)
		log_warning("signal %d of thread %d is lost: it came while the thread "
			    "was made to execute something, and cannot be sent again: "
			    "%s",
			    signal, thread->tid, strerror(errno));
}

void signals_send_again(const struct signals_aside *aside, const struct thread *thread)
{
	for (unsigned int i = 0; i < aside->count; i++)
		send_again(thread, &aside->info[i]);
}
