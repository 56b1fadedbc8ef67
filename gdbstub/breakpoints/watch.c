/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/breakpoints/watch.h"

#include <string.h>

#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/locations/carrier.h"
#include "gdbstub/locations/ignore.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/control/control.h"
#include "gdbstub/control/stop.h"
#include "gdbstub/breakpoints/share.h"
#include "gdbstub/text/text.h"
#include "gdbstub/text/traps.h"

bool watch_looks_after(const struct location *location)
{
	return location->inferior->arch->stores &&
	       location->type > BREAKPOINT_HARDWARE &&
	       (location->conditions.count > 0 || location->commands.list.count > 0);
}

static bool has_other(const struct breakpoints *breakpoints,
		      const struct location *location)
{
	const struct location *other;

	TAILQ_FOREACH (other, &breakpoints->watchpoints, watch_link) {
		if (other != location && watch_looks_after(other) &&
		    (other->wanted || other->state != LOCATION_OUT))
			return true;
	}
	return false;
}

bool watch_has_others(const struct location *location)
{
	const struct inferior *inferior = location->inferior;
	struct inferior *other;

	FOREACH_SHARING (other, inferior) {
		if (other->breakpoints && has_other(other->breakpoints, location))
			return true;
	}
	return false;
}

static bool can_filter(const struct location *location)
{
	const struct engines *engines = location->inferior->breakpoints->engines;

	/* What a program has seen ahead of an access must hold until that is done: no
	 * other thread may run on past a change. */
	if (location->inferior->arch->stores && engines->others_run &&
	    !watch_looks_after(location))
		return false;
	return location->type == WATCHPOINT_WRITE && location->len > 0 &&
	       location->len <= WATCH_BYTES && !engines->unfiltered &&
	       !engines->every_write;
}

struct watch_last *watch_last(struct location *location)
{
	if (location->state != LOCATION_OUT && location->engine->ops->last)
		return location->engine->ops->last(location->engine, location);
	return &location->watch.last;
}

/* ---- memory ---- */

/* As programs see it. */
static bool read_contents(void *data, uint8_t *bytes)
{
	const struct location *location = data;

	memset(bytes, 0, WATCH_BYTES);
	return inferior_read(location->inferior, location->addr, bytes,
			     location->len) == (ssize_t)location->len;
}

/* The client remembers what memory holds now. Not @sure: or what it was a moment ago,
 * or nothing, as it is none of its thread's. */
static void begin_anew(struct location *location, bool sure)
{
	struct watch *watch = &location->watch;

	watch->rewritten = false;
	watch->guessed = !read_contents(location, watch->told) || !sure;
	watch->ignored = ignore_gate(location)->ignored;
	watch_last_set(watch_last(location), watch->told, !watch->guessed);
}

/* Did threads run when the client looked at memory, so that others have changed it
 * since? */
static bool is_running(const struct inferior *inferior)
{
	const struct thread *thread;

	FOREACH_THREAD (thread, inferior) {
		if (thread->control->action.kind != RESUME_NONE)
			return true;
	}
	return false;
}

static bool overlaps(const struct location *location, uint64_t addr, size_t len)
{
	return addr < location->addr + location->len && location->addr < addr + len;
}

/* ---- hits ---- */

void watch_init(struct location *location)
{
	struct watch *watch = &location->watch;
	bool filters = can_filter(location);
	bool ahead = filters && location->inferior->arch->stores &&
		     !watch_looks_after(location);

	if (filters && (!watch->filters || watch->ahead != ahead))
		begin_anew(location,
			   !watch->filters && !is_running(location->inferior));
	watch->filters = filters;
	watch->ahead = ahead;
}

bool watch_is_outdated(const struct location *location)
{
	return location->watch.filters != can_filter(location);
}

bool watch_compares(const struct location *location)
{
	const struct watch *watch = &location->watch;

	return watch->filters && (!watch->ahead || (location->state != LOCATION_OUT &&
						    location->engine->ops->last));
}

bool watch_tells_all(const struct location *location)
{
	return location->conditions.count == 0 && location->commands.list.count == 0 &&
	       !watch_compares(location);
}

/* Programs keep what is about to be stored; threads may have done it in another order.
 */
static bool access_changes(struct hit *hit)
{
	struct watch_values *values = &hit->values;

	if (!hit->before || values->len == 0 ||
	    memcmp(hit->before, values->new, sizeof(values->new)) == 0)
		return false;
	if (memcmp(values->old, values->new, sizeof(values->old)) == 0)
		memcpy(values->old, hit->before, sizeof(values->old));
	return true;
}

