/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hardware locations over ptrace's debug registers: every hit stops the thread
 * and the stub evaluates the condition. Needs no privilege beyond ptrace.
 */
#include "gdbstub/locations/engine.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gdbstub/inferior/registers.h"
#include "gdbstub/breakpoints/slots.h"
#include "gdbstub/breakpoints/watch.h"

/* One hardware slot in use. */
struct slot {
	struct hw_region region;
	struct location *location; /* whom it serves */
	bool on;		   /* false: suspended, but nobody else's */
};

/* What one inferior has in use. The i-th slot that is on is the i-th region
 * that the threads' debug registers hold. */
struct slots {
	LIST_ENTRY(slots) link;
	struct inferior *inferior;
	struct slot slot[HW_SLOTS_MAX];
	unsigned int count;
};

/* The engine's state: the inferiors with slots in use. */
LIST_HEAD(slots_list, slots);

static struct slots *slots_find(const struct engine *engine,
				const struct inferior *inferior)
{
	struct slots_list *list = engine->state;
	struct slots *slots;

	LIST_FOREACH (slots, list, link)
		if (slots->inferior == inferior)
			return slots;
	return NULL;
}

static struct slots *slots_get(struct engine *engine, struct inferior *inferior)
{
	struct slots *slots = slots_find(engine, inferior);

	if (slots)
		return slots;
	slots = calloc(1, sizeof(*slots));
	if (!slots)
		return NULL;
	slots->inferior = inferior;
	LIST_INSERT_HEAD((struct slots_list *)engine->state, slots, link);
	return slots;
}

static void slots_put_if_empty(struct slots *slots)
{
	if (slots->count > 0)
		return;
	LIST_REMOVE(slots, link);
	free(slots);
}

/* The regions that the debug registers hold, in slot order. Returns their number. */
static unsigned int regions_on(const struct slots *slots, struct hw_region *regions)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < slots->count; i++)
		if (slots->slot[i].on)
			regions[count++] = slots->slot[i].region;
	return count;
}

/* Of a late thread they follow when it has stopped, before which it executes nothing.
 */
static int set_thread(const struct slots *slots, struct thread *thread)
{
	struct hw_region regions[HW_SLOTS_MAX];
	unsigned int count = regions_on(slots, regions);
	int err = thread->inferior->arch->debugreg_set(thread->tid, regions, count);

	thread->debugreg_stale = err == -ESRCH && thread->late;
	return err == -ESRCH ? 0 : err; /* it is being killed */
}

/* Makes every thread's registers what the slots say; stops at a failure. */
static int set_all_threads(const struct slots *slots)
{
	struct thread *thread;
	int err = 0;

	FOREACH_THREAD (thread, slots->inferior) {
		err = set_thread(slots, thread);
		if (err < 0)
			break;
	}
	return err;
}

static void debugreg_catch_up(struct engine *engine, struct thread *thread)
{
	const struct slots none = {0};
	const struct slots *slots =
		engine->state ? slots_find(engine, thread->inferior) : NULL;

	set_thread(slots ? slots : &none, thread);
}

static void drop_location(struct slots *slots, const struct location *location)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < slots->count; i++)
		if (slots->slot[i].location != location)
			slots->slot[kept++] = slots->slot[i];
	slots->count = kept;
}

static int switch_location(struct engine *engine, struct location *location, bool on)
{
	struct slots *slots = slots_find(engine, location->inferior);

	if (!slots)
		return -ENOENT;
	for (unsigned int i = 0; i < slots->count; i++)
		if (slots->slot[i].location == location)
			slots->slot[i].on = on;
	return set_all_threads(slots);
}

/* ---- the pool ---- */

/*
 * What other engines of ours hold counts, too: x86's kernel keeps a slot for a debug
 * register that was set once, though it be switched off (ptrace_bps), so that what was
 * tried in vain would take slots from those engines.
 */
static unsigned int slots_free(const struct slots *slots,
			       const struct location *location, enum hw_kind kind)
{
	const struct arch_ops *arch = slots->inferior->arch;
	unsigned int used = slots_of_other_engines(location, &debugreg_engine), total;
	bool shared;

	for (unsigned int i = 0; i < slots->count; i++)
		used += slots_same_pool(arch, kind, slots->slot[i].region.kind);
	total = arch->hw_slots(kind, &shared);
	if (total > HW_SLOTS_MAX)
		total = HW_SLOTS_MAX;
	return used < total ? total - used : 0;
}

