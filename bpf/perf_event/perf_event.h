/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hardware engine's own: the state that its parts share. Its interface is
 * perf_event_engine (gdbstub/locations/engine.h), what it shares with other engines
 * placement.h.
 *
 *   perf_event.c    putting locations in place and taking them out, the operations
 *   perf_probe.c    trial hits; the state is made and freed
 */
#ifndef TRUEHIT_BPF_PERF_EVENT_PERF_EVENT_H
#define TRUEHIT_BPF_PERF_EVENT_PERF_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/placement/placement.h"

/** A location in place: what its engine_data points to. */
struct perf_placement {
	struct placement base; /* first */
	uint64_t sig_data;     /* what its SIGTRAPs carry; never used again */
	bool sees_kernel;      /* what system calls write */
	bool shares_reads;     /* as bpf_watch.shared_reads */
	int *fds;	       /* one event per region and thread */
	size_t nfds;
};

/** The engine's state. */
struct perf_event {
	const struct arch_ops *arch;
	struct placements *placements;
	struct programs programs,
		kernel_programs;      /* the latter: hits in kernel mode, too */
	struct error *no_kernel_hits; /* why there are none in kernel mode, or NULL */
	bool sigtrap; /* events raise SIGTRAP; else only programs stop threads */
	/* A random number in the upper half, so that a perf event of the program's
	 * own does not look like ours, and a serial number in the lower. */
	uint64_t next_sig_data;
};

#endif
