/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hardware engine: perf breakpoint events with a BPF program each. The
 * program decides the condition; a false hit ends in the kernel.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"
#include "bpf/hw_event.h"
#include "bpf/kernel.h"
#include "bpf/program.h"
#include "bpf/records.h"
#include "bpf/trial.h"
#include "stops/engine.h"

/* A location in place. */
struct placement {
	TAILQ_ENTRY(placement) link;
	struct location *location;
	struct program *program;
	uint64_t sig_data;  /* what its SIGTRAPs carry; never used again */
	uint64_t lost_seen; /* lost records that were noticed so far */
	uint64_t forgotten; /* hits that the events had counted at the last reset */
	int *fds;	    /* one event per region and thread */
	size_t nfds;
};

TAILQ_HEAD(placement_list, placement);

/* The engine's state. */
struct perf_event {
	const struct arch_ops *arch;
	struct bpf_kernel kernel;
	struct programs programs;
	bool sigtrap; /* events raise SIGTRAP; else only programs stop threads */
	struct records records;
	struct placement_list placements;
	/* A random number in the upper half, so that a perf event of the program's
	 * own does not look like ours, and a serial number in the lower. */
	uint64_t next_sig_data;
};

static struct placement *find_by_index(const struct perf_event *state, uint32_t index)
{
	struct placement *placement;

	TAILQ_FOREACH (placement, &state->placements, link)
		if (placement->program->location == index)
			return placement;
	return NULL;
}

static struct placement *find_by_sig_data(const struct perf_event *state,
					  uint64_t sig_data)
{
	struct placement *placement;

	TAILQ_FOREACH (placement, &state->placements, link)
		if (placement->sig_data == sig_data)
			return placement;
	return NULL;
}

static bool is_ours(const struct perf_event *state, uint64_t sig_data)
{
	return sig_data >> 32 == state->next_sig_data >> 32;
}

static struct bpf_location_counts *kernel_counts(struct perf_event *state,
						 const struct placement *placement)
{
	return &state->kernel.shared->locations[placement->program->location];
}

/* What the events themselves have counted, those of new threads included. */
static uint64_t event_count(const struct placement *placement)
{
	uint64_t total = 0;

	for (size_t i = 0; i < placement->nfds; i++) {
		uint64_t count;

		if (read(placement->fds[i], &count, sizeof(count)) == sizeof(count))
			total += count;
	}
	return total;
}

/*
 * Hits that no program has seen: on a CPU where bpf_prog_active is raised (a task
 * that was preempted inside a map operation of bpf(2), on kernels that preempt
 * there) the kernel runs no program and takes that for its 0
 * (kernel/events/core.c, bpf_overflow_handler). Nothing can be done then, but the
 * user has to know.
 */
static uint64_t missed_hits(struct perf_event *state, const struct placement *placement)
{
	uint64_t seen = placement->forgotten + kernel_counts(state, placement)->hits;
	uint64_t counted = event_count(placement);

	return counted > seen ? counted - seen : 0;
}

/* ---- records ---- */

static bool is_dead(void *data, const struct bpf_hit_record *record)
{
	(void)data;
	return kill((pid_t)record->tid, 0) < 0 && errno == ESRCH;
}

static void on_record(void *data, const struct bpf_hit_record *record)
{
	struct perf_event *state = data;

	if (record->tid == 0)
		return; /* whose it is, is not known: counted as lost */
	/* Threads that were killed before their stop leave records behind. */
	if (state->records.count == state->records.capacity)
		records_drop(&state->records, is_dead, NULL);
	if (!records_add(&state->records, record) &&
	    record->location < BPF_LOCATIONS_MAX)
		state->kernel.shared->locations[record->location].lost++;
}

/* ---- probing ---- */

static struct error *surprise(const char *what, const struct trial_outcome *outcome)
{
	return error_create(0, "%s: %u stops, signal %d, PC 0x%llx instead of 0x%llx",
			    what, outcome->stops, outcome->signal,
			    (unsigned long long)outcome->pc,
			    (unsigned long long)trial_addr());
}

