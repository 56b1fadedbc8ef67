/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions with instructions of every kind, whose results tell of one that was
 * executed twice, or not at all. x86_64 has them; elsewhere nothing is called, and
 * nothing is wrong.
 */
#ifndef TRUEHIT_TESTS_KINDS_H
#define TRUEHIT_TESTS_KINDS_H

#include <stdatomic.h>

enum { KINDS_PLACES = 20 };

#ifdef __x86_64__
/* Its instructions can be undone. */
unsigned long kinds(unsigned long i, const unsigned long *seven);
extern const char kinds_push[], kinds_move[], kinds_store[], kinds_update[],
	kinds_count[], kinds_load[], kinds_add[], kinds_call[], kinds_branch[],
	kinds_jump[], kinds_leave[], kinds_return[];
unsigned long kinds_counted;
__asm__(".pushsection .text\n"
	".type kinds,@function\n"
	".globl kinds\n"
	"kinds: .cfi_startproc\n"
	"kinds_push: push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"kinds_move: mov %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"sub $16, %rsp\n"
	"lea 1(%rdi), %rax\n"
	"kinds_store: mov %rax, -8(%rbp)\n"
	"kinds_update: add %rdi, -8(%rbp)\n"
	"kinds_count: addq $1, kinds_counted(%rip)\n"
	"kinds_load: mov (%rsi), %rcx\n"
	"kinds_add: add %rcx, %rax\n"
	"kinds_call: call kinds_inner\n"
	"test $1, %dil\n"
	"kinds_branch: jz 1f\n"
	"add $2, %rax\n"
	"1: add -8(%rbp), %rax\n"
	"kinds_jump: jmp kinds_leave\n"
	"ud2\n"
	"kinds_leave: leave\n"
	".cfi_def_cfa %rsp, 8\n"
	"kinds_return: ret\n"
	".cfi_endproc\n"
	".size kinds, .-kinds\n"
	"kinds_inner: lea 1(%rax, %rax, 2), %rax\n"
	"ret\n"
	".popsection\n");

/* Its instructions cannot. */
unsigned long others(unsigned long i, const unsigned long *seven);
extern const char others_ask[], others_write[], others_rewrite[], others_exchange[],
	others_indirect[], others_vector[], others_x87[], others_string[];
__asm__(".pushsection .text\n"
	".type others,@function\n"
	".globl others\n"
	"others: push %rbx\n"
	"sub $32, %rsp\n"
	"xor %eax, %eax\n"
	"xor %ecx, %ecx\n"
	"others_ask: cpuid\n"
	"mov %rsi, %rbx\n"
	"lea 8(%rsp), %rdx\n"
	"lea 1(%rdi), %rax\n"
	"others_write: mov %rax, (%rdx)\n"
	"others_rewrite: add %rdi, (%rdx)\n"
	"others_exchange: xchg %rax, (%rdx)\n"
	"others_indirect: call *others_target(%rip)\n"
	"movq %rax, %xmm0\n"
	"others_vector: paddq %xmm0, %xmm0\n"
	"movq %xmm0, %rcx\n"
	"fildq (%rdx)\n"
	"others_x87: fadd %st(0), %st\n"
	"fistpq (%rdx)\n"
	"others_string: lodsq\n"
	"sub %rbx, %rsi\n"
	"add %rsi, %rax\n"
	"add %rcx, %rax\n"
	"add (%rdx), %rax\n"
	"add $32, %rsp\n"
	"pop %rbx\n"
	"ret\n"
	".size others, .-others\n"
	".popsection\n"
	".pushsection .data.rel.ro, \"aw\"\n"
	".balign 8\n"
	"others_target: .quad kinds_inner\n"
	".popsection\n");

/* Where the instructions with names are, in the order of storms.py. */
static void kinds_note_places(atomic_ulong noted[KINDS_PLACES])
{
	const char *const places[KINDS_PLACES] = {
		kinds_push,	 kinds_move,	kinds_store,	kinds_update,
		kinds_count,	 kinds_load,	kinds_add,	kinds_call,
		kinds_branch,	 kinds_jump,	kinds_leave,	kinds_return,
		others_ask,	 others_write,	others_rewrite, others_exchange,
		others_indirect, others_vector, others_x87,	others_string,
	};

	for (int i = 0; i < KINDS_PLACES; i++)
		atomic_store(&noted[i], (unsigned long)places[i]);
}

static int kinds_agree(unsigned long i)
{
	static const unsigned long seven = 7;

	return kinds(i, &seven) == 3 * (i + 8) + 1 + 2 * (i % 2) + 2 * i + 1;
}

static int others_agree(unsigned long i)
{
	static const unsigned long seven = 7;

	return others(i, &seven) == 14 * i + 25;
}
#else
static void kinds_note_places(atomic_ulong noted[KINDS_PLACES])
{
	(void)noted;
}

static int kinds_agree(unsigned long i)
{
	(void)i;
	return 1;
}

static int others_agree(unsigned long i)
{
	(void)i;
	return 1;
}
#endif

#endif
