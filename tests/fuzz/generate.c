/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program is a row of actions. Each knows how many cells are on the stack, and
 * leaves the stack so that the program stays valid: paths that join are brought to
 * the same depth first. What is left at the end is mixed into the one bit that
 * decides, so that a wrong bit anywhere shows half of the time.
 */
#include "generate.h"

#include "agent/insn.h"
#include "arena.h"
#include "values.h"

enum {
	DEPTH_MAX = 40,	 /* of most programs */
	NESTING_MAX = 4, /* blocks within blocks, values within values */
	STREAM_PROGRAM = UINT32_MAX,
};

struct generator {
	struct rng rng;
	const struct roles *roles;
	struct fuzz_program *program;
	struct text *text;
	unsigned int depth;	/* cells on the stack */
	unsigned int floor;	/* ... of which these are left alone */
	unsigned int depth_max; /* no action begins above */
	unsigned int nesting;	/* blocks within blocks */
	unsigned int terms;	/* values within values */
	unsigned int actions;	/* left to do */
	bool careless;		/* may read memory that is not there */
	bool strange;		/* may read other registers */
	bool loops;		/* may jump backwards */
	uint64_t address;	/* one that it reads; 0: none */
};

static void value(struct generator *g);
static void block(struct generator *g, unsigned int actions);

static unsigned int below(struct generator *g, unsigned int n)
{
	return rng_below(&g->rng, n);
}

static bool chance(struct generator *g, unsigned int percent)
{
	return rng_chance(&g->rng, percent);
}

static unsigned int cells(const struct generator *g)
{
	return g->depth - g->floor;
}

static void op(struct generator *g, enum agent_code code, uint64_t operand)
{
	const struct agent_opcode *opcode = agent_opcode(code);

	text_op(g->text, code, operand);
	g->depth = g->depth - opcode->pops + opcode->pushes;
}

/* ---- values ---- */

/* The narrowest operation that holds it, or any wider one. */
static void constant(struct generator *g, uint64_t number)
{
	unsigned int width = number > UINT32_MAX   ? 3
			     : number > UINT16_MAX ? 2
			     : number > UINT8_MAX  ? 1
						   : 0;

	if (chance(g, 25))
		width += below(g, 4 - width);
	op(g, AGENT_CONST8 + width, number);
}

static void read_register(struct generator *g)
{
	const struct roles *roles = g->roles;

	if (g->strange && chance(g, 20)) {
		g->program->other_registers = true;
		op(g, AGENT_REG, below(g, roles->count + 2));
	} else if (chance(g, 3)) {
		op(g, AGENT_REG, roles->arch->pc_reg);
	} else {
		op(g, AGENT_REG, roles->general[below(g, roles->ngeneral)]);
	}
}

static void address_in_register(struct generator *g)
{
	op(g, AGENT_REG, g->roles->general[below(g, ROLES_POINTERS)]);
	constant(g, below(g, ARENA_MARGIN - 8));
	op(g, chance(g, 80) ? AGENT_ADD : AGENT_SUB, 0);
}

static void address_in_memory(struct generator *g)
{
	constant(g, arena_pointer_cell(&g->rng));
	op(g, AGENT_REF64, 0);
	constant(g, below(g, ARENA_MARGIN - 8));
	op(g, chance(g, 80) ? AGENT_ADD : AGENT_SUB, 0);
}

/* Of an element of an array. */
static void address_by_index(struct generator *g)
{
	value(g);
	constant(g, below(g, ARENA_MARGIN - 8));
	op(g, AGENT_BIT_AND, 0);
	constant(g, arena_pointer(&g->rng));
	op(g, AGENT_ADD, 0);
}

static void address(struct generator *g, unsigned int size)
{
	if (g->careless && chance(g, 25)) {
		g->program->other_memory = true;
		if (chance(g, 20))
			value(g);
		else
			constant(g, arena_elsewhere(&g->rng, size));
		return;
	}
	switch (below(g, 5)) {
	case 0:
		address_in_register(g);
		break;
	case 1:
		address_in_memory(g);
		break;
	case 2:
		address_by_index(g);
		break;
	default:
		g->address = arena_resident(&g->rng, size);
		constant(g, g->address);
	}
}

static void reference(struct generator *g)
{
	enum agent_code code = AGENT_REF8 + below(g, 4);

	address(g, agent_opcode(code)->size);
	op(g, code, 0);
}

