/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hardware engine's probing: trial hits show what the kernel does.
 */
#include "bpf/perf_event/perf_probe.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>

#include "bpf/perf_event/perf_event.h"
#include "bpf/kernel/trial.h"

static struct error *surprise(const char *what, const struct trial_outcome *outcome)
{
	return error_create(0, "%s: %u stops, signal %d, PC 0x%llx instead of 0x%llx",
			    what, outcome->stops, outcome->signal,
			    (unsigned long long)outcome->pc,
			    (unsigned long long)trial_addr());
}

static void compare_record(void *data, const struct bpf_hit_record *record,
			   bool superseded)
{
	bool *good = data;

	(void)superseded;
	*good = record->verdict == BPF_TRUE && record->pc == trial_addr();
}

/* The program that takes every hit: exactly one stop, exactly there, by the
 * signal that it should be, and a record of it. */
static struct error *try_true_hit(struct perf_event *state, struct trial *trial,
				  bool blocked)
{
	bool by_stop = blocked || !state->sigtrap ||
		       state->placements->kernel.task_blocked_offset < 0;
	struct trial_outcome outcome;
	struct program *program;
	struct error *error = program_get(&state->programs, NULL, NULL, NULL, &program);
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
	bpf_kernel_drain(&state->placements->kernel);
	if (records_take(&state->placements->records, (uint32_t)trial->pid, by_stop,
			 compare_record, &good) != by_stop ||
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
	_cleanup_close_ int fd = bpf_kernel_load_false(BPF_KIND_EVENT);
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
		programs_init(&state->programs, &state->placements->kernel, state->arch,
			      !state->sigtrap);
		error = try_true_hit(state, &trial, false);
	}
	if (!error)
		error = try_true_hit(state, &trial, true);
	trial_deinit(&trial);
	return error ? error_prefix(error, "trial breakpoint") : NULL;
}

/* Is one read(2) into what is watched, in however many pieces, one stop, right where
 * the call returns? */
static struct error *try_read(struct perf_event *state, struct trial *trial,
			      bool blocked)
{
	bool by_stop = blocked || !state->sigtrap;
	struct trial_outcome outcome;
	struct program *program;
	struct error *error =
		program_get(&state->kernel_programs, NULL, NULL, NULL, &program);

	if (error)
		return error;
	error = trial_read(trial, program->fd, state->sigtrap, blocked, &outcome);
	program_put(&state->kernel_programs, program);
	bpf_kernel_drain(&state->placements->kernel);
	records_deinit(&state->placements->records);
	if (error)
		return error;
	if (outcome.stops != 1 || outcome.signal != (by_stop ? SIGSTOP : SIGTRAP) ||
	    !trial_is_return(trial, outcome.pc))
		return error_create(0, "a read%s: %u stops, signal %d, PC 0x%llx",
				    blocked ? " with SIGTRAP blocked" : "",
				    outcome.stops, outcome.signal,
				    (unsigned long long)outcome.pc);
	return NULL;
}

/* Not to have these is no reason not to use the engine. */
static struct error *try_kernel_hits(struct perf_event *state)
{
	const struct bpf_kernel *kernel = &state->placements->kernel;
	struct trial trial;
	struct error *error;

	programs_init(&state->kernel_programs, &state->placements->kernel, state->arch,
		      !state->sigtrap);
	state->kernel_programs.options.kernel_mode = true;
	if (kernel->task_blocked_offset < 0 || kernel->task_flags_offset < 0 ||
	    kernel->task_ptrace_offset < 0)
		return error_create(0, "the kernel has no type information (BTF)");
	error = trial_init(&trial, state->arch);
	if (!error)
		error = try_read(state, &trial, false);
	if (!error)
		error = try_read(state, &trial, true);
	trial_deinit(&trial);
	return error ? error_prefix(error, "trial watchpoint") : NULL;
}

static struct error *make_cookie(struct perf_event *state)
{
	uint32_t cookie;

	if (getrandom(&cookie, sizeof(cookie), 0) != (ssize_t)sizeof(cookie))
		return error_create(errno, "no random numbers");
	state->next_sig_data = (uint64_t)cookie << 32;
	return NULL;
}

void perf_event_free(struct perf_event *state)
{
	programs_deinit(&state->kernel_programs);
	programs_deinit(&state->programs);
	error_destroy(state->no_kernel_hits);
	free(state);
}

struct error *perf_event_probe(struct engine *engine)
{
	struct placements *placements = engine->placements;
	struct perf_event *state;
	struct error *error;

	if (placements->unusable)
		return error_copy(placements->unusable);
	state = calloc(1, sizeof(*state));
	if (!state)
		return error_create(ENOMEM, "the perf_event engine");
	state->arch = arch_native();
	state->placements = placements;
	programs_init(&state->programs, &placements->kernel, state->arch, false);
	programs_init(&state->kernel_programs, &placements->kernel, state->arch, false);
	error = make_cookie(state);
	if (!error)
		error = try_hits(state);
	if (error) {
		perf_event_free(state);
		return error;
	}
	state->no_kernel_hits = try_kernel_hits(state);
	engine->state = state;
	return NULL;
}
