/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a target description from a register table (Debugging with GDB,
 * appendix "Target Descriptions"). The architectures add only the types.
 */
#ifndef TRUEHIT_ARCH_TDESC_H
#define TRUEHIT_ARCH_TDESC_H

#include "arch/arch.h"

/** A member of a union, or the bits [start, end] of a flags type. */
struct tdesc_field {
	const char *name;
	const char *type; /* of a member; flags: NULL */
	uint8_t start, end;
};

enum tdesc_kind { TDESC_VECTOR, TDESC_UNION, TDESC_FLAGS };

/** One type. Only the registers of its feature, and later types, can use it. */
struct tdesc_type {
	const char *feature;
	const char *id;
	enum tdesc_kind kind;
	unsigned int size;		  /* elements of a vector, bytes of flags */
	const char *element;		  /* of a vector */
	const struct tdesc_field *fields; /* the last has a NULL name */
};

/** Appends a whole document. The last of @types has a NULL feature. */
void tdesc_append(struct buffer *out, const char *architecture,
		  const struct tdesc_type *types, const struct reg_def *table,
		  unsigned int count);

/**
 * The same for lldb, which has other names for some registers, shows those of the first
 * group where it is asked for registers, and reads no types.
 */
void tdesc_append_lldb(struct buffer *out, const struct arch_ops *arch);

#endif
