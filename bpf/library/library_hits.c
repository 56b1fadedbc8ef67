/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "bpf/library/library.h"

/* ---- records ---- */

void context_take_record(void *data, const struct bpf_hit_record *record)
{
	struct truehit *truehit = data;
	struct waiting *waiting = malloc(sizeof(*waiting));

	if (!waiting) {
		truehit->dropped++;
		return;
	}
	*waiting = (struct waiting){.hit = *record};
	*truehit->last = waiting;
	truehit->last = &waiting->next;
}

/* A SIGSTOP may be still to come: the record says whose it was. */
void context_forget(struct truehit *truehit, unsigned int index)
{
	bpf_kernel_drain(&truehit->kernel);
	for (struct waiting *waiting = truehit->first; waiting; waiting = waiting->next)
		if (waiting->hit.location == index)
			waiting->hit.location = MATCHES_MAX;
}

static struct truehit_filter *filter_of(const struct truehit *truehit, uint32_t index)
{
	return index < MATCHES_MAX ? truehit->filters[index] : NULL;
}

static struct truehit_hit hit_of(struct truehit_filter *filter,
				 const struct bpf_hit_record *record)
{
	const bool is_access = filter->event.region.kind != HW_EXECUTE;

	struct truehit_hit hit = {
		.filter = filter,
		.data = filter->data,
		.addr = is_access ? record->addr : record->pc,
		.pc = record->pc,
		.tid = (pid_t)record->tid,
		.maybe = record->verdict == BPF_MAYBE,
	};

	values_tell(filter, &record->values, &hit);
	if (filter->counter_fd >= 0) {
		hit.has_counter = record->has_counter != 0;
		hit.counter = record->counter;
	}
	return hit;
}

/* Takes it out of the list; its filter, NULL if that was closed. */
static struct truehit_filter *take(struct truehit *truehit, struct waiting **at,
				   struct truehit_hit *ret)
{
	struct waiting *waiting = *at;
	struct truehit_filter *filter = filter_of(truehit, waiting->hit.location);

	if (filter)
		*ret = hit_of(filter, &waiting->hit);
	*at = waiting->next;
	if (!*at)
		truehit->last = at;
	free(waiting);
	return filter;
}

/* ---- signals ---- */

/* A signal that comes while the filter is aimed elsewhere has what the new aim's carry,
 * and the old address (kernel, perf_sigtrap(): what the event has by then). */
static bool is_stale(const struct truehit_filter *filter, uint64_t data, uint64_t addr)
{
	return !filter ||
	       data != __atomic_load_n(&filter->event.sig_data, __ATOMIC_SEQ_CST) ||
	       addr != filter->event.region.addr;
}

/* A signal does not tell whether the kernel has decided; but it may always have. The
 * hit was counted before its signal was raised. */
static bool may_be_maybe(const struct truehit_filter *filter)
{
	const struct bpf_location *location =
		&filter->truehit->kernel.shared->locations[filter->index];

	return __atomic_load_n(&location->others.hits.by[BPF_MAYBE],
			       __ATOMIC_SEQ_CST) != 0;
}

static int whose_trap(const struct truehit *truehit, const siginfo_t *info,
		      uint64_t data, struct truehit_hit *ret)
{
	const uint32_t index = data & (MATCHES_MAX - 1);
	struct truehit_filter *filter = filter_of(truehit, index);

	if (data >> 32 != truehit->cookie)
		return 0;
	*ret = (struct truehit_hit){
		.filter = filter,
		.data = filter ? filter->data : NULL,
		.addr = (uint64_t)(uintptr_t)info->si_addr,
		.stale = is_stale(filter, data, (uint64_t)(uintptr_t)info->si_addr),
		.late = hw_event_is_late(info),
		.maybe = filter && may_be_maybe(filter),
	};
	return 1;
}

/* The oldest record of a stop of the thread. */
static int whose_stop(struct truehit *truehit, pid_t tid, struct truehit_hit *ret)
{
	bpf_kernel_drain(&truehit->kernel);
	for (struct waiting **at = &truehit->first; *at; at = &(*at)->next)
		if ((*at)->hit.by_stop && (*at)->hit.tid == (uint32_t)tid) {
			*ret = (struct truehit_hit){.stale = 1};
			take(truehit, at, ret);
			return 1;
		}
	return 0;
}

int truehit_whose(struct truehit *truehit, pid_t tid, const siginfo_t *info,
		  struct truehit_hit *ret)
{
	uint64_t data;
	int is_ours = 0;

	if (context_step_is_nothing(truehit, tid, info))
		return 2;
	if (hw_event_siginfo(info, &data))
		is_ours = whose_trap(truehit, info, data, ret);
	else if (info->si_signo == SIGSTOP && info->si_code == SI_KERNEL)
		is_ours = whose_stop(truehit, tid, ret);
	else
		is_ours = context_explain(truehit, tid, info, ret);
	if (is_ours == 1)
		ret->tid = tid;
	return is_ours;
}

int truehit_poll(struct truehit *truehit, int timeout,
		 void (*fn)(void *data, const struct truehit_hit *hit), void *data)
{
	struct pollfd ring = {.fd = truehit->kernel.hits.fd, .events = POLLIN};
	struct waiting **at = &truehit->first;
	struct truehit_hit hit;
	int count = 0;

	bpf_kernel_drain(&truehit->kernel);
	if (!truehit->first && timeout != 0) {
		if (poll(&ring, 1, timeout) < 0)
			return -errno;
		bpf_kernel_drain(&truehit->kernel);
	}
	while (*at) {
		if ((*at)->hit.by_stop) {
			at = &(*at)->next;
		} else if (take(truehit, at, &hit)) {
			fn(data, &hit);
			count++;
		}
	}
	return count;
}
