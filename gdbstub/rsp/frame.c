/* SPDX-License-Identifier: BSD-2-Clause */
#include "rsp/frame.h"

#include <string.h>

enum {
	INTERRUPT = 0x03,
	ESCAPE_XOR = 0x20,
	REPEAT_BASE = 29, /* a count character is the number of repeats plus this */
	REPEAT_MIN = 3,	  /* fewer repeats are not worth two bytes */
	REPEAT_MAX = 97,  /* '~', the last printable character */
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

	decoder->sum += c;
	if (decoder->state == FRAME_ESCAPE) {
		/* gdb repeats bytes as they come, before it takes escapes out:
		 * "}x*" would mean different things to different readers. */
		decoder->repeatable = false;
		put(decoder, (char)(c ^ ESCAPE_XOR), 1);
	} else if (decoder->state == FRAME_REPEAT) {
		repeat(decoder, c);
	} else if (c == '}') {
		decoder->state = FRAME_ESCAPE;
	} else if (c == '*') {
		decoder->state = FRAME_REPEAT;
	} else {
		decoder->repeatable = true;
		put(decoder, (char)c, 1);
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
		unsigned char c = (unsigned char)*(*p)++;

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

static bool must_escape(char c)
{
	return c == '#' || c == '$' || c == '}' || c == '*';
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

void frame_encode(struct buffer *out, enum frame_start begin, const void *payload,
		  size_t len)
{
	const char *p = payload, *end = p + len;
	size_t start;
	uint8_t sum = 0;

	buffer_append_char(out, (char)begin);
	start = out->len;
	while (p < end) {
		unsigned int repeats = 0;

		if (must_escape(*p)) {
			buffer_append_char(out, '}');
			buffer_append_char(out, (char)(*p ^ ESCAPE_XOR));
		} else {
			buffer_append_char(out, *p);
			repeats = count_repeats(p, end);
		}
		if (repeats) {
			buffer_append_char(out, '*');
			buffer_append_char(out, (char)(repeats + REPEAT_BASE));
		}
		p += 1 + repeats;
	}
	if (buffer_failed(out))
		return;
	for (size_t i = start; i < out->len; i++)
		sum += (uint8_t)out->data[i];
	buffer_printf(out, "#%02x", sum);
}
