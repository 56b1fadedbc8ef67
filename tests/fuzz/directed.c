/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/directed.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/fuzz/arena.h"
#include "tests/unit/values.h"

/* The operands are in the first two of these, the expected result in the third;
 * after those that point to memory, as they have any value here. */
enum { A = ROLES_POINTERS, B, RESULT };

/* What the operands of a case run through. */
enum operands { ONE, FEW, EDGES, PAIRS, COUNTS, ADDRESSES };

struct directed {
	struct judge *judge;
	bool emulated;
	struct batch batch;
	enum operands operands[BATCH];
	struct agent_expr *bare[BATCH]; /* the program, but for the comparison */
	struct fuzz_program scratch;
	struct error *error; /* the first one: nothing is done after it */
};

static struct text *text_of(struct directed *d)
{
	return &d->batch.programs[d->batch.count].text;
}

static void push_register(struct directed *d, unsigned int which)
{
	text_op(text_of(d), AGENT_REG, d->judge->machine->roles.general[which]);
}

static void op(struct directed *d, enum agent_code code, uint64_t operand)
{
	text_op(text_of(d), code, operand);
}

/* ---- running ---- */

/* With the right result in its register, and with a wrong one. */
static void run_operands(struct directed *d, unsigned int position, uint64_t a,
			 uint64_t b)
{
	struct machine *machine = d->judge->machine;
	struct fuzz_state state = {.registers = {[A] = a, [B] = b}, .variables = {a}};
	struct interpretation right;

	if (d->error)
		return;
	machine_plant(machine, &d->batch.programs[position]);
	machine_set(machine, &state, position);
	machine_interpret(machine, d->bare[position], &right);
	for (unsigned int wrong = 0; wrong < 2 && !d->error; wrong++) {
		enum bpf_verdict verdict;

		state.registers[RESULT] = right.value ^ (uint64_t)wrong << (a + b) % 64;
		d->error = judge_state(d->judge, &d->batch, position, &state,
				       "directed case", &verdict);
	}
}

static void run_pairs(struct directed *d, unsigned int position)
{
	for (unsigned int i = 0; i < EDGE_VALUES; i++)
		for (unsigned int j = 0; j < EDGE_VALUES; j++)
			run_operands(d, position, edge_values[i], edge_values[j]);
}

static void run_case(struct directed *d, unsigned int position)
{
	static const uint64_t few[] = {1, 0x8000000000000001, 0x123456789abcdef0};
	unsigned int i;

	switch (d->operands[position]) {
	case ONE:
		run_operands(d, position, 0, 0);
		break;
	case FEW:
		for (i = 0; i < sizeof(few) / sizeof(few[0]); i++)
			run_operands(d, position, few[i], 0);
		break;
	case EDGES:
		for (i = 0; i < EDGE_VALUES; i++)
			run_operands(d, position, edge_values[i], 0);
		break;
	case PAIRS:
		run_pairs(d, position);
		break;
	case COUNTS:
		for (i = 0; i < 3 * 256; i++)
			run_operands(d, position, few[i / 256], i % 256);
		break;
	case ADDRESSES:
		for (i = 0; arena_border(i) != 0; i++)
			run_operands(d, position, arena_border(i), 0);
	}
}

/* Why the cases that were collected cannot be run. */
static struct error *check(const struct directed *d)
{
	const struct program *program = d->judge->machine->program;

	if (program->refused)
		return error_create(0, "the verifier refuses a directed case: %s",
				    program->refused);
	for (unsigned int i = 0; i < d->batch.count; i++)
		if (d->batch.fates[i] != FATE_COMPILED)
			return error_create(0, "directed case %u is not compiled", i);
	return NULL;
}

/* Loads and runs what has been collected. */
static void flush(struct directed *d)
{
	judge_prepare(d->judge, &d->batch);
	if (!d->error)
		d->error = judge_load(d->judge, &d->batch, FATE_COMPILED, d->emulated);
	if (!d->error)
		d->error = check(d);
	for (unsigned int i = 0; i < d->batch.count; i++) {
		if (!d->error)
			run_case(d, i);
		agent_expr_unref(d->bare[i]);
	}
	judge_unload(&d->batch);
	d->batch.count = 0;
}

static void begin(struct directed *d)
{
	fuzz_program_begin(&d->batch.programs[d->batch.count],
			   &d->judge->machine->roles, d->batch.count);
}

/* The value to be looked at is on the stack. */
static void end(struct directed *d, enum operands operands)
{
	struct text *text = text_of(d);
	struct text *bare = &d->scratch.text;

	*bare = *text;
	text_op(bare, AGENT_END, 0);
	d->operands[d->batch.count] = operands;
	d->bare[d->batch.count] = NULL;
	if (!d->error)
		d->error = agent_expr_create(bare->bytes, bare->len,
					     &d->bare[d->batch.count]);
	push_register(d, RESULT);
	text_op(text, AGENT_EQUAL, 0);
	text_op(text, AGENT_END, 0);
	if (++d->batch.count == BATCH)
		flush(d);
}

/* ---- tables ---- */

/* Where an operand comes from. */
enum source { FROM_REGISTER, FROM_STACK };

static void push_operand(struct directed *d, unsigned int which, enum source source)
{
	push_register(d, which);
	if (source == FROM_REGISTER)
		return;
	/* Computed, and so deep that no register of BPF's is left for it. */
	op(d, AGENT_BIT_NOT, 0);
	op(d, AGENT_BIT_NOT, 0);
	for (int i = 0; i < 5; i++)
		op(d, AGENT_DUP, 0);
}