/* Adds the slots of a location to the list: their number or a negative errno. */
static int add_location(struct slots *slots, struct location *location)
{
	struct hw_region plan[HW_SLOTS_MAX];
	unsigned int room = HW_SLOTS_MAX - slots->count;
	int count = slots_plan(location, plan, HW_SLOTS_MAX);

	if (count < 0)
		return count;
	if ((unsigned int)count > room ||
	    (unsigned int)count > slots_free(slots, location, plan[0].kind))
		return -ENOSPC;
	for (int i = 0; i < count; i++)
		slots->slot[slots->count++] = (struct slot){plan[i], location, true};
	return count;
}

static struct error *insert_error(int err)
{
	switch (err) {
	case -ENOSPC:
		return error_create(ENOSPC, "no debug register is free");
	case -EOPNOTSUPP:
		return error_create(EOPNOTSUPP, "not a kind of debug register");
	default:
		return error_create(-err, "cannot set the debug registers");
	}
}

static struct error *debugreg_insert(struct engine *engine, struct location *location)
{
	struct slots *slots;
	int err;

	if (location->type == BREAKPOINT_SOFTWARE)
		return insert_error(-EOPNOTSUPP);
	slots = slots_get(engine, location->inferior);
	if (!slots)
		return insert_error(-ENOMEM);
	err = add_location(slots, location);
	if (err >= 0) {
		err = set_all_threads(slots);
		if (err < 0) {
			drop_location(slots, location);
			set_all_threads(slots);
		}
	}
	slots_put_if_empty(slots);
	return err < 0 ? insert_error(err) : NULL;
}

static void debugreg_remove(struct engine *engine, struct location *location, bool gone)
{
	struct slots *slots = slots_find(engine, location->inferior);

	if (!slots)
		return;
	drop_location(slots, location);
	if (!gone)
		set_all_threads(slots);
	slots_put_if_empty(slots);
}

static int debugreg_suspend(struct engine *engine, struct location *location)
{
	return switch_location(engine, location, false);
}

static int debugreg_resume(struct engine *engine, struct location *location)
{
	return switch_location(engine, location, true);
}

/* A new thread, and a forked child, begins with clear debug registers. */
static int debugreg_thread_added(struct engine *engine, struct location *location,
				 struct thread *thread)
{
	const struct slots *slots = slots_find(engine, location->inferior);

	return slots ? set_thread(slots, thread) : 0;
}

/* ---- stops ---- */

static void append_hits(const struct slots *slots, uint32_t mask, struct hits *hits)
{
	const struct location *last = NULL;
	unsigned int index = 0;

	for (unsigned int i = 0; i < slots->count; i++) {
		const struct slot *slot = &slots->slot[i];

		if (!slot->on || !(mask >> index++ & 1))
			continue;
		/* The pieces of a location are neighbours in the list. */
		if (slot->location == last || hits->count == HITS_MAX)
			continue;
		last = slot->location;
		hits->hit[hits->count++] =
			(struct hit){.location = slot->location, .verdict = HIT_PLAIN};
	}
}

/*
 * TRAP_HWBKPT: a debug register and nothing else stopped the thread. Where hits
 * come after the instruction, one that was single-stepped may have fired a debug
 * register as well: TRAP_TRACE. No other stop has to do with debug registers, and
 * reading them costs a system call.
 */
static bool may_be_hit(const struct event *event)
{
	if (event->signal != SIGTRAP)
		return false;
	return event->siginfo.si_code == TRAP_HWBKPT ||
	       (event->siginfo.si_code == TRAP_TRACE &&
		!event->inferior->arch->debugreg_hits_repeat);
}

static void debugreg_on_stop(struct engine *engine, const struct event *event,
			     struct hits *hits)
{
	uint64_t addr = (uint64_t)(uintptr_t)event->siginfo.si_addr;
	struct hw_region regions[HW_SLOTS_MAX];
	const struct slots *slots;
	unsigned int count;
	uint32_t mask;

	if (!may_be_hit(event))
		return;
	slots = slots_find(engine, event->inferior);
	count = slots ? regions_on(slots, regions) : 0;
	if (count == 0 ||
	    event->inferior->arch->debugreg_hits(event->tid, addr, regions, count,
						 &mask) < 0 ||
	    mask == 0)
		return;
	append_hits(slots, mask, hits);
	if (event->siginfo.si_code == TRAP_HWBKPT)
		hits->signal_is_ours = true;
}

