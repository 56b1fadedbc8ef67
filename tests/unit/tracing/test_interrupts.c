/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals and interrupts. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "gdbstub/tracing/attach.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/tracing/resume.h"
#include "gdbstub/tracing/wait.h"
#include "tests/unit/launched.h"

Test(interrupts, stop_a_running_thread)
{
	struct fixture f;
	struct event event;

	launch(&f, "spin", NULL);
	for (int i = 0; i < 20; i++) {
		cr_assert_eq(thread_continue(f.leader, 0), 0);
		cr_assert_eq(thread_interrupt(f.leader), 0);
		cr_assert(f.leader->interrupting);
		expect_event(&f, EVENT_INTERRUPTED, &event);
		cr_assert_not(f.leader->interrupting);
		cr_assert_not(f.leader->running);
		pc_of(f.leader);
	}
	kill_all(&f);
}

/* An interrupt that is sent when the thread has stopped for something else already
 * must not show up as a stop after the next resume. */
Test(interrupts, stale_ones_are_no_answers)
{
	struct fixture f;
	struct event event;
	siginfo_t info = {0};

	launch(&f, "raise", "10");
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	cr_assert_eq(waitid(P_PID, (id_t)f.inferior->pid, &info,
			    WSTOPPED | WNOWAIT | __WALL),
		     0);
	cr_assert_eq(thread_interrupt(f.leader), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGUSR1);
	cr_assert_eq(thread_continue(f.leader, SIGUSR1), 0);
	expect_event(&f, EVENT_UNASKED, &event);
	cr_assert_eq(thread_resume_again(f.leader, 0), 0);
	expect_exit(&f, 0);
}

/* The same while stepping: the step is one instruction all the same. */
Test(interrupts, stale_ones_do_not_disturb_a_step)
{
	struct fixture f;
	struct event event;
	siginfo_t info = {0};
	uint64_t pc;

	launch(&f, "spin", NULL);
	for (int i = 0; i < 5; i++) {
		cr_assert_eq(thread_step(f.leader, 0), 0);
		cr_assert_eq(waitid(P_PID, (id_t)f.inferior->pid, &info,
				    WSTOPPED | WNOWAIT | __WALL),
			     0);
		cr_assert_eq(thread_interrupt(f.leader), 0);
		expect_event(&f, EVENT_SIGNAL, &event);
		pc = pc_of(f.leader);
		cr_assert_eq(thread_step(f.leader, 0), 0);
		expect_event(&f, EVENT_UNASKED, &event);
		cr_assert_eq(thread_resume_again(f.leader, 0), 0);
		expect_event(&f, EVENT_SIGNAL, &event);
		cr_assert_eq(event.siginfo.si_code, TRAP_TRACE);
		cr_assert_neq(pc_of(f.leader), pc);
	}
	kill_all(&f);
}

/* To where it has raised SIGTRAP, which is blocked. */
static void launch_to_blocked_trap(struct fixture *f)
{
	struct event event;

	launch(f, "blocked-trap", NULL);
	cr_assert_eq(thread_continue(f->leader, 0), 0);
	expect_event(f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGUSR1);
}

/*
 * The two meet for certain: a trap is pending when the interrupt stops the thread.
 * While the signal is blocked there is nothing to tell.
 */
Test(interrupts, tell_a_pending_trap_first)
{
	struct fixture f;
	struct event event;
	uint64_t none = 0;

	launch_to_blocked_trap(&f);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	cr_assert_eq(thread_interrupt(f.leader), 0);
	expect_event(&f, EVENT_INTERRUPTED, &event);
	cr_assert_eq(ptrace(PTRACE_SETSIGMASK, f.leader->tid, sizeof(none), &none), 0);
	cr_assert_eq(thread_interrupt(f.leader), 0);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGTRAP);
	cr_assert_eq(event.siginfo.si_code, TRAP_TRACE);
	kill_all(&f);
}

/* Whatever has raised it, the program is not to die of it. */
Test(interrupts, no_trap_is_left_to_a_process_that_is_let_go)
{
	struct fixture f;
	uint64_t none = 0;
	int status;
	pid_t pid;

	launch_to_blocked_trap(&f);
	pid = f.inferior->pid;
	cr_assert_eq(ptrace(PTRACE_SETSIGMASK, f.leader->tid, sizeof(none), &none), 0);
	kill(pid, SIGTERM);
	inferior_detach(f.inferior, 0, 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSIGNALED(status));
	cr_expect_eq(WTERMSIG(status), SIGTERM);
}

/* So it is when job control stops the thread; afterwards it is stopped. */
Test(interrupts, tell_a_pending_trap_before_a_group_stop)
{
	struct fixture f;
	struct event event;
	uint64_t none = 0;

	launch_to_blocked_trap(&f);
	cr_assert_eq(ptrace(PTRACE_SETSIGMASK, f.leader->tid, sizeof(none), &none), 0);
	cr_assert_eq(thread_continue(f.leader, SIGSTOP), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGTRAP);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_GROUP_STOP, &event);
	cr_assert_eq(event.signal, SIGSTOP);
	cr_assert_eq(thread_listen(f.leader), 0);
	kill(f.inferior->pid, SIGCONT);
	expect_event(&f, EVENT_UNASKED, &event);
	kill_all(&f);
}