/* The stub has made it: what the program keeps is older. */
static bool made_access_changes(struct hit *hit)
{
	struct location *location = hit->location;
	struct watch_values *values = &hit->values;

	watch_last_doubt(watch_last(location));
	if (!read_contents(location, values->new))
		return true;
	values->len = location->len;
	memcpy(values->old, hit->before, sizeof(values->old));
	return memcmp(values->old, values->new, sizeof(values->old)) != 0;
}

bool watch_changed(struct hit *hit)
{
	struct location *location = hit->location;
	bool changed;

	if (!location->watch.filters || hit->values.len > 0)
		return true;
	if (location->watch.ahead)
		return !hit->before || made_access_changes(hit);
	changed = watch_last_exchange(watch_last(location), location->len,
				      read_contents, location, &hit->values);
	return access_changes(hit) || changed;
}

void watch_untold(struct location *location)
{
	if (location->watch.filters)
		watch_last_doubt(watch_last(location));
}

void watch_ignored(struct location *location)
{
	if (location->watch.ahead)
		watch_last_doubt(watch_last(location));
}

bool watch_may_differ(const struct location *location, const uint8_t *bytes)
{
	const struct watch *watch = &location->watch;

	return watch->guessed || memcmp(watch->told, bytes, sizeof(watch->told)) != 0;
}

bool watch_has_ignored(struct location *location)
{
	return ignore_gate(location)->ignored != location->watch.ignored;
}

bool watch_hit_looks_after(struct location *location)
{
	return watch_looks_after(location) ||
	       (location->watch.ahead && watch_has_ignored(location) &&
		gate_left(ignore_gate(location)) == 0);
}

/* ---- the client looks ---- */

/* It compares the values of all its watchpoints that have an address of the stop. */
static bool is_looked_at(const struct location *location, const struct stop *stop)
{
	if (overlaps(location, stop->addr, 1))
		return true;
	for (unsigned int i = 0; i < stop->nothers; i++) {
		if (overlaps(location, stop->others[i].addr, 1))
			return true;
	}
	return false;
}

/* What the stop's hit of the location has changed, if it is one of those that have hit;
 * which, their bytes tell. */
static struct watch_values values_of(const struct location *location,
				     const struct stop *stop)
{
	if (location->addr == stop->addr && location->len == stop->values.len)
		return stop->values;
	for (unsigned int i = 0; i < stop->nothers; i++) {
		const struct watch_hit *other = &stop->others[i];

		if (location->addr == other->addr && location->len == other->values.len)
			return other->values;
	}
	return (struct watch_values){0};
}

void watch_told(const struct thread *thread, const struct stop *stop)
{
	struct location *location;

	TAILQ_FOREACH (location, &thread->inferior->breakpoints->watchpoints,
		       watch_link) {
		struct watch *watch = &location->watch;

		if (!watch->filters || !is_looked_at(location, stop))
			continue;
		watch->guessed |= watch->reader != 0;
		watch->reader = thread->tid;
		watch->seen = 0;
		if (watch->ahead) {
			watch->to_come = !stop->looks;
			thread_get_pc(thread, &watch->at);
			watch_last_doubt(watch_last(location));
		}
		watch->hit = values_of(location, stop);
	}
}

static void look(struct location *location, uint64_t addr, const uint8_t *data,
		 size_t len)
{
	struct watch *watch = &location->watch;
	const uint32_t all = UINT32_MAX >> (WATCH_BYTES - location->len);

	for (unsigned int i = 0; i < location->len; i++) {
		uint64_t at = location->addr + i - addr;

		if (at < len && (watch->seen >> i & 1) == 0) {
			watch->told[i] = data[at];
			watch->seen |= UINT32_C(1) << i;
		}
	}
	if (watch->seen != all)
		return;
	watch->guessed = false;
	watch->ignored = ignore_gate(location)->ignored;
	if (watch->ahead) {
		/* Programs change nothing of what is kept. */
		watch_last_set(watch_last(location), watch->told, true);
		return;
	}
	watch->reader = 0;
	watch_last_agree(watch_last(location), watch->told);
}

void watch_shown(const struct thread *thread, uint64_t addr, const void *data,
		 size_t len)
{
	struct location *location;

	if (!thread->inferior->breakpoints)
		return;
	TAILQ_FOREACH (location, &thread->inferior->breakpoints->watchpoints,
		       watch_link) {
		if (location->watch.reader == thread->tid)
			look(location, addr, data, len);
	}
}

/* Hits of shared slots are whose bytes differ: those of a hit that was taken back
 * would, at others' hits. */
