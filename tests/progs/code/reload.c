/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads libgreet.so, which is beside it, calls it 10 times and unloads it: three times,
 * or reload TIMES; each time at another address.
 */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { CALLS = 10 };

/* Something lies where the library was. */
static void fill(void *addr)
{
	char *page = (char *)((unsigned long)addr & ~4095UL);

	if (mmap(page, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != page)
		puts("the library's place is not free");
}

int main(int argc, char **argv)
{
	char path[PATH_MAX];
	int loads = argc > 1 ? atoi(argv[1]) : 3, sum = 0;

	snprintf(path, sizeof(path), "%s/libgreet.so", dirname(argv[0]));
	for (int load = 0; load < loads; load++) {
		void *library = dlopen(path, RTLD_NOW);
		int (*greet)(int x) = library ? dlsym(library, "greet") : NULL;

		if (!greet)
			return 1;
		for (int i = 0; i < CALLS; i++)
			sum += greet(i);
		dlclose(library);
		fill((void *)greet);
	}
	printf("sum %d\n", sum);
	return 0;
}
