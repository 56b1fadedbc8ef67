/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>

#include "gdbstub/base/json_writer.h"

Test(json_writer, values)
{
	_cleanup_buffer_ struct buffer out = {0};
	struct json json = {&out, true};

	json_open(&json, NULL, '{');
	json_text(&json, "a", "b\"\n\\");
	json_text(&json, "none", NULL);
	json_null(&json, "null");
	json_bool(&json, "yes", true);
	json_open(&json, "list", '[');
	json_number(&json, NULL, INT64_MIN);
	json_count(&json, NULL, UINT64_MAX);
	json_open(&json, NULL, '[');
	json_close(&json, ']');
	json_open(&json, NULL, '{');
	json_bool(&json, "no", false);
	json_close(&json, '}');
	json_close(&json, ']');
	json_tenths(&json, "ns", 12.34);
	json_tenths(&json, "unknown", -1);
	json_error(&json, "fine", NULL);
	json_close(&json, '}');
	cr_expect_str_eq(
		buffer_string(&out),
		"{\"a\": \"b\\\"\\u000a\\\\\", \"none\": null, \"null\": null, "
		"\"yes\": true, \"list\": [-9223372036854775808, "
		"18446744073709551615, [], {\"no\": false}], \"ns\": 12.3, "
		"\"unknown\": null, \"fine\": null}");
}

Test(json_writer, names_and_texts_are_utf8)
{
	_cleanup_buffer_ struct buffer out = {0};
	struct json json = {&out, true};

	json_open(&json, NULL, '{');
	json_text(&json, "\xff", "\xc3\xa4\xc3");
	json_close(&json, '}');
	cr_expect_str_eq(buffer_string(&out), "{\"?\": \"\xc3\xa4?\"}");
}
