/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run control is told events of simulated processes (simulated.h) in thousands of
 * orders, and what it tells a client is compared with what the events mean.
 *
 * EVENTS_ORDER=N runs the order N alone and prints it.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/stops/client_view.h"
#include "gdbstub/run/interrupt.h"
#include "gdbstub/run/lifetimes.h"
#include "gdbstub/run/nonstop.h"
#include "tests/unit/expr.h"
#include "tests/unit/run/simulated.h"

enum {
	SEED = 20261126,
	RANDOM_ORDERS = 10000,
	NON_STOP = 100000, /* the first number of such an order */
	SYSTEMATIC = 200000,
	POLLS_MAX = 5000,
	ROUNDS_MAX = 2000,
};

static struct run run;
static struct agent_expr *condition;

/* ---- breakpoints ---- */

static void insert(const struct inferior *inferior, enum sim_slot slot,
		   bool conditional)
{
	struct sim_space *space = sim_process(inferior->pid)->space;
	struct agent_list conditions = {&condition, conditional ? 1 : 0};
	struct error *error = breakpoints_insert(
		inferior->breakpoints, BREAKPOINT_SOFTWARE, sim_address(slot),
		arch_native()->breakpoint_len, &conditions, NULL);

	/* It may have ended, and the client does not know yet. */
	sim_check(!error || sim_process(inferior->pid)->ends, "%s",
		  error ? error_text(error) : "");
	error_destroy(error);
	if (error)
		return;
	space->wanted[slot] = space->changed = true;
	space->conditional[slot] = conditional;
	sim_say("CLIENT inserts %u in %d%s", slot, inferior->pid,
		conditional ? ", conditional" : "");
}

static void take_out(const struct inferior *inferior, enum sim_slot slot)
{
	struct sim_space *space = sim_process(inferior->pid)->space;

	breakpoints_remove(inferior->breakpoints, BREAKPOINT_SOFTWARE,
			   sim_address(slot), arch_native()->breakpoint_len);
	space->wanted[slot] = false;
	space->changed = true;
	sim_say("CLIENT removes %u from %d", slot, inferior->pid);
}

static bool may_have_breakpoint(enum sim_slot slot)
{
	return slot != SLOT_FILL && slot != SLOT_JOIN;
}

static void insert_some(const struct inferior *inferior, unsigned int percent)
{
	const struct sim_space *space = sim_process(inferior->pid)->space;

	for (unsigned int slot = 0; slot < SIM_SLOTS; slot++) {
		bool conditional = sim_must_pass(slot) || rng_chance(&sim.rng, 70);

		if (may_have_breakpoint(slot) && !space->wanted[slot] &&
		    rng_chance(&sim.rng, percent))
			insert(inferior, slot, conditional);
	}
}

/* gdb inserts in a new process what it has inserted in its parent. */
static void insert_as_in(const struct inferior *child, const struct sim_space *model)
{
	const struct sim_space *space = sim_process(child->pid)->space;

	if (space == model)
		return;
	for (unsigned int slot = 0; slot < SIM_SLOTS; slot++) {
		if (model->wanted[slot])
			insert(child, slot, model->conditional[slot]);
		else if (space->wanted[slot])
			take_out(child, slot);
	}
}

/* ---- what the client does ---- */

static void interrupt(void)
{
	sim_say("CLIENT interrupts");
	sim.interrupts++;
	if (!sim.interrupt_is_open)
		sim.told_since_interrupt = 0;
	sim.interrupt_is_open = true;
	run_interrupt(&run);
}

static void set_action(struct thread *thread, enum resume_kind kind)
{
	struct sim_thread *known = sim_thread(thread->tid);
	struct resume_action action = {.kind = kind, .signal = known->passes};

	if (kind == RESUME_NONE) {
		run_set_action(&run, thread, (struct resume_action){0});
		return;
	}
	sim_say("CLIENT: %s %d, signal %d", kind == RESUME_STEP ? "step" : "continue",
		thread->tid, action.signal);
	/* Where it is no longer stepped, nobody waits for the end of the step. */
	if (kind == RESUME_CONTINUE && known->due.signal == SIGTRAP &&
	    known->due.may_be_dropped)
		known->due = (struct sim_due){0};
	known->passes = 0;
	known->asked_for = kind;
	known->step_began_at = known->executed;
	run_set_action(&run, thread, action);
}

