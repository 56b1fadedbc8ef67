/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run control against real processes: children of the test, forked from it, so
 * that its own functions are theirs, at known addresses.
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/registers.h"
#include "inferior/memory.h"
#include "inferior/registers.h"
#include "inferior/thread.h"
#include "stops/interrupt.h"
#include "stops/life.h"
#include "stops/nonstop.h"
#include "stops/run.h"
#include "stops/text.h"
#include "stops/traps.h"
#include "stops/unattended.h"
#include "stops/watch.h"
#include "tests/unit/expr.h"
#include "tests/unit/runs.h"

enum { WAIT_SECONDS = 30, LOOPS = 250, THREADS = 8 };

/* What children count, seen by the test. */
struct shared {
	atomic_long passed; /* iterations that went by the place */
	atomic_int go;
};

static struct shared *shared;
static struct run run;

/* The place to stop at: its first instruction, with @i in a register. */
__attribute__((noinline)) void place(long i);
void place(long i)
{
	__asm__ volatile("" : : "r"(i) : "memory");
	atomic_fetch_add(&shared->passed, 1);
}

__attribute__((noinline)) void other_place(void);
void other_place(void)
{
	__asm__ volatile("" : : : "memory");
}

static void *loop(void *arg)
{
	(void)arg;
	for (long i = 0; i < LOOPS; i++)
		place(i);
	return NULL;
}

__attribute__((noinline)) static int run_loop(void)
{
	loop(NULL);
	return 42;
}

static int run_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, loop, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 7;
}

static void setup(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert(shared != MAP_FAILED);
	cr_assert_null(arch_native()->init());
	run_init(&run);
	run.wishes.no_resumed = true;
}

static void teardown(void)
{
	run_deinit(&run);
	munmap(shared, sizeof(*shared));
}

/* A child that runs @body as soon as it is attached to and let go. */
static struct inferior *launch(int (*body)(void))
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

static void set_actions(struct resume_action action)
{
	struct inferior *inferior;
	struct thread *thread;

	TAILQ_FOREACH (inferior, &run.inferiors.list, link)
		TAILQ_FOREACH (thread, &inferior->threads, link)
			run_set_action(&run, thread, action);
}

static struct stop resume(void)
{
	struct error *error;

	set_actions((struct resume_action){.kind = RESUME_CONTINUE});
	error = run_resume(&run);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	return wait_stop(&run);
}

static struct stop step(pid_t tid)
{
	struct error *error;

	set_actions((struct resume_action){0});
	run_set_action(&run, thread_find(&run.inferiors, tid),
		       (struct resume_action){.kind = RESUME_STEP});
	error = run_resume(&run);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	return wait_stop(&run);
}

static uint64_t address(void (*function)(void))
{
	return (uint64_t)(uintptr_t)function;
}
#define PLACE address((void (*)(void))place)

/* The condition "first argument of place() == value", as gdb would send it. */
static struct agent_expr *argument_equals(uint16_t value)
{
	uint8_t reg = reg_by_name(arch_native(), "rdi") ? 5 : 0; /* else x0 */

	return EXPR(REG(reg), CONST16(value), AGENT_EQUAL, AGENT_END);
}

static void insert(struct inferior *inferior, enum breakpoint_type type, uint64_t addr,
		   struct agent_expr *condition)
{
	struct agent_list conditions = {&condition, condition ? 1 : 0};
	struct error *error = breakpoints_insert(inferior->breakpoints, type, addr, 1,
						 &conditions, NULL);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
	agent_expr_unref(condition);
}

