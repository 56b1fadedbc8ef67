/* SPDX-License-Identifier: BSD-2-Clause */
/* The records that programs leave, and the hits that a stop stands for. */
#include "bpf/placement/placement_stop.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "gdbstub/base/log.h"
#include "bpf/placement/placement.h"
#include "bpf/placement/sequence.h"

bool placement_thread_ended(uint32_t tid)
{
	return kill((pid_t)tid, 0) < 0 && errno == ESRCH;
}

static bool is_dead(void *data, const struct bpf_hit_record *record)
{
	(void)data;
	return placement_thread_ended(record->tid);
}

void placements_on_record(void *data, const struct bpf_hit_record *record)
{
	struct placements *placements = data;
	struct bpf_location *location;

	if (record->tid == 0)
		return; /* whose it is, is not known: counted as lost */
	/* Threads that were killed before their stop leave records behind. */
	if (records_are_many(&placements->records))
		records_drop(&placements->records, is_dead, NULL);
	if (records_add(&placements->records, record) ||
	    record->location >= BPF_LOCATIONS_MAX)
		return;
	location = &placements->kernel.shared->locations[record->location];
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
	const struct placements *placements;
	const struct event *event;
	struct hits *hits;
};

/* False: the thread is elsewhere than where it hit. */
static bool take(struct placement *placement, const struct taking *taking,
		 const struct bpf_hit_record *record)
{
	int err;

	if (placement->taken)
		return placement->taken(placement, taking->event, record, taking->hits);
	err = sequence_put_back(taking->event->thread, record);
	if (err < 0 && err != -ESRCH)
		log_warning("thread %d is not put back into its restartable sequence "
			    "at 0x%jx: %s",
			    taking->event->thread->tid, (uintmax_t)record->pc,
			    strerror(-err));
	return true;
}

static void take_hit(void *data, const struct bpf_hit_record *record, bool superseded)
{
	const struct taking *taking = data;
	struct placement *placement =
		placements_find(taking->placements, record->location);
	struct hit hit = {
		.location = placement ? placement->location : NULL,
		.verdict = record->verdict == BPF_TRUE ? HIT_TRUE : HIT_MAYBE,
		.values = record->values,
		/* The kernel's own addresses are the upper half. */
		.by_kernel = record->pc >> 63,
	};

	/* A perf event's uprobe is in memory, which a vfork child shares. */
	if (!placement || placement->location->inferior != taking->event->inferior)
		return;
	hit.late = superseded || !take(placement, taking, record);
	add_hit(taking->hits, &hit);
}

bool placement_take_lost(struct placement *placement,
			 const struct placements *placements, struct hits *hits)
{
	if (placement_shared(placement, placements)->lost <= placement->lost_seen)
		return false;
	placement->lost_seen++;
	add_hit(hits,
		&(struct hit){.location = placement->location, .verdict = HIT_MAYBE});
	return true;
}

/* A SIGSTOP by a program of ours that left no record: which one is not known. */
static bool take_lost_of(const struct placements *placements,
			 const struct inferior *inferior, struct hits *hits)
{
	struct placement *placement;
	bool any = false;

	TAILQ_FOREACH (placement, &placements->list, link)
		if (placement->location->inferior == inferior)
			any |= placement_take_lost(placement, placements, hits);
	return any;
}

/*
 * Is it what a program stops threads by? If somebody's SIGCONT has discarded the signal
 * that it sent, one that was redirected has faulted.
 */
static bool is_from_program(const struct event *event)
{
	const uint64_t nowhere = event->inferior->arch->nowhere;
	const siginfo_t *info = &event->siginfo;

	if (info->si_signo == SIGSTOP)
		return info->si_code == SI_KERNEL;
	return nowhere && info->si_signo == SIGSEGV && info->si_code > 0 &&
	       (uintptr_t)info->si_addr == nowhere;
}

/* A place that is looked for. */
struct looking {
	const struct placements *placements;
	const struct inferior *inferior;
	uint64_t addr;
};

static bool is_there(void *data, const struct bpf_hit_record *record)
{
	const struct looking *looking = data;
	const struct placement *placement =
		placements_find(looking->placements, record->location);

	return placement && placement->location->inferior == looking->inferior &&
	       placement->location->addr == looking->addr;
}

bool placements_have_hit(struct placements *placements, const struct thread *thread,
			 uint64_t addr)
{
	struct looking looking = {placements, thread->inferior, addr};

	bpf_kernel_drain(&placements->kernel);
	return records_have(&placements->records, (uint32_t)thread->tid, is_there,
			    &looking);
}

void placements_on_stop(struct placements *placements, const struct event *event,
			struct hits *hits)
{
	struct taking taking = {placements, event, hits};
	bool kernel_stop = is_from_program(event);
	/* Other stops than signals come only when no such signal is pending. */
	bool settled = kernel_stop || event->kind != EVENT_SIGNAL, by_program;

	bpf_kernel_drain(&placements->kernel);
	by_program = records_take(&placements->records, (uint32_t)event->tid, settled,
				  take_hit, &taking);
	if (kernel_stop && (by_program || hits->signal_is_ours ||
			    take_lost_of(placements, event->inferior, hits)))
		hits->signal_is_ours = true;
}
