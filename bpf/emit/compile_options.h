/* SPDX-License-Identifier: BSD-2-Clause */
/* What the compiler is told, and what it says of the code. */
#ifndef TRUEHIT_BPF_EMIT_COMPILE_OPTIONS_H
#define TRUEHIT_BPF_EMIT_COMPILE_OPTIONS_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include "gdbstub/agent/capture.h"
#include "gdbstub/agent/variables.h"
#include "arch/arch.h"
#include "bpf/shared/hits.h"

/** What a program is made for. */
enum bpf_kind {
	BPF_KIND_EVENT,	       /* a perf event that is a breakpoint */
	BPF_KIND_UPROBE,       /* ... that is a uprobe */
	BPF_KIND_UPROBE_MULTI, /* a link of BPF_TRACE_UPROBE_MULTI */
	BPF_KINDS
};

/** Of an event: what a program runs at, if that is no place in the text. */
struct bpf_watch {
	bool access; /* hits come by an access to data, and after it */
	/* The value filter: a hit that finds these bytes as they were is false. At most
	 * WATCH_BYTES; 0: no such filter. */
	uint64_t addr;
	unsigned int len;
	/* Hits come before the access, and the stub decides after it, unless what the
	 * access leads to is known to make all conditions false. The filter is the
	 * stub's, too. */
	bool stub_decides;
	/* ... and others may be about to store, by hits that were false, what the
	 * conditions read elsewhere. */
	bool shared_reads;
};

/** What a program runs at: all zeros is a breakpoint's event. */
struct bpf_site {
	enum bpf_kind kind;
	struct bpf_watch watch;
	/* Of a uprobe: how long the instruction there is, which the kernel executes, */
	unsigned int insn_len;
	/* what it overwrites (uprobe_program.h), */
	struct insn_store store;
	/* that a thread is to stop before it, at arch_ops.nowhere, */
	bool redirects;
	/* and that it is in a pad (gdbstub/pads/pad.h), where the PC is not what it
	 * stands for. */
	bool in_pad;
};

/** Is the index of its location told to the program at each hit, by the cookie of the
 * link (Linux 6.6, as such links)? Then one program serves many locations. */
static inline bool bpf_is_told(enum bpf_kind kind)
{
	return kind == BPF_KIND_UPROBE_MULTI;
}

/** What becomes of a true hit, or of one that is not decided. */
enum bpf_deed {
	BPF_STOP,   /* a record, and the thread stops for its tracer */
	BPF_TRAP,   /* the event's SIGTRAP, whether or not it is blocked; no record */
	BPF_SIGNAL, /* the same, but if it is blocked, a record, and SIGSTOP */
	BPF_RECORD, /* a record */
	BPF_COUNT,  /* it is counted */
};

struct bpf_compile_options {
	const struct arch_ops *arch;
	struct bpf_site site;
	unsigned int location;	/* index into bpf_shared.locations; of a program
				 * that is told it, as bpf_is_told: ignored */
	int shared_fd;		/* the map with struct bpf_shared */
	int ring_fd;		/* the ring buffer of struct bpf_hit_record */
	int output_fd;		/* ... and of struct bpf_output_record */
	const int *nothing_fds; /* by kind of uprobe: an empty map of programs
				 * (uprobe_program.h) */
	enum bpf_deed deed;
	bool matches; /* it obeys its struct bpf_match; hits are not counted by thread
		       */
	bool keeps_values;	 /* ... and its struct match_value */
	bool reads_counter;	 /* ... and what its user's perf event has counted: */
	int counter_fd;		 /* an array of that event alone */
	bool stop_by_signal;	 /* the event raises no SIGTRAP by itself */
	int task_blocked_offset; /* of task_struct.blocked, in bytes (from the
				  * kernel's BTF), or -1: unknown; then every stop
				  * is made by SIGSTOP */
	/* Hits can come in kernel mode, by a system call that writes to what is
	 * watched: then a change of what is filtered is a maybe, and so is a condition
	 * that reads registers; a task that stops for nobody has no hits. It needs the
	 * offsets of task_struct.flags and .ptrace. */
	bool kernel_mode;
	int task_flags_offset, task_ptrace_offset;
	int task_rseq_offset; /* of the pointer to the thread's struct rseq, or -1:
			       * there is none */
	/* The PID name space (stat of /proc/PID/ns/pid) whose tids records carry;
	 * inode 0: the system's own. A thread of another one leaves tid 0. */
	uint64_t pid_ns_device, pid_ns_inode;
	bool signed_division; /* the kernel takes signed BPF division */
	const struct variable_cells *variables; /* who has which cell, or NULL */
	/* What conditions compare with is in bpf_location.constants, so that conditions
	 * of the same form have the same code; but not where they loop: the verifier is
	 * to see that loops end. */
	bool constants_apart;
	bool all_maybe; /* a location without conditions is left to the stub */
	/* About how many operations of loops one evaluation may take before it ends
	 * in a maybe: the verifier walks through them all. */
	unsigned int loop_steps;
	/* Where paths join, keep constants from the verifier, which would go on with
	 * each path's own. */
	bool hide_constants;
};

/** What can make a maybe of a hit, on paths that are compiled. */
enum bpf_doubt {
	BPF_DOUBT_PAGE,	    /* memory that is read is not resident */
	BPF_DOUBT_TRAP,	    /* a byte that is read lies under a planted trap */
	BPF_DOUBT_DIVISOR,  /* a divisor is zero */
	BPF_DOUBT_REGISTER, /* a register has a bit that hides its value (bpf_rule) */
	BPF_DOUBT_KERNEL,   /* a system call has written (emit_kernel_mode.c) */
	BPF_DOUBT_VARIABLE, /* a trace state variable does not exist */
	BPF_DOUBT_LOCK,	    /* another thread is at the variables */
	BPF_DOUBT_STEPS,    /* a loop takes too many of them */
	BPF_DOUBT_BUSY,	    /* others write what is watched, all the time */
	BPF_DOUBT_TEXT,	    /* memory has not what a uprobe executes */
	BPF_DOUBT_SEQUENCE, /* a uprobe is in a restartable sequence */
	BPF_DOUBT_STORE,    /* what is about to be stored is not known */
	BPF_DOUBT_AHEAD,    /* what is not false is decided after the access */
	BPF_DOUBT_THREAD,   /* its number in our PID name space is not known */
	BPF_DOUBT_COUNTER,  /* it is not known what a counter has counted */
	/* Of the capture of commands only. */
	BPF_DOUBT_STRING, /* a string is too long for the record */
	BPF_DOUBT_FULL,	  /* there is no room for the record */
	BPF_DOUBTS
};

struct bpf_code {
	struct bpf_insn *insns;
	size_t count;
	char *undecided;     /* why some paths end in maybe, for people; or NULL */
	unsigned int doubts; /* 1 << enum bpf_doubt */
	/* For bpf_location.constants. */
	uint64_t constants[BPF_CONSTANTS_MAX];
	unsigned int nconstants;
	/* Why the stub runs commands, at all hits or where paths end so; or NULL. */
	char *uncaptured;
	unsigned int command_doubts; /* what else can make it run them; as doubts */
	struct capture capture;	     /* the records that it leaves of commands */
};

#endif
