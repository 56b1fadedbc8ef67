/* SPDX-License-Identifier: BSD-2-Clause */
/* A tight loop that measures itself: loop [ITERATIONS]. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

static volatile long other, flag, counter;

static void never(void) /* three more places for breakpoints */
{
	other = 1; /* NEVER1 */
	other = 2; /* NEVER2 */
	other = 3; /* NEVER3 */
}

int main(int argc, char **argv)
{
	long iterations = argc > 1 ? atol(argv[1]) : 1000000;
	long count = 0;
	double start;

	if (iterations < 0)
		never();
	start = now_ns();
	for (long i = 0; i < iterations; i++) {
		count++;  /* BODY */
		flag = 0; /* as it was */
		counter++;
	}
	start = now_ns() - start; /* AFTER */
	printf("%ld iterations, %.1f ns per iteration\n", count,
	       count ? start / count : 0.0);
	return 0;
}
