/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/run/under_counter.h"

#include <string.h>
#include <unistd.h>

#include "gdbstub/base/log.h"
#include "gdbstub/control/counter_trial.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/run/retired.h"
#include "gdbstub/text/trap.h"
#include "gdbstub/tracing/resume.h"
#include "gdbstub/tracing/siginfo.h"

/* At most so many at once: then the user is told how far it is. */
#define PERIOD_MAX (UINT64_C(1) << 31)

enum { LOOK_EVERY = 100 }; /* ms */

static struct retired *of(const struct thread *thread)
{
	return &thread->control->retired;
}

static const struct counter_finding *finding_of(const struct run *run,
						const struct thread *thread)
{
	return &run->counters.of[of(thread)->event];
}

/* ---- may it run? ---- */

/* Each hit of such a location stops the thread at the trap, before the instruction.
 * What the kernel does at others, or a pad, would be counted as well. */
static bool is_of_steps(const struct location *location)
{
	return location->state == LOCATION_OUT ||
	       (location->engine->ops->own_traps && location->trap->kind == TRAP_INSN);
}

static bool has_own_traps_only(const struct inferior *inferior)
{
	const struct inferior *other;
	const struct location *location;

	FOREACH_SHARING (other, inferior) {
		if (!other->breakpoints)
			continue;
		TAILQ_FOREACH (location, &other->breakpoints->locations, link) {
			if (!is_of_steps(location))
				return false;
		}
	}
	return true;
}

/* The signal that a counter makes discards a SIGCONT that waits, for a program to take
 * it by sigwait(2), say. */
static bool has_sigcont(pid_t tid)
{
	const uint64_t waiting =
		proc_status_bits(tid, "SigPnd") | proc_status_bits(tid, "ShdPnd");

	return waiting & signal_bit(SIGCONT);
}

/* May we send it the signal? Not if it has become another user's (fs/fcntl.c,
 * sigio_perm). */
static bool may_signal(pid_t tid)
{
	return geteuid() == 0 || proc_status_number(tid, "Uid") == (long)geteuid();
}

/* NULL: it may. */
static const char *why_not(const struct run *run, const struct thread *thread)
{
	const struct retired *retired = of(thread);

	if (retired->in_call)
		return "it is within a call that it steps over";
	if (retired->limit > 0)
		return "its steps are limited";
	if (run->counting.steps)
		return "the user wants steps";
	if (!finding_of(run, thread)->usable)
		return "there is no exact counter";
	if (!has_own_traps_only(thread->inferior))
		return "there are breakpoints that the kernel or the program decides";
	if (has_sigcont(thread->tid))
		return "a SIGCONT waits";
	return may_signal(thread->tid) ? NULL : "it is another user's";
}

static uint64_t margin_of(const struct run *run, const struct thread *thread)
{
	return run->counting.own_margin ? run->counting.margin
					: finding_of(run, thread)->skid;
}

static void expect_looks(struct run *run)
{
	if (!run->any_counted)
		lateness_begin(&run->counted_since);
	run->any_counted = true;
}

bool under_counter_begin(const struct run *run, struct thread *thread)
{
	struct retired *retired = of(thread);
	const char *why = NULL;
	uint64_t margin, period;
	int err;

	retired->runs = false;
	if (!retired_is_on(thread))
		return false;
	margin = margin_of(run, thread);
	if (retired->left <= margin || (why = why_not(run, thread))) {
		if (why)
			log_debug(LOG_STOPS, "thread %d is stepped: %s", thread->tid,
				  why);
		return false;
	}
	period = retired->left - margin;
	if (period > PERIOD_MAX)
		period = PERIOD_MAX;
	err = counter_begin(&retired->counter, &finding_of(run, thread)->kind,
			    thread->tid, period);
	if (err < 0) {
		log_debug(LOG_STOPS, "thread %d is stepped: no counter: %s",
			  thread->tid, strerror(-err));
		return false;
	}
	retired->known = false;
	retired->runs = true;
	expect_looks(thread->inferior->owner->controller);
	return true;
}

