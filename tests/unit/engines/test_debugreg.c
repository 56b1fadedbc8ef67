/* SPDX-License-Identifier: BSD-2-Clause */
/* The debug register engine on real processes. */
#include "gdbstub/locations/engine.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "gdbstub/tracing/attach.h"
#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/tracing/resume.h"
#include "gdbstub/tracing/wait.h"
#include "tests/unit/child.h"
#include "tests/unit/support.h"

/* What the child does when told: its functions and variables are ours too. */
static volatile uint64_t words[8] __attribute__((aligned(64)));
static volatile uint64_t seen;

static __attribute__((noinline)) void target(void)
{
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void other_target(void)
{
	__asm__ volatile("" ::: "memory");
	words[7] = 1;
}

static void *thread_main(void *unused)
{
	target();
	return unused;
}

static void obey(char command)
{
	uint64_t wide = UINT64_MAX;
	pthread_t thread;

	switch (command) {
	case 'x':
		target();
		break;
	case 'y':
		other_target();
		break;
	case 'w':
		words[0]++;
		break;
	case 'r':
		seen = words[0];
		break;
	case 'u': /* 8 bytes in the middle of two words */
		memcpy((char *)words + 4, &wide, sizeof(wide));
		break;
	case 't':
		pthread_create(&thread, NULL, thread_main, NULL);
		pthread_join(thread, NULL);
		break;
	case 's':
		raise(SIGTRAP);
		break;
	default:
		_exit(7);
	}
}

/* One process under an engine. */
struct fixture {
	struct inferiors inferiors;
	struct inferior *inferior;
	struct engine engine;
	int commands;
};

static struct fixture f;

static pid_t start_child(void)
{
	int ends[2];
	char command;
	pid_t pid;

	cr_assert_eq(pipe(ends), 0);
	f.commands = ends[1];
	pid = child_fork();
	if (pid != 0)
		return pid;
	close(ends[1]);
	while (read(ends[0], &command, 1) == 1)
		obey(command);
	_exit(0);
}

static void setup(void)
{
	struct error *error _cleanup_error_ = arch_native()->init();

	cr_assert_null(error);
	f.engine.ops = &debugreg_engine;
	f.engine.unusable = debugreg_engine.probe(&f.engine);
	if (f.engine.unusable)
		cr_skip_test("no debug registers: %s", error_text(f.engine.unusable));
	inferiors_init(&f.inferiors);
	error = inferior_attach(&f.inferiors, start_child(), &f.inferior);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
}

static void teardown(void)
{
	if (f.inferior)
		inferior_kill(f.inferior);
	if (!f.engine.unusable)
		debugreg_engine.deinit(&f.engine);
	error_destroy(f.engine.unusable);
	inferiors_deinit(&f.inferiors);
}

static struct thread *leader(void)
{
	return TAILQ_FIRST(&f.inferior->threads);
}

static void tell(const char *commands)
{
	cr_assert_eq(write(f.commands, commands, strlen(commands)),
		     (ssize_t)strlen(commands));
}

static struct location at(enum breakpoint_type type, const volatile void *addr,
			  unsigned int len)
{
	return (struct location){
		.inferior = f.inferior,
		.type = type,
		.addr = (uint64_t)(uintptr_t)addr,
		.len = len,
	};
}

static struct location breakpoint(void (*function)(void))
{
	return at(BREAKPOINT_HARDWARE, (const void *)(uintptr_t)function,
		  arch_native()->breakpoint_len);
}

static int insert(struct location *location)
{
	struct error *error _cleanup_error_ =
		debugreg_engine.insert(&f.engine, location);

	return error ? error_errno(error) : 0;
}

/* The next event that is not the end of a thread, and what the engine says. */
static struct hits next_stop(struct event *event)
{
	struct hits hits = {0};

	do
		inferiors_wait(&f.inferiors, true, event);
	while (event->kind == EVENT_THREAD_EXIT);
	if (event->kind == EVENT_SIGNAL)
		debugreg_engine.on_stop(&f.engine, event, &hits);
	return hits;
}

/* Resumes past a hit, which may need a step with the location off. */
static void go_on(struct thread *thread, struct location *location)
{
	struct event event;

	if (arch_native()->debugreg_hits_repeat) {
		cr_assert_eq(debugreg_engine.suspend(&f.engine, location), 0);
		cr_assert_eq(thread_step(thread, 0), 0);
		next_stop(&event);
		cr_assert_eq(debugreg_engine.resume(&f.engine, location), 0);
	}
	cr_assert_eq(thread_continue(thread, 0), 0);
}

static void expect_hit(struct location *location)
{
	struct event event;
	struct hits hits = next_stop(&event);
	uint64_t pc;

	cr_assert_eq(event.kind, EVENT_SIGNAL);
	cr_assert_eq(event.signal, SIGTRAP);
	cr_assert_eq(hits.count, 1, "%u hits", hits.count);
	cr_assert_eq(hits.hit[0].location, location);
	cr_assert_eq(hits.hit[0].verdict, HIT_PLAIN);
	cr_assert(hits.signal_is_ours);
	cr_assert_eq(thread_get_pc(event.thread, &pc), 0);
	if (location->type == BREAKPOINT_HARDWARE)
		cr_assert_eq(pc, location->addr);
}

/* Lets the child end: it must not stop any more. */
static void expect_end(void)
{
	struct event event;

	tell("q");
	next_stop(&event);
	cr_assert_eq(event.kind, EVENT_EXITED, "%s", event_kind_name(event.kind));
	cr_assert_eq(event.status, 7);
	inferior_destroy(f.inferior);
	f.inferior = NULL;
}

TestSuite(debugreg, .init = setup, .fini = teardown);

Test(debugreg, execution_stops_at_the_address_each_time)
{
	struct location location = breakpoint(target);

	cr_assert_eq(insert(&location), 0);
	tell("xyxwx");
	thread_continue(leader(), 0);
	for (int i = 0; i < 3; i++) {
		expect_hit(&location);
		if (i < 2)
			go_on(leader(), &location);
	}
	debugreg_engine.remove(&f.engine, &location, false);
	thread_continue(leader(), 0);
	tell("xx");
	expect_end();
}

Test(debugreg, a_hit_is_recorded_once)
{
	struct location location = at(WATCHPOINT_WRITE, &words[0], 8);
	struct event event;
	struct hits again = {0};

	if (arch_native()->debugreg_hits_repeat)
		cr_skip_test("the stop itself is the record");
	cr_assert_eq(insert(&location), 0);
	tell("w");
	thread_continue(leader(), 0);
	cr_assert_eq(next_stop(&event).count, 1);
	debugreg_engine.on_stop(&f.engine, &event, &again);
	cr_assert_eq(again.count, 0);
}

Test(debugreg, data_access)
{
	struct location write = at(WATCHPOINT_WRITE, &words[0], 8);
	struct location access = at(WATCHPOINT_ACCESS, &words[0], 8);

	cr_assert_eq(insert(&write), 0);
	tell("rw");
	thread_continue(leader(), 0);
	expect_hit(&write);
	debugreg_engine.remove(&f.engine, &write, false);
	cr_assert_eq(insert(&access), 0);
	tell("r");
	thread_continue(leader(), 0);
	expect_hit(&access);
	debugreg_engine.remove(&f.engine, &access, false);
	thread_continue(leader(), 0);
	expect_end();
}

Test(debugreg, slots_are_told_apart)
{
	struct location first = breakpoint(target);
	struct location second = breakpoint(other_target);
	struct location third = at(WATCHPOINT_WRITE, &words[0], 8);
	struct location fourth = at(WATCHPOINT_WRITE, &words[7], 1);

	cr_assert_eq(insert(&first), 0);
	cr_assert_eq(insert(&second), 0);
	cr_assert_eq(insert(&third), 0);
	cr_assert_eq(insert(&fourth), 0);
	tell("wyx");
	thread_continue(leader(), 0);
	expect_hit(&third);
	go_on(leader(), &third);
	expect_hit(&second);
	go_on(leader(), &second);
	expect_hit(&fourth);
	/* The ones after a removed one stay what they are. */
	debugreg_engine.remove(&f.engine, &second, false);
	go_on(leader(), &fourth);
	expect_hit(&first);
	go_on(leader(), &first);
	tell("yw");
	expect_hit(&fourth);
	go_on(leader(), &fourth);
	expect_hit(&third);
}

Test(debugreg, a_watch_in_pieces_is_one_hit)
{
	struct location location = at(WATCHPOINT_WRITE, (char *)words + 4, 8);

	cr_assert_eq(insert(&location), 0);
	tell("u");
	thread_continue(leader(), 0);
	expect_hit(&location);
}

Test(debugreg, no_slot_left)
{
	struct location locations[HW_SLOTS_MAX + 1];
	bool shared;
	unsigned int slots = arch_native()->hw_slots(HW_WRITE, &shared);
	unsigned int i;

	for (i = 0; i < slots; i++) {
		locations[i] = at(WATCHPOINT_WRITE, &words[1], 8);
		if (i == 0)
			locations[i] = at(WATCHPOINT_WRITE, &words[0], 8);
		cr_assert_eq(insert(&locations[i]), 0);
	}
	locations[i] = at(WATCHPOINT_WRITE, &words[2], 8);
	cr_assert_eq(insert(&locations[i]), ENOSPC);
	/* The others are as they were. */
	tell("w");
	thread_continue(leader(), 0);
	expect_hit(&locations[0]);
	/* One that needs two slots does not get the single free one. */
	debugreg_engine.remove(&f.engine, &locations[1], false);
	locations[1] = at(WATCHPOINT_WRITE, (char *)&words[2] + 4, 8);
	cr_assert_eq(insert(&locations[1]), ENOSPC);
	cr_assert_eq(insert(&locations[i]), 0);
}

/* A slot that a perf event of somebody else holds. */
static int take_slot(pid_t pid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uint64_t)(uintptr_t)&words[6],
		.bp_len = 8,
		.sample_period = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, 0UL);
}

