/* SPDX-License-Identifier: BSD-2-Clause */
/* Does the engine of hardware events work here? A trial tells. */
#ifndef TRUEHIT_BPF_PERF_EVENT_PERF_PROBE_H
#define TRUEHIT_BPF_PERF_EVENT_PERF_PROBE_H

#include "bpf/perf_event/perf_event.h"

/** Makes the state, or says why the engine does not work here. */
struct error *perf_event_probe(struct engine *engine);
/** Frees the state; nothing may be in place any more. */
void perf_event_free(struct perf_event *state);

#endif
