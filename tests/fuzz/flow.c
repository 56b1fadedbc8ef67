/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/generator.h"

#include "tests/fuzz/arena.h"

/* ---- jumps forward ---- */

/* if (c) { ...; } else { ...; }, where each may end the program */
static void choice(struct generator *g)
{
	unsigned int start, end;
	size_t second, join;
	bool ends;

	put_condition(g);
	second = text_jump(g->text, AGENT_IF_GOTO);
	start = --g->depth;
	put_block(g, 4);
	end = g->depth;
	ends = g->depth > 0 && chance(g, 15);
	if (ends)
		put_op(g, AGENT_END, 0);
	else
		join = text_jump(g->text, AGENT_GOTO);
	text_land(g->text, second);
	g->depth = start;
	put_block(g, 4);
	if (ends)
		return;
	put_level(g, end > g->floor ? end : g->floor);
	text_land(g->text, join);
}

/* if (...) leave; several times: many ways to one place, with the cells moved about */
static void escapes(struct generator *g)
{
	unsigned int count = 1 + below(g, 3), depth = g->depth;
	size_t places[3];

	for (unsigned int i = 0; i < count; i++) {
		put_condition(g);
		places[i] = text_jump(g->text, AGENT_IF_GOTO);
		g->depth--;
		put_block(g, 3);
		put_level(g, depth);
	}
	for (unsigned int i = 0; i < count; i++)
		text_land(g->text, places[i]);
}

/* a && b, a || b as gdb writes them: a jump around jumps, to push 1 or 0 */
static void logical(struct generator *g)
{
	bool is_or = chance(g, 50);
	size_t first, second, no, end;

	put_condition(g);
	if (!is_or)
		put_op(g, AGENT_LOG_NOT, 0);
	first = text_jump(g->text, AGENT_IF_GOTO);
	g->depth--;
	if (++g->nesting < NESTING_MAX && chance(g, 25))
		logical(g);
	else
		put_condition(g);
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
		put_constant(g, 1 + below(g, 8));
	} else if (kind < 97) {
		put_register(g);
		put_constant(g, 7);
		put_op(g, AGENT_BIT_AND, 0);
		put_constant(g, 1);
		put_op(g, AGENT_ADD, 0);
	} else if (kind < 99) {
		put_constant(g, below(g, 2000));
	} else {
		put_register(g);
	}
}

/* What happens in a loop leaves the counter, the topmost cell, alone. */
static void loop_body(struct generator *g)
{
	unsigned int floor = g->floor, depth = g->depth;

	g->floor = depth;
	put_block(g, 3);
	put_level(g, depth);
	g->floor = floor;
}

/* n; do { ...; } while (--n); */
static void loop_down(struct generator *g)
{
	size_t start;

	loop_count(g);
	start = g->text->len;
	loop_body(g);
	put_constant(g, 1);
	put_op(g, AGENT_SUB, 0);
	put_op(g, AGENT_DUP, 0);
	put_op(g, AGENT_IF_GOTO, start);
}

/* for (i = 0; i < n; i++) { ...; } */
static void loop_up(struct generator *g)
{
	size_t start, out;

	put_constant(g, 0);
	start = g->text->len;
	put_op(g, AGENT_DUP, 0);
	put_constant(g, 1 + below(g, 8));
	put_op(g, chance(g, 50) ? AGENT_LESS_UNSIGNED : AGENT_LESS_SIGNED, 0);
	put_op(g, AGENT_LOG_NOT, 0);
	out = text_jump(g->text, AGENT_IF_GOTO);
	g->depth--;
	loop_body(g);
	put_constant(g, 1);
	put_op(g, AGENT_ADD, 0);
	put_op(g, AGENT_GOTO, start);
	text_land(g->text, out);
}

/* while (p->next && --n): along a list, each cell of which is in memory */
static void loop_chase(struct generator *g)
{
	size_t start;

	put_constant(g, arena_pointer_cell(&g->rng));
	put_constant(g, 1 + below(g, 6));
	start = g->text->len;
	put_op(g, AGENT_SWAP, 0);
	put_constant(g, 0xf8);
	put_op(g, AGENT_BIT_AND, 0);
	put_constant(g, arena_pointer(&g->rng));
	put_op(g, AGENT_ADD, 0);
	put_op(g, AGENT_REF64, 0);
	put_op(g, AGENT_SWAP, 0);
	put_constant(g, 1);
	put_op(g, AGENT_SUB, 0);
	put_op(g, AGENT_DUP, 0);
	put_op(g, AGENT_IF_GOTO, start);
	put_op(g, AGENT_POP, 0);
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

void put_jump(struct generator *g)
{
	g->jumps--;
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