Test(debugreg, slots_taken_by_others)
{
	struct location locations[HW_SLOTS_MAX];
	bool shared;
	unsigned int slots = arch_native()->hw_slots(HW_WRITE, &shared);
	unsigned int i;
	int fd _cleanup_close_ = take_slot(f.inferior->pid);

	if (fd < 0)
		cr_skip_test("perf_event_open: %s", strerror(errno));
	for (i = 0; i < slots - 1; i++) {
		locations[i] = at(WATCHPOINT_WRITE, &words[i], 8);
		cr_assert_eq(insert(&locations[i]), 0, "slot %u", i);
	}
	locations[i] = breakpoint(target);
	if (shared)
		cr_assert_eq(insert(&locations[i]), ENOSPC);
	/* What was undone does not stop anybody; what was there does. */
	tell("xw");
	thread_continue(leader(), 0);
	expect_hit(&locations[0]);
}

Test(debugreg, new_threads)
{
	struct location location = breakpoint(target);
	struct event event;

	cr_assert_eq(insert(&location), 0);
	tell("t");
	thread_continue(leader(), 0);
	next_stop(&event);
	cr_assert_eq(event.kind, EVENT_CLONE, "%s", event_kind_name(event.kind));
	cr_assert_eq(debugreg_engine.thread_added(&f.engine, &location, event.child),
		     0);
	thread_continue(event.child, 0);
	thread_continue(event.thread, 0);
	expect_hit(&location);
}

