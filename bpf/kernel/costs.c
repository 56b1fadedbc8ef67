/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/kernel/costs.h"

#include "gdbstub/base/cleanup.h"
#include "gdbstub/base/log.h"
#include "bpf/kernel/hw_event.h"
#include "bpf/kernel/trial.h"
#include "bpf/kernel/trial_counter.h"
#include "bpf/kernel/uprobe_event.h"

/* Of some rounds the quickest counts: nothing came in between. */
enum { ROUNDS = 4, CALLS = 20 };

/* Of a function of the child where something is in place; 0: it could not be done, or
 * not every call was a hit, so that what was measured is no hit's cost. */
static unsigned int measure(struct trial *trial, const struct probe_place *place,
			    const struct trial_counter *counter)
{
	const struct trial_job job = {place->function, CALLS, false};
	const uint64_t before = trial_counter_sum(counter);
	uint64_t best = UINT64_MAX;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct trial_outcome outcome;
		_cleanup_error_ struct error *error =
			trial_run(trial, &job, false, &outcome);

		if (error || outcome.stops != 0)
			return 0;
		if (outcome.ns < best)
			best = outcome.ns;
	}
	if (trial_counter_sum(counter) - before !=
	    (uint64_t)ROUNDS * CALLS * TRIAL_COOKIE)
		return 0;
	return (unsigned int)(best / CALLS);
}

static unsigned int measure_hardware(struct trial *trial,
				     const struct probe_place *place)
{
	const struct hw_region region = {HW_EXECUTE, (uintptr_t)place->function, 1};
	_cleanup_trial_counter_ struct trial_counter counter;
	_cleanup_error_ struct error *error =
		trial_counter_init(&counter, BPF_KIND_EVENT);
	struct hw_event_options options = {.arch = trial->arch,
					   .program_fd = counter.program_fd};
	_cleanup_close_ int fd = -1;

	if (error || trial->arch->hw_plan(&region, &options.region, 1) != 1)
		return 0;
	fd = hw_event_open(&options, trial->pid);
	if (fd < 0 || hw_event_enable(fd) < 0)
		return 0;
	return measure(trial, place, &counter);
}

static unsigned int measure_probe(struct trial *trial, const struct probe_place *place,
				  const struct uprobe_options *options,
				  struct background_close *closer)
{
	_cleanup_trial_counter_ struct trial_counter counter;
	_cleanup_error_ struct error *error =
		trial_counter_init(&counter, uprobe_kind(options));
	unsigned int ns;
	int fd;

	if (!error)
		error = trial_open_probe(trial, place, options, counter.program_fd,
					 &fd);
	if (error)
		return 0;
	ns = measure(trial, place, &counter);
	background_close_add_fd(closer, fd);
	return ns;
}

static void measure_all(struct trial *trial, const struct uprobe_options *uprobes,
			struct background_close *closer, struct hit_costs *costs)
{
	const struct probe_place *places = trial->arch->probe_places;

	costs->hardware_ns = measure_hardware(trial, &places[PROBE_EMULATED]);
	if (!uprobes)
		return;
	costs->emulated_ns =
		measure_probe(trial, &places[PROBE_EMULATED], uprobes, closer);
	costs->stepped_ns =
		measure_probe(trial, &places[PROBE_STEPPED], uprobes, closer);
}

struct hit_costs hit_costs_measure(const struct arch_ops *arch,
				   const struct uprobe_options *uprobes,
				   struct background_close *closer)
{
	struct hit_costs costs = {0};
	_cleanup_error_ struct error *error = NULL;
	struct trial trial;

	if (!arch->probe_places)
		return costs;
	error = trial_init(&trial, arch);
	if (!error)
		measure_all(&trial, uprobes, closer, &costs);
	trial_deinit(&trial);
	log_debug(LOG_BPF,
		  "a false hit costs: hardware %u ns, emulated %u ns, stepped %u ns",
		  costs.hardware_ns, costs.emulated_ns, costs.stepped_ns);
	return costs;
}
