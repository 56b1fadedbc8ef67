/* SPDX-License-Identifier: BSD-2-Clause */
/* All inferiors of a server: they come and go. */
#ifndef TRUEHIT_TRACING_INFERIORS_H
#define TRUEHIT_TRACING_INFERIORS_H

#include <stdbool.h>
#include <sys/types.h>

#include "gdbstub/inferior/inferior.h"

void inferiors_init(struct inferiors *inferiors);
/** Frees everything; neither kills nor detaches anything. */
void inferiors_deinit(struct inferiors *inferiors);

/** Adds a process with its leader as only thread (stopped). NULL: no memory. */
struct inferior *inferior_create(struct inferiors *inferiors, pid_t pid, bool attached);
/** Takes it off the list and frees it and its threads. */
void inferior_destroy(struct inferior *inferior);

#endif
