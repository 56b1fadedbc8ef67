/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/compiler/emit_probe.h"

#include <stddef.h>

#include "bpf/emit/emit_exits.h"
#include "bpf/emit/emit_scratch.h"
#include "bpf/compiler/emit_sequence.h"
#include "bpf/emit/emit_values.h"
#include "bpf/emit/emit_where.h"

#define RECORD_FIELD(field) ((int16_t)offsetof(struct bpf_hit_record, field))

enum { REG_RECORD = REG_BY_STOP };

bool probe_is(const struct compiler *c)
{
	return c->options->site.kind != BPF_KIND_EVENT;
}

/* Keeps the stack the thread's own (uprobe_program.h). It finds no program, and goes
 * on. */
static void emit_tail_call(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;

	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_1, REG_CONTEXT));
	bpf_emit_map(e, BPF_REG_2, c->options->nothing_fds[c->options->site.kind]);
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_3, 0));
	bpf_emit(e, bpf_call(BPF_FUNC_tail_call));
}

enum { TEXT_WORD = sizeof(uint64_t) };

/* To the maybe exit unless the program sees these bytes of the instruction. */
static void emit_check_insn(struct compiler *c, unsigned int from, unsigned int size,
			    int16_t field)
{
	struct bpf_emitter *e = &c->emitter;

	bpf_emit(e, bpf_store_imm(BPF_DW, BPF_REG_FP, FRAME_SCRATCH, 0));
	values_load_context_pc(c, BPF_REG_3);
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_3, (int32_t)from));
	scratch_emit_read(e, BPF_FUNC_probe_read_user, (int32_t)size);
	exits_doubt(c, bpf_jump_if_imm(BPF_JNE, BPF_REG_0, 0), BPF_DOUBT_TEXT);
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, BPF_REG_FP, FRAME_SCRATCH));
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_2, REG_LOCATION, field));
	exits_doubt(c, bpf_jump_if(BPF_JNE, BPF_REG_1, BPF_REG_2), BPF_DOUBT_TEXT);
}

/* The kernel executes what it has found there, whatever has become of it since. */
static void emit_check_text(struct compiler *c)
{
	const unsigned int len = c->options->site.insn_len;
	int16_t field = offsetof(struct bpf_location, text);

	for (unsigned int at = c->options->arch->breakpoint_len; at < len;
	     at += TEXT_WORD) {
		emit_check_insn(c, at, len - at < TEXT_WORD ? len - at : TEXT_WORD,
				field);
		field += TEXT_WORD;
	}
}

static void emit_pc_in_pad(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;

	if (!c->options->site.in_pad)
		return;
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, REG_LOCATION,
			     offsetof(struct bpf_location, pc)));
	bpf_emit(e, bpf_store(BPF_DW, BPF_REG_FP, FRAME_PC, BPF_REG_1));
}

void probe_emit_begin(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t here;

	if (!probe_is(c))
		return;
	here = bpf_emit_new_labels(e, 1);
	where_emit(c);
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_2, REG_LOCATION,
			     offsetof(struct bpf_location, armed)));
	values_load_context_pc(c, BPF_REG_1);
	bpf_emit_jump(e, bpf_jump_if(BPF_JEQ, BPF_REG_1, BPF_REG_2), here);
	emit_tail_call(c);
	exits_return(c, 0);
	bpf_emit_bind(e, here);
	emit_pc_in_pad(c);
	emit_check_text(c);
	sequence_emit_check(c);
}

/* The record's field = size bytes from what r3 points to; r0 = 0, or an error. */
static void emit_copy(struct bpf_emitter *e, int32_t helper, int16_t field,
		      int32_t size)
{
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_1, REG_RECORD));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_1, field));
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_2, size));
	bpf_emit(e, bpf_call(helper));
}

/* r3 += register * scale */
static void emit_add(struct compiler *c, unsigned int number, unsigned int scale)
{
	struct bpf_emitter *e = &c->emitter;

	if (number == REG_NONE)
		return;
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, REG_CONTEXT,
			     c->registers[number].bpf_offset));
	if (scale != 1)
		bpf_emit(e, bpf_alu_imm(BPF_MUL, BPF_REG_1, (int32_t)scale));
	bpf_emit(e, bpf_alu(BPF_ADD, BPF_REG_3, BPF_REG_1));
}

static void emit_stored(struct compiler *c)
{
	const struct insn_store *store = &c->options->site.store;
	struct bpf_emitter *e = &c->emitter;
	uint32_t done = bpf_emit_new_labels(e, 1);

	bpf_emit(e, bpf_store_imm(BPF_DW, REG_RECORD, RECORD_FIELD(stored_known), 0));
	if (store->len > 0) {
		bpf_emit_const(e, BPF_REG_3, (uint64_t)store->displacement);
		emit_add(c, store->base, 1);
		emit_add(c, store->index, store->scale);
		emit_copy(e, BPF_FUNC_probe_read_user, RECORD_FIELD(stored),
			  (int32_t)store->len);
		bpf_emit_jump(e, bpf_jump_if_imm(BPF_JNE, BPF_REG_0, 0), done);
		bpf_emit(e, bpf_store_imm(BPF_DW, REG_RECORD,
					  RECORD_FIELD(stored_known), 1));
	}
	bpf_emit_bind(e, done);
}

/* Only the record tells where the thread was: without, it goes on. */
static void emit_redirect(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t unknown;

	if (!c->options->site.redirects)
		return;
	unknown = bpf_emit_new_labels(e, 1);
	bpf_emit(e, bpf_load(BPF_W, BPF_REG_1, BPF_REG_FP, FRAME_TID));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_1, 0), unknown);
	bpf_emit_const(e, BPF_REG_1, c->options->arch->nowhere);
	values_store_pc(c, BPF_REG_1);
	bpf_emit_bind(e, unknown);
}

/* There is not enough room in the frame for all of it. */
void probe_emit_send(struct compiler *c, uint32_t sent)
{
	const int32_t registers = 8 * (int32_t)c->options->arch->bpf_context_words;
	struct bpf_emitter *e = &c->emitter;
	uint32_t full = bpf_emit_new_labels(e, 1);

	bpf_emit_map(e, BPF_REG_1, c->options->ring_fd);
	bpf_emit(e,
		 bpf_alu_imm(BPF_MOV, BPF_REG_2, RECORD_FIELD(registers) + registers));
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_3, 0));
	bpf_emit(e, bpf_call(BPF_FUNC_ringbuf_reserve));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_0, 0), full);
	bpf_emit(e, bpf_alu(BPF_MOV, REG_RECORD, BPF_REG_0));

	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_3, BPF_REG_FP));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_3, FRAME_RECORD));
	emit_copy(e, BPF_FUNC_probe_read_kernel, 0, BPF_HIT_RECORD_HEAD);
	emit_stored(c);
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_3, REG_CONTEXT));
	emit_copy(e, BPF_FUNC_probe_read_kernel, RECORD_FIELD(registers), registers);

	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_1, REG_RECORD));
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_2, 0));
	bpf_emit(e, bpf_call(BPF_FUNC_ringbuf_submit));
	emit_redirect(c);
	bpf_emit_jump(e, bpf_jump(), sent);
	bpf_emit_bind(e, full);
}
