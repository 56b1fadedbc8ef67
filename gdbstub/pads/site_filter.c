/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/pads/site_filter.h"

#include <errno.h>
#include <linux/rseq.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/locations/engine.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/locations/planted_bytes.h"
#include "gdbstub/pads/filter.h"
#include "gdbstub/tracing/siginfo.h"

/* ---- memory ---- */

static struct error *map_shared(struct injection *injection,
				struct filter_memory *filters)
{
	void *memory;
	struct error *error = pad_memory_map_shared(injection, filters->addr, &memory);
	int err;

	if (error)
		return error;
	filters->memory = memory;
	err = server_word_hold(memory, offsetof(struct native_shared, server));
	if (err == 0)
		return NULL;
	filter_memory_unmap(filters, injection);
	return error_create(-err, "the program would not be told of the server's end");
}

static struct error *map_memory(struct pads *pads)
{
	struct filter_memory *filters = &pads->filters;
	struct inferior *inferior = pads->inferior;
	struct injection injection;
	struct error *error;
	const char *why;

	if (filters->memory)
		return NULL;
	if (!pad_space_middle(&pads->space, FILTER_MEMORY_LEN, &filters->addr))
		return error_create(ENOMEM, "no memory of the program is free");
	why = injection_begin(inferior, &injection);
	if (why)
		return error_create(0, "%s", why);
	if (pad_space_take(&pads->space, filters->addr, FILTER_MEMORY_LEN) < 0)
		error = error_create(ENOMEM, "memory for filters");
	else
		error = map_shared(&injection, filters);
	injection_end(&injection);
	if (error) {
		pad_space_give_back(&pads->space, filters->addr);
		return error;
	}
	inferior->filter_shadow = filter_memory_shadow(filters);
	planted_bytes_tell_filters(inferior);
	return NULL;
}

/* ---- the signals of faults ---- */

static uint64_t signals_of_faults(void)
{
	return signal_bit(SIGSEGV) | signal_bit(SIGBUS);
}

static bool any_blocks_faults(const struct inferior *inferior)
{
	const struct thread *thread;
	uint64_t blocked;

	FOREACH_THREAD (thread, inferior)
		if (thread_get_mask(thread, &blocked) == 0 &&
		    blocked & signals_of_faults())
			return true;
	return false;
}

static bool any_runs(const struct inferior *inferior)
{
	const struct thread *thread;

	FOREACH_THREAD (thread, inferior)
		if (thread->running)
			return true;
	return false;
}

/* ---- restartable sequences ---- */

/* Where threads have the kernel's word of the restartable sequence that they are in,
 * from the thread pointer: in the same place, as the C library registers it for each.
 * False: none has registered one. */
static bool find_sequence(const struct inferior *inferior, int32_t *offset)
{
	const struct thread *thread = TAILQ_FIRST(&inferior->threads);
	struct __ptrace_rseq_configuration found = {0};
	uint64_t pointer;
	int64_t distance;

	if (!thread || thread->running ||
	    ptrace(PTRACE_GET_RSEQ_CONFIGURATION, thread->tid, (void *)sizeof(found),
		   &found) < 0 ||
	    found.rseq_abi_pointer == 0 || thread_get_pointer(thread, &pointer) < 0)
		return false;
	distance = (int64_t)(found.rseq_abi_pointer + offsetof(struct rseq, rseq_cs) -
			     pointer);
	*offset = (int32_t)distance;
	return *offset == distance;
}

/* ---- one filter ---- */

/* Why the program would notice that it reads memory. The kernel would no longer ignore,
 * or block, the signal of a fault in the filter. */
static const char *why_not_read(struct site *site, const struct inferior *inferior)
{
	site->waits = any_blocks_faults(inferior);
	if (site->waits)
		return "a thread blocks SIGSEGV or SIGBUS";
	if (proc_status_bits(inferior_living_task(inferior), "SigIgn") &
	    signals_of_faults())
		return "the program ignores SIGSEGV or SIGBUS";
	return inferior_has_descriptor(inferior, "anon_inode:[userfaultfd]")
		       ? "the program serves memory itself (userfaultfd)"
		       : NULL;
}

