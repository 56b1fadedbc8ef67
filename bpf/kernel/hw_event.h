/* SPDX-License-Identifier: BSD-2-Clause */
/* A perf event that is a hardware breakpoint of one thread, with a BPF program. */
#ifndef TRUEHIT_BPF_KERNEL_HW_EVENT_H
#define TRUEHIT_BPF_KERNEL_HW_EVENT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/arch.h"

struct hw_event_options {
	const struct arch_ops *arch;
	struct hw_region region; /* one that hw_plan made */
	int program_fd;		 /* -1: none, for one that is never enabled */
	bool sigtrap;	   /* a hit that the program lets through raises SIGTRAP */
	uint64_t sig_data; /* ... and carries this in its siginfo */
	bool kernel;	   /* hits in kernel mode, too */
	bool one_thread;   /* threads that it makes do not inherit it */
};

/**
 * Opens the event on a thread and the threads that it will make, switched off.
 * It does not follow into forked processes and ends at exec. Returns the
 * descriptor (the caller's) or a negative errno: ENOSPC: no slot is free; ESRCH:
 * the thread is gone; EACCES, EPERM: perf events are not allowed.
 */
int hw_event_open(const struct hw_event_options *options, pid_t tid);
/**
 * Aims it elsewhere, in the thread and all that inherited it, and switches it on: with
 * the same options but for region and sig_data. One system call, nothing else. Returns
 * 0, or a negative errno: ENOSPC: no slot of that kind is free (aarch64).
 */
int hw_event_aim(int fd, const struct hw_event_options *options);
/** Switch it on, in the thread and all that inherited it. */
int hw_event_enable(int fd);

/**
 * Do the processor's breakpoint registers work? In some virtual machines all that sets
 * them succeeds, and they never fire. Found out by a write of a process of its own that
 * an event counts. False only if it was not counted: where the event cannot be had
 * (rights, or no slot is free), the calls above tell.
 */
bool hw_event_fires(void);

/** Is this the SIGTRAP of a perf event? Then *sig_data is what it carries. */
bool hw_event_siginfo(const siginfo_t *info, uint64_t *sig_data);
/** Of such a one: was it blocked when the hit came, so that the thread has run on? */
bool hw_event_is_late(const siginfo_t *info);

#endif
