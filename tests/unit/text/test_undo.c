/* SPDX-License-Identifier: BSD-2-Clause */
/* Which instructions of x86_64 can be undone, and what they store. */
#include <criterion/criterion.h>
#include <string.h>

#include "arch/arch.h"
#include "gdbstub/text/decoder.h"

enum { CODE = 0x401000, RAX = 0, RDX = 3, RBP = 6, RSP = 7, RIP = 16 };

static struct decoder decoder;

static void begin(void)
{
	cr_assert_null(arch_native()->init());
	cr_assert(decoder_init(&decoder, arch_native()));
}

static void end(void)
{
	decoder_deinit(&decoder);
}

TestSuite(undo, .init = begin, .fini = end);

static struct insn_undo judge(const uint8_t *code, size_t len)
{
	struct insn_undo undo;

	cr_assert(decoder_run(&decoder, code, len, CODE));
	cr_assert_eq(decoder.insn->size, len, "%s %s", decoder.insn->mnemonic,
		     decoder.insn->op_str);
	arch_native()->undo(decoder.insn, &undo);
	return undo;
}

#define JUDGE(...)                                                                     \
	judge((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void stores_nothing(struct insn_undo undo)
{
	cr_expect_null(undo.why_not, "%s: %s", decoder.insn->mnemonic, undo.why_not);
	cr_expect_eq(undo.store.len, 0, "%s", decoder.insn->mnemonic);
	cr_expect_not(undo.by_frame_pointer);
}

static void stores(struct insn_undo undo, struct insn_store store)
{
	const char *name = decoder.insn->mnemonic;

	cr_expect_null(undo.why_not, "%s: %s", name, undo.why_not);
	cr_expect_eq(undo.store.len, store.len, "%s: %u bytes", name, undo.store.len);
	cr_expect_eq(undo.store.below_stack, store.below_stack, "%s", name);
	cr_expect_eq(undo.store.base, store.base, "%s: %u", name, undo.store.base);
	cr_expect_eq(undo.store.index, store.index, "%s: %u", name, undo.store.index);
	cr_expect_eq(undo.store.scale, store.scale, "%s: %u", name, undo.store.scale);
	cr_expect_eq(undo.store.displacement, store.displacement, "%s: %ld", name,
		     (long)undo.store.displacement);
	cr_expect_eq(undo.by_frame_pointer, store.base == RBP, "%s", name);
}

static void refused(struct insn_undo undo, const char *words)
{
	const char *why = undo.why_not ? undo.why_not : "it can be undone";

	cr_expect_not_null(strstr(why, words), "%s %s: %s", decoder.insn->mnemonic,
			   decoder.insn->op_str, why);
}

static void unfit(struct insn_undo undo, const char *words)
{
	cr_assert_not_null(undo.unfit, "%s", decoder.insn->mnemonic);
	cr_expect_not_null(strstr(undo.unfit, words), "%s", undo.unfit);
	refused(undo, words);
}

Test(undo, what_the_kernel_cannot_step_over_unseen)
{
	unfit(JUDGE(0x9c), "trap flag");			    /* pushf */
	unfit(JUDGE(0x66, 0x9c), "trap flag");			    /* pushfw */
	unfit(JUDGE(0x0f, 0x1f, 0x44, 0, 0), "the kernel may put"); /* nopl */
	cr_expect_null(JUDGE(0x9d).unfit);			    /* popf */
	cr_expect_null(JUDGE(0xc5, 0xf8, 0x28, 0xc1).unfit);	    /* vmovaps */
	cr_expect_null(JUDGE(0x0f, 0xa2).unfit);		    /* cpuid */
	cr_expect_null(JUDGE(0xf0, 0x48, 0x0f, 0xc1, 0x07).unfit);  /* lock xadd */
}

Test(undo, registers_and_flags)
{
	stores_nothing(JUDGE(0x48, 0x89, 0xe5));	     /* mov %rsp,%rbp */
	stores_nothing(JUDGE(0x8b, 0x45, 0xfc));	     /* mov -4(%rbp),%eax */
	stores_nothing(JUDGE(0x48, 0x83, 0xec, 0x10));	     /* sub $16,%rsp */
	stores_nothing(JUDGE(0x83, 0x3d, 0, 0, 0, 0, 0x01)); /* cmpl $1,x(%rip) */
	stores_nothing(JUDGE(0x85, 0x00));		     /* test %eax,(%rax) */
	stores_nothing(JUDGE(0xf7, 0x33));		     /* divl (%rbx) */
	stores_nothing(JUDGE(0x0f, 0xaf, 0x03));	     /* imul (%rbx),%eax */
	stores_nothing(JUDGE(0x48, 0x8d, 0x04, 0x10));	     /* lea (%rax,%rdx),%rax */
	stores_nothing(JUDGE(0x48, 0x98));		     /* cltq */
	stores_nothing(JUDGE(0x87, 0xd8));		     /* xchg %ebx,%eax */
	stores_nothing(JUDGE(0xf3, 0x0f, 0xb8, 0xc3));	     /* popcnt %ebx,%eax */
	/* mov %fs:0x28,%rax */
	stores_nothing(JUDGE(0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0x00, 0x00, 0x00));
}

Test(undo, what_changes_nothing)
{
	stores_nothing(JUDGE(0x90));
	stores_nothing(JUDGE(0xf3, 0x0f, 0x1e, 0xfa)); /* endbr64 */
	stores_nothing(JUDGE(0xf3, 0x90));	       /* pause */
	stores_nothing(JUDGE(0x66, 0x90));
	stores_nothing(JUDGE(0x0f, 0x1f, 0x40, 0x00));
	stores_nothing(JUDGE(0x0f, 0x18, 0x08)); /* prefetcht0 (%rax) */
}

Test(undo, what_becomes_a_call)
{
	refused(JUDGE(0x0f, 0x1f, 0x44, 0x00, 0x00), "a call in its place");
	refused(JUDGE(0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00), "a call in its place");
	/* data16 cs nopw */
	refused(JUDGE(0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0),
		"in its place");
}

Test(undo, jumps)
{
	stores_nothing(JUDGE(0xeb, 0x10));
	stores_nothing(JUDGE(0x0f, 0x84, 1, 2, 0, 0));
	stores_nothing(JUDGE(0xff, 0xe0));		     /* jmp *%rax */
	stores_nothing(JUDGE(0x3e, 0xff, 0xe0));	     /* notrack jmp *%rax */
	stores_nothing(JUDGE(0xf2, 0xff, 0x25, 1, 0, 0, 0)); /* bnd jmp *x(%rip) */
	stores_nothing(JUDGE(0xe2, 0xfe));		     /* loop */
}

Test(undo, far_transfers)
{
	cr_expect_not_null(JUDGE(0xff, 0x1f).why_not); /* lcall *(%rdi) */
	cr_expect_not_null(JUDGE(0xff, 0x2f).why_not); /* ljmp *(%rdi) */
	cr_expect_not_null(JUDGE(0x48, 0xff, 0x2f).why_not);
	cr_expect_not_null(JUDGE(0xcb).why_not); /* lret */
	cr_expect_not_null(JUDGE(0xcf).why_not); /* iret */
}

Test(undo, the_stack)
{
	static const struct insn_store pushed = {8, true, RSP, REG_NONE, 1, -8};
	struct insn_undo undo;

	stores(JUDGE(0x55), pushed);
	stores(JUDGE(0x6a, 0x01), pushed);
	stores(JUDGE(0x41, 0x57), pushed);
	stores(JUDGE(0xff, 0x33), pushed); /* push (%rbx) */
	undo = JUDGE(0xe8, 1, 0, 0, 0);
	stores(undo, pushed);
	cr_expect(undo.transfers_stack);
	stores(JUDGE(0x67, 0xe8, 1, 0, 0, 0), pushed); /* addr32 call */
	undo = JUDGE(0xff, 0x15, 1, 0, 0, 0);	       /* call *x(%rip) */
	stores(undo, pushed);
	cr_expect(undo.transfers_stack);
	stores_nothing(JUDGE(0x5d));
	stores_nothing(JUDGE(0xc9)); /* leave */
	undo = JUDGE(0xc3);
	stores_nothing(undo);
	cr_expect(undo.transfers_stack);
	stores_nothing(JUDGE(0xf3, 0xc3));		       /* repz ret */
	refused(JUDGE(0x8f, 0x03), "memory");		       /* pop (%rbx) */
	refused(JUDGE(0x66, 0x50), "prefix");		       /* push %ax */
	refused(JUDGE(0x0f, 0xa0), "special");		       /* push %fs */
	refused(JUDGE(0xc8, 0x10, 0, 0), "more than general"); /* enter */
}

Test(undo, stores_to_the_frame_and_variables)
{
	/* movl $0,-4(%rbp) */
	stores(JUDGE(0xc7, 0x45, 0xfc, 0, 0, 0, 0),
	       (struct insn_store){4, false, RBP, REG_NONE, 1, -4});
	/* mov %rax,8(%rsp) */
	stores(JUDGE(0x48, 0x89, 0x44, 0x24, 0x08),
	       (struct insn_store){8, false, RSP, REG_NONE, 1, 8});
	/* movb $1,-0x20(%rbp,%rdx,4) */
	stores(JUDGE(0xc6, 0x44, 0x95, 0xe0, 0x01),
	       (struct insn_store){1, false, RBP, RDX, 4, -0x20});
	/* addl $1,0x100(%rip): after the instruction */
	stores(JUDGE(0x83, 0x05, 0x00, 0x01, 0, 0, 0x01),
	       (struct insn_store){4, false, RIP, REG_NONE, 1, 0x107});
	/* mov %ax,0x404040 */
	stores(JUDGE(0x66, 0x89, 0x04, 0x25, 0x40, 0x40, 0x40, 0x00),
	       (struct insn_store){2, false, REG_NONE, REG_NONE, 1, 0x404040});
	/* sete -1(%rbp) */
	stores(JUDGE(0x0f, 0x94, 0x45, 0xff),
	       (struct insn_store){1, false, RBP, REG_NONE, 1, -1});
	/* shll -8(%rbp) */
	stores(JUDGE(0xd1, 0x65, 0xf8),
	       (struct insn_store){4, false, RBP, REG_NONE, 1, -8});
}

Test(undo, stores_by_what_was_there)
{
	cr_expect_not(JUDGE(0xc7, 0x45, 0xfc, 0, 0, 0, 0).rewrites);   /* movl $0 */
	cr_expect_not(JUDGE(0x0f, 0x94, 0x45, 0xff).rewrites);	       /* sete */
	cr_expect_not(JUDGE(0xf3, 0x0f, 0x11, 0x45, 0xfc).rewrites);   /* movss */
	cr_expect(JUDGE(0x83, 0x05, 0x00, 0x01, 0, 0, 0x01).rewrites); /* addl */
	cr_expect(JUDGE(0xd1, 0x65, 0xf8).rewrites);		       /* shll */
	cr_expect(JUDGE(0xff, 0x45, 0xf8).rewrites);		       /* incl */
	cr_expect(JUDGE(0xf7, 0x5d, 0xf8).rewrites);		       /* negl */
}

Test(undo, stores_of_vector_registers)
{
	/* movss %xmm0,-4(%rbp) */
	stores(JUDGE(0xf3, 0x0f, 0x11, 0x45, 0xfc),
	       (struct insn_store){4, false, RBP, REG_NONE, 1, -4});
	/* movsd %xmm0,-8(%rbp) */
	stores(JUDGE(0xf2, 0x0f, 0x11, 0x45, 0xf8),
	       (struct insn_store){8, false, RBP, REG_NONE, 1, -8});
	/* movaps %xmm0,(%rsp) */
	stores(JUDGE(0x0f, 0x29, 0x04, 0x24),
	       (struct insn_store){16, false, RSP, REG_NONE, 1, 0});
	/* vmovdqu %ymm0,(%rsp) */
	stores(JUDGE(0xc5, 0xfe, 0x7f, 0x04, 0x24),
	       (struct insn_store){32, false, RSP, REG_NONE, 1, 0});
	stores_nothing(JUDGE(0x66, 0x0f, 0x7e, 0xc0));		/* movd %xmm0,%eax */
	refused(JUDGE(0x66, 0x0f, 0x6e, 0xc0), "vector");	/* movd %eax,%xmm0 */
	refused(JUDGE(0xf3, 0x0f, 0x10, 0x45, 0xfc), "vector"); /* movss, a load */
	/* movq %xmm7,%xmm0, rather than movq %xmm0,%r15 */
	refused(JUDGE(0xf3, 0x66, 0x49, 0x0f, 0x7e, 0xc7), "prefix");
	refused(JUDGE(0x0f, 0x28, 0xc1), "vector");	  /* movaps, registers */
	refused(JUDGE(0xf2, 0x0f, 0x58, 0xc1), "vector"); /* addsd */
	refused(JUDGE(0xc5, 0xf8, 0x77), "vector");	  /* vzeroupper */
	refused(JUDGE(0x0f, 0x7f, 0x04, 0x24), "x87");	  /* movq %mm0,(%rsp) */
	/* vmovups %zmm0,(%rsp) */
	refused(JUDGE(0x62, 0xf1, 0x7c, 0x48, 0x11, 0x04, 0x24), "AVX-512");
}

Test(undo, stores_that_others_may_see)
{
	refused(JUDGE(0x89, 0x03), "others");		      /* mov %eax,(%rbx) */
	refused(JUDGE(0x83, 0x00, 0x01), "others");	      /* addl $1,(%rax) */
	refused(JUDGE(0x89, 0x04, 0x85, 0x40, 0x40, 0x40, 0), /* mov %eax,x(,%rax,4) */
		"others");
	/* mov %eax,%fs:0x10 and, with rsp, %gs:(%rsp) */
	refused(JUDGE(0x64, 0x89, 0x04, 0x25, 0x10, 0, 0, 0), "others");
	refused(JUDGE(0x65, 0x89, 0x04, 0x24), "others");
	/* The processor goes by gs, as if cs were not there. */
	refused(JUDGE(0x65, 0x2e, 0x48, 0x29, 0x65, 0x0f), "others");
	refused(JUDGE(0x67, 0x89, 0x45, 0xfc), "prefix"); /* mov %eax,-4(%ebp) */
}

Test(undo, more_than_plain_stores)
{
	/* lock incl -4(%rbp) */
	refused(JUDGE(0xf0, 0xff, 0x45, 0xfc), "locked");
	refused(JUDGE(0xf0, 0x0f, 0xb1, 0x55, 0xfc), "locked"); /* cmpxchg */
	refused(JUDGE(0xf0, 0x0f, 0xc7, 0x4d, 0xf0), "locked"); /* cmpxchg8b */
	refused(JUDGE(0x87, 0x45, 0xfc), "exchanges");		/* xchg */
	refused(JUDGE(0x0f, 0xc1, 0x45, 0xfc), "exchanges");	/* xadd */
	refused(JUDGE(0x0f, 0xab, 0x45, 0xfc), "exchanges");	/* bts %eax,-4(%rbp) */
	refused(JUDGE(0xf3, 0xa4), "rep");			/* rep movsb */
	refused(JUDGE(0xf3, 0xa5), "rep");			/* rep movsl */
	refused(JUDGE(0xa5), "string");				/* movsl */
	/* movbe with 66 and REX.W: of 2 bytes or of 8 */
	refused(JUDGE(0x66, 0x48, 0x0f, 0x38, 0xf1, 0x45, 0x4c), "prefix");
	refused(JUDGE(0xf3, 0x89, 0x45, 0xfc), "prefix"); /* xrelease mov */
}

Test(undo, other_state)
{
	refused(JUDGE(0x0f, 0x05), "kernel"); /* syscall */
	refused(JUDGE(0xcd, 0x80), "kernel");
	refused(JUDGE(0x0f, 0x31), "each time");       /* rdtsc */
	refused(JUDGE(0x0f, 0xa2), "each time");       /* cpuid */
	refused(JUDGE(0x0f, 0xc7, 0xf0), "each time"); /* rdrand %eax */
	refused(JUDGE(0xdd, 0x45, 0xf8), "x87");       /* fldl -8(%rbp) */
	refused(JUDGE(0xd9, 0x5d, 0xf8), "x87");       /* fstps -8(%rbp) */
	refused(JUDGE(0x8e, 0xd8), "special");	       /* mov %eax,%ds */
	refused(JUDGE(0xf4), "privileged");	       /* hlt */
	refused(JUDGE(0x9d), "more than general");     /* popf */
}
