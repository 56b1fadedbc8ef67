/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a debugger steps through: calls, loops, recursion, code of several returns.
 * pause_here() is called every few rounds, without end.
 */
#include <stdlib.h>

volatile long trace;

int inner(int n);
int inner(int n)
{
	int twice = 2 * n; /* TWICE */

	trace += twice; /* TRACE */
	return twice;
}

int loop(int n);
int loop(int n)
{
	int sum = 0;

	for (int i = 0; i < n % 4; i++) /* LOOP */
		sum += inner(i);	/* BODY */
	return sum + inner(n);		/* LAST */
}

int down(int n);
int down(int n)
{
	if (n <= 0)
		return inner(1); /* BOTTOM */
	return down(n - 1) + n;	 /* DOWN */
}

long pick(long n);
long pick(long n)
{
	switch (n % 5) { /* SWITCH */
	case 0:
		return inner(7);
	case 1:
		n += trace;
		break; /* BREAK */
	case 2:
		return labs(-n); /* LIBRARY */
	default:
		trace -= n;
	}
	return n & 15;
}

void pause_here(void);
void pause_here(void)
{
	trace++; /* PAUSE */
}

static int (*const calls[])(int) = {inner, loop, down};

int main(void)
{
	long total = 0;

	for (int round = 0;; round++) {
		total += loop(round); /* FIRST */
		total += down(round % 3);
		total += pick(round);
		total += calls[round % 3](round % 6); /* POINTER */
		if (round % 4 == 3)
			pause_here();
		trace = total & 0xff; /* END */
	}
}
