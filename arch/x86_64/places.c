/* SPDX-License-Identifier: BSD-2-Clause */
#include "arch/x86_64/x86_64.h"

/* In assembler, as the first instruction counts: the kernel's
 * arch/x86/kernel/uprobes.c emulates a push, and steps over what follows. */
__asm__(".pushsection .text\n"
	".type x86_64_emulated, @function\n"
	"x86_64_emulated:\n"
	"	push %rbp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size x86_64_emulated, . - x86_64_emulated\n"
	".type x86_64_stepped, @function\n"
	"x86_64_stepped:\n"
	"	mov %rsp, %rax\n"
	"	ret\n"
	".size x86_64_stepped, . - x86_64_stepped\n"
	".popsection\n");

void x86_64_emulated(void);
void x86_64_stepped(void);

const struct probe_place x86_64_probe_places[] = {
	[PROBE_EMULATED] = {x86_64_emulated, 1},
	[PROBE_STEPPED] = {x86_64_stepped, 3},
};
