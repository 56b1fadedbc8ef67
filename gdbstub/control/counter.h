/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the processor counts of one thread in user mode, and a signal that stops the
 * thread when it has counted so many (perf_event_open(2)).
 *
 * As in rr, one event measures, and others interrupt. The signal is SIGSTOP, since no
 * program can block it; its si_code is of the kernel's (POLL_IN, POLL_HUP), its si_fd
 * the interrupting event's descriptor here. It comes once.
 */
#ifndef TRUEHIT_CONTROL_COUNTER_H
#define TRUEHIT_CONTROL_COUNTER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/pmu.h"

enum { COUNTER_EVENTS = 3 };

/** How it is counted. */
struct counter_kind {
	struct counter_raw raw;
	/* Two events interrupt, the second one later by one. QEMU's PMU looks at its
	 * counters one too early, and at the next one only if another wants it
	 * (target/arm/helper.c, pmevcntr_op_finish). */
	bool twice;
};

/** Counts if events > 0; all zero: it does not. */
struct counter {
	int fd[COUNTER_EVENTS]; /* the first one measures, the second one signals */
	unsigned int events;
	uint64_t period; /* 0: nothing interrupts */
};

/** Counts a stopped thread from now on; the signal comes after @period, if that is not
 * 0. 0 or a negative errno. */
int counter_begin(struct counter *counter, const struct counter_kind *kind, pid_t tid,
		  uint64_t period);
/** What it has counted of the thread, which is stopped. -EBUSY: it did not count all
 * the time, since others took the processor's counters. */
int counter_read(const struct counter *counter, uint64_t *ret);
/** Closes it; it is all zero then. */
void counter_end(struct counter *counter);
/** The descriptor that its signals name; -1: it makes none. */
int counter_signals_by(const struct counter *counter);
/** Is it the signal of a counter that signals by @fd? */
bool counter_made(const siginfo_t *info, int fd);
/** Why none can be had, for people: of an error of counter_begin. */
const char *counter_refusal(int err);

#endif