/* Any operation on the top of the stack alone. */
static void unary(struct generator *g)
{
	static const uint8_t usual[] = {1, 8, 16, 32, 63, 64};
	unsigned int width =
		chance(g, 50) ? usual[below(g, sizeof(usual))] : 1 + below(g, 255);

	switch (below(g, 6)) {
	case 0:
		op(g, AGENT_LOG_NOT, 0);
		break;
	case 1:
		op(g, AGENT_BIT_NOT, 0);
		break;
	case 2:
	case 3:
		op(g, AGENT_ZERO_EXT, chance(g, 2) ? 0 : width);
		break;
	default:
		op(g, AGENT_EXT, width);
	}
}

/* Any operation on two cells. The divisor is zero in few cases. */
static void binary(struct generator *g)
{
	static const uint8_t codes[] = {
		AGENT_ADD,	    AGENT_SUB,		AGENT_MUL,
		AGENT_DIV_SIGNED,   AGENT_DIV_UNSIGNED, AGENT_REM_SIGNED,
		AGENT_REM_UNSIGNED, AGENT_LSH,		AGENT_RSH_SIGNED,
		AGENT_RSH_UNSIGNED, AGENT_BIT_AND,	AGENT_BIT_OR,
		AGENT_BIT_XOR,	    AGENT_EQUAL,	AGENT_LESS_SIGNED,
		AGENT_LESS_UNSIGNED};
	enum agent_code code = codes[below(g, sizeof(codes))];

	if (code >= AGENT_DIV_SIGNED && code <= AGENT_REM_UNSIGNED && chance(g, 98)) {
		constant(g, 1 + 2 * below(g, 8));
		op(g, AGENT_BIT_OR, 0);
	}
	op(g, code, 0);
}

/* Pushes one cell. */
static void value(struct generator *g)
{
	unsigned int kind = below(g, 100);

	g->terms++;
	if (kind < 30 || g->terms > NESTING_MAX || g->depth + 4 > AGENT_STACK_MAX) {
		read_register(g);
	} else if (kind < 50) {
		constant(g, value_random(&g->rng));
	} else if (kind < 65) {
		reference(g);
	} else if (kind < 80 && g->depth > 0) {
		op(g, AGENT_PICK, below(g, g->depth));
	} else if (kind < 90) {
		value(g);
		unary(g);
	} else {
		value(g);
		value(g);
		binary(g);
	}
	g->terms--;
}

/* Pushes what a jump may test. */
static void condition(struct generator *g)
{
	static const uint8_t codes[] = {AGENT_EQUAL, AGENT_LESS_SIGNED,
					AGENT_LESS_UNSIGNED, AGENT_BIT_AND};

	value(g);
	if (chance(g, 80)) {
		value(g);
		op(g, codes[below(g, sizeof(codes))], 0);
	}
	if (chance(g, 30))
		op(g, AGENT_LOG_NOT, 0);
}

/* ---- cells ---- */

static void shuffle(struct generator *g)
{
	switch (below(g, 5)) {
	case 0:
		if (cells(g) >= 1)
			op(g, AGENT_DUP, 0);
		break;
	case 1:
		if (cells(g) >= 2)
			op(g, AGENT_POP, 0);
		break;
	case 2:
		if (cells(g) >= 2)
			op(g, AGENT_SWAP, 0);
		break;
	case 3:
		if (g->depth >= 1)
			op(g, AGENT_PICK, below(g, g->depth));
		break;
	default:
		if (cells(g) >= 3)
			op(g, AGENT_ROT, 0);
	}
}

/* Brings the stack to a depth, not below the floor. */
static void level(struct generator *g, unsigned int depth)
{
	static const uint8_t mixers[] = {AGENT_ADD, AGENT_SUB, AGENT_BIT_XOR};

	while (g->depth < depth)
		value(g);
	while (g->depth > depth)
		if (cells(g) >= 2 && chance(g, 80))
			op(g, mixers[below(g, sizeof(mixers))], 0);
		else
			op(g, AGENT_POP, 0);
}

/* ---- jumps forward ---- */

/* if (c) { ...; } else { ...; }, where each may end the program */
static void choice(struct generator *g)
{
	unsigned int start, end;
	size_t second, join;
	bool ends;

	condition(g);
	second = text_jump(g->text, AGENT_IF_GOTO);
	start = --g->depth;
	block(g, 4);
	end = g->depth;
	ends = g->depth > 0 && chance(g, 15);
	if (ends)
		op(g, AGENT_END, 0);
	else
		join = text_jump(g->text, AGENT_GOTO);
	text_land(g->text, second);
	g->depth = start;
	block(g, 4);
	if (ends)
		return;
	level(g, end > g->floor ? end : g->floor);
	text_land(g->text, join);
}

