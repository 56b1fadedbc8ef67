/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/compile.h"

#include <linux/bpf_perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "agent/ir.h"
#include "agent/opcode.h"
#include "base/buffer.h"
#include "bpf/emit.h"
#include "bpf/hits.h"

enum {
	REG_CONTEXT = BPF_REG_6,
	/* The first slots are in registers that helpers leave alone ... */
	REG_SLOT = BPF_REG_7,
	SLOT_REGS = 3,
	/* ... the others below the record on BPF's stack of 512 bytes. */
	FRAME_RECORD = -(int)sizeof(struct bpf_hit_record),
	FRAME_SLOTS = FRAME_RECORD - 8,
	SLOTS_MAX = SLOT_REGS + (512 + FRAME_RECORD) / 8,
	/* 8 bytes for a helper to write to, where no record is yet. */
	FRAME_SCRATCH = -8,
	/* At the exits no slot is needed any more. */
	REG_VERDICT = BPF_REG_7,
	REG_BY_STOP = BPF_REG_8,
	REG_COUNTS = BPF_REG_9,
};

struct compiler {
	const struct bpf_compile_options *options;
	const struct reg_def *registers;
	unsigned int nregisters;
	struct bpf_emitter emitter;
	struct buffer reasons;
	uint32_t label_true, label_maybe;
	uint32_t labels; /* the first label of the condition at hand */
	bool used_true, used_maybe;
};

static void compiler_deinit(struct compiler *c)
{
	bpf_emitter_deinit(&c->emitter);
	buffer_deinit(&c->reasons);
}

/* Values */

static bool is_slot(struct ir_operand operand, unsigned int number)
{
	return operand.kind == IR_SLOT && operand.value == number;
}

static bool is_imm(struct ir_operand operand)
{
	return operand.kind == IR_CONST && bpf_fits_imm(operand.value);
}

static bool slot_in_register(uint64_t number)
{
	return number < SLOT_REGS;
}

static int16_t slot_offset(uint64_t number)
{
	return (int16_t)(FRAME_SLOTS - 8 * (int)(number - SLOT_REGS));
}

static void zero_extend(struct bpf_emitter *e, uint8_t reg, unsigned int bits)
{
	if (bits < 32) {
		bpf_emit(e, bpf_alu_imm(BPF_AND, reg, (int32_t)((1U << bits) - 1)));
	} else if (bits == 32) {
		bpf_emit(e, bpf_mov32(reg, reg));
	} else if (bits < 64) {
		bpf_emit(e, bpf_alu_imm(BPF_LSH, reg, 64 - (int32_t)bits));
		bpf_emit(e, bpf_alu_imm(BPF_RSH, reg, 64 - (int32_t)bits));
	}
}

static void sign_extend(struct bpf_emitter *e, uint8_t reg, unsigned int bits)
{
	bpf_emit(e, bpf_alu_imm(BPF_LSH, reg, 64 - (int32_t)bits));
	bpf_emit(e, bpf_alu_imm(BPF_ARSH, reg, 64 - (int32_t)bits));
}

/* The context is read in 8 bytes only; a narrower register is cut down to size. */
static void load_register(struct compiler *c, uint64_t number, uint8_t reg)
{
	const struct reg_def *row = &c->registers[number];

	bpf_emit(&c->emitter, bpf_load(BPF_DW, reg, REG_CONTEXT, row->bpf_offset));
	zero_extend(&c->emitter, reg, row->bits);
}

/* The BPF register that has the operand: @scratch, unless it is in one already. */
static uint8_t load(struct compiler *c, struct ir_operand operand, uint8_t scratch)
{
	switch (operand.kind) {
	case IR_CONST:
		bpf_emit_const(&c->emitter, scratch, operand.value);
		break;
	case IR_REGISTER:
		load_register(c, operand.value, scratch);
		break;
	case IR_SLOT:
		if (slot_in_register(operand.value))
			return (uint8_t)(REG_SLOT + operand.value);
		bpf_emit(&c->emitter, bpf_load(BPF_DW, scratch, BPF_REG_FP,
					       slot_offset(operand.value)));
		break;
	}
	return scratch;
}

static void load_into(struct compiler *c, struct ir_operand operand, uint8_t reg)
{
	uint8_t from = load(c, operand, reg);

	if (from != reg)
		bpf_emit(&c->emitter, bpf_alu(BPF_MOV, reg, from));
}

