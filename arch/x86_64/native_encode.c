/* SPDX-License-Identifier: BSD-2-Clause */
#include "arch/x86_64/native_encode.h"

#include <string.h>

enum {
	REX = 0x40,
	REX_W = 8,
	REX_R = 4, /* the reg field has one more bit, */
	REX_B = 1, /* and so have the r/m field and the base */
	MOD_REGISTER = 3,
	MOD_DISPLACEMENT = 2, /* of 32 bits, */
	MOD_SHORT = 1,	      /* or of 8; code is the faster, the less cache it needs */
	SIB_FOLLOWS = 4,
	SIB_BASE_ONLY = 0x24,
	JMP = 0xe9,
	JMP_SHORT = 0xeb,
	JCC = 0x80U, /* after 0x0f; the condition is added */
	JCC_SHORT = 0x70,
};

static void put(struct native_code *code, uint64_t value, unsigned int len)
{
	uint8_t bytes[8];

	for (unsigned int i = 0; i < len; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
	native_append(code, bytes, len);
}

/* The opcode's bytes, the first one lowest; @reg and @rm as they are numbered. */
static void put_opcode(struct native_code *code, unsigned int rex, uint32_t opcode,
		       uint8_t reg, uint8_t rm)
{
	rex |= (reg >> 3 ? REX_R : 0U) | (rm >> 3 ? REX_B : 0U);
	if (rex)
		put(code, REX | rex, 1);
	put(code, opcode, opcode > 0xff ? 2 : 1);
}

static void put_registers(struct native_code *code, unsigned int rex, uint32_t opcode,
			  uint8_t reg, uint8_t rm)
{
	put_opcode(code, rex, opcode, reg, rm);
	put(code, MOD_REGISTER << 6 | (reg & 7U) << 3 | (rm & 7U), 1);
}

static void put_memory(struct native_code *code, unsigned int rex, uint32_t opcode,
		       uint8_t reg, uint8_t base, int32_t displacement)
{
	const bool is_byte = displacement == (int8_t)displacement;
	const unsigned int mod = is_byte ? MOD_SHORT : MOD_DISPLACEMENT;

	put_opcode(code, rex, opcode, reg, base);
	put(code, mod << 6 | (reg & 7U) << 3 | (base & 7U), 1);
	if ((base & 7) == SIB_FOLLOWS)
		put(code, SIB_BASE_ONLY, 1);
	put(code, (uint32_t)displacement, is_byte ? 1 : 4);
}

bool x86_64_is_short(uint64_t value)
{
	return value == (uint64_t)(int64_t)(int32_t)value;
}

unsigned int x86_64_number(unsigned int reg)
{
	static const uint8_t numbers[] = {0, 2, 3, 1, 7, 6, 4, 5};

	return reg < sizeof(numbers) ? numbers[reg] : reg;
}

void x86_64_push(struct native_code *code, uint8_t reg)
{
	put_opcode(code, 0, 0x50U + (reg & 7U), 0, reg);
}

/* lahf; seto %al */
void x86_64_flags_to_rax(struct native_code *code)
{
	put(code, 0xc0900f9f, 4);
}

/* add $127, %al overflows, if it was 1; sahf */
void x86_64_rax_to_flags(struct native_code *code)
{
	put(code, 0x9e7f04, 3);
}

void x86_64_constant(struct native_code *code, uint8_t to, uint64_t value)
{
	if (value == 0) {
		put_registers(code, 0, 0x31, to, to);
	} else if (value <= UINT32_MAX) {
		put_opcode(code, 0, 0xb8U + (to & 7U), 0, to);
		put(code, value, 4);
	} else if (x86_64_is_short(value)) {
		put_registers(code, REX_W, 0xc7, 0, to);
		put(code, value, 4);
	} else {
		put_opcode(code, REX_W, 0xb8U + (to & 7U), 0, to);
		put(code, value, 8);
	}
}

void x86_64_move(struct native_code *code, uint8_t to, uint8_t from)
{
	if (to != from)
		put_registers(code, REX_W, 0x89, from, to);
}

void x86_64_lea(struct native_code *code, uint8_t to, uint8_t base,
		int32_t displacement)
{
	put_memory(code, REX_W, 0x8d, to, base, displacement);
}

void x86_64_load(struct native_code *code, unsigned int size, uint8_t to, uint8_t base,
		 int32_t displacement)
{
	static const struct {
		unsigned int rex;
		uint32_t opcode;
	} loads[] = {
		[1] = {0, 0xb60f}, /* movzb */
		[2] = {0, 0xb70f}, /* movzw */
		[4] = {0, 0x8b},
		[8] = {REX_W, 0x8b},
	};

	put_memory(code, loads[size].rex, loads[size].opcode, to, base, displacement);
}

void x86_64_compare_memory(struct native_code *code, uint8_t reg, uint8_t base,
			   int32_t displacement)
{
	put_memory(code, REX_W, 0x3b, reg, base, displacement);
}

void x86_64_combine(struct native_code *code, uint8_t op, uint8_t to, uint8_t from)
{
	put_registers(code, REX_W, op * 8U + 1, from, to);
}

void x86_64_combine_constant(struct native_code *code, uint8_t op, uint8_t to,
			     int32_t value)
{
	const bool is_byte = value == (int8_t)value;

	put_registers(code, REX_W, is_byte ? 0x83 : 0x81, op, to);
	put(code, (uint32_t)value, is_byte ? 1 : 4);
}

void x86_64_compare_constant(struct native_code *code, uint8_t reg, int32_t value)
{
	x86_64_combine_constant(code, X86_64_CMP, reg, value);
}

void x86_64_multiply(struct native_code *code, uint8_t to, uint8_t from)
{
	put_registers(code, REX_W, 0xaf0f, to, from);
}

void x86_64_negate(struct native_code *code, uint8_t reg)
{
	put_registers(code, REX_W, 0xf7, 3, reg);
}

void x86_64_divide(struct native_code *code, bool is_signed, uint8_t by)
{
	if (is_signed)
		put(code, 0x9948, 2); /* cqo */
	else
		x86_64_constant(code, RDX, 0);
	put_registers(code, REX_W, 0xf7, is_signed ? 7 : 6, by);
}

void x86_64_shift(struct native_code *code, uint8_t op, uint8_t reg, uint64_t count)
{
	put_registers(code, REX_W, 0xc1, op, reg);
	put(code, count, 1);
}

void x86_64_shift_by_cl(struct native_code *code, uint8_t op, uint8_t reg)
{
	put_registers(code, REX_W, 0xd3, op, reg);
}

/* set.. %al; movzbl %al, %eax */
void x86_64_set_rax(struct native_code *code, uint8_t condition)
{
	put_registers(code, 0, 0x0fU | (0x90U + condition) << 8, 0, RAX);
	put_registers(code, 0, 0xb60f, RAX, RAX);
}

void x86_64_branch(struct native_code *code, uint8_t condition, unsigned int label)
{
	put(code, 0x0fU | (JCC + condition) << 8, 2);
	native_refer(code, label);
}

void x86_64_jump_to(struct native_code *code, unsigned int label)
{
	put(code, JMP, 1);
	native_refer(code, label);
}

/* A displacement is from its end on. */
void x86_64_refer(uint8_t *at, unsigned int len, int32_t distance)
{
	const int32_t displacement = distance - (int32_t)len;

	memcpy(at, &displacement, len);
}

/* A distance backwards becomes less by it. */
unsigned int x86_64_shorten(uint8_t *at, int32_t distance)
{
	const int32_t displacement = distance - (int32_t)sizeof(displacement);

	if (displacement != (int8_t)displacement)
		return 0;
	if (at[-1] == JMP) {
		at[-1] = JMP_SHORT;
		return sizeof(displacement) - 1;
	}
	at[-2] = JCC_SHORT | (at[-1] & 0xf);
	return sizeof(displacement);
}

/* cmpq $0, %fs:offset */
void x86_64_compare_thread_word(struct native_code *code, int32_t offset)
{
	put(code, 0x253c834864, 5);
	put(code, (uint32_t)offset, 4);
	put(code, 0, 1);
}

/* rdfsbase, rdgsbase */
void x86_64_segment_base(struct native_code *code, uint8_t to, bool is_gs)
{
	put(code, 0xf3, 1);
	put_registers(code, REX_W, 0xae0f, is_gs, to);
}

/* lock incq */
void x86_64_count(struct native_code *code, uint8_t base)
{
	put(code, 0xf0, 1);
	put_memory(code, REX_W, 0xff, 0, base, 0);
}
