/* SPDX-License-Identifier: BSD-2-Clause */
/* Run control against real processes: interrupts, signals, and steps through a range.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/run/interrupt.h"
#include "tests/unit/run_place.h"
#include "gdbstub/inferior/thread.h"

TestSuite(run, .init = set_up, .fini = tear_down, .timeout = 300);

enum { WAIT_SECONDS = 30 };

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

/* Interrupts a program that has just hit a breakpoint: the stop after that one. */
static struct stop after_interrupted_hit(void)
{
	struct inferior *inferior = launch(run_loop);
	struct stop stop;
	siginfo_t info;

	use_only(&run, ENGINE_INT3);
	insert(inferior, BREAKPOINT_SOFTWARE, PLACE, NULL);
	set_actions((struct resume_action){.kind = RESUME_CONTINUE});
	cr_assert_null(run_resume(&run));
	cr_assert_eq(
		waitid(P_PID, (id_t)inferior->pid, &info, WSTOPPED | WNOWAIT | __WALL),
		0);
	run_interrupt(&run);
	stop = wait_stop(&run);
	cr_assert_eq(stop.kind, STOP_SWBREAK);
	breakpoints_remove(inferior->breakpoints, BREAKPOINT_SOFTWARE, PLACE, 1);
	return resume();
}

Test(run, interrupt_after_a_hit)
{
	struct stop stop = after_interrupted_hit();

	cr_assert_eq(stop.kind, STOP_SIGNAL);
	cr_assert_eq(stop.signal, SIGINT);
	expect_exit(42);
}

/* lldb takes the hit for the answer. */
Test(run, interrupt_after_a_hit_that_answers_it)
{
	struct stop stop;

	run.wishes.all_stops = true;
	stop = after_interrupted_hit();
	cr_assert_eq(stop.kind, STOP_EXITED);
	cr_assert_eq(stop.status, 42);
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
			thread_find(&run.inferiors, stop.tid)->control->action.signal =
				SIGUSR1;
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
