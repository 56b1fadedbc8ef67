/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flow: run_resume() sets threads going; handle_event() takes one event of
 * one thread and either lets the thread go on (a false hit, a step inside a
 * range, a signal that nobody wants to see) or notes a pending stop; run_poll()
 * sees the pending stop, halts everything and reports it.
 */
#include "stops/run.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "stops/hit.h"
#include "stops/int3.h"
#include "stops/pending.h"

static void handle_event(struct run *run, const struct event *event);

/* ---- resuming ---- */

/* What became of a resume. A thread that is being killed counts as running: its
 * end will be reported. */
static void resumed(struct thread *thread, int err)
{
	if (err == -ESRCH)
		thread->running = true;
	else if (err < 0)
		log_warning("thread %d cannot be resumed: %s", thread->tid,
			    strerror(-err));
}

static void resume_one(struct thread *thread)
{
	int signal = thread->action.signal;

	thread->action.signal = 0;
	if (thread->action.kind == RESUME_CONTINUE)
		resumed(thread, thread_continue(thread, signal));
	else
		resumed(thread, thread_step(thread, signal));
}

/* Does a hit trap lie at this thread's PC, to be stepped over? */
static bool must_step_over(struct thread *thread)
{
	uint64_t pc;

	if (!thread->needs_step_over)
		return false;
	/* A signal goes first: of a fault it is the only way on, and the step could
	 * meet another one. The trap is hit anew when the handler returns. */
	if (thread->action.signal != 0 || thread_get_pc(thread, &pc) < 0 ||
	    pc != thread->step_over_at || !int3_at(thread->inferior, pc))
		thread->needs_step_over = false;
	return thread->needs_step_over;
}

static bool is_ready(const struct thread *thread)
{
	return !thread->running && !thread->pending_stop &&
	       thread->action.kind != RESUME_NONE && thread->action.kind != RESUME_STOP;
}

/* ---- halting ---- */

/*
 * A leader that ended while other threads live on is a zombie that tells nothing
 * until they end; one that is alone is about to tell of the process's end.
 */
static bool will_tell(const struct thread *thread)
{
	const struct thread_list *threads = &thread->inferior->threads;
	bool alone = TAILQ_FIRST(threads) == thread && !TAILQ_NEXT(thread, link);

	return thread->running && (alone || !thread_is_zombie(thread));
}

static bool any_running(const struct run *run)
{
	const struct inferior *inferior;
	const struct thread *thread;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		TAILQ_FOREACH (thread, &inferior->threads, link) {
			if (will_tell(thread))
				return true;
		}
	}
	return false;
}

static void interrupt_all(const struct run *run)
{
	struct inferior *inferior;
	struct thread *thread;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		TAILQ_FOREACH (thread, &inferior->threads, link) {
			if (thread->running && !thread->interrupting)
				thread_interrupt(thread);
		}
	}
}

/*
 * A blocking wait would sleep for ever on a leader that becomes a zombie while
 * other threads live: the kernel sends SIGCHLD for that, but no wait returns.
 */
static void wait_for_sigchld(void)
{
	const struct timespec limit = {.tv_nsec = 20 * 1000 * 1000};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigtimedwait(&set, NULL, &limit);
}

/* Stops every thread; what they have to tell becomes pending. */
static void halt(struct run *run)
{
	run->halting = true;
	while (any_running(run)) {
		struct event event;

		interrupt_all(run);
		inferiors_wait(&run->inferiors, false, &event);
		if (event.kind == EVENT_NONE)
			wait_for_sigchld();
		else
			handle_event(run, &event);
	}
	run->halting = false;
}

/* ---- stepping over traps ---- */

static void resume_all(struct run *run);
static void pass_pending_signal(const struct run *run, struct thread *thread);

/* The kernel forgets an interrupt when a thread stops for something else. */
static void renew_interrupt(const struct run *run, struct thread *thread)
{
	if (run->interrupt_requested && thread->running)
		thread_interrupt(thread);
}

