/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loops whose instructions and branches can be counted by hand: counted [ROUNDS
 * [THREADS]]: each function of rounds runs so many turns, while so many other threads
 * run in circles. A turn of
 *
 * - plain: 2 instructions, 1 conditional branch, taken but for the last
 * - nested: 3 turns of 2 instructions, and 3 more; 4 conditional branches
 * - calling: a call, a return and 2 more; 3 branches, 1 of them conditional
 * - choosing: 4 instructions or 5; 2 conditional branches, the first taken every other
 * time
 * - repeating: 5 instructions (x86_64: one fills 100 bytes), 1 conditional branch
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static __attribute__((used)) uint8_t filled[100];

#define FUNCTION(name, code)                                                           \
	void name(uint64_t rounds);                                                    \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name          \
		":\n" code)

#ifdef __x86_64__
FUNCTION(plain, "1: dec %rdi\n jnz 1b\n ret\n");
FUNCTION(nested, "1: mov $3, %ecx\n2: dec %ecx\n jnz 2b\n dec %rdi\n jnz 1b\n ret\n");
FUNCTION(calling, "1: call 2f\n dec %rdi\n jnz 1b\n ret\n2: ret\n");
FUNCTION(choosing, "1: test $1, %dil\n jnz 2f\n nop\n2: dec %rdi\n jnz 1b\n ret\n");
FUNCTION(repeating, "mov %rdi, %rdx\n1: lea filled(%rip), %rdi\n mov $100, %ecx\n"
		    " rep stosb\n dec %rdx\n jnz 1b\n ret\n");
#else
FUNCTION(plain, "1: subs x0, x0, #1\n b.ne 1b\n ret\n");
FUNCTION(nested, "1: mov w1, #3\n2: sub w1, w1, #1\n cbnz w1, 2b\n subs x0, x0, #1\n"
		 " b.ne 1b\n ret\n");
FUNCTION(calling,
	 "mov x9, x30\n1: bl 2f\n subs x0, x0, #1\n b.ne 1b\n ret x9\n2: ret\n");
FUNCTION(choosing,
	 "1: nop\n tbnz w0, #0, 2f\n nop\n2: subs x0, x0, #1\n b.ne 1b\n ret\n");
FUNCTION(repeating,
	 "mov x2, x0\n1: nop\n nop\n nop\n subs x2, x2, #1\n b.ne 1b\n ret\n");
#endif

static const struct {
	const char *name;
	void (*run)(uint64_t rounds);
} functions[] = {
	{"plain", plain},	{"nested", nested},	  {"calling", calling},
	{"choosing", choosing}, {"repeating", repeating},
};

static void *run_in_circles(void *unused)
{
	volatile int turns = 0;

	(void)unused;
	for (;;)
		turns = !turns;
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
	unsigned int threads = argc > 2 ? (unsigned int)atoi(argv[2]) : 0;
	pthread_t thread;

	while (threads-- > 0)
		if (pthread_create(&thread, NULL, run_in_circles, NULL) != 0)
			return 1;
	for (unsigned int i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		functions[i].run(rounds);
		printf("%s\n", functions[i].name);
	}
	return 0;
}
