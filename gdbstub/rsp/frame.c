/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/rsp/frame.h"

#include <string.h>

#include "gdbstub/rsp/binary.h"
#include "gdbstub/rsp/eight_bytes.h"

enum {
	INTERRUPT = 0x03,
	ESCAPE_XOR = 0x20,
	REPEAT_BASE = 29, /* a count character is the number of repeats plus this */
	REPEAT_MIN = 3,	  /* fewer repeats are not worth two bytes */
	REPEAT_MAX = 97,  /* '~', the last printable character */
	FRAMING = 4,	  /* its first byte, '#', two digits */
};

void frame_decoder_init(struct frame_decoder *decoder, size_t limit)
{
	*decoder = (struct frame_decoder){.state = FRAME_OUTSIDE, .limit = limit};
}

void frame_decoder_deinit(struct frame_decoder *decoder)
{
	buffer_deinit(&decoder->packet);
}

static int hex_digit(unsigned char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static void begin_packet(struct frame_decoder *decoder)
{
	buffer_reset(&decoder->packet);
	decoder->state = FRAME_BODY;
	decoder->sum = 0;
	decoder->repeatable = false;
	decoder->fault = FRAME_NONE;
}

/* The first fault is the one that is told. */
static void fault(struct frame_decoder *decoder, enum frame_event event)
{
	if (decoder->fault == FRAME_NONE)
		decoder->fault = event;
}

static void add(uint8_t *sum, uint8_t more)
{
	*sum = (uint8_t)(*sum + more);
}

/* What is neither the end nor an escape is taken at once. */
static void put_plain(struct frame_decoder *decoder, const char **p, const char *end)
{
	const char *start = *p, *at = start;
	size_t len;

	for (; end - at >= EIGHT_BYTES && !eight_any_special(eight_load(at));
	     at += EIGHT_BYTES)
		add(&decoder->sum, eight_sum(eight_load(at)));
	for (; at < end && !binary_is_special(*at); at++)
		add(&decoder->sum, (uint8_t)*at);
	*p = at;
	len = (size_t)(at - start);
	if (len == 0)
		return;
	decoder->repeatable = true;
	if (len > decoder->limit - decoder->packet.len)
		fault(decoder, FRAME_TOO_LONG);
	else
		buffer_append(&decoder->packet, start, len);
	if (buffer_failed(&decoder->packet))
		fault(decoder, FRAME_TOO_LONG);
}

static void put(struct frame_decoder *decoder, char c, size_t count)
{
	decoder->state = FRAME_BODY;
	if (count > decoder->limit - decoder->packet.len) {
		fault(decoder, FRAME_TOO_LONG);
		return;
	}
	while (count--)
		buffer_append_char(&decoder->packet, c);
	if (buffer_failed(&decoder->packet))
		fault(decoder, FRAME_TOO_LONG);
}

static void repeat(struct frame_decoder *decoder, unsigned char count)
{
	const struct buffer *packet = &decoder->packet;
	bool good = decoder->repeatable && count > REPEAT_BASE &&
		    count <= REPEAT_BASE + REPEAT_MAX;

	decoder->repeatable = false;
	decoder->state = FRAME_BODY;
	if (!good)
		fault(decoder, FRAME_MALFORMED);
	else if (packet->len > 0)
		put(decoder, packet->data[packet->len - 1], count - REPEAT_BASE);
}

static enum frame_event outside(struct frame_decoder *decoder, unsigned char c)
{
	switch (c) {
	case '$':
		begin_packet(decoder);
		return FRAME_NONE;
	case '+':
		return FRAME_ACK;
	case '-':
		return FRAME_NAK;
	case INTERRUPT:
		return FRAME_INTERRUPT;
	default: /* noise */
		return FRAME_NONE;
	}
}

/* '$' and '#' are never part of a body, so a packet that lost its end is
 * noticed by the start of the next one. */
static void body(struct frame_decoder *decoder, unsigned char c)
{
	if (c == '$') {
		begin_packet(decoder);
		return;
	}
	if (c == '#') {
		if (decoder->state != FRAME_BODY)
			fault(decoder, FRAME_MALFORMED);
		decoder->state = FRAME_CHECKSUM_HIGH;
		return;
	}

	add(&decoder->sum, c);
	if (decoder->state == FRAME_ESCAPE) {
		/* gdb repeats bytes as they come, before it takes escapes out:
		 * "}x*" would mean different things to different readers. */
		decoder->repeatable = false;
		put(decoder, (char)(c ^ ESCAPE_XOR), 1);
	} else if (decoder->state == FRAME_REPEAT) {
		repeat(decoder, c);
	} else if (c == '}') {
		decoder->state = FRAME_ESCAPE;
	} else {
		decoder->state = FRAME_REPEAT;
	}
}

static enum frame_event checksum(struct frame_decoder *decoder, unsigned char c)
{
	enum frame_event found = decoder->fault;
	int digit = hex_digit(c);

	if (decoder->state == FRAME_CHECKSUM_HIGH && digit >= 0) {
		decoder->high = digit;
		decoder->state = FRAME_CHECKSUM_LOW;
		return FRAME_NONE;
	}
	/* A packet that is too long will be so when it is sent again, too. */
	if (found != FRAME_TOO_LONG &&
	    (digit < 0 || decoder->high * 16 + digit != decoder->sum))
		found = FRAME_BAD_CHECKSUM;
	decoder->state = FRAME_OUTSIDE;
	if (c == '$')
		begin_packet(decoder);
	return found ? found : FRAME_PACKET;
}

enum frame_event frame_decode(struct frame_decoder *decoder, const char **p,
			      const char *end)
{
	enum frame_event event = FRAME_NONE;

	while (*p < end && event == FRAME_NONE) {
		unsigned char c;

		if (decoder->state == FRAME_BODY)
			put_plain(decoder, p, end);
		if (*p == end)
			break;
		c = (unsigned char)*(*p)++;
		switch (decoder->state) {
		case FRAME_OUTSIDE:
			event = outside(decoder, c);
			break;
		case FRAME_BODY:
		case FRAME_ESCAPE:
		case FRAME_REPEAT:
			body(decoder, c);
			break;
		case FRAME_CHECKSUM_HIGH:
		case FRAME_CHECKSUM_LOW:
			event = checksum(decoder, c);
			break;
		}
	}
	return event;
}

/* How often the byte at @p comes again after it, as far as one count character
 * can say. */
static unsigned int count_repeats(const char *p, const char *end)
{
	unsigned int count = 0;

	while (count < REPEAT_MAX && p + count + 1 < end && p[count + 1] == *p)
		count++;
	/* A count that looks like framing or an acknowledgement confuses
	 * readers. */
	while (count >= REPEAT_MIN && strchr("$#+-", (int)(count + REPEAT_BASE)))
		count--;
	return count >= REPEAT_MIN ? count : 0;
}

/* Does any of the eight bytes at @p come three times more after it? */
static bool any_repeats(const char *p)
{
	const uint64_t bytes = eight_load(p);

	return eight_find_zero((bytes ^ eight_load(p + 1)) |
			       (bytes ^ eight_load(p + 2)) |
			       (bytes ^ eight_load(p + 3)));
}

/* ---- what is to be sent ---- */

/* Where a frame is written to; there is room. */
struct writer {
	char *at;
	uint8_t sum;
};

static void write_char(struct writer *writer, char c)
{
	*writer->at++ = c;
	add(&writer->sum, (uint8_t)c);
}

/* The byte at @p and its repeats; returns how many bytes these are. */
static size_t write_next(struct writer *writer, const char *p, const char *end)
{
	unsigned int repeats;

	if (binary_is_special(*p)) {
		write_char(writer, '}');
		write_char(writer, (char)(*p ^ ESCAPE_XOR));
		return 1;
	}
	write_char(writer, *p);
	repeats = count_repeats(p, end);
	if (repeats > 0) {
		write_char(writer, '*');
		write_char(writer, (char)(repeats + REPEAT_BASE));
	}
	return 1 + repeats;
}

static void write_body(struct writer *writer, const char *p, const char *end)
{
	while (p < end) {
		if (end - p < EIGHT_BYTES + REPEAT_MIN ||
		    eight_any_special(eight_load(p)) || any_repeats(p)) {
			p += write_next(writer, p, end);
			continue;
		}
		memcpy(writer->at, p, EIGHT_BYTES);
		writer->at += EIGHT_BYTES;
		add(&writer->sum, eight_sum(eight_load(p)));
		p += EIGHT_BYTES;
	}
}

void frame_encode(struct buffer *out, enum frame_start begin, const void *payload,
		  size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const char *bytes = payload;
	struct writer writer = {0};

	if (!buffer_reserve(out, 2 * len + FRAMING))
		return;
	writer.at = out->data + out->len;
	*writer.at++ = (char)begin;
	if (len > 0)
		write_body(&writer, bytes, bytes + len);
	*writer.at++ = '#';
	*writer.at++ = digits[writer.sum >> 4];
	*writer.at++ = digits[writer.sum & 15];
	*writer.at = '\0';
	out->len = (size_t)(writer.at - out->data);
}
