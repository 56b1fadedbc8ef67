/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Native code for conditions (Arm ARM, C6.2). It begins by saving what it changes
 * below what might be a red zone (there is none, AAPCS64 6.4.5.1, but whoever writes
 * assembler may not know): x0, the flags, and then the other registers that it uses.
 * Slots are registers; the others are for what is under way.
 */
#include "arch/aarch64/aarch64.h"

#include <asm/hwcap.h>
#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

#include "arch/aarch64/insn.h"
#include "arch/register_table.h"

enum {
	RED_ZONE = 128,
	WORD = 8,
	GENERAL = 31,
	STACK_ALIGNMENT = 16,
	FIRST_SLOT = 2,
	SLOTS = 12,
	TRIES = 16, /* to count */
};

/* For what is under way: addresses and values, and what they are compared with. */
enum { X0 = 0, X1 = 1, X16 = 16, X17 = 17, XZR = 31, SP = 31 };

enum condition { EQ, NE, HS, LO, HI = 8, LS, GE, LT, GT, LE };

/* ---- instructions ---- */

static void put(struct native_code *code, uint32_t insn)
{
	native_append(code, &insn, sizeof(insn));
}

/* Of two source registers and one that is written. */
static void put_three(struct native_code *code, uint32_t insn, uint32_t to, uint32_t n,
		      uint32_t m)
{
	put(code, insn | m << 16 | n << 5 | to);
}

static void put_move(struct native_code *code, uint32_t to, uint32_t from)
{
	if (to != from)
		put_three(code, 0xaa000000, to, XZR, from); /* orr */
}

static void put_constant(struct native_code *code, uint32_t to, uint64_t value)
{
	uint32_t insn = 0xd2800000; /* movz, then movk */

	for (uint32_t part = 0; part < 4; part++) {
		const uint32_t bits = value >> (16 * part) & 0xffff;

		if (bits == 0 && (part < 3 || insn != 0xd2800000))
			continue;
		put(code, insn | part << 21 | bits << 5 | to);
		insn = 0xf2800000;
	}
}

static void put_add(struct native_code *code, uint32_t to, uint32_t n, uint32_t value)
{
	put(code, 0x91000000 | value << 10 | n << 5 | to);
}

static void put_subtract(struct native_code *code, uint32_t to, uint32_t n,
			 uint32_t value)
{
	put(code, 0xd1000000 | value << 10 | n << 5 | to);
}

/* 8 bytes at a multiple of 8 after a register. */
static void put_load(struct native_code *code, uint32_t to, uint32_t base,
		     uint32_t offset)
{
	put(code, 0xf9400000 | offset / WORD << 10 | base << 5 | to);
}

static void put_store(struct native_code *code, uint32_t from, uint32_t base,
		      uint32_t offset)
{
	put(code, 0xf9000000 | offset / WORD << 10 | base << 5 | from);
}

static void put_compare(struct native_code *code, uint32_t n, uint32_t m)
{
	put_three(code, 0xeb000000, XZR, n, m); /* subs */
}

/* The lowest @bits, 1 to 64, of a register, extended. */
static void put_extend(struct native_code *code, bool is_signed, uint32_t to,
		       uint32_t n, uint32_t bits)
{
	put(code,
	    (is_signed ? 0x93400000 : 0xd3400000) | (bits - 1) << 10 | n << 5 | to);
}

static void put_reference(struct native_code *code, uint32_t insn, unsigned int label)
{
	native_refer(code, label);
	if (!code->failed)
		memcpy(code->bytes + code->len - sizeof(insn), &insn, sizeof(insn));
}

static void put_branch(struct native_code *code, enum condition condition,
		       unsigned int label)
{
	put_reference(code, 0x54000000 | condition, label);
}

static void put_branch_if_zero(struct native_code *code, uint32_t reg,
			       unsigned int label)
{
	put_reference(code, 0xb4000000 | reg, label);
}

static void put_branch_unless_zero(struct native_code *code, uint32_t reg,
				   unsigned int label)
{
	put_reference(code, 0xb5000000 | reg, label);
}

static void put_jump(struct native_code *code, unsigned int label)
{
	put_reference(code, INSN_B, label);
}

static void refer(uint8_t *at, unsigned int len, int32_t distance)
{
	uint32_t insn;

	memcpy(&insn, at, len);
	insn = (insn & INSN_B_MASK) == INSN_B ? insn_branch(INSN_B, distance)
					      : insn_with_distance19(insn, distance);
	memcpy(at, &insn, len);
}

/* ---- what is saved ---- */

static bool uses(const struct native_code *code, uint32_t reg)
{
	return code->used >> reg & 1;
}

