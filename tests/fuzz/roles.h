/* SPDX-License-Identifier: BSD-2-Clause */
/* Which registers of the processor serve what. */
#ifndef TRUEHIT_FUZZ_ROLES_H
#define TRUEHIT_FUZZ_ROLES_H

#include "arch/arch.h"

enum {
	ROLES_MAX = 64,
	ROLES_POINTERS = 3, /* the first ones: they point to resident memory */
};

struct roles {
	const struct arch_ops *arch;
	/* Those that the kernel's context has and that may have any value. */
	unsigned int general[ROLES_MAX];
	unsigned int ngeneral;
	unsigned int selector; /* which of several programs is to run; not in general */
	unsigned int count;    /* of all registers */
};

/** Of the processor that this runs on. Its table must be made (arch_ops.init). */
void roles_init(struct roles *roles);

#endif
