/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gdbstub/tracing/attach.h"
#include "gdbstub/tracing/resume.h"
#include "tests/unit/child.h"
#include "tests/unit/launched.h"
#include "gdbstub/tracing/inferiors.h"

static void wait_for_pause(void)
{
	for (;;)
		pause();
}

static struct inferior *attach(struct fixture *f, pid_t pid)
{
	struct error *error = arch_native()->init();

	cr_assert_null(error);
	inferiors_init(&f->inferiors);
	error = inferior_attach(&f->inferiors, pid, &f->inferior);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	f->leader = TAILQ_FIRST(&f->inferior->threads);
	return f->inferior;
}

static char state_of(pid_t pid)
{
	char path[64], line[256], *p;
	_cleanup_fclose_ FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file))
		return '?';
	p = strrchr(line, ')');
	return p ? p[2] : '?';
}

/* Waits (bounded) for a state: a thread needs a moment to get there. */
static bool reaches_state(pid_t pid, char state)
{
	for (int i = 0; i < 2000; i++) {
		if (state_of(pid) == state)
			return true;
		usleep(1000);
	}
	return false;
}

Test(attach, stops_and_detach_lets_run)
{
	pid_t child = child_start(wait_for_pause);
	struct fixture f;

	cr_assert(attach(&f, child)->attached);
	cr_assert_not(f.leader->running);
	cr_assert_eq(state_of(child), 't');
	pc_of(f.leader);
	inferior_detach(f.inferior, 0, 0);
	cr_assert(TAILQ_EMPTY(&f.inferiors.list));
	cr_assert(reaches_state(child, 'S'));
	child_end(child);
}

Test(attach, detach_delivers_a_signal)
{
	pid_t child = child_start(wait_for_pause);
	struct fixture f;
	int status;

	attach(&f, child);
	inferior_detach(f.inferior, child, SIGTERM);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFSIGNALED(status));
	cr_assert_eq(WTERMSIG(status), SIGTERM);
}

Test(attach, detach_delivers_a_pending_signal)
{
	pid_t child = child_start(wait_for_pause);
	struct event event;
	struct fixture f;
	int status;

	attach(&f, child);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	kill(child, SIGTERM);
	expect_event(&f, EVENT_SIGNAL, &event);
	f.leader->pending = event;
	inferior_detach(f.inferior, 0, 0);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFSIGNALED(status));
	cr_assert_eq(WTERMSIG(status), SIGTERM);
}

Test(attach, detach_keeps_our_traps_from_the_program)
{
	pid_t child = child_start(wait_for_pause);
	struct event event;
	struct fixture f;

	attach(&f, child);
	cr_assert_eq(thread_step(f.leader, 0), 0);
	kill(child, SIGCHLD); /* wakes nobody; pause goes on */
	cr_assert_eq(thread_interrupt(f.leader), 0);
	event = next_event(&f);
	cr_assert_neq(event.kind, EVENT_NONE);
	event.kind = EVENT_SIGNAL;
	event.signal = SIGTRAP;
	event.siginfo.si_code = TRAP_TRACE;
	f.leader->pending = event;
	inferior_detach(f.inferior, 0, 0);
	cr_assert(reaches_state(child, 'S'));
	child_end(child);
}

Test(attach, a_stopped_process_stays_stopped)
{
	pid_t child = child_start(wait_for_pause);
	struct fixture f;

	cr_assert(reaches_state(child, 'S'));
	kill(child, SIGSTOP);
	cr_assert(reaches_state(child, 'T'));
	attach(&f, child);
	cr_assert_not(f.leader->running);
	inferior_detach(f.inferior, 0, 0);
	cr_assert(reaches_state(child, 'T'));
	child_end(child);
}

static void *end_at_once(void *arg)
{
	return arg;
}

/* Two threads that do nothing but make short-lived threads. */
static void *make_threads(void *arg)
{
	for (;;) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, end_at_once, NULL) == 0)
			pthread_join(thread, NULL);
	}
	return arg;
}

static void thread_storm(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, make_threads, NULL);
	make_threads(NULL);
}

static int count_untraced(pid_t pid)
{
	char path[64], line[256];
	_cleanup_closedir_ DIR *tasks = NULL;
	struct dirent *entry;
	int untraced = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		_cleanup_fclose_ FILE *file = NULL;
		int tracer = -1;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%.10s/status", entry->d_name);
		file = fopen(path, "re");
		while (file && fgets(line, sizeof(line), file))
			sscanf(line, "TracerPid: %d", &tracer);
		untraced += tracer != getpid();
	}
	return untraced;
}

Test(attach, catches_every_short_lived_thread)
{
	pid_t child = child_start(thread_storm);

	for (int i = 0; i < 30; i++) {
		struct fixture f;
		struct thread *thread;

		attach(&f, child);
		cr_assert_eq(count_untraced(child), 0);
		FOREACH_THREAD (thread, f.inferior)
			cr_assert_not(thread->running);
		inferior_detach(f.inferior, 0, 0);
		inferiors_deinit(&f.inferiors);
	}
	cr_assert_neq(state_of(child), 'Z');
	child_end(child);
}

Test(attach, kill_ends_it)
{
	pid_t child = child_start(thread_storm);
	struct fixture f;

	attach(&f, child);
	kill_all(&f);
}

static void expect_attach_error(pid_t pid, const char *part)
{
	struct inferiors inferiors;
	struct inferior *inferior;
	_cleanup_error_ struct error *error = NULL;

	inferiors_init(&inferiors);
	error = inferior_attach(&inferiors, pid, &inferior);
	cr_assert_not_null(error);
	cr_expect_not_null(strstr(error_text(error), part), "%s", error_text(error));
	cr_expect(TAILQ_EMPTY(&inferiors.list));
}

Test(attach, tells_why_not)
{
	pid_t zombie = child_start(sync);

	expect_attach_error(getpid(), "itself");
	expect_attach_error(0, "no such process");
	expect_attach_error(-1, "no such process");
	expect_attach_error(0x7fffffff, "no such process");
	cr_assert(reaches_state(zombie, 'Z'));
	expect_attach_error(zombie, "zombie");
	waitpid(zombie, NULL, 0);
}

Test(attach, names_the_leader_of_a_thread)
{
	char text[32];
	struct event event;
	struct fixture f;

	launch(&f, "threads", "1");
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_CLONE, &event);
	snprintf(text, sizeof(text), "thread of process %d", f.inferior->pid);
	expect_attach_error(event.child->tid, text);
	kill_all(&f);
}

Test(attach, names_another_tracer)
{
	pid_t child = child_trace(NULL, 0);
	char text[64];

	snprintf(text, sizeof(text), "process %d already traces it", getpid());
	expect_attach_error(child, text);
	child_end(child);
}
