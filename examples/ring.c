/* SPDX-License-Identifier: BSD-2-Clause */
/* ring [LOST]: what regression.py looks at. A ring buffer whose push() is called a
 * million times; after call LOST, one element is counted twice. */
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 64, CALLS = 1000000 };

struct ring {
	long elements[SIZE];
	unsigned int first, used;
	unsigned long pushed, popped;
};

static void push(struct ring *ring, long element)
{
	ring->elements[(ring->first + ring->used) % SIZE] = element;
	ring->used++;
	ring->pushed++;
}

static long pop(struct ring *ring)
{
	const long element = ring->elements[ring->first];

	ring->first = (ring->first + 1) % SIZE;
	ring->used--;
	ring->popped++;
	return element;
}

int main(int argc, char **argv)
{
	const long lost = argc > 1 ? atol(argv[1]) : -1;
	static struct ring ring;
	long sum = 0;

	for (long i = 0; i < CALLS; i++) {
		push(&ring, i);
		if (ring.used > SIZE / 2)
			sum += pop(&ring);
		ring.popped += i == lost;
	}
	printf("sum %ld\n", sum);
	return 0;
}
