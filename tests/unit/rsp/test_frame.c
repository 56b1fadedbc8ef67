/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/rsp/frame.h"
#include "tests/unit/rng.h"

enum { LIMIT = 64 };

/* Decodes a stream given in pieces that end at @split and writes what was found
 * as text: "P<payload>", "+", "-", "I", "B"(ad checksum), "L"(ong), "M"(alformed). */
static void decode_into(struct frame_decoder *decoder, const char *p, size_t len,
			struct buffer *found)
{
	const char *end = p + len;

	while (p < end) {
		enum frame_event event = frame_decode(decoder, &p, end);

		switch (event) {
		case FRAME_PACKET:
			buffer_printf(found, "P<");
			buffer_append(found, buffer_string(&decoder->packet),
				      decoder->packet.len);
			buffer_append_char(found, '>');
			break;
		case FRAME_NONE:
			break;
		default:
			buffer_append_char(found, "?P+-IBLM"[event]);
			break;
		}
	}
}

static void expect(const char *stream, size_t len, const char *expected)
{
	for (size_t split = 0; split <= len; split++) {
		struct frame_decoder decoder;
		struct buffer found _cleanup_buffer_ = {0};

		frame_decoder_init(&decoder, LIMIT);
		decode_into(&decoder, stream, split, &found);
		decode_into(&decoder, stream + split, len - split, &found);
		cr_expect_str_eq(buffer_string(&found), expected, "split at %zu",
				 split);
		frame_decoder_deinit(&decoder);
	}
}

#define EXPECT(stream, expected) expect((stream), sizeof(stream) - 1, (expected))

Test(frame, every_split_of_a_stream)
{
	EXPECT("+$qC#b4\x03-$OK#9a$#00+", "+P<qC>I-P<OK>P<>+");
}

Test(frame, checksum_in_either_case)
{
	EXPECT("$OK#9A", "P<OK>");
}

Test(frame, escapes)
{
	EXPECT("$}\x03}\x04}]}\x0a#62", "P<#$}*>");
}

Test(frame, interrupt_byte_inside_a_packet_is_data)
{
	EXPECT("$a\x03#64", "P<a\x03>");
}

Test(frame, run_lengths)
{
	EXPECT("$0* #7a", "P<0000>");
	EXPECT("$a0*\"1#0e", "P<a0000001>");
	EXPECT("$0*~#d8", "L"); /* 98 bytes: beyond the limit of this test */
}

Test(frame, misplaced_run_length)
{
	EXPECT("$* #4a$OK#9a", "MP<OK>");      /* nothing to repeat */
	EXPECT("$0*\x1c#76$OK#9a", "MP<OK>");  /* no count */
	EXPECT("$0* * #c4$OK#9a", "MP<OK>");   /* repeats a repeat */
	EXPECT("$}\x03* #ca$OK#9a", "MP<OK>"); /* repeats an escape */
	EXPECT("$0*#5a$OK#9a", "MP<OK>");      /* ends in the middle */
	EXPECT("$0}#ad$OK#9a", "MP<OK>");
}

Test(frame, bad_checksum)
{
	EXPECT("$OK#9b$OK#9a", "BP<OK>");
	EXPECT("$OK#zz$OK#9a", "BP<OK>");
	EXPECT("$OK#9z$OK#9a", "BP<OK>");
	EXPECT("$OK#9$OK#9a", "BP<OK>");
	EXPECT("$OK#$OK#9a", "BP<OK>");
}

Test(frame, garbage_outside_packets)
{
	EXPECT("hello\r\n\x80\xff#9a}*$OK#9a\n", "P<OK>");
}

Test(frame, start_of_a_packet_in_another)
{
	EXPECT("$OK$qC#b4", "P<qC>");
	EXPECT("$O}$qC#b4", "P<qC>");
	EXPECT("$O*$qC#b4", "P<qC>");
}

Test(frame, limit)
{
	char stream[LIMIT + 16], expected[LIMIT + 16];
	unsigned int sum = 'x' * LIMIT % 256;
	char text[LIMIT + 2];

	memset(text, 'x', sizeof(text));
	snprintf(stream, sizeof(stream), "$%.*s#%02x", LIMIT, text, sum);
	snprintf(expected, sizeof(expected), "P<%.*s>", LIMIT, text);
	expect(stream, strlen(stream), expected);

	snprintf(stream, sizeof(stream), "$%.*s#%02x$OK#9a", LIMIT + 1, text,
		 (sum + 'x') % 256);
	expect(stream, strlen(stream), "LP<OK>");
	/* Sent again, it would be too long again: never a bad checksum. */
	snprintf(stream, sizeof(stream), "$%.*s#00$OK#9a", LIMIT + 1, text);
	expect(stream, strlen(stream), "LP<OK>");
	snprintf(stream, sizeof(stream), "$%.*s#$OK#9a", LIMIT + 1, text);
	expect(stream, strlen(stream), "LP<OK>");
}