/* ---- what it has executed ---- */

static void tell(const struct run *run, const struct thread *thread,
		 const struct buffer *text)
{
	const struct output *output = control_output(run, thread->inferior);

	output->print(output->data, buffer_string(text), text->len);
}

static void tell_overshot(const struct run *run, const struct thread *thread)
{
	const struct retired *retired = of(thread);
	_cleanup_buffer_ struct buffer text = {0};

	buffer_printf(
		&text,
		"The counter's interrupt came late: %ju %s more than wanted were "
		"executed. `monitor set skid %ju` has it come earlier, `monitor set "
		"skid off` does without.\n",
		(uintmax_t)retired->overshot, retired_event_name(retired->event),
		(uintmax_t)(2 * (margin_of(run, thread) + retired->overshot)));
	tell(run, thread, &text);
}

static void tell_failed(const struct run *run, const struct thread *thread)
{
	_cleanup_buffer_ struct buffer text = {0};

	buffer_append_string(&text,
			     "Others have taken the processor's counters: it is not "
			     "known how much was executed. `monitor set skid off` does "
			     "without.\n");
	tell(run, thread, &text);
}

static void take_count(const struct run *run, const struct thread *thread,
		       uint64_t count)
{
	struct retired *retired = of(thread);

	log_debug(LOG_STOPS, "thread %d: the processor has counted %ju of %ju %s",
		  thread->tid, (uintmax_t)count, (uintmax_t)retired->left,
		  retired_event_name(retired->event));
	retired->by_counter += count;
	if (count > retired->left) {
		retired->overshot = count - retired->left;
		retired->left = 0;
		tell_overshot(run, thread);
		return;
	}
	retired->left -= count;
	if (retired->left > 0)
		retired_look_at_clock(run, thread);
}

/* It is not to run on if what it has executed is not known, or was all. @traps: so many
 * breakpoint instructions were no part of that. */
static bool end(const struct run *run, const struct thread *thread, uint64_t traps)
{
	struct retired *retired = of(thread);
	uint64_t count;
	const bool failed = counter_read(&retired->counter, &count) < 0;

	/* Its signal may be on its way, even if it stops for something else. */
	if (failed || count >= retired->counter.period)
		retired->signals_by = counter_signals_by(&retired->counter);
	counter_end(&retired->counter);
	if (failed) {
		retired->lost = true;
		tell_failed(run, thread);
		return true;
	}
	take_count(run, thread, count < traps ? 0 : count - traps);
	return retired->left == 0;
}

bool under_counter_end(const struct run *run, const struct event *event)
{
	const struct thread *thread = event->thread;

	if (!thread || of(thread)->counter.events == 0)
		return false;
	return end(run, thread,
		   finding_of(run, thread)->counts_traps && trap_is_reported(event));
}

void under_counter_end_late(const struct run *run, const struct thread *thread)
{
	if (of(thread)->counter.events > 0)
		end(run, thread, 0);
}

bool under_counter_takes(const struct event *event)
{
	struct retired *retired = of(event->thread);

	if (event->kind != EVENT_SIGNAL ||
	    !counter_made(&event->siginfo, retired->signals_by))
		return false;
	retired->signals_by = -1;
	return true;
}

/* ---- counters that were taken away ---- */

static void look_at(struct thread *thread)
{
	uint64_t count;

	if (thread->running && !thread->interrupting &&
	    counter_read(&of(thread)->counter, &count) < 0)
		thread_interrupt(thread);
}

void under_counter_look(struct run *run)
{
	struct inferior *inferior;
	struct thread *thread;

	if (!run->any_counted)
		return;
	lateness_look(&run->counted_since);
	if (run->counted_since.waited < LOOK_EVERY)
		return;
	lateness_begin(&run->counted_since);
	run->any_counted = false;
	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		FOREACH_THREAD (thread, inferior) {
			if (of(thread)->counter.events == 0)
				continue;
			run->any_counted = true;
			look_at(thread);
		}
	}
}

int under_counter_patience(const struct run *run)
{
	return run->any_counted ? LOOK_EVERY : -1;
}
