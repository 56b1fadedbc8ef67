/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Simulated processes behind the functions of inferior/ that reach the kernel. The
 * linker calls __wrap_X where X is called.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "gdbstub/agent/interp.h"
#include "arch/register_table.h"
#include "gdbstub/base/log.h"
#include "gdbstub/tracing/attach.h"
#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/tracing/resume.h"
#include "gdbstub/tracing/siginfo.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/inferior/thread_end.h"
#include "gdbstub/tracing/wait.h"
#include "tests/unit/run/simulated.h"

enum { TICK_MS = 1, SLEEP_MS = 20, REGSET_LEN = 512 };

/* They have the types of those that they replace. */
#define REPLACES(name) __typeof__(name) __wrap_##name

static struct sim_process *offered;

void sim_offer(struct sim_process *process)
{
	offered = process;
}

static struct sim_thread *simulated(const struct thread *thread)
{
	struct sim_thread *found = sim_thread(thread->tid);

	sim_check(found, "thread %d is none", thread->tid);
	return found;
}

/* ---- resuming ---- */

static bool is_in_vfork(const struct sim_thread *thread)
{
	return thread->vfork_child && thread->in_call;
}

static void run(struct sim_thread *thread)
{
	thread->state = SIM_RUNNING;
	if (is_in_vfork(thread)) {
		thread->state = SIM_IN_VFORK;
		if (thread->vfork_child->is_done)
			sim_end_vfork(thread);
		return;
	}
	thread->returns = thread->in_call && thread->how != SIM_CONTINUE;
	thread->in_call = false;
}

static int resume(struct thread *thread, int signal)
{
	struct sim_thread *target = simulated(thread);

	sim_check(!thread->running, "thread %d is resumed, and runs", thread->tid);
	if (signal != 0)
		model_delivered(target, signal);
	model_resumed(target, thread);
	thread->running = true;
	thread->listening = false;
	thread->at_signal = false;
	thread->step_ended = false;
	thread->in_syscall = false;
	if (target->state != SIM_HELD)
		return -ESRCH;
	sim_say("%d goes on: %s, signal %d", thread->tid,
		target->how == SIM_CONTINUE ? "continue" : "step", signal);
	run(target);
	return 0;
}

REPLACES(thread_continue);
int __wrap_thread_continue(struct thread *thread, int signal)
{
	thread->stepping = false;
	simulated(thread)->how = SIM_CONTINUE;
	return resume(thread, signal);
}

REPLACES(thread_continue_anew);
int __wrap_thread_continue_anew(struct thread *thread, int signal)
{
	return __wrap_thread_continue(thread, signal);
}

/* From within a call, the return from it comes first. */
REPLACES(thread_step);
int __wrap_thread_step(struct thread *thread, int signal)
{
	struct sim_thread *target = simulated(thread);

	target->how = thread->in_syscall ? SIM_TO_RETURN : SIM_STEP;
	if (!thread->in_syscall)
		thread->stepping = true;
	return resume(thread, signal);
}

REPLACES(thread_resume_again);
int __wrap_thread_resume_again(struct thread *thread, int signal)
{
	return resume(thread, signal);
}

REPLACES(thread_listen);
int __wrap_thread_listen(struct thread *thread)
{
	sim_fail("thread %d is in no group stop", thread->tid);
}

REPLACES(thread_interrupt);
int __wrap_thread_interrupt(struct thread *thread)
{
	struct sim_thread *target = simulated(thread);

	if (target->state == SIM_DEAD || target->state == SIM_GONE)
		return -ESRCH;
	sim_say("%d is interrupted", thread->tid);
	if (target->state == SIM_RUNNING || target->state == SIM_IN_VFORK)
		target->asked = true;
	else
		target->asked_stopped = true;
	thread->interrupting = true;
	return 0;
}

/* Its delivery is seen by nobody (decode.c). */
REPLACES(thread_send_signal);
void __wrap_thread_send_signal(struct thread *thread, int signal)
{
	model_delivered(simulated(thread), signal);
}

/* ---- events ---- */

static void note_stop(struct thread *thread, struct sim_thread *source)
{
	bool is_call = source->stop.kind == EVENT_CLONE ||
		       source->stop.kind == EVENT_FORK ||
		       source->stop.kind == EVENT_VFORK ||
		       source->stop.kind == EVENT_VFORK_DONE;

	thread->running = false;
	thread->late = false;
	thread->at_signal = source->stop.kind == EVENT_SIGNAL;
	thread->step_ended = source->stop.si_code == TRAP_TRACE;
	thread->in_syscall = is_call && source->how != SIM_STEP;
	source->state = SIM_HELD;
}

static void add_thread(struct event *event, const struct sim_thread *child)
{
	event->child = thread_create(event->inferior, child->tid);
}

