/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/check/hit_trial.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gdbstub/agent/opcode.h"
#include "gdbstub/base/patience.h"
#include "gdbstub/base/rights.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/pads/location_pad.h"
#include "gdbstub/run/lifetimes.h"

enum {
	MARK = SIGUSR1,	  /* the child stops by it before each round */
	ROUNDS = 4,	  /* the quickest counts: nothing came in between */
	PATIENCE = 10000, /* ms, for a round */
};

struct hit_shared {
	atomic_bool traced; /* the child may begin */
	unsigned int calls;
	uint64_t ns; /* that they took */
};

/* ---- the child ---- */

/* Where the breakpoint is. A jump to a pad takes some bytes. */
static __attribute__((noinline)) void passed_by_child(void)
{
	__asm__ volatile(".rept 16\n\tnop\n\t.endr" : : : "memory");
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* @ready is closed when it may be attached to. */
static void __attribute__((noreturn))
child_main(pid_t parent, struct hit_shared *shared, int ready)
{
	const struct timespec tick = {.tv_nsec = 1000000};
	sigset_t mark;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&mark);
	sigaddset(&mark, MARK);
	sigprocmask(SIG_UNBLOCK, &mark, NULL);
	if (rights_let_trace(&ready, 1) < 0 || getppid() != parent)
		_exit(1);
	close(ready);
	while (!atomic_load(&shared->traced))
		nanosleep(&tick, NULL);
	while (raise(MARK) == 0) {
		const uint64_t start = now();

		for (unsigned int i = 0; i < shared->calls; i++)
			passed_by_child();
		shared->ns = now() - start;
	}
	_exit(1);
}

/* ---- rounds ---- */

struct inferior *hit_trial_child(const struct hit_trial *trial)
{
	return TAILQ_FIRST(&trial->run->inferiors.list);
}

static struct error *wait_mark(struct run *run)
{
	const struct timespec tick = {.tv_nsec = 10000000};
	struct patience patience;
	struct stop stop = {0};
	const char *late;
	sigset_t set;

	patience_begin(&patience, PATIENCE_NOBODY, PATIENCE);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD); /* which run_init() has blocked */
	while (!run_poll(run, &stop)) {
		late = patience_ended(&patience);
		if (late)
			return error_create(0, "the trial process: %s", late);
		sigtimedwait(&set, NULL, &tick);
	}
	if (stop.kind == STOP_EXITED || stop.kind == STOP_KILLED)
		return error_create(0, "the trial process has ended");
	if (stop.kind != STOP_SIGNAL || stop.signal != MARK)
		return error_create(0,
				    "the trial process stopped where it should not "
				    "(%d, signal %d)",
				    stop.kind, stop.signal);
	return NULL;
}

static struct error *run_round(struct hit_trial *trial, unsigned int calls)
{
	struct inferior *child = hit_trial_child(trial);
	struct error *error;

	if (!child)
		return error_create(0, "the trial process has ended");
	trial->shared->calls = calls;
	run_set_action(trial->run, TAILQ_FIRST(&child->threads),
		       (struct resume_action){.kind = RESUME_CONTINUE});
	error = run_resume(trial->run);
	return error ? error : wait_mark(trial->run);
}

/* Of one call, by the quickest round. */
static struct error *run_rounds(struct hit_trial *trial, unsigned int calls, double *ns)
{
	uint64_t best = UINT64_MAX;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct error *error = run_round(trial, calls);

		if (error)
			return error;
		if (trial->shared->ns < best)
			best = trial->shared->ns;
	}
	*ns = (double)best / calls;
	return NULL;
}

/* ---- begin and end ---- */

/* A register of the child's equals a number that it never has. */
static struct error *make_condition(struct agent_expr **ret)
{
	static const uint8_t bytecode[] = {
		AGENT_REG, 0,	 0,    AGENT_CONST32, 0x7e,
		0x57,	   0xda, 0x7a, AGENT_EQUAL,   AGENT_END,
	};

	return agent_expr_create(bytecode, sizeof(bytecode), ret);
}

static void wait_ready(const int *ready)
{
	char end;

	close(ready[1]);
	while (read(ready[0], &end, 1) < 0 && errno == EINTR)
		;
	close(ready[0]);
}

/* Its number, or a negative errno. */
static pid_t fork_child(const struct hit_trial *trial)
{
	const pid_t parent = getpid();
	int ready[2];
	pid_t pid;

	if (pipe2(ready, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		child_main(parent, trial->shared, ready[1]);
	if (pid < 0)
		pid = -errno;
	wait_ready(ready);
	return pid;
}

static struct error *start_child(struct hit_trial *trial)
{
	const pid_t pid = fork_child(trial);
	struct inferior *child;
	struct error *error;

	if (pid < 0)
		return error_create(-pid, "a trial process cannot be made");
	error = run_attach(trial->run, pid, &child);
	if (error) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, __WALL);
		return error;
	}
	child->attached = false; /* it ends with the run */
	atomic_store(&trial->shared->traced, true);
	return run_round(trial, 0);
}

