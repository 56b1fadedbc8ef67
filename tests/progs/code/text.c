/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls a function that is not in the program's own text: text KIND. It lies in
 *   anonymous   generated memory
 *   shared      a file in memory, mapped shared
 *   writable    a private mapping that may be written to
 *   huge        a private mapping of huge pages
 *   private     one that may not be written to, as libraries are
 * It is called 20 times, begin() and middle() before and in between; with two more
 * arguments, THREADS and CALLS, the second half is so many calls by so many threads
 * at once. After the first 10 calls, something happens to a private one:
 *   moving      it is unmapped, and mapped elsewhere, with data in its old place
 *   changing    the program changes the number that the function adds
 *   rewritten   the program writes all of the function anew, to add 7
 *   twice       it is mapped once more, where it is called then, and again, only to
 *               be read
 *   copied      it is copied to other memory, which is moved to its place, as
 *               programs do that want huge pages
 *   late        the same, but the copy is moved after middle()
 *   restored    the same as copied, with a copy from before the first call
 *   anew        it is mapped anew, at the same address
 *   dropped     its page is given back to the kernel, which has it from the file
 *   shifted     it is moved elsewhere, page tables and all
 *   filled      the same as moving, but breakpoint instructions are in its old place
 *   exchanged   another function, which adds 7, is put in its place
 *   truncated   the file is cut off, and written again
 *   refilled    the file gets another function, which adds 7
 *   merged      it waits until the kernel has merged the page with an equal one
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	HUGE = 2 << 20,
	ADDED_AT = 5,
	CALLS = 10,
	MERGE_SECONDS = 50,
	THREADS_MAX = 16
};

#if defined(__x86_64__)
/* nop; mov %edi,%eax; add $1,%eax; ret */
static const unsigned char code[] = {0x90, 0x89, 0xf8, 0x83, 0xc0, 0x01, 0xc3};
/* mov %edi,%eax; add $7,%eax; nop; ret */
static const unsigned char other_code[] = {0x89, 0xf8, 0x83, 0xc0, 0x07, 0x90, 0xc3};
static const unsigned char trap[] = {0xcc};
#else
/* nop; add w0, w0, #1; ret */
static const unsigned int code[] = {0xd503201f, 0x11000400, 0xd65f03c0};
/* add w0, w0, #7; nop; ret */
static const unsigned int other_code[] = {0x11001c00, 0xd503201f, 0xd65f03c0};
static const unsigned int trap[] = {0xd4200000}; /* brk #0 */
#endif

typedef int function(int x);
static function *volatile function_at;
static const unsigned char *volatile readable;
static void *copy;
static int file;

__attribute__((noinline)) void begin(void);
void begin(void)
{
	__asm__ volatile("" : : : "memory"); /* BEGIN */
}

__attribute__((noinline)) void middle(void);
void middle(void)
{
	__asm__ volatile("" : : : "memory"); /* MIDDLE */
}

static void *map(int protection, int flags)
{
	void *at = mmap(NULL, PAGE, protection, flags,
			flags & MAP_ANONYMOUS ? -1 : file, 0);

	if (at == MAP_FAILED)
		perror("mmap");
	return at;
}

static void *place(const char *kind)
{
	enum { RX = PROT_READ | PROT_EXEC, RWX = RX | PROT_WRITE };
	void *at;

	if (strcmp(kind, "anonymous") == 0) {
		at = map(RWX, MAP_PRIVATE | MAP_ANONYMOUS);
		memcpy(at, code, sizeof(code));
		return at;
	}
	if (strcmp(kind, "shared") == 0)
		return map(RX, MAP_SHARED);
	if (strcmp(kind, "huge") == 0)
		return mmap(NULL, HUGE, RX, MAP_PRIVATE, file, 0);
	return map(strcmp(kind, "writable") == 0 ? RWX : RX, MAP_PRIVATE);
}

static void *text(void)
{
	return (void *)(unsigned long)function_at;
}

static void call_at(void *at)
{
	function_at = (function *)(unsigned long)at;
}

/* Exactly there, instead of what is there. */
static void put(void *from, void *at)
{
	if (mremap(from, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, at) != at)
		perror("mremap");
}

static void *data(void)
{
	return map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
}

static void move(void)
{
	void *before = text();

	call_at(map(PROT_READ | PROT_EXEC, MAP_PRIVATE));
	put(data(), before);
}

static void make_copy(void)
{
	copy = data();
	memcpy(copy, text(), PAGE);
	mprotect(copy, PAGE, PROT_READ | PROT_EXEC);
}

static void move_copy(void)
{
	make_copy();
	put(copy, text());
}

static void map_anew(void)
{
	if (mmap(text(), PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file,
		 0) != text())
		perror("mmap");
}

static void drop(void)
{
	if (madvise(text(), PAGE, MADV_DONTNEED) != 0)
		perror("madvise");
}

static void shift(void)
{
	void *after = data();

	put(text(), after);
	call_at(after);
}

