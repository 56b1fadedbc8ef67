/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads from ten addresses by one instruction, and the eighth is a bad one. loads jump:
 * the handler leaves by siglongjmp; loads mend: it makes the page readable.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static sigjmp_buf back;
static int handled, mends;
static char *page;

long load(const void *from);
#ifdef __x86_64__
__asm__(".pushsection .text\n"
	".type load,@function\n"
	"load: mov (%rdi), %rax\n"
	"ret\n"
	".size load, .-load\n"
	".popsection\n");
#else
long load(const void *from)
{
	return *(const long *)from;
}
#endif

static void handler(int signo)
{
	handled++;
	if (!mends)
		siglongjmp(back, signo);
	mprotect(page, 4096, PROT_READ);
}

int main(int argc, char **argv)
{
	long good = 3, sum = 0;

	mends = argc > 1 && strcmp(argv[1], "mend") == 0;
	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGSEGV, handler); /* READY */
	for (volatile int i = 0; i < 10; i++)
		if (sigsetjmp(back, 1) == 0)
			sum += load(i == 7 ? (void *)page : &good);
	printf("handled %d, sum %ld\n", handled, sum);
	return 0;
}
