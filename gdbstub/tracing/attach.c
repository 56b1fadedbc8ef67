/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/tracing/attach.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gdbstub/base/shutdown.h"
#include "gdbstub/base/log.h"
#include "gdbstub/base/rights.h"
#include "gdbstub/inferior/compat.h"
#include "gdbstub/tracing/decode.h"
#include "gdbstub/tracing/hit_step.h"
#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/inferior/late.h"
#include "gdbstub/tracing/leaving.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/tracing/resume.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/inferior/thread_end.h"

enum {
	POLL_INTERVAL_NS = 500000,
	KILL_PATIENCE = 10000, /* ms: a process may have much memory to give back */
	EMPTY_PASSES_MAX = 100,
};

static void poll_pause(void)
{
	struct timespec interval = {.tv_nsec = POLL_INTERVAL_NS};

	nanosleep(&interval, NULL);
}

/* The next thread of the process, 0 at the end. */
static pid_t next_task(DIR *tasks)
{
	struct dirent *entry;

	while ((entry = readdir(tasks))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0)
			return tid;
	}
	return 0;
}

static DIR *open_tasks(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return opendir(path);
}

/* ---- why not ---- */

static bool has_ended(pid_t tid)
{
	char state[2];

	return !proc_stat_field(tid, PROC_STAT_STATE, state, sizeof(state)) ||
	       *state == 'Z' || *state == 'X';
}

static bool all_have_ended(pid_t pid)
{
	_cleanup_closedir_ DIR *tasks = open_tasks(pid);
	pid_t tid;

	while (tasks && (tid = next_task(tasks))) {
		if (!has_ended(tid))
			return false;
	}
	return true;
}

/* The kernel lets us trace who has no more capabilities than we have: these are lent,
 * and not our user's. */
static bool has_lent_rights(pid_t tid)
{
	return rights_are_lent() && proc_status_bits(tid, "CapPrm") != 0;
}

/* What is not dumpable belongs to root in /proc (proc(5)). */
static bool is_protected(pid_t pid)
{
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return stat(path, &st) == 0 && st.st_uid != getuid();
}

/* @tid: one of its threads, to which the reason applies. */
static struct error *not_permitted(pid_t pid, pid_t tid)
{
	long tracer = proc_status_number(pid, "TracerPid");
	long scope = proc_number("/proc/sys/kernel/yama/ptrace_scope");

	if (tracer > 0)
		return error_create(0,
				    "Cannot attach to process %d: process %ld already "
				    "traces it",
				    pid, tracer);
	if (proc_status_number(pid, "Uid") != (long)getuid())
		return error_create(
			EPERM,
			"Cannot attach to process %d, which is another user's "
			"(needs root)",
			pid);
	if (is_protected(pid))
		return error_create(
			EPERM,
			"Cannot attach to process %d, which is protected, as it has "
			"more rights than you (setuid, capabilities) or wants to be "
			"(prctl(2), PR_SET_DUMPABLE): needs root",
			pid);
	if (has_lent_rights(tid))
		return error_create(EPERM,
				    "Cannot attach to process %d, which has "
				    "capabilities (needs root)",
				    pid);
	if (scope > 0)
		return error_create(
			EPERM,
			"Cannot attach to process %d (needs root, or: sysctl "
			"kernel.yama.ptrace_scope=0, which is %ld)",
			pid, scope);
	return error_create(EPERM, "Cannot attach to process %d, which is protected",
			    pid);
}

/* To be asked of what is seized already, too: by then exec gives it none. */
static struct error *check_rights(pid_t pid, pid_t tid)
{
	return has_lent_rights(tid) ? not_permitted(pid, tid) : NULL;
}

static struct error *check_all_rights(const struct inferior *inferior)
{
	struct error *error = NULL;
	const struct thread *thread;

	FOREACH_THREAD (thread, inferior) {
		if (!error)
			error = check_rights(inferior->pid, thread->tid);
	}
	return error;
}

static struct error *check_target(struct inferiors *inferiors, pid_t pid)
{
	long leader = pid > 0 ? proc_status_number(pid, "Tgid") : -1;

