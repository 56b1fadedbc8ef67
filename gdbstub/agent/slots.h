/* SPDX-License-Identifier: BSD-2-Clause */
/* The last pass of ir_tidy: slots are numbered anew, the most used first. */
#ifndef TRUEHIT_AGENT_SLOTS_H
#define TRUEHIT_AGENT_SLOTS_H

#include "agent/ir.h"

int tidy_slots(struct ir *ir);

#endif