static void compare_record(void *data, const struct bpf_hit_record *record)
{
	bool *good = data;

	*good = record->verdict == BPF_TRUE && record->pc == trial_addr();
}

/* The program that takes every hit: exactly one stop, exactly there, by the
 * signal that it should be, and a record of it. */
static struct error *try_true_hit(struct perf_event *state, struct trial *trial,
				  bool blocked)
{
	bool by_stop =
		blocked || !state->sigtrap || state->kernel.task_blocked_offset < 0;
	struct trial_outcome outcome;
	struct program *program;
	struct error *error = program_get(&state->programs, NULL, 0, &program);
	bool good = false;

	if (error)
		return error;
	error = trial_pass(trial, program->fd, state->sigtrap, blocked, &outcome);
	program_put(&state->programs, program);
	if (error)
		return error;
	if (outcome.stops != 1 || outcome.pc != trial_addr() ||
	    outcome.signal != (by_stop ? SIGSTOP : SIGTRAP))
		return surprise(blocked ? "a hit with SIGTRAP blocked" : "a true hit",
				&outcome);
	bpf_kernel_drain(&state->kernel);
	if (records_take(&state->records, (uint32_t)trial->pid, by_stop, compare_record,
			 &good) != by_stop ||
	    !good)
		return error_create(0,
				    "a true hit left no record of thread %d (is this "
				    "another PID name space?)",
				    trial->pid);
	return NULL;
}

/* Does the kernel forget a hit whose program returns 0, or does the event raise
 * its SIGTRAP all the same (before Linux 6.10)? */
static struct error *try_false_hit(struct perf_event *state, struct trial *trial)
{
	struct trial_outcome outcome;
	_cleanup_close_ int fd = bpf_kernel_load_false();
	struct error *error;

	if (fd < 0)
		return error_create(-fd, "a BPF program cannot be loaded");
	error = trial_pass(trial, fd, true, false, &outcome);
	if (!error)
		state->sigtrap = outcome.stops == 0;
	return error;
}

static struct error *try_hits(struct perf_event *state)
{
	struct trial trial;
	struct error *error = trial_init(&trial, state->arch);

	if (!error)
		error = try_false_hit(state, &trial);
	if (!error) {
		programs_init(&state->programs, &state->kernel, state->arch,
			      !state->sigtrap);
		error = try_true_hit(state, &trial, false);
	}
	if (!error)
		error = try_true_hit(state, &trial, true);
	trial_deinit(&trial);
	return error ? error_prefix(error, "trial breakpoint") : NULL;
}

static struct error *make_cookie(struct perf_event *state)
{
	uint32_t cookie;

	if (getrandom(&cookie, sizeof(cookie), 0) != sizeof(cookie))
		return error_create(errno, "no random numbers");
	state->next_sig_data = (uint64_t)cookie << 32;
	return NULL;
}

static void state_destroy(struct perf_event *state)
{
	programs_deinit(&state->programs);
	bpf_kernel_deinit(&state->kernel);
	records_deinit(&state->records);
	free(state);
}

static struct error *perf_event_probe(struct engine *engine)
{
	struct perf_event *state = calloc(1, sizeof(*state));
	struct error *error;

	if (!state)
		return error_create(ENOMEM, "the perf_event engine");
	state->arch = arch_native();
	TAILQ_INIT(&state->placements);
	error = make_cookie(state);
	if (!error)
		error = bpf_kernel_init(&state->kernel, on_record, state);
	if (error) {
		free(state);
		return error;
	}
	programs_init(&state->programs, &state->kernel, state->arch, false);
	error = try_hits(state);
	if (error) {
		state_destroy(state);
		return error;
	}
	engine->state = state;
	return NULL;
}

/* ---- putting in place and taking out ---- */

