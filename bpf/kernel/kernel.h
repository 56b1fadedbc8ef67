/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all kernel engines share: the map and the ring that programs report
 * into, what this kernel's BPF can do, and which location indexes are taken.
 */
#ifndef TRUEHIT_BPF_KERNEL_KERNEL_H
#define TRUEHIT_BPF_KERNEL_KERNEL_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gdbstub/base/error.h"
#include "bpf/emit/compile_options.h"
#include "bpf/shared/hits.h"
#include "bpf/kernel/ring.h"

/** Takes one record out of the ring. */
typedef void bpf_record_fn(void *data, const struct bpf_hit_record *record);

struct bpf_kernel {
	int shared_fd;		    /* the array map of one struct bpf_shared */
	struct bpf_shared *shared;  /* ... as mapped here */
	struct ring hits;	    /* of struct bpf_hit_record */
	struct ring output;	    /* of struct bpf_output_record */
	int nothing_fds[BPF_KINDS]; /* by kind of uprobe: an empty map of programs */
	bpf_record_fn *on_record;
	void *data;

	/* Of members of task_struct, in bytes; -1: unknown. */
	int task_blocked_offset, task_flags_offset, task_ptrace_offset;
	int task_rseq_offset;	/* of the pointer to the thread's struct rseq */
	uint64_t pid_ns_device; /* of our PID name space, as programs name it */
	uint64_t pid_ns_inode;	/* 0: it is the system's own */
	bool signed_division;	/* signed BPF division loads */
	uint64_t taken[BPF_LOCATIONS_MAX / 64 + 1]; /* location indexes, as bits */
};

/**
 * Finds out whether BPF may be used at all, makes map and ring. Records are
 * handed to @on_record(@data). The error says which right is missing; nothing
 * is left behind then.
 */
struct error *bpf_kernel_init(struct bpf_kernel *kernel, bpf_record_fn *on_record,
			      void *data);
/** What libbpf says is for the server's log, from now on. */
void bpf_kernel_log(void);
/** Programs stop nobody after the end of the calling thread (server_word.h). */
void bpf_kernel_hold_word(struct bpf_kernel *kernel);
void bpf_kernel_deinit(struct bpf_kernel *kernel);

/** What the compiler has to know of the kernel; of all else, zeros. */
struct bpf_compile_options bpf_kernel_options(const struct bpf_kernel *kernel,
					      const struct arch_ops *arch);

/** Takes every record of a hit that is there. */
void bpf_kernel_drain(struct bpf_kernel *kernel);

/** A free location index, its counts set to zero; -ENOSPC: none is left. */
int bpf_kernel_take_location(struct bpf_kernel *kernel);
void bpf_kernel_free_location(struct bpf_kernel *kernel, unsigned int location);

/** BPF_TRACE_UPROBE_MULTI of include/uapi/linux/bpf.h (enum bpf_attach_type); Linux
 * 6.6. */
enum { UPROBE_MULTI_ATTACH_TYPE = 48 };

/**
 * Loads a program. Returns its descriptor (the caller's) or a negative errno. @log, if
 * not NULL, gets the verifier's words.
 */
int bpf_kernel_load(enum bpf_kind kind, const struct bpf_insn *insns, size_t count,
		    char *log, size_t log_size);
/** Loads the program that calls every hit false: no more than return 0. */
int bpf_kernel_load_false(enum bpf_kind kind);
/** Does the verifier know the division of signed numbers (since Linux 6.6)? */
bool bpf_kernel_divides_signed(void);

/** The error for @what that the kernel refuses (@err, positive), with what an ordinary
 * user lacks on this system. */
struct error *bpf_kernel_rights_error(int err, const char *what);

#endif
