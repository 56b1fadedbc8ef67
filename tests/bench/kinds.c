/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loops around one instruction of each kind at which people have breakpoints, measured
 * by themselves: kinds ROUNDS KIND [floor]. With `floor`, the instruction is elsewhere,
 * and a jump in its place leads there, and one back: the least that a pad can cost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What compilers make without optimization, and with it: name, instruction, and what
 * puts back what it changes. %rsi points into the data, and the zero flag is set. */
#define KINDS(X)                                                                       \
	X(push, "push %rbx", "pop %rbx")                                               \
	X(parameter, "mov %edi, -20(%rsi)", "")                                        \
	X(load, "mov -8(%rsi), %rax", "")                                              \
	X(add_local, "addl $1, -28(%rsi)", "")                                         \
	X(add_global, "addl $1, kind_data(%rip)", "")                                  \
	X(call, "call kind_nothing", "")                                               \
	X(movslq, "movslq -8(%rsi), %rdx", "")                                         \
	X(jne, "jne 0b", "")                                                           \
	X(cmp, "cmp %rdx, -8(%rsi)", "")                                               \
	X(lea, "lea kind_data(%rip), %rdx", "")                                        \
	X(addsd, "addsd %xmm1, %xmm0", "")

/* %rcx counts. */
#define LOOP(name, insn, after)                                                        \
	".p2align 5\n"                                                                 \
	".globl loop_" name ", kind_" name "\n"                                        \
	".type loop_" name ", @function\n"                                             \
	"loop_" name ":\n"                                                             \
	"push %rbx\n"                                                                  \
	"mov %rdi, %rcx\n"                                                             \
	"lea kind_data+64(%rip), %rsi\n"                                               \
	"0:\n"                                                                         \
	"xor %eax, %eax\n"                                                             \
	"kind_" name ":\n" insn "\n" after "\n"                                        \
	"dec %rcx\n"                                                                   \
	"jnz 0b\n"                                                                     \
	"pop %rbx\n"                                                                   \
	"ret\n"                                                                        \
	".size loop_" name ", . - loop_" name "\n"

/* Subsection 1 follows all that is not in it. */
#define ELSEWHERE(insn)                                                                \
	"jmp 2f\n"                                                                     \
	"1:\n"                                                                         \
	".subsection 1\n"                                                              \
	"2:\n" insn "\n"                                                               \
	"jmp 1b\n"                                                                     \
	".previous\n"

#define LOOPS(name, insn, after)                                                       \
	__asm__(".text\n" LOOP(#name, insn, after)                                     \
			LOOP(#name "_floor", ELSEWHERE(insn), after));                 \
	void loop_##name(long rounds);                                                 \
	void loop_##name##_floor(long rounds);

__asm__(".text\n"
	".type kind_nothing, @function\n"
	"kind_nothing: ret\n"
	".size kind_nothing, . - kind_nothing\n");
KINDS(LOOPS)
long kind_data[16] = {1, 2, 3, 4, 5, 6, 7, 8};

#define ROW(name, insn, after) {#name, {loop_##name, loop_##name##_floor}},

static const struct {
	const char *name;
	void (*loop[2])(long rounds);
} kinds[] = {KINDS(ROW)};

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

int main(int argc, char **argv)
{
	const long rounds = argc > 2 ? atol(argv[1]) : 0;
	const int floor = argc > 3;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && rounds > 0; i++) {
		double start = now_ns();

		if (strcmp(kinds[i].name, argv[2]) != 0)
			continue;
		kinds[i].loop[floor](rounds);
		printf("%ld iterations, %.2f ns per iteration\n", rounds,
		       (now_ns() - start) / (double)rounds);
		return 0;
	}
	fprintf(stderr, "usage: kinds ROUNDS KIND [floor]; kinds:");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		fprintf(stderr, " %s", kinds[i].name);
	fprintf(stderr, "\n");
	return 2;
}
