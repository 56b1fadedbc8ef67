/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pointer chains, and memory that is not there: a page that was never touched,
 * an unmapped one, a file page that is not in memory, NULL.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct node {
	struct node *next;
	int key;
};

static struct node nodes[10];
static int zero[40];

static void body(int i, struct node *n, volatile int *untouched, volatile int *unmapped,
		 int divisor)
{
	zero[i] = n->key + divisor; /* BODY */
	(void)untouched;
	(void)unmapped;
}

int main(void)
{
	long page = sysconf(_SC_PAGESIZE);
	/* Where the kernel does not put a mapping of its own into the hole (uprobes
	 * have one, of a page). */
	char *memory = mmap((void *)(UINTPTR_MAX >> 20), 4 * page,
			    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return 1;
	munmap(memory + 3 * page, page);
	for (int i = 0; i < 10; i++) {
		nodes[i].key = i * 11;
		nodes[i].next = i == 4 ? NULL : &nodes[(i + 1) % 10];
	}
	for (int i = 0; i < 40; i++)
		body(i, &nodes[i % 10], (int *)(memory + page),
		     (int *)(memory + 3 * page), i % 4);
	printf("done\n");
	return 0;
}
