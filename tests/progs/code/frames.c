/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that use rbp as their frame pointer, or for something else. */

int variable;

int plain(int n);
int plain(int n)
{
	int local = n;

	for (int i = 0; i < 3; i++)
		local += i;
	variable = local;
	return local;
}

#ifdef __x86_64__
/* rbp is a general register. */
__asm__(".pushsection .text\n"
	".type general,@function\n"
	"general: .cfi_startproc\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	"lea variable(%rip), %rbp\n"
	"general_store: movl $1, (%rbp)\n"
	"pop %rbp\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size general,.-general\n"
	".popsection\n");

/* It is the caller's before and after. */
__asm__(".pushsection .text\n"
	".type framed,@function\n"
	"framed: .cfi_startproc\n"
	"framed_early: movl $1, -16(%rbp)\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"mov %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"framed_store: movl $1, -16(%rbp)\n"
	"pop %rbp\n"
	".cfi_def_cfa %rsp, 8\n"
	"framed_late: movl $1, -16(%rbp)\n"
	"ret\n"
	".cfi_endproc\n"
	".size framed,.-framed\n"
	".popsection\n");

/* What a single step would show. */
__asm__(".pushsection .text\n"
	".type flags,@function\n"
	"flags: pushfq\n"
	"popfq\n"
	"ret\n"
	".size flags,.-flags\n"
	".popsection\n");

/* Nothing is said of it. */
__asm__(".pushsection .text\n"
	".type silent,@function\n"
	"silent: push %rbp\n"
	"mov %rsp, %rbp\n"
	"silent_store: movl $1, -16(%rbp)\n"
	"pop %rbp\n"
	"ret\n"
	".size silent,.-silent\n"
	".popsection\n");
#endif

int main(void)
{
	return plain(1) == 4 ? 0 : 1;
}