static bool is_known(const struct thread *thread)
{
	return !thread->inferior->control->hidden && !thread->control->hidden;
}

static bool any_ends(void)
{
	for (unsigned int i = 0; i < sim.nprocesses; i++)
		if (sim.process[i].ends && !sim.process[i].end_told)
			return true;
	return false;
}

/* False: a process is about to end, whose breakpoints cannot be put in place. */
static bool resume(void)
{
	_cleanup_error_ struct error *error = run_resume(&run);

	sim_check(!error || any_ends(), "%s", error ? error_text(error) : "");
	return !error;
}

/* One thread has an action of its own. */
static bool resume_all(pid_t chosen, enum resume_kind own, enum resume_kind others)
{
	struct inferior *inferior;
	struct thread *thread;

	TAILQ_FOREACH (inferior, &run.inferiors.list, link)
		TAILQ_FOREACH (thread, &inferior->threads, link)
			if (is_known(thread))
				set_action(thread,
					   thread->tid == chosen ? own : others);
	return resume();
}

/* Has the client been told of a breakpoint here, which it has to get past? */
static bool is_at_breakpoint(const struct thread *thread)
{
	const struct sim_thread *known = sim_thread(thread->tid);

	return known->hit_told && known->process->space->wanted[sim_op_of(known)->slot];
}

static void execute_elsewhere(struct thread *thread)
{
	const struct sim_op *op = sim_op_of(sim_thread(thread->tid));

	sim_say("CLIENT has %d execute %u elsewhere", thread->tid, op->slot);
	thread_set_pc(thread, sim_address(op[1].slot));
}

static struct thread *first_at_breakpoint(void)
{
	struct inferior *inferior;
	struct thread *thread;

	TAILQ_FOREACH (inferior, &run.inferiors.list, link)
		TAILQ_FOREACH (thread, &inferior->threads, link)
			if (!inferior->control->pending_stop &&
			    is_at_breakpoint(thread))
				return thread;
	return NULL;
}

/* One that can be stepped by itself, or 0. */
static pid_t any_to_step(void)
{
	struct sim_thread *thread = &sim.thread[rng_below(&sim.rng, sim.nthreads)];
	const struct thread *known = thread_find(&run.inferiors, thread->tid);

	return thread->state == SIM_HELD && thread->process->traced && known &&
			       is_known(known) && !thread->vfork_child &&
			       sim_op_of(thread)->slot != SLOT_JOIN
		       ? thread->tid
		       : 0;
}

/* ---- stops ---- */

/* It may have been killed, of which nobody is told then. */
static void detach(struct inferior *inferior)
{
	struct sim_process *process = sim_process(inferior->pid);

	run_detach(&run, inferior, 0);
	process->end_told = process->ends;
}

static void on_stop(const struct stop *stop)
{
	struct inferior *child = inferior_find(&run.inferiors, stop->child);

	model_told(stop);
	if (child && child->pid == stop->child &&
	    (stop->kind == STOP_FORK || stop->kind == STOP_VFORK)) {
		insert_as_in(child, sim_process(stop->pid)->space);
		if (rng_chance(&sim.rng, 50))
			detach(child);
	}
	if (stop->kind == STOP_EXEC)
		insert_some(inferior_find(&run.inferiors, stop->pid), 30);
}

/* The user may interrupt whenever run control waits for events. */
static bool poll(struct stop *stop)
{
	if (run_poll(&run, stop))
		return true;
	sim.now_ms += 5;
	if (sim.plan_interrupts || (sim.nplanned == 0 && rng_chance(&sim.rng, 1)))
		interrupt();
	sim.plan_interrupts = sim.plan_waits = false;
	return false;
}

