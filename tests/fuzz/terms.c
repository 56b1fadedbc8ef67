/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/generator.h"

#include "gdbstub/agent/insn.h"
#include "tests/fuzz/arena.h"
#include "tests/unit/values.h"

/* ---- values ---- */

void put_op(struct generator *g, enum agent_code code, uint64_t operand)
{
	const struct agent_opcode *opcode = agent_opcode(code);

	text_op(g->text, code, operand);
	g->depth = g->depth - opcode->pops + opcode->pushes;
}

/* The narrowest operation that holds it, or any wider one. */
void put_constant(struct generator *g, uint64_t number)
{
	unsigned int width = number > UINT32_MAX   ? 3
			     : number > UINT16_MAX ? 2
			     : number > UINT8_MAX  ? 1
						   : 0;

	if (chance(g, 25))
		width += below(g, 4 - width);
	put_op(g, AGENT_CONST8 + width, number);
}

void put_register(struct generator *g)
{
	const struct roles *roles = g->roles;

	if (g->strange && chance(g, 20)) {
		g->program->other_registers = true;
		put_op(g, AGENT_REG, below(g, roles->count + 2));
	} else if (chance(g, 3)) {
		put_op(g, AGENT_REG, roles->arch->pc_reg);
	} else if (chance(g, 1)) {
		put_op(g, AGENT_REG, AGENT_REG_THREAD);
	} else {
		put_op(g, AGENT_REG, roles->general[below(g, roles->ngeneral)]);
	}
}

/* The number of one. All exist: one that does not makes a maybe of the whole batch. */
static unsigned int variable(struct generator *g)
{
	g->program->variables = true;
	return 1 + below(g, FUZZ_VARIABLES);
}

static void address_in_register(struct generator *g)
{
	put_op(g, AGENT_REG, g->roles->general[below(g, ROLES_POINTERS)]);
	put_constant(g, below(g, ARENA_MARGIN - 8));
	put_op(g, chance(g, 80) ? AGENT_ADD : AGENT_SUB, 0);
}

static void address_in_memory(struct generator *g)
{
	put_constant(g, arena_pointer_cell(&g->rng));
	put_op(g, AGENT_REF64, 0);
	put_constant(g, below(g, ARENA_MARGIN - 8));
	put_op(g, chance(g, 80) ? AGENT_ADD : AGENT_SUB, 0);
}

/* Of an element of an array. */
static void address_by_index(struct generator *g)
{
	put_value(g);
	put_constant(g, below(g, ARENA_MARGIN - 8));
	put_op(g, AGENT_BIT_AND, 0);
	put_constant(g, arena_pointer(&g->rng));
	put_op(g, AGENT_ADD, 0);
}

/* Of a variable, as it were: traps may be planted there. */
static void put_known_address(struct generator *g, unsigned int size)
{
	uint64_t address = arena_resident(&g->rng, size);

	g->addresses[g->naddresses++ % FUZZ_TRAPS] = address;
	put_constant(g, address);
}

static void put_address(struct generator *g, unsigned int size)
{
	if (g->careless && chance(g, 25)) {
		g->program->other_memory = true;
		if (chance(g, 20))
			put_value(g);
		else
			put_constant(g, arena_elsewhere(&g->rng, size));
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
		put_known_address(g, size);
	}
}

static void reference(struct generator *g)
{
	enum agent_code code = AGENT_REF8 + below(g, 4);

	put_address(g, agent_opcode(code)->size);
	put_op(g, code, 0);
}

static void put_extension(struct generator *g, unsigned int width)
{
	put_op(g, chance(g, 50) ? AGENT_EXT : AGENT_ZERO_EXT, width ? width : 1);
}

/* An extension, and one after a shift, which may do nothing any more. */
static void put_bit_field(struct generator *g)
{
	unsigned int width = 2 + below(g, 63), count = below(g, width);

	put_extension(g, width);
	put_constant(g, count);
	put_op(g, chance(g, 50) ? AGENT_RSH_SIGNED : AGENT_RSH_UNSIGNED, 0);
	put_extension(g, width - count + below(g, 3) - 1);
}

