/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <string.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/rsp/json.h"

static struct cursor text(const char *string)
{
	return (struct cursor){string, string + strlen(string)};
}

static void expect_string(const char *json, const char *wanted)
{
	struct cursor c = text(json);
	_cleanup_free_ char *found = json_string(&c);

	cr_assert(found, "%s", json);
	cr_expect_str_eq(found, wanted, "%s", json);
	cr_expect_eq(cursor_left(&c), 0, "%s", json);
}

Test(json, strings)
{
	expect_string("\"\"", "");
	expect_string(" \t\r\n\"/lib/libc.so.6\"", "/lib/libc.so.6");
	expect_string("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t");
}

Test(json, characters_by_number)
{
	expect_string("\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac");
	expect_string("\"\\ud83d\\ude00.\"", "\xf0\x9f\x98\x80.");
	expect_string("\"\\udbff\\udfff\"", "\xf4\x8f\xbf\xbf");
}

/* The cursor stays where it is. */
Test(json, what_is_no_string)
{
	static const char *const bad[] = {
		"",
		"x",
		"\"",
		"\"a",
		"\"a\n\"",
		"\"\\x\"",
		"\"\\u12\"",
		"\"\\u0000\"",
		"\"\\ud83d\"",
		"\"\\ud83dx\\ude00\"",
		"\"\\ud83d\\u0041\"",
		"\"\\ude00\\ud83d\"",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct cursor c = text(bad[i]);

		cr_expect_null(json_string(&c), "%s", bad[i]);
		cr_expect_eq(c.p, bad[i]);
	}
}

Test(json, marks_and_ends)
{
	struct cursor c = text(" { \t} ");

	cr_expect_not(json_char(&c, '}'));
	cr_expect(json_char(&c, '{'));
	cr_expect_not(json_ends(&c));
	cr_expect(json_char(&c, '}'));
	cr_expect(json_ends(&c));
}