/* if (...) leave; several times: many ways to one place, with the cells moved about */
static void escapes(struct generator *g)
{
	unsigned int count = 1 + below(g, 3), depth = g->depth;
	size_t places[3];

	for (unsigned int i = 0; i < count; i++) {
		condition(g);
		places[i] = text_jump(g->text, AGENT_IF_GOTO);
		g->depth--;
		block(g, 3);
		level(g, depth);
	}
	for (unsigned int i = 0; i < count; i++)
		text_land(g->text, places[i]);
}

/* a && b, a || b as gdb writes them: a jump around jumps, to push 1 or 0 */
static void logical(struct generator *g)
{
	bool is_or = chance(g, 50);
	size_t first, second, no, end;

	condition(g);
	if (!is_or)
		op(g, AGENT_LOG_NOT, 0);
	first = text_jump(g->text, AGENT_IF_GOTO);
	g->depth--;
	if (++g->nesting < NESTING_MAX && chance(g, 25))
		logical(g);
	else
		condition(g);
	g->nesting--;
	second = text_jump(g->text, AGENT_IF_GOTO);
	no = text_jump(g->text, AGENT_GOTO);
	text_land(g->text, second);
	if (is_or)
		text_land(g->text, first);
	text_op(g->text, AGENT_CONST8, 1);
	end = text_jump(g->text, AGENT_GOTO);
	text_land(g->text, no);
	if (!is_or)
		text_land(g->text, first);
	text_op(g->text, AGENT_CONST8, 0);
	text_land(g->text, end);
}

/* goto a; b: goto c; a: goto b; c: - one of them backwards */
static void detour(struct generator *g)
{
	size_t a = text_jump(g->text, AGENT_GOTO), b = g->text->len;
	size_t c = text_jump(g->text, AGENT_GOTO);

	text_land(g->text, a);
	text_op(g->text, AGENT_GOTO, b);
	text_land(g->text, c);
}

/* ---- loops ---- */

/* How often: pushes the counter. Few are so many that nobody goes on to the end. */
static void loop_count(struct generator *g)
{
	unsigned int kind = below(g, 100);

	if (kind < 60) {
		constant(g, 1 + below(g, 8));
	} else if (kind < 97) {
		read_register(g);
		constant(g, 7);
		op(g, AGENT_BIT_AND, 0);
		constant(g, 1);
		op(g, AGENT_ADD, 0);
	} else if (kind < 99) {
		constant(g, below(g, 2000));
	} else {
		read_register(g);
	}
}

/* What happens in a loop leaves the counter, the topmost cell, alone. */
static void loop_body(struct generator *g)
{
	unsigned int floor = g->floor, depth = g->depth;

	g->floor = depth;
	block(g, 3);
	level(g, depth);
	g->floor = floor;
}

/* n; do { ...; } while (--n); */
static void loop_down(struct generator *g)
{
	size_t start;

	loop_count(g);
	start = g->text->len;
	loop_body(g);
	constant(g, 1);
	op(g, AGENT_SUB, 0);
	op(g, AGENT_DUP, 0);
	op(g, AGENT_IF_GOTO, start);
}

/* for (i = 0; i < n; i++) { ...; } */
static void loop_up(struct generator *g)
{
	size_t start, out;

	constant(g, 0);
	start = g->text->len;
	op(g, AGENT_DUP, 0);
	constant(g, 1 + below(g, 8));
	op(g, chance(g, 50) ? AGENT_LESS_UNSIGNED : AGENT_LESS_SIGNED, 0);
	op(g, AGENT_LOG_NOT, 0);
	out = text_jump(g->text, AGENT_IF_GOTO);
	g->depth--;
	loop_body(g);
	constant(g, 1);
	op(g, AGENT_ADD, 0);
	op(g, AGENT_GOTO, start);
	text_land(g->text, out);
}

