/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that stop in pads (pads.h). */
#ifndef TRUEHIT_PADS_PAD_STOP_H
#define TRUEHIT_PADS_PAD_STOP_H

#include "gdbstub/inferior/inferior.h"

/** inferiors.leave_pad */
bool pad_stop_leave(struct event *event);

#endif
