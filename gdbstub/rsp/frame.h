/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes <-> packets: "$payload#checksum" with escapes and run lengths. A pure
 * state machine: it does no input or output, and takes the bytes in pieces of
 * any size.
 *
 * Source of the facts: "Debugging with GDB", appendix "Remote Protocol", Overview.
 */
#ifndef TRUEHIT_RSP_FRAME_H
#define TRUEHIT_RSP_FRAME_H

#include <stddef.h>
#include <stdint.h>

enum { RSP_PACKET_SIZE = 0x20000 }; /* holds the biggest condition that gdb sends */

#include "gdbstub/base/buffer.h"

/** What the decoder found. */
enum frame_event {
	FRAME_NONE,	    /* more bytes are needed */
	FRAME_PACKET,	    /* decoder.packet holds a payload, until the next call */
	FRAME_ACK,	    /* '+' */
	FRAME_NAK,	    /* '-': the last packet is to be sent again */
	FRAME_INTERRUPT,    /* 0x03 outside packets */
	FRAME_BAD_CHECKSUM, /* a packet that was damaged on its way */
	FRAME_TOO_LONG,	    /* a packet beyond the limit, or out of memory */
	FRAME_MALFORMED,    /* a misplaced escape or run length */
};

enum frame_state {
	FRAME_OUTSIDE, /* waiting for '$' */
	FRAME_BODY,
	FRAME_ESCAPE, /* after '}' */
	FRAME_REPEAT, /* after '*' */
	FRAME_CHECKSUM_HIGH,
	FRAME_CHECKSUM_LOW,
};

struct frame_decoder {
	enum frame_state state;
	size_t limit;		/* most bytes in a payload */
	struct buffer packet;	/* the payload, decoded */
	uint8_t sum;		/* of the body's bytes as they came */
	int high;		/* the checksum's first digit; -1: not a digit */
	bool repeatable;	/* the last byte may be followed by a run length */
	enum frame_event fault; /* FRAME_NONE: the packet is good so far */
};

void frame_decoder_init(struct frame_decoder *decoder, size_t limit);
void frame_decoder_deinit(struct frame_decoder *decoder);

/** Takes bytes from *p on, up to @end or the first event; moves *p past them. */
enum frame_event frame_decode(struct frame_decoder *decoder, const char **p,
			      const char *end);

/** What a packet begins with. */
enum frame_start {
	FRAME_START_PACKET = '$',
	FRAME_START_NOTIFICATION = '%', /* never acknowledged */
};

/** Appends a whole packet with this payload (any bytes). */
void frame_encode(struct buffer *out, enum frame_start begin, const void *payload,
		  size_t len);

#endif
