/* SPDX-License-Identifier: BSD-2-Clause */
/* When a thread runs under a counter, and what is made of what that says. The linker
 * puts functions of the test in the place of those of control/ that reach the kernel
 * (--wrap, in tests.am). */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/control/counter_trial.h"
#include "gdbstub/run/retired.h"
#include "gdbstub/run/under_counter.h"
#include "gdbstub/tracing/resume.h"

enum { SKID = 100, SIGNALS_BY = 1234 };

static uint64_t period, counted;
static int begins_with, reads_with;

int __wrap_counter_begin(struct counter *counter, const struct counter_kind *kind,
			 pid_t tid, uint64_t wanted);
int __wrap_counter_read(const struct counter *counter, uint64_t *ret);
void __wrap_counter_end(struct counter *counter);
int __wrap_counter_signals_by(const struct counter *counter);
int __wrap_thread_interrupt(struct thread *thread);

int __wrap_counter_begin(struct counter *counter, const struct counter_kind *kind,
			 pid_t tid, uint64_t wanted)
{
	(void)kind;
	(void)tid;
	period = wanted;
	*counter = (struct counter){.events = begins_with == 0, .period = wanted};
	return begins_with;
}

int __wrap_counter_read(const struct counter *counter, uint64_t *ret)
{
	(void)counter;
	*ret = counted;
	return reads_with;
}

void __wrap_counter_end(struct counter *counter)
{
	*counter = (struct counter){0};
}

int __wrap_counter_signals_by(const struct counter *counter)
{
	(void)counter;
	return SIGNALS_BY;
}

int __wrap_thread_interrupt(struct thread *thread)
{
	thread->interrupting = true;
	return 0;
}

/* ---- a thread ---- */

static struct buffer printed;

static void print(void *data, const char *text, size_t len)
{
	(void)data;
	buffer_append(&printed, text, len);
}

static struct run run = {.output = {.print = print}};
static struct counter_finding *const found = &run.counters.of[RETIRED_INSTRUCTIONS];
static struct inferior inferior;
static struct thread_control control;
static struct thread thread;

static void begin(uint64_t count, uint64_t limit)
{
	buffer_deinit(&printed);
	printed = (struct buffer){0};
	period = counted = 0;
	begins_with = reads_with = 0;
	*found = (struct counter_finding){.usable = true, .skid = SKID};
	run.counting = (struct retired_setting){0};
	run.any_counted = false;
	thread = (struct thread){.inferior = &inferior, .control = &control};
	inferior.pid = thread.tid = getpid();
	inferior.arch = arch_native();
	inferior.owner = &run.inferiors;
	run.inferiors.controller = &run;
	TAILQ_INIT(&inferior.threads);
	TAILQ_INSERT_TAIL(&inferior.threads, &thread, link);
	TAILQ_INIT(&run.inferiors.list);
	TAILQ_INSERT_TAIL(&run.inferiors.list, &inferior, link);
	control = (struct thread_control){.thread = &thread};
	control.retired.signals_by = -1;
	retired_begin(&thread, RETIRED_INSTRUCTIONS, count, limit);
}

static struct event event_of(int signal, int code)
{
	struct event event = {
		.kind = EVENT_SIGNAL,
		.inferior = &inferior,
		.thread = &thread,
		.signal = signal,
	};

	event.siginfo.si_signo = signal;
	event.siginfo.si_code = code;
	event.siginfo.si_fd = SIGNALS_BY;
	return event;
}

/* It stops, after so many. Is it at its end? */
static bool stops(uint64_t count)
{
	const struct event event = event_of(SIGSTOP, POLL_HUP);

	counted = count;
	return under_counter_end(&run, &event);
}

static uint64_t left(void)
{
	return control.retired.left;
}

Test(under_counter, stops_short_of_the_end)
{
	begin(1000, 0);
	cr_assert(under_counter_begin(&run, &thread));
	cr_assert_eq(period, 1000 - SKID);
	cr_assert(!stops(930));
	cr_assert_eq(left(), 70);
	/* The rest is stepped. */
	cr_assert(!under_counter_begin(&run, &thread));
	cr_assert_eq(printed.len, 0);
}

Test(under_counter, goes_on_after_another_stop)
{
	begin(1000, 0);
	cr_assert(under_counter_begin(&run, &thread));
	cr_assert(!stops(300));
	cr_assert(under_counter_begin(&run, &thread));
	cr_assert_eq(period, 700 - SKID);
	cr_assert(!stops(0));
	cr_assert_eq(left(), 700);
	cr_assert_eq(control.retired.by_counter, 300);
}

Test(under_counter, ends_where_it_is_to)
{
	begin(1000, 0);
	cr_assert(under_counter_begin(&run, &thread));
	cr_assert(stops(1000));
	cr_assert_eq(left(), 0);
	cr_assert_eq(printed.len, 0);
}

Test(under_counter, tells_that_it_has_overshot)
{
	begin(1000, 0);
	cr_assert(under_counter_begin(&run, &thread));
	cr_assert(stops(1023));
	cr_assert_eq(left(), 0);
	cr_assert_eq(control.retired.overshot, 23);
	cr_assert_not_null(
		strstr(buffer_string(&printed), "23 instructions more than wanted"));
	cr_assert_not_null(strstr(buffer_string(&printed), "set skid 246"));
}

