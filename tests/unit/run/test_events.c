/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run control against a model of what is to be told, on a simulated process
 * (tests/unit/run/simulated.h) whose events come in thousands of orders.
 *
 *   EVENTS_ORDER=N  only that one, with a line for each thing that happens
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/run/halt.h"
#include "gdbstub/run/interrupt.h"
#include "gdbstub/run/lifetimes.h"
#include "gdbstub/run/nonstop.h"
#include "gdbstub/run/run.h"
#include "gdbstub/stops/client_view.h"
#include "tests/unit/expr.h"
#include "tests/unit/run/simulated.h"

enum {
	SEED = 20,
	RANDOM_ORDERS = 10000, /* of each mode */
	FIRST_NONSTOP = RANDOM_ORDERS,
	FIRST_SCRIPTED = 2 * RANDOM_ORDERS,
	SCRIPTED_ORDERS =
		SCRIPTED_DEEDS * SCRIPTED_DEEDS * SCRIPTED_DEEDS * SCRIPTED_DEEDS,
	STOPS_MAX = 1000,
	POLLS_MAX = 5000,
};

static struct run run;
static unsigned int
	interrupts; /* that the client has sent, less those it was told of */

/* ---- the client's requests ---- */

static struct inferior *inferior_of_client(void)
{
	return TAILQ_FIRST(&run.inferiors.list);
}

static void insert(unsigned int place)
{
	struct agent_expr *condition =
		EXPR(REG(SIM_REGISTER), CONST8(1), AGENT_EQUAL, AGENT_END);
	const struct agent_list conditions = {&condition, 1};
	struct error *error;

	sim_set_wanted(place, true);
	error = breakpoints_insert(inferior_of_client()->breakpoints,
				   BREAKPOINT_SOFTWARE, sim_place(place), 1,
				   &conditions, NULL);
	if (error)
		sim_fail("place %u: %s", place, error_text(error));
	error_destroy(error);
	agent_expr_unref(condition);
}

static void drop(unsigned int place)
{
	sim_set_wanted(place, false);
	breakpoints_remove(inferior_of_client()->breakpoints, BREAKPOINT_SOFTWARE,
			   sim_place(place), 1);
}

static void resume(void)
{
	struct error *error = run_resume(&run);

	if (error)
		sim_fail("resume: %s", error_text(error));
	error_destroy(error);
}

static void set_action(pid_t tid, enum resume_kind kind, int signal)
{
	struct thread *thread = thread_find(&run.inferiors, tid);

	if (thread)
		run_set_action(&run, thread,
			       (struct resume_action){.kind = kind, .signal = signal});
}

/* Gives @tid the signal. */
static void continue_all(pid_t tid, int signal)
{
	struct thread *thread;

	sim_print("client: continue");
	FOREACH_THREAD (thread, inferior_of_client())
		set_action(thread->tid, RESUME_CONTINUE,
			   thread->tid == tid ? signal : 0);
	resume();
}

static void interrupt(void)
{
	sim_print("client: interrupt");
	interrupts++;
	run_interrupt(&run);
}

/* False: nothing is told, or something was wrong. */
static bool wait_for(struct stop *stop)
{
	for (int i = 0; i < POLLS_MAX && sim.failure[0] == '\0'; i++) {
		if (run_poll(&run, stop))
			return true;
	}
	sim_fail("nothing is told");
	return false;
}

/* ---- what is told ---- */

static void check_halt(void)
{
	for (int i = 0; i < SIM_THREADS; i++) {
		const struct sim_thread *thread = &sim.thread[i];

		if (thread->tid != 0 && thread->runs && !thread->waits)
			sim_fail("thread %d runs when a stop is told", thread->tid);
	}
	if (halt_has_work(&run))
		sim_fail("a stop is told before the work of the halt is done");
	if (!sim_is_lent() && sim_is_lifted())
		sim_fail("a stop is told while traps are away");
}

