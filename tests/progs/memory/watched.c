/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Variables that only grow, by loops of COUNT rounds, in all places that a watchpoint's
 * name can have: a global, a member, an element, a local that callees write, too, a
 * local of a recursive function, a local that longjmp leaves behind.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static int counter;
static struct {
	short pad;
	struct {
		long depth;
	} inner;
} item;
static int array[4];
static int *pointer = &array[1];
static jmp_buf out;

static void bump(int *p)
{
	*p += 1;
}

static int scoped(int count)
{
	int local = 0;

	for (int i = 0; i < count; i++) /* SCOPED */
		local += 1;
	bump(&local);
	bump(&local);
	return local;
}

static int descend(int depth)
{
	int level = depth;

	counter++; /* DESCEND */
	if (depth > 0)
		descend(depth - 1);
	bump(&counter);
	return level;
}

static void leap(int count)
{
	volatile int left[64];

	for (int i = 0; i < 64; i++) /* LEAP */
		left[i] = count + i;
	longjmp(out, left[count % 64]);
}

/* Its callee's frame lies where that of main's own callees does, but deeper. */
static void leap_deeper(int count)
{
	volatile int pad[16];

	pad[0] = count;
	leap(pad[0]);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 100, sum = 0;

	for (int i = 0; i < count; i++) {
		counter++; /* ROUND */
		item.inner.depth += 2;
		array[2] += 3;
		if (i % 10 == 0)
			(*pointer)++;
	}
	sum += scoped(count); /* LOCALS */
	sum += descend(3);
	counter++;
	if (setjmp(out) == 0) {
		leap(count);
		counter++; /* where it does not return to */
	}
	if (setjmp(out) == 0)
		leap_deeper(count);
	printf("%d %d\n", counter, sum); /* DONE */
	return 0;
}
