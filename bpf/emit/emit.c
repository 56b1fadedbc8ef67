/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/emit/emit.h"

#include <errno.h>
#include <stdlib.h>

void bpf_emitter_deinit(struct bpf_emitter *e)
{
	free(e->insns);
	free(e->targets);
	free(e->labels);
	*e = (struct bpf_emitter){0};
}

uint32_t bpf_emit_new_labels(struct bpf_emitter *e, uint32_t count)
{
	uint32_t first = e->nlabels;
	uint32_t *labels = reallocarray(e->labels, first + count, sizeof(*labels));

	if (!labels) {
		e->error = -ENOMEM;
		return first;
	}
	e->labels = labels;
	for (; count > 0; count--)
		e->labels[e->nlabels++] = 0;
	return first;
}

void bpf_emit_bind(struct bpf_emitter *e, uint32_t label)
{
	if (label < e->nlabels)
		e->labels[label] = (uint32_t)e->count;
}

static bool reserve(struct bpf_emitter *e)
{
	size_t capacity = e->capacity ? 2 * e->capacity : 64;
	struct bpf_insn *insns;
	uint32_t *targets;

	if (e->count < e->capacity)
		return true;
	insns = reallocarray(e->insns, capacity, sizeof(*insns));
	if (!insns)
		return false;
	e->insns = insns;
	targets = reallocarray(e->targets, capacity, sizeof(*targets));
	if (!targets)
		return false;
	e->targets = targets;
	e->capacity = capacity;
	return true;
}

static void append(struct bpf_emitter *e, struct bpf_insn insn, uint32_t target)
{
	if (e->error < 0)
		return;
	if (!reserve(e)) {
		e->error = -ENOMEM;
		return;
	}
	e->insns[e->count] = insn;
	e->targets[e->count] = target;
	e->count++;
}

void bpf_emit(struct bpf_emitter *e, struct bpf_insn insn)
{
	append(e, insn, 0);
}

void bpf_emit_jump(struct bpf_emitter *e, struct bpf_insn insn, uint32_t label)
{
	append(e, insn, label + 1);
}

/* The instruction with a 64-bit immediate takes two places. */
static void emit_wide(struct bpf_emitter *e, uint8_t dst, uint8_t kind, int32_t low,
		      int32_t high)
{
	bpf_emit(e, (struct bpf_insn){.code = BPF_LD | BPF_DW | BPF_IMM,
				      .dst_reg = dst,
				      .src_reg = kind,
				      .imm = low});
	bpf_emit(e, (struct bpf_insn){.imm = high});
}

void bpf_emit_const(struct bpf_emitter *e, uint8_t dst, uint64_t value)
{
	if (bpf_fits_imm(value))
		bpf_emit(e, bpf_alu_imm(BPF_MOV, dst, (int32_t)value));
	else
		emit_wide(e, dst, 0, (int32_t)value, (int32_t)(value >> 32));
}

void bpf_emit_map(struct bpf_emitter *e, uint8_t dst, int fd)
{
	emit_wide(e, dst, BPF_PSEUDO_MAP_FD, fd, 0);
}

void bpf_emit_map_value(struct bpf_emitter *e, uint8_t dst, int fd, uint32_t offset)
{
	emit_wide(e, dst, BPF_PSEUDO_MAP_VALUE, fd, (int32_t)offset);
}

struct error *bpf_emit_finish(struct bpf_emitter *e, struct bpf_insn **insns,
			      size_t *count)
{
	if (e->error < 0)
		return error_create(-e->error, "cannot compile a condition");
	for (size_t i = 0; i < e->count; i++) {
		int64_t distance;

		if (e->targets[i] == 0)
			continue;
		distance = (int64_t)e->labels[e->targets[i] - 1] - (int64_t)i - 1;
		if (distance < INT16_MIN || distance > INT16_MAX)
			return error_create(0, "the condition needs more code than a "
					       "jump can span");
		e->insns[i].off = (int16_t)distance;
	}
	*insns = take_ptr(e->insns);
	*count = e->count;
	return NULL;
}
