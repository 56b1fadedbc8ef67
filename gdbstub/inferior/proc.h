/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading /proc, for the files of inferior/. */
#ifndef TRUEHIT_INFERIOR_PROC_H
#define TRUEHIT_INFERIOR_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buffer.h"

enum {
	PROC_STAT_STATE = 3,
	PROC_STAT_GROUP = 5,
	PROC_STAT_FLAGS = 9,
	PROC_STAT_PROCESSOR = 39
}; /* proc(5), fields of stat */

/** Appends a whole file: 0 or a negative errno. */
int proc_read(const char *path, struct buffer *out);
/**
 * Copies a field (3 and up) of /proc/TID/stat, NUL-terminated. False: the thread
 * is gone.
 */
bool proc_stat_field(pid_t tid, unsigned int field, char *value, size_t size);
/** A number from a line "Name:\tNUMBER" of /proc/TID/status; -1: not there. */
long proc_status_number(pid_t tid, const char *name);
/** Is @word in the line "Name:\t..." of /proc/TID/status? */
bool proc_status_word(pid_t tid, const char *name, const char *word);
/** The number that a file begins with, or -1. */
long proc_number(const char *path);

#endif
