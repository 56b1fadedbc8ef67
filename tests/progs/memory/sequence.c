/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sequences of writes, as arguments name them: "x=10" sets a variable (x or y), "/"
 * ends a sequence. In front of each, what was there before is written back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int x, y;

static void begin(void)
{
	__asm__ volatile("" : : : "memory"); /* BEGIN */
}

static void reset(void)
{
	x = 0;
	y = 0;
}

int main(int argc, char **argv)
{
	begin();
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "/") == 0) {
			reset();
			begin();
		} else if (argv[i][0] == 'x') {
			x = atoi(argv[i] + 2); /* X */
		} else {
			y = atoi(argv[i] + 2);
		}
	}
	printf("%d %d\n", x, y);
	return 0;
}
