/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pads in a program's memory: where they are, which thread is in one, and how all
 * of them go. Nothing that decides on a write of ours is kept in that memory.
 *
 * Threads that stop in a pad are never seen there: leave_pad (struct inferiors) puts
 * each, before anybody looks at its stop, where it would be without. So whoever holds
 * all threads may change or take away any pad. A thread that has passed the trap of a
 * pad, and not yet executed the instruction, is shown before that; thread->passed_at
 * says so, and pads_enter() has it go on after the trap, which would else be hit twice.
 * A signal of the program's that comes just there waits until the instruction is
 * executed.
 */
#ifndef TRUEHIT_PADS_PADS_H
#define TRUEHIT_PADS_PADS_H

#include <sys/queue.h>

#include "gdbstub/agent/list.h"
#include "gdbstub/base/error.h"
#include "gdbstub/inferior/inferior.h"
#include "gdbstub/pads/pad.h"

/** A pad that is in memory. Threads come to it once its jump is planted. */
struct site {
	struct table_entry by_addr, by_entry, by_insn;
	struct next_entry {
		struct table_entry entry;
		struct site *site;
	} by_next[PAD_NEXT_MAX];
	struct pads *pads; /* NULL: they are gone, and it with them */
	TAILQ_ENTRY(site) link;
	struct pad pad;
	int fd;		 /* the file that the trap's page is mapped from: the pads' */
	uint64_t offset; /* ... where the trap is in it, bytes */
	bool planted;	 /* kept by who plants the jump */
	bool trap_stays; /* also when the server has been killed, unlike a probe */
	struct native_code *filter; /* NULL: none, and why, for people */
	char *why_no_filter;
	bool waits;    /* ... until no thread blocks the signals of faults */
	bool is_plain; /* ... or only code by which nobody meets a killed server's trap
			*/
	bool checks_sequence;		/* the filter looks for restartable sequences */
	unsigned int counter;		/* of the filter's, in pads->filters */
	uint64_t false_hits, forgotten; /* by former counters; before the last reset */
	bool abandoned; /* nobody's, but a late thread (late.h) may be in it */
};

/** What a site is to be. */
struct site_wish {
	uint64_t addr; /* of the instruction */
	bool executed; /* threads have come to it, so that it is one for certain */
	const struct agent_list *conditions; /* of a filter; NULL: none, as its reads
					      * would be hits of a watchpoint */
	bool trap_stays; /* its trap will be one of the text's own (struct site) */
};

/**
 * Makes a pad for an instruction, with all threads held, and if possible with a filter.
 * The error says why there is none, for people ("it ...", of the instruction, or a
 * sentence).
 */
struct error *site_create(struct inferior *inferior, const struct site_wish *wish,
			  struct site **ret);
/** No jump leads to it, and no probe is there. A late thread may sleep in it: then it
 * stays in memory, and goes when none is late any more. */
void site_destroy(struct site *site);

/** Has it a filter, which decides its conditions? */
bool site_filters(const struct site *site);
/** The hits that the filter has found to be false. */
uint64_t site_false_hits(const struct site *site);
/** ... are from now on counted anew. */
void site_forget_hits(struct site *site);
/** The program has restartable sequences by now, for which the filter does not look; or
 * what was in the filter's way is gone. */
bool site_filter_is_outdated(const struct site *site);

/** Frees what is kept for making pads: those that were wanted are made. */
void pads_are_made(struct inferior *inferior);

/** A thread that is about to be resumed goes on in a pad if it has passed the trap
 * there; @signal: one that it is given goes first. */
void pads_enter(struct thread *thread, int signal);
/** Takes all pads, to which no jump leads any more, out of the program's memory, unless
 * late threads may be in them; @gone: that memory is no longer there. */
void pads_remove(struct inferior *inferior, bool gone);

#endif