/*
 * A thread that has executed a breakpoint instruction reports that, even if it was
 * interrupted before it could: after an interrupt's stop, no trap is outstanding.
 */
Test(interrupts, never_hide_a_trap)
{
	const struct arch_ops *arch = arch_native();
	int traps = 0, interrupts = 0;
	struct fixture f;
	struct event event;
	uint64_t entry;

	launch(&f, "spin", NULL);
	entry = pc_of(f.leader);
	cr_assert_eq(inferior_write(f.inferior, entry, arch->breakpoint_insn,
				    arch->breakpoint_len),
		     0);
	for (int i = 0; i < 2000; i++) {
		cr_assert_eq(thread_set_pc(f.leader, entry), 0);
		cr_assert_eq(thread_continue(f.leader, 0), 0);
		for (volatile int delay = i % 500 * 40; delay > 0; delay--)
			; /* so that the interrupt meets the trap at every point */
		cr_assert_eq(thread_interrupt(f.leader), 0);
		event = next_event(&f);
		if (event.kind == EVENT_INTERRUPTED) {
			interrupts++;
			cr_assert_eq(pc_of(f.leader), entry, "trapped, not told");
		} else {
			traps++;
			cr_assert_eq(event.kind, EVENT_SIGNAL);
			cr_assert_eq(event.signal, SIGTRAP);
			cr_assert_eq(pc_of(f.leader),
				     entry + arch->breakpoint_pc_advance);
		}
	}
	cr_log_info("%d traps, %d interrupts", traps, interrupts);
	kill_all(&f);
}

Test(signals, are_delivered_at_a_signal_stop)
{
	struct fixture f;
	struct event event;

	launch(&f, "raise", "12");
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGUSR2);
	cr_assert_eq(thread_continue(f.leader, SIGUSR2), 0);
	expect_exit(&f, 0);
}

Test(signals, can_be_kept_from_the_program)
{
	struct fixture f;
	struct event event;

	launch(&f, "raise", "12");
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_exit(&f, 1);
}

/* The kernel ignores a signal given at such a stop; the program must get it. */
Test(signals, are_delivered_at_any_other_stop)
{
	struct fixture f;
	struct event event;

	launch(&f, "wait-signal", "12");
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGUSR1);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	cr_assert_eq(thread_interrupt(f.leader), 0);
	expect_event(&f, EVENT_INTERRUPTED, &event);
	cr_assert_eq(thread_continue(f.leader, SIGUSR2), 0);
	expect_exit(&f, 0);
}

Test(signals, injected_before_an_interrupt_do_not_swallow_it)
{
	struct fixture f;
	struct event event;

	launch(&f, "spin", NULL);
	cr_assert_eq(thread_continue(f.leader, SIGCHLD), 0);
	cr_assert_eq(thread_interrupt(f.leader), 0);
	expect_event(&f, EVENT_INTERRUPTED, &event);
	cr_assert_eq(thread_continue(f.leader, SIGCHLD), 0);
	inferiors_wait(&f.inferiors, false, &event);
	cr_assert_eq(thread_interrupt(f.leader), 0);
	expect_event(&f, EVENT_INTERRUPTED, &event);
	kill_all(&f);
}

Test(signals, group_stop)
{
	struct fixture f;
	struct event event;

	launch(&f, "stop", NULL);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGSTOP);
	cr_assert_eq(thread_continue(f.leader, SIGSTOP), 0);
	expect_event(&f, EVENT_GROUP_STOP, &event);
	cr_assert_eq(event.signal, SIGSTOP);
	cr_assert_eq(thread_listen(f.leader), 0);
	cr_assert(f.leader->listening);
	inferiors_wait(&f.inferiors, false, &event);
	cr_assert_eq(event.kind, EVENT_NONE);
	/* An interrupt gets an answer there too. */
	cr_assert_eq(thread_interrupt(f.leader), 0);
	expect_event(&f, EVENT_GROUP_STOP, &event);
	cr_assert_not(f.leader->listening);
	cr_assert_eq(thread_listen(f.leader), 0);
	kill(f.inferior->pid, SIGCONT);
	expect_event(&f, EVENT_UNASKED, &event);
	cr_assert_eq(thread_resume_again(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGCONT);
	cr_assert_eq(thread_continue(f.leader, SIGCONT), 0);
	expect_exit(&f, 4);
}

/* A thread that is resumed runs on; the process stays stopped for the kernel, whose
 * answer to an interrupt looks like a group stop. The signal has been delivered before.
 */
Test(signals, run_on_in_a_group_stop)
{
	struct fixture f;
	struct event event;

	launch(&f, "stop", NULL);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(thread_continue(f.leader, SIGSTOP), 0);
	expect_event(&f, EVENT_GROUP_STOP, &event);
	cr_assert_eq(thread_interrupt(f.leader), 0);
	cr_assert_eq(thread_continue(f.leader, SIGSTOP), 0);
	expect_event(&f, EVENT_INTERRUPTED, &event);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_exit(&f, 4);
}
