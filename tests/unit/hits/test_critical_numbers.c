/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>

#include "gdbstub/hits/critical_numbers.h"
#include "tests/unit/expr.h"

/* 70000 < ref32(0x1234) + ext8(0xfb): a number, an address, a number below zero. */
static const uint8_t sum[] = {CONST32(70000),	 CONST16(0x1234), AGENT_REF32,
			      CONST8(-5),	 EXT(8),	  AGENT_ADD,
			      AGENT_LESS_SIGNED, AGENT_END};
/* Again while 5. */
static const uint8_t loop[] = {CONST8(5), IF_GOTO(0), CONST8(1), AGENT_END};

static void begin(struct critical_numbers *numbers, const uint8_t *bytecode, size_t len)
{
	struct agent_list list = {0};

	cr_assert_eq(agent_list_append(&list, make_expr(bytecode, len)), 0);
	critical_numbers_init(numbers, &list);
	agent_list_clear(&list);
}

/* Takes all that are left. */
static bool comes(struct critical_numbers *numbers, uint64_t wanted)
{
	bool found = false;
	uint64_t number;

	for (int i = 0; critical_numbers_next(numbers, &number); i++) {
		found |= number == wanted;
		cr_assert_lt(i, 10000, "no end");
	}
	return found;
}

static bool is_tried(uint64_t wanted)
{
	struct critical_numbers numbers;

	begin(&numbers, sum, sizeof(sum));
	critical_numbers_add(&numbers, 1000000);
	return comes(&numbers, wanted);
}

Test(critical_numbers, numbers)
{
	for (uint64_t small = 0; small < CRITICAL_NUMBERS_SMALL; small++)
		cr_expect(is_tried(small), "%ju", (uintmax_t)small);
	cr_expect(is_tried(70000));
	cr_expect(is_tried(70001));
	cr_expect(is_tried(69999));
	cr_expect(is_tried((uint64_t)-5));
	cr_expect(is_tried((uint64_t)-70000));
	cr_expect(is_tried(70000 - 5));
	cr_expect(is_tried(1000000 + 70000));
	cr_expect(is_tried(1000000 - 70000));
	cr_expect(is_tried(UINT64_MAX));
	cr_expect(is_tried((uint64_t)INT64_MAX));
	cr_expect(is_tried(2 * UINT64_C(1000000)));
	cr_expect_not(is_tried(0x1234), "an address");
	cr_expect_not(is_tried(1234567));
}

/* While others are tried already. */
Test(critical_numbers, added_late)
{
	struct critical_numbers numbers;
	uint64_t number;

	begin(&numbers, sum, sizeof(sum));
	for (int i = 0; i < CRITICAL_NUMBERS_SMALL + 30; i++)
		cr_assert(critical_numbers_next(&numbers, &number));
	critical_numbers_add(&numbers, 1000000);
	cr_expect(comes(&numbers, 1000000 - 70000));
}

Test(critical_numbers, too_many)
{
	struct critical_numbers numbers;

	begin(&numbers, sum, sizeof(sum));
	for (uint64_t i = 0; i < 100; i++)
		critical_numbers_add(&numbers, 1000000 * i);
	cr_expect_eq(numbers.count, CRITICAL_NUMBERS_MAX);
	cr_expect(comes(&numbers, 70000 + 1000000));
}

Test(critical_numbers, none_for_loops)
{
	struct critical_numbers numbers;
	uint64_t number;

	begin(&numbers, loop, sizeof(loop));
	cr_expect_not(critical_numbers_next(&numbers, &number));
}
