/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls a function of libgreet.so. */
#include <stdio.h>

int greet(int x);

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 10; i++)
		sum += greet(i);
	printf("sum %d\n", sum);
	return 0;
}
