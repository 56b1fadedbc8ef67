/* SPDX-License-Identifier: BSD-2-Clause */
/* Where pads can be: away from all that may grow, and each where the last one is not.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "gdbstub/pads/pad_space.h"

enum { PAGE = 4096, LEN = 64 };

/* An executable with its data, a heap, a library, and the stack. */
#define IMAGE	 UINT64_C(0x550000000000)
#define HEAP_END UINT64_C(0x550001000000)
#define LIBRARY	 UINT64_C(0x7f0000000000)
#define CLEAR	 UINT64_C(0x10000000)
#define TOP	 (UINT64_C(1) << 47)
static const char maps[] =
	"550000000000-550000002000 r-xp 00000000 08:01 1234       /bin/program\n"
	"550000002000-550000003000 rw-p 00002000 08:01 1234       /bin/program\n"
	"550000003000-550000005000 rw-p 00000000 00:00 0\n"
	"550000800000-550001000000 rw-p 00000000 00:00 0          [heap]\n"
	"7f0000000000-7f0000100000 r-xp 00000000 08:01 99         /lib/libc.so.6\n"
	"7f0000200000-7f0000300000 rw-p 00000000 00:00 0\n"
	"7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0          [stack]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]\n";

static struct pad_space space;

static void begin(void)
{
	pad_space_init(&space, PAGE, TOP);
	cr_assert_eq(pad_space_look(&space, maps, IMAGE), 0);
}

static void end(void)
{
	pad_space_deinit(&space);
}

TestSuite(pad_space, .init = begin, .fini = end);

static void found_at(uint64_t lowest, uint64_t highest, uint64_t expected)
{
	uint64_t addr = 0;

	cr_assert(pad_space_find(&space, PADS, lowest, highest, LEN, &addr));
	cr_expect_eq(addr, expected, "0x%llx", (unsigned long long)addr);
}

static void nowhere(uint64_t lowest, uint64_t highest)
{
	uint64_t addr = 0;

	cr_expect_not(pad_space_find(&space, PADS, lowest, highest, LEN, &addr),
		      "0x%llx", (unsigned long long)addr);
}

static void take(uint64_t addr)
{
	uint64_t pages[2];
	unsigned int count = pad_space_missing(&space, addr, LEN, pages);

	for (unsigned int i = 0; i < count; i++)
		cr_assert_eq(pad_space_add_page(&space, PADS, pages[i]), 0);
	cr_assert_eq(pad_space_take(&space, addr, LEN), 0);
}

Test(pad_space, before_the_executable)
{
	found_at(IMAGE - LEN, IMAGE - LEN, IMAGE - LEN);
	nowhere(IMAGE - LEN + 1, IMAGE + PAGE);
	nowhere(0, 0xffff);
}

Test(pad_space, clear_of_the_heap)
{
	nowhere(IMAGE, HEAP_END + CLEAR - 1);
	found_at(IMAGE, HEAP_END + CLEAR, HEAP_END + CLEAR);
}

Test(pad_space, clear_of_what_is_mapped_next)
{
	nowhere(LIBRARY - CLEAR, LIBRARY + 0x2fffff);
	found_at(LIBRARY - CLEAR - LEN, LIBRARY, LIBRARY - CLEAR - LEN);
	nowhere(UINT64_C(0x7ffffffde000) - CLEAR, UINT64_MAX);
	found_at(LIBRARY, UINT64_MAX, LIBRARY + 0x300000);
}

/* Without a heap, the data that follow the file's grow. */
Test(pad_space, clear_of_data)
{
	static const char no_heap[] =
		"550000000000-550000002000 r-xp 00000000 08:01 1234      /bin/program\n"
		"550000002000-550000005000 rw-p 00000000 00:00 0\n"
		"7f0000000000-7f0000100000 r-xp 00000000 08:01 99        "
		"/lib/libc.so.6\n";

	cr_assert_eq(pad_space_look(&space, no_heap, IMAGE), 0);
	found_at(IMAGE, LIBRARY, IMAGE + 0x5000 + CLEAR);
}

