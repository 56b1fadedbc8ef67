/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trial hits: what this kernel's breakpoint events and uprobes do is found out on a
 * child made for it, never from the kernel's version.
 */
#ifndef TRUEHIT_BPF_KERNEL_TRIAL_H
#define TRUEHIT_BPF_KERNEL_TRIAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/arch.h"
#include "gdbstub/base/error.h"
#include "bpf/kernel/uprobe_event.h"

/** A traced child that does a job per run, and then lets read(2) write to the 8 bytes
 * of a watchpoint. */
struct trial {
	const struct arch_ops *arch;
	pid_t pid;		     /* 0: none */
	int mem_fd;		     /* its memory (proc_open_memory), or -1 */
	struct trial_shared *shared; /* with the child */
};

/** What the child does when it is let run: calls a function. */
struct trial_job {
	void (*function)(void); /* of ours */
	unsigned int calls;
	bool in_thread; /* in a thread made for it, which is not traced */
};

/** What was seen of one pass. */
struct trial_outcome {
	unsigned int stops; /* before the child was past the address */
	int signal;	    /* of the last of them; SIGSEGV: it got no further */
	uint64_t pc;	    /* ... and where it was */
	uint64_t fault;	    /* ... and what it could not reach, if it is SIGSEGV */
	uint64_t ns;	    /* that its job took */
};

/** Makes the child. It dies with us; SIGCHLD may be blocked or not. */
struct error *trial_init(struct trial *trial, const struct arch_ops *arch);
/** Kills and reaps the child. Legal after a failed trial_init, and twice. */
void trial_deinit(struct trial *trial);

/** The address of the breakpoint. */
uint64_t trial_addr(void);

/**
 * Lets the child pass the address once, with an event that has this program and
 * raises SIGTRAP by itself (@sigtrap) or not. @blocked: the child has SIGTRAP
 * blocked.
 */
struct error *trial_pass(struct trial *trial, int program_fd, bool sigtrap,
			 bool blocked, struct trial_outcome *outcome);
/** Lets it get to the read(2) once, with an event that watches what that writes, in
 * kernel mode too. */
struct error *trial_read(struct trial *trial, int program_fd, bool sigtrap,
			 bool blocked, struct trial_outcome *outcome);

/** What a multi link tells its program (uprobe_target.cookie): no number that is there
 * by accident. */
enum { TRIAL_COOKIE = 700 };

/**
 * Opens a uprobe in the child, at the first instruction of a function of ours. Returns
 * the descriptor, the caller's: the child has none of ours.
 */
struct error *trial_open_probe(const struct trial *trial,
			       const struct probe_place *place,
			       const struct uprobe_options *options, int program_fd,
			       int *fd);
/** Lets it do a job, whatever is open. After a SIGSEGV it can do no other. */
struct error *trial_run(struct trial *trial, const struct trial_job *job, bool blocked,
			struct trial_outcome *outcome);

/** Is this where a system call returns to? */
bool trial_is_return(const struct trial *trial, uint64_t pc);

#endif