static void debugreg_describe(struct engine *engine, const struct location *location,
			      struct buffer *out)
{
	(void)engine;
	buffer_append_string(out, watch_tells_all(location) ? "gdb" : "stub");
}

/* ---- probe ---- */

/* Where the trial's child has to stop. */
static __attribute__((noinline)) void trial_target(void)
{
	__asm__ volatile("" ::: "memory");
}

/* A child that traces itself, calls the target once it is continued, and ends. */
static pid_t trial_fork(void)
{
	pid_t tracer = getpid();
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != tracer || ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(1);
	raise(SIGSTOP);
	trial_target();
	_exit(0);
}

/* Waits for the child to stop by @signal: 0 or -ECHILD. An end is left for the
 * final wait, so that the pid stays the child's own. */
static int trial_wait(pid_t pid, int signal)
{
	siginfo_t info = {0};
	int status;

	while (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOWAIT) < 0)
		if (errno != EINTR)
			return -ECHILD;
	if (info.si_code != CLD_STOPPED && info.si_code != CLD_TRAPPED)
		return -ECHILD;
	if (waitpid(pid, &status, WNOHANG) != pid || !WIFSTOPPED(status))
		return -ECHILD;
	return WSTOPSIG(status) == signal ? 0 : -ECHILD;
}

/* SIGSTOP to a stop at the target, by a debug register. */
static struct error *trial_run(pid_t pid)
{
	struct inferior inferior = {.pid = pid, .arch = arch_native()};
	struct thread thread = {.inferior = &inferior, .tid = pid};
	struct hw_region region = {HW_EXECUTE, (uint64_t)(uintptr_t)trial_target, 1};
	struct hw_region plan;
	uint32_t mask = 0;
	siginfo_t info;
	uint64_t pc;
	int err;

	if (trial_wait(pid, SIGSTOP) < 0)
		return error_create(0, "a process cannot be traced here");
	inferior.arch->hw_plan(&region, &plan, 1);
	err = inferior.arch->debugreg_set(pid, &plan, 1);
	if (err < 0)
		return error_create(-err, "ptrace cannot set a debug register");
	if (ptrace(PTRACE_CONT, pid, NULL, NULL) != 0 || trial_wait(pid, SIGTRAP) < 0)
		return error_create(0,
				    "a debug register that ptrace sets does not fire");
	if (ptrace(PTRACE_GETSIGINFO, pid, NULL, &info) != 0 ||
	    info.si_code != TRAP_HWBKPT || thread_get_pc(&thread, &pc) < 0 ||
	    pc != region.addr ||
	    inferior.arch->debugreg_hits(pid, (uint64_t)(uintptr_t)info.si_addr, &plan,
					 1, &mask) < 0 ||
	    mask != 1)
		return error_create(0, "a debug register does not stop at its address");
	return NULL;
}

static struct error *debugreg_probe(struct engine *engine)
{
	struct slots_list *list;
	struct error *error;
	pid_t pid = trial_fork();

	if (pid < 0)
		return error_create(errno, "cannot fork for a trial");
	error = trial_run(pid);
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (error)
		return error;
	list = malloc(sizeof(*list));
	if (!list)
		return error_create(ENOMEM, "debug registers");
	LIST_INIT(list);
	engine->state = list;
	return NULL;
}

static void debugreg_deinit(struct engine *engine)
{
	struct slots_list *list = engine->state;

	while (!LIST_EMPTY(list)) {
		struct slots *slots = LIST_FIRST(list);

		LIST_REMOVE(slots, link);
		free(slots);
	}
	free(list);
	engine->state = NULL;
}

const struct engine_ops debugreg_engine = {
	.name = "debugreg",
	.title = "debug registers over ptrace, conditions in the stub",
	.by_slots = true,
	.hits_repeat = true,
	.probe = debugreg_probe,
	.deinit = debugreg_deinit,
	.insert = debugreg_insert,
	.remove = debugreg_remove,
	.suspend = debugreg_suspend,
	.resume = debugreg_resume,
	.thread_added = debugreg_thread_added,
	.on_stop = debugreg_on_stop,
	.describe = debugreg_describe,
	.catch_up = debugreg_catch_up,
};
