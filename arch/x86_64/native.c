/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Native code for conditions (Intel SDM volume 2). It begins by saving what it changes
 * below the red zone (System V ABI, 3.2.2): rax, the flags, by lahf and seto, as pushf
 * would show the trap flag, and then the other registers that it uses. Slots are
 * registers; rax, rcx and rdx are for what is under way.
 */
#include "arch/x86_64/x86_64.h"

#include <asm/hwcap2.h>
#include <cpuid.h>
#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

#include "arch/register_table.h"
#include "arch/x86_64/native_encode.h"

enum { RED_ZONE = 128, WORD = 8, GENERAL = 16 };

static const uint8_t slot_registers[] = {RSI, RDI, R8,	R9,  R10, R11,
					 RBX, RBP, R12, R13, R14, R15};
static const uint8_t by_number[GENERAL] = {RAX, RBX, RCX, RDX, RSI, RDI, RBP, RSP,
					   R8,	R9,  R10, R11, R12, R13, R14, R15};

/* ---- what is saved ---- */

static bool uses(const struct native_code *code, unsigned int reg)
{
	return code->used >> reg & 1;
}

static uint8_t use(struct native_code *code, uint8_t reg)
{
	code->used |= 1U << reg;
	return reg;
}

static unsigned int frame_size(const struct native_code *code)
{
	return RED_ZONE + WORD * native_saved_before(code->used, GENERAL);
}

/* From the stack pointer. */
static unsigned int saved_at(const struct native_code *code, unsigned int index)
{
	return WORD * (native_saved_before(code->used, GENERAL) - 1 - index);
}

static void begin_state(struct native_code *code, unsigned int saved)
{
	native_begin_state(code, (struct native_state){
					 .lowered = (uint16_t)(RED_ZONE + WORD * saved),
					 .saved = (uint8_t)saved,
					 .changed = saved > 0,
				 });
}

static void begin(struct native_code *code)
{
	unsigned int saved = NATIVE_SAVED_OTHERS;

	use(code, RAX);
	code->label[NATIVE_NOT_FALSE] = NATIVE_UNBOUND;
	code->nlabels = NATIVE_LABELS;
	native_begin_state(code, (struct native_state){0});
	x86_64_lea(code, RSP, RSP, -RED_ZONE);
	begin_state(code, 0);
	x86_64_push(code, RAX);
	begin_state(code, NATIVE_SAVED_SCRATCH + 1);
	x86_64_flags_to_rax(code);
	x86_64_push(code, RAX);
	begin_state(code, saved);
	for (unsigned int reg = RAX + 1; reg < GENERAL; reg++) {
		if (!uses(code, reg))
			continue;
		x86_64_push(code, (uint8_t)reg);
		begin_state(code, ++saved);
	}
}

/* ---- operands ---- */

static uint8_t slot_register(struct native_code *code, uint64_t slot)
{
	return use(code, slot_registers[slot]);
}

static void load_register(struct native_code *code, uint64_t number, uint8_t to)
{
	const uint8_t reg = number < GENERAL ? by_number[number] : RSP;

	if (number == X86_64_RIP)
		x86_64_constant(code, to, code->pc);
	else if (number == X86_64_FS_BASE || number == X86_64_GS_BASE)
		x86_64_segment_base(code, to, number == X86_64_GS_BASE);
	else if (number == X86_64_RSP)
		x86_64_lea(code, to, RSP, (int32_t)frame_size(code));
	else if (uses(code, reg))
		x86_64_load(
			code, WORD, to, RSP,
			(int32_t)saved_at(code, native_saved_before(code->used, reg)));
	else
		x86_64_move(code, to, reg);
}

static void load_to(struct native_code *code, struct native_operand operand, uint8_t to)
{
	switch (operand.kind) {
	case NATIVE_CONSTANT:
		x86_64_constant(code, to, operand.value);
		break;
	case NATIVE_REGISTER:
		load_register(code, operand.value, to);
		break;
	case NATIVE_SLOT:
		x86_64_move(code, to, slot_register(code, operand.value));
		break;
	}
}

/* In a slot's own register, or in @scratch. */
static uint8_t load(struct native_code *code, struct native_operand operand,
		    uint8_t scratch)
{
	if (operand.kind == NATIVE_SLOT)
		return slot_register(code, operand.value);
	load_to(code, operand, use(code, scratch));
	return scratch;
}

static void store(struct native_code *code, unsigned int slot, uint8_t from)
{
	x86_64_move(code, slot_register(code, slot), from);
}

/* ---- operations ---- */

static void move(struct native_code *code, unsigned int slot, struct native_operand a)
{
	load_to(code, a, slot_register(code, slot));
}

static void shift(struct native_code *code, enum native_arith op,
		  struct native_operand b)
{
	const uint8_t which = op == NATIVE_LSH		? X86_64_SHL
			      : op == NATIVE_RSH_SIGNED ? X86_64_SAR
							: X86_64_SHR;

	if (b.kind == NATIVE_CONSTANT) {
		x86_64_shift(code, which, RAX, b.value & 63);
		return;
	}
	load_to(code, b, use(code, RCX));
	x86_64_shift_by_cl(code, which, RAX);
}

