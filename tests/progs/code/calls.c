/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames, arguments, calls: calls [ARGS]. */
#include <stdio.h>

int global = 7;
static char text[32] = "original";

int triple(int x)
{
	return 3 * x;
}

static int inner(int depth)
{
	int local = depth * 2; /* INNER */

	if (depth > 0)
		local += inner(depth - 1);
	return local;
}

static int outer(int x)
{
	int result = 0;

	for (int i = 0; i < 5; i++) /* LOOP */
		result += i * x;
	result += inner(3); /* CALL */
	return result;	    /* AFTER */
}

int main(int argc, char **argv)
{
	int result;

	for (int i = 1; i < argc; i++)
		printf("argument %d: %s\n", i, argv[i]);
	result = outer(2);
	result += triple(result); /* RESULT */
	printf("result %d global %d text %s\n", result, global, text);
	fflush(stdout);
	return 42;
}
