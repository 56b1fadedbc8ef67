/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a target description from a register table (Debugging with GDB,
 * appendix "Target Descriptions"). The architectures add only the types.
 */
#ifndef TRUEHIT_ARCH_TDESC_H
#define TRUEHIT_ARCH_TDESC_H

#include "arch/arch.h"

/** The types that the registers of one feature use: XML elements. */
struct tdesc_types {
	const char *feature;
	const char *xml;
};

/**
 * Appends a whole document. @types ends with a row whose feature is NULL; more
 * than one row may add to a feature. A feature is opened where the table
 * first names it.
 */
void tdesc_append(struct buffer *out, const char *architecture,
		  const struct tdesc_types *types, const struct reg_def *table,
		  unsigned int count);

#endif
