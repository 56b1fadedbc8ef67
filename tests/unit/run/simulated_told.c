/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is to be told of simulated processes. What a thread has been waited for is due
 * or it is not: that follows from the event, the breakpoints, and the client's wishes.
 * What is due is told once, before the thread goes on, and nothing else is.
 */
#include "gdbstub/inferior/registers.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/run/halt.h"
#include "tests/unit/run/simulated.h"

enum { STOPS_BEFORE_INTERRUPT = 25 };

static const char *const kinds[] = {
	[STOP_NONE] = "nothing",
	[STOP_SIGNAL] = "signal",
	[STOP_SWBREAK] = "breakpoint",
	[STOP_FORK] = "fork",
	[STOP_VFORK] = "vfork",
	[STOP_VFORK_DONE] = "vfork-done",
	[STOP_EXEC] = "exec",
	[STOP_CREATED] = "created",
	[STOP_THREAD_EXITED] = "thread-exited",
	[STOP_EXITED] = "exited",
	[STOP_KILLED] = "killed",
	[STOP_NO_RESUMED] = "no-resumed",
};

static const char *name_of(enum stop_kind kind)
{
	bool known = kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[kind];

	return known ? kinds[kind] : "something else";
}

/* ---- memory ---- */

/* Is a trap away that the client wants? */
static bool misses_trap(const struct sim_space *space)
{
	for (unsigned int slot = 0; slot < SIM_SLOTS; slot++)
		if (space->wanted[slot] && !sim_has_trap(space, slot))
			return true;
	return false;
}

static bool others_run(const struct sim_thread *thread)
{
	for (unsigned int i = 0; i < sim.nthreads; i++) {
		const struct sim_thread *other = &sim.thread[i];

		if (other != thread && other->state == SIM_RUNNING &&
		    other->process->traced &&
		    other->process->space == thread->process->space)
			return true;
	}
	return false;
}

/* ---- execution ---- */

static void check_evaluations(const struct sim_thread *thread)
{
	sim_check(thread->evaluations == thread->evaluations_due,
		  "conditions were evaluated %u times for %u hits of thread %d",
		  thread->evaluations, thread->evaluations_due, thread->tid);
}

void model_meets_trap(struct sim_thread *thread)
{
	const struct sim_space *space = thread->process->space;
	enum sim_slot slot = sim_op_of(thread)->slot;

	sim_check(thread->process->traced, "%d, which is let go, meets the trap at %u",
		  thread->tid, slot);
	sim_check(!sim_is_lent(space), "%d runs in memory that is lent", thread->tid);
	sim_check(space->wanted[slot], "%d meets the trap at %u, which nobody wants",
		  thread->tid, slot);
	sim_check(!thread->hit || thread->may_hit_again, "%d hits twice what is at %u",
		  thread->tid, slot);
	thread->hit = true;
	thread->may_hit_again = false;
}

void model_executes(struct sim_thread *thread)
{
	const struct sim_space *space = thread->process->space;
	enum sim_slot slot = sim_op_of(thread)->slot;

	if (!thread->process->traced) {
		sim_check(!sim_has_traps(space), "%d, which is let go, runs with traps",
			  thread->tid);
		return;
	}
	check_evaluations(thread);
	sim_check(!sim_is_lent(space), "%d runs in memory that is lent", thread->tid);
	sim_check(!space->wanted[slot] || thread->hit,
		  "%d runs past the breakpoint at %u", thread->tid, slot);
	sim_check(!misses_trap(space) || !others_run(thread),
		  "%d runs beside others while a trap is away", thread->tid);
	thread->executed++;
	thread->hit = thread->hit_told = thread->may_hit_again = false;
}

/* ---- what is due ---- */

static struct sim_due due_of_trap(struct sim_thread *thread)
{
	const struct sim_space *space = thread->process->space;
	const struct sim_op *op = sim_op_of(thread);
	bool conditional = space->conditional[op->slot];

	thread->evaluations_due += conditional;
	if (conditional && op->value == 0)
		return (struct sim_due){0};
	return (struct sim_due){
		.kind = STOP_SWBREAK, .signal = SIGTRAP, .slot = op->slot};
}