	if (pid == getpid())
		return error_create(0,
				    "Cannot attach to process %d: that is truehit "
				    "itself",
				    pid);
	if (leader < 0)
		return error_create(0, "Cannot attach to process %d: no such process",
				    pid);
	if (leader != pid)
		return error_create(
			0,
			"Cannot attach to %d: it is a thread of process %ld "
			"(attach to that)",
			pid, leader);
	if (inferior_find(inferiors, pid))
		return error_create(0, "Process %d is attached to already", pid);
	if (all_have_ended(pid))
		return error_create(0,
				    "Cannot attach to process %d: it has ended and is "
				    "a zombie",
				    pid);
	return check_rights(pid, pid);
}

/* ---- attaching ---- */

/* It may be ours still, from an attach before. */
static int seize(struct thread *thread)
{
	if (leaving_cancel(thread->inferior->owner, thread->tid, &thread->bound) &&
	    proc_status_number(thread->tid, "TracerPid") == getpid())
		return 0;
	return ptrace(PTRACE_SEIZE, thread->tid, NULL, TRACE_OPTIONS) < 0 ? -errno : 0;
}

/*
 * Seizes a thread and asks it to stop. A thread that is traced by us already was
 * made by a seized one, which reports it. One that has ended is no failure either.
 */
static int take_thread(struct inferior *inferior, pid_t tid)
{
	struct thread *thread = thread_create(inferior, tid);
	int ret;

	if (!thread)
		return -ENOMEM;
	ret = seize(thread);
	if (ret == 0) {
		thread->running = true;
		thread_interrupt(thread);
		return 0;
	}
	thread_destroy(thread);
	return has_ended(tid) || proc_status_number(tid, "TracerPid") == getpid() ? 0
										  : ret;
}

/* Is it listed until we let it go? Others end at any moment: the kernel may leave out
 * those that are listed after one that does. */
static bool is_held(struct inferior *inferior, pid_t tid)
{
	return inferior_thread(inferior, tid) || tid == inferior->pid ||
	       (has_ended(tid) && proc_status_number(tid, "TracerPid") == getpid());
}

/* Number of threads that were not in the list yet, or a negative errno. *all: there
 * are no others. */
static int take_new_threads(struct inferior *inferior, bool *all)
{
	_cleanup_closedir_ DIR *tasks = open_tasks(inferior->pid);
	int ret, fresh = 0;
	long held = 0;
	pid_t tid;

	while (tasks && (tid = next_task(tasks))) {
		if (!inferior_thread(inferior, tid)) {
			ret = take_thread(inferior, tid);
			if (ret < 0)
				return ret;
			fresh += inferior_thread(inferior, tid) != NULL;
		}
		held += is_held(inferior, tid);
	}
	*all = held == proc_status_number(inferior->pid, "Threads");
	return fresh;
}

/*
 * Keeps a signal of the program, or a group stop, for later. A process that it forks
 * just now is not ours to follow.
 */
static void note_event(const struct event *event)
{
	if (event->kind == EVENT_SIGNAL || event->kind == EVENT_GROUP_STOP)
		event->thread->pending = *event;
	else if (event->kind == EVENT_FORK || event->kind == EVENT_VFORK)
		ptrace(PTRACE_DETACH, event->child_pid, NULL, NULL);
}

/*
 * Waits until the thread @tid has stopped or ended, or is late. False: the process has
 * ended. Not a blocking wait, since a leader that ends before its threads reports
 * nothing.
 */
static bool wait_stopped(struct inferior *inferior, pid_t tid,
			 struct lateness *lateness)
{
	for (;;) {
		struct thread *thread = inferior_thread(inferior, tid);
		struct event event;
		int status;
		pid_t ret;

		if (!thread || thread_is_held(thread) || thread_is_zombie(thread))
			return true;
		lateness_look(lateness);
		ret = waitpid(tid, &status, __WALL | WNOHANG);
		if (ret < 0 && errno != EINTR)
			return false;
		if (ret <= 0) {
			if (!thread_becomes_late(thread, lateness))
				poll_pause();
			continue;
		}
		lateness_begin(lateness);
		if (!wait_decode(inferior->owner, tid, status, &event))
			continue;
		if (event.kind == EVENT_EXITED || event.kind == EVENT_KILLED)
			return false;
		/* A signal that came before us is told before our stop. */
		if (event.kind == EVENT_INTERRUPTED && wait_signal_comes(event.thread))
			thread_continue(event.thread, 0);
		else
			note_event(&event);
	}
}

