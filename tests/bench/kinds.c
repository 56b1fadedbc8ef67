/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loops around one instruction of each kind at which people have breakpoints, measured
 * by themselves: kinds ROUNDS [wait]. With `wait`, it begins when there is input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* What compilers make of calls, variables and arithmetic: name, instruction, and what
 * puts back what it changes. %rsi points into the data, and the zero flag is set. */
#define KINDS(X)                                                                       \
	X(push, "push %%rbx", "pop %%rbx")                                             \
	X(store, "mov %%edi, -20(%%rsi)", "")                                          \
	X(load, "mov -8(%%rsi), %%rax", "")                                            \
	X(add_local, "addl $1, -28(%%rsi)", "")                                        \
	X(add_global, "addl $1, kind_data(%%rip)", "")                                 \
	X(call, "call kind_nothing", "")                                               \
	X(movslq, "movslq -8(%%rsi), %%rdx", "")                                       \
	X(jne, "jne 1f\n1:", "")                                                       \
	X(cmp, "cmp %%rdx, -8(%%rsi)", "")                                             \
	X(lea, "lea kind_data(%%rip), %%rdx", "")                                      \
	X(addsd, "addsd %%xmm1, %%xmm0", "")

long kind_data[16] = {1, 2, 3, 4, 5, 6, 7, 8};

__asm__(".text\n"
	".type kind_nothing, @function\n"
	"kind_nothing: ret\n"
	".size kind_nothing, . - kind_nothing\n");

#define AT(label, insn, after)                                                         \
	__asm__ volatile("xor %%eax, %%eax\n"                                          \
			 ".globl " label "\n" label ":\n" insn "\n" after              \
			 :                                                             \
			 : "S"(&kind_data[8])                                          \
			 : "rax", "rdx", "xmm0", "cc", "memory")

/* Once in each round, and never. */
#define LOOP(name, insn, after)                                                        \
	static __attribute__((noinline)) void loop_##name(long rounds)                 \
	{                                                                              \
		if (rounds < 0)                                                        \
			AT("never_" #name, insn, after);                               \
		for (long i = 0; i < rounds; i++)                                      \
			AT("kind_" #name, insn, after);                                \
	}

KINDS(LOOP)

#define ROW(name, insn, after) {#name, loop_##name},

static const struct {
	const char *name;
	void (*loop)(long rounds);
} kinds[] = {KINDS(ROW)};

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? atol(argv[1]) : 0;

	if (rounds <= 0) {
		fprintf(stderr, "usage: kinds ROUNDS [wait]\n");
		return 2;
	}
	if (argc > 2) {
		puts("waiting");
		fflush(stdout);
		getchar();
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		double start = now_ns();

		kinds[i].loop(rounds);
		printf("%s: %ld iterations, %.2f ns per iteration\n", kinds[i].name,
		       rounds, (now_ns() - start) / (double)rounds);
	}
	return 0;
}
