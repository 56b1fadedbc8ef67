/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The uprobe engine's own: the state that its parts share. Its interface is
 * uprobe_engine (gdbstub/locations/engine.h), what it shares with other engines
 * placement.h.
 *
 * Where programs may set the PC (uprobe_options.redirects), they send the thread that
 * is to stop to where nothing can be executed, and the stub puts it back to the
 * instruction: any that can have a uprobe. If nobody is told of the hit, the thread
 * steps over it, with the trap away and all others halted.
 *
 * Elsewhere a stop comes after the instruction, as the kernel delivers no signal
 * before it is done. The record has what the instruction changes, as it was before: the
 * stub puts it back, so that everybody sees a thread that is about to execute the
 * instruction. If nobody is told of the hit, the thread gets the state after the
 * instruction again: each is executed once. What an instruction changes is known
 * beforehand (gdbstub/text/undo.h); locations at others are for other engines.
 */
#ifndef TRUEHIT_BPF_UPROBE_UPROBE_H
#define TRUEHIT_BPF_UPROBE_UPROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/kernel/background_close.h"
#include "bpf/kernel/costs.h"
#include "bpf/placement/placement.h"
#include "bpf/kernel/uprobe_event.h"
#include "gdbstub/pads/location_pad.h"

/** A location in place: what its engine_data points to. */
struct uprobe_placement {
	struct placement base; /* first */
	TAILQ_ENTRY(uprobe_placement) link;
	struct uprobe *state;
	struct uprobe_target target;
	struct insn_undo undo;
	uint8_t insn[INSN_LEN_MAX]; /* what the kernel executes */
	bool inexact;		    /* a hit could not be undone */
	struct location_pad pad;    /* which its trap is in, if there is one */
	struct closing closing;	    /* with what holds it there */
};

/** What a thread was like after an instruction that was undone; with redirects,
 * nothing but whose it is counts. For the stop that is being looked at. */
struct undone {
	pid_t tid;				      /* 0: none */
	struct uprobe_placement *by;		      /* whose hit it was */
	uint8_t registers[8 * BPF_CONTEXT_WORDS_MAX]; /* the regset with the PC */
	uint64_t stored_at;
	unsigned int stored_len; /* 0: nothing is to be written */
	bool restarts;		 /* it is in a sequence that the kernel begins anew */
	uint8_t stored[UNDO_BYTES_MAX];
};

/** The engine's state. */
struct uprobe {
	const struct arch_ops *arch;
	TAILQ_HEAD(, uprobe_placement) open; /* all that may have traps somewhere */
	struct placements *placements;
	struct programs programs;
	struct uprobe_options options;
	struct background_close *closer;
	struct hit_costs costs;
	bool costs_known;
	struct uprobe_file file; /* while any is open */
	struct undone undone;	 /* by the stop that is being looked at */
};

#endif
