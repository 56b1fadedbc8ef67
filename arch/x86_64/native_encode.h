/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The instructions of native code (Intel SDM volume 2), each of 64 bits if nothing else
 * is said. Registers are numbered as the processor does.
 */
#ifndef TRUEHIT_ARCH_X86_64_NATIVE_ENCODE_H
#define TRUEHIT_ARCH_X86_64_NATIVE_ENCODE_H

#include "arch/native.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

/** Two operands of a group: the reg field of its immediate form. */
enum {
	X86_64_ADD = 0,
	X86_64_OR = 1,
	X86_64_AND = 4,
	X86_64_SUB = 5,
	X86_64_XOR = 6,
	X86_64_CMP = 7,
};
/** Shifts, the same. */
enum { X86_64_SHL = 4, X86_64_SHR = 5, X86_64_SAR = 7 };
/** Conditions. */
enum {
	X86_64_B = 2,
	X86_64_AE = 3,
	X86_64_E = 4,
	X86_64_NE = 5,
	X86_64_BE = 6,
	X86_64_A = 7,
	X86_64_L = 12,
	X86_64_GE = 13,
	X86_64_LE = 14,
	X86_64_G = 15,
};

/** Is it what 32 bits are extended to by their sign? */
bool x86_64_is_short(uint64_t value);
/** gdb's number of the register. */
unsigned int x86_64_number(unsigned int reg);

void x86_64_push(struct native_code *code, uint8_t reg);
/** ah and al have the flags but for the trap flag's kind; and back. */
void x86_64_flags_to_rax(struct native_code *code);
void x86_64_rax_to_flags(struct native_code *code);
/** Changes no flags but for zero. */
void x86_64_constant(struct native_code *code, uint8_t to, uint64_t value);
/** Nothing, if they are the same. */
void x86_64_move(struct native_code *code, uint8_t to, uint8_t from);
void x86_64_lea(struct native_code *code, uint8_t to, uint8_t base,
		int32_t displacement);
/** So many bytes, extended by zeroes. */
void x86_64_load(struct native_code *code, unsigned int size, uint8_t to, uint8_t base,
		 int32_t displacement);
void x86_64_compare_memory(struct native_code *code, uint8_t reg, uint8_t base,
			   int32_t displacement);
void x86_64_combine(struct native_code *code, uint8_t op, uint8_t to, uint8_t from);
void x86_64_combine_constant(struct native_code *code, uint8_t op, uint8_t to,
			     int32_t value);
void x86_64_compare_constant(struct native_code *code, uint8_t reg, int32_t value);
void x86_64_multiply(struct native_code *code, uint8_t to, uint8_t from);
void x86_64_negate(struct native_code *code, uint8_t reg);
/** rax, rdx = rax / by, what remains; by zero, or with a result that does not fit, it
 * faults. */
void x86_64_divide(struct native_code *code, bool is_signed, uint8_t by);
void x86_64_shift(struct native_code *code, uint8_t op, uint8_t reg, uint64_t count);
void x86_64_shift_by_cl(struct native_code *code, uint8_t op, uint8_t reg);
/** rax = does the condition hold? */
void x86_64_set_rax(struct native_code *code, uint8_t condition);
void x86_64_branch(struct native_code *code, uint8_t condition, unsigned int label);
void x86_64_jump_to(struct native_code *code, unsigned int label);
/** native_ops.refer, and .shorten. */
void x86_64_refer(uint8_t *at, unsigned int len, int32_t distance);
unsigned int x86_64_shorten(uint8_t *at, int32_t distance);
/** Compares 8 bytes of thread-local memory with zero. */
void x86_64_compare_thread_word(struct native_code *code, int32_t offset);
/** The base address of fs, or of gs; only where the processor lets programs read it. */
void x86_64_segment_base(struct native_code *code, uint8_t to, bool is_gs);
/** Adds one to 8 bytes of memory, at once for all processors. */
void x86_64_count(struct native_code *code, uint8_t base);

#endif