static uint32_t use(struct native_code *code, uint32_t reg)
{
	code->used |= UINT32_C(1) << reg;
	return reg;
}

static uint32_t frame_size(const struct native_code *code)
{
	const uint32_t size =
		RED_ZONE + WORD * native_saved_before(code->used, GENERAL);

	return (size + STACK_ALIGNMENT - 1) & ~(STACK_ALIGNMENT - 1U);
}

/* From the stack pointer. */
static uint32_t saved_at(const struct native_code *code, unsigned int index)
{
	return frame_size(code) - RED_ZONE - WORD * (index + 1);
}

static void begin_state(struct native_code *code, unsigned int saved)
{
	native_begin_state(code, (struct native_state){
					 .lowered = (uint16_t)frame_size(code),
					 .saved = (uint8_t)saved,
					 .changed = saved > 0,
				 });
}

static void begin(struct native_code *code)
{
	unsigned int saved = NATIVE_SAVED_OTHERS;

	use(code, X0);
	code->label[NATIVE_NOT_FALSE] = NATIVE_UNBOUND;
	code->nlabels = NATIVE_LABELS;
	native_begin_state(code, (struct native_state){0});
	put_subtract(code, SP, SP, frame_size(code));
	begin_state(code, 0);
	put_store(code, X0, SP, saved_at(code, NATIVE_SAVED_SCRATCH));
	begin_state(code, NATIVE_SAVED_SCRATCH + 1);
	put(code, 0xd53b4200 | X0); /* mrs x0, nzcv */
	put_store(code, X0, SP, saved_at(code, NATIVE_SAVED_FLAGS));
	begin_state(code, saved);
	for (uint32_t reg = X0 + 1; reg < GENERAL; reg++) {
		if (!uses(code, reg))
			continue;
		put_store(code, reg, SP, saved_at(code, saved));
		begin_state(code, ++saved);
	}
}

/* ---- operands ---- */

static uint32_t slot_register(struct native_code *code, uint64_t slot)
{
	return use(code, (uint32_t)(FIRST_SLOT + slot));
}

static void load_register(struct native_code *code, uint64_t number, uint32_t to)
{
	const uint32_t reg = (uint32_t)number;

	if (number == AARCH64_PC)
		put_constant(code, to, code->pc);
	else if (number == AARCH64_SP)
		put_add(code, to, SP, frame_size(code));
	else if (uses(code, reg))
		put_load(code, to, SP,
			 saved_at(code, native_saved_before(code->used, reg)));
	else
		put_move(code, to, reg);
}

static void load_to(struct native_code *code, struct native_operand operand,
		    uint32_t to)
{
	switch (operand.kind) {
	case NATIVE_CONSTANT:
		put_constant(code, to, operand.value);
		break;
	case NATIVE_REGISTER:
		load_register(code, operand.value, to);
		break;
	case NATIVE_SLOT:
		put_move(code, to, slot_register(code, operand.value));
		break;
	}
}

/* In a slot's own register, or in @scratch. */
static uint32_t load(struct native_code *code, struct native_operand operand,
		     uint32_t scratch)
{
	if (operand.kind == NATIVE_SLOT)
		return slot_register(code, operand.value);
	load_to(code, operand, use(code, scratch));
	return scratch;
}

/* ---- operations ---- */

static void move(struct native_code *code, unsigned int slot, struct native_operand a)
{
	load_to(code, a, slot_register(code, slot));
}

/* What remains: a - a / b * b. A division that overflows is the smallest number (Arm
 * ARM, C6.2 "SDIV"). */
static void divide(struct native_code *code, enum native_arith op, uint32_t to,
		   uint32_t a, uint32_t b)
{
	const bool is_signed = op == NATIVE_DIV_SIGNED || op == NATIVE_REM_SIGNED;
	const bool remains = op == NATIVE_REM_SIGNED || op == NATIVE_REM_UNSIGNED;
	const uint32_t quotient = remains ? use(code, X16) : to;

	put_branch_if_zero(code, b, NATIVE_NOT_FALSE);
	put_three(code, is_signed ? 0x9ac00c00 : 0x9ac00800, quotient, a, b);
	if (remains) /* msub */
		put(code, 0x9b008000 | b << 16 | a << 10 | quotient << 5 | to);
}

