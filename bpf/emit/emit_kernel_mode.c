/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hits in kernel mode: a system call of the thread has written to what is watched.
 *
 * What it copies comes in pieces, down to single bytes, each of them a hit. A piece
 * that changes something is left to the stub, which looks once, where the call
 * returns: values in between are nobody's business, and a condition on registers is
 * about those of the program.
 */
#include "bpf/emit/emit_kernel_mode.h"

#include "bpf/emit/emit_exits.h"
#include "bpf/emit/emit_scratch.h"
#include "bpf/emit/emit_values.h"

/* task_struct.flags: the task is being shut down (include/linux/sched.h). */
enum { PF_EXITING = 4 };

/* reg = the bits that tell the mode */
static void load_mode(struct compiler *c, uint8_t reg)
{
	const struct bpf_user_mode *mode = c->options->arch->bpf_user_mode;

	bpf_emit(&c->emitter, bpf_load(BPF_DW, reg, REG_CONTEXT, mode->offset));
	bpf_emit(&c->emitter, bpf_alu_imm(BPF_AND, reg, (int32_t)mode->mask));
}

static int32_t user_mode(const struct compiler *c)
{
	return (int32_t)c->options->arch->bpf_user_mode->user;
}

/* r1 = *(uint32_t *)(r7 + offset), or 0 */
static void load_task_member(struct bpf_emitter *e, int offset)
{
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_3, BPF_REG_7));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_3, offset));
	scratch_emit_read(e, BPF_FUNC_probe_read_kernel, 4);
	bpf_emit(e, bpf_load(BPF_W, BPF_REG_1, BPF_REG_FP, FRAME_SCRATCH));
}

/*
 * A worker of io_uring is a thread of the process that nobody traces: a signal to
 * it would never be seen, or stop the process for good. A thread that ends (the
 * kernel clears its tid then) does not get its signal any more.
 */
void kernel_mode_emit_begin(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t proceed, nobody;

	if (!c->options->kernel_mode)
		return;
	proceed = bpf_emit_new_labels(e, 2);
	nobody = proceed + 1;
	load_mode(c, BPF_REG_1);
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_1, user_mode(c)), proceed);
	bpf_emit(e, bpf_call(BPF_FUNC_get_current_task));
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_7, BPF_REG_0));
	load_task_member(e, c->options->task_ptrace_offset);
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_1, 0), nobody);
	load_task_member(e, c->options->task_flags_offset);
	bpf_emit(e, bpf_alu_imm(BPF_AND, BPF_REG_1, PF_EXITING));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_1, 0), proceed);
	bpf_emit_bind(e, nobody);
	exits_return(c, 0);
	bpf_emit_bind(e, proceed);
}

void kernel_mode_check_user(struct compiler *c, uint8_t reg)
{
	if (!c->options->kernel_mode)
		return;
	load_mode(c, reg);
	exits_doubt(c, bpf_jump_if_imm(BPF_JNE, reg, user_mode(c)), BPF_DOUBT_KERNEL);
}
