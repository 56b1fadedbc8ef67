/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <signal.h>

#include "gdbstub/inferior/proc.h"
#include "gdbstub/tracing/resume.h"
#include "gdbstub/tracing/siginfo.h"
#include "tests/unit/launched.h"

static bool is_pending(const struct thread *thread, int signal)
{
	return ((proc_status_bits(thread->tid, "SigPnd") |
		 proc_status_bits(thread->tid, "ShdPnd")) &
		signal_bit(signal)) != 0;
}

/* A thread that has stopped for a signal, which is put aside. */
static void stop_for(struct fixture *f, int signal, struct signals_aside *aside)
{
	struct event event;

	launch(f, "exit", NULL);
	kill(f->inferior->pid, signal);
	cr_assert_eq(thread_continue(f->leader, 0), 0);
	expect_event(f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, signal);
	cr_assert(signals_put_aside(aside, f->leader));
	cr_assert_not(is_pending(f->leader, signal));
}

Test(signals_aside, come_again)
{
	const int signals[] = {SIGSTOP, SIGSEGV, SIGBUS};

	for (unsigned int i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct signals_aside aside = {.count = 0};
		struct fixture f;

		stop_for(&f, signals[i], &aside);
		signals_send_again(&aside, f.leader);
		cr_assert(is_pending(f.leader, signals[i]));
		kill_all(&f);
	}
}

Test(signals_aside, a_later_sigcont_stays)
{
	struct signals_aside aside = {.count = 0};
	struct fixture f;

	stop_for(&f, SIGSTOP, &aside);
	kill(f.inferior->pid, SIGCONT);
	signals_send_again(&aside, f.leader);
	cr_assert(is_pending(f.leader, SIGCONT));
	cr_assert_not(is_pending(f.leader, SIGSTOP));
	kill_all(&f);
}

Test(signals_aside, the_end_of_a_step_is_none)
{
	struct signals_aside aside = {.count = 0};
	struct fixture f;
	struct event event;

	launch(&f, "exit", NULL);
	cr_assert_eq(thread_step(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_not(signals_put_aside(&aside, f.leader));
	kill_all(&f);
}
