/* SPDX-License-Identifier: BSD-2-Clause */
/* Waiting for one thread. */
#ifndef TRUEHIT_TRACING_STATUS_H
#define TRUEHIT_TRACING_STATUS_H

#include <sys/types.h>

/** waitpid for one thread that is about to stop or to end. 0 or a negative errno:
 * ECHILD: there is no such traced thread; ESRCH: it is a leader that has ended, which
 * will be told when the ends of the other threads of its process have been (wait.h);
 * ETIMEDOUT: it does neither (late.h). */
int wait_status(pid_t tid, int *status);

#endif
