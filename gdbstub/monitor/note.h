/* SPDX-License-Identifier: BSD-2-Clause */
/* What users had better know of a location, beyond what a table shows. */
#ifndef TRUEHIT_MONITOR_NOTE_H
#define TRUEHIT_MONITOR_NOTE_H

#include "gdbstub/locations/location.h"

enum note_kind {
	NOTE_REASON,  /* why an engine that the user may not expect serves it */
	NOTE_FATE,    /* traps that the program has taken out of memory */
	NOTE_UNSEEN,  /* a watchpoint that does not see what system calls write */
	NOTE_IGNORED, /* what `monitor ignore` and `monitor count` have asked for */
	NOTE_KINDS,
};

/** Appends it, to follow the location's name; nothing if there is nothing to tell. */
void note_append(enum note_kind kind, struct location *location, struct buffer *out);

#endif
