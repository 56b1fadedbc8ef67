/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts about stops of a seized thread that this file rests on (kernel/signal.c,
 * kernel/ptrace.c, and ptrace(2)):
 * - Any ptrace stop clears the trap that PTRACE_INTERRUPT has asked for so far. An
 *   interrupt that is sent when the thread has stopped already, before its stop
 *   was waited for, stays: the next resume ends at once in a stale
 *   PTRACE_EVENT_STOP. So an interrupt is answered by the first event of whatever
 *   kind, and a PTRACE_EVENT_STOP that nobody waits for is to be passed over, as is
 *   that which SIGCONT makes of every thread of a process (ptrace_trap_notify).
 * - The interrupt's stop comes before a pending signal is delivered, even if that
 *   is the SIGTRAP of an instruction that the thread has executed.
 * - The stops of clone, fork, vfork and exec are inside the system call.
 * - A thread that is killed makes the stop of PTRACE_O_TRACEEXIT as well, even from
 *   within another stop; a new one has its maker's options.
 */
#include "gdbstub/inferior/maps.h"
#include "gdbstub/tracing/decode.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gdbstub/base/log.h"
#include "gdbstub/inferior/compat.h"
#include "gdbstub/tracing/early.h"
#include "gdbstub/tracing/group_stop.h"
#include "gdbstub/tracing/hit_step.h"
#include "gdbstub/inferior/late.h"
#include "gdbstub/tracing/leaving.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/tracing/resume.h"
#include "gdbstub/tracing/siginfo.h"
#include "gdbstub/tracing/status.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/inferior/thread_end.h"
#include "gdbstub/tracing/wait.h"

/* ---- stops inside system calls ---- */

bool wait_syscall_end(struct thread *thread)
{
	int status = 0, err = 0;

	thread->in_syscall = false;
	thread->at_signal = false;
	maps_outdate(thread->inferior->owner);
	regs_outdate(thread);
	if (ptrace(PTRACE_SYSCALL, thread->tid, NULL, NULL) < 0)
		err = -errno;
	if (err == 0)
		err = wait_status(thread->tid, &status);
	if (err == -ETIMEDOUT) {
		thread_interrupt(thread);
		thread_set_late(thread);
		return true;
	}
	if (err == 0 && WIFSTOPPED(status) && WSTOPSIG(status) == (SIGTRAP | 0x80))
		return true;
	if (err == 0)
		early_keep(thread->inferior->owner, thread->tid, status);
	thread->running = true;
	return false;
}

/* Waits for the first stop of a new thread or process, which comes before it executes
 * anything. False: it died at once. *late: it has not stopped yet. */
static bool wait_child(struct inferiors *inferiors, pid_t tid, bool *late)
{
	int status = 0, err = 0;

	if (!early_take(inferiors, tid, &status))
		err = wait_status(tid, &status);
	*late = err == -ETIMEDOUT;
	return *late || (err == 0 && WIFSTOPPED(status));
}

/*
 * Continues a thread whose stop is not reported. The stop cleared an interrupt
 * that may be under way; asking again while it is stopped makes the next resume
 * end at once.
 */
static bool pass_over(struct thread *thread, int signal)
{
	if (thread->interrupting)
		ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
	thread_resume_again(thread, signal);
	return false;
}

static bool is_in_group(pid_t tid, pid_t group)
{
	return tgkill(group, tid, 0) == 0;
}

static bool is_last(const struct thread *thread)
{
	return TAILQ_FIRST(&thread->inferior->threads) == thread &&
	       !TAILQ_NEXT(thread, link);
}

/* For a leader that is killed since another thread calls exec, that one waits, and
 * cannot be halted: nobody may hold it up. */
static bool on_exit_stop(struct thread *thread, pid_t status, struct event *event)
{
	(void)status;
	if (thread->tid != thread->inferior->pid || is_last(thread) ||
	    thread_is_killed(thread)) {
		thread_continue(thread, 0);
		return false;
	}
	event->kind = EVENT_LEADER_ENDS;
	return true;
}

/* ---- stops of system calls that make or replace processes ---- */

