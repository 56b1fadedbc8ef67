/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of symbols as the sources of C++ and Rust have them, by libiberty's demanglers,
 * where truehit was built with them. These are not proof against names that are made to
 * harm: of a program's file, only the symbols reader calls this
 * (gdbstub/symbols/symbols_reader.h).
 */
#ifndef TRUEHIT_BASE_DEMANGLE_H
#define TRUEHIT_BASE_DEMANGLE_H

#include <stdbool.h>

#include "gdbstub/base/buffer.h"

enum { DEMANGLED_MAX = 4096 }; /* bytes */

/** Can this truehit do it? */
bool demangle_is_built_in(void);
/** Appends the source's name, with parameters; nothing if it is the same, not known, or
 * longer than people would read. */
void demangle(const char *name, struct buffer *out);
/** May people name the symbol so: by its name, or as its source does, with parameters
 * or without, and with blanks anywhere? */
bool demangle_is_named(const char *name, const char *typed);

#endif
