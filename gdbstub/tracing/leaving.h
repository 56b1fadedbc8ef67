/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that are let go, but do not stop yet (late.h): the kernel detaches from
 * stopped ones only. They belong to no inferior any longer. Each is detached from when
 * it stops; the kernel detaches from what is left when the server ends, as from all
 * that it traces.
 */
#ifndef TRUEHIT_TRACING_LEAVING_H
#define TRUEHIT_TRACING_LEAVING_H

#include <stdbool.h>
#include <sys/types.h>

struct inferiors;
struct thread;

struct leaving {
	struct leaving *next;
	pid_t tid;
	/* The server must not end before: with it, the kernel would kill the thread
	 * (PTRACE_O_EXITKILL), or debug registers of ours would stay in it. */
	bool bound;
};

/** Lets a running thread of an inferior go when it stops. @bound: as above. */
void leaving_add(const struct thread *thread, bool bound);
/** The thread stays after all. False: it was not leaving. */
bool leaving_cancel(struct inferiors *inferiors, pid_t tid, bool *bound);
/** A wait status of a thread of no inferior. False: it is not leaving either. */
bool leaving_on_status(struct inferiors *inferiors, pid_t tid, int status);
/**
 * Before the server ends: waits until it may, for as long as that takes, and says so.
 * There is no inferior any longer. Forgets the others.
 */
void leaving_wait(struct inferiors *inferiors);

#endif
