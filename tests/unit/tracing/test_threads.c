/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads and processes begin and end. */
#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/tracing/attach.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/tracing/resume.h"
#include "gdbstub/tracing/status.h"
#include "gdbstub/inferior/thread_end.h"
#include "gdbstub/tracing/wait.h"
#include "tests/unit/launched.h"
#include "gdbstub/tracing/inferiors.h"

/* ---- threads ---- */

struct tally {
	int clones, exits;
	struct event last;
};

/* Runs everything until the process ends; signals are delivered. */
static struct tally run_to_end(struct fixture *f)
{
	struct tally tally = {0};

	for (;;) {
		struct event event = next_event(f);

		tally.last = event;
		tally.clones += event.kind == EVENT_CLONE;
		tally.exits += event.kind == EVENT_THREAD_EXIT;
		if (event.kind == EVENT_EXITED || event.kind == EVENT_KILLED ||
		    event.kind == EVENT_NONE)
			return tally;
		if (event.child) {
			cr_assert_eq(event.child->inferior, f->inferior);
			cr_assert_not(event.child->running);
			cr_assert_eq(thread_continue(event.child, 0), 0);
		}
		if (event.thread)
			thread_continue(event.thread,
					event.kind == EVENT_SIGNAL ? event.signal : 0);
	}
}

Test(threads, all_are_followed_and_their_ends_seen)
{
	struct tally tally;
	struct fixture f;

	launch(&f, "threads", "32");
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	tally = run_to_end(&f);
	cr_assert_eq(tally.last.kind, EVENT_EXITED);
	cr_assert_eq(tally.last.status, 0);
	cr_assert_eq(tally.clones, 64);
	cr_assert_eq(tally.exits, 64);
	cr_assert_eq(TAILQ_FIRST(&f.inferior->threads), f.leader);
	cr_assert_null(TAILQ_NEXT(f.leader, link));
	cr_assert_null(f.inferiors.early_stops);
	inferior_destroy(f.inferior);
	inferiors_deinit(&f.inferiors);
}

Test(threads, name_and_core)
{
	char name[32], tiny[3];
	struct fixture f;

	launch(&f, "exit", NULL);
	thread_name(f.leader, name, sizeof(name));
	cr_assert_str_eq(name, "target");
	thread_name(f.leader, tiny, sizeof(tiny));
	cr_assert_str_eq(tiny, "ta");
	cr_assert_geq(thread_core(f.leader), 0);
	cr_assert_lt(thread_core(f.leader), sysconf(_SC_NPROCESSORS_CONF));
	kill_all(&f);
}

/* Its end is not told before that of the other thread, which nobody asks for meanwhile.
 */
Test(threads, leader_that_was_killed)
{
	struct fixture f;
	struct event event;
	int status;

	launch(&f, "leader-exits", NULL);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_CLONE, &event);
	cr_assert_eq(kill(f.leader->tid, SIGKILL), 0);
	cr_expect_eq(wait_status(f.leader->tid, &status), -ESRCH);
	f.leader->running = event.child->running = true;
	expect_event(&f, EVENT_THREAD_EXIT, &event);
	expect_event(&f, EVENT_KILLED, &event);
	inferior_destroy(f.inferior);
	inferiors_deinit(&f.inferiors);
}

Test(threads, leader_that_exits_first)
{
	struct fixture f;
	struct event event;
	struct thread *other;
	Elf64_Ehdr header;
	uint64_t base;

	launch(&f, "leader-exits", NULL);
	base = auxv(f.inferior, AT_BASE);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_CLONE, &event);
	other = event.child;
	cr_assert_not(thread_is_zombie(f.leader));
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	/* Only the leader runs, and it reports nothing when it ends. */
	while (!thread_is_zombie(f.leader)) {
		inferiors_wait(&f.inferiors, false, &event);
		cr_assert_eq(event.kind, EVENT_NONE);
		usleep(1000);
	}
	cr_assert_not(thread_is_zombie(other));
	cr_assert_eq(inferior_read(f.inferior, base, &header, sizeof(header)),
		     (ssize_t)sizeof(header), "memory outlives the leader");
	cr_assert_eq(thread_continue(other, 0), 0);
	expect_event(&f, EVENT_THREAD_EXIT, &event);
	expect_exit(&f, 7);
}

