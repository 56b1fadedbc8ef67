/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "gdbstub/locations/location_name.h"

/* The inferior is ourselves: all that is read is /proc. */
static struct inferior self;
static struct inferiors inferiors;
static struct engines engines;
static struct breakpoints breakpoints;
static struct location function_start, function_inside, variable, nowhere;

void place_test_function(void);
__attribute__((noinline)) void place_test_function(void)
{
	__asm__ volatile("nop\n\tnop\n\tnop");
}
void place_test_alias(void) __attribute__((alias("place_test_function")));
static int place_test_variable[4] = {1, 2, 3, 4};

static void add(struct location *location, uint64_t addr)
{
	location->inferior = &self;
	location->addr = addr;
	location->number = ++breakpoints.last_number;
	location->hook_known = true;
	TAILQ_INSERT_TAIL(&breakpoints.locations, location, link);
}

static void begin(void)
{
	self.pid = getpid();
	self.breakpoints = &breakpoints;
	self.owner = &inferiors;
	TAILQ_INIT(&inferiors.list);
	TAILQ_INSERT_TAIL(&inferiors.list, &self, link);
	breakpoints.inferior = &self;
	breakpoints.engines = &engines;
	TAILQ_INIT(&breakpoints.locations);
	add(&function_start, (uintptr_t)place_test_function);
	add(&function_inside, (uintptr_t)place_test_function + 2);
	add(&variable, (uintptr_t)&place_test_variable[2]);
	add(&nowhere, 0x10);
}

TestSuite(location_name, .init = begin);

static struct location *find(const char *text)
{
	struct location *location = NULL;
	struct error *error = location_named(&self, text, &location);

	cr_assert_null(error, "%s: %s", text, error ? error_text(error) : "");
	return location;
}

static void refused(const char *text, const char *words)
{
	struct location *location = NULL;
	_cleanup_error_ struct error *error = location_named(&self, text, &location);

	cr_assert_not_null(error, "%s", text);
	cr_assert_not_null(strstr(error_text(error), words), "%s: %s", text,
			   error_text(error));
}

Test(location_name, numbers)
{
	cr_assert_eq(find("1"), &function_start);
	cr_assert_eq(find("4"), &nowhere);
	refused("5", "no location 5; see monitor breakpoints");
	refused("0", "no location 0");
	refused("99999999999999999999999", "no location");
}

Test(location_name, addresses)
{
	char text[32];

	cr_assert_eq(find("*0x10"), &nowhere);
	cr_assert_eq(find("0x10"), &nowhere);
	snprintf(text, sizeof(text), "*0x%" PRIx64, function_inside.addr);
	cr_assert_eq(find(text), &function_inside);
	refused("*0x11", "no location *0x11; see monitor breakpoints");
	refused("*10", "no address");
	refused("*0xzz", "no address");
	refused("*", "no address");
}

Test(location_name, symbols)
{
	cr_assert_eq(find("place_test_function"), &function_start);
	cr_assert_eq(find("place_test_function+2"), &function_inside);
	cr_assert_eq(find("place_test_function+0x2"), &function_inside);
	cr_assert_eq(find("place_test_alias"), &function_start);
	refused("place_test_function+0x1", "no location place_test_function+0x1");
	refused("place_test", "no location place_test");
	refused("", "no location");
	refused("+2", "no location");
}

Test(location_name, anywhere_in_a_symbol)
{
	cr_assert_eq(find("place_test_variable"), &variable);
	cr_assert_eq(find("place_test_variable+0x8"), &variable);
	refused("place_test_variable+0x0", "no location");
}

Test(location_name, several)
{
	static struct location again, inside;

	again.type = BREAKPOINT_HARDWARE;
	add(&again, 0x10);
	refused("0x10", "2 locations are at 0x10: 4, 5; name one by its number");
	cr_assert_eq(find("5"), &again);
	add(&inside, (uintptr_t)&place_test_variable[3]);
	refused("place_test_variable", ": 3, 6;");
	cr_assert_eq(find("place_test_variable+0xc"), &inside);
}

Test(location_name, lines_are_known_to_gdb_only)
{
	refused("loop.c:27", "only gdb knows where loop.c:27 is");
	refused("a::b", "no location a::b");
}

Test(location_name, no_locations)
{
	TAILQ_INIT(&breakpoints.locations);
	refused("1", "no breakpoints or watchpoints");
	self.breakpoints = NULL;
	refused("1", "no breakpoints or watchpoints");
}
