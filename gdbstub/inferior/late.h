/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that do not stop when they are asked to, as they sleep in the kernel where
 * only the end of what they wait for wakes them: for a vfork child, in a frozen cgroup,
 * for a file system that does not answer. Nobody waits for them: such a thread is late
 * (thread->late) and counts as stopped (thread_is_held).
 *
 * That is exact, as a late thread executes no instruction of the program before it has
 * stopped. PTRACE_INTERRUPT has set its TIF_SIGPENDING, which stays set until the
 * thread stops for it, and the kernel looks at that flag on each way from the kernel to
 * the program (exit_to_user_mode_loop: get_signal, whose first act is the stop); no
 * other stop of ptrace, which would clear the interrupt, goes unseen. So traps may come
 * and go, and others may be stepped over a place, while a thread is late. When it stops
 * at last, it is a stopped thread like any other (gdbstub/tracing/decode.c): it tells
 * what it has stopped for, if that is anything else than the interrupt, and otherwise
 * does what the client wants of it by then.
 */
#ifndef TRUEHIT_INFERIOR_LATE_H
#define TRUEHIT_INFERIOR_LATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "gdbstub/base/buffer.h"

struct thread;

/** How long it has been waited for threads that were asked to stop, or to end. */
struct lateness {
	int64_t since;	  /* ms, of CLOCK_MONOTONIC: the last progress */
	int64_t waited;	  /* ms, from then to lateness_look() */
	int64_t patience; /* ms, for those that do not sleep */
};

/** The wait begins, or there was progress. */
void lateness_begin(struct lateness *lateness);
/** Takes the time: to be called before each look at whether there is progress, so that
 * nobody is late who was not looked at since. */
void lateness_look(struct lateness *lateness);
/**
 * Is it in vain to wait longer for the thread @tid, which was asked to stop? After 0.3
 * s without progress if it sleeps where nothing wakes it; else it may wait for a
 * processor, and that is waited for, for lateness->patience (a second, if nobody sets
 * it), but not shorter. Cheap as long as there is progress.
 */
bool lateness_is_over(const struct lateness *lateness, pid_t tid);

/** The same for a running thread, which was asked to stop: if it is over, the thread is
 * late from now on. */
bool thread_becomes_late(struct thread *thread, const struct lateness *lateness);
/** A thread that was resumed or made so that it is about to stop, was waited for in
 * vain, and has been interrupted: it is late. */
void thread_set_late(struct thread *thread);
/** A thread that is late may be about to stop by now: then it is waited for again. */
void thread_look_again(struct thread *thread);
/** Appends what a late thread does, for people: "thread 7 ... ". */
void thread_explain_late(const struct thread *thread, struct buffer *out);

/**
 * A register of a late thread, by its row of the register table: the kernel tells of a
 * few what they were when the thread entered it (/proc/TID/syscall). Negative errno:
 * it does not tell of this one, or the thread is gone.
 */
int thread_late_register(const struct thread *thread, unsigned int row,
			 uint64_t *value);

#endif
