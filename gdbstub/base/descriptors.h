/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many files the server may have open (getrlimit(2), RLIMIT_NOFILE). Breakpoints
 * take a lot of descriptors: two for one that the kernel decides, and one per thread
 * in hardware. So the server takes all that it can get, and breakpoints leave some
 * for what must not fail: reading /proc, files for the client, its next connection.
 */
#ifndef TRUEHIT_BASE_DESCRIPTORS_H
#define TRUEHIT_BASE_DESCRIPTORS_H

#include <stdbool.h>
#include <sys/resource.h>

#include "gdbstub/base/error.h"

/** Raises the soft limit to the hard one, and has the kernel make room for thousands:
 * before there are threads. @former, for programs that the server starts, gets the
 * limits as they were. */
void descriptors_raise(struct rlimit *former);

/** How many descriptors of @limit breakpoints leave. */
rlim_t descriptors_reserve(rlim_t limit);

/** Is nothing left but the reserve? */
bool descriptors_are_short(void);

/** EMFILE: "WHAT: 896 of 1024 descriptors are in use, ...". */
struct error *descriptors_error(const char *what);

#endif
