/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is needed of the values in the slots, going backward through the code.
 */
#ifndef TRUEHIT_IR_LIVENESS_H
#define TRUEHIT_IR_LIVENESS_H

#include "gdbstub/ir/traits.h"

/** A set of slots, as bits. */
struct slot_set {
	uint64_t words[(TIDY_SLOTS + 63) / 64];
};

static inline bool slot_set_has(const struct slot_set *set, uint64_t slot)
{
	return set->words[slot / 64] >> slot % 64 & 1;
}

static inline void slot_set_add(struct slot_set *set, uint64_t slot)
{
	set->words[slot / 64] |= UINT64_C(1) << slot % 64;
}

struct liveness {
	struct slot_set *labels;     /* by label: the slots that are needed there */
	uint64_t needed[TIDY_SLOTS]; /* here: which bits of each slot */
};

/** Looks at all the code, and is at its end then. 0, or -ENOMEM. */
int liveness_init(struct liveness *l, const struct ir *ir);
void liveness_deinit(struct liveness *l);

/** Goes to the end, where nothing is needed. */
void liveness_end(struct liveness *l);
/** Goes back over the instruction in front of here. */
void liveness_back(struct liveness *l, const struct ir_insn *insn);
/** Is the instruction in front of here one that nothing needs? */
bool liveness_is_dead(const struct liveness *l, const struct ir_insn *insn);

#endif
