/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loaded programs, kept for when the same conditions and commands come back:
 * gdb takes breakpoints out and puts them in again all the time. Conditions that differ
 * only in what they compare with are the same to the kernel, which finds that in
 * bpf_location.constants: so none is loaded for a value that has not been seen yet.
 *
 * A program that is told its location (bpf_is_told) serves as many as there are at the
 * same time: it takes the kernel most of a millisecond to verify one. Any other counts
 * into the location index that is written into it, so that an index belongs to one
 * program for as long as it lives, and a program serves one location at a time. All
 * other options are the same for the whole cache.
 */
#ifndef TRUEHIT_BPF_PLACEMENT_PROGRAM_H
#define TRUEHIT_BPF_PLACEMENT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "gdbstub/agent/list.h"
#include "gdbstub/base/error.h"
#include "bpf/emit/compile_options.h"
#include "bpf/kernel/kernel.h"

/** Programs that nobody uses are kept up to this number. */
enum { PROGRAMS_IDLE_MAX = 256 };
/** How much of the verifier's log is kept. */
enum { PROGRAM_LOG_LINES = 20 };

struct program {
	TAILQ_ENTRY(program) link;
	struct agent_list conditions, commands; /* owned: what it decides and does */
	struct bpf_site site;			/* ... and where */
	unsigned int location; /* index into bpf_shared.locations, unless it is told */
	int fd;
	unsigned int users;
	struct bpf_code code; /* compiled for the lists: loaded, unless .refused */
	/* The instructions as they were for the location 0, the same for all conditions
	 * of this form. Owned; NULL: it is told its location, or no others are of its
	 * form. */
	struct bpf_insn *form;
	/* Why the kernel did not take the code, in a line: the verifier's last
	 * words, or that there is none. What is loaded instead calls every hit a
	 * maybe. Owned; NULL: it was taken. */
	char *refused;
	char *log; /* the end of the verifier's log, if it refused the code. Owned. */
};

TAILQ_HEAD(program_list, program);

struct programs {
	struct bpf_kernel *kernel;
	struct bpf_compile_options options; /* all but .location and .site */
	struct program_list list;	    /* the one given back last comes first */
	unsigned int nidle;
};

/** @kernel must outlive the cache. */
void programs_init(struct programs *programs, struct bpf_kernel *kernel,
		   const struct arch_ops *arch, bool stop_by_signal);
/** Frees all programs, used ones too. */
void programs_deinit(struct programs *programs);

/** Is the program told where it is? */
static inline bool program_is_told(const struct program *program)
{
	return bpf_is_told(program->site.kind);
}

/**
 * A loaded program for the conditions (none: always true) and the commands, with
 * its counts at zero, and not armed; NULL is an empty list, and the event of a
 * breakpoint. Makes no system call if one is at hand.
 */
struct error *program_get(struct programs *programs,
			  const struct agent_list *conditions,
			  const struct agent_list *commands,
			  const struct bpf_site *site, struct program **ret);
/** Gives it back; it may be kept or freed. For this user it runs nowhere any more, and
 * its counts are gone. NULL is legal. */
void program_put(struct programs *programs, struct program *program);
/** The index of the location that the program is to serve: its own, or one of those
 * that are free, with all counts at zero; it is to be told then, and given back before
 * the program is. -ENOSPC: all are taken. */
int program_take_location(struct programs *programs, const struct program *program);
/** What an error (negative errno) of program_take_location is to the user. */
struct error *program_error(int err);
void program_give_location(struct programs *programs, const struct program *program,
			   unsigned int location);
/** Frees all that nobody uses, and their descriptors. */
void programs_forget_idle(struct programs *programs);

#endif