/* Also of the end of a step. */
static struct sim_due due_of_signal(struct sim_thread *thread,
				    const struct event *event)
{
	struct sim_due due = {.kind = STOP_SIGNAL, .signal = event->signal};

	if (event->signal != SIGTRAP) {
		due.may_be_dropped = sim.run->pass_signal[event->signal];
		return due;
	}
	if (thread->past_trap)
		return due_of_trap(thread);
	due.may_be_dropped = true;
	if (event->thread->control->action.kind != RESUME_STEP)
		due.kind = STOP_NONE;
	return due;
}

/* What is wanted in the parent is wanted in the child. */
static struct sim_due due_of_child(const struct sim_thread *thread,
				   const struct event *event, enum stop_kind kind)
{
	struct sim_space *space = sim_process(event->child_pid)->space;

	for (unsigned int slot = 0; slot < SIM_SLOTS; slot++) {
		space->wanted[slot] = thread->process->space->wanted[slot];
		space->conditional[slot] = thread->process->space->conditional[slot];
	}
	return (struct sim_due){
		.kind = kind, .signal = SIGTRAP, .child = event->child_pid};
}

static struct sim_due due_of(struct sim_thread *thread, const struct event *event)
{
	const struct run_wishes *wishes = &sim.run->wishes;
	struct sim_due due = {.signal = SIGTRAP};

	if (event->kind == EVENT_SIGNAL)
		return due_of_signal(thread, event);
	if (event->kind == EVENT_FORK && wishes->fork)
		return due_of_child(thread, event, STOP_FORK);
	if (event->kind == EVENT_VFORK && wishes->vfork)
		return due_of_child(thread, event, STOP_VFORK);
	if (event->kind == EVENT_VFORK_DONE && wishes->vfork)
		due.kind = STOP_VFORK_DONE;
	if (event->kind == EVENT_EXEC)
		due.kind = STOP_EXEC;
	/* The step ends where the call returns. */
	if (event->kind == EVENT_SYSCALL && event->thread->stepping)
		due = (struct sim_due){STOP_SIGNAL, SIGTRAP, .may_be_dropped = true};
	return due;
}

void model_reported(struct sim_thread *thread, const struct event *event)
{
	bool ends = thread->state == SIM_GONE;

	sim_check(ends || thread->due.kind == STOP_NONE,
		  "%d has run on, though it has not been told of: %s", thread->tid,
		  name_of(thread->due.kind));
	thread->due = ends ? (struct sim_due){0} : due_of(thread, event);
	if (event->kind == EVENT_CLONE && sim.run->wishes.thread_events)
		sim_thread(event->child->tid)->due =
			(struct sim_due){.kind = STOP_CREATED, .signal = SIGTRAP};
	/* The new thread is asked to stop as well. */
	if (event->kind == EVENT_CLONE)
		sim.requests += event->thread->control->stop_requested;
	if (event->kind == EVENT_THREAD_EXIT)
		thread->end_due = sim.run->wishes.thread_events;
	if (event->kind == EVENT_EXITED || event->kind == EVENT_KILLED)
		thread->process->end_due = true;
	if (thread->due.kind != STOP_NONE)
		sim_say("  to be told: %s %d", name_of(thread->due.kind),
			thread->due.signal);
}

/* ---- going on ---- */

/* Nor does the client want to hear of a breakpoint that it has removed since. */
static bool may_be_dropped(const struct sim_thread *thread)
{
	const struct sim_due *due = &thread->due;

	return due->may_be_dropped || (due->kind == STOP_SWBREAK &&
				       !thread->process->space->wanted[due->slot]);
}

/* A stop that the client waits for. */
static bool is_awaited(const struct sim_thread *thread)
{
	const struct thread *known = thread_find(&sim.run->inferiors, thread->tid);

	return thread->due.kind != STOP_NONE && !may_be_dropped(thread) && known &&
	       known->control->action.kind != RESUME_NONE;
}

/* In all-stop mode, who goes on while there is a stop to report does so for nothing,
 * and what it runs into is mixed up with that. */
static void check_nobody_awaited(const struct sim_thread *thread)
{
	bool lends = thread->vfork_child && thread->in_call;

	if (sim.run->non_stop || !sim.run->running || lends)
		return;
	for (unsigned int i = 0; i < sim.nthreads; i++)
		sim_check(!is_awaited(&sim.thread[i]),
			  "%d goes on, though %d has not been told of: %s", thread->tid,
			  sim.thread[i].tid, name_of(sim.thread[i].due.kind));
}

