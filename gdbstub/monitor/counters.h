/* SPDX-License-Identifier: BSD-2-Clause */
/* What the processor's counters (PMU) count in user mode, found out by counting. */
#ifndef TRUEHIT_MONITOR_COUNTERS_H
#define TRUEHIT_MONITOR_COUNTERS_H

#include "gdbstub/base/buffer.h"
#include "gdbstub/control/counter_trial.h"

/** Counts a loop of this very process's with each event that programs mostly want,
 * twice, and appends a line for each: what it has counted, whether that is exact, or
 * why it counts nothing. Then, for each event of until-count, whether the processor
 * counts that, or why it is stepped. */
void counters_show(struct counter_findings *findings, struct buffer *out);

#endif
