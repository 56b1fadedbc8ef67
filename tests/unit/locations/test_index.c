/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/locations/index.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* Locations of nobody, with their list and index. */
struct fixture {
	struct breakpoints breakpoints;
	struct location locations[3000];
	unsigned int count;
};

static struct fixture *setup(void)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	cr_assert(fixture);
	TAILQ_INIT(&fixture->breakpoints.locations);
	TAILQ_INIT(&fixture->breakpoints.watchpoints);
	return fixture;
}

static void teardown(struct fixture *fixture)
{
	index_deinit(&fixture->breakpoints);
	free(fixture);
}

static struct location *add(struct fixture *fixture, enum breakpoint_type type,
			    uint64_t addr)
{
	struct location *location = &fixture->locations[fixture->count++];

	*location =
		(struct location){.type = type, .addr = addr, .number = fixture->count};
	TAILQ_INSERT_TAIL(&fixture->breakpoints.locations, location, link);
	index_add(&fixture->breakpoints, location);
	return location;
}

static void drop(struct fixture *fixture, struct location *location)
{
	TAILQ_REMOVE(&fixture->breakpoints.locations, location, link);
	index_remove(&fixture->breakpoints, location);
}

static unsigned int count(const struct fixture *fixture, uint64_t first, uint64_t last)
{
	const struct location *location;
	struct index_walk walk;
	unsigned int found = 0;

	for (location = index_begin(&walk, &fixture->breakpoints, first, last);
	     location; location = index_next(&walk)) {
		cr_expect_geq(location->addr, first);
		cr_expect_leq(location->addr, last);
		found++;
	}
	return found;
}

Test(index, ranges_large_and_small)
{
	enum { COUNT = 2000, STEP = 24 };
	struct fixture *f = setup();
	const uint64_t base = 0x555555555000;

	for (unsigned int i = 0; i < COUNT; i++)
		add(f, BREAKPOINT_SOFTWARE, base + (uint64_t)i * STEP);
	cr_expect_eq(count(f, 0, UINT64_MAX), COUNT);
	cr_expect_eq(count(f, base, base), 1);
	cr_expect_eq(count(f, base + 1, base + STEP - 1), 0);
	cr_expect_eq(count(f, base + 1, base + STEP), 1);
	for (unsigned int len = 1; len < 4000; len += 7)
		cr_expect_eq(count(f, base + 100 * STEP, base + 100 * STEP + len - 1),
			     (len + STEP - 1) / STEP, "%u", len);
	cr_expect_eq(count(f, UINT64_MAX - 100, UINT64_MAX), 0);
	teardown(f);
}

Test(index, the_ends_of_the_address_space)
{
	struct fixture *f = setup();
	struct index_walk walk;

	add(f, BREAKPOINT_SOFTWARE, 0);
	add(f, BREAKPOINT_SOFTWARE, UINT64_MAX);
	cr_expect_eq(count(f, 0, 0), 1);
	cr_expect_eq(count(f, UINT64_MAX, UINT64_MAX), 1);
	cr_expect_eq(count(f, UINT64_MAX - 10, UINT64_MAX), 1);
	cr_expect_eq(index_begin_near(&walk, &f->breakpoints, 3, 1, 8),
		     &f->locations[0]);
	cr_expect_eq(index_begin_near(&walk, &f->breakpoints, UINT64_MAX - 1, 16, 8),
		     &f->locations[1]);
	teardown(f);
}

Test(index, what_begins_before_a_range)
{
	struct fixture *f = setup();
	struct index_walk walk;

	add(f, BREAKPOINT_SOFTWARE, 0x1000 - 3);
	cr_expect(index_begin_near(&walk, &f->breakpoints, 0x1000, 1, 4));
	cr_expect_null(index_begin_near(&walk, &f->breakpoints, 0x1000, 1, 3));
	cr_expect(index_begin_near(&walk, &f->breakpoints, 0x1000 - 3, 1, 1));
	cr_expect_null(index_begin_near(&walk, &f->breakpoints, 0x1000 - 4, 1, 8));
	teardown(f);
}

Test(index, at_one_address_the_oldest_comes_first)
{
	struct fixture *f = setup();
	struct location *first = add(f, BREAKPOINT_HARDWARE, 0x1000),
			*second = add(f, BREAKPOINT_SOFTWARE, 0x1000);
	struct index_walk walk;

	cr_expect_eq(index_begin(&walk, &f->breakpoints, 0x1000, 0x1000), first);
	cr_expect_eq(index_next(&walk), second);
	cr_expect_null(index_next(&walk));
	drop(f, first);
	cr_expect_eq(index_begin(&walk, &f->breakpoints, 0x1000, 0x1000), second);
	cr_expect_null(index_next(&walk));
	teardown(f);
}

Test(index, by_number)
{
	struct fixture *f = setup();
	struct location *second;

	add(f, BREAKPOINT_SOFTWARE, 0x401123);
	second = add(f, BREAKPOINT_SOFTWARE, 0x7fff00000123);
	add(f, BREAKPOINT_SOFTWARE, 0x401124);
	cr_expect_eq(index_number(&f->breakpoints, 2), second);
	cr_expect_null(index_number(&f->breakpoints, 4));
	drop(f, second);
	cr_expect_null(index_number(&f->breakpoints, 2));
	teardown(f);
}

Test(index, watchpoints_have_a_list_of_their_own)
{
	struct fixture *f = setup();
	struct location *watch;

	add(f, BREAKPOINT_SOFTWARE, 0x1000);
	add(f, BREAKPOINT_HARDWARE, 0x1000);
	watch = add(f, WATCHPOINT_WRITE, 0x1000);
	cr_expect_eq(TAILQ_FIRST(&f->breakpoints.watchpoints), watch);
	cr_expect_null(TAILQ_NEXT(watch, watch_link));
	drop(f, watch);
	cr_expect(TAILQ_EMPTY(&f->breakpoints.watchpoints));
	teardown(f);
}