static void fill(void)
{
	unsigned char *traps = data();
	void *before = text();

	for (size_t i = 0; i < PAGE; i += sizeof(trap))
		memcpy(traps + i, trap, sizeof(trap));
	call_at(map(PROT_READ | PROT_EXEC, MAP_PRIVATE));
	put(traps, before);
}

static void exchange(void)
{
	copy = data();
	memcpy(copy, other_code, sizeof(other_code));
	mprotect(copy, PAGE, PROT_READ | PROT_EXEC);
	put(copy, text());
}

static void write_file(const void *bytes, size_t len)
{
	if (pwrite(file, bytes, len, 0) != (ssize_t)len || ftruncate(file, PAGE) != 0)
		perror("file");
}

static void cut_off(void)
{
	if (ftruncate(file, 0) != 0)
		perror("ftruncate");
	write_file(code, sizeof(code));
}

static void refill(void)
{
	write_file(other_code, sizeof(other_code));
}

/* ksm(7): the kernel does it when it has the time, if it does it at all. */
static long merged_pages(void)
{
	FILE *count = fopen("/proc/self/ksm_merging_pages", "r");
	long pages = -1;

	if (!count)
		return -1;
	if (fscanf(count, "%ld", &pages) != 1)
		pages = -1;
	fclose(count);
	return pages;
}

static void merge(void)
{
	make_copy();
	if (madvise(copy, PAGE, MADV_MERGEABLE) != 0 ||
	    madvise(text(), PAGE, MADV_MERGEABLE) != 0)
		perror("madvise");
	for (int i = 0; i < 100 * MERGE_SECONDS && merged_pages() < 2; i++)
		usleep(10000);
	printf("%ld pages merged\n", merged_pages());
}

static void map_again(void)
{
	call_at(map(PROT_READ | PROT_EXEC, MAP_PRIVATE));
	readable = map(PROT_READ, MAP_PRIVATE);
}

static void change(unsigned int where, const void *bytes, size_t len)
{
	unsigned char *at = text();

	mprotect(at, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(at + where, bytes, len);
	mprotect(at, PAGE, PROT_READ | PROT_EXEC);
}

static void change_number(void)
{
	static const unsigned char three = 3;

	change(ADDED_AT, &three, 1);
}

static void rewrite(void)
{
	change(0, other_code, sizeof(other_code));
}

static void restore(void)
{
	put(copy, text());
}

static const struct disturbance {
	const char *kind;
	void (*function)(void);
} disturbances[] = {
	{"moving", move},     {"changing", change_number}, {"rewritten", rewrite},
	{"twice", map_again}, {"copied", move_copy},	   {"restored", restore},
	{"anew", map_anew},   {"dropped", drop},	   {"shifted", shift},
	{"filled", fill},     {"exchanged", exchange},	   {"truncated", cut_off},
	{"refilled", refill}, {"merged", merge},	   {"late", make_copy},
};

static void disturb(const char *kind)
{
	for (size_t i = 0; i < sizeof(disturbances) / sizeof(*disturbances); i++) {
		if (strcmp(kind, disturbances[i].kind) == 0)
			disturbances[i].function();
	}
}

/* Huge pages may be used up. */
static int make_file(const char *kind)
{
	if (strcmp(kind, "huge") == 0)
		file = memfd_create("code", MFD_CLOEXEC | MFD_HUGETLB);
	else
		file = memfd_create("code", MFD_CLOEXEC);
	if (file < 0)
		return -1;
	if (strcmp(kind, "huge") == 0) {
		void *at;

		if (ftruncate(file, HUGE) != 0)
			return -1;
		at = mmap(NULL, HUGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		if (at == MAP_FAILED)
			return -1;
		memcpy(at, code, sizeof(code));
		return munmap(at, HUGE);
	}
	write_file(code, sizeof(code));
	return 0;
}

static int calls(int from, int count)
{
	int sum = 0;

	for (int i = from; i < from + count; i++)
		sum += function_at(i);
	return sum;
}

struct work {
	pthread_t thread;
	int calls, sum;
};

static void *run_thread(void *arg)
{
	struct work *work = arg;

	work->sum = calls(0, work->calls);
	return NULL;
}

static int calls_by_threads(int threads, int count)
{
	struct work work[THREADS_MAX];
	int sum = 0;

	for (int i = 0; i < threads; i++) {
		work[i].calls = count;
		if (pthread_create(&work[i].thread, NULL, run_thread, &work[i]) != 0)
			return -1;
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(work[i].thread, NULL);
		sum += work[i].sum;
	}
	return sum;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "private";
	int threads = argc > 3 ? atoi(argv[2]) : 0;
	void *at;
	int sum;

	if (make_file(kind) != 0)
		return 3;
	at = place(kind);
	if (at == MAP_FAILED)
		return 3;
	call_at(at);
	if (strcmp(kind, "restored") == 0)
		make_copy();
	begin();
	sum = calls(0, CALLS);
	disturb(kind);
	middle();
	if (strcmp(kind, "late") == 0)
		restore();
	if (threads > 0 && threads <= THREADS_MAX)
		sum += calls_by_threads(threads, atoi(argv[3]));
	else
		sum += calls(CALLS, CALLS);
	printf("sum %d\n", sum);
	return 0;
}
