/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hardware engine's own: the state that its parts share. Its interface is
 * perf_event_engine (stops/engine.h).
 *
 *   perf_event.c    putting locations in place and taking them out, the operations
 *   perf_probe.c    trial hits; the state is made and freed
 *   perf_stop.c     records from the kernel, and which hits a stop stands for
 *   perf_output.c   what commands have printed in the kernel
 *   perf_report.c   counts and descriptions, for people
 *   perf_explain.c  programs, and why they leave hits to the stub, for people
 */
#ifndef TRUEHIT_BPF_PERF_EVENT_H
#define TRUEHIT_BPF_PERF_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "bpf/kernel.h"
#include "bpf/program.h"
#include "bpf/records.h"
#include "stops/engine.h"

/** A location in place: what its engine_data points to. */
struct placement {
	TAILQ_ENTRY(placement) link;
	struct location *location;
	struct programs *programs; /* the cache that the program is of */
	struct program *program;
	uint64_t sig_data;  /* what its SIGTRAPs carry; never used again */
	uint64_t lost_seen; /* lost records that were noticed so far */
	uint64_t forgotten; /* hits that the events had counted at the last reset */
	bool sees_kernel;   /* what system calls write */
	int *fds;	    /* one event per region and thread */
	size_t nfds;
};

TAILQ_HEAD(placement_list, placement);

/** The engine's state. */
struct perf_event {
	const struct arch_ops *arch;
	struct bpf_kernel kernel;
	struct programs programs,
		kernel_programs;      /* the latter: hits in kernel mode, too */
	struct error *no_kernel_hits; /* why there are none in kernel mode, or NULL */
	bool sigtrap; /* events raise SIGTRAP; else only programs stop threads */
	struct records records;
	struct placement_list placements;
	/* A random number in the upper half, so that a perf event of the program's
	 * own does not look like ours, and a serial number in the lower. */
	uint64_t next_sig_data;
};

/* ---- perf_probe.c ---- */

/** Makes the state, or says why the engine does not work here. */
struct error *perf_event_probe(struct engine *engine);
/** Frees the state; nothing may be in place any more. */
void perf_event_free(struct perf_event *state);

/* ---- perf_stop.c ---- */

bool perf_event_thread_ended(uint32_t tid);
/** By the location index of its program; NULL: it is gone. */
struct placement *perf_event_find(const struct perf_event *state, uint64_t index);
/** Keeps a record from the ring; data: the struct perf_event. */
void perf_event_on_record(void *data, const struct bpf_hit_record *record);
void perf_event_on_stop(struct engine *engine, const struct event *event,
			struct hits *hits);

/* ---- perf_output.c ---- */

int perf_event_output_fd(struct engine *engine);
size_t perf_event_print_output(struct engine *engine, bool all);

/* ---- perf_report.c ---- */

void perf_event_counts(struct engine *engine, const struct location *location,
		       struct counts *counts);
void perf_event_reset_counts(struct engine *engine, struct location *location);
void perf_event_describe(struct engine *engine, const struct location *location,
			 struct buffer *out);

/* ---- perf_explain.c ---- */

void perf_event_explain(struct engine *engine, const struct location *location,
			struct buffer *out);

#endif
