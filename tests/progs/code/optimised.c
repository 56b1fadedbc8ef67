/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Built with -O2: variables in registers, relative to the stack pointer, of inlined
 * functions, and nowhere. For conditions. Deterministic.
 */
#include <stdint.h>
#include <stdio.h>

enum { ROUNDS = 60, NODES = 5 };

/* Has a value at this place, where the compiler likes it. */
#define KEEP(x) __asm__ volatile("nop" : "+r"(x))

struct node {
	int key;
	unsigned char flags;
	const struct node *next;
};

static struct node nodes[NODES];
static volatile unsigned int total;

static inline __attribute__((always_inline)) int inner(int a, unsigned short b)
{
	int sum = a * 3 - b;

	KEEP(sum);
	total += (unsigned int)sum; /* INLINED */
	KEEP(sum);
	return sum;
}

static __attribute__((noinline)) long outer(int i, unsigned char byte,
					    const struct node *node, long wide)
{
	int local[4] = {i, byte, node->key, 7};
	short narrow = (short)(wide >> 3);
	int twice = 2 * i;

	(void)twice;
	__asm__ volatile("nop" : : "r"(local) : "memory");
	KEEP(narrow);
	total += (unsigned int)narrow; /* OUTER */
	KEEP(i);
	KEEP(byte);
	KEEP(node);
	KEEP(wide);
	wide += inner(i ^ 5, byte);
	KEEP(local[1]);
	__asm__ volatile("nop" : : "r"(local) : "memory");
	return wide + local[2] + node->key + narrow; /* END OF OUTER */
}

/* The stack pointer moves within it. */
static __attribute__((noinline)) unsigned int
many(long a, long b, long c, long d, long e, long f, long g, unsigned int h)
{
	long sum = a + b + c + d + e + f;

	KEEP(sum);
	total += (unsigned int)g; /* MANY */
	KEEP(h);
	return h + (unsigned int)sum;
}

int main(void)
{
	uint32_t x = 54321;
	long sum = 0;

	for (int i = 0; i < NODES; i++)
		nodes[i] = (struct node){i * i - 3, (unsigned char)(250 + i),
					 &nodes[(i + 1) % NODES]};
	for (int i = 0; i < ROUNDS; i++) {
		x = x * 1664525u + 1013904223u;
		sum += outer(i, (unsigned char)(x >> 9), &nodes[x % NODES],
			     (long)(int32_t)x);
		sum += many(i, sum, x, 4, 5, 6, (long)x - 7, x >> 3); /* CALL */
	}
	printf("%ld %u\n", sum, total);
	return 0;
}