static void store_slot(struct compiler *c, unsigned int number, uint8_t reg)
{
	if (!slot_in_register(number))
		bpf_emit(&c->emitter,
			 bpf_store(BPF_DW, BPF_REG_FP, slot_offset(number), reg));
	else if (reg != REG_SLOT + number)
		bpf_emit(&c->emitter,
			 bpf_alu(BPF_MOV, (uint8_t)(REG_SLOT + number), reg));
}

/* Where to compute a result that goes to a slot while @other is still needed. */
static uint8_t result_reg(unsigned int number, struct ir_operand other)
{
	if (slot_in_register(number) && !is_slot(other, number))
		return (uint8_t)(REG_SLOT + number);
	return BPF_REG_0;
}

/* Operations */

static const struct arith_def {
	uint8_t op;
	bool is_shift;
} ariths[] = {
	[AGENT_ADD] = {BPF_ADD, false},		 [AGENT_SUB] = {BPF_SUB, false},
	[AGENT_MUL] = {BPF_MUL, false},		 [AGENT_DIV_SIGNED] = {BPF_DIV, false},
	[AGENT_DIV_UNSIGNED] = {BPF_DIV, false}, [AGENT_REM_SIGNED] = {BPF_MOD, false},
	[AGENT_REM_UNSIGNED] = {BPF_MOD, false}, [AGENT_LSH] = {BPF_LSH, true},
	[AGENT_RSH_SIGNED] = {BPF_ARSH, true},	 [AGENT_RSH_UNSIGNED] = {BPF_RSH, true},
	[AGENT_BIT_AND] = {BPF_AND, false},	 [AGENT_BIT_OR] = {BPF_OR, false},
	[AGENT_BIT_XOR] = {BPF_XOR, false},
};

static void compile_plain_arith(struct compiler *c, const struct ir_insn *insn)
{
	const struct arith_def *def = &ariths[insn->code];
	uint8_t reg = result_reg(insn->slot, insn->b);
	struct ir_operand b = insn->b;

	/* A count in a register is masked by BPF itself, an immediate is not. */
	if (def->is_shift && b.kind == IR_CONST)
		b.value &= 63;
	load_into(c, insn->a, reg);
	if (is_imm(b))
		bpf_emit(&c->emitter, bpf_alu_imm(def->op, reg, (int32_t)b.value));
	else
		bpf_emit(&c->emitter, bpf_alu(def->op, reg, load(c, b, BPF_REG_2)));
	store_slot(c, insn->slot, reg);
}

/* if (reg < 0) reg = -reg, where @sign decides */
static void negate_if_negative(struct bpf_emitter *e, uint8_t sign, uint8_t reg)
{
	uint32_t done = bpf_emit_new_labels(e, 1);

	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JSGE, sign, 0), done);
	bpf_emit(e, bpf_alu_imm(BPF_NEG, reg, 0));
	bpf_emit_bind(e, done);
}

/* r1 = r1 op r2 by the magnitudes; the smallest number is its own magnitude. */
static void divide_by_magnitudes(struct bpf_emitter *e, uint8_t op)
{
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_3, BPF_REG_1));
	if (op == BPF_DIV)
		bpf_emit(e, bpf_alu(BPF_XOR, BPF_REG_3, BPF_REG_2));
	negate_if_negative(e, BPF_REG_1, BPF_REG_1);
	negate_if_negative(e, BPF_REG_2, BPF_REG_2);
	bpf_emit(e, bpf_alu(op, BPF_REG_1, BPF_REG_2));
	negate_if_negative(e, BPF_REG_3, BPF_REG_1);
}

/* r1 = r1 op r2, by the signed instruction. Some kernels that have it trap on the
 * smallest number / -1 (before commit 7dd34d7b7dcf), so -1 never gets there. */
static void divide_natively(struct bpf_emitter *e, uint8_t op)
{
	uint32_t plain = bpf_emit_new_labels(e, 2), done = plain + 1;
	struct bpf_insn divide = bpf_alu(op, BPF_REG_1, BPF_REG_2);

	divide.off = 1;
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JNE, BPF_REG_2, -1), plain);
	bpf_emit(e, op == BPF_DIV ? bpf_alu_imm(BPF_NEG, BPF_REG_1, 0)
				  : bpf_alu_imm(BPF_MOV, BPF_REG_1, 0));
	bpf_emit_jump(e, bpf_jump(), done);
	bpf_emit_bind(e, plain);
	bpf_emit(e, divide);
	bpf_emit_bind(e, done);
}

