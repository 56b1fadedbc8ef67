/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Changes that the client has not been told of, as the condition of the watchpoint was
 * false at them. gdb remembers the value of the last hit that it was told of (watch.h),
 * takes it for the old one, and ignores a hit at which it finds it again. So where
 * others came between, a true hit is told twice: first with a picture of the memory as
 * it was before the hit, which gdb remembers, finds its condition false in, and resumes
 * from; then, before anything has run, as it is. Only conditions that were handed over
 * (handed_conditions.h) are gdb's.
 *
 * The watched bytes are those that the last hit before has found. What else the
 * condition reads may have changed since and make it true there; then some of that is
 * shown otherwise, too, as numbers that make it false (critical_numbers.h). A condition
 * that reads registers alone is true at what the stub cannot judge (truehit-gdb.py,
 * guarded()) and the picture is shown unproven. Where none is found, or other
 * watchpoints would see it, the hit is told alone, with an old value that is older;
 * unless gdb would ignore it: then the picture is shown all the same. A stepi of gdb's
 * that ends at such a hit ends by the picture, and the hit is shown when it resumes.
 *
 * The same for changes that were ignored (ignore.h) if there is no condition, but only
 * where gdb would ignore the hit: the picture, the last ignored change, is a stop then.
 */
#ifndef TRUEHIT_HITS_REPLAY_H
#define TRUEHIT_HITS_REPLAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct inferior;
struct stop;
struct thread;

/** A thread's stop is to be told. True: the client is to see the picture at it, until
 * replay_end(), and is to be told of the same stop again, at once when it resumes. */
bool replay_begin(struct thread *thread, const struct stop *stop);
/** The thread whose hit is told the first time, or 0. */
pid_t replay_thread(const struct inferior *inferior);
/** Memory is what it is. Nothing if there is no picture. */
void replay_end(struct inferior *inferior);
/** As breakpoints_read_memory, for the client: shows the picture. */
ssize_t replay_read_memory(struct inferior *inferior, uint64_t addr, void *data,
			   size_t len);

#endif