static void describe_stop(struct sim_thread *source, struct event *event)
{
	struct thread *thread = event->thread;
	const struct sim_stop *stop = &source->stop;

	note_stop(thread, source);
	event->kind = stop->kind;
	event->signal = stop->signal;
	event->siginfo.si_signo = stop->signal;
	event->siginfo.si_code = stop->si_code;
	if (stop->kind == EVENT_INTERRUPTED && !thread->interrupting)
		event->kind = EVENT_UNASKED;
	if (stop->kind == EVENT_CLONE)
		add_thread(event, stop->child);
	if (stop->kind == EVENT_FORK || stop->kind == EVENT_VFORK) {
		event->child_pid = stop->child->tid;
		event->own_memory =
			stop->child->process->space != source->process->space;
	}
	if (stop->kind == EVENT_SYSCALL)
		event->syscall = 1;
	if (stop->kind == EVENT_VFORK_DONE)
		source->vfork_child = NULL;
	thread->interrupting = false;
}

static void describe_end(struct sim_thread *source, struct event *event)
{
	source->state = SIM_GONE;
	source->vfork_child = NULL;
	event->thread->running = false;
	if (source->tid == source->process->pid) {
		event->kind = source->process->is_killed ? EVENT_KILLED : EVENT_EXITED;
		event->status = event->kind == EVENT_EXITED ? SIM_STATUS : 0;
		event->signal = event->kind == EVENT_KILLED ? SIGKILL : 0;
		return;
	}
	event->kind = EVENT_THREAD_EXIT;
	event->options = event->thread->options;
	thread_destroy(event->thread);
	event->thread = NULL;
}

static void describe(struct sim_thread *source, struct event *event)
{
	struct thread *thread = thread_find(&sim.run->inferiors, source->tid);

	sim_check(thread, "thread %d is traced, and nobody knows it", source->tid);
	*event = (struct event){
		.inferior = thread->inferior,
		.thread = thread,
		.tid = thread->tid,
		.syscall = SYSCALL_NONE,
	};
	if (source->state == SIM_DEAD)
		describe_end(source, event);
	else
		describe_stop(source, event);
	sim_say("%d tells: %s %d", source->tid, event_kind_name(event->kind),
		event->signal);
	model_reported(source, event);
}

REPLACES(inferiors_wait);
void __wrap_inferiors_wait(struct inferiors *inferiors, bool block, struct event *event)
{
	unsigned int turns = rng_below(&sim.rng, 5);
	struct sim_thread *source;

	(void)inferiors;
	(void)block;
	sim.now_ms += TICK_MS;
	while (turns-- > 0)
		sim_tick();
	source = sim_next();
	*event = (struct event){.kind = EVENT_NONE};
	if (source)
		describe(source, event);
}

/* ---- time ---- */

REPLACES(clock_gettime);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	*ts = (struct timespec){sim.now_ms / 1000, sim.now_ms % 1000 * 1000000};
	return 0;
}

/* Everybody has a turn meanwhile. */
REPLACES(sigtimedwait);
int __wrap_sigtimedwait(const sigset_t *set, siginfo_t *info,
			const struct timespec *limit)
{
	(void)set;
	(void)info;
	(void)limit;
	sim.now_ms += SLEEP_MS;
	for (unsigned int i = 0; i < sim.nthreads; i++)
		sim_tick_thread(&sim.thread[i]);
	return -1;
}

/* ---- registers ---- */

/* Conditions read the register of what a thread has hit: that is counted. */
static bool evaluates;

REPLACES(agent_expr_evaluate);
__typeof__(agent_expr_evaluate) __real_agent_expr_evaluate;
struct error *__wrap_agent_expr_evaluate(const struct agent_expr *expr,
					 const struct agent_context *context,
					 uint64_t *value)
{
	struct error *error;

	evaluates = true;
	error = __real_agent_expr_evaluate(expr, context, value);
	evaluates = false;
	return error;
}

REPLACES(regs_fetch);
int __wrap_regs_fetch(const struct thread *thread, struct regs *regs,
		      unsigned int regset)
{
	struct sim_thread *source = simulated(thread);

	sim_check(!thread->running, "registers of thread %d, which runs, are read",
		  thread->tid);
	regs->size[regset] = REGSET_LEN;
	memset(regs->data[regset], 0, REGSET_LEN);
	reg_write_u64(regs, regs->arch->pc_reg, sim_pc(source));
	reg_write_u64(regs, 0, sim_op_of(source)->value);
	source->evaluations += evaluates;
	return 0;
}

REPLACES(regs_store);
int __wrap_regs_store(const struct thread *thread, const struct regs *regs,
		      unsigned int regset)
{
	(void)regs;
	(void)regset;
	sim_fail("registers of thread %d are written", thread->tid);
}

REPLACES(thread_get_pc);
int __wrap_thread_get_pc(const struct thread *thread, uint64_t *pc)
{
	if (thread->late)
		return -ENODATA;
	sim_check(!thread->running, "the PC of thread %d, which runs, is read",
		  thread->tid);
	*pc = sim_pc(simulated(thread));
	return 0;
}

REPLACES(thread_set_pc);
int __wrap_thread_set_pc(const struct thread *thread, uint64_t pc)
{
	sim_check(!thread->running, "the PC of thread %d, which runs, is written",
		  thread->tid);
	sim_set_pc(simulated(thread), pc);
	return 0;
}

REPLACES(thread_hit_again);
int __wrap_thread_hit_again(const struct thread *thread)
{
	(void)thread;
	return 0;
}

