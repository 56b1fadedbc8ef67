/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <string.h>

#include "gdbstub/rsp/binary.h"
#include "tests/unit/rng.h"

enum { LEN = 40 };

/* The most bytes whose places, one or two each, are no more than @room. */
static size_t expected_fit(const char *data, size_t len, size_t room)
{
	size_t count = 0, places = 0;

	for (; count < len; count++) {
		places += strchr("#$*}", data[count]) && data[count] != '\0' ? 2 : 1;
		if (places > room)
			break;
	}
	return count;
}

Test(binary, as_many_bytes_as_there_is_room_for)
{
	struct rng rng = {31};

	for (int round = 0; round < 200; round++) {
		char data[LEN];

		for (size_t i = 0; i < LEN; i++)
			data[i] = rng_chance(&rng, 10) ? "#$*}"[rng_below(&rng, 4)]
						       : (char)rng_next(&rng);
		for (size_t room = 0; room <= 2 * LEN; room++)
			for (size_t len = 0; len <= LEN; len += 5)
				cr_assert_eq(binary_fit(data, len, room),
					     expected_fit(data, len, room));
	}
}