Test(debugreg, every_thread_is_set)
{
	struct location first = breakpoint(target);
	struct location second = at(WATCHPOINT_WRITE, &words[0], 8);
	struct event event;

	tell("tw");
	thread_continue(leader(), 0);
	next_stop(&event);
	cr_assert_eq(event.kind, EVENT_CLONE);
	cr_assert_eq(insert(&first), 0);
	cr_assert_eq(insert(&second), 0);
	thread_continue(event.child, 0);
	expect_hit(&first);
	go_on(event.child, &first);
	thread_continue(leader(), 0);
	expect_hit(&second);
}

Test(debugreg, suspended_locations_do_not_stop)
{
	struct location first = at(WATCHPOINT_WRITE, &words[0], 8);
	struct location second = breakpoint(target);

	cr_assert_eq(insert(&first), 0);
	cr_assert_eq(insert(&second), 0);
	cr_assert_eq(debugreg_engine.suspend(&f.engine, &first), 0);
	tell("wx");
	thread_continue(leader(), 0);
	expect_hit(&second);
	cr_assert_eq(debugreg_engine.resume(&f.engine, &first), 0);
	tell("wx");
	go_on(leader(), &second);
	expect_hit(&first);
	go_on(leader(), &first);
	expect_hit(&second);
}

/* Steps through what the child does until the engine names a hit. */
static struct hits step_to_hit(struct event *event)
{
	struct hits hits = {0};

	for (int i = 0; i < 10000 && hits.count == 0; i++) {
		cr_assert_eq(thread_step(leader(), 0), 0);
		hits = next_stop(event);
		cr_assert_eq(event->kind, EVENT_SIGNAL, "%s",
			     event_kind_name(event->kind));
		cr_assert(hits.count > 0 || !hits.signal_is_ours);
	}
	cr_assert_eq(hits.count, 1);
	return hits;
}

