/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/pads/injected_call.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/register_table.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/tracing/early.h"
#include "gdbstub/tracing/siginfo.h"
#include "gdbstub/tracing/status.h"

enum {
	VDSO_MAX = 16384, /* so much of it is looked through */
	BELOW_STACK = 1024,
};

/* ---- which thread ---- */

/* A filter may answer a call as it likes, or kill. Those that the server has itself, of
 * a container, let it map memory. */
static bool is_filtered(pid_t tid)
{
	const long filters = proc_status_number(tid, "Seccomp_filters");

	if (proc_status_number(tid, "Seccomp") == 0)
		return false;
	return filters < 0 ||
	       filters != proc_status_number(getpid(), "Seccomp_filters");
}

/* The step by which the call is made ends by a SIGTRAP that the kernel forces: one that
 * is ignored would no longer be. */
static const char *why_not(const struct thread *thread)
{
	if (is_filtered(thread->tid))
		return "the program's system calls are filtered (seccomp)";
	if (thread->running || thread->late)
		return "no thread is stopped";
	if (thread->in_syscall || thread->syscall != SYSCALL_NONE)
		return "all threads are in system calls";
	if (thread->at_group_stop || thread->group_stopped)
		return "job control has stopped the program";
	if (thread->group != thread->inferior->pid)
		return "no thread of the process is stopped";
	if (proc_status_bits(thread->tid, "SigIgn") & signal_bit(SIGTRAP))
		return "the program ignores SIGTRAP";
	return NULL;
}

/* Rather one that is stopped for no signal: injection_end() says why. */
static const char *find_thread(struct inferior *inferior, struct thread **ret)
{
	const char *why = "it has no threads";
	struct thread *thread;

	*ret = NULL;
	FOREACH_THREAD (thread, inferior) {
		const char *why_not_this = why_not(thread);

		if (why_not_this && !*ret)
			why = why_not_this;
		if (why_not_this || (*ret && thread->at_signal))
			continue;
		*ret = thread;
		if (!thread->at_signal)
			break;
	}
	return *ret ? NULL : why;
}

/* In the kernel's own code, where nobody has breakpoints. 0: there is none. */
static uint64_t find_insn(struct inferior *inferior)
{
	const struct arch_ops *arch = inferior->arch;
	const uint64_t start = inferior_auxv(inferior, AT_SYSINFO_EHDR);
	uint8_t code[VDSO_MAX];
	const ssize_t n =
		start ? inferior_read(inferior, start, code, sizeof(code)) : 0;
	const uint8_t *found;

	if (n <= 0)
		return 0;
	found = memmem(code, (size_t)n, arch->syscall_insn, arch->syscall_len);
	return found ? start + (uint64_t)(found - code) : 0;
}

/* ---- before and after ---- */

/* All but those by which the step may end. */
static uint64_t signals_to_block(void)
{
	return ~(signal_bit(SIGTRAP) | signal_bit(SIGSEGV) | signal_bit(SIGBUS));
}

static bool save(struct injection *injection)
{
	const struct thread *thread = injection->thread;
	const struct arch_ops *arch = thread->inferior->arch;

	injection->regset = reg_by_number(arch, arch->pc_reg)->regset;
	injection->aside.count = 0;
	regs_init(&injection->before, arch);
	injection->has_info =
		thread->at_signal && thread_get_siginfo(thread, &injection->info) == 0;
	return regs_fetch(thread, &injection->before, injection->regset) == 0 &&
	       thread_get_mask(thread, &injection->mask) == 0 &&
	       thread_set_mask(thread, signals_to_block()) == 0;
}

const char *injection_begin(struct inferior *inferior, struct injection *ret)
{
	const char *why = find_thread(inferior, &ret->thread);

	if (why)
		return why;
	ret->insn = find_insn(inferior);
	if (!ret->insn)
		return "the kernel's code in the program (vdso) has no system call";
	return save(ret) ? NULL : "the program is being killed";
}

uint64_t injection_scratch(const struct injection *injection)
{
	uint64_t sp = 0;

	reg_read_u64(&injection->before, injection->before.arch->sp_reg, &sp);
	return (sp - BELOW_STACK) & ~UINT64_C(15);
}

/* ---- the call ---- */

