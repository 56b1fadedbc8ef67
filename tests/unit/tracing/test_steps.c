/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <elf.h>
#include <signal.h>

#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/tracing/resume.h"
#include "tests/unit/launched.h"

Test(step, moves_from_the_exec_stop)
{
	struct fixture f;
	uint64_t entry;
	struct event event;
	uint8_t insn[4];

	launch(&f, "exit", NULL);
	entry = pc_of(f.leader);
	cr_assert_eq(inferior_read(f.inferior, entry, insn, 4), 4);
	cr_assert_eq(thread_step(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGTRAP);
	cr_assert_eq(event.siginfo.si_code, TRAP_TRACE);
	cr_assert_gt(pc_of(f.leader), entry);
	cr_assert_leq(pc_of(f.leader), entry + 4, "one instruction (mov %%rsp,%%rdi)");
	kill_all(&f);
}

Test(step, moves_after_a_changed_pc)
{
	struct fixture f;
	struct event event;
	uint64_t entry;

	launch(&f, "exit", NULL);
	entry = auxv(f.inferior, AT_ENTRY);
	cr_assert_eq(thread_set_pc(f.leader, entry), 0);
	cr_assert_eq(pc_of(f.leader), entry);
	cr_assert_eq(thread_step(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_gt(pc_of(f.leader), entry);
	cr_assert_leq(pc_of(f.leader), entry + 15);
	kill_all(&f);
}

/* A thread that was continued into clone or fork and is stepped from there moves. */
static void step_from(const char *action, const char *argument, enum event_kind kind)
{
	struct fixture f;
	struct event event;
	uint64_t pc;

	launch(&f, action, argument);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, kind, &event);
	pc = pc_of(f.leader);
	cr_assert_eq(thread_step(f.leader, 0), 0);
	expect_event(&f, EVENT_SYSCALL, &event);
	cr_assert_not(event.entry);
	cr_assert_not(f.leader->stepping, "the step has not ended");
	cr_assert_eq(thread_step(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGTRAP);
	cr_assert_neq(pc_of(f.leader), pc);
	kill_all(&f);
}

Test(step, moves_from_a_clone_stop)
{
	step_from("threads", "1", EVENT_CLONE);
}

Test(step, moves_from_a_fork_stop)
{
	step_from("fork", NULL, EVENT_FORK);
}
