/* SPDX-License-Identifier: BSD-2-Clause */
/* `monitor explain`: how one location is served, and why. */
#ifndef TRUEHIT_MONITOR_EXPLAIN_H
#define TRUEHIT_MONITOR_EXPLAIN_H

#include "gdbstub/breakpoints/breakpoints.h"

enum explain_part {
	EXPLAIN_PAGE, /* what people want to know */
	EXPLAIN_BYTECODE,
	EXPLAIN_BPF,
	EXPLAIN_PAD,
	EXPLAIN_PARTS,
};

/** "bytecode", "bpf" or "pad"; EXPLAIN_PAGE for any other word. */
enum explain_part explain_part_named(const char *word);
/** Appends it. The error: the location has none. */
struct error *location_explain(struct location *location, enum explain_part part,
			       struct buffer *out);

#endif
