/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/rsp/json.h"

#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/buffer.h"

static void skip_blanks(struct cursor *cursor)
{
	while (cursor_left(cursor) > 0 && *cursor->p != '\0' &&
	       strchr(" \t\r\n", *cursor->p))
		cursor->p++;
}

bool json_char(struct cursor *cursor, char c)
{
	skip_blanks(cursor);
	return cursor_char(cursor, c);
}

bool json_ends(struct cursor *cursor)
{
	skip_blanks(cursor);
	return cursor_left(cursor) == 0;
}

/* Four hex digits. */
static bool take_unit(struct cursor *cursor, unsigned int *unit)
{
	uint8_t bytes[2];

	if (!cursor_hex_bytes(cursor, bytes, sizeof(bytes)))
		return false;
	*unit = (unsigned int)bytes[0] << 8 | bytes[1];
	return true;
}

/* "\u" and four digits: a character of the Basic Multilingual Plane, or the first of
 * the two surrogates of another one (RFC 8259, section 7). */
static bool take_character(struct cursor *cursor, unsigned int *code)
{
	unsigned int low;

	if (!take_unit(cursor, code))
		return false;
	if (*code < 0xd800 || *code > 0xdfff)
		return *code != 0;
	if (*code >= 0xdc00 || !cursor_text(cursor, "\\u") ||
	    !take_unit(cursor, &low) || low < 0xdc00 || low > 0xdfff)
		return false;
	*code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
	return true;
}

/* As UTF-8. */
static bool append_unicode(struct cursor *cursor, struct buffer *out)
{
	unsigned int code;

	if (!take_character(cursor, &code))
		return false;
	if (code >= 0x10000)
		buffer_printf(out, "%c%c%c%c", 0xf0 | code >> 18,
			      0x80 | (code >> 12 & 0x3f), 0x80 | (code >> 6 & 0x3f),
			      0x80 | (code & 0x3f));
	else if (code >= 0x800)
		buffer_printf(out, "%c%c%c", 0xe0 | code >> 12,
			      0x80 | (code >> 6 & 0x3f), 0x80 | (code & 0x3f));
	else if (code >= 0x80)
		buffer_printf(out, "%c%c", 0xc0 | code >> 6, 0x80 | (code & 0x3f));
	else
		buffer_append_char(out, (char)code);
	return true;
}

static bool append_escaped(struct cursor *cursor, struct buffer *out)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (cursor_char(cursor, 'u'))
		return append_unicode(cursor, out);
	found = cursor_left(cursor) > 0 && *cursor->p != '\0'
			? strchr(letters, *cursor->p)
			: NULL;
	if (!found)
		return false;
	buffer_append_char(out, meant[found - letters]);
	cursor->p++;
	return true;
}

char *json_string(struct cursor *cursor)
{
	struct buffer text _cleanup_buffer_ = {0};
	struct cursor ahead = *cursor;

	if (!json_char(&ahead, '"'))
		return NULL;
	while (!cursor_char(&ahead, '"')) {
		if (cursor_left(&ahead) == 0 || (unsigned char)*ahead.p < ' ')
			return NULL;
		if (cursor_char(&ahead, '\\')) {
			if (!append_escaped(&ahead, &text))
				return NULL;
		} else {
			buffer_append_char(&text, *ahead.p++);
		}
	}
	if (buffer_failed(&text))
		return NULL;
	*cursor = ahead;
	return strdup(buffer_string(&text));
}
