/* SPDX-License-Identifier: BSD-2-Clause */
/* What the client asks for. */
#include "gdbstub/breakpoints/breakpoints.h"

#include <errno.h>
#include <string.h>

#include "gdbstub/base/log.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/breakpoints/commit.h"
#include "gdbstub/control/control.h"
#include "gdbstub/control/pace.h"
#include "gdbstub/locations/handed_counts.h"
#include "gdbstub/locations/ignore.h"
#include "gdbstub/locations/index.h"
#include "gdbstub/text/trap_inspection.h"
#include "gdbstub/breakpoints/install.h"
#include "gdbstub/text/old_traps.h"
#include "gdbstub/locations/numbers.h"
#include "gdbstub/locations/planted_bytes.h"
#include "gdbstub/pads/client_memory.h"
#include "gdbstub/pads/pads.h"
#include "gdbstub/text/trap.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/text/traps.h"
#include "gdbstub/locations/wanted_state.h"
#include "gdbstub/breakpoints/watch.h"

struct breakpoints *breakpoints_create(struct inferior *inferior,
				       struct engines *engines)
{
	struct breakpoints *breakpoints = calloc(1, sizeof(*breakpoints));

	if (!breakpoints)
		return NULL;
	breakpoints->inferior = inferior;
	breakpoints->engines = engines;
	TAILQ_INIT(&breakpoints->locations);
	TAILQ_INIT(&breakpoints->watchpoints);
	TAILQ_INIT(&breakpoints->handed);
	TAILQ_INIT(&breakpoints->handed_counts);
	TAILQ_INIT(&breakpoints->old_traps);
	inferior->breakpoints = breakpoints;
	return breakpoints;
}

void breakpoints_destroy(struct breakpoints *breakpoints, bool gone)
{
	struct location *location;

	while ((location = TAILQ_FIRST(&breakpoints->locations))) {
		location_take_out(location, gone);
		location_destroy(breakpoints, location);
	}
	pads_remove(breakpoints->inferior, gone);
	client_memory_remove(breakpoints->inferior, gone);
	handed_clear(&breakpoints->handed);
	handed_counts_keep(breakpoints);
	old_traps_clear(breakpoints);
	breakpoints->inferior->breakpoints = NULL;
	index_deinit(breakpoints);
	free(breakpoints->refusal);
	free(breakpoints);
}

/* ---- what the client asks for ---- */

/* hw_plan and the kernel would notice, too; the client deserves a clear word. */
static struct error *check_readable(struct inferior *inferior, uint64_t addr)
{
	uint8_t byte;
	ssize_t n = inferior_read(inferior, addr, &byte, 1);

	if (n == 1)
		return NULL;
	return error_create(n < 0 ? (int)-n : EIO, "cannot access memory at 0x%jx",
			    (uintmax_t)addr);
}

/* NULL: out of memory. */
static struct location *location_add(struct breakpoints *breakpoints,
				     enum breakpoint_type type, uint64_t addr,
				     unsigned int len,
				     const struct agent_list *conditions,
				     const struct commands *commands)
{
	struct location *location = calloc(1, sizeof(*location));

	if (!location)
		return NULL;
	location->inferior = breakpoints->inferior;
	location->number = ++breakpoints->last_number;
	location->type = type;
	location->addr = addr;
	location->len = len;
	location->wanted = true;
	TAILQ_INSERT_TAIL(&breakpoints->locations, location, link);
	index_add(breakpoints, location);
	if (location_set(location, conditions, commands) < 0) {
		location_destroy(breakpoints, location);
		return NULL;
	}
	pace_begin(location);
	handed_count_bind(breakpoints, location);
	return location;
}

/* Into memory that is lent to a vfork child, a trap is put when it is back. */
static struct error *install_if_possible(struct breakpoints *breakpoints,
					 struct location *location)
{
	return location_must_stay_off(location)
		       ? NULL
		       : location_install(breakpoints, location);
}

static struct error *location_create(struct breakpoints *breakpoints,
				     enum breakpoint_type type, uint64_t addr,
				     unsigned int len,
				     const struct agent_list *conditions,
				     const struct commands *commands)
{
	struct location *location =
		location_add(breakpoints, type, addr, len, conditions, commands);
	struct error *error = NULL;

	if (!location)
		return error_create(ENOMEM, "breakpoint");
	if (type == BREAKPOINT_SOFTWARE)
		error = check_readable(breakpoints->inferior, addr);
	if (!error)
		error = install_if_possible(breakpoints, location);
	if (error)
		location_destroy(breakpoints, location);
	else
		log_debug(LOG_STOPS, "%s *0x%jx by %s", breakpoint_type_name(type),
			  (uintmax_t)addr,
			  location->engine ? location->engine->ops->name
					   : "nobody yet");
	return error;
}

