/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/base/buffer.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

Test(buffer, hex_of_all_bytes_and_lengths)
{
	unsigned char bytes[256];
	char expected[2 * sizeof(bytes) + 1] = "";

	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (unsigned char)i;
		snprintf(expected + 2 * i, 3, "%02zx", i);
	}
	for (size_t len = 0; len <= sizeof(bytes); len++) {
		struct buffer buffer _cleanup_buffer_ = {0};
		char *begin = expected + 2 * (sizeof(bytes) - len);

		buffer_append_hex(&buffer, bytes + sizeof(bytes) - len, len);
		cr_assert_str_eq(buffer_string(&buffer), begin);
		cr_assert_eq(buffer.len, 2 * len);
	}
}

Test(buffer, printf_of_any_length)
{
	char text[1000];

	memset(text, 'x', sizeof(text));
	for (int len = 0; len < (int)sizeof(text); len++) {
		struct buffer buffer _cleanup_buffer_ = {0};

		buffer_printf(&buffer, "<%.*s", len, text);
		buffer_printf(&buffer, "%s>", "");
		cr_assert_eq(buffer.len, (size_t)len + 2);
		cr_assert_eq(buffer.data[len + 1], '>');
		cr_assert_eq(buffer.data[len + 2], '\0');
	}
}

Test(buffer, printf_of_its_own_contents)
{
	struct buffer buffer _cleanup_buffer_ = {0};

	buffer_append_string(&buffer, "abc");
	for (int i = 0; i < 8; i++)
		buffer_printf(&buffer, "%s", buffer_string(&buffer));
	cr_expect_eq(buffer.len, 3 << 8);
	cr_expect_eq(strspn(buffer_string(&buffer), "abc"), buffer.len);
}

/* Bytes that count up are appended and consumed in turn, more of the one at first, then
 * more of the other. */
Test(buffer, json)
{
	struct buffer buffer _cleanup_buffer_ = {0};

	buffer_append_json(&buffer, "");
	buffer_append_json(&buffer, "a\"b\\c\n\x1f\xff\xe2\x82\xac");
	cr_expect_str_eq(buffer_string(&buffer),
			 "\"\"\"a\\\"b\\\\c\\u000a\\u001f?\xe2\x82\xac\"");
}

Test(buffer, queue)
{
	struct buffer buffer _cleanup_buffer_ = {0};
	size_t in = 0, out = 0;
	unsigned int random = 1;

	for (int turn = 0; turn < 20000; turn++) {
		size_t appended, consumed;

		random = random * 1103515245 + 12345;
		appended = random >> 16 & (turn < 10000 ? 63 : 31);
		consumed = random >> 24 & (turn < 10000 ? 31 : 63);
		for (size_t i = 0; i < appended; i++)
			buffer_append_char(&buffer, (char)in++);
		cr_assert_eq(buffer.len, in - out);
		buffer_consume(&buffer, consumed);
		out = consumed < in - out ? out + consumed : in;
		cr_assert_eq(buffer.len, in - out);
		for (size_t i = 0; i < buffer.len; i += 97)
			cr_assert_eq(buffer.data[i], (char)(out + i));
		cr_assert_eq(buffer.data[buffer.len], '\0');
	}
	cr_expect_eq(in, out);
	cr_expect_eq(buffer.consumed, 0);
}

/* A queue that stays short takes little memory, however much goes through it. */
Test(buffer, queue_takes_its_memory_again)
{
	struct buffer buffer _cleanup_buffer_ = {0};

	buffer_append_string(&buffer, "abc");
	for (int i = 0; i < 100000; i++) {
		buffer_append_string(&buffer, "def");
		buffer_consume(&buffer, 3);
	}
	cr_expect_str_eq(buffer_string(&buffer), "def");
	cr_expect_leq(buffer.capacity + buffer.consumed, 128);
}
