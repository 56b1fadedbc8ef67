/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A growable byte string. An allocation that fails is remembered: further
 * appends do nothing and buffer_failed() tells, so that callers check once.
 */
#ifndef TRUEHIT_BASE_BUFFER_H
#define TRUEHIT_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gdbstub/base/cleanup.h"

struct buffer {
	char *data; /* always followed by a NUL unless NULL */
	size_t len;
	size_t capacity; /* of what is allocated, from data on */
	size_t consumed; /* bytes of it before data */
	bool failed;
};

void buffer_init(struct buffer *buffer);
void buffer_deinit(struct buffer *buffer);

static inline void cleanup_buffer(struct buffer *buffer)
{
	buffer_deinit(buffer);
}
/** struct buffer b _cleanup_buffer_ = {0}; is an empty buffer. */
#define _cleanup_buffer_ _cleanup_(cleanup_buffer)

/** Makes room for @more bytes after the contents, for callers that write there. False:
 * no memory. */
bool buffer_reserve(struct buffer *buffer, size_t more);
void buffer_append(struct buffer *buffer, const void *data, size_t len);
void buffer_append_char(struct buffer *buffer, char c);
void buffer_append_string(struct buffer *buffer, const char *string);
void buffer_printf(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/** A number in groups of three digits, as people read them: 777,777. */
void buffer_append_count(struct buffer *buffer, uint64_t count);
/** Two lower-case hex digits per byte. */
void buffer_append_hex(struct buffer *buffer, const void *data, size_t len);
/**
 * XML text or attribute value: & < > " ' and white space other than blanks are
 * escaped; what XML 1.0 does not allow (control characters, bytes that are no
 * UTF-8) becomes '?', so that one odd name does not spoil a document.
 */
void buffer_append_xml(struct buffer *buffer, const char *string);

/** A JSON string with its quotation marks. Bytes that are no UTF-8 become '?'. */
void buffer_append_json(struct buffer *buffer, const char *string);

/** Removes the first @len bytes (at most all). */
void buffer_consume(struct buffer *buffer, size_t len);
/** Empties the buffer and forgets a failure; keeps the memory. */
void buffer_reset(struct buffer *buffer);
/** Did an append run out of memory since the last reset? */
bool buffer_failed(const struct buffer *buffer);
/** The contents as a NUL-terminated string ("" if empty); owned by the buffer. */
const char *buffer_string(const struct buffer *buffer);

#endif
