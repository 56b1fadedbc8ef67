/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps its own account of the registers: ledger ROUNDS. In each round it comes to all
 * places, each with random registers, r15 being the number of the round; what they are
 * is in `before`, as in the general registers of gdb's g packet. The instruction there
 * is executed a second time elsewhere: both must have done the same.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SP = 7, R15 = 15, PC = 16, FLAGS = 17, NWORDS = 18 };

uint64_t before[NWORDS], after[NWORDS];

#ifdef __x86_64__
enum { PLAIN_FLAGS = 0x202, RANDOM_FLAGS = 0xcd5 }; /* CF PF AF ZF SF DF OF */

/* All registers become what `before` has (of the stack pointer it gets to know), and go
 * to `after`. */
__asm__(".macro enter\n"
	"	.irp saved, rbx, rbp, r12, r13, r14, r15\n"
	"	push %\\saved\n"
	"	.endr\n"
	"	pushq before+8*17(%rip)\n"
	"	popfq\n"
	"	mov %rsp, before+8*7(%rip)\n"
	"	.set at, 0\n"
	"	.irp name, rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8, r9, r10, r11, "
	"r12, r13, r14, r15\n"
	"	mov before+8*at(%rip), %\\name\n"
	"	.set at, at+1\n"
	"	.endr\n"
	".endm\n"
	".macro leave_it\n"
	"	.set at, 0\n"
	"	.irp name, rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8, r9, r10, r11, "
	"r12, r13, r14, r15\n"
	"	mov %\\name, after+8*at(%rip)\n"
	"	.set at, at+1\n"
	"	.endr\n"
	"	pushfq\n"
	"	popq after+8*17(%rip)\n"
	"	mov before+8*7(%rip), %rsp\n"
	"	pushq $0x202\n"
	"	popfq\n"
	"	.irp saved, r15, r14, r13, r12, rbp, rbx\n"
	"	pop %\\saved\n"
	"	.endr\n"
	"	ret\n"
	".endm\n");

/* ledger_NAME() has the place, plain_NAME() the same instruction. */
#define PLACE(name, insn)                                                              \
	__asm__(".pushsection .text\n"                                                 \
		".globl ledger_" #name ", plain_" #name ", at_" #name "\n"             \
		"ledger_" #name ": enter\n"                                            \
		"at_" #name ": " insn "\n"                                             \
		"leave_it\n"                                                           \
		"plain_" #name ": enter\n" insn "\n"                                   \
		"leave_it\n"                                                           \
		".popsection\n");                                                      \
	void ledger_##name(void);                                                      \
	void plain_##name(void);                                                       \
	extern const char at_##name[];

PLACE(add, "add %rcx, %rax")
PLACE(push, "push %rbp")
PLACE(store, "mov %rdi, -16(%rsp)")
PLACE(load, "mov before+24(%rip), %rbx")
PLACE(lea, "lea 5(%rax, %rcx, 4), %r9")
PLACE(carry, "adc %r15, %r14")
PLACE(branch, "jc 1f\n inc %r8\n 1:")
PLACE(call, "call 1f\n 1:")

static const struct {
	void (*ledger)(void), (*plain)(void);
	const char *at;
} kinds[] = {
#define KIND(name)                                                                     \
	{                                                                              \
		ledger_##name, plain_##name, at_##name                                 \
	}
	KIND(add), KIND(push),	KIND(store),  KIND(load),
	KIND(lea), KIND(carry), KIND(branch), KIND(call),
};
enum { NKINDS = sizeof(kinds) / sizeof(*kinds) };

static uint64_t next_random(void)
{
	static uint64_t x = 88172645463325252;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

static void choose_registers(uint64_t round)
{
	for (int i = 0; i < PC; i++)
		before[i] = next_random();
	before[R15] = round;
	before[FLAGS] = PLAIN_FLAGS | (next_random() & RANDOM_FLAGS);
}

/* The call's return address is the only difference that there may be, on the stack. */
static int differs(int kind)
{
	uint64_t got[NWORDS];

	before[PC] = (uint64_t)kinds[kind].at;
	kinds[kind].ledger();
	memcpy(got, after, sizeof(got));
	kinds[kind].plain();
	return memcmp(got, after, sizeof(got)) != 0;
}
#else
enum { NKINDS = 0 };
static void choose_registers(uint64_t round)
{
	before[R15] = round;
}
static int differs(int kind)
{
	return kind;
}
#endif

int main(int argc, char **argv)
{
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 0) : 100;
	int errors = 0;

	for (uint64_t round = 0; round < rounds; round++) {
		choose_registers(round);
		for (int kind = 0; kind < NKINDS; kind++)
			errors += differs(kind);
	}
	printf("errors %d\n", errors);
	return errors != 0;
}