static void placement_close(struct placement *placement)
{
	for (size_t i = 0; i < placement->nfds; i++)
		close(placement->fds[i]);
	free(placement->fds);
	placement->fds = NULL;
	placement->nfds = 0;
}

static void perf_event_deinit(struct engine *engine)
{
	struct perf_event *state = engine->state;
	struct placement *placement;

	while ((placement = TAILQ_FIRST(&state->placements))) {
		TAILQ_REMOVE(&state->placements, placement, link);
		placement_close(placement);
		free(placement);
	}
	state_destroy(state);
	engine->state = NULL;
}

static const enum hw_kind kinds[] = {
	[BREAKPOINT_SOFTWARE] = HW_EXECUTE, [BREAKPOINT_HARDWARE] = HW_EXECUTE,
	[WATCHPOINT_WRITE] = HW_WRITE,	    [WATCHPOINT_READ] = HW_READ,
	[WATCHPOINT_ACCESS] = HW_ACCESS,
};

static int plan(const struct perf_event *state, const struct location *location,
		struct hw_region *out)
{
	const struct hw_region region = {kinds[location->type], location->addr,
					 location->len};

	return state->arch->hw_plan(&region, out, HW_SLOTS_MAX);
}

/* Many threads need many descriptors. Raises the limit only for our own opening:
 * programs that we start are to have the one that the user gave us. */