/* What nobody wants to hear of is no reason not to go on. */
static void pass_pending_signals(const struct run *run)
{
	struct inferior *inferior;
	struct thread *thread;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		TAILQ_FOREACH (thread, &inferior->threads, link)
			pass_pending_signal(run, thread);
	}
}

static void step_over(struct run *run, struct thread *thread)
{
	_cleanup_error_ struct error *error = NULL;
	pid_t tid = thread->tid;

	/* No other thread may run through the place while the trap is away. */
	halt(run);
	pass_pending_signals(run);
	if (pending_any(run))
		return;
	thread = thread_find(&run->inferiors, tid);
	if (!thread) { /* killed meanwhile: the others go on without it */
		resume_all(run);
		return;
	}
	error = breakpoints_lift_traps(thread->inferior->breakpoints,
				       thread->step_over_at, false);
	if (error)
		log_warning("%s", error_text(error));
	run->stepping_over = tid;
	resumed(thread, thread_step(thread, 0));
	renew_interrupt(run, thread);
}

/* The traps go back: the thread that ran alone has left the place, or is gone. */
static void end_exclusive(struct run *run, struct inferior *inferior)
{
	_cleanup_error_ struct error *error = NULL;

	run->stepping_over = 0;
	run->vforking = 0;
	if (inferior->breakpoints)
		error = breakpoints_commit(inferior->breakpoints, true);
	if (error)
		log_warning("%s", error_text(error));
}

/* May this thread run now, when some thread may have to run alone? */
static bool may_run(const struct run *run, const struct thread *thread)
{
	pid_t alone = run->stepping_over ? run->stepping_over : run->vforking;

	return !run->halting && is_ready(thread) &&
	       (alone == 0 || alone == thread->tid);
}

static void resume_all(struct run *run)
{
	struct inferior *inferior;
	struct thread *thread;

	if (pending_any(run))
		return;
	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		TAILQ_FOREACH (thread, &inferior->threads, link) {
			if (may_run(run, thread) && must_step_over(thread)) {
				step_over(run, thread);
				return;
			}
		}
	}
	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		TAILQ_FOREACH (thread, &inferior->threads, link) {
			if (may_run(run, thread))
				resume_one(thread);
		}
	}
}

/* Lets one thread go on after an event that nobody needs to hear of. It may be gone
 * afterwards: others are halted before a trap is stepped over. */
static void keep_going(struct run *run, struct thread *thread)
{
	if (!may_run(run, thread))
		return;
	if (run->stepping_over != thread->tid && must_step_over(thread)) {
		step_over(run, thread);
		return;
	}
	if (run->stepping_over == thread->tid)
		resumed(thread, thread_step(thread, 0));
	else
		resume_one(thread);
	renew_interrupt(run, thread);
}

/* ---- events ---- */

static struct stop hit_stop(const struct location *location)
{
	struct stop stop = {.signal = SIGTRAP, .addr = location->addr};

	if (location->type == BREAKPOINT_SOFTWARE)
		stop.kind = STOP_SWBREAK;
	else if (location->type == BREAKPOINT_HARDWARE)
		stop.kind = STOP_HWBREAK;
	else
		stop.kind = STOP_WATCH;
	stop.watch = location->type;
	return stop;
}

/*
 * The SIGTRAP that ends a single step: TRAP_TRACE; TRAP_BRKPT after a system call
 * (x86 user_single_step_report); SIGTRAP itself where a signal handler was entered
 * (kernel/signal.c, signal_setup_done: ptrace_notify(SIGTRAP)).
 */
static bool ends_step(const struct event *event)
{
	int code = event->siginfo.si_code;

	return event->signal == SIGTRAP && event->thread->stepping &&
	       (code == TRAP_TRACE || code == TRAP_BRKPT || code == SIGTRAP);
}

