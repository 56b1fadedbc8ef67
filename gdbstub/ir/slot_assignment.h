/* SPDX-License-Identifier: BSD-2-Clause */
/* The last pass of ir_tidy: slots are numbered anew, the most used first. */
#ifndef TRUEHIT_IR_SLOT_ASSIGNMENT_H
#define TRUEHIT_IR_SLOT_ASSIGNMENT_H

#include "gdbstub/ir/ir.h"

int tidy_slots(struct ir *ir);

#endif
