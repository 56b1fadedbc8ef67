/* SPDX-License-Identifier: BSD-2-Clause */
/* What simulated threads execute, and what they stop for. */
#include "tests/unit/run/simulated.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gdbstub/inferior/thread.h"

struct sim sim;

/* ---- for people ---- */

void sim_say(const char *format, ...)
{
	va_list args;

	if (!sim.trace)
		return;
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

void sim_fail(const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	sim_say("FAILS: %s", text);
	cr_assert_fail("EVENTS_ORDER=%u: %s", sim.number, text);
	__builtin_unreachable();
}

/* ---- what there is ---- */

void sim_begin(unsigned int number, struct rng rng, struct run *run)
{
	bool trace = sim.trace;

	memset(&sim, 0, sizeof(sim));
	sim.number = number;
	sim.trace = trace;
	sim.rng = rng;
	sim.run = run;
	sim.last_pid = SIM_FIRST_PID;
}

static void write_text(struct sim_space *space)
{
	for (unsigned int slot = 0; slot < SIM_SLOTS; slot++)
		memset(space->text + (size_t)slot * SIM_INSN_LEN, 0x40 + (int)slot,
		       SIM_INSN_LEN);
}

struct sim_space *sim_space_add(const struct sim_space *copied)
{
	struct sim_space *space = &sim.space[sim.nspaces++];

	sim_check(sim.nspaces <= SIM_SPACES, "too many address spaces");
	if (copied)
		*space = *copied;
	else
		write_text(space);
	space->changed = true;
	return space;
}

struct sim_process *sim_process_add(struct sim_space *space, bool traced)
{
	struct sim_process *process = &sim.process[sim.nprocesses++];

	sim_check(sim.nprocesses <= SIM_PROCESSES, "too many processes");
	process->pid = ++sim.last_pid;
	process->space = space;
	process->traced = process->is_fresh = traced;
	return process;
}

struct sim_thread *sim_thread_add(struct sim_process *process, pid_t tid,
				  unsigned int script)
{
	struct sim_thread *thread = &sim.thread[sim.nthreads++];

	sim_check(sim.nthreads <= SIM_THREADS, "too many threads");
	thread->tid = tid > 0 ? tid : ++sim.last_pid;
	thread->process = process;
	thread->script = &sim.script[script];
	thread->state = SIM_HELD;
	return thread;
}

struct sim_process *sim_process(pid_t pid)
{
	for (unsigned int i = 0; i < sim.nprocesses; i++)
		if (sim.process[i].pid == pid)
			return &sim.process[i];
	return NULL;
}

struct sim_thread *sim_thread(pid_t tid)
{
	for (unsigned int i = 0; i < sim.nthreads; i++)
		if (sim.thread[i].tid == tid)
			return &sim.thread[i];
	return NULL;
}

const struct sim_op *sim_op_of(const struct sim_thread *thread)
{
	return &thread->script->op[thread->at];
}

/* ---- text ---- */

uint64_t sim_address(enum sim_slot slot)
{
	return SIM_BASE + (uint64_t)slot * SIM_INSN_LEN;
}

uint64_t sim_pc(const struct sim_thread *thread)
{
	uint64_t pc = sim_address(sim_op_of(thread)->slot);

	return pc + (thread->past_trap ? arch_native()->breakpoint_pc_advance : 0);
}

/* Back from the trap, or after the instruction, as a debugger does that executes it
 * elsewhere. */
void sim_set_pc(struct sim_thread *thread, uint64_t pc)
{
	const struct sim_op *op = sim_op_of(thread);

	thread->past_trap = false;
	if (pc == sim_address(op->slot))
		return;
	sim_check(op->slot < SLOT_PLACES && pc == sim_address(op[1].slot),
		  "thread %d is sent to a place that it does not come to", thread->tid);
	thread->at++;
	thread->hit = thread->hit_told = thread->may_hit_again = false;
}

bool sim_has_trap(const struct sim_space *space, enum sim_slot slot)
{
	const struct arch_ops *arch = arch_native();

	return memcmp(space->text + (size_t)slot * SIM_INSN_LEN, arch->breakpoint_insn,
		      arch->breakpoint_len) == 0;
}

bool sim_has_traps(const struct sim_space *space)
{
	for (unsigned int slot = 0; slot < SIM_SLOTS; slot++)
		if (sim_has_trap(space, slot))
			return true;
	return false;
}

static bool lends(const struct sim_thread *thread)
{
	return thread->vfork_child && thread->shares && !thread->vfork_child->traced &&
	       thread->process->traced;
}

bool sim_is_lent(const struct sim_space *space)
{
	for (unsigned int i = 0; i < sim.nthreads; i++)
		if (sim.thread[i].process->space == space && lends(&sim.thread[i]))
			return true;
	return false;
}

/* ---- stops ---- */

/* Every stop answers an interrupt. */
static void stop(struct sim_thread *thread, struct sim_stop what)
{
	thread->asked = false;
	thread->event_stop = false;
	if (!thread->process->traced)
		return;
	thread->stop = what;
	thread->state = SIM_STOPPED;
	sim_say("  %d stops: %s %d", thread->tid, event_kind_name(what.kind),
		what.signal);
}

static void stop_for_interrupt(struct sim_thread *thread)
{
	stop(thread, (struct sim_stop){.kind = EVENT_INTERRUPTED});
	thread->event_stop = true;
}

static void stop_for_trap(struct sim_thread *thread, int si_code)
{
	stop(thread, (struct sim_stop){
			     .kind = EVENT_SIGNAL,
			     .signal = SIGTRAP,
			     .si_code = si_code,
		     });
}

/* ---- what instructions do ---- */

static void do_nothing(struct sim_thread *thread, const struct sim_op *op)
{
	(void)thread;
	(void)op;
}

static void do_clone(struct sim_thread *thread, const struct sim_op *op)
{
	struct sim_thread *child = sim_thread_add(thread->process, 0, op->script);

	thread->in_call = true;
	stop(thread, (struct sim_stop){.kind = EVENT_CLONE, .child = child});
}

static struct sim_thread *make_process(struct sim_thread *thread,
				       const struct sim_op *op, bool copies)
{
	struct sim_space *space = thread->process->space;
	struct sim_process *child;

	sim_check(thread->process->traced, "children make no children");
	child = sim_process_add(copies ? sim_space_add(space) : space, true);
	thread->in_call = true;
	return sim_thread_add(child, child->pid, op->script);
}

static void do_fork(struct sim_thread *thread, const struct sim_op *op)
{
	struct sim_thread *child = make_process(thread, op, true);

	stop(thread, (struct sim_stop){.kind = EVENT_FORK, .child = child});
}

static void do_vfork(struct sim_thread *thread, const struct sim_op *op)
{
	struct sim_thread *child = make_process(thread, op, op->copies);

	thread->vfork_child = child->process;
	thread->shares = !op->copies;
	stop(thread, (struct sim_stop){.kind = EVENT_VFORK, .child = child});
}

static void add_signal(struct sim_thread *thread, int signal)
{
	if (thread->nsignals == SIM_SIGNALS)
		return;
	thread->signals[thread->nsignals++] = signal;
	thread->raised[signal]++;
	sim_say("  %d has signal %d", thread->tid, signal);
}

static void do_raise(struct sim_thread *thread, const struct sim_op *op)
{
	if (thread->process->traced)
		add_signal(thread, op->signal);
}

void sim_end_vfork(struct sim_thread *thread)
{
	thread->state = SIM_RUNNING;
	stop(thread, (struct sim_stop){.kind = EVENT_VFORK_DONE});
}

/* Whoever waits for the child that was in its memory does no longer. */
static void be_done(struct sim_process *child)
{
	child->is_done = true;
	for (unsigned int i = 0; i < sim.nthreads; i++)
		if (sim.thread[i].vfork_child == child &&
		    sim.thread[i].state == SIM_IN_VFORK)
			sim_end_vfork(&sim.thread[i]);
}

static void do_exec(struct sim_thread *thread, const struct sim_op *op)
{
	(void)op;
	thread->process->space = sim_space_add(NULL);
	stop(thread, (struct sim_stop){.kind = EVENT_EXEC});
	be_done(thread->process);
}

static bool is_alive(const struct sim_thread *thread)
{
	return thread->state != SIM_DEAD && thread->state != SIM_GONE;
}

/* What a thread has made, and not told of before it is killed, nobody comes to know. */
static void forget_made(const struct sim_thread *thread)
{
	struct sim_thread *child = thread->stop.child;

	if (thread->state != SIM_STOPPED || !child)
		return;
	child->state = SIM_GONE;
	child->killed = true;
	if (child->process != thread->process)
		child->process->traced = false;
}

static void end_thread(struct sim_thread *thread)
{
	forget_made(thread);
	thread->state = thread->process->traced ? SIM_DEAD : SIM_GONE;
	thread->asked = thread->asked_stopped = false;
	while (thread->nsignals > 0)
		thread->raised[thread->signals[--thread->nsignals]]--;
	sim_say("  %d ends", thread->tid);
}

static void do_end_thread(struct sim_thread *thread, const struct sim_op *op)
{
	(void)op;
	end_thread(thread);
}

/* The thread that ends its process, if one does, is not killed. */
static void end_process(struct sim_process *process, const struct sim_thread *by)
{
	process->ends = true;
	for (unsigned int i = 0; i < sim.nthreads; i++) {
		struct sim_thread *thread = &sim.thread[i];

		if (thread->process != process || !is_alive(thread))
			continue;
		thread->killed |= thread != by;
		end_thread(thread);
	}
	be_done(process);
}

static void do_exit(struct sim_thread *thread, const struct sim_op *op)
{
	(void)op;
	end_process(thread->process, thread);
}

typedef void do_op(struct sim_thread *thread, const struct sim_op *op);

static do_op *const acts[SIM_SLOTS] = {
	[SLOT_CLONE] = do_clone, [SLOT_FORK] = do_fork,
	[SLOT_VFORK] = do_vfork, [SLOT_RAISE] = do_raise,
	[SLOT_EXEC] = do_exec,	 [SLOT_END_THREAD] = do_end_thread,
	[SLOT_EXIT] = do_exit,
};

bool sim_is_used(const struct sim_space *space)
{
	for (unsigned int i = 0; i < sim.nthreads; i++)
		if (is_alive(&sim.thread[i]) && sim.thread[i].process->space == space)
			return true;
	return false;
}

/* ---- executing ---- */

static bool has_others(const struct sim_thread *thread)
{
	for (unsigned int i = 0; i < sim.nthreads; i++)
		if (&sim.thread[i] != thread && is_alive(&sim.thread[i]) &&
		    sim.thread[i].process == thread->process)
			return true;
	return false;
}

static bool is_blocked(const struct sim_thread *thread)
{
	return sim_op_of(thread)->slot == SLOT_JOIN && has_others(thread);
}

static void execute(struct sim_thread *thread)
{
	const struct sim_op *op = sim_op_of(thread);
	do_op *act = acts[op->slot] ? acts[op->slot] : do_nothing;

	if (is_blocked(thread))
		return;
	sim_check(!thread->past_trap, "thread %d goes on in the middle of a trap",
		  thread->tid);
	if (sim_has_trap(thread->process->space, op->slot)) {
		model_meets_trap(thread);
		thread->past_trap = true;
		stop_for_trap(thread, arch_native()->breakpoint_si_code);
		return;
	}
	model_executes(thread);
	sim_say("  %d executes %u", thread->tid, op->slot);
	thread->at++;
	act(thread, op);
	if (thread->state == SIM_RUNNING && thread->how == SIM_STEP &&
	    thread->process->traced)
		stop_for_trap(thread, TRAP_TRACE);
}

static void take_signal(struct sim_thread *thread)
{
	int signal = thread->signals[0];

	thread->nsignals--;
	memmove(thread->signals, thread->signals + 1,
		thread->nsignals * sizeof(*thread->signals));
	stop(thread, (struct sim_stop){
			     .kind = EVENT_SIGNAL,
			     .signal = signal,
			     .si_code = SI_USER,
		     });
}

/* The end of a call that was to be stepped through: the single step is one that the
 * kernel makes of the return. */
static void return_from_call(struct sim_thread *thread)
{
	thread->returns = false;
	/* As x86 has it, or as those where that is the code of a breakpoint. */
	if (thread->how == SIM_TO_RETURN)
		stop(thread, (struct sim_stop){.kind = EVENT_SYSCALL});
	else if (arch_native()->breakpoint_si_code == TRAP_BRKPT)
		stop_for_trap(thread, TRAP_TRACE);
	else
		stop_for_trap(thread, TRAP_BRKPT);
}

void sim_tick_thread(struct sim_thread *thread)
{
	if (thread->state != SIM_RUNNING)
		return;
	if (thread->returns) {
		return_from_call(thread);
	} else if (thread->asked_stopped) {
		thread->asked_stopped = false;
		stop_for_interrupt(thread);
	} else if (thread->asked && rng_chance(&sim.rng, 50)) {
		stop_for_interrupt(thread);
	} else if (thread->nsignals > 0 && thread->process->traced) {
		take_signal(thread);
	} else {
		execute(thread);
	}
}

/* ---- who is next ---- */

/* From outside; SIGKILL, too. */
static void send_signal(void)
{
	static const int signals[] = {SIGUSR1, SIGUSR2, SIGALRM};
	struct sim_thread *thread = &sim.thread[rng_below(&sim.rng, sim.nthreads)];

	if (sim.signals_left == 0 || !rng_chance(&sim.rng, 3) || !is_alive(thread) ||
	    !thread->process->traced)
		return;
	sim.signals_left--;
	if (sim.kills && rng_chance(&sim.rng, 30) &&
	    thread_find(&sim.run->inferiors, thread->tid)) {
		sim_say("  %d is killed", thread->process->pid);
		thread->process->is_killed = true;
		end_process(thread->process, NULL);
		return;
	}
	add_signal(thread, signals[rng_below(&sim.rng, 3)]);
}

bool sim_tick(void)
{
	struct sim_thread *able[SIM_THREADS];
	unsigned int count = 0;

	for (unsigned int i = 0; i < sim.nthreads; i++)
		if (sim.thread[i].state == SIM_RUNNING)
			able[count++] = &sim.thread[i];
	if (count == 0)
		return false;
	send_signal();
	sim_tick_thread(able[rng_below(&sim.rng, count)]);
	return true;
}

/* The first one tells its end when all others have. */
static bool may_tell(const struct sim_thread *thread)
{
	if (thread->state == SIM_STOPPED)
		return true;
	if (thread->state != SIM_DEAD)
		return false;
	if (thread->tid != thread->process->pid)
		return true;
	for (unsigned int i = 0; i < sim.nthreads; i++)
		if (&sim.thread[i] != thread && sim.thread[i].state != SIM_GONE &&
		    sim.thread[i].process == thread->process)
			return false;
	return true;
}

/* All that are in the plan run into their first event before one of them tells. */
static void begin_plan(void)
{
	for (unsigned int i = 0; i < sim.nplanned; i++) {
		struct sim_thread *thread = sim_thread(sim.plan[i]);

		while (thread && thread->state == SIM_RUNNING)
			sim_tick_thread(thread);
	}
}

/* The client has its turn between two events, but not while run control halts. */
static struct sim_thread *next_planned(void)
{
	pid_t tid = sim.plan[sim.planned_at++];
	struct sim_thread *thread = sim_thread(tid);

	if (tid == 0) {
		sim.plan_interrupts = true;
		sim.plan_waits = !sim.run->halting;
	}
	return thread && may_tell(thread) ? thread : NULL;
}

struct sim_thread *sim_next(void)
{
	struct sim_thread *able[SIM_THREADS];
	unsigned int count = 0;

	if (sim.nplanned > 0 && sim.planned_at == 0)
		begin_plan();
	while (sim.planned_at < sim.nplanned && !sim.plan_waits) {
		struct sim_thread *thread = next_planned();

		if (thread)
			return thread;
	}
	if (sim.plan_waits)
		return NULL;
	for (unsigned int i = 0; i < sim.nthreads; i++)
		if (may_tell(&sim.thread[i]))
			able[count++] = &sim.thread[i];
	return count > 0 ? able[rng_below(&sim.rng, count)] : NULL;
}
