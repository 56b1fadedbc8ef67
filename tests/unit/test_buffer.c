/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/buffer.h"

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