Test(debugreg, a_step_that_accesses_data)
{
	struct location location = at(WATCHPOINT_WRITE, &words[0], 8);
	struct event event;
	struct hits hits;

	if (arch_native()->debugreg_hits_repeat)
		cr_skip_test("a hit comes before the access, not with the step");
	need_steps_over_watched();
	cr_assert_eq(insert(&location), 0);
	tell("w");
	hits = step_to_hit(&event);
	cr_assert_eq(hits.hit[0].location, &location);
	cr_assert_eq(event.siginfo.si_code, TRAP_TRACE);
	cr_assert_not(hits.signal_is_ours, "it is the end of a step, too");
	/* It is told once. */
	cr_assert_eq(thread_step(leader(), 0), 0);
	cr_assert_eq(next_stop(&event).count, 0);
}

Test(debugreg, a_step_from_the_address)
{
	struct location location = breakpoint(target);
	struct event event;
	struct hits hits;
	uint64_t pc;

	if (arch_native()->sequence.mask != 0)
		cr_skip_test("steps do not get out of exclusive sequences");
	cr_assert_eq(insert(&location), 0);
	tell("x");
	hits = step_to_hit(&event);
	cr_assert_eq(event.siginfo.si_code, TRAP_HWBKPT);
	cr_assert(hits.signal_is_ours, "the step is not done yet");
	cr_assert_eq(thread_get_pc(leader(), &pc), 0);
	cr_assert_eq(pc, location.addr);
	if (arch_native()->debugreg_hits_repeat)
		return;
	cr_assert_eq(thread_step(leader(), 0), 0);
	hits = next_stop(&event);
	cr_assert_eq(hits.count, 0);
	cr_assert_eq(thread_get_pc(leader(), &pc), 0);
	cr_assert_neq(pc, location.addr);
}

Test(debugreg, the_programs_own_sigtrap)
{
	struct location location = breakpoint(target);
	struct event event;
	struct hits hits;

	cr_assert_eq(insert(&location), 0);
	tell("s");
	thread_continue(leader(), 0);
	hits = next_stop(&event);
	cr_assert_eq(event.signal, SIGTRAP);
	cr_assert_eq(hits.count, 0);
	cr_assert_not(hits.signal_is_ours);
}

Test(debugreg, kinds_that_are_not_there)
{
	struct location software = breakpoint(target);
	struct location nothing = at(WATCHPOINT_WRITE, &words[0], 0);
	struct location read = at(WATCHPOINT_READ, &words[0], 8);
	struct hw_region region = {HW_READ, read.addr, 8}, out;

	software.type = BREAKPOINT_SOFTWARE;
	cr_assert_eq(insert(&software), EOPNOTSUPP);
	cr_assert_eq(insert(&nothing), EINVAL);
	cr_assert_eq(insert(&read),
		     arch_native()->hw_plan(&region, &out, 1) == 1 ? 0 : EOPNOTSUPP);
}

Test(debugreg, an_address_that_the_kernel_refuses)
{
	struct location good = at(WATCHPOINT_WRITE, &words[0], 8);
	struct location bad = good;

	bad.addr = UINT64_C(0xffffffff81000000);
	cr_assert_eq(insert(&good), 0);
	cr_assert_neq(insert(&bad), 0);
	tell("w");
	thread_continue(leader(), 0);
	expect_hit(&good);
}

Test(debugreg, a_dead_process)
{
	struct location before = breakpoint(target);
	struct location after = at(WATCHPOINT_WRITE, &words[0], 8);

	cr_assert_eq(insert(&before), 0);
	kill(f.inferior->pid, SIGKILL);
	cr_assert_eq(insert(&after), 0, "its end is no error of ours");
	debugreg_engine.remove(&f.engine, &after, false);
	debugreg_engine.remove(&f.engine, &before, true);
}

Test(debugreg, describes_itself)
{
	struct location location = breakpoint(target);
	struct buffer text _cleanup_buffer_ = {0};

	debugreg_engine.describe(&f.engine, &location, &text);
	cr_assert_str_eq(buffer_string(&text), "gdb", "there is nothing to decide");
	buffer_reset(&text);
	location.conditions.count = 1;
	debugreg_engine.describe(&f.engine, &location, &text);
	cr_assert_str_eq(buffer_string(&text), "stub");
}