/* Waits for those that are found running. By number, since an exec or the end of a
 * thread changes the list: then the rest is left to the next time. */
static bool wait_each(struct inferior *inferior, struct lateness *lateness,
		      bool *waited)
{
	struct thread *thread = TAILQ_FIRST(&inferior->threads);

	*waited = false;
	while (thread) {
		pid_t tid = thread->tid;

		if (!thread_is_held(thread) && !thread_is_zombie(thread)) {
			*waited = true;
			if (!wait_stopped(inferior, tid, lateness))
				return false;
			thread = inferior_thread(inferior, tid);
		}
		thread = thread ? TAILQ_NEXT(thread, link) : NULL;
	}
	return true;
}

/* Until there are none. */
static bool wait_all_stopped(struct inferior *inferior)
{
	struct lateness lateness;
	bool waited;

	lateness_begin(&lateness);
	do {
		if (!wait_each(inferior, &lateness, &waited))
			return false;
	} while (waited);
	return true;
}

/* The kernel lets nobody attach to a leader that has ended before its threads: the
 * inferior is without it then. */
static struct error *seize_leader(struct inferior *inferior)
{
	struct thread *leader = TAILQ_FIRST(&inferior->threads);
	int ret = seize(leader);

	if (ret == -EPERM && has_ended(leader->tid)) {
		thread_destroy(leader);
		return NULL;
	}
	if (ret == -EPERM)
		return not_permitted(leader->tid, leader->tid);
	if (ret < 0)
		return error_create(-ret, "Cannot attach to process %d", leader->tid);
	leader->running = true;
	thread_interrupt(leader);
	return NULL;
}

static void warn_of_late(struct inferior *inferior)
{
	struct thread *thread;

	FOREACH_THREAD (thread, inferior) {
		struct buffer text _cleanup_buffer_ = {0};

		if (!thread->late)
			continue;
		thread_explain_late(thread, &text);
		inferior_warn(inferior, buffer_string(&text));
	}
}

/*
 * Until all that we hold have stopped, and there are no others: the thread that is made
 * while its maker is seized may be nobody's. What others trace, zombies of theirs, say,
 * we never hold: passes that find nothing new end it, too, if they are many.
 */
static struct error *take_all_threads(struct inferior *inferior)
{
	int fresh, empty = 0;
	bool all;

	do {
		if (!wait_all_stopped(inferior))
			return error_create(0, "Process %d ended while attaching",
					    inferior->pid);
		fresh = take_new_threads(inferior, &all);
		empty = fresh > 0 ? 0 : empty + 1;
	} while (fresh > 0 || (fresh == 0 && !all && empty < EMPTY_PASSES_MAX));
	if (fresh < 0)
		return error_create(-fresh,
				    "Cannot attach to all threads of process %d",
				    inferior->pid);
	if (TAILQ_EMPTY(&inferior->threads))
		return error_create(0, "Process %d ended while attaching",
				    inferior->pid);
	warn_of_late(inferior);
	return NULL;
}

struct error *inferior_attach(struct inferiors *inferiors, pid_t pid,
			      struct inferior **ret)
{
	struct error *error = check_target(inferiors, pid);
	struct inferior *inferior;

	if (error)
		return error;
	inferior = inferior_create(inferiors, pid, true);
	if (!inferior)
		return error_create(ENOMEM, "Cannot attach to process %d", pid);
	error = seize_leader(inferior);
	if (error) {
		inferior_destroy(inferior);
		return error;
	}
	error = take_all_threads(inferior);
	if (!error)
		error = check_all_rights(inferior);
	if (error) {
		inferior_detach(inferior, 0, 0);
		return error;
	}
	compat_find_out(inferior);
	*ret = inferior;
	return NULL;
}

/* ---- letting go ---- */

/* The signal that the program would have got without us. A trap that the kernel
 * raised (si_code > 0) was ours. */
static int owed_signal(const struct thread *thread)
{
	const struct event *event = &thread->pending;

	if (thread->owed_signal != 0)
		return thread->owed_signal;
	if (event->kind == EVENT_SIGNAL &&
	    (event->signal != SIGTRAP || event->siginfo.si_code <= 0))
		return event->signal;
	return 0;
}