/* The smallest number / -1 would fault. rax = rax / rcx, or what remains. */
static void divide_signed(struct native_code *code, bool remains)
{
	const unsigned int plain = native_new_labels(code, 2), done = plain + 1;

	x86_64_compare_constant(code, RCX, -1);
	x86_64_branch(code, X86_64_NE, plain);
	if (remains)
		x86_64_constant(code, RDX, 0);
	else
		x86_64_negate(code, RAX);
	x86_64_jump_to(code, done);
	native_bind(code, plain);
	x86_64_divide(code, true, RCX);
	native_bind(code, done);
}

static void divide(struct native_code *code, enum native_arith op,
		   struct native_operand b)
{
	const bool remains = op == NATIVE_REM_SIGNED || op == NATIVE_REM_UNSIGNED;

	load_to(code, b, use(code, RCX));
	use(code, RDX);
	x86_64_compare_constant(code, RCX, 0);
	x86_64_branch(code, X86_64_E, NATIVE_NOT_FALSE);
	if (op == NATIVE_DIV_SIGNED || op == NATIVE_REM_SIGNED)
		divide_signed(code, remains);
	else
		x86_64_divide(code, false, RCX);
	if (remains)
		x86_64_move(code, RAX, RDX);
}

static void combine(struct native_code *code, enum native_arith op,
		    struct native_operand b)
{
	static const uint8_t which[] = {
		[NATIVE_ADD] = X86_64_ADD, [NATIVE_SUB] = X86_64_SUB,
		[NATIVE_AND] = X86_64_AND, [NATIVE_OR] = X86_64_OR,
		[NATIVE_XOR] = X86_64_XOR,
	};
	const bool is_short = b.kind == NATIVE_CONSTANT && x86_64_is_short(b.value);

	if (op == NATIVE_MUL)
		x86_64_multiply(code, RAX, load(code, b, RCX));
	else if (is_short)
		x86_64_combine_constant(code, which[op], RAX, (int32_t)b.value);
	else
		x86_64_combine(code, which[op], RAX, load(code, b, RCX));
}

static void arith(struct native_code *code, enum native_arith op, unsigned int slot,
		  struct native_operand a, struct native_operand b)
{
	load_to(code, a, RAX);
	switch (op) {
	case NATIVE_LSH:
	case NATIVE_RSH_SIGNED:
	case NATIVE_RSH_UNSIGNED:
		shift(code, op, b);
		break;
	case NATIVE_DIV_SIGNED:
	case NATIVE_DIV_UNSIGNED:
	case NATIVE_REM_SIGNED:
	case NATIVE_REM_UNSIGNED:
		divide(code, op, b);
		break;
	default:
		combine(code, op, b);
		break;
	}
	store(code, slot, RAX);
}

static void extend(struct native_code *code, bool is_signed, unsigned int bits,
		   unsigned int slot, struct native_operand a)
{
	load_to(code, a, RAX);
	if (bits == 0) {
		x86_64_constant(code, RAX, 0);
	} else {
		x86_64_shift(code, X86_64_SHL, RAX, 64 - bits);
		x86_64_shift(code, is_signed ? X86_64_SAR : X86_64_SHR, RAX, 64 - bits);
	}
	store(code, slot, RAX);
}

static uint8_t condition(enum native_compare compare)
{
	static const uint8_t conditions[] = {
		[NATIVE_EQ] = X86_64_E,		 [NATIVE_NE] = X86_64_NE,
		[NATIVE_LT_SIGNED] = X86_64_L,	 [NATIVE_LE_SIGNED] = X86_64_LE,
		[NATIVE_GT_SIGNED] = X86_64_G,	 [NATIVE_GE_SIGNED] = X86_64_GE,
		[NATIVE_LT_UNSIGNED] = X86_64_B, [NATIVE_LE_UNSIGNED] = X86_64_BE,
		[NATIVE_GT_UNSIGNED] = X86_64_A, [NATIVE_GE_UNSIGNED] = X86_64_AE,
	};

	return conditions[compare];
}

static void emit_compare(struct native_code *code, struct native_operand a,
			 struct native_operand b)
{
	const uint8_t reg = load(code, a, RAX);

	if (b.kind == NATIVE_CONSTANT && x86_64_is_short(b.value))
		x86_64_compare_constant(code, reg, (int32_t)b.value);
	else
		x86_64_combine(code, X86_64_CMP, reg, load(code, b, RCX));
}

static void set(struct native_code *code, enum native_compare compare,
		unsigned int slot, struct native_operand a, struct native_operand b)
{
	emit_compare(code, a, b);
	x86_64_set_rax(code, condition(compare));
	store(code, slot, RAX);
}

static void branch(struct native_code *code, enum native_compare compare,
		   struct native_operand a, struct native_operand b, unsigned int label)
{
	emit_compare(code, a, b);
	x86_64_branch(code, condition(compare), label);
}

/* ---- memory ---- */

enum { FIRST = RAX, SHARED = RCX, LAST = RDX };

