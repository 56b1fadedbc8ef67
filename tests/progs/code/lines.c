/* SPDX-License-Identifier: BSD-2-Clause */
/* lines COUNT: calls line(0), line(1), ... line(COUNT - 1), and exits with 7. */
#include <stdlib.h>

static volatile long last;

__attribute__((noinline)) void line(long number);
void line(long number)
{
	last = number; /* LINE */
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 0;

	for (long i = 0; i < count; i++)
		line(i);
	return 7;
}
