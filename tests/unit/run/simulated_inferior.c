/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What stands between run control and the kernel, in the place of the rooms inferior
 * and tracing: the linker leads their functions here (--wrap), where simulated
 * processes (simulated.h) serve them.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/user.h>
#include <time.h>

#include "arch/register_table.h"
#include "gdbstub/hits/evaluate.h"
#include "gdbstub/inferior/late.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/locations/sequences.h"
#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/tracing/launch.h"
#include "tests/unit/run/simulated.h"

enum { WAITS_MAX = 100000 }; /* of one order, which needs some hundreds */

/* The names that the linker gives to what is wrapped, and to what wraps it. */
#define STANDS_IN_FOR(function) __asm__("__wrap_" #function)
#define IS_REALLY(function)	__asm__("__real_" #function)

static struct sim_thread *sim_of(const struct thread *thread)
{
	struct sim_thread *found = sim_find(thread->tid);

	if (!found && !sim.ended)
		sim_fail("thread %d has ended, and is used", thread->tid);
	return found;
}

/* ---- processes ---- */

struct error *simulated_launch(struct inferiors *inferiors,
			       const struct launch_options *options,
			       struct inferior **ret) STANDS_IN_FOR(inferior_launch);
struct error *simulated_launch(struct inferiors *inferiors,
			       const struct launch_options *options,
			       struct inferior **ret)
{
	(void)options;
	*ret = inferior_create(inferiors, sim.pid, false);
	for (int i = 1; i < SIM_THREADS; i++) {
		if (sim.thread[i].tid != 0)
			thread_create(*ret, sim.thread[i].tid);
	}
	return NULL;
}

void simulated_kill(struct inferior *inferior) STANDS_IN_FOR(inferior_kill);
void simulated_kill(struct inferior *inferior)
{
	inferior_destroy(inferior);
}

static void check_copy(const struct sim_child *child)
{
	const struct arch_ops *arch = arch_native();

	for (unsigned int i = 0; i < PLACES && !child->shares; i++) {
		if (memcmp(child->memory.bytes + (sim_place(i) - TEXT),
			   arch->breakpoint_insn, arch->breakpoint_len) == 0)
			sim_fail("child %d is let go with a trap at place %u",
				 child->pid, i);
	}
}

void simulated_detach(struct inferior *inferior, pid_t signal_tid, int signal)
	STANDS_IN_FOR(inferior_detach);
void simulated_detach(struct inferior *inferior, pid_t signal_tid, int signal)
{
	struct sim_child *child = sim_find_child(inferior->pid);

	(void)signal_tid;
	(void)signal;
	if (child) {
		sim_print("child %d is let go", child->pid);
		check_copy(child);
		child->let_go = true;
	}
	inferior_destroy(inferior);
}

int simulated_proc_file(const struct inferior *inferior, const char *name,
			struct buffer *out) STANDS_IN_FOR(inferior_proc_file);
int simulated_proc_file(const struct inferior *inferior, const char *name,
			struct buffer *out)
{
	(void)inferior;
	(void)name;
	(void)out;
	return -ENOENT;
}

bool simulated_stat_field(pid_t tid, unsigned int field, char *value, size_t size)
	STANDS_IN_FOR(proc_stat_field);
bool simulated_stat_field(pid_t tid, unsigned int field, char *value, size_t size)
{
	(void)tid;
	(void)field;
	(void)value;
	(void)size;
	return false;
}

bool simulated_cover(struct location *location, const struct file_id *file)
	STANDS_IN_FOR(sequences_cover);
bool simulated_cover(struct location *location, const struct file_id *file)
{
	(void)location;
	(void)file;
	return false;
}

/* ---- memory and registers ---- */

static uint8_t *find_bytes(const struct inferior *inferior, uint64_t addr, size_t *len)
{
	struct sim_memory *memory = sim_memory_of(inferior->pid);

	if (!memory || addr < TEXT || addr >= TEXT + TEXT_LEN)
		return NULL;
	if (*len > TEXT + TEXT_LEN - addr)
		*len = TEXT + TEXT_LEN - addr;
	return memory->bytes + (addr - TEXT);
}

ssize_t simulated_read(struct inferior *inferior, uint64_t addr, void *data, size_t len)
	STANDS_IN_FOR(inferior_read);