/* As gdb does: take all out, step the thread alone, put all in again. */
static void step_off_at(struct inferior *inferior, pid_t tid, enum breakpoint_type type,
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

static void step_off(struct inferior *inferior, pid_t tid, enum breakpoint_type type,
		     struct agent_expr *condition)
{
	step_off_at(inferior, tid, type, PLACE, condition);
}

static uint64_t pc_of(pid_t tid)
{
	uint64_t pc = 0;

	cr_assert_eq(thread_get_pc(thread_find(&run.inferiors, tid), &pc), 0);
	return pc;
}

static void expect_exit(int status)
{
	struct stop stop = resume();

	cr_assert_eq(stop.kind, STOP_EXITED, "kind %d signal %d", stop.kind,
		     stop.signal);
	cr_assert_eq(stop.status, status);
	cr_assert(TAILQ_EMPTY(&run.inferiors.list));
}

TestSuite(run, .init = setup, .fini = teardown, .timeout = 300);

Test(run, exit_status)
{
	launch(run_loop);
	expect_exit(42);
	cr_assert_eq(atomic_load(&shared->passed), LOOPS);
}

static int run_briefly(void)
{
	return 5;
}

/* Between its exit and our wait for it, a process is a zombie: still to be told. */
Test(run, exit_is_never_taken_for_no_resumed)
{
	for (int i = 0; i < 250; i++) {
		struct stop stop;

		atomic_store(&shared->go, 0);
		launch(run_briefly);
		set_actions((struct resume_action){.kind = RESUME_CONTINUE});
		cr_assert_null(run_resume(&run));
		while (!run_poll(&run, &stop))
			; /* without a pause, to look at every moment of its end */
		cr_assert_eq(stop.kind, STOP_EXITED, "kind %d", stop.kind);
	}
}

Test(run, software_breakpoint_every_hit)
{
	struct inferior *inferior = launch(run_loop);

	insert(inferior, BREAKPOINT_SOFTWARE, PLACE, NULL);
	for (long i = 0; i < 20; i++) {
		struct stop stop = resume();
		uint8_t byte = 0;

		cr_assert_eq(stop.kind, STOP_SWBREAK);
		cr_assert_eq(pc_of(stop.tid), PLACE);
		cr_assert_eq(atomic_load(&shared->passed), i);
		cr_assert_eq(breakpoints_read_memory(inferior, PLACE, &byte, 1), 1);
		cr_assert_eq(byte, *(uint8_t *)(uintptr_t)PLACE);
		step_off(inferior, stop.tid, BREAKPOINT_SOFTWARE, NULL);
	}
	breakpoints_remove(inferior->breakpoints, BREAKPOINT_SOFTWARE, PLACE, 1);
	expect_exit(42);
	cr_assert_eq(atomic_load(&shared->passed), LOOPS);
}

/* One true hit of LOOPS, by whichever engine serves the location. */
static void check_one_true_hit(enum breakpoint_type type, enum stop_kind kind)
{
	struct inferior *inferior = launch(run_loop);
	struct stop stop;

	insert(inferior, type, PLACE, argument_equals(177));
	stop = resume();
	cr_assert_eq(stop.kind, kind, "kind %d signal %d", stop.kind, stop.signal);
	cr_assert_eq(pc_of(stop.tid), PLACE);
	cr_assert_eq(atomic_load(&shared->passed), 177);
	step_off(inferior, stop.tid, type, argument_equals(177));
	expect_exit(42);
	cr_assert_eq(atomic_load(&shared->passed), LOOPS);
}

Test(run, conditional_trap)
{
	use_only(&run, ENGINE_INT3);
	check_one_true_hit(BREAKPOINT_SOFTWARE, STOP_SWBREAK);
}

Test(run, conditional_software_in_hardware)
{
	check_one_true_hit(BREAKPOINT_SOFTWARE, STOP_SWBREAK);
}

Test(run, conditional_perf_event)
{
	if (run.engines.engine[ENGINE_PERF_EVENT].unusable)
		cr_skip_test(
			"%s",
			error_text(run.engines.engine[ENGINE_PERF_EVENT].unusable));
	use_only(&run, ENGINE_PERF_EVENT);
	check_one_true_hit(BREAKPOINT_HARDWARE, STOP_HWBREAK);
}

Test(run, conditional_debug_register)
{
	use_only(&run, ENGINE_DEBUGREG);
	check_one_true_hit(BREAKPOINT_HARDWARE, STOP_HWBREAK);
}

/* Each thread passes with i == 100 once: THREADS stops, none lost, none twice. */
static void check_threads(enum breakpoint_type type, enum stop_kind kind)
{
	struct inferior *inferior = launch(run_threads);

	insert(inferior, type, PLACE, argument_equals(100));
	for (int i = 0; i < THREADS; i++) {
		struct stop stop = resume();

		cr_assert_eq(stop.kind, kind, "stop %d: kind %d signal %d", i,
			     stop.kind, stop.signal);
		cr_assert_eq(pc_of(stop.tid), PLACE);
		step_off(inferior, stop.tid, type, argument_equals(100));
	}
	expect_exit(7);
	cr_assert_eq(atomic_load(&shared->passed), (long)THREADS * LOOPS);
}

Test(run, threads_conditional_trap)
{
	use_only(&run, ENGINE_INT3);
	check_threads(BREAKPOINT_SOFTWARE, STOP_SWBREAK);
}

Test(run, threads_perf_event)
{
	if (run.engines.engine[ENGINE_PERF_EVENT].unusable)
		cr_skip_test(
			"%s",
			error_text(run.engines.engine[ENGINE_PERF_EVENT].unusable));
	check_threads(BREAKPOINT_HARDWARE, STOP_HWBREAK);
}

Test(run, threads_debug_register)
{
	use_only(&run, ENGINE_DEBUGREG);
	check_threads(BREAKPOINT_HARDWARE, STOP_HWBREAK);
}

Test(run, deleted_breakpoint_drops_pending_hits)
{
	struct inferior *inferior = launch(run_threads);
	struct stop stop;

	insert(inferior, BREAKPOINT_SOFTWARE, PLACE, NULL);
	stop = resume();
	cr_assert_eq(stop.kind, STOP_SWBREAK);
	breakpoints_remove(inferior->breakpoints, BREAKPOINT_SOFTWARE, PLACE, 1);
	expect_exit(7);
	cr_assert_eq(atomic_load(&shared->passed), (long)THREADS * LOOPS);
}

Test(run, interrupt_while_running)
{
	struct inferior *inferior = launch(run_loop);
	struct stop stop;

	atomic_store(&shared->go, 0); /* it waits, and we interrupt that */
	set_actions((struct resume_action){.kind = RESUME_CONTINUE});
	cr_assert_null(run_resume(&run));
	run_interrupt(&run);
	stop = wait_stop(&run);
	cr_assert_eq(stop.kind, STOP_SIGNAL);
	cr_assert_eq(stop.signal, SIGINT);
	cr_assert_eq(stop.pid, inferior->pid);
	atomic_store(&shared->go, 1);
	expect_exit(42);
}

/* A client that steps all the time on its user's behalf is interrupted, too. */
Test(run, interrupt_between_stops)
{
	struct inferior *inferior = launch(run_loop);
	struct stop stop;

	atomic_store(&shared->go, 0);
	stop = step(inferior->pid);
	cr_assert_eq(stop.signal, SIGTRAP);
	run_interrupt(&run);
	stop = step(inferior->pid);
	cr_assert_eq(stop.kind, STOP_SIGNAL);
	cr_assert_eq(stop.signal, SIGINT);
	stop = step(inferior->pid);
	cr_assert_eq(stop.signal, SIGTRAP);
	atomic_store(&shared->go, 1);
	expect_exit(42);
}

Test(run, range_step_ends_outside)
{
	struct inferior *inferior = launch(run_loop);
	struct thread *thread;
	struct stop stop;
	uint64_t pc;

	insert(inferior, BREAKPOINT_SOFTWARE, PLACE, NULL);
	stop = resume();
	breakpoints_remove_all(inferior->breakpoints);
	thread = thread_find(&run.inferiors, stop.tid);
	run_set_action(&run, thread,
		       (struct resume_action){
			       .kind = RESUME_RANGE, .start = PLACE, .end = PLACE + 8});
	cr_assert_null(run_resume(&run));
	stop = wait_stop(&run);
	cr_assert_eq(stop.kind, STOP_SIGNAL);
	cr_assert_eq(stop.signal, SIGTRAP);
	pc = pc_of(stop.tid);
	cr_assert(pc < PLACE || pc >= PLACE + 8);
	expect_exit(42);
}

static int raise_signals(void)
{
	signal(SIGUSR1, SIG_IGN);
	raise(SIGUSR1);
	raise(SIGUSR2);
	return 1;
}

Test(run, signals_reported_passed_delivered)
{
	struct stop stop;

	launch(raise_signals);
	stop = resume();
	cr_assert_eq(stop.signal, SIGUSR1);
	run.pass_signal[SIGUSR2] = true; /* which kills it */
	stop = resume();
	cr_assert_eq(stop.kind, STOP_KILLED);
	cr_assert_eq(stop.signal, SIGUSR2);
}

/* Text that the child maps, at a place that is free in any process. */
enum { TEXT_SIZE = 4096, TEXT_OFFSET = 64 };
static void *const text = (void *)UINT64_C(0x123450000000);

/* Puts a trap, if @own_trap, and a function that does nothing there. */
static void (*map_text(bool own_trap))(long)
{
	const struct arch_ops *arch = arch_native();
	size_t len = own_trap ? arch->breakpoint_len : 0;
	char *start = mmap(text, TEXT_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (start == MAP_FAILED)
		_exit(99);
	memcpy(start, arch->breakpoint_insn, len);
	memcpy(start + len, (void *)(uintptr_t)other_place, TEXT_OFFSET);
	__builtin___clear_cache(start, start + TEXT_SIZE);
	return (void (*)(long))(uintptr_t)start;
}

static int call_mapped_text(void)
{
	for (long i = 0; i < 2; i++) {
		void (*function)(long) = map_text(false);

		place(i);
		function(i);
	}
	return 5;
}

/* As where a library is unloaded and another one is loaded at its place. */
Test(run, trap_in_text_that_is_replaced)
{
	struct inferior *inferior = launch(call_mapped_text);

	insert(inferior, BREAKPOINT_SOFTWARE, PLACE, NULL);
	for (int i = 0; i < 2; i++) {
		struct stop stop = resume();

		cr_assert_eq(stop.kind, STOP_SWBREAK);
		cr_assert_eq(pc_of(stop.tid), PLACE);
		step_off(inferior, stop.tid, BREAKPOINT_SOFTWARE, NULL);
		insert(inferior, BREAKPOINT_SOFTWARE, (uintptr_t)text, NULL);
		stop = resume();
		cr_assert_eq(stop.kind, STOP_SWBREAK);
		cr_assert_eq(pc_of(stop.tid), (uintptr_t)text);
		step_off_at(inferior, stop.tid, BREAKPOINT_SOFTWARE, (uintptr_t)text,
			    NULL);
	}
	expect_exit(5);
}

static int call_own_trap(void)
{
	void (*function)(long) = map_text(true);

	place(0);
	for (long i = 0; i < 10; i++) {
		function(i);
		atomic_fetch_add(&shared->passed, 1);
	}
	return 6;
}

/* A breakpoint explains a trap that the program has at the same place. */
Test(run, condition_at_a_trap_of_the_programs)
{
	struct inferior *inferior = launch(call_own_trap);
	uint64_t behind = (uintptr_t)text + arch_native()->breakpoint_len;
	struct stop stop;

	insert(inferior, BREAKPOINT_SOFTWARE, PLACE, NULL);
	cr_assert_eq(resume().kind, STOP_SWBREAK);
	breakpoints_remove(inferior->breakpoints, BREAKPOINT_SOFTWARE, PLACE, 1);
	insert(inferior, BREAKPOINT_SOFTWARE, (uintptr_t)text, argument_equals(7));
	stop = resume();
	cr_assert_eq(stop.kind, STOP_SWBREAK);
	cr_assert_eq(pc_of(stop.tid), (uintptr_t)text);
	cr_assert_eq(atomic_load(&shared->passed), 8); /* 7, and that of place() */
	thread_set_pc(thread_find(&run.inferiors, stop.tid), behind);
	expect_exit(6);
	cr_assert_eq(atomic_load(&shared->passed), 11);
}

static void on_usr1(int signal)
{
	(void)signal;
	atomic_fetch_add(&shared->passed, 1);
}

static void *raise_often(void *arg)
{
	(void)arg;
	for (int i = 0; i < 20; i++)
		raise(SIGUSR1);
	return NULL;
}

static int raise_in_threads(void)
{
	pthread_t threads[THREADS];

	signal(SIGUSR1, on_usr1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, raise_often, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 7;
}

/* A signal that the client gives back survives the stops of other threads that
 * are reported before its thread runs. */
Test(run, signals_of_threads_are_all_delivered)
{
	struct stop stop = {0};
	long reported = 0;

	launch(raise_in_threads);
	for (;;) {
		set_actions((struct resume_action){.kind = RESUME_CONTINUE});
		if (reported > 0)
			thread_find(&run.inferiors, stop.tid)->action.signal = SIGUSR1;
		cr_assert_null(run_resume(&run));
		stop = wait_stop(&run);
		if (stop.kind != STOP_SIGNAL)
			break;
		cr_assert_eq(stop.signal, SIGUSR1);
		reported++;
	}
	cr_assert_eq(stop.kind, STOP_EXITED);
	cr_assert_eq(reported, 20L * THREADS);
	cr_assert_eq(atomic_load(&shared->passed), 20L * THREADS);
}

static int fork_child(void)
{
	pid_t pid = fork();
	int status = 0;

	place(1);
	if (pid == 0)
		_exit(3);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? 10 + WEXITSTATUS(status) : 99;
}

Test(run, forked_child_has_no_trap)
{
	struct inferior *inferior = launch(fork_child);
	struct stop stop;

	insert(inferior, BREAKPOINT_SOFTWARE, PLACE, NULL);
	stop = resume();
	cr_assert_eq(stop.kind, STOP_SWBREAK);
	cr_assert_eq(stop.pid, inferior->pid);
	step_off(inferior, stop.tid, BREAKPOINT_SOFTWARE, NULL);
	expect_exit(13);
}

static int vfork_child(void)
{
	pid_t pid = vfork();
	int status = 0;

	if (pid == 0) {
		other_place();
		_exit(4);
	}
	waitpid(pid, &status, 0);
	other_place();
	return WIFEXITED(status) ? 10 + WEXITSTATUS(status) : 99;
}

Test(run, vfork_child_runs_past_traps)
{
	struct inferior *inferior = launch(vfork_child);
	struct stop stop;

	insert(inferior, BREAKPOINT_SOFTWARE, address(other_place), NULL);
	stop = resume(); /* the parent's pass, not the child's */
	cr_assert_eq(stop.kind, STOP_SWBREAK, "kind %d signal %d", stop.kind,
		     stop.signal);
	cr_assert_eq(stop.pid, inferior->pid);
	cr_assert_eq(pc_of(stop.tid), address(other_place));
	breakpoints_remove_all(inferior->breakpoints);
	expect_exit(14);
}

static int spawn(void)
{
	pid_t pid = vfork();
	int status = 0;

	if (pid == 0)
		_exit(4);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void *spawn_many(void *arg)
{
	(void)arg;
	for (int i = 0; i < 100; i++)
		if (spawn() == 4)
			atomic_fetch_add(&shared->passed, 1);
	return NULL;
}

static int run_spawning_threads(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, spawn_many, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 6;
}

/* Two vforks at the same time, each of which needs the memory without traps. */
Test(run, threads_vfork_with_traps)
{
	struct inferior *inferior = launch(run_spawning_threads);

	run.pass_signal[SIGCHLD] = true;
	insert(inferior, BREAKPOINT_SOFTWARE, address(other_place), NULL);
	expect_exit(6);
	cr_assert_eq(atomic_load(&shared->passed), 400);
}

static void *end_soon(void *arg)
{
	while (atomic_load(&shared->go) != 2)
		usleep(100);
	atomic_store(&shared->passed, gettid());
	return arg;
}

static void *run_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static int run_leaderless(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, end_soon, NULL);
	pthread_create(&thread, NULL, run_for_ever, NULL);
	atomic_store(&shared->go, 3);
	pthread_exit(NULL);
}

static bool is_zombie(pid_t pid, pid_t tid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	file = fopen(path, "r");
	if (file) {
		if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			state = 0;
		fclose(file);
	}
	return state == 'Z';
}

static void wait_zombie(pid_t pid, pid_t tid)
{
	for (int i = 0; i < WAIT_SECONDS * 1000 && !is_zombie(pid, tid); i++)
		usleep(1000);
	cr_assert(is_zombie(pid, tid));
}

/* Whoever is asked to stop may have ended already. */
Test(run, interrupt_when_the_thread_asked_has_ended)
{
	struct inferior *inferior = launch(run_leaderless);
	struct stop stop;

	set_actions((struct resume_action){.kind = RESUME_CONTINUE});
	cr_assert_null(run_resume(&run));
	while (atomic_load(&shared->go) != 3 ||
	       !is_zombie(inferior->pid, inferior->pid))
		cr_assert_not(run_poll(&run, &stop));
	cr_assert_not(run_poll(&run, &stop));
	atomic_store(&shared->go, 2);
	while (atomic_load(&shared->passed) == 0)
		usleep(100);
	wait_zombie(inferior->pid, (pid_t)atomic_load(&shared->passed));
	run_interrupt(&run);
	stop = wait_stop(&run);
	cr_assert_eq(stop.kind, STOP_SIGNAL);
	cr_assert_eq(stop.signal, SIGINT);
}

/* Its first instruction reads memory. */
__attribute__((noinline)) long load(const volatile long *data);
long load(const volatile long *data)
{
	return *data;
}

static sigjmp_buf after_fault;

static void on_fault(int number)
{
	siglongjmp(after_fault, number);
}

static int fault(void)
{
	signal(SIGSEGV, on_fault);
	if (sigsetjmp(after_fault, 1) == 0)
		load((const volatile long *)(uintptr_t)8);
	return 11;
}

/* The handler of a fault is reached even if a trap lies where it happens. */
Test(run, fault_at_a_trap)
{
	struct inferior *inferior;
	struct stop stop;

	use_only(&run, ENGINE_INT3);
	inferior = launch(fault);
	insert(inferior, BREAKPOINT_SOFTWARE, (uint64_t)(uintptr_t)load,
	       argument_equals(177));
	stop = resume();
	cr_assert_eq(stop.kind, STOP_SIGNAL);
	cr_assert_eq(stop.signal, SIGSEGV);
	set_actions((struct resume_action){.kind = RESUME_CONTINUE});
	thread_find(&run.inferiors, stop.tid)->action.signal = SIGSEGV;
	cr_assert_null(run_resume(&run));
	stop = wait_stop(&run);
	cr_assert_eq(stop.kind, STOP_EXITED, "kind %d signal %d", stop.kind,
		     stop.signal);
	cr_assert_eq(stop.status, 11);
}

/* Both hit at once: that the hardware's condition is false says nothing of the
 * trap's. */
Test(run, trap_under_a_false_hardware_breakpoint)
{
	struct inferior *inferior;
	struct stop stop;

	use_only(&run, ENGINE_DEBUGREG);
	inferior = launch(run_loop);
	insert(inferior, BREAKPOINT_HARDWARE, PLACE, argument_equals(7777));
	insert(inferior, BREAKPOINT_SOFTWARE, PLACE, NULL);
	stop = resume();
	cr_assert_eq(stop.kind, STOP_SWBREAK, "kind %d", stop.kind);
	cr_assert_eq(atomic_load(&shared->passed), 0);
	breakpoints_remove_all(inferior->breakpoints);
	expect_exit(42);
}

static long watched;

static int write_watched(void)
{
	for (long i = 0; i < 5; i++)
		*(volatile long *)&watched = i;
	return 0;
}

/* The first write leaves it at 0. */
static void check_watch(void)
{
	struct inferior *inferior = launch(write_watched);
	uint64_t addr = (uint64_t)(uintptr_t)&watched;

	if (inferior->arch->stores)
		cr_skip_test("hits come before the access: test_aarch64_stores");
	cr_assert_null(breakpoints_insert(inferior->breakpoints, WATCHPOINT_WRITE, addr,
					  8, NULL, NULL));
	for (long i = 1; i < 5; i++) {
		struct stop stop = resume();
		long value = -1, old = -1, new = -1;

		cr_assert_eq(stop.kind, STOP_WATCH, "kind %d signal %d", stop.kind,
			     stop.signal);
		cr_assert_eq(stop.addr, addr);
		cr_assert_eq(inferior_read(inferior, addr, &value, 8), 8);
		cr_assert_eq(value, i);
		watch_shown(thread_find(&run.inferiors, stop.tid), addr, &value, 8);
		cr_expect_eq(stop.values.len, 8);
		memcpy(&old, stop.values.old, sizeof(old));
		memcpy(&new, stop.values.new, sizeof(new));
		cr_expect_eq(old, i - 1);
		cr_expect_eq(new, i);
	}
	expect_exit(0);
}

Test(run, watch_perf_event)
{
	if (run.engines.engine[ENGINE_PERF_EVENT].unusable)
		cr_skip_test(
			"%s",
			error_text(run.engines.engine[ENGINE_PERF_EVENT].unusable));
	check_watch();
}

Test(run, watch_debug_register)
{
	use_only(&run, ENGINE_DEBUGREG);
	check_watch();
}

Test(run, too_many_hardware_breakpoints)
{
	struct inferior *inferior = launch(run_loop);
	struct error *error = NULL;
	int i;

	for (i = 0; !error && i < 10; i++)
		error = breakpoints_insert(inferior->breakpoints, BREAKPOINT_HARDWARE,
					   PLACE + 4 * (uint64_t)i, 1, NULL, NULL);
	cr_assert_not_null(error);
	cr_assert_geq(i, 3);
	cr_assert_not_null(strstr(error_text(error), "hbreak *0x"), "%s",
			   error_text(error));
	error_destroy(error);
	breakpoints_remove_all(inferior->breakpoints);
	expect_exit(42);
}

/* Conditional software breakpoints give their slots to hardware ones. */
Test(run, software_gives_way_to_hardware)
{
	struct inferior *inferior = launch(run_loop);
	struct stop stop;

	insert(inferior, BREAKPOINT_SOFTWARE, PLACE, argument_equals(100));
	for (uint64_t i = 0; i < 4; i++)
		insert(inferior, BREAKPOINT_HARDWARE, address(other_place) + 4 * i,
		       NULL);
	stop = resume();
	cr_assert_eq(stop.kind, STOP_SWBREAK);
	cr_assert_eq(atomic_load(&shared->passed), 100);
	breakpoints_remove_all(inferior->breakpoints);
	expect_exit(42);
}

Test(run, unmapped_address_is_refused)
{
	struct inferior *inferior = launch(run_loop);
	struct error *error = breakpoints_insert(
		inferior->breakpoints, BREAKPOINT_SOFTWARE, 16, 1, NULL, NULL);

	cr_assert_not_null(error);
	cr_assert_not_null(strstr(error_text(error), "0x10"));
	error_destroy(error);
	expect_exit(42);
}

/* ---- commands ---- */

/* printf "%d,", the first argument of place() */
static void insert_command(struct inferior *inferior, enum breakpoint_type type,
			   struct agent_expr *condition, bool persistent)
{
	uint8_t reg = reg_by_name(arch_native(), "rdi") ? 5 : 0; /* else x0 */
	struct text code = {0};
	struct agent_expr *expr;
	struct agent_list conditions = {&condition, condition ? 1 : 0};
	struct commands commands = {{&expr, 1}, persistent};
	struct error *error;

	text_put(&code, REG(reg));
	text_printf(&code, "%d,", 1);
	expr = text_command(&code);
	error = breakpoints_insert(inferior->breakpoints, type, PLACE, 1, &conditions,
				   &commands);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	agent_expr_unref(condition);
	agent_expr_unref(expr);
}

/* What commands print goes to a file of the test's own. */
static int output_fd;

static void catch_output(void)
{
	output_fd = memfd_create("output", MFD_CLOEXEC);
	cr_assert_geq(output_fd, 0);
	run.output = run.own_output = output_descriptor(output_fd);
}

/* The numbers that were printed: each value's count, of values below LOOPS. */
static unsigned int count_output(unsigned int counts[LOOPS])
{
	FILE *file = fdopen(dup(output_fd), "r");
	unsigned int total = 0, value;

	cr_assert_not_null(file);
	memset(counts, 0, LOOPS * sizeof(counts[0]));
	rewind(file);
	for (; fscanf(file, "%u,", &value) == 1; total++) {
		cr_assert_lt(value, LOOPS);
		counts[value]++;
	}
	fclose(file);
	return total;
}

static void expect_output(unsigned int times)
{
	unsigned int counts[LOOPS];

	cr_expect_eq(count_output(counts), times * LOOPS);
	for (unsigned int i = 0; i < LOOPS; i++)
		cr_expect_eq(counts[i], times, "%u: %u times", i, counts[i]);
}

static void check_commands(int engine, enum breakpoint_type type)
{
	struct error *unusable = run.engines.engine[engine].unusable;
	struct inferior *inferior;

	if (unusable)
		cr_skip_test("%s", error_text(unusable));
	use_only(&run, engine);
	catch_output();
	inferior = launch(run_loop);
	insert_command(inferior, type, NULL, false);
	expect_exit(42);
	expect_output(1);
}

Test(run, commands_at_every_hit_of_a_trap)
{
	check_commands(ENGINE_INT3, BREAKPOINT_SOFTWARE);
}

Test(run, commands_at_every_hit_of_a_debug_register)
{
	check_commands(ENGINE_DEBUGREG, BREAKPOINT_HARDWARE);
}

Test(run, commands_at_every_hit_of_an_event)
{
	check_commands(ENGINE_PERF_EVENT, BREAKPOINT_HARDWARE);
}

Test(run, commands_in_threads)
{
	catch_output();
	insert_command(launch(run_threads), BREAKPOINT_SOFTWARE, NULL, false);
	expect_exit(7);
	expect_output(THREADS);
}

Test(run, commands_in_threads_over_traps)
{
	use_only(&run, ENGINE_INT3);
	catch_output();
	insert_command(launch(run_threads), BREAKPOINT_SOFTWARE, NULL, false);
	expect_exit(7);
	expect_output(THREADS);
}

Test(run, commands_only_where_the_condition_holds)
{
	unsigned int counts[LOOPS];
	struct inferior *inferior;

	catch_output();
	inferior = launch(run_loop);
	insert_command(inferior, BREAKPOINT_SOFTWARE, argument_equals(200), false);
	expect_exit(42);
	cr_expect_eq(count_output(counts), 1);
	cr_expect_eq(counts[200], 1);
}

/* The same place again without commands: it stops as any other. */
Test(run, commands_are_replaced)
{
	unsigned int counts[LOOPS];
	struct inferior *inferior;
	struct stop stop;

	catch_output();
	inferior = launch(run_loop);
	insert_command(inferior, BREAKPOINT_SOFTWARE, NULL, false);
	insert(inferior, BREAKPOINT_SOFTWARE, PLACE, NULL);
	stop = resume();
	cr_expect_eq(stop.kind, STOP_SWBREAK);
	cr_expect_eq(count_output(counts), 0);
	step_off(inferior, stop.tid, BREAKPOINT_SOFTWARE, NULL);
	insert_command(inferior, BREAKPOINT_SOFTWARE, NULL, false);
	expect_exit(42);
	cr_expect_eq(count_output(counts), LOOPS - 1);
}

/* Commands are no reason to pass over what somebody else wants to stop for. */
Test(run, another_breakpoint_at_the_place_stops)
{
	struct inferior *inferior;
	struct stop stop;

	catch_output();
	inferior = launch(run_loop);
	insert_command(inferior, BREAKPOINT_SOFTWARE, NULL, false);
	insert(inferior, BREAKPOINT_HARDWARE, PLACE, argument_equals(100));
	stop = resume();
	cr_expect_eq(stop.kind, STOP_HWBREAK);
	cr_expect_eq(atomic_load(&shared->passed), 100);
	breakpoints_remove_all(inferior->breakpoints);
	expect_exit(42);
}

/* The client takes a thread that has stepped to a breakpoint on without a hit. */
Test(run, a_step_to_the_place_runs_its_commands)
{
	unsigned int counts[LOOPS];
	struct inferior *inferior;
	struct stop stop;

	catch_output();
	inferior = launch(run_loop);
	/* Steps to there might never end: an exclusive sequence begins anew at each. */
	insert(inferior, BREAKPOINT_SOFTWARE, address((void (*)(void))run_loop), NULL);
	resume();
	breakpoints_remove_all(inferior->breakpoints);
	insert_command(inferior, BREAKPOINT_SOFTWARE, NULL, false);
	do {
		stop = step(inferior->pid);
		cr_assert_eq(stop.kind, STOP_SIGNAL);
		cr_assert_eq(stop.signal, SIGTRAP);
	} while (pc_of(stop.tid) != PLACE);
	cr_expect_eq(count_output(counts), 1);
	breakpoints_remove(inferior->breakpoints, BREAKPOINT_SOFTWARE, PLACE, 1);
	step(inferior->pid);
	insert_command(inferior, BREAKPOINT_SOFTWARE, NULL, false);
	expect_exit(42);
	expect_output(1);
}

static struct stop resume_one_as(struct inferior *inferior, enum resume_kind kind)
{
	struct thread *thread;

	TAILQ_FOREACH (thread, &inferior->threads, link)
		run_set_action(&run, thread, (struct resume_action){.kind = kind});
	cr_assert_null(run_resume(&run));
	return wait_stop(&run);
}

/* A process that nobody attends runs on whatever is done with another one: at its
 * stops, and in the middle of its own steps over traps. */
static void check_unattended(void)
{
	struct inferior *left, *other;

	catch_output();
	left = launch(run_threads);
	insert_command(left, BREAKPOINT_SOFTWARE, NULL, true);
	cr_assert_null(run_leave(&run, left));
	atomic_store(&shared->go, 0);
	other = launch(run_loop);
	for (int i = 0; i < 50; i++) {
		struct stop stop;

		insert(other, BREAKPOINT_SOFTWARE, PLACE, NULL);
		stop = resume_one_as(other, RESUME_CONTINUE);
		cr_assert_eq(stop.kind, STOP_SWBREAK);
		cr_assert_eq(stop.pid, other->pid);
		breakpoints_remove(other->breakpoints, BREAKPOINT_SOFTWARE, PLACE, 1);
		stop = resume_one_as(other, RESUME_STEP);
		cr_assert_eq(stop.kind, STOP_SIGNAL);
	}
	cr_expect_eq(resume_one_as(other, RESUME_CONTINUE).kind, STOP_EXITED);
	while (!TAILQ_EMPTY(&run.inferiors.list)) {
		struct stop stop;

		cr_assert_not(run_poll(&run, &stop), "stop %d", stop.kind);
		usleep(1000);
	}
	expect_output(THREADS);
}

Test(run, unattended_runs_on)
{
	check_unattended();
}

Test(run, unattended_runs_on_over_traps)
{
	use_only(&run, ENGINE_INT3);
	check_unattended();
}

/* Left to itself, then taken up again: stopped, and shown. */
Test(run, unattended_is_rejoined)
{
	struct inferior *left;
	unsigned int counts[LOOPS], before;

	catch_output();
	left = launch(run_threads);
	insert_command(left, BREAKPOINT_SOFTWARE, NULL, true);
	cr_assert_null(run_leave(&run, left));
	cr_expect(left->hidden);
	while (count_output(counts) < 100) {
		struct stop stop;

		cr_assert_not(run_poll(&run, &stop));
		run_print(&run);
		usleep(1000);
	}
	run_rejoin(&run);
	cr_expect_not(left->hidden);
	before = count_output(counts);
	usleep(10000);
	cr_expect_eq(count_output(counts), before);
	expect_exit(7);
	expect_output(THREADS);
}

static struct inferior *another_child(int (*body)(void))
{
	atomic_store(&shared->go, 0);
	return launch(body);
}

/* The end of a process waits to be told, in non-stop mode, while another one goes
 * on: nobody may resume what has ended, or wait for it. */
Test(run, what_has_ended_is_left_alone)
{
	struct inferior *first, *other, *ended;
	struct stop stop;

	use_only(&run, ENGINE_INT3);
	first = another_child(run_loop);
	ended = another_child(run_briefly);
	other = another_child(run_loop);
	run.non_stop = true;
	insert(first, BREAKPOINT_SOFTWARE, PLACE, NULL);
	insert(other, BREAKPOINT_SOFTWARE, PLACE, argument_equals(LOOPS));
	run_set_action(&run, TAILQ_FIRST(&first->threads),
		       (struct resume_action){.kind = RESUME_CONTINUE});
	cr_assert_null(run_resume(&run));
	stop = wait_stop(&run);
	cr_assert_eq(stop.pid, first->pid);

	/* Until the client has taken that, nothing more is told. */
	set_actions((struct resume_action){.kind = RESUME_CONTINUE});
	cr_assert_null(run_resume(&run));
	while (!other->pending_stop || !ended->pending_stop) {
		cr_assert_not(run_poll(&run, &stop));
		usleep(100);
	}
	run_acknowledge(&run);
	stop = wait_stop(&run);
	cr_expect_eq(stop.kind, STOP_EXITED);
	cr_expect_eq(stop.status, 5);
	run_acknowledge(&run);
	stop = wait_stop(&run);
	cr_expect_eq(stop.kind, STOP_EXITED);
	cr_expect_eq(stop.status, 42);
}
