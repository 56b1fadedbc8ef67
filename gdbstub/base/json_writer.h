/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes JSON: one document, valid UTF-8 whatever the texts are, in one line. */
#ifndef TRUEHIT_BASE_JSON_WRITER_H
#define TRUEHIT_BASE_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/base/error.h"

/** Within an object or an array: what comes next is the first of it or not. At first:
 * {out, true}. */
struct json {
	struct buffer *out;
	bool first;
};

/* Values; @name: NULL in an array, and of the whole document. */

/** @bracket: '{' or '['. */
void json_open(struct json *json, const char *name, char bracket);
/** @bracket: '}' or ']'. */
void json_close(struct json *json, char bracket);
/** @text: NULL is null. */
void json_text(struct json *json, const char *name, const char *text);
void json_null(struct json *json, const char *name);
void json_bool(struct json *json, const char *name, bool value);
void json_number(struct json *json, const char *name, int64_t number);
void json_count(struct json *json, const char *name, uint64_t number);
/** Whole ones and tenths. Negative: null, as it is not known. */
void json_tenths(struct json *json, const char *name, double number);
/** NULL: null. */
void json_error(struct json *json, const char *name, const struct error *error);

#endif
