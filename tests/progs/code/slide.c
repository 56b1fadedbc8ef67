/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A lot of places for breakpoints: slide ROUNDS. In each round slide() executes PLACES
 * no-operations, all of the same length.
 */
#include <stdio.h>
#include <stdlib.h>

int rounds; /* how many are after us */

__attribute__((noinline)) static void slide(void)
{
	__asm__ volatile(".globl slide_start, slide_end\n"
			 "slide_start:\n"
			 ".rept 4096\n"
			 "nop\n"
			 ".endr\n"
			 "slide_end:\n"
			 :
			 :
			 : "memory");
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;

	while (rounds < count) {
		slide();
		rounds++;
	}
	printf("%d rounds\n", rounds);
	return 0;
}