static void check_hit(const struct stop *stop)
{
	struct sim_thread *thread = sim_find(stop->tid);

	if (!thread || thread->place == NO_PLACE ||
	    thread->pc != sim_place(thread->place))
		sim_fail("a hit of %d is told, which is elsewhere", stop->tid);
	else if (!thread->value)
		sim_fail("a false hit of %d is told", stop->tid);
	else if (++thread->told > 1 && thread->epoch == sim.epoch[thread->place])
		sim_fail("a hit of %d is told again", stop->tid);
}

static void check_signal(const struct stop *stop, pid_t stepped)
{
	const struct sim_thread *thread = sim_find(stop->tid);

	if (stop->signal == SIGINT) {
		if (interrupts == 0)
			sim_fail("an interrupt is told that nobody has sent");
		else
			interrupts--;
	} else if (stop->signal == SIGTRAP) {
		if (stop->tid != stepped)
			sim_fail("the end of a step is told that nobody has asked for");
	} else if (stop->signal == 0) {
		if (!run.non_stop)
			sim_fail("a stop without a reason is told");
	} else if (stop->signal != SIGNAL_TOLD || !thread ||
		   thread->raised == thread->delivered) {
		sim_fail("signal %d is told, which %d has not got", stop->signal,
			 stop->tid);
	}
}

/* @stepped: the thread that makes a step for the client, or 0. */
static void check_told(const struct stop *stop, pid_t stepped)
{
	sim_print("client: is told %d of %d, signal %d", stop->kind, stop->tid,
		  stop->signal);
	switch (stop->kind) {
	case STOP_SWBREAK:
		check_hit(stop);
		break;
	case STOP_SIGNAL:
		check_signal(stop, stepped);
		break;
	case STOP_EXITED:
	case STOP_KILLED:
		if (!sim.ended || !TAILQ_EMPTY(&run.inferiors.list))
			sim_fail("an end is told before it comes");
		return;
	default:
		sim_fail("a stop of kind %d is told", stop->kind);
		break;
	}
	if (!run.non_stop)
		check_halt();
}

static bool is_end(const struct stop *stop)
{
	return stop->kind == STOP_EXITED || stop->kind == STOP_KILLED;
}

static int signal_of(const struct stop *stop)
{
	return stop->kind == STOP_SIGNAL && stop->signal == SIGNAL_TOLD ? stop->signal
									: 0;
}

/* ---- all-stop mode ---- */

static void step(pid_t tid)
{
	struct thread *thread;

	sim_print("client: step %d", tid);
	FOREACH_THREAD (thread, inferior_of_client())
		set_action(thread->tid, RESUME_NONE, 0);
	set_action(tid, RESUME_STEP, 0);
	resume();
}

/* As gdb does it: without breakpoints, the thread makes a step alone. */
static void step_off(struct stop *stop)
{
	const pid_t tid = stop->tid;
	bool wanted[PLACES];

	for (unsigned int i = 0; i < PLACES; i++) {
		wanted[i] = sim.wanted[i];
		if (wanted[i])
			drop(i);
	}
	/* An interrupt may be told first. */
	do {
		step(tid);
		if (!wait_for(stop))
			return;
		check_told(stop, tid);
	} while (!is_end(stop) && stop->signal == SIGINT);
	for (unsigned int i = 0; i < PLACES && !is_end(stop); i++) {
		if (wanted[i])
			insert(i);
	}
}

static void go_off(struct stop *stop)
{
	struct sim_thread *thread = sim_find(stop->tid);

	if (stop->kind != STOP_SWBREAK || sim.failure[0] != '\0')
		return;
	if (rng_chance(&sim.rng, 50))
		sim_pass(thread);
	else
		step_off(stop);
}

static void change_breakpoints(void)
{
	unsigned int place = rng_below(&sim.rng, PLACES);

	if (!rng_chance(&sim.rng, 20))
		return;
	if (sim.wanted[place])
		drop(place);
	else
		insert(place);
}

static void play_all_stop(void)
{
	struct stop stop = {0};

	for (int i = 0; i < STOPS_MAX && sim.failure[0] == '\0'; i++) {
		change_breakpoints();
		continue_all(stop.tid, signal_of(&stop));
		if (rng_chance(&sim.rng, 10))
			interrupt();
		if (!wait_for(&stop))
			return;
		check_told(&stop, 0);
		go_off(&stop);
		if (is_end(&stop))
			return;
	}
	sim_fail("the process does not end");
}

