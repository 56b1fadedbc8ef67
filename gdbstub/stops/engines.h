/* SPDX-License-Identifier: BSD-2-Clause */
/* The engines that there are. */
#ifndef TRUEHIT_STOPS_ENGINES_H
#define TRUEHIT_STOPS_ENGINES_H

#include "stops/engine.h"

/** Probes every engine; unusable ones are kept with the reason. The outputs, as in
 * struct run, must outlive them; their contents may change. */
void engines_init(struct engines *engines, const struct output *output,
		  const struct output *own_output);
void engines_deinit(struct engines *engines);

#endif
