/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/demangle.h"

static void expect_source(const char *name, const char *source)
{
	_cleanup_buffer_ struct buffer out = {0};

	demangle(name, &out);
	cr_expect_str_eq(buffer_string(&out), source);
}

Test(demangle, names_of_the_source)
{
	if (!demangle_is_built_in())
		cr_skip_test("built without libiberty");
	expect_source("_ZN3foo3barEiPKc", "foo::bar(int, char const*)");
	expect_source("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	expect_source("_ZN4core3ptr13drop_in_place17h0123456789abcdefE",
		      "core::ptr::drop_in_place");
	expect_source("_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Write$GT$"
		      "9write_str17h0123456789abcdefE",
		      "<alloc::string::String as core::fmt::Write>::write_str");
}

Test(demangle, others_are_as_they_are)
{
	expect_source("main", "");
	expect_source("", "");
	expect_source("_Zgarbage", "");
	expect_source("_R", "");
}

Test(demangle, what_people_type)
{
	cr_expect(demangle_is_named("main", "main"));
	cr_expect_not(demangle_is_named("main", "mai"));
	cr_expect_not(demangle_is_named("main", "ma in"));
	cr_expect(demangle_is_named("_ZN3foo3barEiPKc", "_ZN3foo3barEiPKc"));
	if (!demangle_is_built_in())
		cr_skip_test("built without libiberty");
	cr_expect(demangle_is_named("_ZN3foo3barEiPKc", "foo::bar"));
	cr_expect(demangle_is_named("_ZN3foo3barEiPKc", "foo::bar(int,char const *)"));
	cr_expect_not(demangle_is_named("_ZN3foo3barEiPKc", "foo::bar(int)"));
	cr_expect_not(demangle_is_named("_ZN3foo3barEiPKc", "bar"));
}

/* Of each parameter the next one has two: with all of them, 36 would be 64 GB. */
Test(demangle, names_that_stand_for_huge_ones)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	_cleanup_buffer_ struct buffer name = {0}, nested = {0};

	buffer_append_string(&name, "_Z1f1AIiiE");
	for (const char *digit = digits; *digit != '\0'; digit++)
		buffer_printf(&name, "S_IS%c_S%c_E", *digit, *digit);
	expect_source(buffer_string(&name), "");
	buffer_append_string(&nested, "_Z1f");
	for (int i = 0; i < 100000; i++)
		buffer_append_char(&nested, 'P');
	buffer_append_char(&nested, 'i');
	expect_source(buffer_string(&nested), "");
}
