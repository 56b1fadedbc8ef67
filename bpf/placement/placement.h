/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Locations that programs in the kernel serve: what the engines that attach programs
 * have in common, however the programs come to run (perf_event.h).
 */
#ifndef TRUEHIT_BPF_PLACEMENT_PLACEMENT_H
#define TRUEHIT_BPF_PLACEMENT_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "bpf/kernel/kernel.h"
#include "bpf/placement/program.h"
#include "bpf/placement/records.h"
#include "gdbstub/locations/engine.h"

/** A location in place. Engines add their own to it, and their engine_data points to
 * it. */
struct placement {
	TAILQ_ENTRY(placement) link;
	struct engine *engine;
	struct location *location;
	struct programs *programs; /* the cache that the program is of */
	struct program *program;
	unsigned int index; /* into bpf_shared.locations */
	uint64_t lost_seen; /* lost records that were noticed so far */
	uint64_t forgotten; /* hits that were counted before the last reset */
	/* A record of it is the thread's, at this stop. False: the thread is shown
	 * where it is, after the location. NULL: there is nothing to do. */
	bool (*taken)(struct placement *placement, const struct event *event,
		      const struct bpf_hit_record *record, struct hits *hits);
};

TAILQ_HEAD(placement_list, placement);

/** What all kernel engines share: one map, one ring, one set of variables. */
struct placements {
	struct bpf_kernel kernel;
	struct error *unusable; /* why no program can be loaded here, or NULL */
	struct records records;
	bool any_commands; /* some location has had some, which may have left output */
	struct placement_list list;
	struct placement *by_index[BPF_LOCATIONS_MAX]; /* NULL: none */
};

/** At the start of the server: without memory, there is none. */
struct placements *placements_create(void);
/** Nothing may be in place any more. */
void placements_destroy(struct placements *placements);

/** Gives the location a program of the cache, and that the location's gate and values.
 * On error nothing is left behind. */
struct error *placement_init(struct placement *placement, struct engine *engine,
			     struct programs *programs, struct location *location,
			     const struct bpf_site *site);
/** Its hits count no longer. Those that wait to be told are forgotten, and the
 * location has its gate and values back. */
void placement_retire(struct placement *placement, struct placements *placements);
/** The program runs no longer for it, and is given back. */
void placement_deinit(struct placement *placement);
/** The hits of an ended thread with the same tid are not this new one's. */
void placement_thread_added(const struct placement *placement,
			    const struct placements *placements,
			    const struct thread *thread);
/** By the location index that its program leaves in records; NULL: it is gone. */
struct placement *placements_find(const struct placements *placements, uint64_t index);
struct bpf_location *placement_shared(const struct placement *placement,
				      const struct placements *placements);

/** Conditions that read these bytes cannot be decided in the kernel. All threads are
 * stopped: no program sees a half-changed range. */
void placements_set_shadow(struct placements *placements, const struct shadow *shadow);

/* Operations of engines (engine.h). */
struct gate *placement_gate(struct engine *engine, const struct location *location);
struct watch_last *placement_last(struct engine *engine,
				  const struct location *location);

#endif