static bool is_intact(const struct location *location)
{
	return location->state == LOCATION_SUSPENDED ||
	       (location->state == LOCATION_IN && location_is_intact(location));
}

/* A library that comes and goes would leave one behind each time. Once after each
 * resume is enough. */
static void drop_vanished(struct breakpoints *breakpoints)
{
	struct location *location, *next;

	if (breakpoints->swept)
		return;
	breakpoints->swept = true;
	for (location = TAILQ_FIRST(&breakpoints->locations); location;
	     location = next) {
		next = TAILQ_NEXT(location, link);
		if (location->state != LOCATION_IN || is_intact(location) ||
		    !location->engine->ops->vanished ||
		    !location->engine->ops->vanished(location->engine, location))
			continue;
		location_take_out(location, false);
		location_destroy(breakpoints, location);
	}
}

static bool is_as_asked(const struct location *location,
			const struct agent_list *conditions,
			const struct commands *commands)
{
	return agent_list_equal(&location->asked, conditions) &&
	       agent_list_equal(&location->commands.list, &commands->list);
}

static const struct agent_list *handed_to(const struct breakpoints *breakpoints,
					  const struct location *location)
{
	return handed_find(&breakpoints->handed, location->type, location->addr,
			   location->len);
}

/* Do these conditions hold again that were handed over for a breakpoint, or no longer?
 * To its user nothing has changed. */
static bool is_interlude(const struct breakpoints *breakpoints,
			 const struct location *location,
			 const struct agent_list *conditions)
{
	const struct agent_list *handed = handed_to(breakpoints, location);

	return location->type <= BREAKPOINT_HARDWARE && handed->count > 0 &&
	       (location->asked.count == 0 ||
		agent_list_equal(&location->asked, handed)) &&
	       (conditions->count == 0 || agent_list_equal(conditions, handed));
}

/* New conditions and commands for a location that is in place. */
static struct error *location_update(struct breakpoints *breakpoints,
				     struct location *location,
				     const struct agent_list *conditions,
				     const struct commands *commands)
{
	struct error *error = NULL;
	int err;
	bool same = is_as_asked(location, conditions, commands);
	bool stays = same && is_intact(location);

	if (!stays)
		location_take_out(location, false);
	if (!same && !is_interlude(breakpoints, location, conditions))
		counts_clear(&location->counts);
	location->wanted = true;
	err = location_set(location, conditions, commands);
	if (err < 0)
		error = error_create(-err, "breakpoint");
	else
		handed_count_bind(breakpoints, location);
	if (!error)
		error = stays ? location_switch_on(breakpoints, location)
			      : install_if_possible(breakpoints, location);
	if (error) {
		location_take_out(location, false);
		location_destroy(breakpoints, location);
	}
	return error;
}

static struct error *mention_variables(struct breakpoints *breakpoints,
				       const struct agent_list *conditions,
				       const struct commands *commands)
{
	struct variables *variables = &breakpoints->engines->variables;
	struct error *error = variables_mention(variables, conditions);

	return error ? error : variables_mention(variables, &commands->list);
}

/* What was handed over, if that holds. */
static const struct agent_list *handed_now(const struct breakpoints *breakpoints,
					   enum breakpoint_type type, uint64_t addr,
					   unsigned int len)
{
	static const struct agent_list none;

	if (type <= BREAKPOINT_HARDWARE && !breakpoints->engines->handed_hold)
		return &none;
	return handed_find(&breakpoints->handed, type, addr, len);
}

static struct error *insert_one(struct breakpoints *breakpoints,
				enum breakpoint_type type, uint64_t addr,
				unsigned int len, const struct agent_list *conditions,
				const struct commands *commands)
{
	static const struct commands no_commands;
	struct location *location = location_find(breakpoints, type, addr, len);
	struct error *error;

	if (!conditions || conditions->count == 0)
		conditions = handed_now(breakpoints, type, addr, len);
	if (!commands)
		commands = &no_commands;
	error = mention_variables(breakpoints, conditions, commands);
	if (error)
		return error;
	if (location)
		return location_update(breakpoints, location, conditions, commands);
	drop_vanished(breakpoints);
	return location_create(breakpoints, type, addr, len, conditions, commands);
}

