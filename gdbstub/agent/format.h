/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The formats of breakpoint commands (dprintf), taken apart and filled in piece by
 * piece: a client's format is never given to printf. Pure code.
 *
 * Source of the facts: "Debugging with GDB", "Dynamic Printf" and "Output"; C11
 * 7.21.6.1. The text is as the user typed it, so that \n is two characters.
 */
#ifndef TRUEHIT_AGENT_FORMAT_H
#define TRUEHIT_AGENT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/base/error.h"

enum { FORMAT_WIDTH_MAX = 4096 }; /* of a field, and its precision */

enum format_kind {
	FORMAT_END,	/* there are no more pieces */
	FORMAT_TEXT,	/* printed as it is */
	FORMAT_INTEGER, /* %d %i %u %o %x %X */
	FORMAT_CHAR,	/* %c */
	FORMAT_STRING,	/* %s: the argument is an address */
	FORMAT_POINTER, /* %p */
};

struct format_piece {
	enum format_kind kind;
	const char *text; /* of FORMAT_TEXT; not NUL-terminated */
	size_t len;
	/* Of a directive; all but FORMAT_TEXT take one argument. */
	bool left, zeros, plus, space, alternate; /* - 0 + blank # */
	unsigned int width;			  /* 0: as wide as it gets */
	int precision;				  /* -1: none */
	unsigned int size;			  /* bytes of the argument that count */
	bool is_signed, upper;
	unsigned int base; /* 8, 10 or 16 */
};

/**
 * Takes the next piece of a NUL-terminated format, and moves past it. The error
 * says what is wrong with the directive or escape.
 */
struct error *format_next(const char **format, struct format_piece *piece);

/** Appends an argument of FORMAT_INTEGER, FORMAT_CHAR or FORMAT_POINTER. */
void format_value(const struct format_piece *piece, uint64_t value, struct buffer *out);
/** Appends the string of FORMAT_STRING: the precision is for the caller. */
void format_string(const struct format_piece *piece, const char *text, size_t len,
		   struct buffer *out);

#endif