static bool on_clone(struct thread *thread, pid_t child, struct event *event)
{
	bool late;

	/* A child that died without a stop was killed with the whole process. */
	if (!wait_child(thread->inferior->owner, child, &late))
		return pass_over(thread, 0);
	if (thread->tells_end)
		thread_set_options(child, thread->inferior, 0);
	event->kind = EVENT_CLONE;
	event->child = thread_create(thread->inferior, child);
	if (event->child) {
		thread_set_group(event->child, is_in_group(child, thread->group)
						       ? thread->group
						       : child);
		event->child->group_stopped = thread->group_stopped;
		if (late) {
			thread_interrupt(event->child);
			thread_set_late(event->child);
		}
		return true;
	}
	log_warning("out of memory: thread %d is not traced", child);
	ptrace(PTRACE_DETACH, child, NULL, NULL);
	return pass_over(thread, 0);
}

/* Where the kernel does not say (no kcmp), a vfork child shares it, others do not. */
static bool has_own_memory(pid_t a, pid_t b, enum event_kind kind)
{
	long order = syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0);

	return order < 0 ? kind == EVENT_FORK : order != 0;
}

/* What is a fork to us has memory of its own (on_fork). */
static bool on_process(struct thread *thread, pid_t child, struct event *event,
		       enum event_kind kind)
{
	if (!wait_child(thread->inferior->owner, child, &event->child_late))
		return pass_over(thread, 0);
	event->kind = kind;
	event->child_pid = child;
	event->own_memory =
		kind == EVENT_FORK || has_own_memory(thread->tid, child, kind);
	return true;
}

/* By clone(2) with CLONE_VM, the end of a task can be told by SIGCHLD as well: what the
 * kernel calls a fork then has no memory of its own. */
static bool on_fork(struct thread *thread, pid_t child, struct event *event)
{
	if (!has_own_memory(thread->tid, child, EVENT_FORK))
		return on_clone(thread, child, event);
	return on_process(thread, child, event, EVENT_FORK);
}

/* So has what clone(2) makes with CLONE_VFORK and without CLONE_VM. */
static bool on_vfork(struct thread *thread, pid_t child, struct event *event)
{
	return on_process(thread, child, event, EVENT_VFORK);
}

static bool on_vfork_done(struct thread *thread, pid_t child, struct event *event)
{
	(void)child;
	(void)thread;
	event->kind = EVENT_VFORK_DONE;
	return true;
}

/* Of the threads of a group, only @thread is left. */
static void destroy_others(const struct thread *thread)
{
	struct thread *other, *next;

	for (other = TAILQ_FIRST(&thread->inferior->threads); other; other = next) {
		next = TAILQ_NEXT(other, link);
		if (other != thread && other->group == thread->group)
			thread_destroy(other);
	}
}

/* A task of a group of its own runs another program: it leaves the inferior, and is
 * a process that nobody has asked for. */
static bool let_go(struct thread *thread, struct event *event)
{
	destroy_others(thread);
	ptrace(PTRACE_DETACH, thread->group, NULL, NULL);
	event->kind = is_last(thread) ? EVENT_EXITED : EVENT_THREAD_EXIT;
	if (event->kind == EVENT_EXITED)
		return true;
	event->tid = thread->tid;
	event->options = thread->options;
	event->thread = NULL;
	thread_destroy(thread);
	return true;
}

/*
 * The thread that called exec has become the leader, whatever it was before. It is
 * run to the end of the call: only there are its registers the new program's, and a
 * step from there executes its first instruction.
 */
static bool on_exec(struct thread *thread, pid_t former_tid, struct event *event)
{
	struct inferior *inferior = thread->inferior;
	struct thread *former = inferior_thread(inferior, former_tid);

	if (former)
		thread = former;
	if (thread->group != inferior->pid)
		return let_go(thread, event);
	destroy_others(thread);
	thread_renumber(thread, inferior->pid);
	thread_set_group(thread, inferior->pid);
	thread->running = false;
	thread->injected_signal = 0;
	memory_close(inferior);
	inferior_forget_threaddb(inferior);
	compat_find_out(inferior);
	event->kind = EVENT_EXEC;
	event->thread = thread;
	event->tid = thread->tid;
	return wait_syscall_end(thread);
}