Test(under_counter, tells_that_others_took_the_counter)
{
	begin(1000, 0);
	cr_assert(under_counter_begin(&run, &thread));
	reads_with = -EBUSY;
	cr_assert(stops(0));
	cr_assert(control.retired.lost);
	cr_assert_eq(left(), 1000);
	cr_assert_not_null(strstr(buffer_string(&printed), "not known how much"));
}

/* A counter that counts no longer makes no signal either. */
Test(under_counter, interrupts_a_thread_that_is_counted_no_longer)
{
	under_counter_look(&run);
	cr_assert_eq(under_counter_patience(&run), -1);
	begin(1000, 0);
	cr_assert(under_counter_begin(&run, &thread));
	thread.running = true;
	cr_assert_gt(under_counter_patience(&run), 0);
	run.counted_since.since -= INT64_C(60000);
	under_counter_look(&run);
	cr_assert(!thread.interrupting);
	reads_with = -EBUSY;
	run.counted_since.since -= INT64_C(60000);
	under_counter_look(&run);
	cr_assert(thread.interrupting);
	cr_assert(stops(0));
	run.counted_since.since -= INT64_C(60000);
	under_counter_look(&run);
	cr_assert_eq(under_counter_patience(&run), -1);
}

/* It sleeps in the kernel, and tells nothing yet. */
Test(under_counter, counts_what_a_late_thread_has_executed)
{
	begin(1000, 0);
	cr_assert(under_counter_begin(&run, &thread));
	counted = 300;
	under_counter_end_late(&run, &thread);
	cr_assert_eq(left(), 700);
	/* When it stops at last, nothing is new. */
	cr_assert(!stops(300));
	under_counter_end_late(&run, &thread);
	cr_assert_eq(left(), 700);
}

Test(under_counter, does_not_begin_anew_if_the_client_continues)
{
	begin(1000, 0);
	cr_assert(under_counter_begin(&run, &thread));
	cr_assert(!stops(300));
	retired_note_run(&thread);
	cr_assert(!control.retired.runs);
	cr_assert(control.retired.lost);
}

Test(under_counter, is_stepped_out_of_a_call)
{
	begin(1000, 0);
	cr_assert(under_counter_begin(&run, &thread));
	cr_assert(!stops(300));
	retired_note_call(&thread, false);
	cr_assert_eq(left(), 700);
	retired_begin(&thread, RETIRED_INSTRUCTIONS, 700, 0);
	cr_assert(!under_counter_begin(&run, &thread));
	retired_note_call(&thread, true);
	cr_assert(under_counter_begin(&run, &thread));
}

Test(under_counter, takes_the_traps_off)
{
	struct event event;

	begin(1000, 0);
	event = event_of(SIGTRAP, inferior.arch->breakpoint_si_code);
	for (int traps = 0; traps < 2; traps++) {
		found->counts_traps = traps;
		cr_assert(under_counter_begin(&run, &thread));
		counted = 11;
		cr_assert(!under_counter_end(&run, &event));
	}
	cr_assert_eq(left(), 1000 - 11 - 10);
}

/* Only if it had counted so many, the signal can be on its way. */
Test(under_counter, takes_its_signal_once)
{
	const struct event ours = event_of(SIGSTOP, POLL_HUP),
			   sent = event_of(SIGSTOP, SI_USER);

	begin(1000, 0);
	cr_assert(under_counter_begin(&run, &thread));
	cr_assert(!stops(1000 - SKID - 1));
	cr_assert(!under_counter_takes(&ours));
	begin(1000, 0);
	cr_assert(under_counter_begin(&run, &thread));
	cr_assert(!stops(1000 - SKID));
	cr_assert(!under_counter_takes(&sent));
	retired_begin(&thread, RETIRED_INSTRUCTIONS, 0, 0);
	cr_assert(under_counter_takes(&ours));
	cr_assert(!under_counter_takes(&ours));
}

Test(under_counter, is_told_how_far_it_is_at_times)
{
	begin(UINT64_C(1) << 40, 0);
	cr_assert(under_counter_begin(&run, &thread));
	cr_assert_eq(period, UINT64_C(1) << 31);
	cr_assert(!stops(period + 3));
	cr_assert_eq(left(), (UINT64_C(1) << 40) - (UINT64_C(1) << 31) - 3);
}

Test(under_counter, steps_if_it_has_to)
{
	begin(SKID, 0);
	cr_assert(!under_counter_begin(&run, &thread));
	begin(0, 0);
	cr_assert(!under_counter_begin(&run, &thread));
	begin(1000, 5);
	cr_assert(!under_counter_begin(&run, &thread));
	begin(1000, 0);
	run.counting.steps = true;
	cr_assert(!under_counter_begin(&run, &thread));
	begin(1000, 0);
	found->usable = false;
	cr_assert(!under_counter_begin(&run, &thread));
	begin(1000, 0);
	begins_with = -EMFILE;
	cr_assert(!under_counter_begin(&run, &thread));
	begin(1000, 0);
	run.counting = (struct retired_setting){.own_margin = true, .margin = 17};
	cr_assert(under_counter_begin(&run, &thread));
	cr_assert_eq(period, 983);
}