void model_resumed(struct sim_thread *thread, const struct thread *known)
{
	struct sim_due *due = &thread->due;
	bool is_moot = due->kind == STOP_SWBREAK ||
		       (due->signal == SIGTRAP &&
			known->control->action.kind == RESUME_CONTINUE);

	sim_check(due->kind == STOP_NONE || (may_be_dropped(thread) && is_moot),
		  "%d goes on, though it has not been told of: %s %d", thread->tid,
		  name_of(due->kind), due->signal);
	*due = (struct sim_due){0};
	thread->process->space->changed = thread->process->is_fresh = false;
	check_evaluations(thread);
	check_nobody_awaited(thread);
}

void model_delivered(struct sim_thread *thread, int signal)
{
	thread->delivered[signal]++;
	sim_check(thread->delivered[signal] <= thread->raised[signal],
		  "%d gets signal %d more often than it was sent", thread->tid, signal);
	thread->may_hit_again = true;
	if (thread->due.may_be_dropped && thread->due.signal == signal)
		thread->due = (struct sim_due){0};
}

void model_detached(const struct sim_process *process)
{
	sim_check(!sim_has_traps(process->space),
		  "process %d is let go with traps in its memory", process->pid);
	for (unsigned int i = 0; i < sim.nthreads; i++)
		if (sim.thread[i].process == process)
			sim.thread[i].due = (struct sim_due){0};
}

/* ---- what is told ---- */

/* As the client takes it to be, what it knows and what it does not. */
static void check_memory(void)
{
	const struct inferior *inferior;

	TAILQ_FOREACH (inferior, &sim.run->inferiors.list, link) {
		const struct sim_process *process = sim_process(inferior->pid);
		const struct sim_space *space = process->space;

		if (process->ends || space->changed || process->is_fresh)
			continue;
		if (sim_is_lent(space))
			sim_check(!sim_has_traps(space),
				  "traps are in memory that process %d has lent",
				  process->pid);
		else
			sim_check(!misses_trap(space),
				  "a trap is away from the memory of process %d",
				  process->pid);
	}
}

static void check_all_held(void)
{
	const struct inferior *inferior;
	const struct thread *thread;

	TAILQ_FOREACH (inferior, &sim.run->inferiors.list, link)
		TAILQ_FOREACH (thread, &inferior->threads, link)
			sim_check(thread_is_held(thread), "%d is not held at a stop",
				  thread->tid);
	for (unsigned int i = 0; i < sim.nthreads; i++)
		sim_check(sim.thread[i].state != SIM_RUNNING ||
				  !sim.thread[i].process->traced,
			  "%d runs on at a stop", sim.thread[i].tid);
	sim_check(!halt_has_work(sim.run) && !sim.run->traps_away &&
			  sim.run->stepping_over == 0,
		  "something is left half done at a stop");
}

static void told_interrupt(const struct sim_thread *thread)
{
	sim.interrupts_told++;
	sim.interrupt_is_open = false;
	sim_check(sim.interrupts_told <= sim.interrupts,
		  "%d tells of an interrupt that nobody has sent", thread->tid);
}

static void told_request(const struct sim_thread *thread)
{
	sim.requests_told++;
	sim_check(sim.requests_told <= sim.requests,
		  "%d tells of a stop that nobody has asked for", thread->tid);
}

static void check_due(const struct sim_thread *thread, const struct stop *stop)
{
	const struct sim_due *due = &thread->due;

	sim_check(stop->kind == due->kind && stop->signal == due->signal,
		  "%d is told of: %s %d, in place of %s %d", thread->tid,
		  name_of(stop->kind), stop->signal, name_of(due->kind), due->signal);
	sim_check(stop->child == due->child, "%d has made %d, not %d", thread->tid,
		  due->child, stop->child);
	if (stop->kind == STOP_SWBREAK)
		sim_check(stop->addr == sim_address(due->slot) &&
				  sim_pc(thread) == stop->addr,
			  "%d is at %u, and not where it is told to be", thread->tid,
			  due->slot);
	if (stop->kind == STOP_SIGNAL && stop->signal == SIGTRAP)
		sim_check(thread->executed - thread->step_began_at <= 1,
			  "%d has gone too far in a step", thread->tid);
}