/* ---- stops ---- */

/* Does a signal of this set wait in a queue (flags of PTRACE_PEEKSIGINFO) that the
 * thread does not block? @by_kernel: only one that the kernel has raised. In the
 * queue of a thread that can be told: there is nothing that kill(2) has sent. */
static bool is_pending(const struct thread *thread, uint32_t flags, uint64_t set,
		       bool by_kernel)
{
	struct __ptrace_peeksiginfo_args args = {.off = 0, .flags = flags, .nr = 8};
	uint64_t blocked, pending = 0;
	siginfo_t info[8];
	long n;

	do {
		n = ptrace(PTRACE_PEEKSIGINFO, thread->tid, &args, info);
		for (long i = 0; i < n; i++)
			if (signal_is_by_kernel(&info[i]) || !by_kernel)
				pending |= set & signal_bit(info[i].si_signo);
		args.off += 8;
	} while (n == 8);
	/* Most often there is none, and which are blocked need not be asked. */
	return pending && thread_get_mask(thread, &blocked) == 0 && pending & ~blocked;
}

/* Does a signal wait that the thread's own last instruction has caused? */
static bool trap_is_pending(const struct thread *thread)
{
	/* SIGSTOP: the kernel's own is a BPF program's. */
	const uint64_t causes = signal_bit(SIGTRAP) | signal_bit(SIGSEGV) |
				signal_bit(SIGBUS) | signal_bit(SIGILL) |
				signal_bit(SIGFPE) | signal_bit(SIGSYS) |
				signal_bit(SIGSTOP);

	return is_pending(thread, 0, causes, true);
}

/* Has a program sent it there (bpf_site.redirects)? If the signal that goes with that
 * was discarded, a fault comes. Nobody is to see it there, nor in a group stop. */
static bool is_nowhere(const struct thread *thread)
{
	const uint64_t nowhere = thread->inferior->arch->nowhere;
	uint64_t pc;

	return nowhere && thread_get_pc(thread, &pc) == 0 && pc == nowhere;
}

bool wait_signal_comes(const struct thread *thread)
{
	bool alone = proc_status_number(thread->tid, "Threads") == 1;

	return is_pending(thread, 0, UINT64_MAX, false) ||
	       (alone &&
		is_pending(thread, PTRACE_PEEKSIGINFO_SHARED, UINT64_MAX, false));
}

/* As wait_status, but it does not wait for a leader that has ended before others: who
 * are they to be waited for by, if not by us? */
static bool wait_if_alive(const struct thread *thread, int *status)
{
	const struct timespec pause = {.tv_nsec = 50000};
	pid_t ret;

	while ((ret = waitpid(thread->tid, status, __WALL | WNOHANG)) == 0 ||
	       (ret < 0 && errno == EINTR)) {
		if (thread_is_zombie(thread))
			return false;
		nanosleep(&pause, NULL);
	}
	return ret > 0;
}

/* To its next stop, without executing an instruction. False: it has ended. */
static bool run_to_signal(struct thread *thread)
{
	int status;

	regs_outdate(thread);
	if (ptrace(PTRACE_CONT, thread->tid, NULL, NULL) < 0 ||
	    !wait_if_alive(thread, &status) || !WIFSTOPPED(status))
		return false;
	thread->at_signal = status >> 16 == 0;
	return true;
}

/* All other signals are blocked meanwhile: they stay where they are. */
void wait_take_own(struct thread *thread)
{
	enum { STOPS_MAX = 1000 }; /* somebody may send SIGCONT all the time */
	const uint64_t own = signal_bit(SIGSTOP) | signal_bit(SIGTRAP);
	uint64_t blocked, more;

	if (!is_pending(thread, 0, own, true) || thread_get_mask(thread, &blocked) < 0)
		return;
	more = blocked | ~own;
	thread_set_mask(thread, more);
	for (int i = 0; i < STOPS_MAX && is_pending(thread, 0, own, true); i++)
		if (!run_to_signal(thread))
			return;
	thread_set_mask(thread, blocked);
}

