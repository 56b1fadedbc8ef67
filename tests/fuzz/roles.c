/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/roles.h"

#include <string.h>

/* Flags and segments are narrower; what only Linux has (the number of a system call)
 * is in another feature than the PC. */
static bool is_general(const struct reg_def *reg, const struct reg_def *pc)
{
	return reg != pc && reg->bits == 64 &&
	       reg->bpf_offset != REG_NOT_IN_BPF_CONTEXT &&
	       strcmp(reg->feature, pc->feature) == 0;
}

void roles_init(struct roles *roles)
{
	const struct arch_ops *arch = arch_native();
	const struct reg_def *table;

	*roles = (struct roles){.arch = arch};
	table = arch->registers(&roles->count);
	for (unsigned int i = 0; i < roles->count && roles->ngeneral < ROLES_MAX; i++)
		if (is_general(&table[i], &table[arch->pc_reg]))
			roles->general[roles->ngeneral++] = i;
	roles->selector = roles->general[--roles->ngeneral];
}