static struct stop wait_stop(void)
{
	struct stop stop = {0};

	for (int i = 0; i < POLLS_MAX; i++)
		if (poll(&stop)) {
			on_stop(&stop);
			return stop;
		}
	sim_fail("no stop comes");
}

/* One of the processes that are in this memory. NULL: none has it any longer. */
static const struct inferior *any_in(const struct sim_space *space)
{
	const struct inferior *inferior;

	TAILQ_FOREACH (inferior, &run.inferiors.list, link)
		if (!inferior->control->pending_stop && !inferior->control->hidden &&
		    sim_process(inferior->pid)->space == space)
			return inferior;
	return NULL;
}

/* As gdb does it: without the breakpoint, one thread alone. */
static void step_off(struct thread *thread)
{
	const struct sim_op *op = sim_op_of(sim_thread(thread->tid));
	const struct sim_space *space = sim_process(thread->inferior->pid)->space;
	bool conditional = space->conditional[op->slot];
	const struct inferior *inferior;

	if (op->slot < SLOT_PLACES && rng_chance(&sim.rng, 30)) {
		execute_elsewhere(thread);
		return;
	}
	take_out(thread->inferior, op->slot);
	if (resume_all(thread->tid, RESUME_STEP, RESUME_NONE))
		wait_stop();
	inferior = any_in(space);
	if (inferior)
		insert(inferior, op->slot, conditional);
}

/* ---- sessions ---- */

/* A thread whose vfork child the client has let go. gdb resumes only this one until it
 * is told that the child is done. 0: there is none. */
static pid_t waits_for_vfork(void)
{
	for (unsigned int i = 0; i < sim.nthreads; i++) {
		const struct sim_thread *thread = &sim.thread[i];
		const struct thread *known = thread_find(&run.inferiors, thread->tid);

		if (run.wishes.vfork && known && thread->vfork_child &&
		    !thread->vfork_child->traced &&
		    !known->inferior->control->pending_stop)
			return thread->tid;
	}
	return 0;
}

static void all_stop_round(void)
{
	struct thread *thread = first_at_breakpoint();
	pid_t stepped = rng_chance(&sim.rng, 15) ? any_to_step() : 0;
	pid_t waiting = waits_for_vfork();
	bool alone = stepped && rng_chance(&sim.rng, 50), goes_on;

	if (sim.plan_interrupts)
		interrupt();
	sim.plan_interrupts = false;
	if (thread && !waiting) {
		step_off(thread);
		return;
	}
	if (rng_chance(&sim.rng, 10))
		insert_some(TAILQ_FIRST(&run.inferiors.list), 15);
	if (waiting)
		goes_on = resume_all(waiting, RESUME_CONTINUE, RESUME_NONE);
	else
		goes_on = resume_all(stepped, RESUME_STEP,
				     alone ? RESUME_NONE : RESUME_CONTINUE);
	if (goes_on)
		wait_stop();
}

/* The client lets some of those run that it knows to be stopped. */
static void resume_some(void)
{
	struct inferior *inferior;
	struct thread *thread;

	TAILQ_FOREACH (inferior, &run.inferiors.list, link) {
		TAILQ_FOREACH (thread, &inferior->threads, link) {
			bool steps = any_to_step() == thread->tid;

			if (thread->control->action.kind != RESUME_NONE ||
			    !client_view_is_right(&run, thread) ||
			    rng_chance(&sim.rng, 50))
				continue;
			if (!inferior->control->pending_stop &&
			    is_at_breakpoint(thread))
				execute_elsewhere(thread);
			set_action(thread, steps ? RESUME_STEP : RESUME_CONTINUE);
		}
	}
	resume();
}

static void request_stop(void)
{
	pid_t tid = sim.thread[rng_below(&sim.rng, sim.nthreads)].tid;
	struct thread *thread = thread_find(&run.inferiors, tid);

	if (!thread || !client_view_is_right(&run, thread) ||
	    thread->control->action.kind == RESUME_NONE)
		return;
	sim_say("CLIENT asks %d to stop", tid);
	sim.requests++;
	run_set_action(&run, thread, (struct resume_action){.kind = RESUME_STOP});
	resume();
}