static void on_step_end(struct run *run, struct thread *thread)
{
	const struct resume_action *action = &thread->action;
	uint64_t pc;

	if (action->kind == RESUME_RANGE && thread_get_pc(thread, &pc) == 0 &&
	    pc >= action->start && pc < action->end) {
		keep_going(run, thread);
		return;
	}
	if (action->kind == RESUME_STEP || action->kind == RESUME_RANGE)
		pending_set_step_ended(run, thread);
	else
		keep_going(run, thread);
}

/* As gdbserver: signals that a trap may have caused, or that come in the middle of
 * a step, are for the client to judge. */
static bool may_pass(const struct run *run, const struct event *event)
{
	return run->pass_signal[event->signal] &&
	       event->thread->action.kind == RESUME_CONTINUE &&
	       event->signal != SIGTRAP && event->signal != SIGILL &&
	       event->signal != SIGSEGV;
}

static void on_program_signal(struct run *run, const struct event *event)
{
	struct thread *thread = event->thread;

	if (run->halting || !may_pass(run, event)) {
		pending_set_signal(run, event);
		return;
	}
	thread->action.signal = event->signal;
	keep_going(run, thread);
}

/* Did a planted trap stop the thread, rather than hardware at the same place? */
static bool is_trap(const struct hits *hits)
{
	for (unsigned int i = 0; i < hits->count; i++) {
		if (hits->hit[i].location->engine->ops == &int3_engine)
			return true;
	}
	return false;
}

static void on_false_hit(struct run *run, struct thread *thread,
			 const struct hits *hits)
{
	if (int3_skip_own(thread)) {
		on_step_end(run, thread);
		return;
	}
	if (is_trap(hits))
		thread->needs_step_over =
			thread_get_pc(thread, &thread->step_over_at) == 0;
	keep_going(run, thread);
}

static void on_signal(struct run *run, const struct event *event)
{
	struct thread *thread = event->thread;
	const struct location *location;
	struct hits hits;

	hits_collect(&run->engines, event, &hits);
	location = hits_evaluate(&hits, thread);
	if (run->stepping_over == thread->tid) {
		thread->needs_step_over = !ends_step(event);
		end_exclusive(run, event->inferior);
	}
	if (location) {
		if (!hits.signal_is_ours && !ends_step(event))
			thread->pending = *event;
		pending_set(run, thread, hit_stop(location));
		return;
	}
	if (hits.signal_is_ours)
		on_false_hit(run, thread, &hits);
	else if (ends_step(event))
		on_step_end(run, thread);
	else
		on_program_signal(run, event);
}

static void on_interrupted(struct run *run, const struct event *event)
{
	struct thread *thread = event->thread;

	if (run->stepping_over == thread->tid)
		end_exclusive(run, event->inferior);
	if (run->interrupt_requested) {
		run->interrupt_requested = false;
		pending_set(run, thread,
			    (struct stop){.kind = STOP_SIGNAL, .signal = SIGINT});
	} else if (event->kind == EVENT_GROUP_STOP && !run->halting) {
		resumed(thread, thread_listen(thread));
	} else {
		keep_going(run, thread);
	}
}

static void on_clone(struct run *run, const struct event *event)
{
	struct thread *child = event->child;

	if (child) {
		child->action.kind = RESUME_CONTINUE;
		breakpoints_thread_added(event->inferior->breakpoints, child);
		keep_going(run, child);
	}
	keep_going(run, event->thread);
}

/* The child goes its own way, with no trap of ours in its text. */
static void let_child_go(const struct event *event)
{
	struct inferior *child =
		inferior_create(event->inferior->owner, event->child_pid, true);

	if (!child) {
		log_warning("out of memory: child %d stays stopped", event->child_pid);
		return;
	}
	if (event->kind == EVENT_FORK)
		breakpoints_clean_child(event->inferior->breakpoints, child);
	inferior_detach(child, 0, 0);
}

static void on_fork(struct run *run, const struct event *event)
{
	let_child_go(event);
	keep_going(run, event->thread);
}

