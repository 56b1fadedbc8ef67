/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shared libraries of an inferior, read from the dynamic linker's link map
 * (struct r_debug, glibc's <link.h>) in its memory.
 */
#ifndef TRUEHIT_INFERIOR_SOLIB_H
#define TRUEHIT_INFERIOR_SOLIB_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "inferior/inferior.h"

/**
 * Appends the library list in gdb's "library-list-svr4" form (qXfer
 * libraries-svr4), with main-lm and, for dlmopen name spaces, lmid. @start and
 * @prev: first link map to list and its predecessor; 0: the whole list. A
 * program that has no link map yet, or none at all, gives an empty list.
 */
struct error *solib_list_xml(struct inferior *inferior, uint64_t start, uint64_t prev,
			     struct buffer *out);

#endif
