/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/inferior/kernel_step.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "arch/register_table.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/task_registers.h"

/* ---- is it in one? ---- */

static unsigned int flags_regset(const struct arch_ops *arch)
{
	return reg_by_number(arch, arch->hit_step->flags_reg)->regset;
}

/*
 * Writing the registers makes the flag what the kernel knows: whether it single-steps
 * the thread, for itself or for us (arch/arm64/kernel/debug-monitors.c,
 * user_regs_reset_single_step). Before, it may lag behind.
 */
bool kernel_step_is_on(pid_t tid, const struct arch_ops *arch)
{
	const unsigned int regset = flags_regset(arch);
	struct regs regs;
	uint64_t flags;

	regs_init(&regs, arch);
	return task_regs_fetch(tid, &regs, regset) == 0 &&
	       task_regs_store(tid, &regs, regset) == 0 &&
	       task_regs_fetch(tid, &regs, regset) == 0 &&
	       reg_read_u64(&regs, arch->hit_step->flags_reg, &flags) == 0 &&
	       (flags & arch->hit_step->flag) != 0;
}

/* The end of a system call (ptrace_report_syscall_exit), or a signal handler's first
 * instruction (signal_setup_done): no step exception has come, so the state lasts. */
static bool is_pretended(const siginfo_t *info)
{
	return info->si_code == SIGTRAP ||
	       (info->si_code == SI_USER && info->si_pid == 0 && info->si_uid == 0);
}

bool kernel_step_is_end(const siginfo_t *info)
{
	return info->si_signo == SIGTRAP &&
	       (info->si_code == TRAP_TRACE || is_pretended(info));
}

/* ---- out of it ---- */

enum {
	VDSO_MAX = 16384, /* so much of it is looked through */
	/* Where no instruction can be: it is not aligned. */
	NOWHERE = 1,
};

/* All but the signals by which the step may end. */
static uint64_t signals_to_block(void)
{
	const int ends[] = {SIGTRAP, SIGBUS, SIGSEGV};
	uint64_t mask = UINT64_MAX;

	for (unsigned int i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		mask &= ~(UINT64_C(1) << (ends[i] - 1));
	return mask;
}

/* A return in the kernel's own code, where nobody has breakpoints. 0: there is none. */
static uint64_t find_return(pid_t tid, const struct hit_step *rule)
{
	const uint64_t start = task_auxv(tid, AT_SYSINFO_EHDR);
	uint8_t code[VDSO_MAX];
	struct iovec to = {code, sizeof(code)};
	struct iovec from = {(void *)(uintptr_t)start, sizeof(code)};
	ssize_t n = start ? process_vm_readv(tid, &to, 1, &from, 1, 0) : 0;

	for (ssize_t at = 0; at + (ssize_t)rule->insn_len <= n; at += rule->insn_len)
		if (memcmp(code + at, rule->insn, rule->insn_len) == 0)
			return start + (uint64_t)at;
	return 0;
}

static int get_mask(pid_t tid, uint64_t *mask)
{
	return ptrace(PTRACE_GETSIGMASK, tid, (void *)sizeof(*mask), mask) < 0 ? -ESRCH
									       : 0;
}

static int set_mask(pid_t tid, uint64_t mask)
{
	return ptrace(PTRACE_SETSIGMASK, tid, (void *)sizeof(mask), &mask) < 0 ? -ESRCH
									       : 0;
}

/* What of a thread is changed meanwhile. */
struct saved {
	uint64_t pc, link, flags;
	uint64_t mask;
	siginfo_t info;
	bool has_info;
};

static int set_place(pid_t tid, const struct arch_ops *arch, uint64_t pc, uint64_t link,
		     const uint64_t *flags)
{
	struct regs regs;

	regs_init(&regs, arch);
	if (task_regs_fetch(tid, &regs, flags_regset(arch)) < 0 ||
	    reg_write_u64(&regs, arch->pc_reg, pc) < 0 ||
	    reg_write_u64(&regs, arch->hit_step->link_reg, link) < 0 ||
	    (flags && reg_write_u64(&regs, arch->hit_step->flags_reg, *flags) < 0))
		return -ESRCH;
	return task_regs_store(tid, &regs, flags_regset(arch));
}

static int save(pid_t tid, const struct arch_ops *arch, bool at_signal,
		struct saved *saved)
{
	struct regs regs;

	regs_init(&regs, arch);
	if (task_regs_fetch(tid, &regs, flags_regset(arch)) < 0 ||
	    reg_read_u64(&regs, arch->pc_reg, &saved->pc) < 0 ||
	    reg_read_u64(&regs, arch->hit_step->link_reg, &saved->link) < 0 ||
	    reg_read_u64(&regs, arch->hit_step->flags_reg, &saved->flags) < 0)
		return -ESRCH;
	saved->has_info =
		at_signal && ptrace(PTRACE_GETSIGINFO, tid, NULL, &saved->info) == 0;
	return get_mask(tid, &saved->mask);
}

static void put_back(pid_t tid, const struct arch_ops *arch, const struct saved *saved)
{
	set_place(tid, arch, saved->pc, saved->link, &saved->flags);
	set_mask(tid, saved->mask);
}

static bool is_nowhere(pid_t tid, const struct arch_ops *arch)
{
	struct regs regs;
	uint64_t pc;

	regs_init(&regs, arch);
	return task_regs_fetch(tid, &regs, flags_regset(arch)) == 0 &&
	       reg_read_u64(&regs, arch->pc_reg, &pc) == 0 && pc == NOWHERE;
}

/* By an interrupt that came too late for the stop before, or by job control. */
static bool is_event_stop(int status)
{
	return WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP;
}

static int step(pid_t tid, int *status)
{
	pid_t ret;

	if (ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL) < 0)
		return -ESRCH;
	do
		ret = waitpid(tid, status, __WALL);
	while (ret < 0 && errno == EINTR);
	return ret < 0 ? -ESRCH : 0;
}

/* Its place and its mask are ours meanwhile: if a frozen cgroup keeps it from doing its
 * instruction, that has to be waited for. When it is nowhere, the signal of that has to
 * be taken, too: it is pending, if another stop has come first. */
static int step_to_nowhere(pid_t tid, const struct arch_ops *arch, int *status)
{
	int group_stop = 0, err;
	bool there;

	do {
		err = step(tid, status);
		if (err < 0)
			return err;
		there = WIFSTOPPED(*status) && is_nowhere(tid, arch);
		if (there && is_event_stop(*status) && WSTOPSIG(*status) != SIGTRAP)
			group_stop = *status;
	} while (is_event_stop(*status) && (there || WSTOPSIG(*status) == SIGTRAP));
	if (!there)
		return -EAGAIN;
	*status = group_stop;
	return 0;
}

int kernel_step_end(pid_t tid, const struct arch_ops *arch, bool at_signal, int *status)
{
	const uint64_t place = find_return(tid, arch->hit_step);
	struct saved saved;
	int err;

	if (place == 0)
		return -ENOTSUP;
	err = save(tid, arch, at_signal, &saved);
	if (err == 0)
		err = set_mask(tid, signals_to_block());
	if (err < 0)
		return err;
	err = set_place(tid, arch, place, NOWHERE, NULL);
	if (err == 0)
		err = step_to_nowhere(tid, arch, status);
	put_back(tid, arch, &saved);
	if (err == 0 && saved.has_info)
		ptrace(PTRACE_SETSIGINFO, tid, NULL, &saved.info);
	return err;
}
