/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/breakpoints/breakpoints.h"
#include "tests/unit/run_place.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/register_table.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/engines/engines.h"

struct shared *shared;
struct run run;

__attribute__((noinline)) void place(long i)
{
	__asm__ volatile("" : : "r"(i) : "memory");
	atomic_fetch_add(&shared->passed, 1);
}

/* Some breakpoints of four bytes each fit. */
__attribute__((noinline)) void other_place(void)
{
	__asm__ volatile(".rept 16\n\tnop\n\t.endr" : : : "memory");
}

__attribute__((noinline)) void *loop(void *arg)
{
	(void)arg;
	for (long i = 0; i < LOOPS; i++)
		place(i);
	return NULL;
}

__attribute__((noinline)) int run_loop(void)
{
	loop(NULL);
	return 42;
}

int run_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, loop, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 7;
}

void set_up(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert(shared != MAP_FAILED);
	cr_assert_null(arch_native()->init());
	run_init(&run);
	engines_probe(&run.engines);
	run.wishes.no_resumed = true;
}

void tear_down(void)
{
	run_deinit(&run);
	munmap(shared, sizeof(*shared));
}

struct inferior *launch(int (*body)(void))
{
	struct inferior *inferior;
	pid_t pid = child_fork();

	if (pid == 0) {
		while (!atomic_load(&shared->go))
			usleep(1000);
		_exit(body());
	}
	inferior = attach_child(&run, pid);
	atomic_store(&shared->go, 1);
	return inferior;
}

void set_actions(struct resume_action action)
{
	struct inferior *inferior;
	struct thread *thread;

	TAILQ_FOREACH (inferior, &run.inferiors.list, link)
		FOREACH_THREAD (thread, inferior)
			run_set_action(&run, thread, action);
}

struct stop resume(void)
{
	struct error *error;

	set_actions((struct resume_action){.kind = RESUME_CONTINUE});
	error = run_resume(&run);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	return wait_stop(&run);
}

struct stop step(pid_t tid)
{
	struct error *error;

	set_actions((struct resume_action){0});
	run_set_action(&run, thread_find(&run.inferiors, tid),
		       (struct resume_action){.kind = RESUME_STEP});
	error = run_resume(&run);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	return wait_stop(&run);
}

uint64_t address(void (*function)(void))
{
	return (uint64_t)(uintptr_t)function;
}

uint8_t argument_register(void)
{
	return reg_by_name(arch_native(), "rdi") ? 5 : 0; /* else x0 */
}

struct agent_expr *argument_equals(uint16_t value)
{
	return EXPR(REG(argument_register()), CONST16(value), AGENT_EQUAL, AGENT_END);
}

void insert(struct inferior *inferior, enum breakpoint_type type, uint64_t addr,
	    struct agent_expr *condition)
{
	struct agent_list conditions = {&condition, condition ? 1 : 0};
	struct error *error = breakpoints_insert(inferior->breakpoints, type, addr, 1,
						 &conditions, NULL);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
	agent_expr_unref(condition);
}

void step_off_at(struct inferior *inferior, pid_t tid, enum breakpoint_type type,
		 uint64_t addr, struct agent_expr *condition)
{
	struct stop stop;

	breakpoints_remove(inferior->breakpoints, type, addr, 1);
	stop = step(tid);
	cr_assert_eq(stop.kind, STOP_SIGNAL);
	cr_assert_eq(stop.signal, SIGTRAP);
	cr_assert_eq(stop.tid, tid);
	insert(inferior, type, addr, condition);
}

void step_off(struct inferior *inferior, pid_t tid, enum breakpoint_type type,
	      struct agent_expr *condition)
{
	step_off_at(inferior, tid, type, PLACE, condition);
}

uint64_t pc_of(pid_t tid)
{
	uint64_t pc = 0;

	cr_assert_eq(thread_get_pc(thread_find(&run.inferiors, tid), &pc), 0);
	return pc;
}

void expect_exit(int status)
{
	struct stop stop = resume();

	cr_assert_eq(stop.kind, STOP_EXITED, "kind %d signal %d", stop.kind,
		     stop.signal);
	cr_assert_eq(stop.status, status);
	cr_assert(TAILQ_EMPTY(&run.inferiors.list));
}