ssize_t simulated_read(struct inferior *inferior, uint64_t addr, void *data, size_t len)
{
	const uint8_t *bytes = find_bytes(inferior, addr, &len);

	if (!bytes)
		return -EFAULT;
	memcpy(data, bytes, len);
	return (ssize_t)len;
}

int simulated_write(struct inferior *inferior, uint64_t addr, const void *data,
		    size_t len) STANDS_IN_FOR(inferior_write);
int simulated_write(struct inferior *inferior, uint64_t addr, const void *data,
		    size_t len)
{
	uint8_t *bytes = find_bytes(inferior, addr, &len);

	if (!bytes)
		return -EFAULT;
	sim_print("process %d: byte %02x at place %u", inferior->pid,
		  *(const uint8_t *)data, sim_place_at(addr));
	memcpy(bytes, data, len);
	return 0;
}

int simulated_get_pc(const struct thread *thread, uint64_t *pc)
	STANDS_IN_FOR(thread_get_pc);
int simulated_get_pc(const struct thread *thread, uint64_t *pc)
{
	const struct sim_thread *found = sim_of(thread);

	if (!found || found->runs)
		return -ESRCH;
	*pc = found->pc;
	return 0;
}

int simulated_set_pc(const struct thread *thread, uint64_t pc)
	STANDS_IN_FOR(thread_set_pc);
int simulated_set_pc(const struct thread *thread, uint64_t pc)
{
	struct sim_thread *found = sim_of(thread);

	if (!found || found->runs)
		return -ESRCH;
	found->pc = pc;
	return 0;
}

int simulated_fetch(const struct thread *thread, struct regs *regs, unsigned int regset)
	STANDS_IN_FOR(regs_fetch);
int simulated_fetch(const struct thread *thread, struct regs *regs, unsigned int regset)
{
	const struct reg_def *pc = reg_by_number(regs->arch, regs->arch->pc_reg);
	const struct sim_thread *found = sim_of(thread);

	regs->size[regset] = 0;
	if (!found)
		return -ESRCH;
	if (regset != pc->regset)
		return -ENODATA;
	memset(regs->data[regset], 0, sizeof(struct user_regs_struct));
	regs->size[regset] = sizeof(struct user_regs_struct);
	reg_write_u64(regs, regs->arch->pc_reg, found->pc);
	reg_write_u64(regs, SIM_REGISTER, found->value);
	return 0;
}

/* x86's resume flag is for breakpoints in hardware. */
int simulated_hit_again(const struct thread *thread) STANDS_IN_FOR(thread_hit_again);
int simulated_hit_again(const struct thread *thread)
{
	(void)thread;
	return 0;
}

bool real_evaluate(const struct location *location, struct thread *thread,
		   memory_reader *read) IS_REALLY(evaluate_conditions);
bool simulated_evaluate(const struct location *location, struct thread *thread,
			memory_reader *read) STANDS_IN_FOR(evaluate_conditions);
bool simulated_evaluate(const struct location *location, struct thread *thread,
			memory_reader *read)
{
	struct sim_thread *found = sim_of(thread);

	if (found && found->place != NO_PLACE &&
	    found->epoch == sim.epoch[found->place] && ++found->evaluated > 1)
		sim_fail("the condition is evaluated again for thread %d", thread->tid);
	return real_evaluate(location, thread, read);
}

/* ---- resuming ---- */

static int resume(struct thread *thread, int signal, bool steps)
{
	struct sim_thread *found = sim_of(thread);

	if (!found || sim.ended)
		return -ESRCH;
	thread->running = true;
	thread->stepping = steps;
	thread->at_signal = thread->step_ended = false;
	sim_resume(found, signal, steps);
	return 0;
}

int simulated_continue(struct thread *thread, int signal)
	STANDS_IN_FOR(thread_continue);
int simulated_continue(struct thread *thread, int signal)
{
	return resume(thread, signal, false);
}

int simulated_step(struct thread *thread, int signal) STANDS_IN_FOR(thread_step);
int simulated_step(struct thread *thread, int signal)
{
	return resume(thread, signal, true);
}

int simulated_resume_again(struct thread *thread, int signal)
	STANDS_IN_FOR(thread_resume_again);
int simulated_resume_again(struct thread *thread, int signal)
{
	return resume(thread, signal, thread->stepping);
}

int simulated_interrupt(struct thread *thread) STANDS_IN_FOR(thread_interrupt);
int simulated_interrupt(struct thread *thread)
{
	struct sim_thread *found = sim_of(thread);

	thread->interrupting = true;
	if (found)
		found->interrupted = true;
	return 0;
}