static void told_of_thread(struct sim_thread *thread, const struct stop *stop)
{
	const struct thread *known = thread_find(&sim.run->inferiors, thread->tid);

	sim_check(known && thread_is_held(known), "%d is not held at its stop",
		  thread->tid);
	sim_check(thread->state == SIM_HELD || known->late, "%d runs on at its stop",
		  thread->tid);
	check_evaluations(thread);
	if (stop->kind == STOP_SIGNAL && stop->signal == SIGINT) {
		told_interrupt(thread);
		return;
	}
	if (stop->kind == STOP_SIGNAL && stop->signal == 0) {
		told_request(thread);
		return;
	}
	check_due(thread, stop);
	if (stop->kind == STOP_FORK || stop->kind == STOP_VFORK)
		sim_process(stop->child)->is_known = true;
	thread->told[stop->signal]++;
	thread->hit_told |= stop->kind == STOP_SWBREAK;
	sim_check(stop->kind != STOP_SIGNAL || thread->asked_for != RESUME_CONTINUE ||
			  !sim.run->pass_signal[stop->signal],
		  "signal %d of %d is told, and was to be passed", stop->signal,
		  thread->tid);
	if (stop->kind == STOP_SIGNAL && stop->signal != SIGTRAP)
		thread->passes = stop->signal;
	thread->due = (struct sim_due){0};
}

static void told_of_thread_end(struct sim_thread *thread)
{
	sim_check(thread->end_due, "the end of %d is not to be told", thread->tid);
	thread->end_due = false;
}

static void told_of_end(struct sim_process *process, const struct stop *stop)
{
	sim_check(process->is_known && process->end_due && !process->end_told,
		  "the end of process %d is not to be told", process->pid);
	sim_check(process->is_killed
			  ? stop->kind == STOP_KILLED && stop->signal == SIGKILL
			  : stop->kind == STOP_EXITED && stop->status == SIM_STATUS,
		  "the end of process %d is told otherwise than it was", process->pid);
	process->end_told = true;
	for (unsigned int i = 0; i < sim.nthreads; i++)
		sim_check(sim.thread[i].process != process || !sim.thread[i].end_due,
			  "process %d ends before its threads", process->pid);
}

/* Stops that were there before come first. That of a thread which was killed since may
 * have been the answer. */
static void check_interrupt(void)
{
	for (unsigned int i = 0; i < sim.nthreads; i++)
		if (sim.thread[i].killed)
			return;
	sim_check(!sim.interrupt_is_open ||
			  sim.told_since_interrupt < STOPS_BEFORE_INTERRUPT,
		  "an interrupt is not answered");
}

void model_told(const struct stop *stop)
{
	struct sim_process *process = sim_process(stop->pid);

	sim_say("TOLD: %d %s %d", stop->tid, name_of(stop->kind), stop->signal);
	sim.told_since_interrupt++;
	if (stop->kind != STOP_NO_RESUMED) {
		sim_check(process && !process->end_told,
			  "process %d is told of, which is not there", stop->pid);
		if (stop->kind == STOP_EXITED || stop->kind == STOP_KILLED)
			told_of_end(process, stop);
		else if (stop->kind == STOP_THREAD_EXITED)
			told_of_thread_end(sim_thread(stop->tid));
		else
			told_of_thread(sim_thread(stop->tid), stop);
	}
	if (!sim.run->non_stop)
		check_all_held();
	if (!sim.run->non_stop || sim.run->stepping_over == 0)
		check_memory();
	check_interrupt();
}

/* ---- the end ---- */

static void check_signals(const struct sim_thread *thread)
{
	for (int signal = 1; signal < SIGNALS_MAX; signal++) {
		sim_check(thread->delivered[signal] == thread->raised[signal],
			  "%d was sent signal %d %u times and got it %u times",
			  thread->tid, signal, thread->raised[signal],
			  thread->delivered[signal]);
		sim_check(signal == SIGTRAP || sim.run->pass_signal[signal] ||
				  thread->told[signal] == thread->raised[signal],
			  "%d was sent signal %d %u times, told %u times", thread->tid,
			  signal, thread->raised[signal], thread->told[signal]);
	}
}

void model_ended(void)
{
	for (unsigned int i = 0; i < sim.nprocesses; i++)
		sim_check(!sim.process[i].traced || sim.process[i].end_told,
			  "the end of process %d was not told", sim.process[i].pid);
	for (unsigned int i = 0; i < sim.nthreads; i++) {
		const struct sim_thread *thread = &sim.thread[i];

		sim_check(thread->state == SIM_GONE, "%d has not ended", thread->tid);
		if (!thread->killed && thread->process->traced)
			check_signals(thread);
	}
}