/* ---- non-stop mode ---- */

static void change_breakpoints_meanwhile(void)
{
	struct error *error;

	run_pause(&run);
	change_breakpoints();
	error = run_unpause(&run);
	if (error)
		sim_fail("breakpoints: %s", error_text(error));
	error_destroy(error);
}

/* vCont;t */
static void ask_to_stop(void)
{
	const struct sim_thread *thread = &sim.thread[rng_below(&sim.rng, SIM_THREADS)];

	if (thread->tid == 0 || !rng_chance(&sim.rng, 10))
		return;
	sim_print("client: stop %d", thread->tid);
	set_action(thread->tid, RESUME_STOP, 0);
	resume();
}

static void answer(const struct stop *stop)
{
	struct sim_thread *thread = sim_find(stop->tid);

	client_view_acknowledge(&run);
	if (stop->kind == STOP_SWBREAK && thread && thread->place != NO_PLACE)
		sim_pass(thread);
	sim_print("client: continue %d", stop->tid);
	set_action(stop->tid, RESUME_CONTINUE, signal_of(stop));
	resume();
}

static void play_nonstop(void)
{
	struct stop stop = {0};

	change_breakpoints_meanwhile();
	continue_all(0, 0);
	for (int i = 0; i < STOPS_MAX && sim.failure[0] == '\0'; i++) {
		if (rng_chance(&sim.rng, 5))
			interrupt();
		ask_to_stop();
		if (!wait_for(&stop))
			return;
		check_told(&stop, 0);
		if (is_end(&stop))
			return;
		change_breakpoints_meanwhile();
		answer(&stop);
	}
	sim_fail("the process does not end");
}

/* ---- orders ---- */

/* What the server says of late threads. */
static void say_nothing(void *data, const char *text, size_t len)
{
	(void)data;
	(void)text;
	(void)len;
}

static void begin(uint64_t order, bool non_stop)
{
	struct engine *engine = &run.engines.engine[ENGINE_INT3];
	struct inferior *inferior;

	sim_begin(SEED, order, 1 + rng_below(&(struct rng){order}, 3));
	interrupts = 0;
	run_init(&run);
	error_destroy(engine->unusable);
	engine->unusable = engine->ops->probe(engine);
	run.output.print = say_nothing;
	run.pass_signal[SIGNAL_PASSED] = true;
	cr_assert_null(run_launch(&run, &(struct launch_options){0}, &inferior));
	run_set_non_stop(&run, non_stop);
	for (unsigned int i = 0; i < PLACES; i++) {
		if (rng_chance(&sim.rng, 75))
			insert(i);
	}
}

static void play(uint64_t order, bool non_stop)
{
	const char *one = getenv("EVENTS_ORDER");

	if (one && strtoull(one, NULL, 10) != order)
		return;
	sim.prints = one;
	begin(order, non_stop);
	if (order >= FIRST_SCRIPTED) {
		uint64_t rest = order - FIRST_SCRIPTED;

		sim.scripted = 4;
		for (int i = 0; i < 4; i++, rest /= SCRIPTED_DEEDS)
			sim.script[i] = (enum deed)(rest % SCRIPTED_DEEDS);
	}
	if (non_stop)
		play_nonstop();
	else
		play_all_stop();
	cr_assert_str_empty(sim.failure, "order %llu: %s", (unsigned long long)order,
			    sim.failure);
	run_deinit(&run);
}

static void set_up(void)
{
	cr_assert_null(arch_native()->init());
}

TestSuite(events, .init = set_up, .timeout = 600);

Test(events, any_order_in_all_stop_mode)
{
	for (uint64_t order = 0; order < RANDOM_ORDERS; order++)
		play(order, false);
}

Test(events, any_order_in_non_stop_mode)
{
	for (uint64_t order = FIRST_NONSTOP; order < FIRST_SCRIPTED; order++)
		play(order, true);
}

Test(events, every_order_of_four)
{
	for (uint64_t order = 0; order < SCRIPTED_ORDERS; order++)
		play(FIRST_SCRIPTED + order, false);
}
