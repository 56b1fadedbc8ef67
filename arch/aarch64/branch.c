/* SPDX-License-Identifier: BSD-2-Clause */
/* Which instructions are branches (Arm ARM, C4.1.87 "Branches, Exception Generating and
 * System instructions"). */
#include "arch/aarch64/aarch64.h"

#include <string.h>

#include "arch/aarch64/insn.h"

static const struct {
	struct insn_pattern pattern;
	enum branch_kind kind;
} branches[] = {
	{{INSN_B_MASK, INSN_B}, BRANCH_ALWAYS},
	{{INSN_B_MASK, INSN_BL}, BRANCH_ALWAYS},
	{{0xff000000, 0x54000000}, BRANCH_CONDITIONAL}, /* b.cond, bc.cond */
	{{0x7e000000, 0x34000000}, BRANCH_CONDITIONAL}, /* cbz, cbnz */
	{{0x7e000000, 0x36000000}, BRANCH_CONDITIONAL}, /* tbz, tbnz */
	{{0xfe000000, 0xd6000000}, BRANCH_ALWAYS}, /* br, blr, ret, with keys too */
};

struct insn_branch aarch64_branch_at(const uint8_t *code, size_t len)
{
	struct insn_branch branch = {.len = INSN_LEN};
	uint32_t insn;

	if (len < sizeof(insn))
		return branch;
	memcpy(&insn, code, sizeof(insn));
	for (unsigned int i = 0; i < sizeof(branches) / sizeof(branches[0]); i++)
		if ((insn & branches[i].pattern.mask) == branches[i].pattern.value)
			branch.kind = branches[i].kind;
	return branch;
}
