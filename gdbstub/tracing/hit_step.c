/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/tracing/hit_step.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "arch/register_table.h"
#include "gdbstub/base/log.h"
#include "gdbstub/tracing/early.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/tracing/resume.h"
#include "gdbstub/tracing/siginfo.h"
#include "gdbstub/tracing/status.h"
#include "gdbstub/tracing/wait.h"

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
static bool is_stepped(const struct thread *thread)
{
	const struct arch_ops *arch = thread->inferior->arch;
	unsigned int regset = flags_regset(arch);
	struct regs regs;
	uint64_t flags;

	regs_init(&regs, arch);
	return regs_fetch(thread, &regs, regset) == 0 &&
	       regs_store(thread, &regs, regset) == 0 &&
	       regs_fetch(thread, &regs, regset) == 0 &&
	       reg_read_u64(&regs, arch->hit_step->flags_reg, &flags) == 0 &&
	       (flags & arch->hit_step->flag) != 0;
}

bool hit_step_may_be(const struct thread *thread)
{
	const struct inferior *inferior = thread->inferior;

	return inferior->arch->hit_step && inferior->has_perf_events &&
	       !thread->step_ended && is_stepped(thread) && !syscall_is_next(thread);
}

bool hit_step_may_swallow(const struct thread *thread)
{
	return thread->request != PTRACE_SINGLESTEP && hit_step_may_be(thread);
}

/* The end of a system call (ptrace_report_syscall_exit), or a signal handler's first
 * instruction (signal_setup_done): no step exception has come, so the state lasts. */
static bool is_pretended(const siginfo_t *info)
{
	return info->si_code == SIGTRAP ||
	       (info->si_code == SI_USER && info->si_pid == 0 && info->si_uid == 0);
}

bool hit_step_explains(const struct thread *thread, const siginfo_t *info)
{
	return thread->ends_hit_step && info->si_signo == SIGTRAP &&
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
	return ~(signal_bit(SIGTRAP) | signal_bit(SIGBUS) | signal_bit(SIGSEGV));
}

/* A return in the kernel's own code, where nobody has breakpoints. 0: there is none. */
static uint64_t find_return(struct inferior *inferior)
{
	const struct hit_step *rule = inferior->arch->hit_step;
	uint64_t start = inferior_auxv(inferior, AT_SYSINFO_EHDR);
	uint8_t code[VDSO_MAX];
	ssize_t n = start ? inferior_read(inferior, start, code, sizeof(code)) : 0;

	for (ssize_t at = 0; at + (ssize_t)rule->insn_len <= n; at += rule->insn_len)
		if (memcmp(code + at, rule->insn, rule->insn_len) == 0)
			return start + (uint64_t)at;
	return 0;
}

/* What of a thread is changed meanwhile. */
struct saved {
	uint64_t pc, link, flags;
	uint64_t mask;
	siginfo_t info;
	bool has_info;
};

static int set_place(const struct thread *thread, uint64_t pc, uint64_t link,
		     const uint64_t *flags)
{
	const struct arch_ops *arch = thread->inferior->arch;
	struct regs regs;

	regs_init(&regs, arch);
	if (regs_fetch(thread, &regs, flags_regset(arch)) < 0 ||
	    reg_write_u64(&regs, arch->pc_reg, pc) < 0 ||
	    reg_write_u64(&regs, arch->hit_step->link_reg, link) < 0 ||
	    (flags && reg_write_u64(&regs, arch->hit_step->flags_reg, *flags) < 0))
		return -ESRCH;
	return regs_store(thread, &regs, flags_regset(arch));
}

static int save(const struct thread *thread, struct saved *saved)
{
	const struct arch_ops *arch = thread->inferior->arch;
	struct regs regs;

	regs_init(&regs, arch);
	if (regs_fetch(thread, &regs, flags_regset(arch)) < 0 ||
	    reg_read_u64(&regs, arch->pc_reg, &saved->pc) < 0 ||
	    reg_read_u64(&regs, arch->hit_step->link_reg, &saved->link) < 0 ||
	    reg_read_u64(&regs, arch->hit_step->flags_reg, &saved->flags) < 0 ||
	    thread_get_mask(thread, &saved->mask) < 0)
		return -ESRCH;
	saved->has_info =
		thread->at_signal && thread_get_siginfo(thread, &saved->info) == 0;
	return 0;
}

static void put_back(const struct thread *thread, const struct saved *saved)
{
	set_place(thread, saved->pc, saved->link, &saved->flags);
	thread_set_mask(thread, saved->mask);
}

static bool is_nowhere(const struct thread *thread)
{
	uint64_t pc;

	return thread_get_pc(thread, &pc) == 0 && pc == NOWHERE;
}

/* An interrupt that came too late for the stop before. */
static bool is_stale_interrupt(int status)
{
	return WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP &&
	       WSTOPSIG(status) == SIGTRAP;
}

/* Its place and its mask are ours meanwhile: if a frozen cgroup keeps it from doing its
 * instruction, that has to be waited for. */
static bool wait_step(pid_t tid, int *status)
{
	int err;

	do
		err = wait_status(tid, status);
	while (err == -ETIMEDOUT);
	return err == 0;
}

static int step_to_nowhere(struct thread *thread)
{
	int status;

	do {
		if (ptrace(PTRACE_SINGLESTEP, thread->tid, NULL, NULL) < 0 ||
		    !wait_step(thread->tid, &status)) {
			thread->running = true; /* killed */
			return -EAGAIN;
		}
	} while (is_stale_interrupt(status));
	if (WIFSTOPPED(status) && is_nowhere(thread))
		return 0;
	thread->running = true;
	early_keep(thread->inferior->owner, thread->tid, status);
	return -EAGAIN;
}

int hit_step_end(struct thread *thread)
{
	uint64_t place = find_return(thread->inferior);
	struct saved saved;
	int r;

	if (place == 0 || save(thread, &saved) < 0) {
		log_warning("thread %d cannot be brought out of the kernel's step over "
			    "a hit: a step may not end",
			    thread->tid);
		return 0;
	}
	r = thread_set_mask(thread, signals_to_block());
	if (r == 0)
		r = set_place(thread, place, NOWHERE, NULL);
	if (r == 0)
		r = step_to_nowhere(thread);
	put_back(thread, &saved);
	if (r < 0)
		return r == -EAGAIN ? r : 0;
	if (saved.has_info)
		thread_set_siginfo(thread, &saved.info);
	/* As if there had been no step: pads/injected_call.c says why. */
	thread->at_signal = saved.has_info;
	thread->step_ended = true;
	return 0;
}