static void compare_shared(struct native_code *code, bool last, size_t offset)
{
	x86_64_compare_memory(code, last ? LAST : FIRST, SHARED, (int32_t)offset);
}

static void branch_on(struct native_code *code, enum native_compare compare,
		      unsigned int label)
{
	x86_64_branch(code, condition(compare), label);
}

/* What is to be read is at FIRST. */
static void check_shadow(struct native_code *code, unsigned int size)
{
	x86_64_constant(code, use(code, SHARED), code->shared);
	x86_64_lea(code, use(code, LAST), FIRST, (int32_t)size - 1);
	native_check_shadow(code, &x86_64_native);
}

static void load_memory(struct native_code *code, unsigned int size, unsigned int slot,
			struct native_operand a)
{
	code->reads = true;
	load_to(code, a, FIRST);
	check_shadow(code, size);
	x86_64_load(code, size, slot_register(code, slot), FIRST, 0);
}

static void check_thread_word(struct native_code *code, int32_t offset)
{
	x86_64_compare_thread_word(code, offset);
	x86_64_branch(code, X86_64_NE, NATIVE_NOT_FALSE);
}

/* ---- the end ---- */

static void jump(struct native_code *code, unsigned int label)
{
	x86_64_jump_to(code, label);
}

static void restore_all(struct native_code *code, bool counted)
{
	x86_64_load(code, WORD, RAX, RSP, (int32_t)saved_at(code, NATIVE_SAVED_FLAGS));
	for (unsigned int reg = RAX + 1; reg < GENERAL; reg++)
		if (uses(code, reg))
			load_register(code, x86_64_number(reg), (uint8_t)reg);
	x86_64_rax_to_flags(code);
	x86_64_load(code, WORD, RAX, RSP,
		    (int32_t)saved_at(code, NATIVE_SAVED_SCRATCH));
	x86_64_lea(code, RSP, RSP, (int32_t)frame_size(code));
	native_begin_state(code, (struct native_state){.counted = counted});
}

/* With nobody to handle the trap, the state by which the hit was counted is nobody's
 * concern either. */
static void check_server(struct native_code *code, unsigned int ended)
{
	x86_64_constant(code, RCX, code->shared);
	x86_64_load(code, sizeof(uint32_t), RAX, RCX,
		    offsetof(struct native_shared, server));
	x86_64_combine_constant(code, X86_64_AND, RAX, FUTEX_TID_MASK);
	x86_64_branch(code, X86_64_E, ended);
}

static void end(struct native_code *code, unsigned int skip)
{
	const unsigned int saved = native_saved_before(code->used, GENERAL);
	const unsigned int after = native_new_labels(code, 2), ended = after + 1;

	x86_64_constant(code, use(code, RCX), code->counter);
	x86_64_count(code, RCX);
	begin_state(code, saved);
	code->state[code->nstates - 1].counted = true;
	native_bind(code, ended);
	restore_all(code, true);
	x86_64_jump_to(code, after);
	begin_state(code, saved);
	native_check_rest(code, &x86_64_native);
	native_bind(code, NATIVE_NOT_FALSE);
	if (code->needs_server)
		check_server(code, ended);
	restore_all(code, false);
	code->label[after] = (uint16_t)(code->len + skip);
}

/* ---- a thread in it ---- */

enum { FLAGS_OF_LAHF = 0xd5, OVERFLOW_BIT = 11 };

static int restore_flags(struct regs *regs, uint64_t saved)
{
	const uint64_t mask = FLAGS_OF_LAHF | UINT64_C(1) << OVERFLOW_BIT;
	uint64_t flags;
	int err = reg_read_u64(regs, X86_64_EFLAGS, &flags);

	flags = (flags & ~mask) | (saved >> 8 & FLAGS_OF_LAHF) |
		(saved & 1) << OVERFLOW_BIT;
	return err < 0 ? err : reg_write_u64(regs, X86_64_EFLAGS, flags);
}

static int restore(struct regs *regs, const struct native_state *state, uint32_t used,
		   const uint64_t *saved)
{
	int err = native_restore(regs, state, used, saved, GENERAL, by_number);

	if (err == 0 && state->changed && state->saved > NATIVE_SAVED_FLAGS)
		err = restore_flags(regs, saved[state->saved - 1 - NATIVE_SAVED_FLAGS]);
	return err;
}

/* ---- the table ---- */

static unsigned int register_bits(unsigned int number)
{
	if (number == X86_64_FS_BASE || number == X86_64_GS_BASE)
		return getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE ? 64 : 0;
	return number < GENERAL || number == X86_64_RIP ? 64 : 0;
}

/* lahf in 64-bit mode: CPUID.80000001H:ECX[0] */
static bool usable(void)
{
	unsigned int last, a, b, c, d;

	__cpuid(0x80000000, last, b, c, d);
	if (last < 0x80000001)
		return false;
	__cpuid(0x80000001, a, b, c, d);
	return c & 1;
}

const struct native_ops x86_64_native = {
	.slots = sizeof(slot_registers),
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
	.refer = x86_64_refer,
	.shorten = x86_64_shorten,
	.restore = restore,
};