/*
 * A vfork child runs in its parent's memory: traps must be away until it is done,
 * and so that nobody runs past them meanwhile, the other threads wait. The parent
 * itself goes on even if everything is being halted: it executes no instruction
 * before its child is done, so that a halt ends with all traps back in place.
 */
static void on_vfork(struct run *run, const struct event *event)
{
	struct breakpoints *breakpoints = event->inferior->breakpoints;
	_cleanup_error_ struct error *error = NULL;
	bool halting = run->halting;
	struct thread *thread;

	if (!breakpoints_have_traps(breakpoints)) {
		on_fork(run, event);
		return;
	}
	/* Another thread's vfork, if one comes up here, is over when this returns. */
	halt(run);
	run->halting = halting;
	error = breakpoints_lift_traps(breakpoints, 0, true);
	if (error)
		log_warning("%s", error_text(error));
	let_child_go(event);
	thread = inferior_thread(event->inferior, event->tid);
	if (!thread) { /* killed meanwhile */
		end_exclusive(run, event->inferior);
		resume_all(run);
		return;
	}
	run->vforking = event->tid;
	resume_one(thread);
	renew_interrupt(run, thread);
}

static void on_vfork_done(struct run *run, const struct event *event)
{
	if (run->vforking == event->thread->tid)
		end_exclusive(run, event->inferior);
	keep_going(run, event->thread);
}

static void on_syscall(struct run *run, const struct event *event)
{
	keep_going(run, event->thread);
}

static void on_exec(struct run *run, const struct event *event)
{
	struct thread *thread = event->thread;

	run->stepping_over = 0;
	run->vforking = 0;
	breakpoints_forget(event->inferior->breakpoints);
	pending_clear(thread);
	thread->pending.kind = EVENT_NONE;
	thread->needs_step_over = false;
	pending_set(run, thread, (struct stop){.kind = STOP_EXEC, .signal = SIGTRAP});
}

static void on_thread_exit(struct run *run, const struct event *event)
{
	if (event->tid == run->stepping_over || event->tid == run->vforking)
		end_exclusive(run, event->inferior);
}

static void on_end(struct run *run, const struct event *event)
{
	struct thread *thread;

	run->stepping_over = 0;
	run->vforking = 0;
	TAILQ_FOREACH (thread, &event->inferior->threads, link) {
		thread->running = false;
		pending_clear(thread);
	}
	pending_set_end(run, event);
}

typedef void event_handler(struct run *run, const struct event *event);

static event_handler *const event_handlers[] = {
	[EVENT_SIGNAL] = on_signal,
	[EVENT_INTERRUPTED] = on_interrupted,
	[EVENT_GROUP_STOP] = on_interrupted,
	[EVENT_CLONE] = on_clone,
	[EVENT_FORK] = on_fork,
	[EVENT_VFORK] = on_vfork,
	[EVENT_VFORK_DONE] = on_vfork_done,
	[EVENT_EXEC] = on_exec,
	[EVENT_SYSCALL] = on_syscall,
	[EVENT_THREAD_EXIT] = on_thread_exit,
	[EVENT_EXITED] = on_end,
	[EVENT_KILLED] = on_end,
};

static void handle_event(struct run *run, const struct event *event)
{
	bool exclusive = run->stepping_over || run->vforking;

	log_debug(LOG_STOPS, "thread %d: %s %d", event->tid,
		  event_kind_name(event->kind), event->signal);
	event_handlers[event->kind](run, event);
	if (exclusive && !run->stepping_over && !run->vforking)
		resume_all(run);
}

/* ---- the client's view ---- */

/* A signal that has not reached its thread is kept: the client will not give it
 * again. A step over a trap that has not ended starts anew: run_resume puts the
 * traps back. */
static void clear_actions(struct run *run)
{
	struct inferior *inferior;
	struct thread *thread;

	run->stepping_over = 0;
	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		TAILQ_FOREACH (thread, &inferior->threads, link) {
			if (thread->action.signal != 0)
				thread->owed_signal = thread->action.signal;
			thread->action = (struct resume_action){0};
		}
	}
}

