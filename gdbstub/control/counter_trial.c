/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/control/counter_trial.h"

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/arch.h"
#include "gdbstub/base/rights.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/tracing/siginfo.h"

enum { TURNS = 20000, TENTHS = 10 };

/* ---- a loop in a child ---- */

static pid_t start_child(const struct counter_loop *loop)
{
	const pid_t tracer = getpid(), pid = fork();

	if (pid != 0)
		return pid < 0 ? -errno : pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (rights_let_trace(NULL, 0) < 0 || getppid() != tracer ||
	    ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(1);
	loop->run(TURNS);
	_exit(1);
}

static void end_child(const pid_t *pid)
{
	if (*pid <= 0)
		return;
	kill(*pid, SIGKILL);
	while (waitpid(*pid, NULL, __WALL) < 0 && errno == EINTR)
		;
}

/* The signal that it stops by, or a negative errno. */
static int wait_stop(pid_t pid)
{
	int status;
	pid_t found;

	do
		found = waitpid(pid, &status, __WALL);
	while (found < 0 && errno == EINTR);
	return found == pid && WIFSTOPPED(status) ? WSTOPSIG(status) : -ECHILD;
}

/* ---- one measurement ---- */

struct measured {
	bool interrupted;
	uint64_t at;	/* ... when it had counted so many */
	uint64_t count; /* up to the end */
	uint64_t again; /* turns in vain */
};

static int read_result(const struct thread *thread, uint64_t *ret)
{
	const struct arch_ops *arch = thread->inferior->arch;
	const unsigned int row = arch->syscall_result_reg;
	unsigned int rows;
	struct regs *regs = calloc(1, sizeof(*regs));
	int err = -ENOMEM;

	if (!regs)
		return err;
	regs->arch = arch;
	err = regs_fetch(thread, regs, arch->registers(&rows)[row].regset);
	if (err == 0)
		err = reg_read_u64(regs, row, ret);
	free(regs);
	return err;
}

static int go_past_trap(const struct thread *thread)
{
	const struct arch_ops *arch = thread->inferior->arch;
	uint64_t pc;
	int err = thread_get_pc(thread, &pc);

	if (err < 0)
		return err;
	return thread_set_pc(thread,
			     pc + arch->breakpoint_len - arch->breakpoint_pc_advance);
}

/* To the end, by way of the interrupt if there is one. */
static int run_counted(const struct thread *thread, const struct counter *counter,
		       int last, struct measured *ret)
{
	siginfo_t info;
	int signal, err;

	/* Others may come, as by Ctrl-C on the terminal. */
	for (;;) {
		regs_outdate(thread);
		if (ptrace(PTRACE_CONT, thread->tid, NULL, NULL) < 0)
			return -errno;
		signal = wait_stop(thread->tid);
		if (signal < 0)
			return signal;
		if (signal == last)
			break;
		err = thread_get_siginfo(thread, &info);
		if (err == 0 && counter_made(&info, counter_signals_by(counter))) {
			ret->interrupted = true;
			err = counter_read(counter, &ret->at);
		}
		if (err < 0)
			return err;
	}
	err = counter_read(counter, &ret->count);
	return err < 0 ? err : read_result(thread, &ret->again);
}

static int measure(const struct counter_loop *loop, const struct counter_kind *kind,
		   uint64_t period, struct measured *ret)
{
	_cleanup_(end_child) const pid_t pid = start_child(loop);
	struct inferior inferior = {.pid = pid, .arch = arch_native()};
	struct thread thread = {.inferior = &inferior, .tid = pid};
	struct counter counter;
	int err;

	*ret = (struct measured){0};
	if (pid < 0)
		return pid;
	if (wait_stop(pid) != SIGTRAP)
		return -ECHILD;
	err = go_past_trap(&thread);
	if (err == 0)
		err = counter_begin(&counter, kind, pid, period);
	if (err < 0)
		return err;
	err = run_counted(&thread, &counter, loop->faults ? SIGSEGV : SIGTRAP, ret);
	counter_end(&counter);
	return err;
}

/* ---- what is wrong with it ---- */

static struct error *does_not_run(int err)
{
	return error_create(0, "%s", counter_refusal(err));
}

static uint64_t executed(const struct counter_loop *loop, enum retired_event event,
			 uint64_t again)
{
	return (uint64_t)loop->turn[event] * TURNS + loop->again[event] * again +
	       (uint64_t)(int64_t)loop->else_[event];
}

static struct error *miscounts(const struct counter_loop *loop,
			       const struct measured *measured, uint64_t right)
{
	return error_create(0,
			    "it is not exact: in a loop with %s it counted %ju of %ju",
			    loop->name, (uintmax_t)measured->count, (uintmax_t)right);
}

/* Is what it counts right? *traps: with a breakpoint instruction at the end. */
static struct error *try_loop(const struct counter_loop *loop, enum retired_event event,
			      struct counter_finding *finding, bool *first)
{
	struct measured measured;
	uint64_t right;
	int err = measure(loop, &finding->kind, 0, &measured);

	if (err < 0)
		return does_not_run(err);
	right = executed(loop, event, measured.again);
	if (loop->faults)
		return measured.count == right ? NULL
					       : miscounts(loop, &measured, right);
	if (*first)
		finding->counts_traps = measured.count == right + 1;
	*first = false;
	return measured.count == right + finding->counts_traps
		       ? NULL
		       : miscounts(loop, &measured, right);
}

/* All of them, twice: what comes by chance may not come at once. */
static struct error *try_loops(enum retired_event event,
			       struct counter_finding *finding)
{
	const struct counter_ops *ops = arch_native()->counters;
	struct error *error = NULL;
	bool first = true;

	for (unsigned int i = 0; !error && i < 2 * ops->loops; i++)
		error = try_loop(&ops->loop[i % ops->loops], event, finding, &first);
	return error;
}

static struct error *judge_interrupt(const struct measured *measured, uint64_t period,
				     uint64_t right, struct counter_finding *finding)
{
	if (!measured->interrupted)
		return error_create(0, "its interrupt does not come, or too late");
	if (measured->at < period)
		return error_create(0, "its interrupt comes too early");
	if (measured->at - period > finding->skid)
		return error_create(0, "its interrupt comes %ju late",
				    (uintmax_t)(measured->at - period));
	if (measured->at - period > finding->late)
		finding->late = measured->at - period;
	if (measured->count != right + finding->counts_traps)
		return error_create(0, "its interrupt makes it count wrongly");
	return NULL;
}

/* Interrupts here and there in the first loop. */
static struct error *try_interrupts(enum retired_event event,
				    struct counter_finding *finding)
{
	const struct counter_loop *loop = &arch_native()->counters->loop[0];
	const uint64_t right = executed(loop, event, 0);
	struct error *error = NULL;
	struct measured measured;
	int err;

	for (uint64_t tenths = 1; !error && tenths < TENTHS; tenths += 2) {
		const uint64_t period = right / TENTHS * tenths + tenths;

		err = measure(loop, &finding->kind, period, &measured);
		error = err < 0 ? does_not_run(err)
				: judge_interrupt(&measured, period, right, finding);
	}
	return error;
}

static struct error *try_event(enum retired_event event,
			       struct counter_finding *finding)
{
	struct error *error = try_loops(event, finding);

	if (error)
		return error;
	error = try_interrupts(event, finding);
	if (!error)
		return NULL;
	finding->kind.twice = true;
	error_destroy(error);
	return try_interrupts(event, finding);
}

/* ---- all that may count it ---- */

/* An event is one kind's (big.LITTLE, P and E cores): it would not count on others. */
static bool has_several_kinds(void)
{
	glob_t found = {0};
	bool several =
		glob("/sys/bus/event_source/devices/*/cpus", 0, NULL, &found) == 0 &&
		found.gl_pathc > 1;

	globfree(&found);
	return several;
}

static struct error *find(enum retired_event event, struct counter_finding *finding)
{
	const struct counter_ops *ops = arch_native()->counters;
	const struct counter_raw *raw;
	const unsigned int count = ops->raw(event, &raw);
	struct error *error = error_create(
		0, "this processor has no counter of them that is known to be exact");

	for (unsigned int i = 0; error && i < count; i++) {
		error_destroy(error);
		*finding = (struct counter_finding){
			.kind = {.raw = raw[i]},
			.skid = ops->skid(event),
		};
		error = try_event(event, finding);
	}
	if (!error && has_several_kinds())
		return error_create(0, "this machine has processors of several kinds");
	if (!error && ops->why_not())
		return error_create(0, "%s", ops->why_not());
	return error;
}

const struct counter_finding *counter_find(struct counter_findings *findings,
					   enum retired_event event)
{
	struct counter_finding *finding = &findings->of[event];
	_cleanup_error_ struct error *error = NULL;

	if (finding->known)
		return finding;
	error = find(event, finding);
	finding->known = true;
	finding->usable = !error;
	if (error)
		snprintf(finding->why_not, sizeof(finding->why_not), "%s",
			 error_text(error));
	return finding;
}
