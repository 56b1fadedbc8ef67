/* SPDX-License-Identifier: BSD-2-Clause */
/* Each operation, on operands of all kinds. */
#include <criterion/criterion.h>

#include "tests/unit/compiled.h"

TestSuite(compile, .init = set_up, .fini = tear_down, .timeout = 300);

static void try_binary(uint8_t code, enum source source)
{
	struct text t = {0};

	push_ballast(&t, source);
	push_argument(&t, 0, source);
	push_argument(&t, 1, source);
	text_put(&t, code);
	try_pairs(&t, 2);
}

static void try_all_binaries(enum source source)
{
	for (unsigned int code = 0; code < 256; code++) {
		const struct agent_opcode *opcode = agent_opcode((uint8_t)code);

		if (opcode && (opcode->class == AGENT_CLASS_ARITH ||
			       opcode->class == AGENT_CLASS_COMPARE))
			try_binary((uint8_t)code, source);
	}
}

Test(compile, binary_operations_on_registers)
{
	try_all_binaries(FROM_REGISTER);
}

Test(compile, binary_operations_on_slots)
{
	try_all_binaries(FROM_SLOT);
}

Test(compile, binary_operations_on_the_stack)
{
	try_all_binaries(FROM_DEEP_SLOT);
}

/* One operand a constant: immediates, and what does not fit into one. */
static void try_constant(uint8_t code, uint64_t value, bool left)
{
	struct text t = {0};

	if (left)
		text_put(&t, CONST64(value));
	text_put(&t, REG(0));
	if (!left)
		text_put(&t, CONST64(value));
	text_put(&t, code);
	try_pairs(&t, 1);
}

Test(compile, binary_operations_on_constants)
{
	static const uint64_t constants[] = {
		0, 3, 64, 0x80000000, UINT64_MAX, 0x8000000000000000};

	for (unsigned int code = 0; code < 256; code++) {
		const struct agent_opcode *opcode = agent_opcode((uint8_t)code);

		if (!opcode || (opcode->class != AGENT_CLASS_ARITH &&
				opcode->class != AGENT_CLASS_COMPARE))
			continue;
		for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
			try_constant((uint8_t)code, constants[i], false);
			try_constant((uint8_t)code, constants[i], true);
		}
	}
}

Test(compile, unary_operations)
{
	for (enum source source = FROM_REGISTER; source < NSOURCES; source++) {
		static const uint8_t codes[] = {AGENT_LOG_NOT, AGENT_BIT_NOT};

		for (int i = 0; i < 2; i++) {
			struct text t = {0};

			push_ballast(&t, source);
			push_argument(&t, 0, source);
			text_put(&t, codes[i]);
			try_pairs(&t, 1);
		}
	}
}

Test(compile, extensions)
{
	static const uint8_t widths[] = {1, 7, 8, 16, 31, 32, 33, 63, 64, 255};

	for (enum source source = FROM_REGISTER; source < NSOURCES; source++) {
		for (size_t i = 0; i < sizeof(widths); i++) {
			struct text s = {0}, z;

			push_ballast(&s, source);
			push_argument(&s, 0, source);
			z = s;
			text_put(&s, EXT(widths[i]));
			text_put(&z, ZERO_EXT(widths[i]));
			try_pairs(&s, 1);
			try_pairs(&z, 1);
		}
	}
}

/* Of ext 8, only copies of the sign are needed: it is that of ext 7 ^ $a1. */
Test(compile, sign_of_an_extension)
{
	struct text t = {0};

	text_put(&t, REG(0), EXT(7), REG(1), AGENT_BIT_XOR, EXT(8), CONST8(8),
		 AGENT_RSH_SIGNED);
	try_pairs(&t, 2);
}

Test(compile, narrow_registers_are_zero_extended)
{
	for (uint16_t row = ROW_32; row <= ROW_PC; row++) {
		struct text t = {0};

		text_put(&t, REG(row));
		try_pairs(&t, 2);
	}
}

Test(compile, shuffles)
{
	static const uint8_t codes[][3] = {
		{AGENT_SWAP, 0, 0},
		{AGENT_ROT, 0, 0},
		{AGENT_ROT, AGENT_ROT, 0},
		{AGENT_DUP, AGENT_ROT, 0},
		{AGENT_POP, AGENT_SWAP, 0},
		{AGENT_PICK, 0, AGENT_SUB},
		{AGENT_PICK, 1, AGENT_SUB},
		{AGENT_PICK, 2, AGENT_SUB},
		{AGENT_SWAP, AGENT_ROT, AGENT_DUP},
	};

	for (enum source source = FROM_REGISTER; source < NSOURCES; source++) {
		for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
			struct text t = {0};

			push_ballast(&t, source);
			push_argument(&t, 1, source);
			text_put(&t, CONST64(1000));
			push_argument(&t, 0, source);
			for (int j = 0; j < 3; j++)
				if (codes[i][j] || codes[i][0] == AGENT_PICK)
					text_put(&t, codes[i][j]);
			text_put(&t, AGENT_SUB);
			try_pairs(&t, 2);
		}
	}
}

/* Cells in a circle have to be in their places where paths join. */
Test(compile, shuffled_cells_at_a_join)
{
	struct text t = {0};
	size_t over;

	for (uint16_t i = 0; i < 4; i++)
		push_argument(&t, i % 2, FROM_SLOT);
	push_argument(&t, 0, FROM_SLOT);
	over = text_jump(&t, AGENT_IF_GOTO);
	text_put(&t, AGENT_ROT, AGENT_SWAP, PICK(3), AGENT_ROT, AGENT_ADD, AGENT_ROT);
	text_land(&t, over);
	text_put(&t, AGENT_SUB, AGENT_SWAP, AGENT_SUB, AGENT_MUL);
	try_pairs(&t, 2);
}

/* ($a0 < $a1 && $a0 != 5) || (x ? $a1 : $a0) == 2, as gdb writes it */
Test(compile, gdb_shapes)
{
	struct text t = {0};
	size_t if1, if2, go1, go2, end, or1, or2;

	text_put(&t, REG(0), REG(1), AGENT_LESS_SIGNED);
	if1 = text_jump(&t, AGENT_IF_GOTO);
	go1 = text_jump(&t, AGENT_GOTO);
	text_land(&t, if1);
	text_put(&t, REG(0), CONST8(5), AGENT_EQUAL, AGENT_LOG_NOT);
	if2 = text_jump(&t, AGENT_IF_GOTO);
	go2 = text_jump(&t, AGENT_GOTO);
	text_land(&t, if2);
	text_put(&t, CONST8(1));
	end = text_jump(&t, AGENT_GOTO);
	text_land(&t, go1);
	text_land(&t, go2);
	text_put(&t, CONST8(0));
	text_land(&t, end);
	or1 = text_jump(&t, AGENT_IF_GOTO);
	text_put(&t, REG(1), AGENT_LOG_NOT);
	if1 = text_jump(&t, AGENT_IF_GOTO);
	text_put(&t, REG(1));
	end = text_jump(&t, AGENT_GOTO);
	text_land(&t, if1);
	text_put(&t, REG(0));
	text_land(&t, end);
	text_put(&t, CONST8(2), AGENT_EQUAL);
	or2 = text_jump(&t, AGENT_IF_GOTO);
	text_put(&t, CONST8(0));
	end = text_jump(&t, AGENT_GOTO);
	text_land(&t, or1);
	text_land(&t, or2);
	text_put(&t, CONST8(1));
	text_land(&t, end);
	try_pairs(&t, 2);
}
