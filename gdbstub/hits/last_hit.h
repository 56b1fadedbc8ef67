/* SPDX-License-Identifier: BSD-2-Clause */
/* `monitor last-hit`: who made the access that a watchpoint has told of. */
#ifndef TRUEHIT_HITS_LAST_HIT_H
#define TRUEHIT_HITS_LAST_HIT_H

#include "gdbstub/locations/engine.h"

struct run;

/** Notes what can be known only now, while the thread is at its stop. The hit is one of
 * a watchpoint. */
void last_hit_note(struct run *run, struct thread *thread, const struct hit *hit);
/** Appends what is known of the last hit of @inferior, or of the last ones of all its
 * threads. */
struct error *last_hit_print(struct inferior *inferior, bool all, struct buffer *out);

#endif
