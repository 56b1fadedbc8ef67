/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread cannot step itself here: traps are put at its instructions instead, one in
 * each run_state. */
#include "tests/fuzz/run_filter.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/user.h>
#include <ucontext.h>

#include "arch/register_table.h"
#include "tests/fuzz/run_state.h"

enum { INSN_LEN = 4, REGISTERS = 31 };

static const uint32_t trap_insn = 0xd4200000;

/*
 * run_enter(): traps, and the handler has it begin with the registers of the run_state.
 * The handler of a trap at the code's end, or of a fault, leads to run_leave, which
 * returns how the run has ended.
 */
extern int run_enter(void);
extern const char run_begin[], run_leave[];
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

static int read_other(unsigned int number, uint64_t *value)
{
	(void)number;
	(void)value;
	return -ENODATA;
}

const struct run_machine run_machine = {
	.registers = REGISTERS,
	.sp = 31,
	.pc = 32,
	.flags = 33,
	.aligns_stack = true,
	.status = UINT64_C(0xf) << 28,
	.read_other = read_other,
};

static struct {
	unsigned int turn; /* so many runs had a trap among their instructions */
	unsigned int at; /* where one is instead of an instruction; or the code's end */
} trap;

/* ---- stops ---- */

static void get_registers(const ucontext_t *context, struct regs *regs)
{
	*regs = (struct regs){.arch = run_state.arch};
	regs->size[reg_by_number(run_state.arch, 0)->regset] =
		sizeof(struct user_regs_struct);
	for (unsigned int i = 0; i < REGISTERS; i++)
		reg_write_u64(regs, i, context->uc_mcontext.regs[i]);
	reg_write_u64(regs, run_machine.sp, context->uc_mcontext.sp);
	reg_write_u64(regs, run_machine.flags, context->uc_mcontext.pstate);
}

static void put_insn(unsigned int offset, const void *insn)
{
	memcpy(run_state.memory + offset, insn, INSN_LEN);
	__builtin___clear_cache((char *)run_state.memory + offset,
				(char *)run_state.memory + offset + INSN_LEN);
}

static void begin(ucontext_t *context)
{
	mcontext_t *machine = &context->uc_mcontext;

	memcpy(machine->regs, run_state.registers.general, sizeof(machine->regs));
	machine->sp = run_state.registers.general[run_machine.sp];
	machine->pstate =
		(machine->pstate & ~run_machine.status) | run_state.registers.flags;
	machine->pc = (uint64_t)(uintptr_t)run_state.memory;
}

static void end(ucontext_t *context, enum run_end how)
{
	mcontext_t *machine = &context->uc_mcontext;

	memcpy(run_state.after.general, machine->regs, sizeof(machine->regs));
	run_state.after.general[run_machine.sp] = machine->sp;
	run_state.after.flags = machine->pstate & run_machine.status;
	machine->regs[0] = how;
	machine->sp = run_own_stack;
	machine->pc = (uint64_t)(uintptr_t)run_leave;
}

void run_on_signal(int signal, siginfo_t *info, void *data)
{
	ucontext_t *context = data;
	const unsigned int len = run_state.code->len;
	const uint64_t pc = context->uc_mcontext.pc;
	const uint64_t offset = pc - (uint64_t)(uintptr_t)run_state.memory;
	struct regs regs;

	(void)info;
	if (offset < len) {
		get_registers(context, &regs);
		run_check_stop(&regs, offset);
	}
	if (signal == SIGTRAP && offset == trap.at && offset < len)
		put_insn(trap.at, run_state.code->bytes + trap.at);
	else if (pc == (uint64_t)(uintptr_t)run_begin)
		begin(context);
	else if (offset == len)
		end(context, RUN_NOT_FALSE);
	else if (offset == len + RUN_TRAP_LEN)
		end(context, RUN_FALSE);
	else if (offset < len)
		end(context, RUN_FAULT);
	else
		abort();
}

/* ---- runs ---- */

void run_put_code(const struct native_code *code)
{
	trap.at = code->len;
	memcpy(run_state.memory, code->bytes, code->len);
	__builtin___clear_cache((char *)run_state.memory,
				(char *)run_state.memory + code->len);
	put_insn(code->len, &trap_insn);
	put_insn(code->len + RUN_TRAP_LEN, &trap_insn);
}

/* With a trap at any of its instructions, another one each time. */
enum run_end run_code(bool steps)
{
	const struct native_code *code = run_state.code;
	enum run_end how;

	if (steps) {
		trap.at = (trap.turn++ * 29 % (code->len / INSN_LEN)) * INSN_LEN;
		put_insn(trap.at, &trap_insn);
	}
	how = (enum run_end)run_enter();
	if (steps)
		put_insn(trap.at, code->bytes + trap.at);
	trap.at = code->len;
	return how;
}