static void take_back(struct location *location)
{
	struct watch_last *last = watch_last(location);

	if (share_carrier(location))
		watch_last_doubt(last);
	else
		watch_last_take_back(last, &location->watch.hit);
}

/* What the client has seen before the access is of no interest. It steps, and looks
 * then. */
static bool is_still_to_look(struct location *location, const struct thread *thread)
{
	struct watch *watch = &location->watch;
	uint64_t pc;

	if (!watch->to_come || thread_get_pc(thread, &pc) < 0 || pc != watch->at)
		return false;
	watch->seen = 0;
	watch_last_doubt(watch_last(location));
	return thread->control->action.kind != RESUME_CONTINUE;
}

static void has_looked_ahead(struct location *location, const struct thread *thread)
{
	if (!is_still_to_look(location, thread))
		location->watch.reader = 0;
}

void watch_looked(const struct thread *thread)
{
	struct location *location;

	TAILQ_FOREACH (location, &thread->inferior->breakpoints->watchpoints,
		       watch_link) {
		struct watch *watch = &location->watch;

		if (watch->reader != thread->tid)
			continue;
		if (watch->ahead) {
			has_looked_ahead(location, thread);
			continue;
		}
		watch->reader = 0;
		watch->guessed |= watch->seen != 0;
		take_back(location);
	}
}

/* ---- what changes without a hit ---- */

void watch_wrote(struct inferior *inferior, uint64_t addr, size_t len)
{
	struct inferior *other;
	struct location *location;

	FOREACH_SHARING (other, inferior) {
		if (!other->breakpoints)
			continue;
		TAILQ_FOREACH (location, &other->breakpoints->watchpoints, watch_link) {
			if (overlaps(location, addr, len))
				location->watch.rewritten = true;
		}
	}
}

/* Was every change told? */
static bool tells_all(struct location *location)
{
	return location->conditions.count == 0 && location->commands.list.count == 0 &&
	       !watch_has_ignored(location) && gate_left(ignore_gate(location)) == 0;
}

/*
 * Memory may have changed without a hit: by a system call, or while the location was
 * switched off. The client may have set the watchpoint meanwhile, or have had it all
 * the time, which look the same: whether it remembers the value of now or the former,
 * is not known.
 */
static bool note_doubts(struct location *location)
{
	struct watch_last *last = watch_last(location);
	uint8_t bytes[WATCH_BYTES];
	bool is_read = read_contents(location, bytes);

	location->watch.guessed |= !is_read || watch_may_differ(location, bytes);
	/* What is there before an access, is looked at there. */
	if (watch_looks_after(location))
		return !is_read;
	if (!is_read || !watch_last_equals(last, bytes))
		return true;
	return tells_all(location) && !watch_last_equals(last, location->watch.told);
}

void watch_prepare(struct breakpoints *breakpoints)
{
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->watchpoints, watch_link) {
		/* Nothing runs before the client has seen the access. */
		if (!location->watch.filters ||
		    (breakpoints->shown_before != 0 && watch_looks_after(location)))
			continue;
		if (location->watch.rewritten)
			begin_anew(location, false);
		else if (note_doubts(location))
			watch_last_doubt(watch_last(location));
	}
}

/* ---- hits ahead of the access that nobody has heard of ---- */

static bool is_known_store(const struct arch_ops *arch, uint32_t insn)
{
	const struct store_forms *stores = arch->stores;

	for (unsigned int i = 0; i < stores->count; i++) {
		const struct insn_pattern *pattern = &stores->form[i].insn;

		if ((insn & pattern->mask) == pattern->value)
			return true;
	}
	return false;
}

static bool any_ahead(const struct inferior *inferior)
{
	const struct location *location;

	TAILQ_FOREACH (location, &inferior->breakpoints->watchpoints, watch_link) {
		if ((location->watch.ahead || watch_looks_after(location)) &&
		    location->state == LOCATION_IN)
			return true;
	}
	return false;
}

bool watch_may_be_late(const struct thread *thread)
{
	struct inferior *inferior = thread->inferior;
	uint64_t pc;
	uint32_t insn;

	return inferior->arch->stores && any_ahead(inferior) &&
	       thread_get_pc(thread, &pc) == 0 &&
	       breakpoints_read_memory(inferior, pc, &insn, sizeof(insn)) ==
		       (ssize_t)sizeof(insn) &&
	       is_known_store(inferior->arch, insn);
}

/* ---- the life of a location ---- */

void watch_inherit(struct location *child, struct location *parent)
{
	child->watch = parent->watch;
	child->watch.reader = 0;
	child->watch.ignored = 0;
	child->watch.last = *watch_last(parent);
	child->watch.last.lock = 0;
}