/* Only one thread's steps: what is unwanted now will be wanted again soon. */
static bool only_steps(const struct inferior *inferior)
{
	const struct thread *thread;

	TAILQ_FOREACH (thread, &inferior->threads, link) {
		if (thread->action.kind == RESUME_CONTINUE)
			return false;
	}
	return true;
}

/* A signal seen while halting, which the client does not want to hear of. */
static void pass_pending_signal(const struct run *run, struct thread *thread)
{
	if (!thread->pending_stop || thread->action.signal != 0 ||
	    thread->pending.kind != EVENT_SIGNAL ||
	    thread->pending_stop->stop.kind != STOP_SIGNAL ||
	    !may_pass(run, &thread->pending))
		return;
	thread->action.signal = thread->pending.signal;
	thread->pending.kind = EVENT_NONE;
	pending_clear(thread);
}

/* The thread is still at the stop that tells of the signal owed: that one can be
 * delivered as it is, and one that the client gives now is sent. */
static void pay_signal(struct thread *thread)
{
	if (thread->owed_signal == 0)
		return;
	if (thread->action.signal != 0)
		thread_send_signal(thread, thread->action.signal);
	thread->action.signal = thread->owed_signal;
	thread->owed_signal = 0;
}

static void prepare_thread(struct run *run, struct thread *thread)
{
	if (thread->action.kind == RESUME_NONE)
		return;
	pay_signal(thread);
	pending_drop_stale(run, thread);
	pass_pending_signal(run, thread);
	/* The client's signal must not get lost behind a stop that is reported
	 * before the thread runs. */
	if (thread->pending_stop && thread->action.signal != 0) {
		thread_send_signal(thread, thread->action.signal);
		thread->action.signal = 0;
	}
}

static struct error *prepare_inferior(struct run *run, struct inferior *inferior)
{
	struct error *error;
	struct thread *thread;

	if (inferior->pending_stop)
		return NULL;
	error = breakpoints_commit(inferior->breakpoints, only_steps(inferior));
	if (error)
		return error;
	TAILQ_FOREACH (thread, &inferior->threads, link)
		prepare_thread(run, thread);
	return NULL;
}

/* The client asked to interrupt before it resumed: nobody is to run. */
static void interrupt_at_once(struct run *run)
{
	struct inferior *inferior;
	struct thread *thread;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		TAILQ_FOREACH (thread, &inferior->threads, link) {
			if (!is_ready(thread))
				continue;
			run->interrupt_requested = false;
			pending_set(
				run, thread,
				(struct stop){.kind = STOP_SIGNAL, .signal = SIGINT});
			return;
		}
	}
}

struct error *run_resume(struct run *run)
{
	struct inferior *inferior;

	if (TAILQ_EMPTY(&run->inferiors.list))
		return error_create(0,
				    "no process to resume: start one (run) or attach");
	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		struct error *error = prepare_inferior(run, inferior);

		if (error) {
			clear_actions(run);
			return error;
		}
	}
	run->running = true;
	if (run->interrupt_requested)
		interrupt_at_once(run);
	resume_all(run);
	return NULL;
}

/* Asks one thread to stop, unless one that can answer was asked already. */
static void interrupt_one(const struct run *run)
{
	struct inferior *inferior;
	struct thread *thread, *chosen = NULL;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		TAILQ_FOREACH (thread, &inferior->threads, link) {
			if (!thread->running || thread_is_zombie(thread))
				continue;
			if (thread->interrupting)
				return;
			if (!chosen)
				chosen = thread;
		}
	}
	if (chosen)
		thread_interrupt(chosen);
}

void run_interrupt(struct run *run)
{
	run->interrupt_requested = !TAILQ_EMPTY(&run->inferiors.list);
	if (run->running)
		interrupt_one(run);
}

