/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of this room share: all pads of an inferior. */
#ifndef TRUEHIT_PADS_PADS_STATE_H
#define TRUEHIT_PADS_PADS_STATE_H

#include <time.h>

#include "gdbstub/pads/filter_memory.h"
#include "gdbstub/pads/pad_space.h"
#include "gdbstub/pads/pads.h"
#include "gdbstub/pads/small_stacks.h"

/** Memory of the program's that was mapped for pads. */
struct pad_page {
	TAILQ_ENTRY(pad_page) link;
	struct table_entry by_page;
	uint64_t addr;
	int fd; /* of the file that it is a private mapping of; -1: of hops only */
};

struct pads {
	struct inferior *inferior;
	struct pad_space space;
	uint64_t looked_at;	 /* maps_number() when it was looked at */
	struct symbols *symbols; /* while locations are put in; NULL */
	uint64_t symbols_number; /* ... maps_number() when they were made, */
	time_t symbols_time;	 /* and when that was */
	struct filter_memory filters;
	struct small_stacks small_stacks;
	TAILQ_HEAD(, site) sites;
	bool any_abandoned;
	TAILQ_HEAD(, pad_page) pages;
	struct table by_page;  /* pages, by their address */
	struct table by_addr;  /* sites, by the pad's address, */
	struct table by_entry; /* by where the jump to it leads, */
	struct table by_next;  /* and those of next instructions, */
	struct table by_insn;  /* and by the address of what it stands in for */
};

/** The site whose pad has this address, among those of all who share the memory. NULL:
 * there is none. */
struct site *pads_at(struct inferior *inferior, uint64_t pc);

#endif
