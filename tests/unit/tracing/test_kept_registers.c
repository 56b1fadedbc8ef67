/* SPDX-License-Identifier: BSD-2-Clause */
/* The regset with the PC is fetched once while a thread is stopped. */
#include "gdbstub/inferior/registers.h"

#include <criterion/criterion.h>

#include "arch/register_table.h"
#include "tests/unit/child.h"

enum { X86_IF = 0x200 }; /* no tracer can clear it */

static struct tracee tracee;
static struct last_regset kept;

static void run(uint64_t arg)
{
	(void)arg;
}

static void start(void)
{
	cr_assert_null(arch_native()->init());
	tracee_start(&tracee, run, 0);
	kept = (struct last_regset){0};
	tracee.thread.last_regset = &kept;
}

static void end(void)
{
	tracee_end(&tracee);
}

TestSuite(kept_registers, .init = start, .fini = end);

static unsigned int pc_regset(void)
{
	return reg_by_number(arch_native(), arch_native()->pc_reg)->regset;
}

static uint64_t pc(void)
{
	uint64_t value;

	cr_assert_eq(thread_get_pc(&tracee.thread, &value), 0);
	return value;
}

/* As nobody does who knows the thread. */
static void move_pc(uint64_t to)
{
	struct regs regs;

	regs_init(&regs, arch_native());
	cr_assert_eq(task_regs_fetch(tracee.thread.tid, &regs, pc_regset()), 0);
	cr_assert_eq(reg_write_u64(&regs, arch_native()->pc_reg, to), 0);
	cr_assert_eq(task_regs_store(tracee.thread.tid, &regs, pc_regset()), 0);
}

Test(kept_registers, until_it_is_said_that_they_change)
{
	const uint64_t before = pc();

	move_pc(before + 16);
	cr_assert_eq(pc(), before);
	regs_outdate(&tracee.thread);
	cr_assert_eq(pc(), before + 16);
}

Test(kept_registers, not_while_it_runs)
{
	const uint64_t before = pc();

	move_pc(before + 16);
	tracee.thread.running = true;
	cr_assert_eq(pc(), before + 16);
}

Test(kept_registers, pc_that_was_set)
{
	const uint64_t before = pc();

	cr_assert_eq(thread_set_pc(&tracee.thread, before + 32), 0);
	cr_assert_eq(pc(), before + 32);
	regs_outdate(&tracee.thread);
	cr_assert_eq(pc(), before + 32);
}

Test(kept_registers, stored_ones_are_as_the_kernel_takes_them)
{
	const struct arch_ops *arch = arch_native();
	uint64_t flags;
	struct regs regs;

	if (!reg_by_name(arch, "eflags"))
		cr_skip_test("no register with bits that cannot be changed");
	regs_init(&regs, arch);
	cr_assert_eq(regs_fetch(&tracee.thread, &regs, pc_regset()), 0);
	cr_assert_eq(reg_read_named(&regs, "eflags", &flags), 0);
	cr_assert(flags & X86_IF);
	for (unsigned int i = 0; reg_by_number(arch, i); i++)
		if (reg_by_number(arch, i) == reg_by_name(arch, "eflags"))
			cr_assert_eq(reg_write_u64(&regs, i, flags & ~(uint64_t)X86_IF),
				     0);
	cr_assert_eq(regs_store(&tracee.thread, &regs, pc_regset()), 0);
	cr_assert_eq(regs_fetch(&tracee.thread, &regs, pc_regset()), 0);
	cr_assert_eq(reg_read_named(&regs, "eflags", &flags), 0);
	cr_assert(flags & X86_IF);
}
