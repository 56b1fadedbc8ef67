/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a process of the same user can be attached to that this one has not started:
 * found out by doing. */
#ifndef TRUEHIT_CHECK_ATTACH_TRIAL_H
#define TRUEHIT_CHECK_ATTACH_TRIAL_H

#include "gdbstub/base/error.h"

/** Makes such a process and attaches to it; it ends in any case. The error says why it
 * cannot be. */
struct error *attach_trial(void);

#endif
