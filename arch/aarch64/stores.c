/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The instructions that store general registers (Arm ARM, C4.1 "A64 instruction set
 * encoding", Loads and Stores). Not here, so that gdb steps over them and looks: what
 * stores other registers, of which a BPF program sees nothing; what reads before it
 * writes; and exclusive stores, which every hit makes fail.
 */
#include "arch/aarch64/aarch64.h"

/* Where the numbers are. */
#define SIZE  .size = {30, 2}
#define RT    .data = {0, 5}
#define RN    .base = {5, 5}
#define IMM9  .immediate = {12, 9}, .immediate_signed = true
#define INDEX .index = {16, 5}, .shift = {12, 1}

/* Two registers of (1 << log2) bytes each. */
#define PAIR(mask, value, log2)                                                        \
	.insn = {mask, value}, .log2_size = (log2), RT, .second = {10, 5}, RN
#define IMM7 .immediate = {15, 7}, .immediate_signed = true, .immediate_scaled = true

static const struct store_form forms[] = {
	/* str, strb, strh: unsigned offset */
	{.insn = {0x3fc00000, 0x39000000},
	 SIZE,
	 RT,
	 RN,
	 .immediate = {10, 12},
	 .immediate_scaled = true},
	/* ... register offset: uxtw; lsl and sxtx, which are the same; sxtw */
	{.insn = {0x3fe0ec00, 0x38204800}, SIZE, RT, RN, INDEX, .index_bits = 32},
	{.insn = {0x3fe06c00, 0x38206800}, SIZE, RT, RN, INDEX, .index_bits = 64},
	{.insn = {0x3fe0ec00, 0x3820c800},
	 SIZE,
	 RT,
	 RN,
	 INDEX,
	 .index_bits = 32,
	 .index_signed = true},
	/* ... pre-index, post-index */
	{.insn = {0x3fe00c00, 0x38000c00}, SIZE, RT, RN, IMM9, .writes_back = true},
	{.insn = {0x3fe00c00, 0x38000400}, SIZE, RT, RN, .writes_back = true},
	/* stur, sttr and their kin */
	{.insn = {0x3fe00400, 0x38000000}, SIZE, RT, RN, IMM9},
	/* stp of w registers: signed offset, pre-index, post-index; stnp */
	{PAIR(0xffc00000, 0x29000000, 2), IMM7},
	{PAIR(0xffc00000, 0x29800000, 2), IMM7, .writes_back = true},
	{PAIR(0xffc00000, 0x28800000, 2), .writes_back = true},
	{PAIR(0xffc00000, 0x28000000, 2), IMM7},
	/* ... of x registers */
	{PAIR(0xffc00000, 0xa9000000, 3), IMM7},
	{PAIR(0xffc00000, 0xa9800000, 3), IMM7, .writes_back = true},
	{PAIR(0xffc00000, 0xa8800000, 3), .writes_back = true},
	{PAIR(0xffc00000, 0xa8000000, 3), IMM7},
	/* stlr and stllr; stlur */
	{.insn = {0x3fff7c00, 0x089f7c00}, SIZE, RT, RN},
	{.insn = {0x3fe00c00, 0x19000000}, SIZE, RT, RN, IMM9},
	/* swp, swpa, swpl, swpal: what it reads is not what it stores */
	{.insn = {0x3f20fc00, 0x38208000}, SIZE, .data = {16, 5}, RN, .loads = true},
};

const struct store_forms aarch64_stores = {
	.form = forms,
	.count = sizeof(forms) / sizeof(*forms),
	.registers = AARCH64_SP + 1,
	.zero = 31,
	/* The top byte may be a tag, which the kernel lets programs use. */
	.address_bits = 56,
};
