/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What packets of lldb's have of JSON (RFC 8259): objects and arrays of strings. Read
 * piece by piece, as in parse.h; nothing is allocated but the strings. Values of other
 * kinds are none here. (A library would take any document, and be part of a program
 * that has capabilities.)
 */
#ifndef TRUEHIT_RSP_JSON_H
#define TRUEHIT_RSP_JSON_H

#include "gdbstub/rsp/parse.h"

/** Blanks, and then exactly this character: one of []{}:, */
bool json_char(struct cursor *cursor, char c);
/** A string, decoded, which the caller frees. NULL: there is none, one with a NUL or
 * with what is no character, or no memory. */
char *json_string(struct cursor *cursor);
/** Nothing but blanks is left. */
bool json_ends(struct cursor *cursor);

#endif
