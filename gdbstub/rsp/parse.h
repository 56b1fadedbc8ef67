/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading the text of a packet piece by piece. Nothing here allocates. */
#ifndef TRUEHIT_RSP_PARSE_H
#define TRUEHIT_RSP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gdbstub/base/error.h"

/** The part of a packet that is still to be read. May hold any byte (X). */
struct cursor {
	const char *p, *end;
};

static inline size_t cursor_left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->p);
}

/* Each of these reads one thing and moves on; false: it is not there, and the
 * cursor has not moved. */

/** Exactly this character, or this text. */
bool cursor_char(struct cursor *cursor, char c);
bool cursor_text(struct cursor *cursor, const char *text);
/** A hexadecimal number of 1 to 16 digits. */
bool cursor_hex(struct cursor *cursor, uint64_t *value);
/** A decimal number of 1 to 19 digits. */
bool cursor_decimal(struct cursor *cursor, uint64_t *value);
/** A signed hexadecimal number ("-1"), as in thread ids and vFile. */
bool cursor_signed_hex(struct cursor *cursor, int64_t *value);
/** All that is left is "0" or "1". The error names what it is of. */
struct error *cursor_switch(struct cursor *cursor, const char *name, bool *on);
/** Hex digits, two per byte, exactly @len bytes. */
bool cursor_hex_bytes(struct cursor *cursor, void *data, size_t len);
/** All bytes up to @stop (not included) or the end. Never fails. */
struct cursor cursor_until(struct cursor *cursor, char stop);

/** A thread id: "TID", "pPID.TID", "pPID", "-1", "0". */
struct thread_id {
	pid_t pid; /* -1: all, 0: any (or not named: see named_pid) */
	pid_t tid; /* -1: all, 0: any */
	bool named_pid;
};
bool cursor_thread_id(struct cursor *cursor, struct thread_id *id);

/** Two hex digits per byte to bytes; NUL-terminated copy; the caller frees it.
 * NULL: not hex, of odd length, or no memory. *len may be NULL. */
char *cursor_hex_string(struct cursor cursor, size_t *len);

#endif
