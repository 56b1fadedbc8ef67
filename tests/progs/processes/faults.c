/* SPDX-License-Identifier: BSD-2-Clause */
/* Dereferences NULL; with an argument a handler survives it. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf back;
static int *volatile nowhere;

static void handler(int signo)
{
	siglongjmp(back, signo);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		signal(SIGSEGV, handler);
	if (sigsetjmp(back, 1) == 0)
		*nowhere = 1; /* FAULT */
	printf("survived\n");
	return 5;
}
