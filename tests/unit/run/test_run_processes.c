/* SPDX-License-Identifier: BSD-2-Clause */
/* Run control against real processes: processes that fork, and that end. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/stops/client_view.h"
#include "gdbstub/run/nonstop.h"
#include "tests/unit/run_place.h"

TestSuite(run, .init = set_up, .fini = tear_down, .timeout = 300);

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
	while (!other->control->pending_stop || !ended->control->pending_stop) {
		cr_assert_not(run_poll(&run, &stop));
		usleep(100);
	}
	client_view_acknowledge(&run);
	stop = wait_stop(&run);
	cr_expect_eq(stop.kind, STOP_EXITED);
	cr_expect_eq(stop.status, 5);
	client_view_acknowledge(&run);
	stop = wait_stop(&run);
	cr_expect_eq(stop.kind, STOP_EXITED);
	cr_expect_eq(stop.status, 42);
}
