/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/run_filter.h"

#include <asm/prctl.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <ucontext.h>
#include <unistd.h>

#include "arch/register_table.h"
#include "arch/x86_64/x86_64.h"
#include "tests/fuzz/run_state.h"

enum { TRAP_FLAG = 0x100, REGISTERS = 16 };

/*
 * run_enter(code, registers): begins there with these registers. The code leads to
 * run_false or run_not_false, which note what the registers are; a handler, to
 * run_fault.
 */
extern int run_enter(const void *code, const struct run_registers *registers);
extern const char run_false[], run_not_false[], run_fault[];
struct run_registers run_after;
uint64_t run_target, run_own_stack;
__asm__(".text\n"
	".globl run_enter, run_false, run_not_false, run_fault\n"
	"run_enter:\n"
	"	pushq %rbx\n"
	"	pushq %rbp\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, run_own_stack(%rip)\n"
	"	movq %rdi, run_target(%rip)\n"
	"	pushq 256(%rsi)\n"
	"	popfq\n"
	"	movq 0(%rsi), %rax\n"
	"	movq 8(%rsi), %rbx\n"
	"	movq 16(%rsi), %rcx\n"
	"	movq 24(%rsi), %rdx\n"
	"	movq 40(%rsi), %rdi\n"
	"	movq 48(%rsi), %rbp\n"
	"	movq 56(%rsi), %rsp\n"
	"	movq 64(%rsi), %r8\n"
	"	movq 72(%rsi), %r9\n"
	"	movq 80(%rsi), %r10\n"
	"	movq 88(%rsi), %r11\n"
	"	movq 96(%rsi), %r12\n"
	"	movq 104(%rsi), %r13\n"
	"	movq 112(%rsi), %r14\n"
	"	movq 120(%rsi), %r15\n"
	"	movq 32(%rsi), %rsi\n"
	"	jmp *run_target(%rip)\n"
	"run_false:\n"
	"	movq %rax, run_after(%rip)\n"
	"	movl $0, %eax\n"
	"	jmp 1f\n"
	"run_not_false:\n"
	"	movq %rax, run_after(%rip)\n"
	"	movl $1, %eax\n"
	"1:	movq %rbx, run_after+8(%rip)\n"
	"	movq %rcx, run_after+16(%rip)\n"
	"	movq %rdx, run_after+24(%rip)\n"
	"	movq %rsi, run_after+32(%rip)\n"
	"	movq %rdi, run_after+40(%rip)\n"
	"	movq %rbp, run_after+48(%rip)\n"
	"	movq %rsp, run_after+56(%rip)\n"
	"	movq %r8, run_after+64(%rip)\n"
	"	movq %r9, run_after+72(%rip)\n"
	"	movq %r10, run_after+80(%rip)\n"
	"	movq %r11, run_after+88(%rip)\n"
	"	movq %r12, run_after+96(%rip)\n"
	"	movq %r13, run_after+104(%rip)\n"
	"	movq %r14, run_after+112(%rip)\n"
	"	movq %r15, run_after+120(%rip)\n"
	"	movq run_own_stack(%rip), %rsp\n"
	"	pushfq\n"
	"	popq run_after+256(%rip)\n"
	"	jmp 2f\n"
	"run_fault:\n"
	"	movl $2, %eax\n"
	"2:	cld\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbp\n"
	"	popq %rbx\n"
	"	ret\n");

static int read_other(unsigned int number, uint64_t *value)
{
	static const int codes[] = {
		[X86_64_FS_BASE] = ARCH_GET_FS,
		[X86_64_GS_BASE] = ARCH_GET_GS,
	};

	if (number >= sizeof(codes) / sizeof(*codes) || codes[number] == 0)
		return -ENODATA;
	return syscall(SYS_arch_prctl, codes[number], value) < 0 ? -errno : 0;
}

const struct run_machine run_machine = {
	.registers = REGISTERS,
	.sp = 7,
	.pc = 16,
	.flags = 17,
	.status = 0xcd5, /* with that of the direction */
	.others = 0x202,
	.read_other = read_other,
};

/* ---- stops ---- */

static const int by_number[REGISTERS] = {
	REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
	REG_R8,	 REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

static void get_registers(const ucontext_t *context, struct regs *regs)
{
	*regs = (struct regs){.arch = run_state.arch};
	regs->size[reg_by_number(run_state.arch, 0)->regset] =
		sizeof(struct user_regs_struct);
	for (unsigned int i = 0; i < REGISTERS; i++)
		reg_write_u64(regs, i,
			      (uint64_t)context->uc_mcontext.gregs[by_number[i]]);
	reg_write_u64(regs, run_machine.flags,
		      (uint64_t)context->uc_mcontext.gregs[REG_EFL]);
}

void run_on_signal(int signal, siginfo_t *info, void *data)
{
	ucontext_t *context = data;
	greg_t *gregs = context->uc_mcontext.gregs;
	struct regs regs;
	const uint64_t offset =
		(uint64_t)gregs[REG_RIP] - (uint64_t)(uintptr_t)run_state.memory;

	(void)info;
	if (offset < run_state.code->len) {
		get_registers(context, &regs);
		run_check_stop(&regs, offset);
	}
	if (signal == SIGTRAP) {
		const uint64_t after = offset - run_state.code->len;

		if (after < 2 * RUN_TRAP_LEN) /* it has come to its end */
			gregs[REG_EFL] &= ~TRAP_FLAG;
		return;
	}
	if (offset >= run_state.code->len)
		abort();
	gregs[REG_EFL] &= ~TRAP_FLAG;
	gregs[REG_RSP] = (greg_t)run_own_stack;
	gregs[REG_RIP] = (greg_t)(uintptr_t)run_fault;
}

/* ---- runs ---- */

/* jmp *0(%rip), and the address. */
static void put_jump(uint8_t *at, const void *to)
{
	static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
	const uint64_t target = (uint64_t)(uintptr_t)to;

	memcpy(at, jump, sizeof(jump));
	memcpy(at + sizeof(jump), &target, sizeof(target));
}

void run_put_code(const struct native_code *code)
{
	memcpy(run_state.memory, code->bytes, code->len);
	put_jump(run_state.memory + code->len, run_not_false);
	put_jump(run_state.memory + code->len + RUN_TRAP_LEN, run_false);
}

enum run_end run_code(bool steps)
{
	struct run_registers begin = run_state.registers;
	enum run_end end;

	begin.flags |= steps ? TRAP_FLAG : 0;
	end = (enum run_end)run_enter(run_state.memory, &begin);
	memcpy(run_state.after.general, run_after.general,
	       REGISTERS * sizeof(*run_after.general));
	run_state.after.flags = run_after.flags;
	return end;
}
