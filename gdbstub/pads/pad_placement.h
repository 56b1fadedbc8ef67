/* SPDX-License-Identifier: BSD-2-Clause */
/* A pad, and the room for it in a program's memory. */
#ifndef TRUEHIT_PADS_PAD_PLACEMENT_H
#define TRUEHIT_PADS_PAD_PLACEMENT_H

#include "gdbstub/pads/pad.h"
#include "gdbstub/pads/pad_space.h"

/**
 * Makes a pad, with that filter or NULL, where there is room for it, which is taken;
 * the pages may be missing still. At least so many of the @next instructions have
 * jumps, too, at most PAD_NEXT_MAX of them. Returns why there is none, for people, or
 * NULL.
 */
const char *pad_placement_make(struct pad_space *space, struct decoder *decoder,
			       const struct arch_ops *arch, const struct pad_text *text,
			       const struct native_code *filter, unsigned int next,
			       struct pad *ret);
/** Gives the room back; zeros have none. */
void pad_placement_undo(struct pad_space *space, const struct pad *pad);

#endif
