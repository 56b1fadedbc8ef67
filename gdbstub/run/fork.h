/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that come from others: fork, vfork, exec. */
#ifndef TRUEHIT_RUN_FORK_H
#define TRUEHIT_RUN_FORK_H

#include "gdbstub/run/events.h"

event_handler fork_on_fork, fork_on_vfork, fork_on_vfork_done, fork_on_exec;

/** Everything is halted, and a vfork child, for which the thread @maker waits, is
 * about to be let go: nobody may run past the traps that must be away then. */
void fork_lend_memory(struct inferior *parent, pid_t maker);
/** Everything is halted: vfork children that have waited for that are let go. */
void fork_lend_all(struct run *run);
/**
 * A process that shares its parent's memory (vfork) is about to leave it: the traps
 * planted for it go out. No-op for others.
 */
void fork_give_back(struct inferior *child);

#endif