/*
 * The answer to an interrupt, to a group stop, or to SIGCONT.
 * A trap that is pending is told first: the thread takes it without executing
 * another instruction. Otherwise a breakpoint's stop would be seen after its PC.
 */
static bool decode_event_stop(struct thread *thread, int signal, struct event *event)
{
	if (is_nowhere(thread) || trap_is_pending(thread)) {
		thread_resume_again(thread, 0);
		thread->left_group_stop = signal != SIGTRAP && !thread->group_stopped;
		return false;
	}
	if (group_stop_begins(thread, signal)) {
		thread->at_group_stop = signal;
		event->kind = EVENT_GROUP_STOP;
		event->signal = signal;
	} else if (thread->interrupting) {
		event->kind = EVENT_INTERRUPTED;
	} else {
		event->kind = EVENT_UNASKED;
	}
	return true;
}

/* A step's that was made where threads are not seen. */
static bool is_nobodys(struct thread *thread, const struct event *event)
{
	if (!thread->trap_due || event->siginfo.si_signo != SIGTRAP ||
	    event->siginfo.si_code != TRAP_TRACE)
		return false;
	thread->trap_due = false;
	return true;
}

static bool is_of_distinct_trap(const struct thread *thread, const siginfo_t *info,
				uint64_t *pc)
{
	struct inferior *inferior = thread->inferior;
	const struct arch_ops *arch = inferior->arch;

	return inferior->owner->has_distinct_trap &&
	       info->si_signo == arch->distinct_signal &&
	       info->si_code == arch->distinct_si_code &&
	       thread_get_pc(thread, pc) == 0 &&
	       inferior->owner->has_distinct_trap(inferior, *pc);
}

/* From here on, and for whoever asks the kernel, it is a breakpoint instruction that
 * the thread has executed. */
static int be_breakpoint(struct thread *thread, uint64_t pc, siginfo_t *info)
{
	const struct arch_ops *arch = thread->inferior->arch;

	*info = (siginfo_t){.si_signo = SIGTRAP, .si_code = arch->breakpoint_si_code};
	thread_set_siginfo(thread, info);
	thread_set_pc(thread, pc + arch->breakpoint_pc_advance);
	return SIGTRAP;
}

static bool decode_signal(struct thread *thread, int signal, struct event *event)
{
	uint64_t pc;

	if (thread_get_siginfo(thread, &event->siginfo) < 0) {
		thread->running = true; /* killed meanwhile */
		return false;
	}
	if (is_of_distinct_trap(thread, &event->siginfo, &pc))
		signal = be_breakpoint(thread, pc, &event->siginfo);
	if (thread->call_cut_off && signal != SIGTRAP)
		event->syscall = thread->syscall;
	thread->call_cut_off = false;
	thread->syscall = SYSCALL_NONE;
	/* The step that ends at a signal handler's first instruction is told by
	 * a SIGTRAP that is no signal: its si_code is SIGTRAP. */
	thread->at_signal = signal != SIGTRAP || event->siginfo.si_code != SIGTRAP;
	thread->step_ended = signal == SIGTRAP && event->siginfo.si_code == TRAP_TRACE;
	if (hit_step_explains(thread, &event->siginfo) || is_nobodys(thread, event))
		return pass_over(thread, 0);
	event->given = signal == thread->injected_signal && event->siginfo.si_code <= 0;
	if (event->given)
		thread->injected_signal = 0;
	event->kind = EVENT_SIGNAL;
	event->signal = signal;
	return true;
}

static bool decode_syscall(struct thread *thread, struct event *event)
{
	switch (syscall_decode(thread, event)) {
	case SYSCALL_STOP_REPORT:
		event->kind = EVENT_SYSCALL;
		return true;
	case SYSCALL_STOP_INTERRUPTED:
		event->kind = EVENT_INTERRUPTED;
		return true;
	case SYSCALL_STOP_AGAIN:
		return pass_over(thread, 0);
	case SYSCALL_STOP_KILLED:
		break;
	}
	thread->running = true;
	return false;
}

typedef bool decode_trace_event(struct thread *thread, pid_t message,
				struct event *event);

