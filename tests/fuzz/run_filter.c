/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/run_filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/register_table.h"
#include "tests/fuzz/run_state.h"

enum {
	STACK_LEN = 65536,
	SIGNAL_STACK_LEN = 1 << 20, /* struct regs has room for all */
	STACK_ALIGNMENT = 16,
	PATTERN = 0xa5,
};

struct run_state run_state;

/* ---- stops ---- */

static bool is_as_before(const struct regs *regs)
{
	const struct run_registers *before = &run_state.registers;
	uint64_t value;

	for (unsigned int i = 0; i < run_machine.registers; i++)
		if (reg_read_u64(regs, i, &value) < 0 || value != before->general[i])
			return false;
	return reg_read_u64(regs, run_machine.sp, &value) == 0 &&
	       value == before->general[run_machine.sp] &&
	       reg_read_u64(regs, run_machine.flags, &value) == 0 &&
	       ((value ^ before->flags) & run_machine.status) == 0;
}

void run_check_stop(struct regs *regs, uint64_t offset)
{
	const struct native_ops *ops = run_state.arch->native;
	const struct native_state *state = native_find_state(run_state.code, offset);
	struct run_sums *sums = run_state.sums;
	/* A copy, as the stack pointer may be any: it need not be aligned. */
	uint64_t saved[NATIVE_SAVED_MAX], sp = 0;

	reg_read_u64(regs, run_machine.sp, &sp);
	sp += state->lowered - ops->protected - 8U * state->saved;
	memcpy(saved, (const void *)(uintptr_t)sp, 8U * state->saved);
	sums->stops++;
	if (ops->restore(regs, state, run_state.code->used, saved) == 0 &&
	    is_as_before(regs))
		return;
	sums->wrong++;
	if (sums->wrong < 10)
		printf("# a stop at offset %u, state %u, is restored wrongly\n",
		       (unsigned int)offset,
		       (unsigned int)(state - run_state.code->state));
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
	struct sigaction action = {.sa_sigaction = run_on_signal,
				   .sa_flags = SA_SIGINFO | SA_ONSTACK};

	run_state.arch = arch;
	run_state.memory = map(2 * NATIVE_MAX, PROT_READ | PROT_WRITE | PROT_EXEC);
	run_state.stack = map(2 * STACK_LEN, PROT_READ | PROT_WRITE);
	mprotect(run_state.stack, STACK_LEN, PROT_NONE);
	run_state.stack += STACK_LEN;
	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGTRAP, &action, NULL);
}

void run_load(const struct native_code *code)
{
	run_state.code = code;
	run_put_code(code);
}

uint64_t run_stack(unsigned int offset, bool room)
{
	const unsigned int from =
		room ? STACK_LEN / 2 : run_state.arch->native->protected;

	return (uint64_t)(uintptr_t)run_state.stack + from +
	       (run_machine.aligns_stack ? offset & ~(STACK_ALIGNMENT - 1U) : offset);
}

/* What is above the red zone's end is the program's. */
static bool is_stack_whole(void)
{
	const uint64_t sp = run_state.registers.general[run_machine.sp];
	const uint8_t *from = (const uint8_t *)(uintptr_t)sp;

	for (from -= run_state.arch->native->protected;
	     from < run_state.stack + STACK_LEN; from++)
		if (*from != PATTERN)
			return false;
	return true;
}

static bool is_unchanged(enum run_end end)
{
	const struct run_registers *before = &run_state.registers,
				   *after = &run_state.after;

	if (!is_stack_whole())
		return false;
	return end == RUN_FAULT ||
	       (memcmp(after->general, before->general, sizeof(after->general)) == 0 &&
		((after->flags ^ before->flags) & run_machine.status) == 0);
}

enum run_end run_filter(const struct run_registers *registers, bool steps,
			struct run_sums *sums)
{
	enum run_end end;

	run_state.registers = *registers;
	run_state.after = *registers;
	run_state.sums = sums;
	memset(run_state.stack, PATTERN, STACK_LEN);
	end = run_code(steps);
	sums->changed += !is_unchanged(end);
	return end;
}