/* Is a breakpoint of this type, of the one inferior, the other's, too? Clients insert
 * and remove a software breakpoint once for the memory that inferiors share, and may
 * name any of them. */
static bool is_common(enum breakpoint_type type, const struct inferior *one,
		      const struct inferior *other)
{
	return other->breakpoints &&
	       (other == one ||
		(type == BREAKPOINT_SOFTWARE && inferior_shares_memory(other, one)));
}

struct error *breakpoints_insert(struct breakpoints *breakpoints,
				 enum breakpoint_type type, uint64_t addr,
				 unsigned int len, const struct agent_list *conditions,
				 const struct commands *commands)
{
	const struct inferior *inferior = breakpoints->inferior;
	struct error *error = NULL;
	struct inferior *other;

	/* Its memory may be there still, and be that of its vfork children. */
	if (inferior->control && inferior->control->pending_stop)
		return error_create(0, "process %d has ended", inferior->pid);
	TAILQ_FOREACH (other, &inferior->owner->list, link) {
		if (!error && is_common(type, inferior, other))
			error = insert_one(other->breakpoints, type, addr, len,
					   conditions, commands);
	}
	if (error)
		breakpoints_remove(breakpoints, type, addr, len);
	return error;
}

static void reset_counts(struct location *location)
{
	counts_clear(&location->counts);
	if (location->state != LOCATION_OUT && location->engine->ops->reset_counts)
		location->engine->ops->reset_counts(location->engine, location);
	pace_begin(location);
}

/* gdb may have put it in already, and has no reason to do it again. */
struct error *breakpoints_hand(struct breakpoints *breakpoints,
			       enum breakpoint_type type, uint64_t addr,
			       unsigned int len, const struct agent_list *conditions)
{
	const struct agent_list *before =
		handed_find(&breakpoints->handed, type, addr, len);
	struct location *location = location_find(breakpoints, type, addr, len);
	bool affected = location &&
			(location->asked.count == 0 ||
			 agent_list_equal(&location->asked, before)) &&
			!agent_list_equal(before, conditions);
	int err = handed_set(&breakpoints->handed, type, addr, len, conditions);

	if (err < 0)
		return error_create(-err, "conditions of %s *0x%jx",
				    breakpoint_type_name(type), (uintmax_t)addr);
	if (affected && type <= BREAKPOINT_HARDWARE)
		reset_counts(location);
	if (!affected || !location->wanted)
		return NULL;
	return breakpoints_insert(breakpoints, type, addr, len, NULL,
				  &location->commands);
}

struct error *breakpoints_apply_handed(struct breakpoints *breakpoints)
{
	struct location *location, *next;
	struct error *error = NULL;

	if (TAILQ_EMPTY(&breakpoints->handed))
		return NULL;
	for (location = TAILQ_FIRST(&breakpoints->locations); location && !error;
	     location = next) {
		const struct agent_list *handed = handed_to(breakpoints, location);

		next = TAILQ_NEXT(location, link);
		if (location->type > BREAKPOINT_HARDWARE || handed->count == 0 ||
		    !location->wanted ||
		    (location->asked.count > 0 &&
		     !agent_list_equal(&location->asked, handed)))
			continue;
		error = insert_one(breakpoints, location->type, location->addr,
				   location->len, NULL, &location->commands);
	}
	return error;
}

struct error *breakpoints_unhand_all(struct breakpoints *breakpoints)
{
	static const struct agent_list none;
	struct location *location, *next;
	struct error *error = NULL;

	for (location = TAILQ_FIRST(&breakpoints->locations); location && !error;
	     location = next) {
		next = TAILQ_NEXT(location, link);
		error = breakpoints_hand(breakpoints, location->type, location->addr,
					 location->len, &none);
	}
	handed_clear(&breakpoints->handed);
	return error;
}

struct error *breakpoints_want_state(struct breakpoints *breakpoints,
				     struct location *location,
				     struct wanted_state *state)
{
	const bool was_in = location->state != LOCATION_OUT;
	struct wanted_state *before = location->wanted_state;
	int err;

