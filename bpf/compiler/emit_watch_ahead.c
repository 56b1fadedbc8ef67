/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The value filter where hits come before the access (arch_ops.stores). The program
 * reads the instruction and what is watched, puts over that what the instruction is
 * about to store, and compares the outcome with what the client has seen last. Any
 * other instruction, and one that does not reach what is watched, is a maybe.
 *
 * With conditions, which the stub decides after the access, a hit is dropped only if it
 * is false whatever else threads are about to store, by hits that were dropped before:
 * such a store may come late. So the instruction has to store all of what is watched,
 * and whether that is a change is not asked.
 */
#include "bpf/compiler/emit_watch_ahead.h"

#include "gdbstub/agent/expr.h"
#include "gdbstub/agent/insn.h"
#include "bpf/emit/emit_exits.h"
#include "bpf/emit/emit_kernel_mode.h"
#include "bpf/emit/emit_scratch.h"
#include "bpf/emit/emit_values.h"
#include "bpf/compiler/emit_watch.h"
#include "bpf/compiler/emit_watched.h"

enum {
	/* The watched bytes, with room for a store that begins before them or ends
	 * after. */
	STORE_MAX = 16,
	BYTES_SIZE = STORE_MAX + WATCH_BYTES + STORE_MAX,
	FRAME_BYTES = FRAME_RECORD - BYTES_SIZE,
	FRAME_WATCHED = FRAME_BYTES + STORE_MAX,
	/* The registers, so that an instruction's number can be an index, and a 0. */
	REGISTERS_MAX = 32,
	FRAME_REGISTERS = FRAME_BYTES - 8 * (REGISTERS_MAX + 1),

	REG_WORD = BPF_REG_7, /* the instruction */
	REG_SIZE = BPF_REG_8, /* log2 of the bytes of each register that it stores */
	REG_ADDRESS = BPF_REG_9,
	REG_LEN = BPF_REG_0, /* bytes that it stores: 1, 2, 4, 8 or 16 */
	REG_LOW = BPF_REG_3, /* ... the first 8 of them */
	REG_HIGH = BPF_REG_4,
	REG_DIFFERENT = BPF_REG_9, /* not 0: it changes something */

	/* What is watched after the access, where watch_has() finds it. */
	FRAME_NEW = FRAME_VALUES + (int)offsetof(struct watch_values, new),
	/* Where the store begins, and how long it is. */
	FRAME_START = FRAME_VALUES + (int)offsetof(struct watch_values, old),
	FRAME_LEN = FRAME_START + 8,
};

_Static_assert(FRAME_BYTES % 8 == 0 && FRAME_REGISTERS >= -FRAME_SIZE,
	       "all of it fits on BPF's stack");

/* ---- what can be known ---- */

static void emit_registers(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	const unsigned int count = c->options->arch->stores->registers;

	for (unsigned int i = 0; i < count; i++) {
		bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, REG_CONTEXT,
				     c->registers[i].bpf_offset));
		bpf_emit(e,
			 bpf_store(BPF_DW, BPF_REG_FP,
				   (int16_t)(FRAME_REGISTERS + 8 * (int)i), BPF_REG_1));
	}
	bpf_emit(e, bpf_store_imm(BPF_DW, BPF_REG_FP,
				  FRAME_REGISTERS + 8 * REGISTERS_MAX, 0));
}

static void emit_memory(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;

	for (int i = 0; i < BYTES_SIZE; i += 8)
		bpf_emit(e, bpf_store_imm(BPF_DW, BPF_REG_FP,
					  (int16_t)(FRAME_BYTES + i), 0));
	watched_emit_read(c, FRAME_WATCHED);
	exits_doubt(c, bpf_jump_if_imm(BPF_JNE, BPF_REG_0, 0), BPF_DOUBT_PAGE);
}

static void emit_word(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;

	values_load_pc(c, BPF_REG_3);
	scratch_emit_read(e, BPF_FUNC_probe_read_user, 4);
	exits_doubt(c, bpf_jump_if_imm(BPF_JNE, BPF_REG_0, 0), BPF_DOUBT_PAGE);
	bpf_emit(e, bpf_load(BPF_W, REG_WORD, BPF_REG_FP, FRAME_SCRATCH));
}

/* ---- one form of instructions ---- */

