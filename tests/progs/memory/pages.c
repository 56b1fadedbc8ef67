/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pages PASSES: goes over PAGES pages that it never touches, of nobody's memory and of
 * a file, while another thread counts by itself as fast as it can.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 64, PAGE = 4096 };

static const unsigned char *anonymous, *file;
static atomic_ulong counted;
static atomic_int ready, over;

static const unsigned char *map_anonymous(void)
{
	void *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(memory, PAGES * PAGE, MADV_NOHUGEPAGE);
	return memory;
}

static const unsigned char *map_file(void)
{
	int fd = memfd_create("pages", 0);
	unsigned char page[PAGE];

	for (int i = 0; i < PAGES; i++) {
		memset(page, i, sizeof(page));
		if (write(fd, page, sizeof(page)) != sizeof(page))
			exit(1);
	}
	return mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
}

static void *count(void *arg)
{
	atomic_store(&ready, 1);
	while (!atomic_load(&over))
		atomic_fetch_add(&counted, 1);
	return arg;
}

__attribute__((noinline)) static void body(int page)
{
	__asm__ volatile("" : : "r"(page)); /* BODY */
}

int main(int argc, char **argv)
{
	int passes = argc > 1 ? atoi(argv[1]) : 3;
	pthread_t thread;

	anonymous = map_anonymous();
	file = map_file();
	pthread_create(&thread, NULL, count, NULL);
	while (!atomic_load(&ready))
		usleep(100);
	for (int pass = 0; pass < passes; pass++) /* START */
		for (int page = 0; page < PAGES; page++)
			body(page * 37 % PAGES);
	atomic_store(&over, 1); /* DONE */
	pthread_join(thread, NULL);
	return 0;
}
