/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A variable that is only ever incremented, while somebody else looks:
 *
 *   observed vfork ROUNDS   a vfork child increments, a thread of its parent looks
 *   observed shared ROUNDS  the program increments in memory that is mapped shared,
 *                           and a process that it has forked looks
 *   observed stack ROUNDS   the same with a variable in the frame, the stack is shared
 *
 * Its exit status is 1 if the variable was ever seen to decrease.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 65536 };

static struct {
	int value;
	char rest[PAGE - sizeof(int)];
} page __attribute__((aligned(PAGE)));

/* Among processes. */
static struct {
	const volatile int *volatile where;
	volatile int looks, decreases, ended;
} * shared;
static int rounds;

static void look(void)
{
	int last = 0;

	while (!shared->where && !shared->ended)
		usleep(1000);
	shared->looks = 1;
	while (last < rounds && !shared->ended) {
		int now = *shared->where;

		if (now < last)
			shared->decreases = 1;
		last = now;
	}
}

static void *look_as_thread(void *arg)
{
	look();
	return arg;
}

static void begin(void)
{
	__asm__ volatile("" : : : "memory"); /* BEGIN */
}

static void done(void)
{
	__asm__ volatile("" : : : "memory"); /* DONE */
}

static void mapped(void)
{
	__asm__ volatile("" : : : "memory"); /* MAPPED */
}

static void increment(void)
{
	for (int i = 0; i < rounds; i++) {
#ifdef __x86_64__
		__asm__ volatile(".globl store\nstore: incl %0" : "+m"(page.value));
#else
		page.value++;
#endif
	}
}

static void increment_in_frame(void)
{
	volatile int value = 0;

	shared->where = &value;
	while (!shared->looks)
		usleep(1000);
	for (int i = 0; i < rounds; i++) {
#ifdef __x86_64__
		__asm__ volatile(".globl frame_store\nframe_store: incl %0"
				 : "+m"(value));
#else
		value++;
#endif
	}
}

static void with_vfork(void)
{
	pthread_t thread;

	shared->where = &page.value;
	pthread_create(&thread, NULL, look_as_thread, NULL);
	while (!shared->looks)
		usleep(1000);
	if (vfork() == 0) {
		increment();
		_exit(0);
	}
	wait(NULL);
	shared->ended = 1;
	pthread_join(thread, NULL);
}

static void with_shared(void)
{
	if (mmap(&page, sizeof(page), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		exit(2);
	page.value = 0;
	mapped();
	shared->where = &page.value;
	if (fork() == 0) {
		look();
		_exit(0);
	}
	while (!shared->looks)
		usleep(1000);
	increment();
	wait(NULL);
}

static void with_stack(void)
{
	static ucontext_t here, there;
	void *stack = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (fork() == 0) {
		look();
		_exit(0);
	}
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = 4 * PAGE;
	there.uc_link = &here;
	makecontext(&there, increment_in_frame, 0);
	swapcontext(&here, &there);
	wait(NULL);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	rounds = argc > 2 ? atoi(argv[2]) : 1;
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	begin();
	if (strcmp(how, "vfork") == 0)
		with_vfork();
	else if (strcmp(how, "shared") == 0)
		with_shared();
	else
		with_stack();
	done();
	printf("decreases: %d\n", shared->decreases);
	return shared->decreases;
}