static int set_registers(const struct injection *injection, long number,
			 const uint64_t arguments[SYSCALL_ARGUMENTS])
{
	const struct arch_ops *arch = injection->before.arch;
	struct regs regs = injection->before;
	int err = reg_write_u64(&regs, arch->pc_reg, injection->insn);

	if (err == 0 && arch->syscall_restart_reg != REG_NONE)
		err = reg_write_u64(&regs, arch->syscall_restart_reg, UINT64_MAX);
	if (err == 0)
		err = reg_write_u64(&regs, arch->syscall_number_reg, (uint64_t)number);
	for (unsigned int i = 0; err == 0 && i < SYSCALL_ARGUMENTS; i++)
		err = reg_write_u64(&regs, arch->syscall_arguments[i], arguments[i]);
	return err < 0 ? err : regs_store(injection->thread, &regs, injection->regset);
}

/* The thread has gone, or is being killed: a wait will tell. */
static int64_t lose(struct thread *thread, int status)
{
	thread->running = true;
	if (status)
		early_keep(thread->inferior->owner, thread->tid, status);
	return -ESRCH;
}

static bool is_event_stop(int status)
{
	return WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP;
}

/* Is it the end of a step before (pad_stop.c), which has come instead of one? */
static bool is_due(struct thread *thread, int status)
{
	if (!thread->trap_due || !WIFSTOPPED(status) || status >> 16 != 0 ||
	    WSTOPSIG(status) != SIGTRAP)
		return false;
	thread->trap_due = false;
	return true;
}

/* Interrupts, and stops by job control, come before the step, or after it: then its
 * SIGTRAP is pending, and the next request brings that and makes no step. Signals that
 * are not blocked come before it. */
static bool is_before_end(struct injection *injection, int status)
{
	struct thread *thread = injection->thread;

	if (is_event_stop(status)) {
		thread->left_group_stop |= WSTOPSIG(status) != SIGTRAP;
		return true;
	}
	return is_due(thread, status) || (WIFSTOPPED(status) && status >> 16 == 0 &&
					  signals_put_aside(&injection->aside, thread));
}

static int64_t step(struct injection *injection)
{
	struct thread *thread = injection->thread;
	int status = 0, err;
	uint64_t pc;

	regs_outdate(thread);
	do {
		if (ptrace(PTRACE_SINGLESTEP, thread->tid, NULL, NULL) < 0)
			return lose(thread, 0);
		while ((err = wait_status(thread->tid, &status)) == -ETIMEDOUT)
			;
		if (err < 0)
			return lose(thread, 0);
	} while (is_before_end(injection, status));
	if (!WIFSTOPPED(status) || status >> 16 == PTRACE_EVENT_EXIT)
		return lose(thread, status);
	if (thread_get_pc(thread, &pc) < 0)
		return lose(thread, 0);
	return pc == injection->insn + injection->before.arch->syscall_len ? 0 : -EINTR;
}

int64_t injection_call(struct injection *injection, long number,
		       const uint64_t arguments[SYSCALL_ARGUMENTS])
{
	const struct arch_ops *arch = injection->before.arch;
	struct regs regs;
	uint64_t result = 0;
	int64_t err = injection->thread->running
			      ? -ESRCH
			      : set_registers(injection, number, arguments);

	if (err == 0)
		err = step(injection);
	if (err < 0)
		return err;
	regs_init(&regs, arch);
	err = regs_fetch(injection->thread, &regs, injection->regset);
	if (err == 0)
		err = reg_read_u64(&regs, arch->syscall_result_reg, &result);
	return err < 0 ? err : (int64_t)result;
}

/* ---- the end ---- */

/* The stop is one for the step's signal, which the thread would take if its tracer were
 * killed now. So it goes on to the stop of an interrupt, before it executes anything.
 */
static void leave_signal(struct thread *thread)
{
	int status = 0, err;

	if (ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) < 0)
		return;
	regs_outdate(thread);
	if (ptrace(PTRACE_CONT, thread->tid, NULL, NULL) < 0) {
		lose(thread, 0);
		return;
	}
	while ((err = wait_status(thread->tid, &status)) == -ETIMEDOUT)
		;
	if (err < 0)
		lose(thread, 0);
	else if (!is_event_stop(status))
		lose(thread, status);
	else
		thread->left_group_stop |= WSTOPSIG(status) != SIGTRAP;
}

void injection_end(const struct injection *injection)
{
	struct thread *thread = injection->thread;

	if (thread->running) /* killed */
		return;
	regs_store(thread, &injection->before, injection->regset);
	thread_set_mask(thread, injection->mask);
	thread->at_signal = injection->has_info;
	if (injection->has_info)
		thread_set_siginfo(thread, &injection->info);
	else
		leave_signal(thread);
	signals_send_again(&injection->aside, thread);
}