static void report(struct run *run, const struct stop *stop)
{
	run->running = false;
	/* A request that came too late for this stop holds for the next resume: the
	 * client may let the program go on without telling its user. */
	if (stop->signal == SIGINT || TAILQ_EMPTY(&run->inferiors.list))
		run->interrupt_requested = false;
	run->last = *stop;
	clear_actions(run);
}

static bool report_pending(struct run *run, struct stop *stop)
{
	if (!pending_any(run))
		return false;
	halt(run);
	if (!pending_take(run, stop))
		return false;
	report(run, stop);
	return true;
}

bool run_poll(struct run *run, struct stop *stop)
{
	struct event event;

	if (run->running && report_pending(run, stop))
		return true;
	for (;;) {
		inferiors_wait(&run->inferiors, false, &event);
		if (event.kind == EVENT_NONE)
			break;
		handle_event(run, &event);
		if (run->running && report_pending(run, stop))
			return true;
	}
	/* Whom run_interrupt asked may have ended instead of stopping. */
	if (run->running && run->interrupt_requested)
		interrupt_one(run);
	if (!run->running || !run->tell_no_resumed || any_running(run))
		return false;
	*stop = (struct stop){.kind = STOP_NO_RESUMED};
	report(run, stop);
	return true;
}

void run_halt(struct run *run)
{
	run->interrupt_requested = false;
	if (!run->running)
		return;
	halt(run);
	run->running = false;
	clear_actions(run);
	run->last.kind = STOP_NONE;
}

/* ---- life ---- */

void run_init(struct run *run)
{
	const struct engine *kernel;
	sigset_t set;

	*run = (struct run){0};
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	inferiors_init(&run->inferiors);
	engines_init(&run->engines);
	kernel = &run->engines.engine[ENGINE_PERF_EVENT];
	if (kernel->unusable)
		log_warning("conditions are not evaluated in the kernel, so that every "
			    "hit stops the program for a moment: %s",
			    error_text(kernel->unusable));
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
	engines_deinit(&run->engines);
	inferiors_deinit(&run->inferiors);
}

static struct error *adopt(struct run *run, struct inferior *inferior, int signal)
{
	if (!breakpoints_create(inferior, &run->engines)) {
		if (inferior->attached)
			inferior_detach(inferior, 0, 0);
		else
			inferior_kill(inferior);
		return error_create(ENOMEM, "process %d", inferior->pid);
	}
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

struct error *run_attach(struct run *run, pid_t pid, struct inferior **ret)
{
	struct error *error = inferior_attach(&run->inferiors, pid, ret);
	struct thread *thread;

	if (!error)
		error = adopt(run, *ret, 0);
	if (error)
		return error;
	/* Signals of the program that came while attaching. */
	TAILQ_FOREACH (thread, &(*ret)->threads, link) {
		if (thread->pending.kind != EVENT_NONE)
			pending_set_signal(run, &thread->pending);
	}
	return NULL;
}

static bool ended(struct run *run, struct inferior *inferior)
{
	struct event event;

	/* Somebody else may have killed it in the meantime. */
	for (;;) {
		inferiors_wait(&run->inferiors, false, &event);
		if (event.kind == EVENT_NONE)
			return inferior->pending_stop != NULL;
		run->halting = true;
		handle_event(run, &event);
		run->halting = false;
	}
}

void run_detach(struct run *run, struct inferior *inferior, int signal)
{
	pid_t tid = run->last.pid == inferior->pid ? run->last.tid : inferior->pid;

	run_halt(run);
	if (ended(run, inferior)) {
		breakpoints_destroy(inferior->breakpoints, true);
		inferior_destroy(inferior);
		return;
	}
	breakpoints_destroy(inferior->breakpoints, false);
	inferior_detach(inferior, tid, signal);
}

void run_kill(struct run *run, struct inferior *inferior)
{
	run_halt(run);
	breakpoints_destroy(inferior->breakpoints, true);
	inferior_kill(inferior);
}
