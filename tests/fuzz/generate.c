/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program is a row of actions. What they leave is mixed into the one bit that
 * decides, so that a wrong bit anywhere shows half of the time.
 */
#include "tests/fuzz/generate.h"

#include "gdbstub/agent/insn.h"
#include "tests/fuzz/arena.h"
#include "tests/fuzz/generator.h"
#include "tests/unit/values.h"

enum {
	DEPTH_MAX = 40, /* of most programs */
	JUMPS_MAX = 6,
	STREAM_PROGRAM = UINT32_MAX,
};

static void action(struct generator *g)
{
	unsigned int kind = below(g, 100);

	if (kind < 12 && g->nesting < NESTING_MAX && g->jumps > 0)
		put_jump(g);
	else if (free_cells(g) < 1 || kind < 40)
		put_value(g);
	else if (kind < 55)
		put_unary(g);
	else if (kind < 85 && free_cells(g) >= 2)
		put_binary(g);
	else
		put_shuffle(g);
}

/* Several actions, or few if there are not many left. */
void put_block(struct generator *g, unsigned int actions)
{
	g->nesting++;
	for (unsigned int i = below(g, actions + 1); i > 0 && g->actions > 0; i--) {
		g->actions--;
		if (g->depth < g->depth_max)
			action(g);
		else
			put_level(g, g->depth - free_cells(g) / 2);
	}
	g->nesting--;
}

/* From one cell to what decides. */
static void decide(struct generator *g)
{
	unsigned int kind = below(g, 100);

	if (kind < 60) {
		put_constant(g, rng_next(&g->rng) | 1);
		put_op(g, AGENT_MUL, 0);
		put_constant(g, 63);
		put_op(g, AGENT_RSH_UNSIGNED, 0);
	} else if (kind < 75) {
		put_value(g);
		put_op(g, chance(g, 50) ? AGENT_LESS_SIGNED : AGENT_LESS_UNSIGNED, 0);
	} else if (kind < 80) {
		put_constant(g, UINT64_C(1) << below(g, 64));
		put_op(g, AGENT_BIT_AND, 0);
	} else if (kind < 86) {
		put_constant(g, below(g, 4));
		put_op(g, AGENT_BIT_AND, 0);
		put_constant(g, 1);
		put_op(g, AGENT_EQUAL, 0);
	} else if (kind < 90) {
		put_condition(g);
	}
	if (chance(g, 20))
		put_op(g, AGENT_LOG_NOT, 0);
}

static unsigned int random_length(struct generator *g)
{
	unsigned int kind = below(g, 100);

	if (kind < 65)
		return 1 + below(g, 12);
	if (kind < 95)
		return 10 + below(g, 30);
	return kind < 99 ? 40 + below(g, 60) : 100 + below(g, 200);
}

/* Traps over or near what the program reads. */
static void plant(struct generator *g)
{
	struct fuzz_program *program = g->program;
	unsigned int count = g->naddresses < FUZZ_TRAPS ? g->naddresses : FUZZ_TRAPS;

	if (!chance(g, 15))
		return;
	for (unsigned int i = 0; i < count; i++) {
		uint64_t start = g->addresses[i] - 8 + below(g, 16);

		program->traps[program->ntraps++] =
			(struct shadow_range){start, start + 1 + below(g, 4)};
	}
}

void generate_program(struct fuzz_program *program, const struct roles *roles,
		      uint64_t seed, uint64_t index)
{
	struct generator g = {
		.rng = rng_make(seed, index, STREAM_PROGRAM),
		.roles = roles,
		.program = program,
		.text = &program->text,
	};
	bool deep = rng_below(&g.rng, 200) == 0;

	fuzz_program_begin(program, roles, index % BATCH);
	g.careless = chance(&g, 20);
	g.strange = chance(&g, 10);
	g.loops = chance(&g, 15);
	g.variables = chance(&g, 10);
	g.actions = random_length(&g);
	g.jumps = 1 + below(&g, JUMPS_MAX);
	g.depth_max = deep ? AGENT_CELLS_MAX - 8 : DEPTH_MAX;
	for (unsigned int i = deep ? 20 + below(&g, 70) : 1; i > 0; i--)
		put_register(&g);
	while (g.actions > 0) {
		put_block(&g, g.actions);
		g.actions -= g.actions > 0;
	}
	if (g.depth == 0)
		put_value(&g);
	put_level(&g, chance(&g, 90) ? 1 : 1 + below(&g, g.depth));
	decide(&g);
	put_op(&g, AGENT_END, 0);
	plant(&g);
}

/* ---- registers ---- */

/* A constant of the program, so that comparisons are true once in a while. */
static uint64_t known_number(struct rng *rng, const struct fuzz_program *program)
{
	size_t at = rng_below(rng, (unsigned int)program->text.len);
	uint64_t number = 0;

	for (size_t i = at; i < at + 1 + at % 4 && i < program->text.len; i++)
		number = number << 8 | program->text.bytes[i];
	return number;
}

void generate_state(struct fuzz_state *state, const struct fuzz_program *program,
		    const struct roles *roles, uint64_t seed, uint64_t index,
		    unsigned int number)
{
	struct rng rng = rng_make(seed, index, number);
	uint64_t *values = state->registers;

	for (unsigned int i = 0; i < roles->ngeneral; i++) {
		if (i < ROLES_POINTERS)
			values[i] = arena_pointer(&rng);
		else if (rng_chance(&rng, 10))
			values[i] = values[rng_below(&rng, i)];
		else if (rng_chance(&rng, 10))
			values[i] = known_number(&rng, program);
		else
			values[i] = value_random(&rng);
	}
	for (unsigned int i = 0; i < FUZZ_VARIABLES; i++)
		state->variables[i] = value_random(&rng);
}
