/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/inferior/syscalls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "gdbstub/inferior/inferior.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/registers.h"

/* ---- the set ---- */

void syscalls_clear(struct syscalls *set)
{
	free(set->numbers);
	*set = (struct syscalls){0};
}

int syscalls_set(struct syscalls *set, const uint64_t *numbers, size_t count)
{
	uint64_t *copy = count > 0 ? calloc(count, sizeof(*copy)) : NULL;

	if (count > 0 && !copy)
		return -ENOMEM;
	if (copy)
		memcpy(copy, numbers, count * sizeof(*copy));
	syscalls_clear(set);
	set->numbers = copy;
	set->count = count;
	return 0;
}

void syscalls_set_all(struct syscalls *set)
{
	syscalls_clear(set);
	set->all = true;
}

int syscalls_copy(struct syscalls *to, const struct syscalls *from)
{
	if (syscalls_set(to, from->numbers, from->count) < 0)
		return -ENOMEM;
	to->all = from->all;
	return 0;
}

bool syscalls_any(const struct syscalls *set)
{
	return set->all || set->count > 0;
}

bool syscalls_wanted(const struct syscalls *set, int number)
{
	if (number < 0 || set->all)
		return number >= 0;
	for (size_t i = 0; i < set->count; i++)
		if (set->numbers[i] == (uint64_t)number)
			return true;
	return false;
}

/* ---- stops ---- */

bool syscall_is_at(struct inferior *inferior, uint64_t addr)
{
	const struct arch_ops *arch = inferior->arch;
	uint8_t insn[8];

	return arch->syscall_len <= sizeof(insn) &&
	       inferior_read(inferior, addr, insn, arch->syscall_len) ==
		       (ssize_t)arch->syscall_len &&
	       memcmp(insn, arch->syscall_insn, arch->syscall_len) == 0;
}

bool syscall_is_next(const struct thread *thread)
{
	uint64_t pc;

	return thread_get_pc(thread, &pc) == 0 && syscall_is_at(thread->inferior, pc);
}

/*
 * Results of a call that a signal or an interrupt has cut off, and that begins anew
 * unless a signal handler runs first. They never reach the program
 * (include/linux/errno.h).
 */
static bool begins_anew(int64_t result)
{
	enum {
		RESTARTSYS = -512,
		RESTARTNOINTR = -513,
		RESTARTNOHAND = -514,
		RESTART_RESTARTBLOCK = -516,
	};

	return result == RESTARTSYS || result == RESTARTNOINTR ||
	       result == RESTARTNOHAND || result == RESTART_RESTARTBLOCK;
}

static enum syscall_stop decode_entry(struct thread *thread, struct event *event,
				      int number)
{
	bool again = thread->call_cut_off &&
		     (number == thread->syscall || number == SYS_restart_syscall);

	thread->call_cut_off = false;
	thread->in_syscall = true;
	if (again)
		return SYSCALL_STOP_AGAIN;
	thread->syscall = number;
	event->syscall = number;
	event->entry = true;
	return SYSCALL_STOP_REPORT;
}

static enum syscall_stop decode_return(struct thread *thread, struct event *event,
				       int number, bool anew)
{
	if (thread->syscall == SYSCALL_NONE)
		thread->syscall = number;
	thread->call_cut_off = thread->interrupting && anew;
	if (thread->call_cut_off)
		return SYSCALL_STOP_INTERRUPTED;
	event->syscall = thread->syscall;
	thread->syscall = SYSCALL_NONE;
	return SYSCALL_STOP_REPORT;
}

enum syscall_stop syscall_decode(struct thread *thread, struct event *event)
{
	struct __ptrace_syscall_info info = {.op = PTRACE_SYSCALL_INFO_NONE};
	int number = SYSCALL_NONE;
	bool entry;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, thread->tid, (void *)sizeof(info), &info) <
		    0 &&
	    errno == ESRCH)
		return SYSCALL_STOP_KILLED;
	if (thread->inferior->arch->syscall_number(thread->tid, &number) == -ESRCH)
		return SYSCALL_STOP_KILLED;
	/* Kernels that do not tell: entries and returns take turns. */
	entry = info.op == PTRACE_SYSCALL_INFO_NONE
			? thread->syscall == SYSCALL_NONE || thread->call_cut_off
			: info.op == PTRACE_SYSCALL_INFO_ENTRY;
	if (entry)
		return decode_entry(thread, event, number);
	return decode_return(thread, event, number,
			     info.op == PTRACE_SYSCALL_INFO_EXIT &&
				     begins_anew(info.exit.rval));
}
