/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which system calls of a process the client wants to hear of. While there are any,
 * its threads are resumed in such a way that they stop at the entry of and the
 * return from every call.
 */
#ifndef TRUEHIT_INFERIOR_SYSCALLS_H
#define TRUEHIT_INFERIOR_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct inferior;
struct thread;

enum { SYSCALL_NONE = -1 }; /* no call, or one whose number nobody knows */

/** All zero: none. */
struct syscalls {
	bool all;
	uint64_t *numbers;
	size_t count;
};

/** Replaces the set by these calls; 0 or -ENOMEM (then the set is as before). */
int syscalls_set(struct syscalls *set, const uint64_t *numbers, size_t count);
/** Replaces the set by every call. */
void syscalls_set_all(struct syscalls *set);
/** Makes an empty set the same as another; 0 or -ENOMEM. */
int syscalls_copy(struct syscalls *to, const struct syscalls *from);
/** Empties the set and frees what it holds. */
void syscalls_clear(struct syscalls *set);

bool syscalls_any(const struct syscalls *set);
/** False for SYSCALL_NONE. */
bool syscalls_wanted(const struct syscalls *set, int number);

/** Is there an instruction of a system call? */
bool syscall_is_at(struct inferior *inferior, uint64_t addr);
/** Is the instruction that the stopped thread executes next a system call? */
bool syscall_is_next(const struct thread *thread);

/** What a system call stop is about. */
enum syscall_stop {
	SYSCALL_STOP_REPORT,	  /* to be told: event->syscall, event->entry */
	SYSCALL_STOP_INTERRUPTED, /* our interrupt cut the call off, and it begins anew
				   * when the thread is resumed: the answer to the
				   * interrupt */
	SYSCALL_STOP_AGAIN,	  /* ... and this is its beginning anew: no news */
	SYSCALL_STOP_KILLED,	  /* the thread has been killed meanwhile */
};
enum syscall_stop syscall_decode(struct thread *thread, struct event *event);

#endif
