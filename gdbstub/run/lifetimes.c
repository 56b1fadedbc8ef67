/* SPDX-License-Identifier: BSD-2-Clause */
/* How inferiors come and go. */
#include "gdbstub/run/lifetimes.h"

#include <errno.h>
#include <unistd.h>

#include "gdbstub/base/log.h"
#include "gdbstub/tracing/attach.h"
#include "gdbstub/inferior/compat.h"
#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/tracing/launch.h"
#include "gdbstub/tracing/resume.h"
#include "gdbstub/tracing/siginfo.h"
#include "gdbstub/tracing/wait.h"
#include "gdbstub/stops/client_view.h"
#include "gdbstub/engines/engines.h"
#include "gdbstub/run/halt.h"
#include "gdbstub/run/leave.h"
#include "gdbstub/stops/next_stop.h"
#include "gdbstub/stops/pending.h"
#include "gdbstub/run/proceed.h"
#include "gdbstub/pads/leftovers.h"
#include "gdbstub/control/pace.h"
#include "gdbstub/breakpoints/breakpoints.h"

void run_init(struct run *run)
{
	sigset_t set;

	*run = (struct run){0};
	run->output = run->own_output = output_descriptor(STDOUT_FILENO);
	TAILQ_INIT(&run->thread_ends);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	inferiors_init(&run->inferiors);
	control_init(run);
	run_forget_wishes(run);
	engines_init(&run->engines, &run->output, &run->own_output);
}

static void warn_of(struct error *lack)
{
	_cleanup_error_ struct error *error = lack;

	if (error)
		log_warning("%s", error_text(error));
}

void run_try_engines(struct run *run)
{
	if (run->engines_tried)
		return;
	run->engines_tried = true;
	engines_probe(&run->engines);
	warn_of(engines_lack_conditions(&run->engines));
	warn_of(engines_lack_slots(&run->engines));
}

void run_deinit(struct run *run)
{
	struct inferior *inferior;

	while ((inferior = TAILQ_FIRST(&run->inferiors.list))) {
		if (inferior->attached)
			run_detach(run, inferior, 0);
		else
			run_kill(run, inferior);
	}
	pending_forget_thread_ends(run, 0);
	engines_deinit(&run->engines);
	inferiors_deinit(&run->inferiors);
}

/* ---- coming ---- */

static struct error *adopt(struct run *run, struct inferior *inferior, int signal)
{
	if (!breakpoints_create(inferior, &run->engines)) {
		if (inferior->attached)
			inferior_detach(inferior, 0, 0);
		else
			inferior_kill(inferior);
		return error_create(ENOMEM, "process %d", inferior->pid);
	}
	warn_of(compat_refuse(inferior));
	TAILQ_FIRST(&inferior->threads)->control->last_signal = signal;
	run->newest = inferior->pid;
	run->last = (struct stop){
		.kind = STOP_SIGNAL,
		.signal = signal,
		.pid = inferior->pid,
		.tid = inferior->pid,
	};
	return NULL;
}

struct error *run_launch(struct run *run, const struct launch_options *options,
			 struct inferior **ret)
{
	struct error *error = inferior_launch(&run->inferiors, options, ret);

	return error ? error : adopt(run, *ret, SIGTRAP);
}

/* As in gdbserver, non-stop mode leaves the threads of a new process running: gdb
 * wants to learn what it has attached to before it hears of stops. */
static void run_on(struct run *run, struct inferior *inferior)
{
	struct thread *thread;

	FOREACH_THREAD (thread, inferior)
		thread->control->action.kind = RESUME_CONTINUE;
	inferior->control->awaited = true;
	pace_set_running(run, true);
	proceed_all(run);
}

/* A signal that the main thread had not got yet is why it has stopped. */
static void tell_signal(struct run *run, struct thread *leader)
{
	if (!leader->control->pending_stop)
		return;
	next_stop_take_of(run, leader, &run->last);
	leader->control->last_signal = run->last.signal;
	leader->control->told = run->last;
}

/* Of a process that job control had stopped before, the client hears when it resumes
 * it. In all-stop mode one thread tells for all. */
static void keep_group_stop(struct run *run, struct inferior *inferior)
{
	struct thread *thread;
	bool told = false;

	FOREACH_THREAD (thread, inferior) {
		if (thread->pending.kind != EVENT_GROUP_STOP)
			continue;
		if (run->non_stop || !told)
			pending_set_signal(run, &thread->pending);
		else
			thread->pending.kind = EVENT_NONE;
		told = true;
	}
}

static void take_out_leftovers(struct inferior *inferior)
{
	const unsigned int count = leftovers_take_out(inferior);

	if (count > 0)
		log_warning("process %d had %u jumps to pads of a truehit that was "
			    "killed: the text is as in its files again, and the pads' "
			    "memory stays",
			    inferior->pid, count);
}

struct error *run_attach(struct run *run, pid_t pid, struct inferior **ret)
{
	struct error *error = inferior_attach(&run->inferiors, pid, ret);
	struct thread *thread;

	if (!error)
		error = adopt(run, *ret, 0);
	if (error)
		return error;
	take_out_leftovers(*ret);
	/* Signals of the program that came while attaching. */
	TAILQ_FOREACH (thread, &(*ret)->threads, link) {
		if (thread->pending.kind == EVENT_SIGNAL)
			pending_set_signal(run, &thread->pending);
	}
	if (!run->non_stop)
		tell_signal(run, TAILQ_FIRST(&(*ret)->threads));
	keep_group_stop(run, *ret);
	if (run->non_stop)
		run_on(run, *ret);
	return NULL;
}

/* ---- letting go ---- */

/* In non-stop mode the other inferiors run on afterwards, and so do unattended ones. A
 * Ctrl-C that came too late for the last stop is for those who stay. */
static void begin_leaving(struct run *run)
{
	bool requested = run->interrupt_requested;

	if (!run->non_stop)
		run_halt(run);
	run->interrupt_requested = requested;
	halt_all(run);
}

static void end_leaving(struct run *run)
{
	if (TAILQ_EMPTY(&run->inferiors.list))
		run->interrupt_requested = false;
	proceed_all(run);
	if (run->non_stop)
		pace_set_running(run, client_view_any_resumed(run));
}

void run_detach(struct run *run, struct inferior *inferior, int signal)
{
	pid_t tid = run->last.pid == inferior->pid ? run->last.tid : inferior->pid;

	begin_leaving(run);
	leave_inferior(run, inferior, tid, signal);
	end_leaving(run);
}

void run_kill(struct run *run, struct inferior *inferior)
{
	begin_leaving(run);
	leave_by_kill(run, inferior);
	end_leaving(run);
}

/* ---- without a client ---- */

struct error *run_leave(struct run *run, struct inferior *inferior)
{
	struct thread *thread;
	struct error *error;

	if (!run->non_stop)
		run_halt(run);
	halt_all(run);
	breakpoints_remove_all(inferior->breakpoints);
	client_view_end(inferior);
	inferior->control->hidden = true;
	inferior->unattended = true;
	FOREACH_THREAD (thread, inferior) {
		thread->control->action =
			(struct resume_action){.kind = RESUME_CONTINUE};
		thread->control->fresh = true;
	}
	error = run_resume(run);
	pace_set_running(run, run->non_stop && client_view_any_resumed(run));
	return error;
}

void run_rejoin(struct run *run)
{
	struct inferior *inferior;

	if (!control_any_unattended(run))
		return;
	halt_all(run);
	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		if (!inferior->unattended)
			continue;
		inferior->control->hidden = false;
		inferior->unattended = false;
	}
	pace_set_running(run, true);
	run_halt(run);
}
