/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A filter saves registers below the stack pointer, as a signal handler's frame would
 * be there. Where stacks are small (gdbstub/symbols/elf_stacks.h), it must not.
 */
#ifndef TRUEHIT_PADS_SMALL_STACKS_H
#define TRUEHIT_PADS_SMALL_STACKS_H

#include <stdbool.h>

#include "gdbstub/symbols/mapping.h"

enum { SMALL_STACKS_KNOWN = 32 };

/** What was found out of files, which are asked once; the last ones. */
struct small_stacks {
	struct {
		struct file_id file;
		bool small;
	} files[SMALL_STACKS_KNOWN];
	unsigned int next;
};

/** Does a thread that executes the instruction at @addr have one? */
bool small_stacks_at(struct small_stacks *known, struct inferior *inferior,
		     uint64_t addr);

#endif
