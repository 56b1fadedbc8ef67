/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>

#include "gdbstub/tracing/resume.h"
#include "tests/unit/launched.h"

/* Returns the call's number. */
static int expect_call(struct fixture *f, bool entry)
{
	struct event event;

	expect_event(f, EVENT_SYSCALL, &event);
	cr_assert_eq(event.entry, entry);
	return event.syscall;
}

Test(syscalls, entry_and_return_are_told)
{
	struct fixture f;
	int number;

	launch(&f, "exit", NULL);
	syscalls_set_all(&f.inferior->syscalls);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	number = expect_call(&f, true);
	cr_assert_geq(number, 0);
	cr_assert(f.leader->in_syscall);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	cr_assert_eq(expect_call(&f, false), number);
	cr_assert_not(f.leader->in_syscall);
	kill_all(&f);
}

Test(syscalls, none_are_told_of_an_empty_set)
{
	struct fixture f;

	launch(&f, "exit", NULL);
	syscalls_set_all(&f.inferior->syscalls);
	syscalls_clear(&f.inferior->syscalls);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_exit(&f, 0);
}

Test(syscalls, sets)
{
	static const uint64_t numbers[] = {3, 0};
	struct syscalls set = {0}, copy = {0};

	cr_assert_not(syscalls_any(&set));
	cr_assert_not(syscalls_wanted(&set, 3));
	cr_assert_eq(syscalls_set(&set, numbers, 2), 0);
	cr_assert_eq(syscalls_copy(&copy, &set), 0);
	syscalls_clear(&set);
	cr_assert_not(syscalls_any(&set));
	cr_assert(syscalls_any(&copy));
	cr_assert(syscalls_wanted(&copy, 0));
	cr_assert(syscalls_wanted(&copy, 3));
	cr_assert_not(syscalls_wanted(&copy, 1));
	cr_assert_not(syscalls_wanted(&copy, SYSCALL_NONE));
	syscalls_set_all(&copy);
	cr_assert(syscalls_wanted(&copy, 1));
	cr_assert_not(syscalls_wanted(&copy, SYSCALL_NONE));
	syscalls_clear(&copy);
}
