/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests/whole/job.py debugs: adds up 0 to N - 1; its argument is N. */
#include <stdio.h>
#include <stdlib.h>

static long total;
static __thread long calls;

static void add(long i)
{
	total += i;
	calls++;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000000;

	for (long i = 0; i < n; i++)
		add(i);
	printf("total %ld\n", total);
	return 0;
}
