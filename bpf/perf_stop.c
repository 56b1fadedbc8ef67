/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hardware engine's stops: the records that programs leave, and the hits that a
 * stop stands for.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/log.h"
#include "bpf/hw_event.h"
#include "bpf/perf_event.h"

struct placement *perf_event_find(const struct perf_event *state, uint64_t index)
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

bool perf_event_thread_ended(uint32_t tid)
{
	return kill((pid_t)tid, 0) < 0 && errno == ESRCH;
}

static bool is_dead(void *data, const struct bpf_hit_record *record)
{
	(void)data;
	return perf_event_thread_ended(record->tid);
}

void perf_event_on_record(void *data, const struct bpf_hit_record *record)
{
	struct perf_event *state = data;
	struct bpf_location *location;

	if (record->tid == 0)
		return; /* whose it is, is not known: counted as lost */
	/* Threads that were killed before their stop leave records behind. */
	if (state->records.count == state->records.capacity)
		records_drop(&state->records, is_dead, NULL);
	if (records_add(&state->records, record) ||
	    record->location >= BPF_LOCATIONS_MAX)
		return;
	location = &state->kernel.shared->locations[record->location];
	location->lost++;
	watch_last_doubt(&location->last);
}

/* Where two events serve a location, one access may hit both: the one that has compared
 * values knows. What a system call copies in pieces has one value before and one after
 * it. */
static void merge_hit(struct hit *hit, const struct hit *other)
{
	if (other->values.len == 0)
		return;
	if (hit->values.len == 0)
		*hit = *other;
	else
		memcpy(hit->values.new, other->values.new, sizeof(hit->values.new));
}

static void add_hit(struct hits *hits, const struct hit *hit)
{
	for (unsigned int i = 0; i < hits->count; i++) {
		if (hits->hit[i].location != hit->location)
			continue;
		merge_hit(&hits->hit[i], hit);
		return;
	}
	if (hits->count < HITS_MAX)
		hits->hit[hits->count++] = *hit;
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
		perf_event_find(taking->state, record->location);

	const struct hit hit = {
		.location = placement ? placement->location : NULL,
		.verdict = record->verdict == BPF_TRUE ? HIT_TRUE : HIT_MAYBE,
		.values = record->values,
		/* The kernel's own addresses are the upper half. */
		.by_kernel = record->pc >> 63,
	};

	if (placement)
		add_hit(taking->hits, &hit);
}

/* Was there a hit whose record did not fit into the ring? */
static bool take_lost(struct perf_event *state, struct placement *placement,
		      struct hits *hits)
{
	const struct bpf_location *location =
		&state->kernel.shared->locations[placement->program->location];

	if (location->lost <= placement->lost_seen)
		return false;
	placement->lost_seen++;
	add_hit(hits,
		&(struct hit){.location = placement->location, .verdict = HIT_MAYBE});
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

void perf_event_on_stop(struct engine *engine, const struct event *event,
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
