/* SPDX-License-Identifier: BSD-2-Clause */
/* Native code at work: bytes, labels and states, the same for every processor. */
#include "arch/native.h"

#include <string.h>

#include "arch/arch.h"
#include "arch/register_table.h"

enum { REFERENCE_LEN = 4 };

void native_append(struct native_code *code, const void *bytes, unsigned int len)
{
	if (len > NATIVE_MAX - code->len) {
		code->failed = true;
		return;
	}
	memcpy(code->bytes + code->len, bytes, len);
	code->len += len;
}

unsigned int native_new_labels(struct native_code *code, unsigned int count)
{
	const unsigned int first = code->nlabels;

	if (count > NATIVE_LABELS_MAX - first) {
		code->failed = true;
		return NATIVE_NOT_FALSE;
	}
	for (unsigned int i = 0; i < count; i++)
		code->label[code->nlabels++] = NATIVE_UNBOUND;
	return first;
}

void native_bind(struct native_code *code, unsigned int label)
{
	if (label < code->nlabels)
		code->label[label] = (uint16_t)code->len;
}

void native_refer(struct native_code *code, unsigned int label)
{
	static const uint8_t unknown[REFERENCE_LEN];

	if (code->nfixups == NATIVE_FIXUPS_MAX) {
		code->failed = true;
		return;
	}
	code->fixup[code->nfixups++] =
		(struct native_fixup){(uint16_t)code->len, (uint16_t)label};
	native_append(code, unknown, sizeof(unknown));
}

void native_begin_state(struct native_code *code, struct native_state state)
{
	if (code->nstates == NATIVE_STATES_MAX) {
		code->failed = true;
		return;
	}
	state.offset = (uint16_t)code->len;
	code->state[code->nstates++] = state;
}

void native_link(struct native_code *code, const struct native_ops *ops)
{
	for (unsigned int i = 0; i < code->nfixups && !code->failed; i++) {
		const struct native_fixup *fixup = &code->fixup[i];
		const unsigned int to = code->label[fixup->label];

		code->failed |= to == NATIVE_UNBOUND;
		ops->refer(code->bytes + fixup->at, (int32_t)to - fixup->at);
	}
}

unsigned int native_saved_before(uint32_t used, unsigned int reg)
{
	unsigned int count = NATIVE_SAVED_OTHERS;

	if (reg == 0)
		return NATIVE_SAVED_SCRATCH;
	for (unsigned int i = 1; i < reg; i++)
		count += used >> i & 1;
	return count;
}

void native_check_shadow(struct native_code *code, const struct native_ops *ops)
{
	const unsigned int fine = native_new_labels(code, 1 + NATIVE_GAPS);

	ops->compare_shared(code, true, offsetof(struct native_shared, start));
	ops->branch_on(code, NATIVE_LT_UNSIGNED, fine);
	ops->compare_shared(code, false, offsetof(struct native_shared, end));
	ops->branch_on(code, NATIVE_GE_UNSIGNED, fine);
	for (unsigned int i = 0; i < NATIVE_GAPS; i++) {
		const unsigned int next = fine + 1 + i;

		ops->compare_shared(code, false,
				    offsetof(struct native_shared, gaps[i].start));
		ops->branch_on(code, NATIVE_LT_UNSIGNED, next);
		ops->compare_shared(code, true,
				    offsetof(struct native_shared, gaps[i].end));
		ops->branch_on(code, NATIVE_LT_UNSIGNED, fine);
		native_bind(code, next);
	}
	ops->jump(code, NATIVE_NOT_FALSE);
	native_bind(code, fine);
}

int native_restore(struct regs *regs, const struct native_state *state, uint32_t used,
		   const uint64_t *saved, unsigned int count, const uint8_t *encoded)
{
	const unsigned int sp_reg = regs->arch->sp_reg;
	uint64_t sp;
	int err = reg_read_u64(regs, sp_reg, &sp);

	if (err == 0)
		err = reg_write_u64(regs, sp_reg, sp + state->lowered);
	for (unsigned int number = 0; err == 0 && number < count; number++) {
		const unsigned int reg = encoded ? encoded[number] : number;
		const unsigned int index = native_saved_before(used, reg);

		if (state->changed && used >> reg & 1 && index < state->saved)
			err = reg_write_u64(regs, number,
					    saved[state->saved - 1 - index]);
	}
	return err;
}

const struct native_state *native_find_state(const struct native_code *code,
					     uint64_t offset)
{
	unsigned int i = 0;

	while (i + 1 < code->nstates && code->state[i + 1].offset <= offset)
		i++;
	return &code->state[i];
}
