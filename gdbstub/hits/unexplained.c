/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/hits/unexplained.h"

#include <signal.h>
#include <stdlib.h>

#include "arch/register_table.h"
#include "gdbstub/base/log.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/text/access.h"
#include "gdbstub/locations/index.h"
#include "gdbstub/text/text.h"
#include "gdbstub/text/traps.h"

/* Of a thread, as far as it is needed here. */
struct place {
	struct regs regs;
	uint64_t pc, stack_top; /* 0: it cannot be read */
};

static bool find_place(const struct thread *thread, struct place *place)
{
	const struct arch_ops *arch = thread->inferior->arch;
	uint64_t sp;

	regs_init(&place->regs, arch);
	if (regs_fetch(thread, &place->regs,
		       reg_by_number(arch, arch->pc_reg)->regset) < 0 ||
	    reg_read_u64(&place->regs, arch->pc_reg, &place->pc) < 0 ||
	    reg_read_u64(&place->regs, arch->sp_reg, &sp) < 0)
		return false;
	if (inferior_read(thread->inferior, sp, &place->stack_top,
			  sizeof(place->stack_top)) !=
	    (ssize_t)sizeof(place->stack_top))
		place->stack_top = 0;
	return true;
}

static bool may_be_own(const struct event *event, const struct place *place)
{
	uint8_t last = 0;

	breakpoints_read_memory(event->inferior, place->pc - 1, &last, sizeof(last));
	return event->inferior->arch->trap_is_own(event->siginfo.si_code, last,
						  &place->regs);
}

/* By the processor's debug registers, whoever sets them. */
static bool is_watched_for(const struct location *location)
{
	return location->state == LOCATION_IN && location->engine->ops->by_slots;
}

/* ---- breakpoints ---- */

static bool is_at_breakpoint(const struct breakpoints *breakpoints, uint64_t pc)
{
	struct location *location;
	struct index_walk walk;

	for (location = index_begin(&walk, breakpoints, pc, pc); location;
	     location = index_next(&walk)) {
		if (location->type <= BREAKPOINT_HARDWARE && is_watched_for(location))
			return true;
	}
	return false;
}

/* ---- watchpoints ---- */

static ssize_t read_code(void *data, uint64_t addr, void *code, size_t len)
{
	return breakpoints_read_memory(data, addr, code, len);
}

/* May the instruction that was executed last have accessed what the location watches?
 */
static bool may_have_hit(const struct location *location, const struct place *place)
{
	struct access_stop stop = {
		.regs = &place->regs,
		.pc = place->pc,
		.stack_top = place->stack_top,
		.addr = location->addr,
		.len = location->len,
		.by_write = location->type != WATCHPOINT_READ,
		.by_read = location->type != WATCHPOINT_WRITE,
		.read = read_code,
		.data = location->inferior,
	};
	struct access access;

	access_find(location->inferior, &stop, &access);
	return access.trust != ACCESS_UNKNOWN;
}

/* A value that has not changed says that a location that compares was not hit. */
static enum hit_verdict verdict(const struct location *location)
{
	return location->watch.filters ? HIT_SHARED : HIT_PLAIN;
}

static bool is_known(const struct hits *hits, const struct location *location)
{
	for (unsigned int i = 0; i < hits->count; i++) {
		if (hits->hit[i].location == location)
			return true;
	}
	return false;
}

static void add_watchpoints(const struct breakpoints *breakpoints,
			    const struct place *place, struct hits *hits)
{
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->watchpoints, watch_link) {
		if (hits->count < HITS_MAX && is_watched_for(location) &&
		    !is_known(hits, location) && may_have_hit(location, place))
			hits->hit[hits->count++] = (struct hit){
				.location = location, .verdict = verdict(location)};
	}
}

static void explain(const struct event *event, const struct place *place,
		    struct hits *hits)
{
	const struct breakpoints *breakpoints = event->inferior->breakpoints;

	if (may_be_own(event, place))
		return;
	add_watchpoints(breakpoints, place, hits);
	if (event->thread->stepping)
		return; /* it is the end of the step as well */
	hits->signal_is_ours =
		hits->count > 0 || is_at_breakpoint(breakpoints, place->pc);
	if (hits->signal_is_ours)
		log_debug(LOG_STOPS, "thread %d: a debug exception with a wrong reason",
			  event->tid);
}

static bool is_explained(const struct event *event, const struct hits *hits)
{
	return hits->signal_is_ours || event->kind != EVENT_SIGNAL ||
	       event->signal != SIGTRAP ||
	       (event->thread->stepping && event->siginfo.si_code == TRAP_TRACE);
}

void unexplained_collect(const struct event *event, struct hits *hits)
{
	_cleanup_free_ struct place *place = NULL;

	if (!event->inferior->arch->trap_is_own || is_explained(event, hits))
		return;
	place = malloc(sizeof(*place));
	if (place && find_place(event->thread, place))
		explain(event, place, hits);
}
