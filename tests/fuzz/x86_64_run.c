/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/run_filter.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/user.h>
#include <ucontext.h>

#include "arch/register_table.h"

enum {
	STACK_LEN = 65536,
	SIGNAL_STACK_LEN = 1 << 20, /* struct regs has room for all */
	PATTERN = 0xa5,
	RED_ZONE = 128,
	TRAP_FLAG = 0x100,
	REGISTERS = 16,
};

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

const struct run_machine run_machine = {
	.registers = REGISTERS,
	.sp = 7,
	.pc = 16,
	.flags = 17,
	.status = 0xcd5, /* with that of the direction */
	.others = 0x202,
};

static struct {
	const struct arch_ops *arch;
	const struct native_code *code;
	uint8_t *memory; /* the code, where it is executed */
	uint8_t *stack;	 /* after memory that cannot be accessed */
	struct run_registers registers;
	struct run_sums *sums;
	bool stepping;
} run;

/* ---- stops ---- */

static const int by_number[REGISTERS] = {
	REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
	REG_R8,	 REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

static void get_registers(const ucontext_t *context, struct regs *regs)
{
	*regs = (struct regs){.arch = run.arch};
	regs->size[reg_by_number(run.arch, 0)->regset] =
		sizeof(struct user_regs_struct);
	for (unsigned int i = 0; i < REGISTERS; i++)
		reg_write_u64(regs, i,
			      (uint64_t)context->uc_mcontext.gregs[by_number[i]]);
	reg_write_u64(regs, run_machine.flags,
		      (uint64_t)context->uc_mcontext.gregs[REG_EFL]);
}

static bool is_as_before(const struct regs *regs)
{
	uint64_t value;

	for (unsigned int i = 0; i < REGISTERS; i++)
		if (reg_read_u64(regs, i, &value) < 0 ||
		    value != run.registers.general[i])
			return false;
	return reg_read_u64(regs, run_machine.flags, &value) == 0 &&
	       ((value ^ run.registers.flags) & run_machine.status) == 0;
}

static void check_stop(const ucontext_t *context, uint64_t offset)
{
	const struct native_ops *ops = run.arch->native;
	const struct native_state *state = native_find_state(run.code, offset);
	uint64_t sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
	/* A copy, as the stack pointer may be any: it need not be aligned. */
	uint64_t saved[NATIVE_SAVED_MAX];
	struct regs regs;

	get_registers(context, &regs);
	sp += state->lowered - ops->protected - 8U * state->saved;
	memcpy(saved, (const void *)(uintptr_t)sp, 8U * state->saved);
	run.sums->stops++;
	if (ops->restore(&regs, state, run.code->used, saved) == 0 &&
	    is_as_before(&regs))
		return;
	run.sums->wrong++;
	if (run.sums->wrong < 10)
		printf("# a stop at offset %u, state %u, is restored wrongly\n",
		       (unsigned int)offset, (unsigned int)(state - run.code->state));
}

static void on_signal(int signal, siginfo_t *info, void *data)
{
	ucontext_t *context = data;
	greg_t *gregs = context->uc_mcontext.gregs;
	const uint64_t offset =
		(uint64_t)gregs[REG_RIP] - (uint64_t)(uintptr_t)run.memory;

	(void)info;
	if (offset < run.code->len)
		check_stop(context, offset);
	if (signal == SIGTRAP) {
		const uint64_t after = offset - run.code->len;

		if (after < 2 * RUN_TRAP_LEN) /* it has come to its end */
			gregs[REG_EFL] &= ~TRAP_FLAG;
		return;
	}
	if (offset >= run.code->len)
		abort();
	gregs[REG_EFL] &= ~TRAP_FLAG;
	gregs[REG_RSP] = (greg_t)run_own_stack;
	gregs[REG_RIP] = (greg_t)(uintptr_t)run_fault;
}

/* ---- runs ---- */

static void *map(size_t len, int protection)
{
	void *memory = mmap(NULL, len, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

void run_init(const struct arch_ops *arch)
{
	const stack_t stack = {.ss_sp = map(SIGNAL_STACK_LEN, PROT_READ | PROT_WRITE),
			       .ss_size = SIGNAL_STACK_LEN};
	struct sigaction action = {.sa_sigaction = on_signal,
				   .sa_flags = SA_SIGINFO | SA_ONSTACK};

	run.arch = arch;
	run.memory = map(2 * NATIVE_MAX, PROT_READ | PROT_WRITE | PROT_EXEC);
	run.stack = map(2 * STACK_LEN, PROT_READ | PROT_WRITE);
	mprotect(run.stack, STACK_LEN, PROT_NONE);
	run.stack += STACK_LEN;
	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGTRAP, &action, NULL);
}

/* jmp *0(%rip), and the address. */
static void put_jump(uint8_t *at, const void *to)
{
	static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
	const uint64_t target = (uint64_t)(uintptr_t)to;

	memcpy(at, jump, sizeof(jump));
	memcpy(at + sizeof(jump), &target, sizeof(target));
}

void run_load(const struct native_code *code)
{
	run.code = code;
	memcpy(run.memory, code->bytes, code->len);
	put_jump(run.memory + code->len, run_not_false);
	put_jump(run.memory + code->len + RUN_TRAP_LEN, run_false);
}

uint64_t run_stack(unsigned int offset, bool room)
{
	const unsigned int from = room ? STACK_LEN / 2 : RED_ZONE;

	return (uint64_t)(uintptr_t)run.stack + from + offset;
}

/* What is above the red zone's end is the program's. */
static bool is_stack_whole(void)
{
	const uint8_t *from =
		(const uint8_t *)(uintptr_t)run.registers.general[run_machine.sp];

	for (from -= RED_ZONE; from < run.stack + STACK_LEN; from++)
		if (*from != PATTERN)
			return false;
	return true;
}

static bool is_unchanged(enum run_end end)
{
	if (!is_stack_whole())
		return false;
	return end == RUN_FAULT ||
	       (memcmp(run_after.general, run.registers.general,
		       REGISTERS * sizeof(*run_after.general)) == 0 &&
		((run_after.flags ^ run.registers.flags) & run_machine.status) == 0);
}

enum run_end run_filter(const struct run_registers *registers, bool steps,
			struct run_sums *sums)
{
	struct run_registers begin = *registers;
	enum run_end end;

	run.registers = *registers;
	run.sums = sums;
	memset(run.stack, PATTERN, STACK_LEN);
	begin.flags |= steps ? TRAP_FLAG : 0;
	end = (enum run_end)run_enter(run.memory, &begin);
	sums->changed += !is_unchanged(end);
	return end;
}
