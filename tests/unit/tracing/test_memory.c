/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/proc.h"
#include "tests/unit/launched.h"

static uint64_t inferior_stack(struct inferior *inferior)
{
	return auxv(inferior, AT_RANDOM);
}

Test(memory, reads_what_is_there)
{
	struct fixture f;
	char buffer[16];
	uint64_t stack;

	launch(&f, "exit", NULL);
	stack = inferior_stack(f.inferior);
	cr_assert_eq(inferior_write(f.inferior, stack, "0123456789", 10), 0);
	cr_assert_eq(inferior_read(f.inferior, stack, buffer, 10), 10);
	cr_assert_arr_eq(buffer, "0123456789", 10);
	cr_assert_eq(inferior_read(f.inferior, 0, buffer, 4), -EFAULT);
	cr_assert_eq(inferior_read(f.inferior, UINT64_MAX - 3, buffer, 4), -EFAULT);
	cr_assert_eq(inferior_read(f.inferior, stack, buffer, 0), 0);
	kill_all(&f);
}

/* Killed while it is stopped, before anybody has waited for that. */
Test(memory, of_a_zombie_nothing_is_read)
{
	struct fixture f;
	uint64_t stack;
	char byte;

	launch(&f, "exit", NULL);
	stack = inferior_stack(f.inferior);
	cr_assert_eq(kill(f.inferior->pid, SIGKILL), 0);
	while (!thread_is_zombie(f.leader))
		ptrace(PTRACE_CONT, f.inferior->pid, NULL,
		       NULL); /* it may tell first */
	alarm(20);
	cr_assert_eq(inferior_read(f.inferior, stack, &byte, 1), -EFAULT);
	cr_assert_eq(inferior_write(f.inferior, stack, &byte, 1), -EFAULT);
	alarm(0);
	kill_all(&f);
}

/* [stack] ends where nothing is mapped. */
Test(memory, reads_up_to_the_hole)
{
	struct buffer maps _cleanup_buffer_ = {0};
	static char data[8192];
	unsigned long start, end;
	struct fixture f;
	const char *line;

	launch(&f, "exit", NULL);
	cr_assert_eq(inferior_proc_file(f.inferior, "maps", &maps), 0);
	line = strstr(maps.data, "[stack]");
	while (line > maps.data && line[-1] != '\n')
		line--;
	cr_assert_eq(sscanf(line, "%lx-%lx", &start, &end), 2);
	cr_assert_eq(inferior_read(f.inferior, end - 5000, data, 8192), 5000);
	cr_assert_eq(inferior_read(f.inferior, end, data, 1), -EFAULT);
	cr_assert_eq(inferior_write(f.inferior, end - 2, "abcd", 4), -EFAULT);
	kill_all(&f);
}

Test(memory, writes_read_only_text)
{
	uint8_t before[64], after[64], junk[4] = {1, 2, 3, 4};
	struct fixture f;
	uint64_t pc;

	launch(&f, "exit", NULL);
	pc = pc_of(f.leader);
	cr_assert_eq(inferior_read(f.inferior, pc, before, 64), 64);
	cr_assert_eq(inferior_write(f.inferior, pc + 8, junk, 4), 0);
	cr_assert_eq(inferior_read(f.inferior, pc, after, 64), 64);
	cr_assert_arr_eq(after, before, 8);
	cr_assert_arr_eq(after + 8, junk, 4);
	cr_assert_arr_eq(after + 12, before + 12, 52);
	kill_all(&f);
}