static void arith(struct native_code *code, enum native_arith op, unsigned int slot,
		  struct native_operand a, struct native_operand b)
{
	static const uint32_t insns[] = {
		[NATIVE_ADD] = 0x8b000000,	    [NATIVE_SUB] = 0xcb000000,
		[NATIVE_MUL] = 0x9b007c00,	    [NATIVE_LSH] = 0x9ac02000,
		[NATIVE_RSH_UNSIGNED] = 0x9ac02400, [NATIVE_RSH_SIGNED] = 0x9ac02800,
		[NATIVE_AND] = 0x8a000000,	    [NATIVE_OR] = 0xaa000000,
		[NATIVE_XOR] = 0xca000000,
	};
	const uint32_t first = load(code, a, X0), second = load(code, b, X1);
	const uint32_t to = slot_register(code, slot);

	switch (op) {
	case NATIVE_DIV_SIGNED:
	case NATIVE_DIV_UNSIGNED:
	case NATIVE_REM_SIGNED:
	case NATIVE_REM_UNSIGNED:
		divide(code, op, to, first, second);
		break;
	default:
		put_three(code, insns[op], to, first, second);
		break;
	}
}

static void extend(struct native_code *code, bool is_signed, unsigned int bits,
		   unsigned int slot, struct native_operand a)
{
	const uint32_t to = slot_register(code, slot);

	if (bits == 0)
		put_constant(code, to, 0);
	else
		put_extend(code, is_signed, to, load(code, a, X0), bits);
}

static enum condition condition(enum native_compare compare)
{
	static const enum condition conditions[] = {
		[NATIVE_EQ] = EQ,	   [NATIVE_NE] = NE,
		[NATIVE_LT_SIGNED] = LT,   [NATIVE_LE_SIGNED] = LE,
		[NATIVE_GT_SIGNED] = GT,   [NATIVE_GE_SIGNED] = GE,
		[NATIVE_LT_UNSIGNED] = LO, [NATIVE_LE_UNSIGNED] = LS,
		[NATIVE_GT_UNSIGNED] = HI, [NATIVE_GE_UNSIGNED] = HS,
	};

	return conditions[compare];
}

static void emit_compare(struct native_code *code, struct native_operand a,
			 struct native_operand b)
{
	const uint32_t first = load(code, a, X0);

	put_compare(code, first, load(code, b, X1));
}

/* csinc: one more than nothing, unless the opposite holds */
static void set(struct native_code *code, enum native_compare compare,
		unsigned int slot, struct native_operand a, struct native_operand b)
{
	emit_compare(code, a, b);
	put(code, 0x9a9f07e0 | (uint32_t)(condition(compare) ^ 1) << 12 |
			  slot_register(code, slot));
}

static void branch(struct native_code *code, enum native_compare compare,
		   struct native_operand a, struct native_operand b, unsigned int label)
{
	emit_compare(code, a, b);
	put_branch(code, condition(compare), label);
}

/* ---- memory ---- */

enum { FIRST = X0, LIMIT = X1, SHARED = X16, LAST = X17, ADDRESS_BITS = 56 };

static void compare_shared(struct native_code *code, bool last, size_t offset)
{
	put_load(code, use(code, LIMIT), SHARED, (uint32_t)offset);
	put_compare(code, last ? LAST : FIRST, LIMIT);
}

static void branch_on(struct native_code *code, enum native_compare compare,
		      unsigned int label)
{
	put_branch(code, condition(compare), label);
}

/* What is to be read is at FIRST. */
static void check_shadow(struct native_code *code, unsigned int size)
{
	put_constant(code, use(code, SHARED), code->shared);
	put_add(code, use(code, LAST), FIRST, size - 1);
	native_check_shadow(code, &aarch64_native);
}

/* The highest byte of an address is a tag, which the processor ignores (Arm ARM, D8.8);
 * where memory has tags, too, it faults without. */
static void load_memory(struct native_code *code, unsigned int size, unsigned int slot,
			struct native_operand a)
{
	static const uint32_t insns[] = {
		[1] = 0x39400000, /* ldrb */
		[2] = 0x79400000, /* ldrh */
		[4] = 0xb9400000, /* ldr w */
		[8] = 0xf9400000,
	};

	code->reads = true;
	put_extend(code, false, FIRST, load(code, a, X1), ADDRESS_BITS);
	check_shadow(code, size);
	put(code, insns[size] | FIRST << 5 | slot_register(code, slot));
}

/* mrs x0, tpidr_el0; ldr x0, [x0, x1] */
static void check_thread_word(struct native_code *code, int32_t offset)
{
	put_constant(code, use(code, X1), (uint64_t)(int64_t)offset);
	put(code, 0xd53bd040 | X0);
	put_three(code, 0xf8606800, X0, X0, X1);
	put_branch_unless_zero(code, X0, NATIVE_NOT_FALSE);
}

/* ---- the end ---- */

static void jump(struct native_code *code, unsigned int label)
{
	put_jump(code, label);
}