/* while (p->next && --n): along a list, each cell of which is in memory */
static void loop_chase(struct generator *g)
{
	size_t start;

	constant(g, arena_pointer_cell(&g->rng));
	constant(g, 1 + below(g, 6));
	start = g->text->len;
	op(g, AGENT_SWAP, 0);
	constant(g, 0xf8);
	op(g, AGENT_BIT_AND, 0);
	constant(g, arena_pointer(&g->rng));
	op(g, AGENT_ADD, 0);
	op(g, AGENT_REF64, 0);
	op(g, AGENT_SWAP, 0);
	constant(g, 1);
	op(g, AGENT_SUB, 0);
	op(g, AGENT_DUP, 0);
	op(g, AGENT_IF_GOTO, start);
	op(g, AGENT_POP, 0);
}

static void loop(struct generator *g)
{
	if (g->nesting >= NESTING_MAX - 1)
		return;
	switch (below(g, 4)) {
	case 0:
		loop_up(g);
		break;
	case 1:
		loop_chase(g);
		break;
	case 2:
		detour(g);
		break;
	default:
		loop_down(g);
	}
}

/* ---- programs ---- */

static void jumps(struct generator *g)
{
	switch (below(g, g->loops ? 4 : 3)) {
	case 0:
		choice(g);
		break;
	case 1:
		escapes(g);
		break;
	case 2:
		logical(g);
		break;
	default:
		loop(g);
	}
}

static void action(struct generator *g)
{
	unsigned int kind = below(g, 100);

	if (kind < 12 && g->nesting < NESTING_MAX)
		jumps(g);
	else if (cells(g) < 1 || kind < 40)
		value(g);
	else if (kind < 55)
		unary(g);
	else if (kind < 85 && cells(g) >= 2)
		binary(g);
	else
		shuffle(g);
}

/* Several actions, or few if there are not many left. */
static void block(struct generator *g, unsigned int actions)
{
	g->nesting++;
	for (unsigned int i = below(g, actions + 1); i > 0 && g->actions > 0; i--) {
		g->actions--;
		if (g->depth < g->depth_max)
			action(g);
		else
			level(g, g->depth - cells(g) / 2);
	}
	g->nesting--;
}

/* From one cell to what decides. */
static void decide(struct generator *g)
{
	unsigned int kind = below(g, 100);

	if (kind < 60) {
		constant(g, rng_next(&g->rng) | 1);
		op(g, AGENT_MUL, 0);
		constant(g, 63);
		op(g, AGENT_RSH_UNSIGNED, 0);
	} else if (kind < 75) {
		value(g);
		op(g, chance(g, 50) ? AGENT_LESS_SIGNED : AGENT_LESS_UNSIGNED, 0);
	} else if (kind < 80) {
		constant(g, UINT64_C(1) << below(g, 64));
		op(g, AGENT_BIT_AND, 0);
	} else if (kind < 86) {
		constant(g, below(g, 4));
		op(g, AGENT_BIT_AND, 0);
		constant(g, 1);
		op(g, AGENT_EQUAL, 0);
	} else if (kind < 90) {
		condition(g);
	}
	if (chance(g, 20))
		op(g, AGENT_LOG_NOT, 0);
}

static unsigned int random_length(struct generator *g)
{
	unsigned int kind = below(g, 100);

	if (kind < 60)
		return 1 + below(g, 12);
	if (kind < 93)
		return 10 + below(g, 30);
	return kind < 99 ? 40 + below(g, 60) : 100 + below(g, 300);
}

/* Traps over or near what the program reads. */
static void plant(struct generator *g)
{
	struct fuzz_program *program = g->program;

	if (g->address == 0 || !chance(g, 10))
		return;
	program->shadow_start = g->address - 8 + below(g, 16);
	program->shadow_end = program->shadow_start + 1 + below(g, 4);
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
	g.actions = random_length(&g);
	g.depth_max = deep ? AGENT_STACK_MAX - 8 : DEPTH_MAX;
	for (unsigned int i = deep ? 20 + below(&g, 70) : 1; i > 0; i--)
		read_register(&g);
	while (g.actions > 0) {
		block(&g, g.actions);
		g.actions -= g.actions > 0;
	}
	if (g.depth == 0)
		value(&g);
	level(&g, chance(&g, 90) ? 1 : 1 + below(&g, g.depth));
	decide(&g);
	op(&g, AGENT_END, 0);
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

void generate_state(uint64_t *values, const struct fuzz_program *program,
		    const struct roles *roles, uint64_t seed, uint64_t index,
		    unsigned int state)
{
	struct rng rng = rng_make(seed, index, state);

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
}
