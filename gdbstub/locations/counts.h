/* SPDX-License-Identifier: BSD-2-Clause */
/* The hits of a location, by thread. */
#ifndef TRUEHIT_LOCATIONS_COUNTS_H
#define TRUEHIT_LOCATIONS_COUNTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hit_counts {
	uint64_t hits;	 /* the event fired */
	uint64_t trues;	 /* ... and the condition was true */
	uint64_t maybes; /* ... and the kernel left it to the stub */
};

/** A moment, to tell what has come since (gdbstub/control/pace.h). */
struct count_mark {
	uint64_t ran_ns;  /* the time that threads had been resumed for, */
	uint64_t used_ns; /* the time of processors that the process had taken */
	struct hit_counts counts;
};

struct thread_counts {
	pid_t tid;
	struct hit_counts counts;
};

struct counts {
	struct thread_counts *threads; /* owned; by tid, from the lowest up */
	size_t count, capacity;
	struct hit_counts others; /* of all threads that are not told apart */
};

/** Adds to what a thread has; @tid 0, or out of memory: to the others. */
void counts_add(struct counts *counts, pid_t tid, const struct hit_counts *more);
/** Adds all that @more has. */
void counts_add_all(struct counts *counts, const struct counts *more);
/** A new thread has the tid of one that has ended: that one is now of the others. */
void counts_retire(struct counts *counts, pid_t tid);
/** The sum. */
struct hit_counts counts_total(const struct counts *counts);
/** To zero; frees what it owns. */
void counts_clear(struct counts *counts);

#endif