REPLACES(thread_get_siginfo);
int __wrap_thread_get_siginfo(const struct thread *thread, siginfo_t *info)
{
	const struct sim_thread *source = simulated(thread);

	*info = (siginfo_t){.si_signo = source->stop.signal};
	info->si_code = source->stop.si_code;
	return 0;
}

/* ---- memory ---- */

/* The part of the text that is meant; NULL: none. */
static uint8_t *find_text(const struct inferior *inferior, uint64_t addr, size_t *len)
{
	struct sim_process *process = sim_process(inferior->pid);
	uint64_t at = addr - SIM_BASE;

	sim_check(process, "process %d is none", inferior->pid);
	if (at >= sizeof(process->space->text) || !sim_is_used(process->space))
		return NULL;
	if (*len > sizeof(process->space->text) - at)
		*len = sizeof(process->space->text) - at;
	return process->space->text + at;
}

REPLACES(inferior_read);
ssize_t __wrap_inferior_read(struct inferior *inferior, uint64_t addr, void *data,
			     size_t len)
{
	const uint8_t *text = find_text(inferior, addr, &len);

	if (!text)
		return -EFAULT;
	memcpy(data, text, len);
	return (ssize_t)len;
}

REPLACES(inferior_write);
int __wrap_inferior_write(struct inferior *inferior, uint64_t addr, const void *data,
			  size_t len)
{
	size_t known = len;
	uint8_t *text = find_text(inferior, addr, &known);

	if (!text || known != len)
		return -EFAULT;
	memcpy(text, data, len);
	sim_say("  at %u of process %d: 0x%x",
		(unsigned int)(addr - SIM_BASE) / SIM_INSN_LEN, inferior->pid, *text);
	return 0;
}

/* ---- coming and going ---- */

REPLACES(inferior_attach);
struct error *__wrap_inferior_attach(struct inferiors *inferiors, pid_t pid,
				     struct inferior **ret)
{
	*ret = inferior_create(inferiors, pid, true);
	offered->is_known = true;
	for (unsigned int i = 0; i < sim.nthreads; i++)
		if (sim.thread[i].process == offered && sim.thread[i].tid != pid)
			thread_create(*ret, sim.thread[i].tid);
	return NULL;
}

static void go_free(struct sim_thread *thread)
{
	thread->asked_stopped = false;
	thread->how = SIM_CONTINUE;
	if (thread->state == SIM_HELD)
		run(thread);
}

/* What is sent to one that is let go is delivered. */
static void let_go(const struct thread *known)
{
	struct sim_thread *thread = simulated(known);
	int signal = known->owed_signal;

	if (signal == 0 && known->pending.kind == EVENT_SIGNAL)
		signal = known->pending.signal;
	if (signal != 0)
		model_delivered(thread, signal);
	go_free(thread);
}

REPLACES(inferior_detach);
void __wrap_inferior_detach(struct inferior *inferior, pid_t signal_tid, int signal)
{
	struct sim_process *process = sim_process(inferior->pid);
	struct thread *thread;

	(void)signal_tid;
	(void)signal;
	sim_say("process %d is let go", inferior->pid);
	process->traced = false;
	model_detached(process);
	TAILQ_FOREACH (thread, &inferior->threads, link)
		let_go(thread);
	inferior_destroy(inferior);
}

REPLACES(newborn_detach);
void __wrap_newborn_detach(pid_t pid)
{
	struct sim_process *process = sim_process(pid);

	sim_say("process %d is let go at once", pid);
	process->traced = false;
	model_detached(process);
	go_free(sim_thread(pid));
}

REPLACES(inferior_kill);
void __wrap_inferior_kill(struct inferior *inferior)
{
	inferior_destroy(inferior);
}

/* ---- messages ---- */

/* Of processes that were killed there are some, which are nobody's fault. */
REPLACES(log_warning);
void __wrap_log_warning(const char *format, ...)
{
	sim_say("a warning: %s", format);
}

/* ---- /proc ---- */

REPLACES(thread_is_zombie);
bool __wrap_thread_is_zombie(const struct thread *thread)
{
	(void)thread;
	return false;
}

REPLACES(thread_is_outlived);
bool __wrap_thread_is_outlived(const struct thread *leader)
{
	(void)leader;
	return false;
}

/* Its state is all that run control asks for. */
REPLACES(proc_stat_field);
bool __wrap_proc_stat_field(pid_t tid, unsigned int field, char *value, size_t size)
{
	const struct sim_thread *thread = sim_thread(tid);

	(void)field;
	(void)size;
	strcpy(value, thread->state == SIM_IN_VFORK ? "D" : "R");
	return thread->state != SIM_GONE;
}

REPLACES(proc_read);
int __wrap_proc_read(const char *path, struct buffer *out)
{
	(void)path;
	(void)out;
	return -ESRCH;
}

REPLACES(inferior_proc_file);
int __wrap_inferior_proc_file(const struct inferior *inferior, const char *name,
			      struct buffer *out)
{
	(void)inferior;
	(void)name;
	(void)out;
	return -ESRCH;
}