static void emit_field(struct bpf_emitter *e, uint8_t reg, struct insn_field field,
		       bool is_signed)
{
	bpf_emit(e, bpf_alu(BPF_MOV, reg, REG_WORD));
	if (is_signed) {
		bpf_emit(e, bpf_alu_imm(BPF_LSH, reg, 64 - field.at - field.len));
		bpf_emit(e, bpf_alu_imm(BPF_ARSH, reg, 64 - field.len));
		return;
	}
	bpf_emit(e, bpf_alu_imm(BPF_RSH, reg, field.at));
	bpf_emit(e, bpf_alu_imm(BPF_AND, reg, (int32_t)((1U << field.len) - 1)));
}

/* reg = the register with the number in r1 */
static void emit_load(struct bpf_emitter *e, uint8_t reg)
{
	bpf_emit(e, bpf_alu_imm(BPF_LSH, BPF_REG_1, 3));
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_2, BPF_REG_FP));
	bpf_emit(e, bpf_alu(BPF_ADD, BPF_REG_2, BPF_REG_1));
	bpf_emit(e, bpf_load(BPF_DW, reg, BPF_REG_2, FRAME_REGISTERS));
}

/* reg = the register that the field names, if that is no base */
static void emit_number(struct compiler *c, uint8_t reg, struct insn_field field)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t load = bpf_emit_new_labels(e, 1);

	emit_field(e, BPF_REG_1, field, false);
	bpf_emit_jump(e,
		      bpf_jump_if_imm(BPF_JNE, BPF_REG_1,
				      (int32_t)c->options->arch->stores->zero),
		      load);
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_1, REGISTERS_MAX));
	bpf_emit_bind(e, load);
	emit_load(e, reg);
}

static void emit_index(struct compiler *c, const struct store_form *form)
{
	struct bpf_emitter *e = &c->emitter;

	emit_number(c, BPF_REG_1, form->index);
	if (form->index_signed)
		values_sign_extend(e, BPF_REG_1, form->index_bits);
	else
		values_zero_extend(e, BPF_REG_1, form->index_bits);
	emit_field(e, BPF_REG_2, form->shift, false);
	bpf_emit(e, bpf_alu(BPF_MUL, BPF_REG_2, REG_SIZE));
	bpf_emit(e, bpf_alu(BPF_LSH, BPF_REG_1, BPF_REG_2));
	bpf_emit(e, bpf_alu(BPF_ADD, REG_ADDRESS, BPF_REG_1));
}

static void emit_address(struct compiler *c, const struct store_form *form)
{
	struct bpf_emitter *e = &c->emitter;

	emit_field(e, BPF_REG_1, form->base, false);
	emit_load(e, REG_ADDRESS);
	if (form->immediate.len > 0) {
		emit_field(e, BPF_REG_1, form->immediate, form->immediate_signed);
		if (form->immediate_scaled)
			bpf_emit(e, bpf_alu(BPF_LSH, BPF_REG_1, REG_SIZE));
		bpf_emit(e, bpf_alu(BPF_ADD, REG_ADDRESS, BPF_REG_1));
	}
	if (form->index.len > 0)
		emit_index(c, form);
}

/* A register that is written back is stored as nobody knows. */
static void emit_check_base(struct compiler *c, const struct store_form *form,
			    struct insn_field data)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t good = bpf_emit_new_labels(e, 1);

	emit_field(e, BPF_REG_1, data, false);
	emit_field(e, BPF_REG_2, form->base, false);
	bpf_emit_jump(e,
		      bpf_jump_if_imm(BPF_JEQ, BPF_REG_1,
				      (int32_t)c->options->arch->stores->zero),
		      good);
	exits_doubt(c, bpf_jump_if(BPF_JEQ, BPF_REG_1, BPF_REG_2), BPF_DOUBT_STORE);
	bpf_emit_bind(e, good);
}

/* What it stores, and how much. */
static void emit_stored(struct compiler *c, const struct store_form *form)
{
	struct bpf_emitter *e = &c->emitter;

	emit_number(c, REG_LOW, form->data);
	if (form->second.len == 0) {
		bpf_emit(e, bpf_alu_imm(BPF_MOV, REG_LEN, 1));
		bpf_emit(e, bpf_alu(BPF_LSH, REG_LEN, REG_SIZE));
		bpf_emit(e, bpf_alu_imm(BPF_MOV, REG_HIGH, 0));
		return;
	}
	emit_number(c, REG_HIGH, form->second);
	bpf_emit(e, bpf_alu_imm(BPF_MOV, REG_LEN, 2 << form->log2_size));
	if (form->log2_size == 3)
		return;
	values_zero_extend(e, REG_LOW, 32);
	bpf_emit(e, bpf_alu_imm(BPF_LSH, REG_HIGH, 32));
	bpf_emit(e, bpf_alu(BPF_OR, REG_LOW, REG_HIGH));
}

