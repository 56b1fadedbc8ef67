/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel tells of threads: let go on, or note a stop to report. */
#ifndef TRUEHIT_RUN_EVENTS_H
#define TRUEHIT_RUN_EVENTS_H

#include "gdbstub/run/run.h"

/** Acts on an event of one kind. */
typedef void event_handler(struct run *run, const struct event *event);

/** Takes one event (not EVENT_NONE). */
void events_handle(struct run *run, const struct event *event);

#endif
