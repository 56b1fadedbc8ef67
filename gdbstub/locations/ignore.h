/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * True hits that are counted and nothing else: neither told to the client nor a reason
 * to run commands. The programs in the kernel decide that themselves, from the same
 * gate (bpf/shared/ignore_gate.h) that the stub takes from. It is the location's for as
 * long as the client keeps that, whatever serves it.
 */
#ifndef TRUEHIT_LOCATIONS_IGNORE_H
#define TRUEHIT_LOCATIONS_IGNORE_H

#include <stdbool.h>
#include <stdint.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/base/error.h"
#include "gdbstub/locations/engine.h"

/** The location's gate: in the memory that programs see, if one serves it. */
struct gate *ignore_gate(struct location *location);
/** How many of its next true hits are ignored; GATE_ENDLESS: all. */
int64_t ignore_left(const struct location *location);
/** Appends what it does: "ignores its next 17 hits", "only counts its hits", "ignores
 * all but hit 18", or nothing. */
void ignore_describe(struct location *location, struct buffer *out);
/** `monitor ignore LOCATION N`: "2 100", 0 takes it away. Says what it did. */
struct error *ignore_next(struct inferior *inferior, const char *args,
			  struct buffer *out);
/** `monitor until-hit LOCATION N`: all but the Nth from now. Says what it did. */
struct error *ignore_all_but(struct inferior *inferior, const char *args,
			     struct buffer *out);
/** `monitor count LOCATION [on|off]`: ignores without end. Says what it did. */
struct error *ignore_all(struct inferior *inferior, const char *args,
			 struct buffer *out);

#endif