/* By the kernel, when the server ends, it would be killed (PTRACE_O_EXITKILL), or keep
 * debug registers of ours. */
static bool must_be_waited_for(const struct thread *thread)
{
	return thread->late &&
	       (!thread->inferior->attached || thread->bound || thread->debugreg_stale);
}

static void detach_thread(struct thread *thread, int signal)
{
	int status;

	if (thread->running) {
		leaving_add(thread, must_be_waited_for(thread));
		return;
	}
	wait_take_own(thread);
	/* Else nobody's breakpoints would ever hit in it again. */
	if (hit_step_may_be(thread))
		hit_step_end(thread);
	/* PTRACE_DETACH takes a signal at a signal-delivery stop only. */
	if (signal != 0 && !thread->at_signal) {
		tgkill(thread->group, thread->tid, signal);
		signal = 0;
	}
	if (ptrace(PTRACE_DETACH, thread->tid, NULL, (void *)(intptr_t)signal) < 0)
		waitpid(thread->tid, &status, __WALL | WNOHANG); /* it has ended */
}

void inferior_detach(struct inferior *inferior, pid_t signal_tid, int signal)
{
	struct thread *thread;

	FOREACH_THREAD (thread, inferior) {
		bool chosen = signal_tid != 0 && thread->tid == signal_tid;

		detach_thread(thread,
			      chosen && signal != 0 ? signal : owed_signal(thread));
	}
	inferior_destroy(inferior);
}

void newborn_detach(pid_t pid)
{
	int status;

	if (ptrace(PTRACE_DETACH, pid, NULL, NULL) < 0)
		waitpid(pid, &status, __WALL | WNOHANG); /* it has ended */
}

/* True: it has ended. Stops that were on their way when the process was killed are
 * dropped, and so are those of threads that end. */
static bool reap_thread(pid_t tid)
{
	int status;
	pid_t ret = waitpid(tid, &status, __WALL | WNOHANG);

	if (ret < 0)
		return errno != EINTR;
	if (ret == 0 || !WIFSTOPPED(status))
		return ret == tid;
	ptrace(PTRACE_CONT, tid, NULL, NULL);
	return false;
}

/* Reaps what has ended of the process. True: all of it, the leader included. */
static bool reap(pid_t pid)
{
	_cleanup_closedir_ DIR *tasks = open_tasks(pid);
	pid_t tid;

	while (tasks && (tid = next_task(tasks)))
		if (tid != pid)
			reap_thread(tid);
	return reap_thread(pid);
}

/* Does all that is left of a killed process sleep where it cannot end? What has ended
 * is about to be reaped, if nothing else is left. */
static bool all_are_late(pid_t pid, const struct lateness *lateness)
{
	_cleanup_closedir_ DIR *tasks = open_tasks(pid);
	bool any = false;
	pid_t tid;

	while (tasks && (tid = next_task(tasks))) {
		if (has_ended(tid))
			continue;
		if (!lateness_is_over(lateness, tid))
			return false;
		any = true;
	}
	return any || lateness_is_over(lateness, pid);
}

/* False: it has not come in time. */
static bool wait_end(pid_t pid)
{
	struct lateness lateness;

	lateness_begin(&lateness);
	lateness.patience = KILL_PATIENCE;
	for (;;) {
		lateness_look(&lateness);
		if (reap(pid))
			return true;
		if (shutdown_asked())
			lateness.patience = 0;
		if (all_are_late(pid, &lateness))
			return false;
		poll_pause();
	}
}

void inferior_kill(struct inferior *inferior)
{
	const struct thread *thread;

	kill(inferior->pid, SIGKILL);
	FOREACH_THREAD (thread, inferior) {
		if (thread_leads(thread))
			kill(thread->tid, SIGKILL);
	}
	if (!wait_end(inferior->pid)) {
		log_warning("process %d is killed, but has not ended yet: it sleeps in "
			    "the kernel",
			    inferior->pid);
		FOREACH_THREAD (thread, inferior) {
			if (!has_ended(thread->tid))
				leaving_add(thread, false);
		}
	}
	inferior_destroy(inferior);
}
