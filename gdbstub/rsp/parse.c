/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/rsp/parse.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Two digits; negative if they are none. */
static int hex_byte(const char *p)
{
	int high = hex_digit(p[0]), low = hex_digit(p[1]);

	return high < 0 || low < 0 ? -1 : high * 16 + low;
}

bool cursor_char(struct cursor *cursor, char c)
{
	if (cursor->p == cursor->end || *cursor->p != c)
		return false;
	cursor->p++;
	return true;
}

bool cursor_text(struct cursor *cursor, const char *text)
{
	size_t len = strlen(text);

	if (cursor_left(cursor) < len || memcmp(cursor->p, text, len) != 0)
		return false;
	cursor->p += len;
	return true;
}

bool cursor_hex(struct cursor *cursor, uint64_t *value)
{
	const char *p = cursor->p;
	uint64_t sum = 0;

	while (p < cursor->end && hex_digit(*p) >= 0) {
		if (p - cursor->p == 16)
			return false;
		sum = sum << 4 | (unsigned int)hex_digit(*p++);
	}
	if (p == cursor->p)
		return false;
	cursor->p = p;
	*value = sum;
	return true;
}

bool cursor_decimal(struct cursor *cursor, uint64_t *value)
{
	const char *p = cursor->p;
	uint64_t sum = 0;

	while (p < cursor->end && *p >= '0' && *p <= '9') {
		if (p - cursor->p == 19)
			return false;
		sum = sum * 10 + (uint64_t)(*p++ - '0');
	}
	if (p == cursor->p)
		return false;
	cursor->p = p;
	*value = sum;
	return true;
}

bool cursor_signed_hex(struct cursor *cursor, int64_t *value)
{
	struct cursor ahead = *cursor;
	bool negative = cursor_char(&ahead, '-');
	uint64_t magnitude;

	if (!cursor_hex(&ahead, &magnitude) || magnitude > INT64_MAX)
		return false;
	*cursor = ahead;
	*value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
	return true;
}

bool cursor_hex_bytes(struct cursor *cursor, void *data, size_t len)
{
	unsigned char *bytes = data;

	if (cursor_left(cursor) / 2 < len)
		return false;
	for (size_t i = 0; i < len; i++) {
		int byte = hex_byte(cursor->p + 2 * i);

		if (byte < 0)
			return false;
		bytes[i] = (unsigned char)byte;
	}
	cursor->p += 2 * len;
	return true;
}

struct cursor cursor_until(struct cursor *cursor, char stop)
{
	struct cursor part = *cursor;
	const char *found = memchr(part.p, stop, cursor_left(&part));

	if (found)
		part.end = found;
	cursor->p = part.end;
	return part;
}

/* -1, 0 or a positive number that a pid_t holds. */
static bool cursor_pid(struct cursor *cursor, pid_t *pid)
{
	int64_t value;

	if (!cursor_signed_hex(cursor, &value) || value < -1 || value > INT_MAX)
		return false;
	*pid = (pid_t)value;
	return true;
}

bool cursor_thread_id(struct cursor *cursor, struct thread_id *id)
{
	struct cursor ahead = *cursor;
	struct thread_id found = {.tid = -1};

	found.named_pid = cursor_char(&ahead, 'p');
	if (found.named_pid) {
		if (!cursor_pid(&ahead, &found.pid))
			return false;
		/* "pPID" means all of its threads. */
		if (cursor_char(&ahead, '.') && !cursor_pid(&ahead, &found.tid))
			return false;
	} else if (!cursor_pid(&ahead, &found.tid)) {
		return false;
	}
	*cursor = ahead;
	*id = found;
	return true;
}

char *cursor_hex_string(struct cursor cursor, size_t *len)
{
	size_t bytes = cursor_left(&cursor) / 2;
	char *string;

	if (cursor_left(&cursor) % 2 != 0)
		return NULL;
	string = malloc(bytes + 1);
	if (!string)
		return NULL;
	if (!cursor_hex_bytes(&cursor, string, bytes)) {
		free(string);
		return NULL;
	}
	string[bytes] = '\0';
	if (len)
		*len = bytes;
	return string;
}

struct error *cursor_switch(struct cursor *cursor, const char *name, bool *on)
{
	uint64_t value;

	if (!cursor_hex(cursor, &value) || cursor_left(cursor) > 0 || value > 1)
		return error_create(0, "%s: neither 0 nor 1", name);
	*on = value == 1;
	return NULL;
}
