/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/perf_child.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/placement/placement.h"
#include "gdbstub/tracing/attach.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/tracing/resume.h"
#include "gdbstub/tracing/inferiors.h"
#include "tests/unit/support.h"

volatile uint64_t counter;
struct fixture fixture;

static volatile bool *go; /* shared with the child */

void start(void (*run)(void))
{
	_cleanup_error_ struct error *error = NULL;

	go = mmap(NULL, sizeof(*go), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		  -1, 0);
	cr_assert_neq((void *)go, MAP_FAILED);
	fixture.pid = child_fork();
	if (fixture.pid == 0) {
		while (!*go)
			sched_yield();
		run();
		_exit(GOOD_STATUS);
	}
	inferiors_init(&fixture.inferiors);
	error = inferior_attach(&fixture.inferiors, fixture.pid, &fixture.inferior);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	*go = true;
}

void set_up(void)
{
	_cleanup_error_ struct error *error = arch_native()->init();

	cr_assert_null(error);
	need_breakpoint_registers();
	fixture = (struct fixture){.engine.ops = &perf_event_engine,
				   .engine.placements = placements_create()};
	fixture.engine.unusable = fixture.engine.ops->probe(&fixture.engine);
	if (fixture.engine.unusable && geteuid() != 0)
		cr_skip_test("%s", error_text(fixture.engine.unusable));
	cr_assert_null(fixture.engine.unusable, "%s",
		       fixture.engine.unusable ? error_text(fixture.engine.unusable)
					       : "");
}

void tear_down(void)
{
	if (fixture.inferior)
		inferior_kill(fixture.inferior);
	inferiors_deinit(&fixture.inferiors);
	fixture.engine.ops->deinit(&fixture.engine);
	placements_destroy(fixture.engine.placements);
}

/* Resumes whatever is stopped, with the signal that was seen if it is not ours. */
static void resume_all(void)
{
	struct thread *thread;

	FOREACH_THREAD (thread, fixture.inferior)
		if (!thread->running)
			cr_assert_geq(thread_continue(thread, 0), -ESRCH);
}

/* gdbstub/hits/unexplained.h: the thread hits the breakpoint again. */
static bool is_unexplained(const struct event *event)
{
	return event->kind == EVENT_SIGNAL && event->signal == SIGTRAP &&
	       event->siginfo.si_code == TRAP_BRKPT;
}

enum event_kind next(void)
{
	fixture.hits = (struct hits){0};
	do {
		resume_all();
		inferiors_wait(&fixture.inferiors, true, &fixture.event);
	} while (fixture.event.kind == EVENT_CLONE ||
		 fixture.event.kind == EVENT_THREAD_EXIT ||
		 is_unexplained(&fixture.event));
	if (fixture.event.kind == EVENT_SIGNAL)
		fixture.engine.ops->on_stop(&fixture.engine, &fixture.event,
					    &fixture.hits);
	fixture.stops += fixture.hits.signal_is_ours;
	return fixture.event.kind;
}

void expect_good_end(void)
{
	cr_assert_eq(next(), EVENT_EXITED, "%s, signal %d",
		     event_kind_name(fixture.event.kind), fixture.event.signal);
	cr_expect_eq(fixture.event.status, GOOD_STATUS);
}

uint64_t pc(void)
{
	uint64_t value = 0;

	cr_assert_eq(thread_get_pc(fixture.event.thread, &value), 0);
	return value;
}

uint64_t counter_there(void)
{
	uint64_t value = 0;

	cr_assert_eq(inferior_read(fixture.inferior, (uintptr_t)&counter, &value,
				   sizeof(value)),
		     sizeof(value));
	return value;
}

/* ---- locations ---- */

struct agent_expr *condition(uint64_t value)
{
	return EXPR(CONST64((uintptr_t)&counter), AGENT_REF64, CONST64(value),
		    AGENT_EQUAL, AGENT_END);
}

struct error *try_insert(struct location *location, enum breakpoint_type type,
			 const volatile void *addr, struct agent_expr *expr)
{
	*location = (struct location){
		.inferior = fixture.inferior,
		.type = type,
		.addr = (uintptr_t)addr,
		.len = type == BREAKPOINT_HARDWARE ? 1 : sizeof(counter),
		.engine = &fixture.engine,
	};
	if (expr) {
		cr_assert_eq(agent_list_append(&location->conditions, expr), 0);
	}
	return fixture.engine.ops->insert(&fixture.engine, location);
}

void insert(struct location *location, enum breakpoint_type type,
	    const volatile void *addr, struct agent_expr *expr)
{
	_cleanup_error_ struct error *error = try_insert(location, type, addr, expr);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
}

void take_out(struct location *location, bool gone)
{
	fixture.engine.ops->remove(&fixture.engine, location, gone);
	agent_list_clear(&location->conditions);
}

void expect_counts(const struct location *location, uint64_t hits, uint64_t trues)
{
	struct counts by_thread = {0};
	struct hit_counts counts;

	fixture.engine.ops->counts(&fixture.engine, location, &by_thread);
	counts = counts_total(&by_thread);
	counts_clear(&by_thread);
	cr_expect_eq(counts.hits, hits, "%llu hits", (unsigned long long)counts.hits);
	cr_expect_eq(counts.trues, trues, "%llu trues",
		     (unsigned long long)counts.trues);
	cr_expect_eq(counts.maybes, 0);
}

void expect_hit(const struct location *location, bool ours)
{
	cr_assert_eq(fixture.event.kind, EVENT_SIGNAL, "%s",
		     event_kind_name(fixture.event.kind));
	cr_assert_eq(fixture.hits.count, 1, "%u hits, signal %d", fixture.hits.count,
		     fixture.event.signal);
	cr_expect_eq(fixture.hits.hit[0].location, location);
	cr_expect_eq(fixture.hits.hit[0].verdict, HIT_TRUE);
	cr_expect_eq(fixture.hits.signal_is_ours, ours);
}
