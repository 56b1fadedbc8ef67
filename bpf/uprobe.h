/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The uprobe engine's own: the state that its parts share. Its interface is
 * uprobe_engine (stops/engine.h), what it shares with other engines placement.h.
 *
 *   uprobe.c         putting locations in place and taking them out, the operations
 *   uprobe_stop.c    stops: back before the instruction, and on behind it
 *   uprobe_memory.c  who else sees what an instruction stores
 *   uprobe_sequence.c  restartable sequences: none may be executed elsewhere
 *   uprobe_text.c    the kernel's traps, as memory shows them
 *   uprobe_event.c   asking the kernel for a uprobe (uprobe_event.h)
 *   uprobe_trial.c   which way of asking works here (uprobe_trial.h)
 *
 * Where programs may set the PC (uprobe_options.redirects), they send the thread that
 * is to stop to where nothing can be executed, and the stub puts it back to the
 * instruction: any that can have a uprobe. If nobody is told of the hit, the thread
 * steps over it, with the trap away and all others halted.
 *
 * Elsewhere a stop comes behind the instruction, as the kernel delivers no signal
 * before it is done. The record has what the instruction changes, as it was before: the
 * stub puts it back, so that everybody sees a thread that is about to execute the
 * instruction. If nobody is told of the hit, the thread gets the state behind the
 * instruction again: each is executed once. What an instruction changes is known
 * beforehand (stops/undo.h); locations at others are for other engines.
 */
#ifndef TRUEHIT_BPF_UPROBE_H
#define TRUEHIT_BPF_UPROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/closer.h"
#include "bpf/costs.h"
#include "bpf/placement.h"
#include "bpf/uprobe_event.h"

/** A location in place: what its engine_data points to. */
struct uprobe_placement {
	struct placement base; /* first */
	TAILQ_ENTRY(uprobe_placement) link;
	struct uprobe *state;
	struct uprobe_target target;
	struct insn_undo undo;
	uint8_t insn[INSN_LEN_MAX]; /* what the kernel executes */
	bool inexact;		    /* a hit could not be undone */
	struct closing closing;	    /* with what holds it there */
};

/** What a thread was like behind an instruction that was undone; with redirects,
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
	struct closer *closer;
	struct hit_costs costs;
	bool costs_known;
	struct undone undone; /* by the stop that is being looked at */
};

/* ---- uprobe_stop.c ---- */

/** Puts the thread back before the instruction (placement.taken). */
bool uprobe_undo(struct placement *placement, const struct event *event,
		 const struct bpf_hit_record *record, struct hits *hits);
/** A trap that the kernel has not taken for its own: the program has moved its text to
 * other memory. The thread is put back to it. */
void uprobe_take_moved(struct engine *engine, const struct event *event,
		       struct hits *hits);
/** engine_ops.pass */
void uprobe_pass(struct engine *engine, struct thread *thread);

/* ---- uprobe_memory.c ---- */

/** Is there another thread that could see what the instruction stores, and that this is
 * undone, be it one of another process that shares the memory? */
bool uprobe_has_witnesses(const struct uprobe_placement *placement,
			  const struct inferior *inferior);
/** Would it now store to memory that is mapped shared? */
bool uprobe_stores_to_shared(const struct uprobe_placement *placement,
			     const struct location *location);
/** Has it stored to such memory? The bytes have just been read. */
bool uprobe_has_stored_to_shared(const struct uprobe_placement *placement,
				 const struct inferior *inferior, uint64_t addr,
				 unsigned int len);

/* ---- uprobe_sequence.c ---- */

/** An error if the location, whose target is known, is in a restartable sequence. */
struct error *uprobe_check_sequence(struct uprobe_placement *placement,
				    struct location *location);
/**
 * Was the thread, which has stopped for this hit, in a restartable sequence? Then it
 * has its rseq_cs again, and the location is to move. 0 or 1, or a negative errno.
 */
int uprobe_keep_sequence(struct uprobe_placement *placement, struct thread *thread,
			 const struct bpf_hit_record *record);

/* ---- uprobe_text.c ---- */

/** engine_ops.show_originals */
void uprobe_show_originals(struct engine *engine, const struct inferior *inferior,
			   uint64_t addr, uint8_t *data, size_t len);
/** Notes the instruction that the kernel is going to execute. 0 or a negative errno. */
int uprobe_note_insn(struct uprobe_placement *placement,
		     const struct location *location);
/** Is it what memory has? The program may have changed it behind the trap. */
bool uprobe_is_insn(const struct uprobe_placement *placement);
/** Is the place of the file not mapped there any more? */
bool uprobe_has_vanished(const struct uprobe_placement *placement);

#endif