static void compile_division(struct compiler *c, const struct ir_insn *insn)
{
	struct bpf_emitter *e = &c->emitter;
	uint8_t op = ariths[insn->code].op;
	bool is_signed =
		insn->code == AGENT_DIV_SIGNED || insn->code == AGENT_REM_SIGNED;

	load_into(c, insn->a, BPF_REG_1);
	load_into(c, insn->b, BPF_REG_2);
	if (insn->b.kind != IR_CONST)
		bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_2, 0),
			      c->label_maybe);
	if (!is_signed)
		bpf_emit(e, bpf_alu(op, BPF_REG_1, BPF_REG_2));
	else if (c->options->signed_division)
		divide_natively(e, op);
	else
		divide_by_magnitudes(e, op);
	store_slot(c, insn->slot, BPF_REG_1);
}

static void compile_arith(struct compiler *c, const struct ir_insn *insn)
{
	if (insn->code >= AGENT_DIV_SIGNED && insn->code <= AGENT_REM_UNSIGNED)
		compile_division(c, insn);
	else
		compile_plain_arith(c, insn);
}

static void compile_move(struct compiler *c, const struct ir_insn *insn)
{
	uint8_t reg = result_reg(insn->slot, insn->a);

	store_slot(c, insn->slot, load(c, insn->a, reg));
}

static void compile_extend(struct compiler *c, const struct ir_insn *insn)
{
	uint8_t reg = result_reg(insn->slot, insn->b);
	unsigned int bits = (unsigned int)insn->b.value;

	load_into(c, insn->a, reg);
	if (insn->code == AGENT_EXT)
		sign_extend(&c->emitter, reg, bits);
	else
		zero_extend(&c->emitter, reg, bits);
	store_slot(c, insn->slot, reg);
}

static uint32_t label(const struct compiler *c, uint32_t ir_label)
{
	if (ir_label == IR_TRUE)
		return c->label_true;
	if (ir_label == IR_MAYBE)
		return c->label_maybe;
	return c->labels + ir_label;
}

static void compile_condition(struct compiler *c, const struct ir_insn *insn,
			      uint32_t target)
{
	static const uint8_t ops[] = {
		[IR_EQ] = BPF_JEQ,	    [IR_NE] = BPF_JNE,
		[IR_LT_SIGNED] = BPF_JSLT,  [IR_LE_SIGNED] = BPF_JSLE,
		[IR_GT_SIGNED] = BPF_JSGT,  [IR_GE_SIGNED] = BPF_JSGE,
		[IR_LT_UNSIGNED] = BPF_JLT, [IR_LE_UNSIGNED] = BPF_JLE,
		[IR_GT_UNSIGNED] = BPF_JGT, [IR_GE_UNSIGNED] = BPF_JGE,
	};
	enum ir_compare compare = insn->compare;
	struct ir_operand a = insn->a, b = insn->b;
	uint8_t reg;

	if (is_imm(a)) {
		a = insn->b;
		b = insn->a;
		compare = ir_compare_swapped(compare);
	}
	reg = load(c, a, BPF_REG_1);
	if (is_imm(b))
		bpf_emit_jump(&c->emitter,
			      bpf_jump_if_imm(ops[compare], reg, (int32_t)b.value),
			      target);
	else
		bpf_emit_jump(&c->emitter,
			      bpf_jump_if(ops[compare], reg, load(c, b, BPF_REG_2)),
			      target);
}

static void compile_branch(struct compiler *c, const struct ir_insn *insn)
{
	compile_condition(c, insn, label(c, insn->label));
}

static void compile_set(struct compiler *c, const struct ir_insn *insn)
{
	uint32_t done = bpf_emit_new_labels(&c->emitter, 1);

	bpf_emit(&c->emitter, bpf_alu_imm(BPF_MOV, BPF_REG_0, 1));
	compile_condition(c, insn, done);
	bpf_emit(&c->emitter, bpf_alu_imm(BPF_MOV, BPF_REG_0, 0));
	bpf_emit_bind(&c->emitter, done);
	store_slot(c, insn->slot, BPF_REG_0);
}