static bool is_binary(unsigned int code)
{
	const struct agent_opcode *opcode = agent_opcode((uint8_t)code);

	return opcode && (opcode->class == AGENT_CLASS_ARITH ||
			  opcode->class == AGENT_CLASS_COMPARE);
}

static void binary_operations(struct directed *d, enum source source)
{
	for (unsigned int code = 0; code < 256; code++) {
		if (!is_binary(code))
			continue;
		begin(d);
		push_operand(d, A, source);
		push_operand(d, B, source);
		op(d, code, 0);
		end(d, PAIRS);
	}
}

static void operations_on_a_constant(struct directed *d, unsigned int code,
				     uint64_t number)
{
	begin(d);
	push_operand(d, A, FROM_REGISTER);
	op(d, AGENT_CONST64, number);
	op(d, code, 0);
	end(d, EDGES);
	begin(d);
	op(d, AGENT_CONST64, number);
	push_operand(d, A, FROM_REGISTER);
	op(d, code, 0);
	end(d, EDGES);
}

static void operations_on_constants(struct directed *d)
{
	for (unsigned int code = 0; code < 256; code++)
		for (unsigned int i = 0; is_binary(code) && i < EDGE_VALUES; i++)
			operations_on_a_constant(d, code, edge_values[i]);
}

static void divisions(struct directed *d)
{
	for (unsigned int code = AGENT_DIV_SIGNED; code <= AGENT_REM_UNSIGNED; code++) {
		begin(d);
		push_operand(d, A, FROM_REGISTER);
		push_operand(d, B, FROM_REGISTER);
		op(d, code, 0);
		end(d, PAIRS);
	}
}

static void shifts(struct directed *d)
{
	for (unsigned int code = AGENT_LSH; code <= AGENT_RSH_UNSIGNED; code++) {
		begin(d);
		push_operand(d, A, FROM_REGISTER);
		push_operand(d, B, FROM_REGISTER);
		op(d, code, 0);
		end(d, COUNTS);
		for (unsigned int count = 0; count < 256; count++) {
			begin(d);
			push_operand(d, A, FROM_REGISTER);
			op(d, AGENT_CONST8, count);
			op(d, code, 0);
			end(d, FEW);
		}
	}
}

static void one_cell(struct directed *d, enum agent_code code, uint64_t operand)
{
	begin(d);
	push_operand(d, A, operand % 2 ? FROM_REGISTER : FROM_STACK);
	op(d, code, operand);
	end(d, EDGES);
}

static void operations_on_one_cell(struct directed *d)
{
	one_cell(d, AGENT_LOG_NOT, 0);
	one_cell(d, AGENT_LOG_NOT, 1);
	one_cell(d, AGENT_BIT_NOT, 0);
	one_cell(d, AGENT_BIT_NOT, 1);
	one_cell(d, AGENT_ZERO_EXT, 0);
	for (unsigned int width = 1; width < 256; width++) {
		one_cell(d, AGENT_EXT, width);
		one_cell(d, AGENT_ZERO_EXT, width);
	}
}

static void constants(struct directed *d)
{
	for (unsigned int code = AGENT_CONST8; code <= AGENT_CONST64; code++) {
		for (unsigned int i = 0; i < EDGE_VALUES; i++) {
			begin(d);
			op(d, code, edge_values[i]);
			end(d, ONE);
		}
	}
}

/* Each row of the table, and numbers after it. */
static void registers(struct directed *d)
{
	for (unsigned int i = 0; i < d->judge->machine->roles.count + 2; i++) {
		begin(d);
		op(d, AGENT_REG, i);
		end(d, ONE);
	}
}

/* The first one is like the operand. */
static void variables(struct directed *d)
{
	begin(d);
	op(d, AGENT_GETV, 1);
	end(d, EDGES);
	begin(d);
	push_operand(d, A, FROM_REGISTER);
	op(d, AGENT_SETV, 2);
	op(d, AGENT_GETV, 2);
	op(d, AGENT_ADD, 0);
	end(d, EDGES);
}

static void references(struct directed *d)
{
	for (unsigned int code = AGENT_REF8; code <= AGENT_REF64; code++) {
		begin(d);
		push_operand(d, A, FROM_REGISTER);
		op(d, code, 0);
		end(d, ADDRESSES);
	}
}

/* Of a stack on which no cell is like another, and few are in BPF's registers. */
static void shuffles(struct directed *d)
{
	static const uint8_t codes[] = {AGENT_SWAP, AGENT_ROT, AGENT_POP, AGENT_DUP};
	enum { CELLS = 48 };

	for (unsigned int i = 0; i < CELLS - 1; i++) {
		begin(d);
		for (unsigned int cell = 0; cell < CELLS; cell++) {
			push_operand(d, A, FROM_REGISTER);
			op(d, AGENT_CONST8, cell);
			op(d, AGENT_SUB, 0);
		}
		op(d, codes[i % sizeof(codes)], 0);
		op(d, AGENT_PICK, i);
		op(d, AGENT_MUL, 0);
		end(d, FEW);
	}
}

struct error *directed_run(struct judge *judge)
{
	_cleanup_free_ struct directed *d = calloc(1, sizeof(*d));

	if (!d)
		return error_create(ENOMEM, "directed cases");
	d->judge = judge;
	binary_operations(d, FROM_REGISTER);
	binary_operations(d, FROM_STACK);
	operations_on_constants(d);
	shifts(d);
	operations_on_one_cell(d);
	constants(d);
	registers(d);
	references(d);
	variables(d);
	shuffles(d);
	flush(d);
	d->emulated = true;
	divisions(d);
	flush(d);
	return d->error;
}