Test(pad_space, none_over_another)
{
	const uint64_t addr = IMAGE - 8 * PAGE;

	take(addr);
	nowhere(addr - LEN + 1, addr + LEN - 1);
	found_at(addr - LEN, addr, addr - LEN);
	found_at(addr, addr + LEN, addr + LEN);
	pad_space_give_back(&space, addr);
	found_at(addr, addr, addr);
	pad_space_give_back(&space, addr); /* none is there */
}

/* Into pages that are there before others are mapped. */
Test(pad_space, pages_are_shared)
{
	const uint64_t addr = IMAGE - 8 * PAGE;

	take(addr);
	found_at(0, IMAGE, addr + LEN);
}

Test(pad_space, over_the_end_of_a_page)
{
	uint64_t pages[2], addr = IMAGE - 8 * PAGE - 1;

	cr_assert_eq(pad_space_missing(&space, addr, LEN, pages), 2);
	cr_expect_eq(pages[0], IMAGE - 9 * PAGE);
	cr_expect_eq(pages[1], IMAGE - 8 * PAGE);
	take(addr);
	cr_expect_eq(pad_space_missing(&space, addr, LEN, pages), 0);
	nowhere(IMAGE - 1, IMAGE - 1); /* the second one is the executable's */
}

/* Our own pages are in the list of mappings by then, where nothing is clear of them. */
Test(pad_space, looked_at_again)
{
	const uint64_t addr = LIBRARY - 2 * CLEAR;
	char again[2 * sizeof(maps)];

	take(addr);
	snprintf(again, sizeof(again), "%s%s", maps,
		 "7effe0000000-7effe0001000 r-xp 00000000 00:01 7 /memfd:pads "
		 "(deleted)\n");
	cr_assert_eq(pad_space_look(&space, again, IMAGE), 0);
	found_at(addr, addr + LEN, addr + LEN);
	found_at(addr - LEN, addr - LEN, addr - LEN);
	found_at(addr + PAGE, addr + PAGE, addr + PAGE);
}

/* Some that are in the way do not hide what is free after them. */
Test(pad_space, after_many)
{
	const uint64_t addr = IMAGE - 64 * PAGE;

	for (unsigned int i = 0; i < 1000; i++) {
		uint64_t found;

		cr_assert(pad_space_find(&space, PADS, addr, IMAGE, LEN, &found));
		cr_assert_eq(found, addr + i * LEN);
		take(found);
	}
}

Test(pad_space, middle_of_the_widest_range)
{
	uint64_t addr = 0;

	cr_assert(pad_space_middle(&space, 16 * PAGE, &addr));
	cr_expect_eq(addr % PAGE, 0);
	cr_expect_gt(addr, UINT64_C(1) << 40);
	cr_expect_lt(addr, IMAGE - (UINT64_C(1) << 40));
	found_at(addr, addr + 16 * PAGE, addr);
	found_at(addr + 16 * PAGE, addr + 16 * PAGE, addr + 16 * PAGE);
	cr_expect_not(pad_space_middle(&space, UINT64_C(1) << 46, &addr));
}

/* A page of hops has no room for pads, and one of pads has it for hops. */
Test(pad_space, pages_of_hops)
{
	const uint64_t page = IMAGE - 8 * PAGE, hop = page + 512;
	uint64_t pages[2], addr;

	cr_assert_eq(pad_space_add_page(&space, HOPS, page), 0);
	cr_assert_eq(pad_space_take(&space, hop, LEN), 0);
	nowhere(page, page + PAGE - 1);
	found_at(page, page + PAGE, page + PAGE);
	nowhere(page - 1, page - 1); /* its end would be among hops */
	cr_expect_not(pad_space_find(&space, HOPS, hop, hop, LEN, &addr));
	cr_assert(pad_space_find(&space, HOPS, hop, IMAGE, LEN, &addr));
	cr_expect_eq(addr, hop + LEN);
	cr_expect_eq(pad_space_missing(&space, page, LEN, pages), 0);
	take(page + PAGE);
	cr_assert(pad_space_find(&space, HOPS, hop, IMAGE, LEN, &addr));
	cr_expect_eq(addr, page + PAGE + LEN);
}