static void emit_known_form(struct compiler *c, const struct store_form *form)
{
	struct bpf_emitter *e = &c->emitter;

	if (form->writes_back)
		emit_check_base(c, form, form->data);
	if (form->writes_back && form->second.len > 0)
		emit_check_base(c, form, form->second);
	if (form->size.len > 0)
		emit_field(e, REG_SIZE, form->size, false);
	else
		bpf_emit(e, bpf_alu_imm(BPF_MOV, REG_SIZE, form->log2_size));
	emit_address(c, form);
	emit_stored(c, form);
}

/* Jumps to @known with what it stores, and where; falls through if it is no such
 * instruction. */
static void emit_form(struct compiler *c, const struct store_form *form, uint32_t known)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t next = bpf_emit_new_labels(e, 1);

	bpf_emit_const(e, BPF_REG_1, form->insn.mask);
	bpf_emit_const(e, BPF_REG_2, form->insn.value);
	bpf_emit(e, bpf_alu(BPF_AND, BPF_REG_1, REG_WORD));
	bpf_emit_jump(e, bpf_jump_if(BPF_JNE, BPF_REG_1, BPF_REG_2), next);
	if (c->reads_registers && (form->writes_back || form->loads)) {
		exits_doubt(c, bpf_jump(), BPF_DOUBT_STORE);
		bpf_emit_bind(e, next);
		return;
	}
	emit_known_form(c, form);
	bpf_emit_jump(e, bpf_jump(), known);
	bpf_emit_bind(e, next);
}
/* ---- what becomes of the bytes ---- */

/* What tags an address says nothing of where it is. */
static void emit_untag(struct compiler *c, uint8_t reg)
{
	const int32_t above = 64 - (int32_t)c->options->arch->stores->address_bits;

	bpf_emit(&c->emitter, bpf_alu_imm(BPF_LSH, reg, above));
	bpf_emit(&c->emitter, bpf_alu_imm(BPF_RSH, reg, above));
}

/* r2 = the frame, plus what the store begins after FRAME_BYTES */
static void emit_place(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	const struct bpf_watch *watch = &c->options->site.watch;
	/* It has to reach one of the bytes, or each of them. */
	const unsigned int least = watch->stub_decides ? watch->len : 1;

	emit_untag(c, REG_ADDRESS);
	if (watch->stub_decides) {
		bpf_emit(e, bpf_store(BPF_DW, BPF_REG_FP, FRAME_START, REG_ADDRESS));
		bpf_emit(e, bpf_store(BPF_DW, BPF_REG_FP, FRAME_LEN, REG_LEN));
	}
	bpf_emit_const(e, BPF_REG_1, watch->addr - STORE_MAX);
	bpf_emit(e, bpf_alu(BPF_SUB, REG_ADDRESS, BPF_REG_1));
	exits_doubt(c,
		    bpf_jump_if_imm(BPF_JGT, REG_ADDRESS,
				    (int32_t)(STORE_MAX + watch->len - least)),
		    BPF_DOUBT_STORE);
	/* The other way round, Linux 6.12's verifier takes them for linked, and knows
	 * nothing of the address any more. */
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_1, REG_LEN));
	bpf_emit(e, bpf_alu(BPF_ADD, BPF_REG_1, REG_ADDRESS));
	exits_doubt(c,
		    bpf_jump_if_imm(BPF_JLT, BPF_REG_1, (int32_t)(STORE_MAX + least)),
		    BPF_DOUBT_STORE);
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_2, BPF_REG_FP));
	bpf_emit(e, bpf_alu(BPF_ADD, BPF_REG_2, REG_ADDRESS));
}

/* Byte by byte: wider, the stack is written in aligned pieces only. */
static void emit_overlay(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t done = bpf_emit_new_labels(e, 1);

	for (int i = 0; i < STORE_MAX; i++) {
		uint8_t reg = i < 8 ? REG_LOW : REG_HIGH;

		bpf_emit(e,
			 bpf_store(BPF_B, BPF_REG_2, (int16_t)(FRAME_BYTES + i), reg));
		if (i == 0 || i == 1 || i == 3 || i == 7)
			bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, REG_LEN, i + 1),
				      done);
		bpf_emit(e, bpf_alu_imm(BPF_RSH, reg, 8));
	}
	bpf_emit_bind(e, done);
}