static int open_event(const struct hw_event_options *options, pid_t tid)
{
	struct rlimit limit, raised;
	int fd = hw_event_open(options, tid);

	if (fd != -EMFILE || getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return fd;
	raised = (struct rlimit){limit.rlim_max, limit.rlim_max};
	if (setrlimit(RLIMIT_NOFILE, &raised) < 0)
		return fd;
	fd = hw_event_open(options, tid);
	setrlimit(RLIMIT_NOFILE, &limit);
	return fd;
}

static int open_on_threads(struct placement *placement,
			   const struct hw_event_options *options)
{
	const struct thread *thread;

	TAILQ_FOREACH (thread, &placement->location->inferior->threads, link) {
		int fd = open_event(options, thread->tid);

		if (fd == -ESRCH)
			continue; /* just gone */
		if (fd < 0)
			return fd;
		placement->fds[placement->nfds++] = fd;
	}
	return 0;
}

static int for_all_events(const struct placement *placement, int (*fn)(int fd))
{
	int result = 0;

	for (size_t i = 0; i < placement->nfds; i++) {
		int r = fn(placement->fds[i]);

		if (r < 0)
			result = r;
	}
	return result;
}

static int placement_open(struct perf_event *state, struct placement *placement,
			  const struct hw_region *regions, size_t nregions)
{
	struct hw_event_options options = {
		.arch = state->arch,
		.program_fd = placement->program->fd,
		.sigtrap = state->sigtrap,
		.sig_data = placement->sig_data,
	};
	const struct thread *thread;
	size_t nthreads = 0;
	int r = 0;

	TAILQ_FOREACH (thread, &placement->location->inferior->threads, link)
		nthreads++;
	placement->fds = calloc(nthreads * nregions + 1, sizeof(int));
	if (!placement->fds)
		return -ENOMEM;
	for (size_t i = 0; i < nregions && r == 0; i++) {
		options.region = regions[i];
		r = open_on_threads(placement, &options);
	}
	/* Nothing fires before everything is there. */
	if (r == 0)
		r = for_all_events(placement, hw_event_enable);
	return r;
}

static struct error *insert_error(int r)
{
	switch (r) {
	case -ENOSPC:
		return error_create(ENOSPC, "no hardware breakpoint slot is free");
	case -EOPNOTSUPP:
		return error_create(EOPNOTSUPP,
				    "the processor has no such breakpoints");
	case -EPERM:
	case -EACCES:
		return error_create(-r, "perf events of this process may not be opened "
					"(needs cap_perfmon and cap_sys_ptrace)");
	case -EMFILE:
		return error_create(EMFILE, "one event per thread and breakpoint needs "
					    "more descriptors (raise ulimit -n)");
	default:
		return error_create(-r, "a hardware breakpoint event cannot be opened");
	}
}

static void placement_destroy(struct perf_event *state, struct placement *placement)
{
	placement_close(placement);
	program_put(&state->programs, placement->program);
	free(placement);
}

static struct error *perf_event_insert(struct engine *engine, struct location *location)
{
	struct perf_event *state = engine->state;
	struct hw_region regions[HW_SLOTS_MAX];
	int nregions = plan(state, location, regions), r;
	struct placement *placement;
	struct error *error;

	if (nregions < 0)
		return insert_error(nregions);
	placement = calloc(1, sizeof(*placement));
	if (!placement)
		return insert_error(-ENOMEM);
	placement->location = location;
	placement->sig_data = state->next_sig_data;
	error = program_get(&state->programs, location->conditions.exprs,
			    location->conditions.count, &placement->program);
	if (error) {
		free(placement);
		return error;
	}
	r = placement_open(state, placement, regions, (size_t)nregions);
	if (r < 0) {
		placement_destroy(state, placement);
		return insert_error(r);
	}
	state->next_sig_data = (state->next_sig_data & ~UINT64_C(0xffffffff)) |
			       (uint32_t)(state->next_sig_data + 1);
	location->engine_data = placement;
	TAILQ_INSERT_TAIL(&state->placements, placement, link);
	return NULL;
}

/*
 * The events of threads that have ended are closed here and not before: threads
 * that they made inherited from them, and the kernel takes an inherited event
 * away together with the one that was opened.
 */
static void perf_event_remove(struct engine *engine, struct location *location,
			      bool gone)
{
	struct perf_event *state = engine->state;
	struct placement *placement = location->engine_data;

	/* Closing is all there is to do, whether or not anybody is left. */
	(void)gone;
	placement_close(placement);
	bpf_kernel_drain(&state->kernel);
	records_forget_location(&state->records, placement->program->location);
	TAILQ_REMOVE(&state->placements, placement, link);
	placement_destroy(state, placement);
	location->engine_data = NULL;
}

static int perf_event_suspend(struct engine *engine, struct location *location)
{
	(void)engine;
	return for_all_events(location->engine_data, hw_event_disable);
}

static int perf_event_resume(struct engine *engine, struct location *location)
{
	(void)engine;
	return for_all_events(location->engine_data, hw_event_enable);
}

/* ---- stops ---- */

static void add_hit(struct hits *hits, struct location *location,
		    enum hit_verdict verdict)
{
	for (unsigned int i = 0; i < hits->count; i++)
		if (hits->hit[i].location == location)
			return;
	if (hits->count < HITS_MAX)
		hits->hit[hits->count++] = (struct hit){location, verdict};
	else
		log_warning("more than %d breakpoints hit at once", HITS_MAX);
}

/* A record, as records_take hands it on. */
struct taking {
	const struct perf_event *state;
	struct hits *hits;
};

static void take_hit(void *data, const struct bpf_hit_record *record)
{
	const struct taking *taking = data;
	const struct placement *placement =
		find_by_index(taking->state, record->location);
	bool decided;

	if (!placement)
		return;
	decided = record->verdict == BPF_TRUE && !placement->program->refused;
	add_hit(taking->hits, placement->location, decided ? HIT_TRUE : HIT_MAYBE);
}

/* Was there a hit whose record did not fit into the ring? */
static bool take_lost(struct perf_event *state, struct placement *placement,
		      struct hits *hits)
{
	if (kernel_counts(state, placement)->lost <= placement->lost_seen)
		return false;
	placement->lost_seen++;
	add_hit(hits, placement->location, HIT_MAYBE);
	return true;
}

/*
 * Our SIGTRAP. That it finds no record is not a lost record by itself: the thread
 * may have stopped by another signal just before, which took the record along.
 */
static void take_trap(struct perf_event *state, uint64_t sig_data, struct hits *hits)
{
	struct placement *placement = find_by_sig_data(state, sig_data);

	hits->signal_is_ours = true;
	for (unsigned int i = 0; placement && i < hits->count; i++)
		if (hits->hit[i].location == placement->location)
			return;
	if (placement)
		take_lost(state, placement, hits);
}

/* A SIGSTOP by a program of ours that left no record: which one is not known. */
static bool take_lost_of(struct perf_event *state, const struct inferior *inferior,
			 struct hits *hits)
{
	struct placement *placement;
	bool any = false;

	TAILQ_FOREACH (placement, &state->placements, link)
		if (placement->location->inferior == inferior)
			any |= take_lost(state, placement, hits);
	return any;
}

static void perf_event_on_stop(struct engine *engine, const struct event *event,
			       struct hits *hits)
{
	struct perf_event *state = engine->state;
	const siginfo_t *info = &event->siginfo;
	struct taking taking = {state, hits};
	bool kernel_stop = info->si_signo == SIGSTOP && info->si_code == SI_KERNEL;
	bool by_program;
	uint64_t sig_data;

	bpf_kernel_drain(&state->kernel);
	by_program = records_take(&state->records, (uint32_t)event->tid, kernel_stop,
				  take_hit, &taking);
	if (hw_event_siginfo(info, &sig_data) && is_ours(state, sig_data))
		take_trap(state, sig_data, hits);
	else if (kernel_stop &&
		 (by_program || take_lost_of(state, event->inferior, hits)))
		hits->signal_is_ours = true;
}

/* ---- for people ---- */

static void perf_event_counts(struct engine *engine, const struct location *location,
			      struct location_counts *counts)
{
	const struct placement *placement = location->engine_data;
	const struct bpf_location_counts *in_kernel =
		kernel_counts(engine->state, placement);

	counts->hits += in_kernel->hits;
	counts->maybes += in_kernel->maybes;
	if (placement->program->refused)
		counts->maybes += in_kernel->trues;
	else
		counts->trues += in_kernel->trues;
}

static void perf_event_reset_counts(struct engine *engine, struct location *location)
{
	struct placement *placement = location->engine_data;
	struct bpf_location_counts *counts = kernel_counts(engine->state, placement);

	placement->forgotten += counts->hits;
	/* Lost records are no statistics: on_stop has yet to make up for them. */
	*counts = (struct bpf_location_counts){.lost = counts->lost};
}

static void perf_event_describe(struct engine *engine, const struct location *location,
				struct buffer *out)
{
	const struct placement *placement = location->engine_data;
	const struct program *program = placement->program;
	uint64_t missed = missed_hits(engine->state, placement);

	if (program->refused)
		buffer_printf(out, "stub; the kernel refused the program: %s",
			      program->refused);
	else if (program->undecided)
		buffer_printf(out, "kernel; maybe: %s", program->undecided);
	else
		buffer_append_string(out, "kernel");
	if (missed > 0)
		buffer_printf(out, "; %" PRIu64 " hits missed", missed);
}

/* All threads are stopped: no program sees a half-changed range. */
static void perf_event_set_shadow(struct engine *engine, uint64_t start, uint64_t end)
{
	struct bpf_shared *shared = ((struct perf_event *)engine->state)->kernel.shared;

	shared->shadow_start = start;
	shared->shadow_end = end;
}

const struct engine_ops perf_event_engine = {
	.name = "perf_event",
	.title = "hardware breakpoints, conditions decided in the kernel by BPF",
	.probe = perf_event_probe,
	.deinit = perf_event_deinit,
	.insert = perf_event_insert,
	.remove = perf_event_remove,
	.suspend = perf_event_suspend,
	.resume = perf_event_resume,
	.on_stop = perf_event_on_stop,
	.counts = perf_event_counts,
	.reset_counts = perf_event_reset_counts,
	.describe = perf_event_describe,
	.set_shadow = perf_event_set_shadow,
};
