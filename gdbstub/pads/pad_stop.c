/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/pads/pad_stop.h"

#include <errno.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "arch/native.h"
#include "arch/register_table.h"
#include "gdbstub/base/log.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/locations/counts.h"
#include "gdbstub/locations/index.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/pads/pads_state.h"
#include "gdbstub/pads/site_filter.h"
#include "gdbstub/tracing/early.h"
#include "gdbstub/tracing/resume.h"
#include "gdbstub/tracing/siginfo.h"
#include "gdbstub/tracing/status.h"

enum { STEPS_MAX = 100 }; /* of a copy, and stops that are none */

/* Where a thread is in a pad. */
struct position {
	struct site *site;
	const struct displaced_state *state;
	const struct native_state *filter; /* NULL: it is not in the filter */
};

/* ---- where ---- */

static struct site *by_addr(const struct pads *pads, uint64_t pc)
{
	struct table_entry *entry;
	uint64_t start;

	if (!pad_space_taken(&pads->space, pc, &start))
		return NULL;
	entry = table_find(&pads->by_addr, start);
	if (entry)
		return (struct site *)((char *)entry - offsetof(struct site, by_addr));
	entry = table_find(&pads->by_entry, start);
	if (entry)
		return (struct site *)((char *)entry - offsetof(struct site, by_entry));
	entry = table_find(&pads->by_next, start);
	return entry ? ((struct next_entry *)((char *)entry -
					      offsetof(struct next_entry, entry)))
			       ->site
		     : NULL;
}

static struct site *by_insn(const struct pads *pads, uint64_t insn)
{
	struct table_entry *entry = pads ? table_find(&pads->by_insn, insn) : NULL;

	for (; entry; entry = table_find_next(entry)) {
		struct site *site =
			(struct site *)((char *)entry - offsetof(struct site, by_insn));

		if (site->planted)
			return site;
	}
	return NULL;
}

/* Is it in a pad, of whoever is in the memory? One that has jumped into the middle of
 * an instruction there is no business of ours. */
static bool find_position(const struct thread *thread, struct position *ret)
{
	const struct inferior *other;
	uint64_t pc;

	FOREACH_SHARING (other, thread->inferior) {
		ret->site = other->pads && thread_get_pc(thread, &pc) == 0
				    ? by_addr(other->pads, pc)
				    : NULL;
		if (!ret->site)
			continue;
		ret->state = pad_find_state(&ret->site->pad, pc);
		pc -= ret->site->pad.addr;
		ret->filter = pc < ret->site->pad.trap
				      ? native_find_state(ret->site->filter, pc)
				      : NULL;
		return ret->state != NULL;
	}
	return false;
}

/* The trap may have been executed, and the instruction has not been. */
static bool is_before(const struct position *at)
{
	return at->state->pc == at->site->pad.insn;
}

static bool has_passed(const struct position *at)
{
	return is_before(at) && at->state->offset >= at->site->pad.body;
}

/* ---- out of it ---- */

static bool is_counted(const struct native_state *state, const struct regs *regs)
{
	uint64_t value;

	return state->counted ||
	       (state->counted_if_zero > 0 &&
		reg_read_u64(regs, state->counted_if_zero - 1U, &value) == 0 &&
		value == 0);
}

/* As it was before the filter. What that has saved is below the stack pointer that the
 * program has there. */
static int leave_filter(const struct thread *thread, const struct position *at,
			struct regs *regs)
{
	const struct native_ops *ops = regs->arch->native;
	const size_t len = 8U * at->filter->saved;
	const bool counted = is_counted(at->filter, regs);
	uint64_t saved[NATIVE_SAVED_MAX] = {0}, sp;
	int err = reg_read_u64(regs, regs->arch->sp_reg, &sp);

	sp += at->filter->lowered - ops->protected - len;
	if (err == 0 && at->filter->changed &&
	    inferior_read(thread->inferior, sp, saved, len) != (ssize_t)len)
		return -EFAULT;
	if (err == 0)
		err = ops->restore(regs, at->filter, at->site->filter->used, saved);
	if (err == 0 && counted)
		site_uncount(at->site);
	return err;
}

static int move_out(const struct thread *thread, const struct position *at)
{
	const struct arch_ops *arch = thread->inferior->arch;
	const unsigned int regset = reg_by_number(arch, arch->pc_reg)->regset;
	struct regs regs;
	uint64_t sp;
	int err;

	regs_init(&regs, arch);
	err = regs_fetch(thread, &regs, regset);
	if (err == 0 && at->filter)
		err = leave_filter(thread, at, &regs);
	if (err == 0)
		err = reg_write_u64(&regs, arch->pc_reg, at->state->pc);
	if (err == 0)
		err = reg_read_u64(&regs, arch->sp_reg, &sp);
	if (err == 0)
		err = reg_write_u64(&regs, arch->sp_reg, sp + at->state->pushed);
	return err < 0 ? err : regs_store(thread, &regs, regset);
}