static void restore_all(struct native_code *code, bool counted)
{
	put_load(code, X0, SP, saved_at(code, NATIVE_SAVED_FLAGS));
	put(code, 0xd51b4200 | X0); /* msr nzcv, x0 */
	for (uint32_t reg = X0; reg < GENERAL; reg++)
		if (uses(code, reg))
			load_register(code, reg, reg);
	put_add(code, SP, SP, frame_size(code));
	native_begin_state(code, (struct native_state){.counted = counted});
}

/* stadd x0, [x1] */
static void count_at_once(struct native_code *code)
{
	put_constant(code, X0, 1);
	put(code, 0xf820001f | X0 << 16 | X1 << 5);
}

/* An exclusive store fails whenever something comes between, as a single step does
 * always. So it is tried some times, and then the trap decides. */
static void count_exclusively(struct native_code *code)
{
	const unsigned int saved = native_saved_before(code->used, GENERAL);
	const unsigned int again = native_new_labels(code, 2), done = again + 1;

	put_constant(code, use(code, X17), TRIES);
	native_bind(code, again);
	put(code, 0xc85f7c00 | X1 << 5 | X0); /* ldxr x0, [x1] */
	put_add(code, X0, X0, 1);
	put(code, 0xc8007c00 | use(code, X16) << 16 | X1 << 5 | X0); /* stxr w16, ... */
	begin_state(code, saved);
	code->state[code->nstates - 1].counted_if_zero = X16 + 1;
	put_branch_if_zero(code, X16, done);
	begin_state(code, saved);
	put_subtract(code, X17, X17, 1);
	put_branch_unless_zero(code, X17, again);
	put_jump(code, NATIVE_NOT_FALSE);
	native_bind(code, done);
}

/* With nobody to handle the trap, the state by which the hit was counted is nobody's
 * concern either. */
static void check_server(struct native_code *code, unsigned int ended)
{
	put_constant(code, use(code, X1), code->shared);
	put_load(code, X0, X1, offsetof(struct native_shared, server));
	put_constant(code, X1, FUTEX_TID_MASK);
	put_three(code, 0x8a000000, X0, X0, X1); /* and */
	put_branch_if_zero(code, X0, ended);
}

static void end(struct native_code *code, unsigned int skip)
{
	const unsigned int saved = native_saved_before(code->used, GENERAL);
	const unsigned int after = native_new_labels(code, 2), ended = after + 1;

	put_constant(code, use(code, X1), code->counter);
	if (getauxval(AT_HWCAP) & HWCAP_ATOMICS)
		count_at_once(code);
	else
		count_exclusively(code);
	begin_state(code, saved);
	code->state[code->nstates - 1].counted = true;
	native_bind(code, ended);
	restore_all(code, true);
	put_jump(code, after);
	begin_state(code, saved);
	native_check_rest(code, &aarch64_native);
	native_bind(code, NATIVE_NOT_FALSE);
	if (code->needs_server)
		check_server(code, ended);
	restore_all(code, false);
	code->label[after] = (uint16_t)(code->len + skip);
}

/* ---- a thread in it ---- */

static int restore_flags(struct regs *regs, uint64_t saved)
{
	const uint64_t mask = UINT64_C(0xf) << 28;
	uint64_t flags;
	int err = reg_read_u64(regs, AARCH64_CPSR, &flags);

	return err < 0 ? err
		       : reg_write_u64(regs, AARCH64_CPSR,
				       (flags & ~mask) | (saved & mask));
}

static int restore(struct regs *regs, const struct native_state *state, uint32_t used,
		   const uint64_t *saved)
{
	int err = native_restore(regs, state, used, saved, GENERAL, NULL);

	if (err == 0 && state->changed && state->saved > NATIVE_SAVED_FLAGS)
		err = restore_flags(regs, saved[state->saved - 1 - NATIVE_SAVED_FLAGS]);
	return err;
}

/* ---- the table ---- */

static unsigned int register_bits(unsigned int number)
{
	return number <= AARCH64_PC ? 64 : 0;
}

static bool usable(void)
{
	return true;
}

const struct native_ops aarch64_native = {
	.slots = SLOTS,
	.protected = RED_ZONE,
	.usable = usable,
	.register_bits = register_bits,
	.begin = begin,
	.move = move,
	.arith = arith,
	.extend = extend,
	.set = set,
	.load = load_memory,
	.branch = branch,
	.jump = jump,
	.compare_shared = compare_shared,
	.branch_on = branch_on,
	.check_thread_word = check_thread_word,
	.end = end,
	.refer = refer,
	.restore = restore,
};
