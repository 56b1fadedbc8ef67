/* SPDX-License-Identifier: BSD-2-Clause */
/* The file through which an inferior's memory is reached; for inferior/ only. */
#ifndef TRUEHIT_INFERIOR_MEMORY_H
#define TRUEHIT_INFERIOR_MEMORY_H

#include "inferior/inferior.h"

/**
 * Opens /proc/PID/task/TID/mem of a thread that has not ended (again). It stays with
 * the address space that the process has now; after an exec it must be opened again. A
 * failure leaves mem_fd at -1.
 */
void memory_open(struct inferior *inferior);
void memory_close(struct inferior *inferior);

#endif
