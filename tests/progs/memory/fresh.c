/* SPDX-License-Identifier: BSD-2-Clause */
/* Stores to pages that nobody has touched before: of a variable, and of a frame. */
#include <stdio.h>

enum { FAR = 65536 };

static struct {
	char before[FAR];
	volatile long counter;
	char after[FAR];
} fresh;

static void to_variable(void)
{
#ifdef __x86_64__
	__asm__ volatile("at_variable: addq $5, %0" : "+m"(fresh.counter));
#endif
}

static int to_frame(void)
{
	volatile char frame[FAR];

#ifdef __x86_64__
	__asm__ volatile("at_frame: movb $7, %0" : "=m"(frame[8]));
#else
	frame[8] = 7;
#endif
	return frame[8];
}

int main(void)
{
	to_variable();
	printf("%d %ld\n", to_frame(), fresh.counter);
	return 0;
}
