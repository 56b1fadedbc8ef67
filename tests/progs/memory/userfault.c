/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory whose pages another thread of the program brings in (userfaultfd):
 * userfault ROUNDS. Round n adds n to the page `lazy`, and calls work(n). Exit status
 * 3: this user may not do that here.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static long page_size;
static char *content;
static volatile long *lazy; /* its pages are not there until the program touches them */
static volatile long *never; /* ... which it never does */
static volatile long other;

__attribute__((noinline)) void work(long n);
void work(long n)
{
	other += n;
}

static void *bring(void *arg)
{
	int fd = *(int *)arg;
	struct uffd_msg message;

	while (read(fd, &message, sizeof(message)) == sizeof(message)) {
		struct uffdio_copy copy = {
			.dst = message.arg.pagefault.address &
			       ~((unsigned long)page_size - 1),
			.src = (unsigned long)content,
			.len = (unsigned long)page_size,
		};

		ioctl(fd, UFFDIO_COPY, &copy);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	long rounds = argc > 1 ? atol(argv[1]) : 1;
	pthread_t thread;
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0)
		return 3;
	page_size = sysconf(_SC_PAGESIZE);
	content = aligned_alloc((size_t)page_size, (size_t)page_size);
	lazy = mmap(NULL, (size_t)page_size * 2, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!content || lazy == MAP_FAILED)
		return 1;
	for (long i = 0; i < page_size; i++)
		content[i] = 1;
	never = lazy + page_size / (long)sizeof(*lazy);
	range.range.start = (unsigned long)lazy;
	range.range.len = (unsigned long)page_size * 2;
	if (ioctl(fd, UFFDIO_REGISTER, &range) < 0 ||
	    pthread_create(&thread, NULL, bring, &fd))
		return 3;
	for (long n = 0; n < rounds; n++) { /* BEGIN */
		work(n);
		lazy[0] += n;
	}
	printf("lazy %lx\n", (unsigned long)lazy[0]);
	return 0;
}
