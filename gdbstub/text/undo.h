/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instructions that can be undone: a uprobe's stop comes after its instruction, and is
 * made one before it by putting back the general registers and what was stored.
 */
#ifndef TRUEHIT_TEXT_UNDO_H
#define TRUEHIT_TEXT_UNDO_H

#include "gdbstub/inferior/inferior.h"

/**
 * How the instruction at @addr is undone, in any thread. The error says, for people,
 * why it cannot be. A ret->store that is not .below_stack can be undone only while the
 * process has one thread. That no thread has a shadow stack, if ret->transfers_stack,
 * holds for now: a program may turn it on, so ask again at the stop. One that faults
 * has done nothing yet, but that a call whose target is no address may have pushed.
 */
struct error *undo_find(struct inferior *inferior, uint64_t addr,
			struct insn_undo *ret);

/** The same for a stop that comes before the instruction: there is nothing to undo, and
 * only its length is found. The error says why it can have no uprobe at all. */
struct error *undo_find_nothing(struct inferior *inferior, uint64_t addr,
				struct insn_undo *ret);

/** Has the thread a shadow stack, which calls and returns change as well? */
bool undo_has_shadow_stack(const struct thread *thread);
/** Would the kernel do the instruction at @addr itself (insn_undo.emulated)? */
bool undo_is_emulated(struct inferior *inferior, uint64_t addr);

#endif
