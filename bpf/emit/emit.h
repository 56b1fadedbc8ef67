/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A BPF program in the making: instructions, and jumps to labels that may be
 * bound later. Errors are remembered and told by bpf_emit_finish().
 *
 * Source of the encoding: Documentation/bpf/standardization/instruction-set.rst
 * of the kernel.
 */
#ifndef TRUEHIT_BPF_EMIT_EMIT_H
#define TRUEHIT_BPF_EMIT_EMIT_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gdbstub/base/error.h"

enum { BPF_REG_FP = BPF_REG_10 }; /* the end of the stack, read-only */

struct bpf_emitter {
	struct bpf_insn *insns;
	uint32_t *targets; /* by instruction: label + 1 of a jump, or 0 */
	size_t count, capacity;
	uint32_t *labels; /* by label: the instruction it is bound to */
	uint32_t nlabels;
	int error; /* negative errno */
};

void bpf_emitter_deinit(struct bpf_emitter *e);

/** Makes @count new labels; returns the first, the others follow it. */
uint32_t bpf_emit_new_labels(struct bpf_emitter *e, uint32_t count);
/** The label is the next instruction. */
void bpf_emit_bind(struct bpf_emitter *e, uint32_t label);

void bpf_emit(struct bpf_emitter *e, struct bpf_insn insn);
/** A jump made by bpf_jump*(), whose offset is filled in at the end. */
void bpf_emit_jump(struct bpf_emitter *e, struct bpf_insn insn, uint32_t label);
/** dst = value, in as many instructions as it takes. */
void bpf_emit_const(struct bpf_emitter *e, uint8_t dst, uint64_t value);
/** dst = the map itself, for helpers. */
void bpf_emit_map(struct bpf_emitter *e, uint8_t dst, int fd);
/** dst = address of byte @offset of the value of a map with a single one. */
void bpf_emit_map_value(struct bpf_emitter *e, uint8_t dst, int fd, uint32_t offset);

/** Resolves the jumps. The caller frees *insns. */
struct error *bpf_emit_finish(struct bpf_emitter *e, struct bpf_insn **insns,
			      size_t *count);

/** Is the value what a 32-bit immediate is sign-extended to? */
static inline bool bpf_fits_imm(uint64_t value)
{
	return (int64_t)value == (int32_t)value;
}

/** dst = dst op src, 64 bits; @op is BPF_ADD, BPF_MOV, ... */
static inline struct bpf_insn bpf_alu(uint8_t op, uint8_t dst, uint8_t src)
{
	return (struct bpf_insn){
		.code = BPF_ALU64 | BPF_X | op, .dst_reg = dst, .src_reg = src};
}

static inline struct bpf_insn bpf_alu_imm(uint8_t op, uint8_t dst, int32_t imm)
{
	return (struct bpf_insn){
		.code = BPF_ALU64 | BPF_K | op, .dst_reg = dst, .imm = imm};
}

/** dst = the low 32 bits of src */
static inline struct bpf_insn bpf_mov32(uint8_t dst, uint8_t src)
{
	return (struct bpf_insn){
		.code = BPF_ALU | BPF_X | BPF_MOV, .dst_reg = dst, .src_reg = src};
}

/** dst = *(src + offset); @size is BPF_B, BPF_H, BPF_W, BPF_DW */
static inline struct bpf_insn bpf_load(uint8_t size, uint8_t dst, uint8_t src,
				       int16_t offset)
{
	return (struct bpf_insn){.code = BPF_LDX | BPF_MEM | size,
				 .dst_reg = dst,
				 .src_reg = src,
				 .off = offset};
}

/** *(dst + offset) = src */
static inline struct bpf_insn bpf_store(uint8_t size, uint8_t dst, int16_t offset,
					uint8_t src)
{
	return (struct bpf_insn){.code = BPF_STX | BPF_MEM | size,
				 .dst_reg = dst,
				 .src_reg = src,
				 .off = offset};
}

static inline struct bpf_insn bpf_store_imm(uint8_t size, uint8_t dst, int16_t offset,
					    int32_t imm)
{
	return (struct bpf_insn){.code = BPF_ST | BPF_MEM | size,
				 .dst_reg = dst,
				 .off = offset,
				 .imm = imm};
}

/** *(uint64_t *)(dst + offset) += src, atomically */
static inline struct bpf_insn bpf_atomic_add(uint8_t dst, int16_t offset, uint8_t src)
{
	return (struct bpf_insn){.code = BPF_STX | BPF_ATOMIC | BPF_DW,
				 .dst_reg = dst,
				 .src_reg = src,
				 .off = offset,
				 .imm = BPF_ADD};
}

/** *(uint64_t *)(dst + offset) += src, atomically; src becomes what was there before.
 * Since Linux 5.12, as the next two. */
static inline struct bpf_insn bpf_fetch_add(uint8_t dst, int16_t offset, uint8_t src)
{
	struct bpf_insn insn = bpf_atomic_add(dst, offset, src);

	insn.imm |= BPF_FETCH;
	return insn;
}

/** *(uint64_t *)(dst + offset) = src, atomically; src becomes what was there before. */
static inline struct bpf_insn bpf_exchange(uint8_t dst, int16_t offset, uint8_t src)
{
	struct bpf_insn insn = bpf_atomic_add(dst, offset, src);

	insn.imm = BPF_XCHG;
	return insn;
}

/** If *(uint64_t *)(dst + offset) is r0, it becomes src, atomically; r0 is what was
 * there before. */
static inline struct bpf_insn bpf_compare_exchange(uint8_t dst, int16_t offset,
						   uint8_t src)
{
	struct bpf_insn insn = bpf_atomic_add(dst, offset, src);

	insn.imm = BPF_CMPXCHG;
	return insn;
}

static inline struct bpf_insn bpf_jump(void)
{
	return (struct bpf_insn){.code = BPF_JMP | BPF_JA};
}

/** A jump if dst op src; @op is BPF_JEQ, BPF_JSLT, ... */
static inline struct bpf_insn bpf_jump_if(uint8_t op, uint8_t dst, uint8_t src)
{
	return (struct bpf_insn){
		.code = BPF_JMP | BPF_X | op, .dst_reg = dst, .src_reg = src};
}

static inline struct bpf_insn bpf_jump_if_imm(uint8_t op, uint8_t dst, int32_t imm)
{
	return (struct bpf_insn){
		.code = BPF_JMP | BPF_K | op, .dst_reg = dst, .imm = imm};
}

static inline struct bpf_insn bpf_call(int32_t helper)
{
	return (struct bpf_insn){.code = BPF_JMP | BPF_CALL, .imm = helper};
}

static inline struct bpf_insn bpf_exit(void)
{
	return (struct bpf_insn){.code = BPF_JMP | BPF_EXIT};
}

#endif
