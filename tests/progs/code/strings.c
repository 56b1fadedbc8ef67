/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fills much memory by one instruction, at `filling`, so many times: strings ROUNDS.
 * Nearly always it is in the middle of it. Prints how many signals its handler has
 * seen, and how often that has interrupted anything else than main(). x86_64 only.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#ifdef __x86_64__
extern const char filling[];
static char memory[1 << 24];
static volatile int signals, elsewhere;
static volatile uint64_t rounds, wanted; /* how many have begun, and shall */

static void handle(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *interrupted = context;
	const uintptr_t pc = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP];
	const uintptr_t here = (uintptr_t)filling;

	(void)signal;
	(void)info;
	signals++;
	elsewhere += pc < here - 200 || pc > here + 200;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO, .sa_sigaction = handle};

	sigaction(SIGUSR1, &action, NULL);
	wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
	while (rounds < wanted) {
		void *to = memory;
		size_t left = sizeof(memory);

		rounds++;
		__asm__ volatile(".globl filling\nfilling: rep stosb\n"
				 "nop\nnop\nnop\nnop\n"
				 : "+D"(to), "+c"(left)
				 : "a"((int)rounds)
				 : "memory");
	}
	__asm__ volatile(".globl main_end\nmain_end:");
	printf("%d signals, %d elsewhere\n", signals, elsewhere);
	return 0;
}
#else
int main(void)
{
	return 77;
}
#endif
