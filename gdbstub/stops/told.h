/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why each thread has stopped, as the client knows.
 *
 * gdb hears of one stop at a time: what other threads have stopped for waits until it
 * resumes them. lldb hears of one stop, too, but takes it for all there is to tell of:
 * it asks for the reason of each thread then, and thinks that one without a reason has
 * none. So a client that wants all stops (run_wishes.all_stops) is told of those that
 * were seen together.
 */
#ifndef TRUEHIT_STOPS_TOLD_H
#define TRUEHIT_STOPS_TOLD_H

#include "gdbstub/control/run_state.h"

/** The client is told of a stop of this thread. */
void told_note(struct thread *thread, const struct stop *stop);
/** It resumes the thread. */
void told_forget(struct thread *thread);
/** For a client that has come now, and that takes a thread without a reason for one
 * that it has not stopped: where there is none, the debugger has, as if by SIGSTOP. */
void told_give_reasons(struct run *run);
/**
 * All-stop mode, after a stop was taken: takes those of the other threads, as if they
 * were told, but for what changes more than the thread (a fork, say), and accesses to
 * watched memory, of which the client may be shown a picture (look_after.h, replay.h).
 * These are told after the next resume.
 */
void told_take_rest(struct run *run);

#endif