/* Any operation on the top of the stack alone. */
void put_unary(struct generator *g)
{
	static const uint8_t usual[] = {1, 8, 16, 32, 63, 64};
	unsigned int width =
		chance(g, 50) ? usual[below(g, sizeof(usual))] : 1 + below(g, 255);

	if (g->variables && chance(g, 25)) {
		put_op(g, AGENT_SETV, variable(g));
		return;
	}
	switch (below(g, 7)) {
	case 6:
		put_bit_field(g);
		break;
	case 0:
		put_op(g, AGENT_LOG_NOT, 0);
		break;
	case 1:
		put_op(g, AGENT_BIT_NOT, 0);
		break;
	case 2:
	case 3:
		put_op(g, AGENT_ZERO_EXT, chance(g, 2) ? 0 : width);
		break;
	default:
		put_op(g, AGENT_EXT, width);
	}
}

/* Any operation on two cells. The divisor is zero in few cases. */
void put_binary(struct generator *g)
{
	enum agent_code code = binary_codes[below(g, BINARY_CODES)];

	if (code >= AGENT_DIV_SIGNED && code <= AGENT_REM_UNSIGNED && chance(g, 98)) {
		put_constant(g, 1 + 2 * below(g, 8));
		put_op(g, AGENT_BIT_OR, 0);
	}
	put_op(g, code, 0);
}

/* Pushes one cell. */
void put_value(struct generator *g)
{
	unsigned int kind = below(g, 100);

	if (g->variables && chance(g, 20)) {
		put_op(g, AGENT_GETV, variable(g));
		return;
	}
	g->terms++;
	if (kind < 30 || g->terms > NESTING_MAX || g->depth + 4 > AGENT_CELLS_MAX) {
		put_register(g);
	} else if (kind < 50) {
		put_constant(g, value_random(&g->rng));
	} else if (kind < 65) {
		reference(g);
	} else if (kind < 80 && g->depth > 0) {
		put_op(g, AGENT_PICK, below(g, g->depth));
	} else if (kind < 90) {
		put_value(g);
		put_unary(g);
	} else {
		put_value(g);
		put_value(g);
		put_binary(g);
	}
	g->terms--;
}

/* Pushes what a jump may test. */
void put_condition(struct generator *g)
{
	static const uint8_t codes[] = {AGENT_EQUAL, AGENT_LESS_SIGNED,
					AGENT_LESS_UNSIGNED, AGENT_BIT_AND};

	put_value(g);
	if (chance(g, 80)) {
		put_value(g);
		put_op(g, codes[below(g, sizeof(codes))], 0);
	}
	if (chance(g, 30))
		put_op(g, AGENT_LOG_NOT, 0);
}

/* ---- cells ---- */

void put_shuffle(struct generator *g)
{
	switch (below(g, 5)) {
	case 0:
		if (free_cells(g) >= 1)
			put_op(g, AGENT_DUP, 0);
		break;
	case 1:
		if (free_cells(g) >= 2)
			put_op(g, AGENT_POP, 0);
		break;
	case 2:
		if (free_cells(g) >= 2)
			put_op(g, AGENT_SWAP, 0);
		break;
	case 3:
		if (g->depth >= 1)
			put_op(g, AGENT_PICK, below(g, g->depth));
		break;
	default:
		if (free_cells(g) >= 3)
			put_op(g, AGENT_ROT, 0);
	}
}

/* Brings the stack to a depth, not below the floor. */
void put_level(struct generator *g, unsigned int depth)
{
	static const uint8_t mixers[] = {AGENT_ADD, AGENT_SUB, AGENT_BIT_XOR};

	while (g->depth < depth)
		put_value(g);
	while (g->depth > depth)
		if (free_cells(g) >= 2 && chance(g, 80))
			put_op(g, mixers[below(g, sizeof(mixers))], 0);
		else
			put_op(g, AGENT_POP, 0);
}