/* To the maybe exit if [r3, r3 + size) touches what the stub has planted. */
static void check_shadow(struct compiler *c, int32_t size)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t outside = bpf_emit_new_labels(e, 1);

	bpf_emit_map_value(e, BPF_REG_2, c->options->shared_fd, 0);
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, BPF_REG_2,
			     offsetof(struct bpf_shared, shadow_end)));
	bpf_emit_jump(e, bpf_jump_if(BPF_JGE, BPF_REG_3, BPF_REG_1), outside);
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, BPF_REG_2,
			     offsetof(struct bpf_shared, shadow_start)));
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_2, BPF_REG_3));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_2, size));
	bpf_emit_jump(e, bpf_jump_if(BPF_JGT, BPF_REG_2, BPF_REG_1), c->label_maybe);
	bpf_emit_bind(e, outside);
}

/* r0 = 0, or an error: helper(fp + FRAME_SCRATCH, size, r3) */
static void read_to_scratch(struct bpf_emitter *e, int32_t helper, int32_t size)
{
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_1, BPF_REG_FP));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_1, FRAME_SCRATCH));
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_2, size));
	bpf_emit(e, bpf_call(helper));
}

static void compile_ref(struct compiler *c, const struct ir_insn *insn)
{
	static const uint8_t sizes[] = {
		[1] = BPF_B, [2] = BPF_H, [4] = BPF_W, [8] = BPF_DW};
	struct bpf_emitter *e = &c->emitter;
	uint8_t reg = result_reg(insn->slot, insn->b);

	load_into(c, insn->a, BPF_REG_3);
	check_shadow(c, (int32_t)insn->b.value);
	read_to_scratch(e, BPF_FUNC_probe_read_user, (int32_t)insn->b.value);
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JNE, BPF_REG_0, 0), c->label_maybe);
	bpf_emit(e, bpf_load(sizes[insn->b.value], reg, BPF_REG_FP, FRAME_SCRATCH));
	store_slot(c, insn->slot, reg);
}

static void compile_label(struct compiler *c, const struct ir_insn *insn)
{
	bpf_emit_bind(&c->emitter, label(c, insn->label));
}

static void compile_jump(struct compiler *c, const struct ir_insn *insn)
{
	bpf_emit_jump(&c->emitter, bpf_jump(), label(c, insn->label));
}

static void (*const operations[])(struct compiler *c, const struct ir_insn *insn) = {
	[IR_LABEL] = compile_label,   [IR_JUMP] = compile_jump,
	[IR_BRANCH] = compile_branch, [IR_SET] = compile_set,
	[IR_MOVE] = compile_move,     [IR_ARITH] = compile_arith,
	[IR_EXTEND] = compile_extend, [IR_REF] = compile_ref,
};

/* Conditions */

static bool is_noted(const struct compiler *c, const char *reason)
{
	const char *text = buffer_string(&c->reasons);
	size_t len = strlen(reason);

	for (; *text != '\0'; text += strspn(text, ", ")) {
		size_t item = strcspn(text, ",");

		if (item == len && memcmp(text, reason, len) == 0)
			return true;
		text += item;
	}
	return false;
}

static void note_undecided(void *data, const char *reason)
{
	struct compiler *c = data;

	if (is_noted(c, reason))
		return;
	if (c->reasons.len > 0)
		buffer_append_string(&c->reasons, ", ");
	buffer_append_string(&c->reasons, reason);
}

static bool has_register(void *data, unsigned int number)
{
	struct compiler *c = data;
	_cleanup_buffer_ struct buffer reason = {0};

	if (number >= c->nregisters)
		buffer_printf(&reason, "reads register %u", number);
	else if (c->registers[number].bpf_offset == REG_NOT_IN_BPF_CONTEXT)
		buffer_printf(&reason, "reads $%s", c->registers[number].name);
	else
		return true;
	note_undecided(c, buffer_string(&reason));
	return false;
}

/* Sets *decided if control never gets behind the condition. */
static struct error *compile_one(struct compiler *c, const struct agent_expr *condition,
				 bool *decided)
{
	const struct ir_target target = {
		.slots = SLOTS_MAX,
		.has_register = has_register,
		.undecided = note_undecided,
		.data = c,
	};
	struct ir ir;
	struct error *error = ir_create(condition, &target, &ir);

	if (error)
		return error;
	c->labels = bpf_emit_new_labels(&c->emitter, ir.labels);
	for (size_t i = 0; i < ir.count; i++)
		operations[ir.insns[i].op](c, &ir.insns[i]);
	c->used_true |= ir.used[IR_TRUE];
	c->used_maybe |= ir.used[IR_MAYBE];
	*decided = !ir.used[IR_FALSE];
	ir_deinit(&ir);
	return NULL;
}

/* Exits */