	location_take_out(location, false);
	counts_clear(&location->counts);
	location->wanted_state = state;
	err = location_set(location, &location->asked, &location->commands);
	if (err < 0) {
		location->wanted_state = before;
		wanted_state_destroy(state);
		return error_create(-err, "a state for this breakpoint");
	}
	wanted_state_destroy(before);
	return was_in ? install_if_possible(breakpoints, location) : NULL;
}

void breakpoints_remove(struct breakpoints *breakpoints, enum breakpoint_type type,
			uint64_t addr, unsigned int len)
{
	const struct inferior *inferior = breakpoints->inferior;
	struct inferior *other;

	TAILQ_FOREACH (other, &inferior->owner->list, link) {
		struct location *location = NULL;

		if (is_common(type, inferior, other))
			location = location_find(other->breakpoints, type, addr, len);
		if (!location)
			continue;
		location->wanted = false;
		other->breakpoints->any_unwanted = true;
	}
}

struct location *breakpoints_wanted(const struct breakpoints *breakpoints,
				    enum breakpoint_type type, uint64_t addr)
{
	struct location *location;
	struct index_walk walk;

	for (location = index_begin(&walk, breakpoints, addr, addr); location;
	     location = index_next(&walk)) {
		if (location->type == type && location->wanted)
			break;
	}
	return location;
}

void breakpoints_remove_all(struct breakpoints *breakpoints)
{
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link)
		location->wanted &= location->commands.persistent;
	handed_clear(&breakpoints->handed);
	handed_counts_clear(breakpoints);
}

bool breakpoints_persist(const struct breakpoints *breakpoints)
{
	const struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (location->wanted && location->commands.persistent)
			return true;
	}
	return false;
}

/* 0, or as location_set(): then it has all hits. */
static int inherit_state(struct location *copy, const struct location *location,
			 const struct agent_list *asked)
{
	if (!location->wanted_state)
		return 0;
	copy->wanted_state = wanted_state_copy(location->wanted_state);
	if (!copy->wanted_state)
		return -ENOMEM;
	return location_set(copy, asked, &location->commands);
}

/* What was handed over for a breakpoint is about the parent. */
static const struct agent_list *inherited(const struct breakpoints *parent,
					  const struct location *location)
{
	static const struct agent_list none;

	return is_interlude(parent, location, &none) ? &none : &location->asked;
}

void breakpoints_inherit(struct breakpoints *child, const struct breakpoints *parent)
{
	struct location *location, *copy;

	if (handed_copy(&child->handed, &parent->handed) < 0)
		log_warning("out of memory: process %d has not all conditions",
			    child->inferior->pid);
	child->uprobed = parent->uprobed;
	TAILQ_FOREACH (location, &parent->locations, link) {
		const struct agent_list *asked = inherited(parent, location);

		if (!location->wanted)
			continue;
		copy = location_add(child, location->type, location->addr,
				    location->len, asked, &location->commands);
		if (!copy || inherit_state(copy, location, asked) < 0) {
			log_warning("out of memory: process %d does not stop at 0x%jx",
				    child->inferior->pid, (uintmax_t)location->addr);
			continue;
		}
		if (!handed_count_is_bound(parent, location))
			gate_copy(&copy->gate, ignore_gate(location));
		watch_inherit(copy, location);
	}
}

void breakpoints_forget(struct breakpoints *breakpoints)
{
	struct location *location;

	while ((location = TAILQ_FIRST(&breakpoints->locations))) {
		location_take_out(location, true);
		location_destroy(breakpoints, location);
	}
	pads_remove(breakpoints->inferior, true);
	client_memory_remove(breakpoints->inferior, true);
	handed_clear(&breakpoints->handed);
	numbers_forget_program(breakpoints);
	old_traps_clear(breakpoints);
	breakpoints->uprobed = false;
	traps_update_shadow(breakpoints, false);
}

void breakpoints_thread_added(struct breakpoints *breakpoints, struct thread *thread)
{
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		int err = 0;

		counts_retire(&location->counts, thread->tid);
		if (location->state != LOCATION_OUT &&
		    location->engine->ops->thread_added)
			err = location->engine->ops->thread_added(location->engine,
								  location, thread);
		if (err < 0 && err != -ESRCH)
			log_warning("thread %d does not stop at %s *0x%jx: %s",
				    thread->tid, breakpoint_type_name(location->type),
				    (uintmax_t)location->addr, strerror(-err));
	}
}

void breakpoints_reset_counts(struct breakpoints *breakpoints)
{
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		gate_reset(ignore_gate(location));
		reset_counts(location);
	}
}
