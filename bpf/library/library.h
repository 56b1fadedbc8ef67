/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside the library: a context, and its filters.
 *
 *   library.c         contexts: what the kernel can do, what all filters share
 *   library_filter.c  filters: a program, an event for each thread, a match
 *   library_counter.c a perf event of the user's, which programs read
 *   library_values.c  what was there before an access, and after it
 *   library_hits.c    signals and records, and whose they are
 *   library_unexplained.c  debug exceptions that say wrongly what they are about
 *   library_resume.c  going on from a hit
 *   library_state.c   registers, of which matches are made
 */
#ifndef TRUEHIT_BPF_LIBRARY_LIBRARY_H
#define TRUEHIT_BPF_LIBRARY_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/kernel/hw_event.h"
#include "bpf/kernel/kernel.h"
#include "bpf/library/truehit.h"
#include "gdbstub/base/error.h"

enum {
	WHY_LEN = 256,
	STEPPED_MAX = 64,
};

/* A record of a hit that nobody has asked for yet. */
struct waiting {
	struct bpf_hit_record hit;
	struct waiting *next;
};

struct truehit {
	struct bpf_kernel kernel;
	const struct arch_ops *arch;
	struct truehit_filter *filters[MATCHES_MAX]; /* by location index */
	/* What the last filter's signals carried: those of the next one that gets its
	 * index are others. */
	uint64_t last_signal[MATCHES_MAX];
	uint32_t cookie; /* of its signals: a random number */
	struct waiting *first, **last;
	uint64_t dropped;	    /* records for which there was no memory */
	pid_t stepped[STEPPED_MAX]; /* threads that were continued by a step, or 0 */
	char why[WHY_LEN];
};

struct truehit_filter {
	struct truehit *truehit;
	unsigned int index; /* of its location and its match */
	pid_t pid;	    /* whose memory it watches, */
	int memory_fd;	    /* ... if it keeps values; -1: it cannot be read */
	int counter_fd;	    /* the array of the user's perf event, or -1 */
	int program_fd;
	int *fds; /* its events, one for each thread */
	size_t count;
	struct hw_event_options event;
	enum truehit_deed deed;
	bool keeps_values;
	uint64_t unexplained; /* hits that were told, and that no program has seen */
	void *data;
};

/** What signals carry: the context's cookie, the filter's index, and how often it was
 * aimed. */
enum { SIG_INDEX_BITS = 8 };
_Static_assert((int)TRUEHIT_REGISTERS == (int)MATCH_REGISTERS, "matches have as many");
_Static_assert(MATCHES_MAX == 1 << SIG_INDEX_BITS, "an index has so many bits");

/** Keeps the error's text for truehit_why(), and gives its negative errno back; -EINVAL
 * if it has none. Takes @error over. */
int context_fail(struct truehit *truehit, struct error *error);
/** The array, if the options tell of an event. */
struct error *counter_open(struct truehit_filter *filter,
			   const struct truehit_options *options);
/** For a filter that keeps them, before it is aimed. */
void values_open(struct truehit_filter *filter);
/** Before a filter is aimed elsewhere; hits have no values until that is over. */
void values_begin_aim(const struct truehit_filter *filter);
/** It is aimed, at its region. Not @is_new: hits may have changed what is there. */
void values_end_aim(const struct truehit_filter *filter, bool is_new);
/** Do hits come before the access? Then what it leads to is not known. */
bool values_come_before(const struct truehit *truehit);
/** What the hit's record says of them. */
void values_tell(const struct truehit_filter *filter, const struct watch_values *values,
		 struct truehit_hit *ret);
/** Records that wait are nobody's any more. */
void context_forget(struct truehit *truehit, unsigned int index);
/** Is this stop's signal nothing but the end of a step by which the thread was
 * continued? */
bool context_step_is_nothing(struct truehit *truehit, pid_t tid, const siginfo_t *info);
/**
 * Is this signal a debug exception whose reason the processor tells wrongly, as happens
 * in virtual machines (gdbstub/hits/unexplained.h)? 0: it is not. 1: data may have been
 * accessed: *ret tells of the first filter of the thread's that is armed for data, as a
 * maybe. 2: there is none, or it is about an instruction, which will be hit again. [S].
 */
int context_explain(struct truehit *truehit, pid_t tid, const siginfo_t *info,
		    struct truehit_hit *ret);
/** A record has come: bpf_record_fn. */
void context_take_record(void *data, const struct bpf_hit_record *record);

#endif
