/* SPDX-License-Identifier: BSD-2-Clause */
/* The engines that there are. */
#ifndef TRUEHIT_ENGINES_ENGINES_H
#define TRUEHIT_ENGINES_ENGINES_H

#include "gdbstub/locations/engine.h"

/** No engine is usable until engines_probe(). The outputs, as in struct run, must
 * outlive the engines; their contents may change. */
void engines_init(struct engines *engines, const struct output *output,
		  const struct output *own_output);
/** Finds out by trial which engines work here, which takes some 20 ms; the others are
 * kept with the reason. Once, before the client wants anything of them. */
void engines_probe(struct engines *engines);
void engines_deinit(struct engines *engines);

/** Why some or all conditions are not decided in the kernel, for the user; NULL: those
 * of breakpoints are, and those of all that has a slot. */
struct error *engines_lack_conditions(const struct engines *engines);
/** Why there are no hardware breakpoints and watchpoints; NULL: there are. */
struct error *engines_lack_slots(const struct engines *engines);

#endif