struct error *hit_trial_begin(struct hit_trial *trial, struct run *run)
{
	enum { CALLS = 20000 };
	struct error *error;
	void *shared = mmap(NULL, sizeof(*trial->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*trial = (struct hit_trial){.run = run};
	if (shared == MAP_FAILED)
		return error_create(errno, "no memory for a trial process");
	trial->shared = shared;
	error = make_condition(&trial->condition);
	if (!error)
		error = start_child(trial);
	if (!error)
		error = run_rounds(trial, CALLS, &trial->call_ns);
	return error;
}

void hit_trial_end(struct hit_trial *trial)
{
	if (hit_trial_child(trial))
		run_kill(trial->run, hit_trial_child(trial));
	agent_expr_unref(take_ptr(trial->condition));
	if (trial->shared)
		munmap(take_ptr(trial->shared), sizeof(*trial->shared));
}

/* ---- with a breakpoint ---- */

static uint64_t address(void)
{
	return (uintptr_t)passed_by_child;
}

static const char *why_no_filter(const struct location_pad *pad)
{
	if (!pad)
		return "its engine makes none";
	if (!pad->site)
		return pad->why_not ? pad->why_not : "out of memory";
	if (!site_filters(pad->site))
		return pad->site->why_no_filter ? pad->site->why_no_filter
						: "out of memory";
	return NULL;
}

/* Does it serve as wished? */
static struct error *check_service(const struct location *location,
				   const struct hit_wish *wish)
{
	const struct engine_ops *ops;
	const char *why;

	if (location->state != LOCATION_IN)
		return error_create(0, "the breakpoint is not in place");
	ops = location->engine->ops;
	if (wish->engine >= 0 &&
	    location->engine !=
		    &location->inferior->breakpoints->engines->engine[wish->engine])
		return error_create(0, "%s has it: %s", ops->name,
				    location->why ? location->why : "it is preferred");
	if (!wish->in_pad)
		return NULL;
	why = why_no_filter(ops->pad ? ops->pad(location) : NULL);
	return why ? error_create(0, "%s", why) : NULL;
}

static struct error *count_hits(struct hit_trial *trial, struct location *location,
				const struct hit_wish *wish, double *ns)
{
	const uint64_t before = location_count(location).hits;
	struct error *error = run_rounds(trial, wish->calls, ns);
	uint64_t hits;

	if (!error)
		error = check_service(location, wish);
	if (error)
		return error;
	hits = location_count(location).hits - before;
	if (hits != (uint64_t)ROUNDS * wish->calls)
		return error_create(ERANGE, "%ju of %ju hits were seen",
				    (uintmax_t)hits, (uintmax_t)ROUNDS * wish->calls);
	*ns -= trial->call_ns;
	if (*ns < 0)
		*ns = 0;
	return NULL;
}

/* Settings that only the trial has; the next commit follows. */
static void set_engines(struct engines *engines, const struct hit_wish *wish)
{
	engines->choice = wish->choice;
	engines->pads = wish->in_pad ? PADS_AUTO : PADS_OFF;
}

/* The first round puts it in as it shall be: where pads are wanted, they are only of
 * what is hit often, and known to be an instruction by that. */
static struct error *try_location(struct hit_trial *trial, struct location *location,
				  const struct hit_wish *wish, double *ns)
{
	struct error *error;

	location->hot = wish->in_pad;
	error = run_round(trial, 0);
	if (!error)
		error = check_service(location, wish);
	return error ? error : count_hits(trial, location, wish, ns);
}

static struct error *measure(struct hit_trial *trial, struct breakpoints *breakpoints,
			     const struct hit_wish *wish, double *ns)
{
	struct agent_list conditions = {&trial->condition, 1};
	struct error *error;

	set_engines(breakpoints->engines, wish);
	error = breakpoints_insert(breakpoints, wish->type, address(), 1, &conditions,
				   NULL);
	return error ? error
		     : try_location(
			       trial,
			       breakpoints_wanted(breakpoints, wish->type, address()),
			       wish, ns);
}

struct error *hit_trial_measure(struct hit_trial *trial, const struct hit_wish *wish,
				double *ns)
{
	struct inferior *child = hit_trial_child(trial);
	struct error *error, *end;

	if (!child)
		return error_create(0, "there is no trial process");
	error = measure(trial, child->breakpoints, wish, ns);
	child = hit_trial_child(trial);
	if (child)
		breakpoints_remove(child->breakpoints, wish->type, address(), 1);
	end = run_round(trial, 0); /* which takes it out */
	if (!end)
		return error;
	/* What has become of the process explains what went wrong before. */
	error_destroy(error);
	return end;
}