static void leave(struct thread *thread, const struct position *at, bool passed)
{
	int err = move_out(thread, at);

	if (err < 0 && err != -ESRCH)
		log_warning("thread %d is shown in a pad, at 0x%jx: error %d",
			    thread->tid, (uintmax_t)at->site->pad.addr, -err);
	thread->passed_at = passed ? at->site->pad.insn : 0;
}

/* ---- on in it ---- */

/* After the nop's probe, the kernel ends a step by a signal from nobody. */
static bool ends_step(const struct event *event, const struct position *at)
{
	const int code = event->siginfo.si_code;

	return event->kind == EVENT_SIGNAL && event->signal == SIGTRAP &&
	       event->thread->stepping &&
	       (code == TRAP_TRACE || code == TRAP_BRKPT ||
		(code == SI_USER && at->state->offset == at->site->pad.body));
}

static bool is_by_program(const struct event *event)
{
	return event->signal == SIGSTOP && event->siginfo.si_code == SI_KERNEL;
}

/* Of this trap: it is told at the instruction, whatever comes between. The signal by
 * which a program stops threads may have been taken back by a SIGCONT. */
static bool has_hit(const struct event *event, const struct position *at)
{
	struct engines *engines;

	if (event->kind != EVENT_SIGNAL || !event->inferior->breakpoints)
		return false;
	engines = event->inferior->breakpoints->engines;
	for (int i = 0; i < NENGINES; i++) {
		struct engine *engine = &engines->engine[i];

		if (!engine->unusable && engine->ops->has_hit &&
		    engine->ops->has_hit(engine, event->thread, at->site->pad.insn))
			return true;
	}
	return is_by_program(event);
}

/* A fault is the instruction's own, or the filter's. */
static bool is_fault(const struct event *event)
{
	return event->siginfo.si_code > 0 &&
	       (event->signal == SIGSEGV || event->signal == SIGBUS ||
		event->signal == SIGFPE || event->signal == SIGILL);
}

/* Must the instruction be executed before this is told? Of a signal that comes between
 * the trap and the instruction, the handler would return to the trap, which would be
 * hit twice; and what the copy has pushed may be what is watched. */
static bool must_finish(const struct event *event, const struct position *at)
{
	if (event->kind != EVENT_SIGNAL || !has_passed(at) || is_fault(event) ||
	    has_hit(event, at))
		return false;
	return event->signal != SIGTRAP || event->siginfo.si_code <= 0 ||
	       at->state->pushed > 0;
}

/* All but those by which the step may end. */
static uint64_t signals_to_block(void)
{
	return ~(signal_bit(SIGTRAP) | signal_bit(SIGSEGV) | signal_bit(SIGBUS) |
		 signal_bit(SIGFPE) | signal_bit(SIGILL));
}

/* Memory that another thread of the program is to bring in may keep it from its
 * instruction for ever: an interrupt ends that wait. 0, 1: it was interrupted, or
 * -EAGAIN: it has ended, or is being killed, of which a wait will tell. */
static int step(struct thread *thread, int *status)
{
	bool interrupted = false;
	int err;

	*status = 0;
	regs_outdate(thread);
	if (ptrace(PTRACE_SINGLESTEP, thread->tid, NULL, NULL) < 0)
		return -EAGAIN;
	while ((err = wait_status(thread->tid, status)) == -ETIMEDOUT) {
		interrupted = true;
		ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
	}
	if (err < 0)
		return -EAGAIN;
	if (WIFSTOPPED(*status) && *status >> 16 != PTRACE_EVENT_EXIT)
		return interrupted;
	early_keep(thread->inferior->owner, thread->tid, *status);
	return -EAGAIN;
}

/* A stop that is no signal's comes before the step, or after it: then the step's
 * SIGTRAP is pending, and the next request brings that and makes no step. */
static bool is_event_stop(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP;
}

/* Steps until the instruction is executed, or has faulted, as it will again. */
static int finish_copy(struct thread *thread, struct position *at,
		       struct signals_aside *aside)
{
	bool passed = true;
	int status = 0, err;

	for (unsigned int i = 0; i < STEPS_MAX; i++) {
		err = step(thread, &status);
		if (err < 0)
			return err;
		thread->at_signal = !is_event_stop(status);
		thread->left_group_stop |=
			is_event_stop(status) && WSTOPSIG(status) != SIGTRAP;
		if (thread->at_signal && signals_put_aside(aside, thread))
			continue;
		passed = find_position(thread, at) && has_passed(at);
		if (is_event_stop(status) ? passed && err > 0
					  : !passed || WSTOPSIG(status) != SIGTRAP)
			break;
	}
	thread->trap_due = is_event_stop(status) && !passed;
	return 0;
}

