/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the client knows of threads.
 *
 * In non-stop mode a stop waits in its thread (pending.c) until the client has said
 * that it knows of the one before, so that whatever lets a thread or process go also
 * lets its stops go. Of the one that was told last the client may not know yet: what it
 * asks of that thread until then, it asks of a thread that it believes to run.
 */
#ifndef TRUEHIT_STOPS_CLIENT_VIEW_H
#define TRUEHIT_STOPS_CLIENT_VIEW_H

#include "gdbstub/control/run_state.h"

/** Does the client know of this thread's last stop, or that it runs? What it asks of
 * one that it knows wrongly is ignored. */
bool client_view_is_right(const struct run *run, const struct thread *thread);
/** A stop of one of its threads was reported: does the client still wait for others?
 * If not, it does not expect to hear of the process's end. */
void client_view_reported(struct inferior *inferior);
/** Is any thread resumed that has not ended? */
bool client_view_any_resumed(const struct run *run);
/** The client knows of the stop that run_poll has reported last. Until then, what it
 * wants of that thread is ignored. */
void client_view_acknowledge(struct run *run);

/** The client has gone: whoever was shown to it before its access (look_after.h,
 * replay.h) is where it is. */
void client_view_end(struct inferior *inferior);

#endif
