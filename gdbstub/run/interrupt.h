/* SPDX-License-Identifier: BSD-2-Clause */
/* Ctrl-C: which thread answers. */
#ifndef TRUEHIT_RUN_INTERRUPT_H
#define TRUEHIT_RUN_INTERRUPT_H

#include "gdbstub/run/run.h"

/** Asks a running thread to stop, unless one that can answer was asked already. */
void interrupt_ask(struct run *run);
/** A request waits to be answered. Has it for too long? Asks again, if need be. */
bool interrupt_is_overdue(struct run *run);
/** Lets a resumed thread that is held answer, if there is one. */
void interrupt_answer_at_once(struct run *run);
/** May this thread, which has stopped for no other reason, answer a request? */
bool interrupt_is_for(const struct run *run, const struct thread *thread);

/**
 * Ctrl-C: every thread (non-stop: one) stops; the next stop is SIGINT unless another
 * comes first. It is of a thread of the process that was started or attached to last,
 * if one runs there. While nothing runs: the next resume stops at once.
 */
void run_interrupt(struct run *run);
/** How long interrupt_is_overdue need not be asked, in ms; -1: for ever. */
int interrupt_patience(const struct run *run);

#endif