Test(threads, kill_with_a_zombie_leader)
{
	struct fixture f;
	struct event event;

	launch(&f, "leader-exits", NULL);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_CLONE, &event);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	while (!thread_is_zombie(f.leader))
		usleep(1000);
	kill_all(&f);
}

/* Another thread's exec may be killing this one already. */
static void expect_continue_or_dying(struct thread *thread)
{
	int err = thread_continue(thread, 0);

	cr_assert(err == 0 || err == -ESRCH, "%d", err);
}

Test(threads, exec_by_another_thread)
{
	char text[16];
	uint64_t pc;
	struct fixture f;
	struct event event;

	launch(&f, "thread-exec", NULL);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	do {
		event = next_event(&f);
		if (event.child)
			expect_continue_or_dying(event.child);
		if (event.kind == EVENT_CLONE)
			expect_continue_or_dying(event.thread);
	} while (event.kind == EVENT_CLONE || event.kind == EVENT_THREAD_EXIT);
	cr_assert_eq(event.kind, EVENT_EXEC, "%s", event_kind_name(event.kind));
	cr_assert_eq(event.tid, f.inferior->pid);
	cr_assert_eq(event.thread->tid, f.inferior->pid);
	cr_assert_eq(TAILQ_FIRST(&f.inferior->threads), event.thread);
	cr_assert_null(TAILQ_NEXT(event.thread, link));
	pc = pc_of(event.thread);
	cr_assert_eq(pc, linker_entry(f.inferior), "new memory");
	cr_assert_eq(inferior_read(f.inferior, pc, text, sizeof(text)), sizeof(text));
	cr_assert_eq(inferior_write(f.inferior, pc, text, sizeof(text)), 0);
	cr_assert_eq(thread_step(event.thread, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGTRAP);
	cr_assert_gt(pc_of(event.thread), pc);
	cr_assert_eq(thread_continue(event.thread, 0), 0);
	expect_exit(&f, 5);
}

/* ---- processes ---- */

/* A forked child is taken over, let go, and its parent sees it exit. */
static void fork_child(const char *action, enum event_kind kind)
{
	struct inferior *child;
	struct fixture f;
	struct event event;

	launch(&f, action, NULL);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, kind, &event);
	cr_assert_neq(event.child_pid, f.inferior->pid);
	child = inferior_create(&f.inferiors, event.child_pid, true);
	cr_assert_eq(pc_of(TAILQ_FIRST(&child->threads)), pc_of(f.leader));
	inferior_detach(child, 0, 0);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	if (kind == EVENT_VFORK) {
		expect_event(&f, EVENT_VFORK_DONE, &event);
		cr_assert_eq(thread_continue(f.leader, 0), 0);
	}
	event = next_event(&f);
	if (event.kind == EVENT_SIGNAL) {
		cr_assert_eq(event.signal, SIGCHLD);
		cr_assert_eq(thread_continue(f.leader, SIGCHLD), 0);
		event = next_event(&f);
	}
	cr_assert_eq(event.kind, EVENT_EXITED);
	cr_assert_eq(event.status, 0);
	inferiors_deinit(&f.inferiors);
}

Test(processes, fork)
{
	fork_child("fork", EVENT_FORK);
}

Test(processes, vfork)
{
	fork_child("vfork", EVENT_VFORK);
}

Test(processes, death_by_signal)
{
	struct fixture f;
	struct event event;

	launch(&f, "die", "10"); /* SIGUSR1 */
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGUSR1);
	cr_assert_eq(event.siginfo.si_code, SI_TKILL);
	cr_assert_eq(thread_continue(f.leader, SIGUSR1), 0);
	expect_event(&f, EVENT_KILLED, &event);
	cr_assert_eq(event.signal, SIGUSR1);
	inferior_destroy(f.inferior);
	inferiors_deinit(&f.inferiors);
}

Test(processes, killed_from_outside_while_stopped)
{
	struct fixture f;
	struct event event;
	int err;

	launch(&f, "spin", NULL);
	kill(f.inferior->pid, SIGKILL);
	err = thread_continue(f.leader, 0);
	cr_assert(err == 0 || err == -ESRCH);
	cr_assert(f.leader->running);
	expect_event(&f, EVENT_KILLED, &event);
	cr_assert_eq(event.signal, SIGKILL);
	expect_event(&f, EVENT_NONE, &event);
	inferiors_deinit(&f.inferiors);
}
