/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel programs and the stub share: one mmapped array map with a
 * single value (so that programs reach it without a helper call), and a ring
 * buffer of records. The compiler (compile.c) writes programs against this
 * layout; the engines read it.
 */
#ifndef TRUEHIT_BPF_SHARED_HITS_H
#define TRUEHIT_BPF_SHARED_HITS_H

#include <stddef.h>
#include <stdint.h>

#include "gdbstub/agent/variables.h"
#include "gdbstub/base/server_word.h"
#include "arch/arch.h"
#include "bpf/shared/ignore_gate.h"
#include "bpf/shared/hit_tally.h"
#include "bpf/shared/match.h"
#include "bpf/shared/watch_last.h"
#include "bpf/shared/shadow.h"

enum {
	BPF_LOCATIONS_MAX = 1023,
	BPF_LOCATION_MASK = 1023, /* what an index is made of */
	/* As many as there are registers that can be compared, and some. */
	BPF_CONSTANTS_MAX = 40,
};

/** What a program decided about a hit. False hits leave no record. */
enum bpf_verdict { BPF_FALSE, BPF_TRUE, BPF_MAYBE };

/** Hits of one thread at one location (hit_tally.h). */
struct bpf_tally {
	uint64_t key; /* whose: the location + 1, the tid below it; 0: nobody's */
	struct tally_hits hits;
};

/** What programs count and obey at one location, by atomic additions. */
struct bpf_location {
	struct bpf_tally others; /* hits of threads without an entry; no key */
	uint64_t has_entries;	 /* 0: no thread has one, so that none is looked for */
	struct gate gate;	 /* which true hits are ignored */
	uint64_t lost;		 /* hits whose record did not fit into the ring */
	uint64_t uncaptured;	 /* true hits whose commands were left to the stub */
	struct watch_last last;	 /* of a write watchpoint: what its filter compares */
	uint64_t suspended;	 /* of a breakpoint event: not 0: hits are none, */
	uint64_t dropped;	 /* ... and so many were */
	uint64_t armed;		 /* of a uprobe: its address; 0: hits are none */
	uint64_t pc;		 /* ... in a pad: the PC that threads there stand for */
	uint64_t text[2]; /* ... and its instruction after the trap (uprobe_program.h)
			   */
	uint64_t constants[BPF_CONSTANTS_MAX]; /* what its conditions compare with */
};

/** Entries are found by a thread's bucket, at one of its places. */
enum {
	BPF_TALLY_BUCKETS = 4096,
	BPF_TALLY_PLACES = 8,
	BPF_TALLIES = BPF_TALLY_BUCKETS * BPF_TALLY_PLACES
};

/** The map's single value. */
struct bpf_shared {
	uint64_t server; /* a word that the server holds (server_word.h) */
	/* A `ref` of any byte in [shadow_start, shadow_end) is a *maybe*, unless all
	 * of it is in one of the gaps: the stub has planted traps there and knows what
	 * the bytes really are. start == end: nothing is planted. */
	uint64_t shadow_start, shadow_end;
	struct shadow_range shadow_gaps[SHADOW_GAPS];
	struct bpf_location locations[BPF_LOCATIONS_MAX];
	struct bpf_match matches[MATCHES_MAX]; /* of the first locations */
	struct bpf_tally tallies[BPF_TALLIES];
	struct variable_cells variables;
};

_Static_assert(sizeof(struct bpf_shared) <= SERVER_WORD_MEMORY, "the word's memory");

/** One record per true hit or maybe. */
struct bpf_hit_record {
	uint32_t tid;
	uint32_t location; /* index into bpf_shared.locations */
	uint32_t verdict;  /* enum bpf_verdict */
	uint32_t by_stop;  /* 1: stopped by SIGSTOP, as SIGTRAP was blocked */
	/* What the value filter, if there is one, has compared; of a maybe it may have
	 * nothing, and nothing has been exchanged then. */
	struct watch_values values;
	uint64_t pc;
	uint64_t addr; /* data address of the access, if a watchpoint */
	union {
		/* The thread's struct rseq, or 0, and its rseq_cs; 0: NULL, or it could
		 * not be read (sequence.h). */
		struct {
			uint64_t rseq, sequence;
		};
		/* Of programs that read a counter: is it known, and its value. */
		struct {
			uint64_t has_counter, counter;
		};
	};
	/* From here on, of uprobes only (uprobe_program.h); zeros else. */
	uint64_t stored_known; /* 1: what the instruction overwrites could be read */
	uint8_t stored[UNDO_BYTES_MAX];		   /* ... as many bytes as that is */
	uint64_t registers[BPF_CONTEXT_WORDS_MAX]; /* the context before it */
};

/** What the records of breakpoint events have of it. */
enum { BPF_HIT_RECORD_HEAD = offsetof(struct bpf_hit_record, stored_known) };

/** One record per true hit whose commands ran in the kernel: what they print, by the
 * layout that the program was made with (gdbstub/agent/capture.h). */
struct bpf_output_record {
	uint64_t location; /* index into bpf_shared.locations */
	char capture[];
};

#endif