static struct error *make(struct pads *pads, struct site *site, uint64_t addr,
			  const struct agent_list *conditions)
{
	const struct arch_ops *arch = pads->inferior->arch;
	struct filter_place place = {.pc = addr, .needs_server = true};
	struct error *error;
	const char *why;
	int counter;

	if (small_stacks_at(&pads->small_stacks, pads->inferior, addr))
		return error_create(0, "the stacks of its language may be small");
	error = map_memory(pads);
	if (error)
		return error;
	counter = filter_memory_take(&pads->filters);
	if (counter < 0)
		return error_create(0, "there are too many others");
	place.shared = pads->filters.addr;
	place.counter = filter_memory_addr(&pads->filters, (unsigned int)counter);
	place.has_sequence = find_sequence(pads->inferior, &place.sequence);
	error = filter_create(arch, conditions, &place, arch->displaced->nop_len,
			      &site->filter);
	why = !error && site->filter->reads ? why_not_read(site, pads->inferior) : NULL;
	if (why) {
		free(take_ptr(site->filter));
		error = error_create(0, "%s", why);
	}
	if (error) {
		filter_memory_give_back(&pads->filters, (unsigned int)counter);
		return error;
	}
	site->checks_sequence = place.has_sequence;
	site->counter = (unsigned int)counter;
	return NULL;
}

static struct error *make_of(struct pads *pads, struct site *site, uint64_t addr,
			     const struct agent_list *conditions)
{
	if (!conditions)
		return error_create(0, "reads of memory are watched");
	if (conditions->count == 0)
		return error_create(0, "there is no condition");
	return make(pads, site, addr, conditions);
}

struct error *site_make_filter(struct pads *pads, struct site *site, uint64_t addr,
			       const struct agent_list *conditions)
{
	_cleanup_error_ struct error *error = NULL;

	site->pads = pads;
	error = make_of(pads, site, addr, conditions);
	return error ? site_make_plain_filter(pads, site, addr, error_text(error))
		     : NULL;
}

struct error *site_make_plain_filter(struct pads *pads, struct site *site,
				     uint64_t addr, const char *why)
{
	static const struct agent_list none;
	struct error *error;

	site_drop_filter(site);
	site->why_no_filter = strdup(why);
	error = make(pads, site, addr, &none);
	site->is_plain = !error;
	if (!error || site->trap_stays)
		return error;
	/* Without it, a probe may be hit for a moment when the server has ended. */
	error_destroy(error);
	return NULL;
}

/* Threads block all signals for a moment in pthread_create(), say. */
static bool need_wait_no_longer(const struct site *site)
{
	return site->waits && site->pads && !any_runs(site->pads->inferior) &&
	       !any_blocks_faults(site->pads->inferior);
}

bool site_filter_is_outdated(const struct site *site)
{
	int32_t offset;

	if (need_wait_no_longer(site))
		return true;
	return site_filters(site) && !site->checks_sequence && site->pads &&
	       find_sequence(site->pads->inferior, &offset);
}

void site_close_filter(struct site *site)
{
	if (!site->filter || !site->pads)
		return;
	if (site->pads->filters.memory)
		site->false_hits +=
			filter_memory_count(&site->pads->filters, site->counter);
	filter_memory_give_back(&site->pads->filters, site->counter);
}

void site_drop_filter(struct site *site)
{
	site_close_filter(site);
	free(take_ptr(site->filter));
	free(take_ptr(site->why_no_filter));
}

bool site_filters(const struct site *site)
{
	return site->filter && !site->is_plain;
}

/* ---- counts ---- */

void site_uncount(struct site *site)
{
	if (site->pads && site->pads->filters.memory)
		filter_memory_uncount(&site->pads->filters, site->counter);
}

uint64_t site_false_hits(const struct site *site)
{
	uint64_t now = site->false_hits;

	if (site->filter && site->pads && site->pads->filters.memory)
		now += filter_memory_count(&site->pads->filters, site->counter);
	return now - site->forgotten;
}

void site_forget_hits(struct site *site)
{
	site->forgotten += site_false_hits(site);
}
