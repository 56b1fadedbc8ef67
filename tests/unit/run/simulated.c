/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/run/simulated.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"

enum {
	PID = 5000000, /* above all that Linux gives (PID_MAX_LIMIT): nobody has it */
	DEEDS_MAX = 6,
	CHILD_INSNS = 6,
	NOP = 0x90, /* any byte that is no trap */
};

struct sim sim;

void sim_fail(const char *format, ...)
{
	va_list args;

	if (sim.failure[0] != '\0')
		return;
	va_start(args, format);
	vsnprintf(sim.failure, sizeof(sim.failure), format, args);
	va_end(args);
	sim_print("wrong: %s", sim.failure);
}

void sim_print(const char *format, ...)
{
	va_list args;

	if (!sim.prints)
		return;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

/* ---- what there is ---- */

uint64_t sim_place(unsigned int number)
{
	return TEXT + 32 + 8 * number;
}

unsigned int sim_place_at(uint64_t addr)
{
	unsigned int place = 0;

	while (place < PLACES && sim_place(place) != addr)
		place++;
	return place;
}

struct sim_thread *sim_find(pid_t tid)
{
	for (int i = 0; i < SIM_THREADS; i++) {
		if (tid != 0 && sim.thread[i].tid == tid)
			return &sim.thread[i];
	}
	return NULL;
}

struct sim_child *sim_find_child(pid_t pid)
{
	for (int i = 0; i < SIM_PROCESSES; i++) {
		if (pid != 0 && sim.child[i].pid == pid)
			return &sim.child[i];
	}
	return NULL;
}

struct sim_memory *sim_memory_of(pid_t pid)
{
	struct sim_child *child = sim_find_child(pid);

	if (pid == sim.pid || (child && child->shares))
		return &sim.memory;
	return child ? &child->memory : NULL;
}

bool sim_is_lent(void)
{
	for (int i = 0; i < SIM_PROCESSES; i++) {
		if (sim.child[i].pid != 0 && sim.child[i].shares)
			return true;
	}
	return false;
}

static bool has_trap(const struct sim_memory *memory, uint64_t addr)
{
	return memcmp(memory->bytes + (addr - TEXT), arch_native()->breakpoint_insn,
		      arch_native()->breakpoint_len) == 0;
}

bool sim_is_lifted(void)
{
	for (unsigned int i = 0; i < PLACES; i++) {
		if (sim.wanted[i] && !has_trap(&sim.memory, sim_place(i)))
			return true;
	}
	return false;
}

struct sim_thread *sim_new_thread(void)
{
	for (int i = 0; i < SIM_THREADS; i++) {
		struct sim_thread *thread = &sim.thread[i];

		if (thread->tid != 0)
			continue;
		*thread = (struct sim_thread){
			.tid = sim.last_tid++,
			.pc = ELSEWHERE,
			.place = NO_PLACE,
			.deeds = 1 + rng_below(&sim.rng, DEEDS_MAX),
		};
		return thread;
	}
	return NULL;
}

void sim_begin(uint64_t seed, uint64_t order, unsigned int threads)
{
	bool prints = sim.prints;

	memset(&sim, 0, sizeof(sim));
	sim.prints = prints;
	sim.order = order;
	sim.rng = rng_make(seed, order, 0);
	sim.pid = sim.last_tid = PID;
	memset(sim.memory.bytes, NOP, sizeof(sim.memory.bytes));
	while (threads-- > 0)
		sim_new_thread();
}

void sim_set_wanted(unsigned int place, bool wanted)
{
	sim_print("client: %s place %u", wanted ? "wants" : "does not want", place);
	sim.wanted[place] = wanted;
	sim.epoch[place]++;
}

/* ---- events ---- */

static void tell(struct sim_thread *thread, struct event event)
{
	thread->runs = thread->interrupted = false;
	thread->has_event = true;
	thread->event = event;
	sim_print("%d: %s %d at 0x%jx", thread->tid, event_kind_name(event.kind),
		  event.signal, (uintmax_t)thread->pc);
}

static void tell_signal(struct sim_thread *thread, int signal, int code)
{
	struct event event = {.kind = EVENT_SIGNAL, .signal = signal};

	event.siginfo.si_signo = signal;
	event.siginfo.si_code = code;
	tell(thread, event);
}

/* ---- places ---- */

static void come_to(struct sim_thread *thread, unsigned int place, bool value)
{
	thread->place = place;
	thread->pc = sim_place(place);
	thread->value = value;
	thread->epoch = sim.epoch[place];
	thread->evaluated = thread->told = 0;
	sim_print("%d: comes to place %u, %s", thread->tid, place,
		  value ? "true" : "false");
}

/* It has executed the instruction there. */
static void go_past(struct sim_thread *thread)
{
	const unsigned int place = thread->place;

	sim_print("%d: is past place %u", thread->tid, place);
	if (sim.wanted[place] && thread->epoch == sim.epoch[place]) {
		if (thread->evaluated != 1)
			sim_fail("thread %d is past place %u, evaluated %u times",
				 thread->tid, place, thread->evaluated);
		if (thread->told != thread->value)
			sim_fail("thread %d is past place %u, told %u times",
				 thread->tid, place, thread->told);
	}
	thread->place = NO_PLACE;
	thread->pc = ELSEWHERE;
}

void sim_pass(struct sim_thread *thread)
{
	go_past(thread);
}

static void execute_place(struct sim_thread *thread)
{
	const struct arch_ops *arch = arch_native();

	if (has_trap(&sim.memory, thread->pc)) {
		thread->pc += arch->breakpoint_pc_advance;
		tell_signal(thread, SIGTRAP, arch->breakpoint_si_code);
		return;
	}
	go_past(thread);
	if (thread->steps)
		tell_signal(thread, SIGTRAP, TRAP_TRACE);
}

/* ---- deeds ---- */

/* With those that are to be made. */
static unsigned int count_threads(void)
{
	unsigned int count = 0;

	for (int i = 0; i < SIM_THREADS; i++) {
		const struct sim_thread *thread = &sim.thread[i];

		count += thread->tid != 0;
		count += thread->tid != 0 && thread->has_event &&
			 thread->event.kind == EVENT_CLONE;
	}
	return count;
}

static struct sim_child *new_child(struct sim_thread *maker, bool shares)
{
	for (int i = 0; i < SIM_PROCESSES; i++) {
		struct sim_child *child = &sim.child[i];

		if (child->pid != 0)
			continue;
		*child = (struct sim_child){
			.pid = sim.last_tid++,
			.shares = shares,
			.memory = sim.memory,
			.maker = maker,
			.left = 1 + rng_below(&sim.rng, CHILD_INSNS),
		};
		return child;
	}
	return NULL;
}

static void do_fork(struct sim_thread *thread, bool shares)
{
	const struct sim_child *child = new_child(thread, shares);

	if (!child)
		return;
	tell(thread, (struct event){.kind = shares ? EVENT_VFORK : EVENT_FORK,
				    .child_pid = child->pid,
				    .own_memory = !shares});
	thread->waits = shares;
}

/* The child is made when its maker tells of it. */
static void do_clone(struct sim_thread *thread)
{
	if (count_threads() < SIM_THREADS)
		tell(thread, (struct event){.kind = EVENT_CLONE});
}

static void do_exit(struct sim_thread *thread)
{
	bool leads = thread->tid == sim.pid;

	if (leads && count_threads() > 1)
		return;
	if (thread->raised != thread->delivered)
		sim_fail("thread %d got %u signals, and was resumed with %u",
			 thread->tid, thread->raised, thread->delivered);
	tell(thread, (struct event){.kind = leads ? EVENT_EXITED : EVENT_THREAD_EXIT});
	if (leads)
		sim.ended = true;
}

/* The others tell nothing more. */
static void do_kill(void)
{
	struct sim_thread *leader = sim_find(sim.pid);

	for (int i = 0; i < SIM_THREADS; i++) {
		struct sim_thread *thread = &sim.thread[i];

		thread->has_event = thread->runs = false;
		if (thread->tid != 0 && thread != leader)
			tell(thread, (struct event){.kind = EVENT_THREAD_EXIT});
	}
	tell(leader, (struct event){.kind = EVENT_KILLED, .signal = SIGKILL});
	sim.ended = true;
}

static void do_signal(struct sim_thread *thread, int signal)
{
	thread->raised++;
	tell_signal(thread, signal, SI_USER);
}

/* Every thread that runs stops, before its next instruction. */
static void do_continued(void)
{
	for (int i = 0; i < SIM_THREADS; i++) {
		struct sim_thread *thread = &sim.thread[i];

		if (thread->tid != 0 && thread->runs && !thread->waits)
			tell(thread, (struct event){.kind = EVENT_UNASKED});
	}
}

static void do_deed(struct sim_thread *thread, enum deed deed)
{
	switch (deed) {
	case DEED_TRUE:
	case DEED_FALSE:
		come_to(thread, rng_below(&sim.rng, PLACES), deed == DEED_TRUE);
		break;
	case DEED_SIGNAL:
		do_signal(thread, SIGNAL_TOLD);
		break;
	case DEED_PASSED:
		do_signal(thread, SIGNAL_PASSED);
		break;
	case DEED_CLONE:
		do_clone(thread);
		break;
	case DEED_VFORK:
	case DEED_FORK:
		do_fork(thread, deed == DEED_VFORK);
		break;
	case DEED_CONTINUED:
		do_continued();
		break;
	case DEED_KILLED:
		do_kill();
		break;
	default:
		do_exit(thread);
		break;
	}
}

static enum deed choose_deed(struct sim_thread *thread)
{
	static const uint8_t weights[DEEDS] = {
		[DEED_TRUE] = 20,  [DEED_FALSE] = 30,	 [DEED_SIGNAL] = 8,
		[DEED_PASSED] = 8, [DEED_CLONE] = 8,	 [DEED_VFORK] = 10,
		[DEED_FORK] = 5,   [DEED_CONTINUED] = 4, [DEED_KILLED] = 1,
		[DEED_EXIT] = 6,
	};
	unsigned int at = rng_below(&sim.rng, 100), deed = 0;

	if (sim.script_done < sim.scripted)
		return sim.script[sim.script_done++];
	if (thread->deeds == 0)
		return DEED_EXIT;
	thread->deeds--;
	while (at >= weights[deed])
		at -= weights[deed++];
	return deed;
}

/* ---- who does something ---- */

static void act_thread(struct sim_thread *thread)
{
	if (thread->interrupted && rng_chance(&sim.rng, 50))
		tell(thread, (struct event){.kind = EVENT_INTERRUPTED});
	else if (thread->place != NO_PLACE)
		execute_place(thread);
	else if (thread->steps)
		tell_signal(thread, SIGTRAP, TRAP_TRACE);
	else
		do_deed(thread, choose_deed(thread));
}

static void end_child(struct sim_child *child)
{
	struct sim_thread *maker = child->maker;

	sim_print("child %d ends", child->pid);
	child->pid = 0;
	if (!child->shares || sim.ended || maker->tid == 0)
		return;
	maker->waits = false;
	tell(maker, (struct event){.kind = EVENT_VFORK_DONE});
}

static void act_child(struct sim_child *child)
{
	const struct sim_memory *memory = child->shares ? &sim.memory : &child->memory;
	uint64_t addr = sim_place(rng_below(&sim.rng, PLACES));

	if (has_trap(memory, addr))
		sim_fail("child %d, which was let go, meets a trap", child->pid);
	if (--child->left == 0)
		end_child(child);
}

/* A vfork child goes on once it is let go; its maker is told of its end when that has
 * been resumed. */
static bool can_act(const struct sim_child *child)
{
	return child->pid != 0 && child->let_go &&
	       (!child->shares || sim.ended || child->left > 1 || child->maker->runs);
}

void sim_act(void)
{
	unsigned int at = rng_below(&sim.rng, SIM_THREADS + SIM_PROCESSES);

	for (int i = 0; i < SIM_THREADS + SIM_PROCESSES; i++) {
		struct sim_thread *thread = &sim.thread[at % SIM_THREADS];
		struct sim_child *child = &sim.child[at % SIM_PROCESSES];

		if (at < SIM_THREADS && thread->tid != 0 && thread->runs &&
		    !thread->waits && !sim.ended) {
			act_thread(thread);
			return;
		}
		if (at >= SIM_THREADS && can_act(child)) {
			act_child(child);
			return;
		}
		at = (at + 1) % (SIM_THREADS + SIM_PROCESSES);
	}
}

/* ---- run control ---- */

/* While a trap is lifted for a thread, it alone may run. */
static void check_alone(const struct sim_thread *thread)
{
	if (!sim_is_lifted() || sim_is_lent())
		return;
	for (int i = 0; i < SIM_THREADS; i++) {
		const struct sim_thread *other = &sim.thread[i];

		if (other != thread && other->tid != 0 && other->runs && !other->waits)
			sim_fail("thread %d runs while %d may step over a trap",
				 other->tid, thread->tid);
	}
}

void sim_resume(struct sim_thread *thread, int signal, bool steps)
{
	sim_print("%d: is resumed%s, signal %d", thread->tid, steps ? " to step" : "",
		  signal);
	if (thread->has_event || thread->runs)
		sim_fail("thread %d is resumed, but not stopped", thread->tid);
	thread->runs = true;
	thread->steps = steps;
	thread->delivered += signal != 0;
	/* After a handler it comes to the place anew. */
	if (signal != 0 && thread->place != NO_PLACE)
		come_to(thread, thread->place, thread->value);
	check_alone(thread);
}