static void emit_return(struct compiler *c, int32_t value)
{
	bpf_emit(&c->emitter, bpf_alu_imm(BPF_MOV, BPF_REG_0, value));
	bpf_emit(&c->emitter, bpf_exit());
}

static void emit_count(struct compiler *c, uint8_t counts, size_t field)
{
	bpf_emit(&c->emitter, bpf_alu_imm(BPF_MOV, BPF_REG_1, 1));
	bpf_emit(&c->emitter, bpf_atomic_add(counts, (int16_t)field, BPF_REG_1));
}

static void emit_counts_address(struct compiler *c, uint8_t reg)
{
	bpf_emit_map_value(&c->emitter, reg, c->options->shared_fd,
			   (uint32_t)offsetof(struct bpf_shared, locations) +
				   c->options->location *
					   sizeof(struct bpf_location_counts));
}

static void emit_verdict(struct compiler *c, enum bpf_verdict verdict, size_t field)
{
	bpf_emit(&c->emitter, bpf_alu_imm(BPF_MOV, REG_VERDICT, verdict));
	emit_counts_address(c, REG_COUNTS);
	emit_count(c, REG_COUNTS, field);
}

/* Is the stop always made by SIGSTOP? */
static bool always_by_stop(const struct compiler *c)
{
	return c->options->stop_by_signal || c->options->task_blocked_offset < 0;
}

/* by_stop = does the thread block SIGTRAP, or can that not be known? */
static void emit_choose_stop(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t known;

	bpf_emit(e, bpf_alu_imm(BPF_MOV, REG_BY_STOP, 1));
	if (always_by_stop(c))
		return;
	known = bpf_emit_new_labels(e, 1);
	bpf_emit(e, bpf_call(BPF_FUNC_get_current_task));
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_3, BPF_REG_0));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_3, c->options->task_blocked_offset));
	read_to_scratch(e, BPF_FUNC_probe_read_kernel, 8);
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JNE, BPF_REG_0, 0), known);
	bpf_emit(e, bpf_load(BPF_DW, REG_BY_STOP, BPF_REG_FP, FRAME_SCRATCH));
	bpf_emit(e, bpf_alu_imm(BPF_RSH, REG_BY_STOP, SIGTRAP - 1));
	bpf_emit(e, bpf_alu_imm(BPF_AND, REG_BY_STOP, 1));
	bpf_emit_bind(e, known);
}

#define FRAME_FIELD(field)                                                             \
	((int16_t)(FRAME_RECORD + offsetof(struct bpf_hit_record, field)))

/* bpf_get_ns_current_pid_tgid writes struct bpf_pidns_info, the tid first. */
_Static_assert(offsetof(struct bpf_hit_record, tid) == 0 &&
		       offsetof(struct bpf_hit_record, location) ==
			       offsetof(struct bpf_pidns_info, tgid),
	       "tid and the field after it take a struct bpf_pidns_info");

static void emit_tid(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t known;

	if (c->options->pid_ns_inode == 0) {
		bpf_emit(e, bpf_call(BPF_FUNC_get_current_pid_tgid));
		bpf_emit(e, bpf_store(BPF_W, BPF_REG_FP, FRAME_FIELD(tid), BPF_REG_0));
		return;
	}
	known = bpf_emit_new_labels(e, 1);
	bpf_emit_const(e, BPF_REG_1, c->options->pid_ns_device);
	bpf_emit_const(e, BPF_REG_2, c->options->pid_ns_inode);
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_3, BPF_REG_FP));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_3, FRAME_RECORD));
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_4, sizeof(struct bpf_pidns_info)));
	bpf_emit(e, bpf_call(BPF_FUNC_get_ns_current_pid_tgid));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_0, 0), known);
	emit_count(c, REG_COUNTS, offsetof(struct bpf_location_counts, lost));
	bpf_emit_bind(e, known);
}

