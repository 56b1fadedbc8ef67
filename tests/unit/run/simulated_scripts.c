/* SPDX-License-Identifier: BSD-2-Clause */
/* What simulated processes have to execute: by chance, or so that their first events
 * come in a certain order. */
#include "tests/unit/run/simulated.h"

bool sim_must_pass(enum sim_slot slot)
{
	return sim.run->non_stop && slot >= SLOT_PLACES;
}

/* ---- random programs ---- */

struct budget {
	unsigned int clones, children;
};

static void append(struct sim_script *script, enum sim_slot slot)
{
	struct sim_op op = {
		.slot = slot,
		.value = rng_chance(&sim.rng, slot < SLOT_PLACES ? 40 : 20),
		.signal = rng_chance(&sim.rng, 50) ? SIGUSR1 : SIGUSR2,
		.copies = rng_chance(&sim.rng, 10),
	};

	if (sim_must_pass(slot))
		op.value = 0;
	script->op[script->count++] = op;
}

static void append_places(struct sim_script *script, unsigned int count)
{
	while (count-- > 0) {
		append(script, rng_below(&sim.rng, SLOT_PLACES));
		append(script, SLOT_FILL);
	}
}

/* Of what the last instruction makes. */
static void append_made(struct sim_script *script, unsigned int made)
{
	script->op[script->count - 1].script = made;
	append(script, SLOT_FILL);
}

static unsigned int make_child(void)
{
	unsigned int number = sim.nscripts++;
	struct sim_script *script = &sim.script[number];

	append_places(script, rng_below(&sim.rng, 4));
	if (rng_chance(&sim.rng, 50)) {
		append(script, SLOT_EXEC);
		append_places(script, rng_below(&sim.rng, 3));
	}
	append(script, SLOT_EXIT);
	return number;
}

static unsigned int make_thread(struct budget *budget, bool is_main, bool waits);

static void append_any(struct sim_script *script, struct budget *budget)
{
	unsigned int what = rng_below(&sim.rng, 10);

	if (what == 0 && budget->clones > 0) {
		budget->clones--;
		append(script, SLOT_CLONE);
		append_made(script, make_thread(budget, false, true));
	} else if (what <= 2 && budget->children > 0) {
		budget->children--;
		append(script, what == 1 ? SLOT_FORK : SLOT_VFORK);
		append_made(script, make_child());
	} else if (what == 3) {
		append(script, SLOT_RAISE);
		append(script, SLOT_FILL);
	} else {
		append_places(script, 1);
	}
}

static unsigned int make_thread(struct budget *budget, bool is_main, bool waits)
{
	unsigned int number = sim.nscripts++;
	struct sim_script *script = &sim.script[number];

	for (unsigned int i = rng_below(&sim.rng, 8); i > 0; i--)
		append_any(script, budget);
	if (waits)
		append(script, is_main ? SLOT_JOIN : SLOT_END_THREAD);
	if (is_main)
		append(script, SLOT_EXIT);
	return number;
}

struct sim_process *sim_make_random(void)
{
	bool waits = rng_chance(&sim.rng, 70);
	struct budget budget = {.clones = 3, .children = 3};
	struct sim_process *process = sim_process_add(sim_space_add(NULL), true);
	unsigned int others = rng_below(&sim.rng, 4);

	/* Of two children in the memory of a process that was killed, one cannot be let
	 * go exactly: nobody tells when it has left the memory to the other one. */
	sim.kills = rng_chance(&sim.rng, 10);
	if (sim.kills || !waits)
		budget.children = 1;
	sim_thread_add(process, process->pid, make_thread(&budget, true, waits));
	while (others-- > 0)
		sim_thread_add(process, 0, make_thread(&budget, false, true));
	sim.signals_left = rng_below(&sim.rng, 3);
	return process;
}

/* ---- systematic ones ---- */

enum first_event {
	TRUE_HIT,
	FALSE_HIT,
	SIGNAL,
	CLONE,
	CHILD,
	THREAD_END,
	INTERRUPT,
};

/* All hits are at one place. */
static void append_first(struct sim_script *script, enum first_event first,
			 unsigned int number, unsigned int thread, unsigned int child)
{
	static const enum sim_slot slots[SIM_KINDS] = {
		[TRUE_HIT] = 0,	       [FALSE_HIT] = 0,
		[SIGNAL] = SLOT_RAISE, [CLONE] = SLOT_CLONE,
		[CHILD] = SLOT_VFORK,  [THREAD_END] = SLOT_END_THREAD,
		[INTERRUPT] = 1,
	};
	struct sim_op op = {
		.slot = slots[first],
		.value = first == TRUE_HIT,
		.signal = SIGUSR1,
		.script = first == CLONE ? thread : child,
	};

	if (first == CHILD && number % 5 == 0)
		op.slot = SLOT_FORK;
	script->op[script->count++] = op;
	append(script, SLOT_FILL);
	append_places(script, 2);
	append(script, SLOT_END_THREAD);
}

struct sim_process *sim_make_systematic(unsigned int number)
{
	struct sim_process *process = sim_process_add(sim_space_add(NULL), true);
	unsigned int child = make_child(), thread = sim.nscripts++;
	struct sim_script *main_script = &sim.script[sim.nscripts++];

	append_places(&sim.script[thread], 1);
	append(&sim.script[thread], SLOT_END_THREAD);
	append(main_script, SLOT_JOIN);
	append(main_script, SLOT_EXIT);
	sim_thread_add(process, process->pid, thread + 1);
	for (unsigned int rest = number; sim.nplanned < SIM_PLANNED;
	     rest /= SIM_KINDS) {
		unsigned int script = sim.nscripts++;
		struct sim_thread *made = sim_thread_add(process, 0, script);

		append_first(&sim.script[script], rest % SIM_KINDS, number, thread,
			     child);
		sim.plan[sim.nplanned++] =
			rest % SIM_KINDS == INTERRUPT ? 0 : made->tid;
	}
	return process;
}
