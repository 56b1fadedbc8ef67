/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stores of several kinds to the same bytes, and next to them: stores ROUNDS. Each
 * round writes all of them at once, a half, a floating-point number, and a copy of
 * more.
 */
#include <stdlib.h>

struct pair {
	long value, next;
};

static union {
	volatile long value;
	volatile int half[2];
	volatile double real;
	volatile struct pair pair;
} all;

static volatile long round_number;

static void begin(void)
{
	__asm__ volatile("" : : : "memory"); /* BEGIN */
}

int main(int argc, char **argv)
{
	long rounds = argc == 2 ? atol(argv[1]) : 0;

	begin();
	for (long i = 0; i < rounds; i++) {
		struct pair pair = {i % 3, i};

		round_number = i;
		all.value = i % 4;
		all.half[i % 2] = (int)(i % 3);
		all.real = i % 5 == 0 ? 0.0 : 4.94065645841246544177e-324;
		all.pair = pair;
	}
	return 0; /* END */
}
