/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capstone's functions. The library is loaded when the first instruction is decoded:
 * its tables, of all processors, take a millisecond and some MiB to relocate, which
 * most starts of a server can do without.
 */
#ifndef TRUEHIT_TEXT_CAPSTONE_LIBRARY_H
#define TRUEHIT_TEXT_CAPSTONE_LIBRARY_H

#include "arch/capstone.h"

struct capstone_library {
	__typeof__(cs_open) *open;
	__typeof__(cs_option) *option;
	__typeof__(cs_malloc) *malloc;
	__typeof__(cs_free) *free;
	__typeof__(cs_close) *close;
	__typeof__(cs_disasm_iter) *disasm_iter;
	__typeof__(cs_regs_access) *regs_access;
};

/** The library stays loaded. False: it cannot be loaded, of which a warning tells. */
bool capstone_library_find(struct capstone_library *ret);

#endif
