/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects of 1, 2, 4 and 8 bytes that are written and read; a local's scope. */
#include <stdint.h>
#include <stdio.h>

static volatile uint8_t w1;
static volatile uint16_t w2;
static volatile uint32_t w4;
static volatile uint64_t w8;
static volatile int array[4];

static int scoped(int x)
{
	volatile int local = x; /* SCOPED */

	local += 5;
	local += 6;
	return local;
}

int main(void)
{
	uint64_t sum = 0;

	for (int i = 1; i <= 3; i++) {
		w1 = (uint8_t)i;
		w2 = (uint16_t)(i * 300);
		w4 = (uint32_t)i * 70000;
		w8 = (uint64_t)i << 33;
		array[i] = i;
	}
	sum += w1;
	sum += w2;
	sum += w4;
	sum += w8;
	sum += (uint64_t)scoped(1);
	printf("sum %llu %d\n", (unsigned long long)sum, array[2]); /* DONE */
	return 0;
}