static void expect_encoded(const char *payload, const char *expected)
{
	struct buffer out _cleanup_buffer_ = {0};

	frame_encode(&out, FRAME_START_PACKET, payload, strlen(payload));
	cr_expect_str_eq(buffer_string(&out), expected);
}

Test(frame, encoding)
{
	expect_encoded("", "$#00");
	expect_encoded("OK", "$OK#9a");
	expect_encoded("#$}*", "$}\x03}\x04}]}\x0a#62");
	expect_encoded("000", "$000#90");
	expect_encoded("0000", "$0* #7a");
	expect_encoded("####", "$}\x03}\x03}\x03}\x03#00");
}

Test(frame, repeat_counts_are_never_framing_characters)
{
	char payload[512];

	memset(payload, 'a', sizeof(payload));
	for (size_t len = 1; len <= sizeof(payload); len++) {
		struct buffer out _cleanup_buffer_ = {0};

		frame_encode(&out, FRAME_START_PACKET, payload, len);
		/* All but the frame's own. */
		for (size_t i = 1; i + 3 < out.len; i++)
			cr_assert(!strchr("$#+-", out.data[i]), "length %zu", len);
	}
}

/* What encodes and decodes adds up eight bytes at once. */
static void expect_sum(const struct buffer *frame)
{
	unsigned int sum = 0;
	char digits[3];

	for (size_t i = 1; i + 3 < frame->len; i++)
		sum += (unsigned char)frame->data[i];
	snprintf(digits, sizeof(digits), "%02x", sum % 256);
	cr_assert_str_eq(frame->data + frame->len - 2, digits);
}

static void round_trip(const char *payload, size_t len)
{
	struct buffer out _cleanup_buffer_ = {0};
	struct frame_decoder decoder;
	const char *p, *end;

	frame_encode(&out, FRAME_START_PACKET, payload, len);
	expect_sum(&out);
	frame_decoder_init(&decoder, len);
	p = out.data;
	end = p + out.len;
	cr_assert_eq(frame_decode(&decoder, &p, end), FRAME_PACKET);
	cr_assert_eq(p, end);
	cr_assert_eq(decoder.packet.len, len);
	cr_assert_eq(memcmp(buffer_string(&decoder.packet), payload, len), 0);
	frame_decoder_deinit(&decoder);
}

/* Bytes that mean nothing are encoded eight at once: any other one among them, or a run
 * that begins there, is not. */
Test(frame, round_trip_of_each_byte_among_plain_ones)
{
	for (int c = 0; c < 256; c++) {
		for (size_t at = 0; at < 24; at++) {
			char payload[] = "0123456789abcdef0123456789abcdef";

			for (size_t run = 1; run <= 5; run++) {
				memset(payload + at, c, run);
				round_trip(payload, sizeof(payload) - 1);
			}
		}
	}
}

Test(frame, runs_of_digits_are_short)
{
	expect_encoded("0123456789abcdef00000000fedcba9876543210",
		       "$0123456789abcdef0*\"00fedcba9876543210#a0");
	expect_encoded("00112233445566778899aabbccddeeff",
		       "$00112233445566778899aabbccddeeff#c4");
}

/* Random payloads of long runs of few different bytes, special ones among them. */
Test(frame, round_trip_of_any_payload)
{
	static const char bytes[] = "a0#$}*+-\x03\x00\xff";
	struct rng rng = {20250601};

	for (int round = 0; round < 3000; round++) {
		char payload[400];
		size_t len = 0;

		while (len < sizeof(payload) && rng_below(&rng, 16)) {
			size_t run = rng_below(&rng, 130);
			char byte = rng_chance(&rng, 50)
					    ? bytes[rng_below(&rng, sizeof(bytes))]
					    : (char)rng_next(&rng);

			while (run-- && len < sizeof(payload))
				payload[len++] = byte;
		}
		round_trip(payload, len);
	}
}

/* Whatever comes in, a good packet after it is understood. */
Test(frame, random_bytes_never_hurt)
{
	struct rng rng = {7};
	struct frame_decoder decoder;

	frame_decoder_init(&decoder, LIMIT);
	for (int round = 0; round < 20000; round++) {
		struct buffer found _cleanup_buffer_ = {0};
		char noise[40];

		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = rng_chance(&rng, 50)
					   ? (char)rng_next(&rng)
					   : "$#*}+-09af"[rng_below(&rng, 10)];
		decode_into(&decoder, noise, sizeof(noise), &found);
		buffer_reset(&found);
		decode_into(&decoder, "$qC#b4", 6, &found);
		cr_assert(strstr(buffer_string(&found), "P<qC>"));
	}
	frame_decoder_deinit(&decoder);
}
