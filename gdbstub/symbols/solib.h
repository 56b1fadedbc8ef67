/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shared libraries of an inferior, read from the dynamic linker's link map
 * (struct r_debug, glibc's <link.h>) in its memory.
 */
#ifndef TRUEHIT_SYMBOLS_SOLIB_H
#define TRUEHIT_SYMBOLS_SOLIB_H

#include <stdint.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/base/error.h"
#include "gdbstub/inferior/inferior.h"

/** Which part of the list is wanted; all zero: everything. */
struct solib_range {
	uint64_t start; /* first link map to list */
	uint64_t prev;	/* its predecessor in the list */
	uint64_t lmid;	/* their name space: the address of its struct r_debug */
};

/**
 * Appends the library list in gdb's "library-list-svr4" form (qXfer
 * libraries-svr4), with main-lm and the name space (dlmopen) of each library as
 * lmid. A program whose dynamic linker has not made a link map yet gives an empty
 * list; one without DT_DEBUG (a static one) is an error, so that gdb looks for
 * the list by itself. A damaged list is told as far as it is sound. One that is longer
 * than 8 MiB, or takes longer than ten seconds, is cut off, and a warning says so.
 */
struct error *solib_list_xml(struct inferior *inferior, const struct solib_range *range,
			     struct buffer *out);

/** Where the program has the address of the dynamic linker's list, which is 0 at its
 * start: the value of the row DT_DEBUG. A static program has none. */
struct error *solib_debug_slot(struct inferior *inferior, uint64_t *addr);

#endif