/* By the event's number, PTRACE_EVENT_*. */
static decode_trace_event *const trace_events[] = {
	[PTRACE_EVENT_FORK] = on_fork,
	[PTRACE_EVENT_VFORK] = on_vfork,
	[PTRACE_EVENT_CLONE] = on_clone,
	[PTRACE_EVENT_EXEC] = on_exec,
	[PTRACE_EVENT_VFORK_DONE] = on_vfork_done,
	[PTRACE_EVENT_EXIT] = on_exit_stop,
};

static bool decode_stop(struct thread *thread, int status, struct event *event)
{
	unsigned int trace_event = (unsigned int)status >> 16;
	int signal = WSTOPSIG(status);
	unsigned long message = 0;

	thread->running = false;
	regs_outdate(thread);
	thread->late = false;
	thread->at_signal = false;
	thread->at_group_stop = 0;
	thread->step_ended = false;
	thread->in_syscall = false;
	if (thread->options_due)
		thread_tell_end(thread);
	if (trace_event == PTRACE_EVENT_STOP)
		return decode_event_stop(thread, signal, event);
	if (trace_event == 0 && signal != (SIGTRAP | 0x80))
		return decode_signal(thread, signal, event);
	if (trace_event < sizeof(trace_events) / sizeof(trace_events[0]) &&
	    trace_events[trace_event]) {
		thread->in_syscall = thread->request != PTRACE_SINGLESTEP;
		if (ptrace(PTRACE_GETEVENTMSG, thread->tid, NULL, &message) == 0)
			return trace_events[trace_event](thread, (pid_t)message, event);
		thread->running = true; /* killed meanwhile */
		return false;
	}
	return decode_syscall(thread, event);
}

static bool decode_end(struct thread *thread, int status, struct event *event)
{
	/* The last one may be no leader: one that had ended when we attached tells us
	 * nothing, and one that ends does not take tasks of other groups along. */
	if (!is_last(thread)) {
		event->kind = EVENT_THREAD_EXIT;
		event->thread = NULL;
		event->status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
		event->options = thread->options;
		thread_destroy(thread);
	} else if (WIFEXITED(status)) {
		event->kind = EVENT_EXITED;
		event->status = WEXITSTATUS(status);
	} else {
		event->kind = EVENT_KILLED;
		event->signal = WTERMSIG(status);
	}
	return true;
}

/* Exec's stop is told under the leader's number, even if we did not know a leader. */
static struct thread *find_thread(struct inferiors *inferiors, pid_t tid, int status)
{
	struct thread *thread = thread_find(inferiors, tid);
	unsigned long former = 0;

	if (!thread && WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXEC &&
	    ptrace(PTRACE_GETEVENTMSG, tid, NULL, &former) == 0)
		thread = thread_find(inferiors, (pid_t)former);
	return thread;
}

bool wait_decode(struct inferiors *inferiors, pid_t tid, int status,
		 struct event *event)
{
	struct thread *thread = find_thread(inferiors, tid, status);

	log_debug(LOG_INFERIOR, "%d: status 0x%x%s", tid, (unsigned int)status,
		  thread ? "" : ", not known yet");
	if (!thread) {
		int stop;

		if (leaving_on_status(inferiors, tid, status))
			return false;
		/* Its maker may have been killed, and tell nothing of it. */
		if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXIT)
			ptrace(PTRACE_CONT, tid, NULL, NULL);
		else if (WIFSTOPPED(status))
			early_keep(inferiors, tid, status);
		else
			early_take(inferiors, tid, &stop);
		return false;
	}
	*event = (struct event){
		.inferior = thread->inferior,
		.thread = thread,
		.tid = tid,
		.syscall = SYSCALL_NONE,
	};
	if (!WIFSTOPPED(status)) {
		thread->running = false;
		return decode_end(thread, status, event);
	}
	if (!decode_stop(thread, status, event))
		return false;
	if (event->thread && inferiors->leave_pad && !inferiors->leave_pad(event))
		return false;
	if (event->given)
		return pass_over(thread, event->signal);
	if (event->thread) {
		event->thread->interrupting = event->thread->late;
		event->thread->listening = false;
	}
	return true;
}
