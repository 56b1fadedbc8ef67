/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/ir/flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/ir/traits.h"

enum {
	CHAIN_MAX = 64, /* jumps that are followed: a chain may be a circle */
	ROUNDS_MAX = 8, /* each leaves less for the next; most code needs two */
};

/* How control flows through the code. */
struct flow {
	struct ir *ir;
	uint32_t *at;	      /* by label: where it is */
	uint32_t *references; /* by label: jumps to it */
	uint32_t *work;	      /* reached, but not what is after it */
	size_t nwork;
	bool *reached; /* by instruction, and for the end of the code */
};

static void flow_deinit(struct flow *f)
{
	free(f->at);
	free(f->references);
	free(f->work);
	free(f->reached);
}

static int flow_init(struct flow *f, struct ir *ir)
{
	*f = (struct flow){
		.ir = ir,
		.at = calloc(ir->labels, sizeof(*f->at)),
		.references = calloc(ir->labels, sizeof(*f->references)),
		.work = calloc(ir->count + 1, sizeof(*f->work)),
		.reached = calloc(ir->count + 1, sizeof(*f->reached)),
	};
	return f->at && f->references && f->work && f->reached ? 0 : -ENOMEM;
}

static bool jumps(const struct ir_insn *insn)
{
	return insn->op == IR_JUMP || insn->op == IR_BRANCH;
}

static void find_labels(struct flow *f)
{
	for (size_t i = 0; i < f->ir->count; i++)
		if (f->ir->insns[i].op == IR_LABEL)
			f->at[f->ir->insns[i].label] = (uint32_t)i;
}

static size_t after_labels(const struct ir *ir, size_t i)
{
	while (i < ir->count && ir->insns[i].op == IR_LABEL)
		i++;
	return i;
}

/* Where a jump to the label ends: one label for each place. */
static uint32_t destination(const struct flow *f, uint32_t label)
{
	const struct ir *ir = f->ir;

	for (int i = 0; i < CHAIN_MAX && label >= IR_LABELS; i++) {
		size_t next = after_labels(ir, f->at[label]);

		label = ir->insns[next - 1].label;
		if (next == ir->count || ir->insns[next].op != IR_JUMP)
			break;
		label = ir->insns[next].label;
	}
	return label;
}

static void reach(struct flow *f, size_t i)
{
	if (f->reached[i])
		return;
	f->reached[i] = true;
	f->work[f->nwork++] = (uint32_t)i;
}

/* The other exits are somewhere after the code. */
static bool has_place(uint32_t label)
{
	return label == IR_FALSE || label >= IR_LABELS;
}

static void find_reached(struct flow *f)
{
	const struct ir *ir = f->ir;

	memset(f->reached, 0, (ir->count + 1) * sizeof(*f->reached));
	memset(f->references, 0, ir->labels * sizeof(*f->references));
	reach(f, 0);
	while (f->nwork > 0) {
		size_t i = f->work[--f->nwork];
		struct ir_insn *insn = &ir->insns[i];

		if (i == ir->count)
			continue;
		if (jumps(insn)) {
			insn->label = destination(f, insn->label);
			f->references[insn->label]++;
			if (has_place(insn->label))
				reach(f, f->at[insn->label]);
		}
		if (insn->op != IR_JUMP)
			reach(f, i + 1);
	}
}

/* Is the label what follows the instruction @i anyway? */
static bool follows(const struct ir *ir, size_t i, uint32_t label)
{
	for (i++; i < ir->count && ir->insns[i].op == IR_LABEL; i++)
		if (ir->insns[i].label == label)
			return true;
	return i == ir->count && label == IR_FALSE;
}

/* if (x) goto label; goto other; label:  ->  if (!x) goto other; label: */
static bool turn_round(struct ir *ir, size_t i)
{
	struct ir_insn *insn = &ir->insns[i];

	if (insn->op != IR_BRANCH || i + 1 == ir->count || insn[1].op != IR_JUMP ||
	    !follows(ir, i + 1, insn->label))
		return false;
	insn->compare = ir_compare_negated(insn->compare);
	insn->label = insn[1].label;
	return true;
}

static bool is_needed(const struct flow *f, size_t i)
{
	const struct ir_insn *insn = &f->ir->insns[i];

	if (!f->reached[i] || ir_is_idle(insn))
		return false;
	if (insn->op == IR_LABEL)
		return f->references[insn->label] > 0;
	return !jumps(insn) || !follows(f->ir, i, insn->label);
}

/* Returns whether anything has gone. */
static bool sweep(struct flow *f)
{
	struct ir *ir = f->ir;
	size_t kept = 0, count = ir->count;

	for (size_t i = 0; i < count; i++) {
		bool turned = turn_round(ir, i);

		if (is_needed(f, i))
			ir->insns[kept++] = ir->insns[i];
		i += turned;
	}
	ir->count = kept;
	return kept < count;
}

static void find_exits(struct flow *f)
{
	struct ir *ir = f->ir;

	ir->used[IR_FALSE] = f->reached[ir->count];
	ir->used[IR_TRUE] = f->references[IR_TRUE] > 0;
	ir->used[IR_MAYBE] = f->references[IR_MAYBE] > 0;
	for (size_t i = 0; i < ir->count; i++)
		ir->used[IR_MAYBE] |= ir_may_fail(&ir->insns[i]);
}

int tidy_flow(struct ir *ir)
{
	_cleanup_(flow_deinit) struct flow f = {0};
	int r = flow_init(&f, ir);

	if (r < 0)
		return r;
	for (int i = 0; i < ROUNDS_MAX; i++) {
		find_labels(&f);
		find_reached(&f);
		if (!sweep(&f))
			break;
	}
	find_labels(&f);
	find_reached(&f);
	find_exits(&f);
	return 0;
}