void simulated_send_signal(struct thread *thread, int signal)
	STANDS_IN_FOR(thread_send_signal);
void simulated_send_signal(struct thread *thread, int signal)
{
	struct sim_thread *found = sim_of(thread);

	(void)signal;
	if (found)
		found->delivered++;
}

/* ---- halting ---- */

/* Whoever waits for a vfork child sleeps where it cannot stop. */
bool simulated_becomes_late(struct thread *thread, const struct lateness *lateness)
	STANDS_IN_FOR(thread_becomes_late);
bool simulated_becomes_late(struct thread *thread, const struct lateness *lateness)
{
	const struct sim_thread *found = sim_of(thread);

	(void)lateness;
	thread->late = found && found->waits && thread->interrupting;
	return thread->late;
}

void simulated_look_again(struct thread *thread) STANDS_IN_FOR(thread_look_again);
void simulated_look_again(struct thread *thread)
{
	const struct sim_thread *found = sim_of(thread);

	if (thread->late && found && !found->waits)
		thread->late = false;
}

void simulated_explain_late(const struct thread *thread, struct buffer *out)
	STANDS_IN_FOR(thread_explain_late);
void simulated_explain_late(const struct thread *thread, struct buffer *out)
{
	(void)thread;
	(void)out;
}

bool simulated_is_zombie(const struct thread *thread) STANDS_IN_FOR(thread_is_zombie);
bool simulated_is_zombie(const struct thread *thread)
{
	(void)thread;
	return false;
}

/* Nothing comes by waiting. */
int simulated_timedwait(const sigset_t *set, siginfo_t *info,
			const struct timespec *timeout) STANDS_IN_FOR(sigtimedwait);
int simulated_timedwait(const sigset_t *set, siginfo_t *info,
			const struct timespec *timeout)
{
	(void)set;
	(void)info;
	(void)timeout;
	errno = EAGAIN;
	return -1;
}

/* ---- events ---- */

/* Some thread whose event has not been taken, or NULL. */
static struct sim_thread *choose_event(void)
{
	unsigned int at = rng_below(&sim.rng, SIM_THREADS);
	struct sim_thread *leader = NULL;

	for (int i = 0; i < SIM_THREADS; i++) {
		struct sim_thread *thread = &sim.thread[(at + i) % SIM_THREADS];

		if (thread->tid == 0 || !thread->has_event)
			continue;
		/* The end of the process comes after those of its threads. */
		if (thread->event.kind != EVENT_KILLED)
			return thread;
		leader = thread;
	}
	return leader;
}

static void begin_child(struct thread *thread, struct event *event)
{
	const struct sim_thread *child = sim_new_thread();

	event->child = thread_create(thread->inferior, child->tid);
}

static void end_thread(struct thread *thread, struct sim_thread *found,
		       struct event *event)
{
	if (event->kind == EVENT_THREAD_EXIT) {
		thread_destroy(thread);
		event->thread = NULL;
	}
	if (event->kind == EVENT_THREAD_EXIT || event->kind == EVENT_EXITED ||
	    event->kind == EVENT_KILLED)
		found->tid = 0;
}

static void take(struct inferiors *inferiors, struct sim_thread *found,
		 struct event *event)
{
	struct thread *thread = thread_find(inferiors, found->tid);

	*event = found->event;
	event->thread = thread;
	event->inferior = thread->inferior;
	event->tid = found->tid;
	found->has_event = false;
	thread->running = thread->interrupting = thread->late = false;
	thread->at_signal = event->kind == EVENT_SIGNAL;
	if (event->kind == EVENT_CLONE)
		begin_child(thread, event);
	end_thread(thread, found, event);
}

void simulated_wait(struct inferiors *inferiors, bool block, struct event *event)
	STANDS_IN_FOR(inferiors_wait);
void simulated_wait(struct inferiors *inferiors, bool block, struct event *event)
{
	unsigned int acts = 1 + rng_below(&sim.rng, 4);
	struct sim_thread *found;

	(void)block;
	*event = (struct event){.kind = EVENT_NONE};
	if (++sim.waits > WAITS_MAX)
		cr_assert_fail("order %llu has no end", (unsigned long long)sim.order);
	while (acts-- > 0)
		sim_act();
	found = choose_event();
	if (found && rng_chance(&sim.rng, 80))
		take(inferiors, found, event);
}
