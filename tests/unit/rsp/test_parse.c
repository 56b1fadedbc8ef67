/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <string.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/rsp/parse.h"

static struct cursor text(const char *string)
{
	return (struct cursor){string, string + strlen(string)};
}

Test(parse, characters_and_texts)
{
	struct cursor c = text("abc");

	cr_expect_not(cursor_char(&c, 'b'));
	cr_expect(cursor_char(&c, 'a'));
	cr_expect_not(cursor_text(&c, "bcd"));
	cr_expect(cursor_text(&c, "bc"));
	cr_expect_eq(cursor_left(&c), 0);
	cr_expect_not(cursor_char(&c, 'c'));
	cr_expect(cursor_text(&c, ""));
}

static void expect_hex(const char *string, bool good, uint64_t value, size_t left)
{
	struct cursor c = text(string);
	uint64_t found = 0;

	cr_expect_eq(cursor_hex(&c, &found), good, "%s", string);
	cr_expect_eq(cursor_left(&c), left, "%s", string);
	cr_expect_eq(found, value, "%s", string);
}

Test(parse, hex)
{
	expect_hex("0", true, 0, 0);
	expect_hex("1aF,", true, 0x1af, 1);
	expect_hex("ffffffffffffffff", true, UINT64_MAX, 0);
	expect_hex("10000000000000000", false, 0, 17);
	expect_hex("", false, 0, 0);
	expect_hex("x", false, 0, 1);
	expect_hex("-1", false, 0, 2);
}

static void expect_decimal(const char *string, bool good, uint64_t value, size_t left)
{
	struct cursor c = text(string);
	uint64_t found = 0;

	cr_expect_eq(cursor_decimal(&c, &found), good, "%s", string);
	cr_expect_eq(cursor_left(&c), left, "%s", string);
	cr_expect_eq(found, value, "%s", string);
}

Test(parse, decimal)
{
	expect_decimal("0", true, 0, 0);
	expect_decimal("109,", true, 109, 1);
	expect_decimal("12a", true, 12, 1);
	expect_decimal("9999999999999999999", true, UINT64_C(9999999999999999999), 0);
	expect_decimal("10000000000000000000", false, 0, 20);
	expect_decimal("", false, 0, 0);
	expect_decimal("a", false, 0, 1);
	expect_decimal("-1", false, 0, 2);
}

static void expect_signed(const char *string, bool good, int64_t value)
{
	struct cursor c = text(string);
	int64_t found = 0;

	cr_expect_eq(cursor_signed_hex(&c, &found), good, "%s", string);
	cr_expect_eq(found, value, "%s", string);
	cr_expect(good || c.p == string, "%s", string);
}

Test(parse, signed_hex)
{
	expect_signed("-1", true, -1);
	expect_signed("7fffffffffffffff", true, INT64_MAX);
	expect_signed("-7fffffffffffffff", true, -INT64_MAX);
	expect_signed("8000000000000000", false, 0);
	expect_signed("-", false, 0);
	expect_signed("--1", false, 0);
}

Test(parse, hex_bytes)
{
	struct cursor c = text("00fFx1");
	unsigned char bytes[3] = {9, 9, 9};

	cr_expect_not(cursor_hex_bytes(&c, bytes, 3));
	cr_expect_eq(cursor_left(&c), 6);
	cr_expect(cursor_hex_bytes(&c, bytes, 2));
	cr_expect_eq(bytes[0], 0);
	cr_expect_eq(bytes[1], 0xff);
	cr_expect_eq(cursor_left(&c), 2);
	cr_expect_not(cursor_hex_bytes(&c, bytes, SIZE_MAX));
}

Test(parse, until)
{
	struct cursor c = text("ab;c");
	struct cursor part = cursor_until(&c, ';');

	cr_expect_eq(cursor_left(&part), 2);
	cr_expect(cursor_char(&c, ';'));
	part = cursor_until(&c, ';');
	cr_expect_eq(cursor_left(&part), 1);
	cr_expect_eq(cursor_left(&c), 0);
}

static void expect_id(const char *string, bool named, pid_t pid, pid_t tid)
{
	struct cursor c = text(string);
	struct thread_id id;

	cr_assert(cursor_thread_id(&c, &id), "%s", string);
	cr_expect_eq(cursor_left(&c), 0, "%s", string);
	cr_expect_eq(id.named_pid, named, "%s", string);
	cr_expect_eq(id.pid, pid, "%s", string);
	cr_expect_eq(id.tid, tid, "%s", string);
}

Test(parse, thread_ids)
{
	expect_id("1f", false, 0, 0x1f);
	expect_id("0", false, 0, 0);
	expect_id("-1", false, 0, -1);
	expect_id("p1.2", true, 1, 2);
	expect_id("p1.-1", true, 1, -1);
	expect_id("p1", true, 1, -1);
	expect_id("p-1.-1", true, -1, -1);
	expect_id("p0.0", true, 0, 0);
}

Test(parse, bad_thread_ids)
{
	static const char *const bad[] = {
		"",	 "p",	     "p.1",   "p1.",	     "-2",
		"p-2.1", "80000000", "p1.p2", "pffffffffff", "x"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct cursor c = text(bad[i]);
		struct thread_id id;

		cr_expect_not(cursor_thread_id(&c, &id), "%s", bad[i]);
		cr_expect_eq(c.p, bad[i]);
	}
}

Test(parse, hex_strings)
{
	_cleanup_free_ char *string = cursor_hex_string(text("616200"), NULL);
	_cleanup_free_ char *empty = NULL;
	size_t len = 9;

	cr_assert(string);
	cr_expect_str_eq(string, "ab");
	empty = cursor_hex_string(text(""), &len);
	cr_assert(empty);
	cr_expect_eq(len, 0);
	cr_expect_str_eq(empty, "");
	cr_expect_null(cursor_hex_string(text("616"), NULL));
	cr_expect_null(cursor_hex_string(text("6g"), NULL));
}