static void non_stop_round(void)
{
	struct stop stop;

	for (int i = 0; i < 3; i++)
		if (poll(&stop))
			on_stop(&stop);
	if (rng_chance(&sim.rng, 60))
		client_view_acknowledge(&run);
	if (rng_chance(&sim.rng, 40))
		resume_some();
	if (rng_chance(&sim.rng, 3))
		request_stop();
	if (rng_chance(&sim.rng, 3) && !TAILQ_EMPTY(&run.inferiors.list))
		insert_some(TAILQ_FIRST(&run.inferiors.list), 20);
}

static void let_others_end(void)
{
	for (int i = 0; i < POLLS_MAX && sim_tick(); i++)
		;
	model_ended();
}

static void run_session(bool non_stop)
{
	for (int i = 0; i < ROUNDS_MAX; i++) {
		if (TAILQ_EMPTY(&run.inferiors.list)) {
			let_others_end();
			return;
		}
		if (non_stop)
			non_stop_round();
		else
			all_stop_round();
	}
	sim_fail("the process does not come to its end");
}

/* ---- orders ---- */

static void print_nothing(void *data, const char *text, size_t len)
{
	(void)data;
	(void)text;
	(void)len;
}

static void set_up_run(bool non_stop)
{
	struct engine *int3 = &run.engines.engine[ENGINE_INT3];

	run_init(&run);
	run.output.print = run.own_output.print = print_nothing;
	error_destroy(take_ptr(int3->unusable));
	run.wishes.no_resumed = true;
	run.pass_signal[SIGALRM] = true;
	run_set_non_stop(&run, non_stop);
}

static void choose_wishes(void)
{
	bool follows = rng_chance(&sim.rng, 40);

	run.wishes.fork = run.wishes.vfork = follows;
	run.wishes.thread_events = rng_chance(&sim.rng, 20);
}

static void attach(struct sim_process *process)
{
	struct inferior *inferior;
	struct error *error;
	bool non_stop = run.non_stop;

	sim_offer(process);
	run.non_stop = false; /* there are no breakpoints yet */
	error = run_attach(&run, process->pid, &inferior);
	sim_check(!error, "%s", error ? error_text(error) : "");
	run.non_stop = non_stop;
	if (sim.nplanned == 0) {
		insert_some(inferior, 40);
		return;
	}
	insert(inferior, 0, true);
	insert(inferior, 1, true);
}

static void run_order(unsigned int number)
{
	bool systematic = number >= SYSTEMATIC;
	bool non_stop = number >= NON_STOP && !systematic;

	sim_begin(number, rng_make(SEED, number, 0), &run);
	sim_say("ORDER %u", number);
	set_up_run(non_stop);
	condition = EXPR(REG(0), AGENT_END);
	if (!systematic)
		choose_wishes();
	attach(systematic ? sim_make_systematic(number - SYSTEMATIC)
			  : sim_make_random());
	run_session(non_stop);
	run_deinit(&run);
	agent_expr_unref(condition);
}

static void run_orders(unsigned int first, unsigned int count)
{
	const char *chosen = getenv("EVENTS_ORDER");
	unsigned int number = chosen ? (unsigned int)strtoul(chosen, NULL, 10) : 0;

	cr_assert_null(arch_native()->init());
	sim.trace = chosen != NULL;
	if (chosen && (number < first || number >= first + count))
		return;
	for (unsigned int i = first; i < first + count; i++)
		if (!chosen || i == number)
			run_order(i);
}

TestSuite(events, .timeout = 300);

Test(events, all_stop)
{
	run_orders(0, RANDOM_ORDERS);
}

Test(events, non_stop)
{
	run_orders(NON_STOP, RANDOM_ORDERS);
}

Test(events, every_order_of_four)
{
	run_orders(SYSTEMATIC, SIM_SYSTEMATIC);
}
