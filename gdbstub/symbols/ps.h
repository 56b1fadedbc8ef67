/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What libthread_db asks of a debugger: memory, registers and symbols of one
 * inferior (<proc_service.h>). The library finds these functions by their names in
 * the program that loads it, which therefore exports them.
 */
#ifndef TRUEHIT_SYMBOLS_PS_H
#define TRUEHIT_SYMBOLS_PS_H

#include <proc_service.h>

#include "gdbstub/inferior/inferior.h"
#include "gdbstub/symbols/thread_symbols.h"

/** The library passes it through; it is the caller's. */
struct ps_prochandle {
	struct inferior *inferior;
	struct thread_symbols *symbols;
	/* Reads that may still be made: the library follows lists of the inferior,
	 * which may be damaged and have no end. */
	unsigned int reads_left;
	struct patience patience;
};

enum { PS_READS_MAX = 100000 };

/** For one call into the library. */
void proc_service_begin(struct ps_prochandle *ps);

#endif
