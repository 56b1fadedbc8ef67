/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of /proc/PID/maps. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "gdbstub/symbols/mapping.h"

static const char maps[] =
	"55d0c0c00000-55d0c0c02000 r-xp 00001000 fe:1f 1234567                    "
	"/opt/a program/run (deleted)\n"
	"7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
	"what is this\n"
	"7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0                          "
	"[vdso]\n"
	"ffffffffff600000-ffffffffff601000 --xs 00000000 00:00 0 [vsyscall]";

Test(mapping, what_a_line_says)
{
	struct mapping mapping;

	cr_assert(mapping_parse(maps, &mapping));
	cr_expect_eq(mapping.start, 0x55d0c0c00000);
	cr_expect_eq(mapping.end, 0x55d0c0c02000);
	cr_expect_eq(mapping.offset, 0x1000);
	cr_expect_str_eq(mapping.permissions, "r-xp");
	cr_expect_eq(mapping.file.major, 0xfe);
	cr_expect_eq(mapping.file.minor, 0x1f);
	cr_expect_eq(mapping.file.inode, 1234567);
	cr_expect_arr_eq(mapping.name, "/opt/a program/run (deleted)\n", 29);
	cr_expect_eq(mapping.name_len, 28);
}

Test(mapping, a_line_may_end_after_the_inode)
{
	static const char *const ends[] = {"", "\n", " \n"};
	struct mapping mapping;
	char line[64];

	for (unsigned int i = 0; i < 3; i++) {
		snprintf(line, sizeof(line), "1000-2000 rw-p 00000000 00:00 0%s",
			 ends[i]);
		cr_assert(mapping_parse(line, &mapping));
		cr_expect_eq(mapping.file.inode, 0);
		cr_expect_eq(mapping.name_len, 0);
	}
}

Test(mapping, what_is_no_line)
{
	struct mapping mapping;

	cr_expect_not(mapping_parse("", &mapping));
	cr_expect_not(mapping_parse("what is this\n", &mapping));
	cr_expect_not(mapping_parse("1000-2000 r-xp 0 fe:01", &mapping));
}

Test(mapping, the_one_that_has_the_address)
{
	struct mapping mapping;

	cr_assert(mapping_find(maps, 0x7f0000000fff, &mapping));
	cr_expect_eq(mapping.start, 0x7f0000000000);
	cr_expect_eq(mapping.file.inode, 0);
	cr_expect_eq(mapping.name_len, 0);
	cr_assert(mapping_find(maps, 0x7ffc00001000, &mapping));
	cr_expect_eq(mapping.name_len, 6);
	cr_assert(mapping_find(maps, 0xffffffffff600000, &mapping));
	cr_expect_eq(mapping.permissions[3], 's');
	cr_expect_eq(mapping.name_len, 10);
}

Test(mapping, none_has_it)
{
	struct mapping mapping;

	cr_expect_not(mapping_find(maps, 0x7f0000001000, &mapping));
	cr_expect_not(mapping_find(maps, 0, &mapping));
	cr_expect_not(mapping_find("", 0x7f0000000000, &mapping));
}
