/* SPDX-License-Identifier: BSD-2-Clause */
/* The value of the thread's counter, a perf event of the library's user. */
#ifndef TRUEHIT_BPF_EMIT_EMIT_COUNTER_H
#define TRUEHIT_BPF_EMIT_EMIT_COUNTER_H

#include "bpf/emit/compiler.h"

enum { BPF_FUNC_READ_COUNTER = BPF_FUNC_perf_event_read_value };

/** r1 = the value; or to the label if it is not known: it cannot be read, or it did not
 * count all the time. No slot is in use. */
void counter_emit_load(struct compiler *c, uint32_t unknown);
/** Completes the record in the frame, instead of sequence_emit_record(). */
void counter_emit_record(struct compiler *c);

#endif
