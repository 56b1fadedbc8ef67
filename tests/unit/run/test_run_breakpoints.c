/* SPDX-License-Identifier: BSD-2-Clause */
/* Run control against real processes: breakpoints and watchpoints. */
#include <criterion/criterion.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/text/traps.h"
#include "gdbstub/breakpoints/watch.h"
#include "tests/unit/run_place.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/text/text.h"
#include "tests/unit/support.h"

TestSuite(run, .init = set_up, .fini = tear_down, .timeout = 300);

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
	need_breakpoint_registers();
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
	need_breakpoint_registers();
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

/* Text that the child maps, at a place that is free in any process. */
enum { TEXT_SIZE = 4096, TEXT_OFFSET = 64, TEXT_LEN = 128 };
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
	memcpy(start + len, (void *)(uintptr_t)other_place, TEXT_LEN);
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
	uint64_t after = (uintptr_t)text + arch_native()->breakpoint_len;
	struct stop stop;

	insert(inferior, BREAKPOINT_SOFTWARE, PLACE, NULL);
	cr_assert_eq(resume().kind, STOP_SWBREAK);
	breakpoints_remove(inferior->breakpoints, BREAKPOINT_SOFTWARE, PLACE, 1);
	insert(inferior, BREAKPOINT_SOFTWARE, (uintptr_t)text, argument_equals(7));
	stop = resume();
	cr_assert_eq(stop.kind, STOP_SWBREAK);
	cr_assert_eq(pc_of(stop.tid), (uintptr_t)text);
	cr_assert_eq(atomic_load(&shared->passed), 8); /* 7, and that of place() */
	thread_set_pc(thread_find(&run.inferiors, stop.tid), after);
	expect_exit(6);
	cr_assert_eq(atomic_load(&shared->passed), 11);
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
	thread_find(&run.inferiors, stop.tid)->control->action.signal = SIGSEGV;
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

	need_breakpoint_registers();
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
	need_breakpoint_registers();
	use_only(&run, ENGINE_DEBUGREG);
	check_watch();
}

Test(run, too_many_hardware_breakpoints)
{
	struct inferior *inferior = launch(run_loop);
	struct error *error = NULL;
	int i;

	need_breakpoint_registers();
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

	need_breakpoint_registers();
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
