/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trace state variables in a program: copied into the frame at its start, set there,
 * and written back when it is known that the hit is decided. In between the program
 * holds their lock (lock.c). One variable that is only read needs no lock.
 */
#include "bpf/compiler/emit_variables.h"

#include "gdbstub/agent/expr.h"
#include "gdbstub/agent/insn.h"
#include "bpf/emit/emit_exits.h"
#include "bpf/emit/emit_lock.h"
#include "bpf/emit/emit_values.h"

/* At the far end of the frame: whether the lock is ours, and the copies. */
static int16_t frame_held(void)
{
	return -FRAME_SIZE;
}

static int16_t frame_copy(unsigned int i)
{
	return (int16_t)(frame_held() + 8 * (int)(i + 1));
}

/* In struct variable_cells, whose address is in a register. */
#define CELL_FIELD(cell_, field)                                                       \
	((int16_t)(offsetof(struct variable_cells, cell) +                             \
		   (cell_) * sizeof(struct variable_cell) +                            \
		   offsetof(struct variable_cell, field)))

/* ---- which ones ---- */

/* The copy's index; c->variables.count: there is none. */
static unsigned int find(const struct compiler *c, unsigned int number)
{
	unsigned int i = 0;

	while (i < c->variables.count && c->variables.of[i].number != number)
		i++;
	return i;
}

/* false: it has no cell, or there are too many. */
static bool add(struct compiler *c, unsigned int number)
{
	const struct variable_cells *cells = c->options->variables;
	int cell = cells ? variable_cell(cells, number) : -1;

	if (cell < 0 || c->variables.count == PROGRAM_VARIABLES_MAX)
		return false;
	c->variables.of[c->variables.count++] =
		(struct program_variable){.number = number, .cell = (unsigned int)cell};
	return true;
}

static bool note_use(struct compiler *c, const struct agent_insn *insn)
{
	unsigned int number = (unsigned int)insn->operand;
	unsigned int i = find(c, number);

	if (i == c->variables.count && !add(c, number))
		return false;
	if (insn->code == AGENT_SETV)
		c->variables.of[i].is_set = c->variables.locked = true;
	return true;
}

static bool note_expr(struct compiler *c, const struct agent_expr *expr)
{
	size_t count;
	const struct agent_insn *insns = agent_expr_insns(expr, &count);

	for (size_t i = 0; i < count; i++)
		if (agent_opcode(insns[i].code)->class == AGENT_CLASS_VARIABLE &&
		    insns[i].depth != AGENT_UNREACHED && !note_use(c, &insns[i]))
			return false;
	return true;
}

void variables_note_uses(struct compiler *c, const struct agent_list *exprs)
{
	const struct program_variables before = c->variables;
	bool all = true;

	for (size_t i = 0; i < exprs->count && all; i++)
		all = note_expr(c, exprs->exprs[i]);
	if (!all)
		c->variables = before;
	c->variables.locked |= c->variables.count > 1;
}

bool variables_known(const struct compiler *c, unsigned int number)
{
	return find(c, number) < c->variables.count;
}

unsigned int variables_slots(const struct compiler *c)
{
	return c->variables.count > 0 ? c->variables.count + 1 : 0;
}

/* ---- what is done with them ---- */

static void emit_address(struct compiler *c, uint8_t reg)
{
	bpf_emit_map_value(&c->emitter, reg, c->options->shared_fd,
			   offsetof(struct bpf_shared, variables));
}

/* Takes the lock in r2, or goes to the maybe exit without it. */
static void emit_lock(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;

	lock_emit_take(c, BPF_REG_2, offsetof(struct variable_cells, lock),
		       BPF_DOUBT_LOCK);
	bpf_emit(e, bpf_store_imm(BPF_DW, BPF_REG_FP, frame_held(), 1));
}

void variables_emit_unheld(struct compiler *c)
{
	if (c->variables.locked)
		bpf_emit(&c->emitter,
			 bpf_store_imm(BPF_DW, BPF_REG_FP, frame_held(), 0));
}

void variables_emit_begin(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;

	if (c->variables.count == 0)
		return;
	emit_address(c, BPF_REG_2);
	if (c->variables.locked)
		emit_lock(c);
	for (unsigned int i = 0; i < c->variables.count; i++) {
		const struct program_variable *variable = &c->variables.of[i];

		if (!variable->is_set) {
			bpf_emit(e, bpf_load(BPF_W, BPF_REG_1, BPF_REG_2,
					     CELL_FIELD(variable->cell, exists)));
			exits_doubt(c, bpf_jump_if_imm(BPF_JEQ, BPF_REG_1, 0),
				    BPF_DOUBT_VARIABLE);
		}
		bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, BPF_REG_2,
				     CELL_FIELD(variable->cell, value)));
		bpf_emit(e, bpf_store(BPF_DW, BPF_REG_FP, frame_copy(i), BPF_REG_1));
	}
}

void variables_emit_use(struct compiler *c, const struct ir_insn *insn)
{
	struct bpf_emitter *e = &c->emitter;
	int16_t copy = frame_copy(find(c, (unsigned int)insn->b.value));
	uint8_t reg;

	if (insn->op == IR_SETV) {
		reg = values_load(c, insn->a, BPF_REG_1);
		bpf_emit(e, bpf_store(BPF_DW, BPF_REG_FP, copy, reg));
		return;
	}
	reg = values_result_reg(insn->slot, insn->b);
	bpf_emit(e, bpf_load(BPF_DW, reg, BPF_REG_FP, copy));
	values_store_slot(c, insn->slot, reg);
}

static void emit_unlock(struct compiler *c)
{
	lock_emit_release(c, BPF_REG_2, offsetof(struct variable_cells, lock));
}

void variables_emit_commit(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;

	if (!c->variables.locked)
		return;
	emit_address(c, BPF_REG_2);
	for (unsigned int i = 0; i < c->variables.count; i++) {
		if (!c->variables.of[i].is_set)
			continue;
		bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, BPF_REG_FP, frame_copy(i)));
		bpf_emit(e, bpf_store(BPF_DW, BPF_REG_2,
				      CELL_FIELD(c->variables.of[i].cell, value),
				      BPF_REG_1));
	}
	emit_unlock(c);
}

void variables_emit_abort(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t done;

	if (!c->variables.locked)
		return;
	done = bpf_emit_new_labels(e, 1);
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, BPF_REG_FP, frame_held()));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_1, 0), done);
	emit_address(c, BPF_REG_2);
	emit_unlock(c);
	bpf_emit_bind(e, done);
}