/* r1 = 8 of the bytes that are watched, the rest 0: the store may go on after them. */
static void emit_watched(struct compiler *c, int16_t at)
{
	const int16_t len = (int16_t)c->options->site.watch.len;

	bpf_emit(&c->emitter, bpf_load(BPF_DW, BPF_REG_1, BPF_REG_FP,
				       (int16_t)(FRAME_WATCHED + at)));
	if (len - at < 8)
		values_zero_extend(&c->emitter, BPF_REG_1,
				   8U * (unsigned int)(len - at));
}

static void emit_compare(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	const int16_t bytes = offsetof(struct watch_last, bytes);
	const int16_t len = (int16_t)c->options->site.watch.len;

	bpf_emit(e, bpf_load(BPF_DW, REG_DIFFERENT, REG_LAST,
			     offsetof(struct watch_last, unsure)));
	for (int16_t i = 0; i < len; i += 8) {
		emit_watched(c, i);
		bpf_emit(e,
			 bpf_load(BPF_DW, BPF_REG_2, REG_LAST, (int16_t)(bytes + i)));
		bpf_emit(e, bpf_alu(BPF_XOR, BPF_REG_1, BPF_REG_2));
		bpf_emit(e, bpf_alu(BPF_OR, REG_DIFFERENT, BPF_REG_1));
	}
}

static void emit_take(struct compiler *c)
{
	for (int16_t i = 0; i < (int16_t)c->options->site.watch.len; i += 8) {
		emit_watched(c, i);
		bpf_emit(&c->emitter, bpf_store(BPF_DW, BPF_REG_FP,
						(int16_t)(FRAME_NEW + i), BPF_REG_1));
	}
}

void watch_ahead_emit(struct compiler *c, uint32_t unchanged)
{
	struct bpf_emitter *e = &c->emitter;
	const struct store_forms *stores = c->options->arch->stores;
	uint32_t known = bpf_emit_new_labels(e, 1);

	kernel_mode_check_user(c, BPF_REG_0);
	emit_registers(c);
	emit_memory(c);
	emit_word(c);
	for (unsigned int i = 0; i < stores->count; i++)
		emit_form(c, &stores->form[i], known);
	exits_doubt(c, bpf_jump(), BPF_DOUBT_STORE);
	bpf_emit_bind(e, known);
	emit_place(c);
	emit_overlay(c);
	if (c->options->site.watch.stub_decides) {
		emit_take(c);
		return;
	}
	watched_emit_lock(c);
	emit_compare(c);
	watched_emit_unlock(c);
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, REG_DIFFERENT, 0), unchanged);
}

/* ---- conditions ---- */

void watch_ahead_note_reads(struct compiler *c, const struct agent_list *conditions)
{
	for (size_t i = 0; i < conditions->count; i++) {
		size_t count;
		const struct agent_insn *insns =
			agent_expr_insns(conditions->exprs[i], &count);

		for (size_t at = 0; at < count; at++)
			c->reads_registers |= insns[at].code == AGENT_REG;
	}
}

void watch_ahead_check_read(struct compiler *c, int32_t size)
{
	struct bpf_emitter *e = &c->emitter;

	if (!c->options->site.watch.stub_decides)
		return;
	if (c->options->site.watch.shared_reads) {
		/* Always: the verifier wants some way to what follows. */
		exits_doubt(c, bpf_jump_if_imm(BPF_JGE, BPF_REG_3, 0), BPF_DOUBT_AHEAD);
		return;
	}
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_1, BPF_REG_3));
	emit_untag(c, BPF_REG_1);
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_2, BPF_REG_FP, FRAME_START));
	bpf_emit(e, bpf_alu(BPF_SUB, BPF_REG_1, BPF_REG_2));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_1, size - 1));
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_2, BPF_REG_FP, FRAME_LEN));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_2, size - 1));
	exits_doubt(c, bpf_jump_if(BPF_JLT, BPF_REG_1, BPF_REG_2), BPF_DOUBT_AHEAD);
}

void watch_ahead_keep(struct compiler *c)
{
	const int16_t bytes = offsetof(struct watch_last, bytes);

	watched_emit_lock(c);
	for (int16_t i = 0; i < (int16_t)c->options->site.watch.len; i += 8) {
		bpf_emit(&c->emitter, bpf_load(BPF_DW, BPF_REG_1, BPF_REG_FP,
					       (int16_t)(FRAME_NEW + i)));
		bpf_emit(&c->emitter,
			 bpf_store(BPF_DW, REG_LAST, (int16_t)(bytes + i), BPF_REG_1));
	}
	watched_emit_unlock(c);
}
