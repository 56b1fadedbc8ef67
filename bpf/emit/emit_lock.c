/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A word in shared memory that programs and the stub take for some instructions. A
 * program cannot keep it: it runs to its end, even if its thread is killed. At a uprobe
 * it may be preempted with it; others that wait are not slower for it than the tries
 * take, and leave their hits to the stub, which waits as long as it takes.
 */
#include "bpf/emit/emit_lock.h"

#include "bpf/emit/emit_exits.h"

/* Tries: some microseconds, in which a few others have their turns. */
enum { TRIES = 256 };

void lock_emit_take(struct compiler *c, uint8_t reg, size_t field, enum bpf_doubt doubt)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t again = bpf_emit_new_labels(e, 2), taken = again + 1;

	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_1, 1));
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_3, TRIES));
	bpf_emit_bind(e, again);
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_0, 0));
	bpf_emit(e, bpf_compare_exchange(reg, (int16_t)field, BPF_REG_1));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_0, 0), taken);
	bpf_emit(e, bpf_alu_imm(BPF_SUB, BPF_REG_3, 1));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JNE, BPF_REG_3, 0), again);
	exits_doubt(c, bpf_jump(), doubt);
	bpf_emit_bind(e, taken);
}

/* A full barrier, as taking it. */
void lock_emit_release(struct compiler *c, uint8_t reg, size_t field)
{
	bpf_emit(&c->emitter, bpf_alu_imm(BPF_MOV, BPF_REG_1, -1));
	bpf_emit(&c->emitter, bpf_fetch_add(reg, (int16_t)field, BPF_REG_1));
}
