/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that come from others: fork, vfork, exec. */
#ifndef TRUEHIT_RUN_FORK_H
#define TRUEHIT_RUN_FORK_H

#include "gdbstub/run/events.h"

event_handler fork_on_fork, fork_on_vfork, fork_on_vfork_done, fork_on_exec;

/** Threads have been killed, or somebody has left his memory: are there children now
 * of whom nobody will hear, and who can go? Then that is done while all are held. */
void fork_note_orphans(struct run *run);
/** Does it. */
void fork_let_orphans_go(struct run *run);
/** Everything is halted, and a vfork child, for which the thread @maker waits, is
 * about to be let go: nobody may run past the traps that must be away then. */
void fork_lend_memory(struct inferior *parent, pid_t maker);
/** Everything is halted: vfork children that have waited for that are let go. */
void fork_lend_all(struct run *run);
/**
 * A process leaves its memory, by exec or by its end. If others stay there (vfork),
 * what it has lifted for a step is theirs to put back, and what is planted for it alone
 * goes out.
 */
void fork_leave_memory(struct run *run, struct inferior *inferior);

#endif
