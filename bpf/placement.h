/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Locations that programs in the kernel serve: what the engines that attach programs
 * have in common, however the programs come to run (perf_event.h).
 *
 *   placement.c          the state; putting programs to locations
 *   placement_stop.c     records from the kernel, and which hits a stop stands for
 *   placement_output.c   what commands have printed in the kernel
 *   placement_report.c   counts and descriptions, for people
 *   placement_explain.c  programs, and why they leave hits to the stub, for people
 */
#ifndef TRUEHIT_BPF_PLACEMENT_H
#define TRUEHIT_BPF_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "bpf/kernel.h"
#include "bpf/program.h"
#include "bpf/records.h"
#include "stops/engine.h"

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
	 * where it is, behind the location. NULL: there is nothing to do. */
	bool (*taken)(struct placement *placement, const struct event *event,
		      const struct bpf_hit_record *record, struct hits *hits);
};

TAILQ_HEAD(placement_list, placement);

/** What all kernel engines share: one map, one ring, one set of variables. */
struct placements {
	struct bpf_kernel kernel;
	struct error *unusable; /* why no program can be loaded here, or NULL */
	struct records records;
	struct placement_list list;
	struct placement *by_index[BPF_LOCATIONS_MAX]; /* NULL: none */
};

/* ---- placement.c ---- */

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

/* ---- placement_stop.c ---- */

bool placement_thread_ended(uint32_t tid);
/** Keeps a record from the ring; data: the struct placements. */
void placements_on_record(void *data, const struct bpf_hit_record *record);
/** Takes the records of the thread that has stopped: engine_ops.on_stop, but for the
 * signals that events raise by themselves. */
void placements_on_stop(struct placements *placements, const struct event *event,
			struct hits *hits);
/** Was there a hit whose record did not fit into the ring? Then it is a maybe. */
bool placement_take_lost(struct placement *placement,
			 const struct placements *placements, struct hits *hits);

/* ---- placement_output.c ---- */

/** A descriptor that poll(2) can read while print_output has something to do. */
int placements_output_fd(const struct placements *placements);
/**
 * Prints what commands have printed without a stop until now; for as long as the
 * @output is ready, or @all; what unattended inferiors print goes to @own. Returns of
 * how many hits. A location that is removed leaves nothing to print.
 */
size_t placements_print_output(struct placements *placements,
			       const struct output *output, const struct output *own,
			       bool all);

/* ---- placement_report.c, placement_explain.c: operations of engines ---- */

void placement_counts(struct engine *engine, const struct location *location,
		      struct counts *counts);
void placement_reset_counts(struct engine *engine, struct location *location);
void placement_describe(struct engine *engine, const struct location *location,
			struct buffer *out);
void placement_explain(struct engine *engine, const struct location *location,
		       struct buffer *out);
/** All hits that its programs have seen, those before the last reset as well. */
uint64_t placement_hits_seen(const struct placement *placement,
			     const struct placements *placements);

#endif