static void emit_record(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t sent = bpf_emit_new_labels(e, 1);

	emit_tid(c);
	bpf_emit(e, bpf_store_imm(BPF_W, BPF_REG_FP, FRAME_FIELD(location),
				  (int32_t)c->options->location));
	bpf_emit(e, bpf_store(BPF_W, BPF_REG_FP, FRAME_FIELD(verdict), REG_VERDICT));
	bpf_emit(e, bpf_store(BPF_W, BPF_REG_FP, FRAME_FIELD(by_stop), REG_BY_STOP));
	load_register(c, c->options->arch->pc_reg, BPF_REG_1);
	bpf_emit(e, bpf_store(BPF_DW, BPF_REG_FP, FRAME_FIELD(pc), BPF_REG_1));
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, REG_CONTEXT,
			     offsetof(struct bpf_perf_event_data, addr)));
	bpf_emit(e, bpf_store(BPF_DW, BPF_REG_FP, FRAME_FIELD(addr), BPF_REG_1));

	bpf_emit_map(e, BPF_REG_1, c->options->ring_fd);
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_2, BPF_REG_FP));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_2, FRAME_RECORD));
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_3, sizeof(struct bpf_hit_record)));
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_4, 0));
	bpf_emit(e, bpf_call(BPF_FUNC_ringbuf_output));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_0, 0), sent);
	emit_count(c, REG_COUNTS, offsetof(struct bpf_location_counts, lost));
	bpf_emit_bind(e, sent);
}

static void emit_stop(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t stop = bpf_emit_new_labels(e, 2), done = stop + 1;

	if (!always_by_stop(c)) {
		bpf_emit_jump(e, bpf_jump_if_imm(BPF_JNE, REG_BY_STOP, 0), stop);
		emit_return(c, 1);
	}
	bpf_emit_bind(e, stop);
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_1, SIGSTOP));
	bpf_emit(e, bpf_call(BPF_FUNC_send_signal_thread));
	if (c->options->stop_by_signal) {
		emit_return(c, 0);
		return;
	}
	/* A late SIGTRAP is better than none. */
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_0, 0), done);
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_0, 1));
	bpf_emit_bind(e, done);
	bpf_emit(e, bpf_exit());
}

/* Only exits that something leads to: the verifier refuses dead code. */
static void emit_exits(struct compiler *c)
{
	uint32_t report = bpf_emit_new_labels(&c->emitter, 1);

	if (c->used_true) {
		bpf_emit_bind(&c->emitter, c->label_true);
		emit_verdict(c, BPF_TRUE, offsetof(struct bpf_location_counts, trues));
	}
	if (c->used_true && c->used_maybe)
		bpf_emit_jump(&c->emitter, bpf_jump(), report);
	if (c->used_maybe) {
		bpf_emit_bind(&c->emitter, c->label_maybe);
		emit_verdict(c, BPF_MAYBE,
			     offsetof(struct bpf_location_counts, maybes));
	}
	if (!c->used_true && !c->used_maybe)
		return;
	bpf_emit_bind(&c->emitter, report);
	emit_choose_stop(c);
	emit_record(c);
	emit_stop(c);
}

static struct error *compile_all(struct compiler *c,
				 struct agent_expr *const *conditions, size_t count)
{
	bool decided = count == 0;

	c->label_true = bpf_emit_new_labels(&c->emitter, 2);
	c->label_maybe = c->label_true + 1;
	c->used_true = count == 0;
	bpf_emit(&c->emitter, bpf_alu(BPF_MOV, REG_CONTEXT, BPF_REG_1));
	emit_counts_address(c, BPF_REG_2);
	emit_count(c, BPF_REG_2, offsetof(struct bpf_location_counts, hits));
	for (size_t i = 0; i < count && !decided; i++) {
		struct error *error = compile_one(c, conditions[i], &decided);

		if (error)
			return error;
	}
	if (!decided)
		emit_return(c, 0);
	emit_exits(c);
	return NULL;
}

struct error *bpf_compile(struct agent_expr *const *conditions, size_t count,
			  const struct bpf_compile_options *options,
			  struct bpf_code *ret)
{
	_cleanup_(compiler_deinit) struct compiler c = {.options = options};
	struct error *error;

	*ret = (struct bpf_code){0};
	if (options->location >= BPF_LOCATIONS_MAX)
		return error_create(0, "location %u is beyond the %d that fit",
				    options->location, BPF_LOCATIONS_MAX);
	c.registers = options->arch->registers(&c.nregisters);
	error = compile_all(&c, conditions, count);
	if (error)
		return error;
	if (c.reasons.len > 0)
		ret->undecided = strdup(buffer_string(&c.reasons));
	if (buffer_failed(&c.reasons) || (c.reasons.len > 0 && !ret->undecided))
		return error_create(0, "out of memory for a program");
	error = bpf_emit_finish(&c.emitter, &ret->insns, &ret->count);
	if (error)
		bpf_code_deinit(ret);
	return error;
}

void bpf_code_deinit(struct bpf_code *code)
{
	free(code->insns);
	free(code->undecided);
	*code = (struct bpf_code){0};
}