/* The thread's stop is one for this signal again, at its new place. */
static bool finish(struct event *event, struct position *at)
{
	struct thread *thread = event->thread;
	struct signals_aside aside = {.count = 0};
	uint64_t mask;
	int err;

	if (thread_get_mask(thread, &mask) < 0 ||
	    thread_set_mask(thread, mask | signals_to_block()) < 0) {
		thread->running = true; /* killed */
		return false;
	}
	err = finish_copy(thread, at, &aside);
	if (err < 0) {
		thread->running = true;
		return false;
	}
	thread_set_mask(thread, mask);
	if (thread->at_signal)
		thread_set_siginfo(thread, &event->siginfo);
	signals_send_again(&aside, thread);
	return true;
}

/* The trap decides: of what the filter cannot read, and for who is stepped, which would
 * take long. */
static bool gives_filter_up(const struct event *event, const struct position *at)
{
	return at->filter && event->kind == EVENT_SIGNAL &&
	       (is_fault(event) || ends_step(event, at));
}

/* False: what the filter has saved cannot be read any more, say. */
static bool go_to_trap(struct thread *thread, const struct position *at)
{
	const struct pad *pad = &at->site->pad;

	return move_out(thread, at) == 0 &&
	       thread_set_pc(thread, pad->addr + pad->trap) == 0;
}

/* A step at a next instruction, which has a jump, too, is one of its copy. */
static bool steps_next(const struct event *event, const struct position *at)
{
	const struct pad *pad = &at->site->pad;
	uint64_t pc;

	if (pad->nnext == 0 || !ends_step(event, at) ||
	    thread_get_pc(event->thread, &pc) < 0)
		return false;
	for (unsigned int i = 0; i < pad->nnext; i++)
		if (pc == pad->next[i].entry)
			return thread_set_pc(event->thread,
					     pad->addr + pad->next[i].copy) == 0;
	return false;
}

/* Is there nothing to tell of yet? */
static bool goes_on(const struct event *event, const struct position *at)
{
	if (steps_next(event, at))
		return true;
	if (gives_filter_up(event, at))
		return go_to_trap(event->thread, at);
	return is_before(at) && ends_step(event, at);
}

/* Some processors stop at a breakpoint instruction, and not after it. */
static void go_past_trap(const struct event *event, struct position *at)
{
	const struct arch_ops *arch = event->inferior->arch;
	const struct pad *pad = &at->site->pad;
	uint64_t pc;

	if (arch->breakpoint_pc_advance == 0 && trap_is_reported(event) &&
	    thread_get_pc(event->thread, &pc) == 0 && pc == pad->addr + pad->trap &&
	    thread_set_pc(event->thread, pad->addr + pad->body) == 0)
		find_position(event->thread, at);
}

/* Whose hit it was: filters do not tell threads apart. */
static pid_t find_counted(const struct location *location, const struct thread *thread)
{
	struct counts counts = location_counts(location);
	const pid_t tid = counts.others.hits > 0 ? 0 : thread->tid;

	counts_clear(&counts);
	return tid;
}

/* Of an instruction that is not done, the condition will be asked again when the
 * signal's handler returns, and the hit be counted again. */
static void uncount(const struct thread *thread, const struct position *at)
{
	const struct hit_counts less = {.hits = -UINT64_C(1)};
	struct location *location;
	struct index_walk walk;

	for (location = index_begin(&walk, thread->inferior->breakpoints,
				    at->site->pad.insn, at->site->pad.insn);
	     location; location = index_next(&walk))
		if (location->trap && location->state == LOCATION_IN)
			counts_add(&location->counts, find_counted(location, thread),
				   &less);
}

bool pad_stop_leave(struct event *event)
{
	struct thread *thread = event->thread;
	struct position at;
	bool passed;

	if (thread->running || thread->late || !find_position(thread, &at))
		return true;
	go_past_trap(event, &at);
	if (goes_on(event, &at)) {
		if (thread->interrupting)
			ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
		thread_resume_again(thread, 0);
		return false;
	}
	if (must_finish(event, &at)) {
		if (!finish(event, &at))
			return false;
		if (!find_position(thread, &at))
			return true;
	}
	passed = has_passed(&at) && !has_hit(event, &at);
	if (passed && must_finish(event, &at)) {
		uncount(thread, &at);
		passed = false;
	}
	event->given &= !has_hit(event, &at); /* else that comes first */
	leave(thread, &at, passed);
	return true;
}

void pads_enter(struct thread *thread, int signal)
{
	const uint64_t passed_at = thread->passed_at;
	const struct inferior *other;
	uint64_t pc;

	thread->passed_at = 0;
	if (passed_at == 0 || thread_get_pc(thread, &pc) < 0 || pc != passed_at)
		return;
	FOREACH_SHARING (other, thread->inferior) {
		const struct site *site = by_insn(other->pads, passed_at);

		if (!site)
			continue;
		thread_set_pc(thread, site->pad.addr + site->pad.body);
		/* It is sent, so that its handler does not return to the pad. */
		if (signal != 0)
			thread->at_signal = false;
		return;
	}
}
