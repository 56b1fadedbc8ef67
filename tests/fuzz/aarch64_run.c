/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread cannot step itself here: traps are put at its instructions instead, one in
 * each run. */
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
	INSN_LEN = 4,
	REGISTERS = 31,
};

static const uint32_t trap_insn = 0xd4200000;

/*
 * run_enter(): traps, and the handler has it begin with the registers of the run. The
 * handler of a trap at the code's end, or of a fault, leads to run_leave, which returns
 * how the run has ended.
 */
extern int run_enter(void);
extern const char run_begin[], run_leave[];
struct run_registers run_after;
uint64_t run_own_stack;
__asm__(".text\n"
	".globl run_enter, run_begin, run_leave\n"
	"run_enter:\n"
	"	stp x29, x30, [sp, #-160]!\n"
	"	stp x19, x20, [sp, #16]\n"
	"	stp x21, x22, [sp, #32]\n"
	"	stp x23, x24, [sp, #48]\n"
	"	stp x25, x26, [sp, #64]\n"
	"	stp x27, x28, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n"
	"	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n"
	"	stp d14, d15, [sp, #144]\n"
	"	adrp x2, run_own_stack\n"
	"	mov x3, sp\n"
	"	str x3, [x2, :lo12:run_own_stack]\n"
	"run_begin:\n"
	"	brk #0\n"
	"run_leave:\n"
	"	ldp x19, x20, [sp, #16]\n"
	"	ldp x21, x22, [sp, #32]\n"
	"	ldp x23, x24, [sp, #48]\n"
	"	ldp x25, x26, [sp, #64]\n"
	"	ldp x27, x28, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n"
	"	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n"
	"	ldp d14, d15, [sp, #144]\n"
	"	ldp x29, x30, [sp], #160\n"
	"	ret\n");

const struct run_machine run_machine = {
	.registers = REGISTERS,
	.sp = 31,
	.pc = 32,
	.flags = 33,
	.status = UINT64_C(0xf) << 28,
};

static struct {
	const struct arch_ops *arch;
	const struct native_code *code;
	uint8_t *memory; /* the code, where it is executed */
	uint8_t *stack;	 /* after memory that cannot be accessed */
	struct run_registers registers;
	struct run_sums *sums;
	unsigned int turn; /* so many runs had a trap among their instructions */
	unsigned int
		trap; /* where a trap is instead of an instruction; or .code->len */
} run;

/* ---- stops ---- */

static void get_registers(const ucontext_t *context, struct regs *regs)
{
	*regs = (struct regs){.arch = run.arch};
	regs->size[reg_by_number(run.arch, 0)->regset] =
		sizeof(struct user_regs_struct);
	for (unsigned int i = 0; i < REGISTERS; i++)
		reg_write_u64(regs, i, context->uc_mcontext.regs[i]);
	reg_write_u64(regs, run_machine.sp, context->uc_mcontext.sp);
	reg_write_u64(regs, run_machine.flags, context->uc_mcontext.pstate);
}

static bool is_as_before(const struct regs *regs)
{
	uint64_t value;

	for (unsigned int i = 0; i <= REGISTERS; i++)
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
	uint64_t sp = context->uc_mcontext.sp;
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

static void put_insn(unsigned int offset, const void *insn)
{
	memcpy(run.memory + offset, insn, INSN_LEN);
	__builtin___clear_cache((char *)run.memory + offset,
				(char *)run.memory + offset + INSN_LEN);
}

static void begin(ucontext_t *context)
{
	mcontext_t *machine = &context->uc_mcontext;

	memcpy(machine->regs, run.registers.general, sizeof(machine->regs));
	machine->sp = run.registers.general[run_machine.sp];
	machine->pstate = (machine->pstate & ~run_machine.status) | run.registers.flags;
	machine->pc = (uint64_t)(uintptr_t)run.memory;
}

static void end(ucontext_t *context, enum run_end how)
{
	mcontext_t *machine = &context->uc_mcontext;

	memcpy(run_after.general, machine->regs, sizeof(machine->regs));
	run_after.general[run_machine.sp] = machine->sp;
	run_after.flags = machine->pstate & run_machine.status;
	machine->regs[0] = how;
	machine->sp = run_own_stack;
	machine->pc = (uint64_t)(uintptr_t)run_leave;
}

static void on_signal(int signal, siginfo_t *info, void *data)
{
	ucontext_t *context = data;
	const uint64_t pc = context->uc_mcontext.pc;
	const uint64_t offset = pc - (uint64_t)(uintptr_t)run.memory;

	(void)info;
	if (offset < run.code->len)
		check_stop(context, offset);
	if (signal == SIGTRAP && offset == run.trap && offset < run.code->len)
		put_insn(run.trap, run.code->bytes + run.trap);
	else if (pc == (uint64_t)(uintptr_t)run_begin)
		begin(context);
	else if (offset == run.code->len)
		end(context, RUN_NOT_FALSE);
	else if (offset == run.code->len + RUN_TRAP_LEN)
		end(context, RUN_FALSE);
	else if (offset < run.code->len)
		end(context, RUN_FAULT);
	else
		abort();
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

void run_load(const struct native_code *code)
{
	run.code = code;
	run.trap = code->len;
	memcpy(run.memory, code->bytes, code->len);
	__builtin___clear_cache((char *)run.memory, (char *)run.memory + code->len);
	put_insn(code->len, &trap_insn);
	put_insn(code->len + RUN_TRAP_LEN, &trap_insn);
}

uint64_t run_stack(unsigned int offset, bool room)
{
	const unsigned int from = room ? STACK_LEN / 2 : RED_ZONE;

	return (uint64_t)(uintptr_t)run.stack + from + (offset & ~15U);
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

static bool is_unchanged(enum run_end how)
{
	if (!is_stack_whole())
		return false;
	return how == RUN_FAULT ||
	       (memcmp(run_after.general, run.registers.general,
		       sizeof(run_after.general)) == 0 &&
		((run_after.flags ^ run.registers.flags) & run_machine.status) == 0);
}

enum run_end run_filter(const struct run_registers *registers, bool steps,
			struct run_sums *sums)
{
	enum run_end how;

	run.registers = *registers;
	run.sums = sums;
	memset(run.stack, PATTERN, STACK_LEN);
	if (steps) { /* any of its instructions, another one each time */
		run.trap = (run.turn++ * 29 % (run.code->len / INSN_LEN)) * INSN_LEN;
		put_insn(run.trap, &trap_insn);
	}
	how = (enum run_end)run_enter();
	if (steps)
		put_insn(run.trap, run.code->bytes + run.trap);
	run.trap = run.code->len;
	sums->changed += !is_unchanged(how);
	return how;
}
