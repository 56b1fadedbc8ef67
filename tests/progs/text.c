/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls a function that is not in the program's own text: text KIND. The code lies in
 *   anonymous   generated memory
 *   shared      a file in memory, mapped shared
 *   writable    a private mapping that may be written to
 *   private     one that may not, as libraries are
 *   moving      that as well; after the first 10 calls it is unmapped, and mapped
 *               elsewhere, with something else in its old place
 *   changing    that as well; after the first 10 calls the program changes the number
 *               that the function adds
 *   rewritten   that as well; it writes all of the function anew, to add 7
 *   twice       that as well; after the first 10 calls it is mapped once more, where it
 * is called then, and again, only to be read It is called 20 times, begin() and
 * middle() are called before and in between.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, ADDED_AT = 5, CALLS = 10 };

#if defined(__x86_64__)
/* nop; mov %edi,%eax; add $1,%eax; ret */
static const unsigned char code[] = {0x90, 0x89, 0xf8, 0x83, 0xc0, 0x01, 0xc3};
/* mov %edi,%eax; add $7,%eax; nop; ret */
static const unsigned char other_code[] = {0x89, 0xf8, 0x83, 0xc0, 0x07, 0x90, 0xc3};
#else
static const unsigned char code[] = {0}, other_code[] = {0};
#endif

typedef int function(int x);
static function *volatile function_at;
static const unsigned char *volatile readable;
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
	return map(strcmp(kind, "writable") == 0 ? RWX : RX, MAP_PRIVATE);
}

static void move(void)
{
	void *before = (void *)(unsigned long)function_at;

	munmap(before, PAGE);
	mmap(before, PAGE, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	function_at =
		(function *)(unsigned long)map(PROT_READ | PROT_EXEC, MAP_PRIVATE);
}

static void map_again(void)
{
	function_at =
		(function *)(unsigned long)map(PROT_READ | PROT_EXEC, MAP_PRIVATE);
	readable = map(PROT_READ, MAP_PRIVATE);
}

static void change(unsigned int where, const unsigned char *bytes, size_t len)
{
	unsigned char *at = (unsigned char *)(unsigned long)function_at;

	mprotect(at, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(at + where, bytes, len);
	mprotect(at, PAGE, PROT_READ | PROT_EXEC);
}

static void disturb(const char *kind)
{
	static const unsigned char three = 3;

	if (strcmp(kind, "moving") == 0)
		move();
	else if (strcmp(kind, "changing") == 0)
		change(ADDED_AT, &three, 1);
	else if (strcmp(kind, "rewritten") == 0)
		change(0, other_code, sizeof(other_code));
	else if (strcmp(kind, "twice") == 0)
		map_again();
}

static int calls(int from)
{
	int sum = 0;

	for (int i = from; i < from + CALLS; i++)
		sum += function_at(i);
	return sum;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "private";
	int sum;

	file = memfd_create("code", MFD_CLOEXEC);
	if (write(file, code, sizeof(code)) != sizeof(code) ||
	    ftruncate(file, PAGE) != 0)
		return 1;
	function_at = (function *)(unsigned long)place(kind);
	begin();
	sum = calls(0);
	disturb(kind);
	middle();
	sum += calls(CALLS);
	printf("sum %d\n", sum);
	return 0;
}
