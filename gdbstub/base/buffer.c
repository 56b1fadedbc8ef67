/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/base/buffer.h"

#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void buffer_init(struct buffer *buffer)
{
	*buffer = (struct buffer){0};
}

void buffer_deinit(struct buffer *buffer)
{
	if (buffer->data)
		free(buffer->data - buffer->consumed);
	buffer_init(buffer);
}

static void move_to_start(struct buffer *buffer)
{
	char *start = buffer->data - buffer->consumed;

	if (buffer->consumed == 0)
		return;
	memmove(start, buffer->data, buffer->len + 1);
	buffer->data = start;
	buffer->capacity += buffer->consumed;
	buffer->consumed = 0;
}

/* Contents are moved over no less than their own length, or the room is doubled: a
 * queue, which is appended to and consumed in turn, costs no more per byte if it is
 * long. */
bool buffer_reserve(struct buffer *buffer, size_t more)
{
	bool worth_moving = buffer->consumed >= buffer->len;
	size_t needed = buffer->len + more + 1;
	size_t capacity;
	char *data;

	if (buffer->failed)
		return false;
	if (buffer->capacity >= needed)
		return true;
	if (buffer->data)
		move_to_start(buffer);
	if (worth_moving && buffer->capacity >= needed)
		return true;
	capacity = buffer->capacity ? 2 * buffer->capacity : 64;
	while (capacity < needed)
		capacity *= 2;
	data = realloc(buffer->data, capacity);
	if (!data) {
		buffer->failed = true;
		return false;
	}
	buffer->data = data;
	buffer->capacity = capacity;
	return true;
}

void buffer_append(struct buffer *buffer, const void *data, size_t len)
{
	if (!buffer_reserve(buffer, len))
		return;
	if (len > 0)
		memcpy(buffer->data + buffer->len, data, len);
	buffer->len += len;
	buffer->data[buffer->len] = '\0';
}

void buffer_append_char(struct buffer *buffer, char c)
{
	buffer_append(buffer, &c, 1);
}

void buffer_append_string(struct buffer *buffer, const char *string)
{
	buffer_append(buffer, string, strlen(string));
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	char shorter[256];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(shorter, sizeof(shorter), format, args);
	va_end(args);
	if (n >= (int)sizeof(shorter)) {
		va_start(args, format);
		n = vasprintf(&text, format, args);
		va_end(args);
	}
	if (n < 0) {
		text = NULL;
		buffer->failed = true;
		return;
	}
	buffer_append(buffer, text ? text : shorter, (size_t)n);
}

void buffer_append_count(struct buffer *buffer, uint64_t count)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%ju", (uintmax_t)count);

	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			buffer_append_char(buffer, ',');
		buffer_append_char(buffer, digits[i]);
	}
}

static char hex_digit(unsigned int value)
{
	return "0123456789abcdef"[value];
}

/* All eight digits at once, as memory goes to clients this way: a digit a byte, of
 * which those above 9 are letters. There is room for them. */
static void append_hex_of_four(struct buffer *buffer, const unsigned char *bytes)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t digits = (uint64_t)bytes[0] | (uint64_t)bytes[1] << 16 |
			  (uint64_t)bytes[2] << 32 | (uint64_t)bytes[3] << 48;

	digits = (digits >> 4 | digits << 8) & 15 * ones;
	digits += '0' * ones + ((digits + 6 * ones) >> 4 & ones) * ('a' - '0' - 10);
	digits = htole64(digits);
	memcpy(buffer->data + buffer->len, &digits, sizeof(digits));
	buffer->len += sizeof(digits);
}

void buffer_append_hex(struct buffer *buffer, const void *data, size_t len)
{
	const unsigned char *bytes = data;

	if (!buffer_reserve(buffer, 2 * len))
		return;
	for (; len >= 4; len -= 4, bytes += 4)
		append_hex_of_four(buffer, bytes);
	for (; len > 0; len--, bytes++) {
		buffer->data[buffer->len++] = hex_digit(*bytes >> 4);
		buffer->data[buffer->len++] = hex_digit(*bytes & 15);
	}
	buffer->data[buffer->len] = '\0';
}

static const char *xml_escape(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&apos;";
	case '\t':
		return "&#9;";
	case '\n':
		return "&#10;";
	case '\r':
		return "&#13;";
	default:
		return (unsigned char)c < ' ' ? "?" : NULL;
	}
}

/* The length of the UTF-8 sequence at @string; 0: it is none, or one that XML does not
 * allow. */
static size_t utf8_length(const char *string)
{
	/* By length: the bits that mark the first byte, and the least value. */
	static const struct {
		unsigned char mask, mark;
		uint32_t least;
	} forms[] = {{0x80, 0, 0},
		     {0xe0, 0xc0, 0x80},
		     {0xf0, 0xe0, 0x800},
		     {0xf8, 0xf0, 0x10000}};
	const unsigned char *bytes = (const unsigned char *)string;

	for (size_t more = 0; more < sizeof(forms) / sizeof(forms[0]); more++) {
		uint32_t value = bytes[0] & (unsigned char)~forms[more].mask;

		if ((bytes[0] & forms[more].mask) != forms[more].mark)
			continue;
		for (size_t i = 1; i <= more; i++) {
			if ((bytes[i] & 0xc0) != 0x80)
				return 0;
			value = value << 6 | (bytes[i] & 0x3f);
		}
		if (value < forms[more].least || value > 0x10ffff ||
		    (value >= 0xd800 && value <= 0xdfff) || (value | 1) == 0xffff)
			return 0;
		return more + 1;
	}
	return 0;
}

void buffer_append_xml(struct buffer *buffer, const char *string)
{
	while (*string != '\0') {
		const char *escape = xml_escape(*string);
		size_t len = utf8_length(string);

		if (escape || len == 0)
			buffer_append_string(buffer, escape ? escape : "?");
		else
			buffer_append(buffer, string, len);
		string += len > 0 ? len : 1;
	}
}

void buffer_append_json(struct buffer *buffer, const char *string)
{
	buffer_append_char(buffer, '"');
	while (*string != '\0') {
		const size_t len = utf8_length(string);

		if (len == 0)
			buffer_append_char(buffer, '?');
		else if (*string == '"' || *string == '\\')
			buffer_printf(buffer, "\\%c", *string);
		else if ((unsigned char)*string < ' ')
			buffer_printf(buffer, "\\u%04x", (unsigned int)*string);
		else
			buffer_append(buffer, string, len);
		string += len > 0 ? len : 1;
	}
	buffer_append_char(buffer, '"');
}

void buffer_consume(struct buffer *buffer, size_t len)
{
	if (!buffer->data)
		return;
	if (len >= buffer->len) {
		buffer->len = 0;
		move_to_start(buffer);
		buffer->data[0] = '\0';
		return;
	}
	buffer->data += len;
	buffer->len -= len;
	buffer->capacity -= len;
	buffer->consumed += len;
}

void buffer_reset(struct buffer *buffer)
{
	buffer->failed = false;
	buffer_consume(buffer, buffer->len);
}

bool buffer_failed(const struct buffer *buffer)
{
	return buffer->failed;
}

const char *buffer_string(const struct buffer *buffer)
{
	return buffer->data ? buffer->data : "";
}
