/* SPDX-License-Identifier: BSD-2-Clause */
#include "stops/breakpoints.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "stops/int3.h"

static const char *const type_names[] = {
	[BREAKPOINT_SOFTWARE] = "break", [BREAKPOINT_HARDWARE] = "hbreak",
	[WATCHPOINT_WRITE] = "watch",	 [WATCHPOINT_READ] = "rwatch",
	[WATCHPOINT_ACCESS] = "awatch",
};

const char *breakpoint_type_name(enum breakpoint_type type)
{
	return type_names[type];
}

struct breakpoints *breakpoints_create(struct inferior *inferior,
				       struct engines *engines)
{
	struct breakpoints *breakpoints = calloc(1, sizeof(*breakpoints));

	if (!breakpoints)
		return NULL;
	breakpoints->inferior = inferior;
	breakpoints->engines = engines;
	TAILQ_INIT(&breakpoints->locations);
	inferior->breakpoints = breakpoints;
	return breakpoints;
}

/* ---- locations ---- */

static int location_set(struct location *location, const struct agent_list *conditions,
			const struct commands *commands)
{
	int err = agent_list_set(&location->conditions, conditions);

	if (err == 0)
		err = agent_list_set(&location->commands.list, &commands->list);
	location->commands.persistent = commands->persistent;
	return err;
}

static void location_take_out(struct location *location, bool gone)
{
	if (location->state == LOCATION_OUT)
		return;
	location->engine->ops->remove(location->engine, location, gone);
	location->state = LOCATION_OUT;
	location->engine = NULL;
	free(location->why);
	location->why = NULL;
}

static void location_destroy(struct breakpoints *breakpoints, struct location *location)
{
	TAILQ_REMOVE(&breakpoints->locations, location, link);
	agent_list_clear(&location->conditions);
	agent_list_clear(&location->commands.list);
	free(location);
}

static struct location *location_find(struct breakpoints *breakpoints,
				      enum breakpoint_type type, uint64_t addr,
				      unsigned int len)
{
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (location->type == type && location->addr == addr &&
		    (type <= BREAKPOINT_HARDWARE || location->len == len))
			return location;
	}
	return NULL;
}

static bool uses_hardware(const struct location *location)
{
	return location->state != LOCATION_OUT && location->engine->ops != &int3_engine;
}

void breakpoints_destroy(struct breakpoints *breakpoints, bool gone)
{
	struct location *location;

	while ((location = TAILQ_FIRST(&breakpoints->locations))) {
		location_take_out(location, gone);
		location_destroy(breakpoints, location);
	}
	breakpoints->inferior->breakpoints = NULL;
	free(breakpoints);
}

/* ---- choosing an engine ---- */

/* Has the program a breakpoint instruction of its own there? */
static bool is_own_trap(const struct location *location)
{
	const struct arch_ops *arch = location->inferior->arch;
	uint8_t insn[8];
	ssize_t n = breakpoints_read_memory(location->inferior, location->addr, insn,
					    arch->breakpoint_len);

	return n == (ssize_t)arch->breakpoint_len &&
	       memcmp(insn, arch->breakpoint_insn, arch->breakpoint_len) == 0;
}

/* Does the program go on by itself after hits? */
static bool passes_hits(const struct location *location)
{
	return location->conditions.count > 0 || location->commands.list.count > 0;
}

/*
 * Which engines may serve a location, in order of preference. A software
 * breakpoint that stops at every hit leaves the few hardware slots to those that
 * gain from them. One at a breakpoint instruction of
 * the program's own explains that one, so a false hit must not run into it.
 */
static unsigned int engine_choices(const struct location *location, int *choices)
{
	unsigned int n = 0;

	if (location->type != BREAKPOINT_SOFTWARE ||
	    (passes_hits(location) && !is_own_trap(location))) {
		choices[n++] = ENGINE_PERF_EVENT;
		choices[n++] = ENGINE_DEBUGREG;
	}
	if (location->type == BREAKPOINT_SOFTWARE)
		choices[n++] = ENGINE_INT3;
	return n;
}

/*
 * Tries the engines in turn. Returns NULL or the error of the first usable one
 * (the one that the user would have liked), and notes why later ones serve.
 */
static struct error *location_put_in(struct breakpoints *breakpoints,
				     struct location *location)
{
	int choices[NENGINES];
	unsigned int n = engine_choices(location, choices);
	_cleanup_error_ struct error *first = NULL;

	for (unsigned int i = 0; i < n; i++) {
		struct engine *engine = &breakpoints->engines->engine[choices[i]];
		struct error *error;

		if (engine->unusable)
			continue;
		error = engine->ops->insert(engine, location);
		if (!error) {
			location->engine = engine;
			location->state = LOCATION_IN;
			location->why = first ? strdup(error_text(first)) : NULL;
			return NULL;
		}
		if (first)
			error_destroy(error);
		else
			first = error;
	}
	if (!first)
		return error_create(0, "no engine can serve %s",
				    type_names[location->type]);
	return take_ptr(first);
}

/* A software location in hardware gives its slot to one that has no choice. */
static bool demote_one(struct breakpoints *breakpoints)
{
	struct engine *int3 = &breakpoints->engines->engine[ENGINE_INT3];
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		_cleanup_error_ struct error *error = NULL;

		if (location->type != BREAKPOINT_SOFTWARE || !uses_hardware(location))
			continue;
		location_take_out(location, false);
		if (location->wanted)
			error = int3->ops->insert(int3, location);
		if (error)
			log_warning("breakpoint at 0x%jx is lost: %s",
				    (uintmax_t)location->addr, error_text(error));
		if (location->wanted && !error) {
			location->engine = int3;
			location->state = LOCATION_IN;
			location->why = strdup("gave its hardware slot away");
		}
		return true;
	}
	return false;
}

/* Takes out what nobody wants any longer; true if that freed a slot. */
static bool evict_unwanted(struct breakpoints *breakpoints)
{
	struct location *location, *next;
	bool freed = false;

	for (location = TAILQ_FIRST(&breakpoints->locations); location;
	     location = next) {
		next = TAILQ_NEXT(location, link);
		if (location->wanted)
			continue;
		freed |= uses_hardware(location);
		location_take_out(location, false);
		location_destroy(breakpoints, location);
	}
	return freed;
}

static void append_slot_users(struct breakpoints *breakpoints, struct buffer *out)
{
	const struct location *location;
	const char *separator = "; in use by ";

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (!uses_hardware(location))
			continue;
		buffer_printf(out, "%s%s *0x%jx", separator, type_names[location->type],
			      (uintmax_t)location->addr);
		separator = ", ";
	}
}

static struct error *no_slot_error(struct breakpoints *breakpoints,
				   const struct location *location, struct error *error)
{
	struct buffer users _cleanup_buffer_ = {0};
	const struct arch_ops *arch = breakpoints->inferior->arch;
	bool shared;
	unsigned int slots = arch->hw_slots(
		location->type <= BREAKPOINT_HARDWARE ? HW_EXECUTE : HW_WRITE, &shared);

	append_slot_users(breakpoints, &users);
	error_destroy(error);
	return error_create(0,
			    "no hardware slot is free for %s *0x%jx (the processor "
			    "has %u per thread%s)",
			    type_names[location->type], (uintmax_t)location->addr,
			    slots, buffer_string(&users));
}

static struct error *location_install(struct breakpoints *breakpoints,
				      struct location *location)
{
	struct error *error = location_put_in(breakpoints, location);

	if (location->type == BREAKPOINT_SOFTWARE)
		return error;
	if (error && error_errno(error) == ENOSPC && evict_unwanted(breakpoints)) {
		error_destroy(error);
		error = location_put_in(breakpoints, location);
	}
	while (error && error_errno(error) == ENOSPC && demote_one(breakpoints)) {
		error_destroy(error);
		error = location_put_in(breakpoints, location);
	}
	if (error && error_errno(error) == ENOSPC)
		return no_slot_error(breakpoints, location, error);
	return error;
}

/* ---- traps that programs must not read ---- */

/* Tells the kernel engines which bytes are not what memory shows. */
static void update_shadow(struct breakpoints *breakpoints)
{
	uint64_t start = UINT64_MAX, end = 0;
	const struct inferior *inferior;

	TAILQ_FOREACH (inferior, &breakpoints->inferior->owner->list, link) {
		const struct location *location;

		if (!inferior->breakpoints)
			continue;
		TAILQ_FOREACH (location, &inferior->breakpoints->locations, link) {
			uint64_t after =
				location->addr + inferior->arch->breakpoint_len;

			if (location->state != LOCATION_IN || uses_hardware(location))
				continue;
			start = location->addr < start ? location->addr : start;
			end = after > end ? after : end;
		}
	}
	if (end == 0)
		start = 0;
	for (int i = 0; i < NENGINES; i++) {
		struct engine *engine = &breakpoints->engines->engine[i];

		if (!engine->unusable && engine->ops->set_shadow)
			engine->ops->set_shadow(engine, start, end);
	}
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
	location->type = type;
	location->addr = addr;
	location->len = len;
	location->wanted = true;
	TAILQ_INSERT_TAIL(&breakpoints->locations, location, link);
	if (location_set(location, conditions, commands) < 0) {
		location_destroy(breakpoints, location);
		return NULL;
	}
	return location;
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
		error = location_install(breakpoints, location);
	if (error)
		location_destroy(breakpoints, location);
	else
		log_debug(LOG_STOPS, "%s *0x%jx by %s", type_names[type],
			  (uintmax_t)addr, location->engine->ops->name);
	return error;
}

static bool is_intact(const struct location *location)
{
	const struct engine *engine = location->engine;

	return location->state == LOCATION_SUSPENDED ||
	       (location->state == LOCATION_IN &&
		(!engine->ops->intact ||
		 engine->ops->intact(location->engine, location)));
}

/* New conditions and commands for a location that is in place. Only the conditions
 * are the engine's business. */
static struct error *location_update(struct breakpoints *breakpoints,
				     struct location *location,
				     const struct agent_list *conditions,
				     const struct commands *commands)
{
	struct error *error = NULL;
	bool stays = agent_list_equal(&location->conditions, conditions) &&
		     is_intact(location);

	if (!stays) {
		location_take_out(location, false);
		location->counts = (struct location_counts){0};
	}
	location->wanted = true;
	if (location_set(location, conditions, commands) < 0)
		error = error_create(ENOMEM, "breakpoint");
	else if (!stays)
		error = location_install(breakpoints, location);
	if (error) {
		location_take_out(location, false);
		location_destroy(breakpoints, location);
	}
	return error;
}

struct error *breakpoints_insert(struct breakpoints *breakpoints,
				 enum breakpoint_type type, uint64_t addr,
				 unsigned int len, const struct agent_list *conditions,
				 const struct commands *commands)
{
	static const struct agent_list no_conditions;
	static const struct commands no_commands;
	struct location *location = location_find(breakpoints, type, addr, len);
	struct error *error;

	if (!conditions)
		conditions = &no_conditions;
	if (!commands)
		commands = &no_commands;
	if (location)
		error = location_update(breakpoints, location, conditions, commands);
	else
		error = location_create(breakpoints, type, addr, len, conditions,
					commands);
	update_shadow(breakpoints);
	return error;
}

/* In memory that inferiors share, a software breakpoint is one for all of them, and
 * clients may name any of them to take it out. */
void breakpoints_remove(struct breakpoints *breakpoints, enum breakpoint_type type,
			uint64_t addr, unsigned int len)
{
	const struct inferior *inferior = breakpoints->inferior;
	struct inferior *other;

	TAILQ_FOREACH (other, &inferior->owner->list, link) {
		struct location *location = NULL;

		if (other->breakpoints &&
		    (other == inferior || (type == BREAKPOINT_SOFTWARE &&
					   inferior_shares_memory(other, inferior))))
			location = location_find(other->breakpoints, type, addr, len);
		if (location)
			location->wanted = false;
	}
}

bool breakpoints_wants(const struct breakpoints *breakpoints, enum breakpoint_type type,
		       uint64_t addr)
{
	const struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (location->type == type && location->addr == addr &&
		    location->wanted)
			return true;
	}
	return false;
}

void breakpoints_remove_all(struct breakpoints *breakpoints)
{
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link)
		location->wanted &= location->commands.persistent;
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

static struct error *location_switch(struct location *location,
				     enum location_state state)
{
	const struct engine_ops *ops = location->engine->ops;
	int err = state == LOCATION_IN ? ops->resume(location->engine, location)
				       : ops->suspend(location->engine, location);

	if (err < 0)
		return error_create(-err, "%s *0x%jx cannot be switched %s by %s",
				    type_names[location->type],
				    (uintmax_t)location->addr,
				    state == LOCATION_IN ? "on" : "off", ops->name);
	location->state = state;
	return NULL;
}

/* Memory that is lent to a vfork child must hold no trap of ours. */
static bool must_stay_off(const struct location *location)
{
	return location->inferior->vforking != 0 && !uses_hardware(location);
}

/* Has a wanted location yet to be put in place? */
static bool needs_commit(const struct location *location)
{
	return location->wanted && location->state != LOCATION_IN &&
	       !must_stay_off(location);
}

static bool need_commit(const struct breakpoints *breakpoints, bool only_unwanted)
{
	const struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (!location->wanted || (!only_unwanted && needs_commit(location)))
			return true;
	}
	return false;
}

bool breakpoints_need_commit(const struct breakpoints *breakpoints)
{
	const struct inferior *inferior = breakpoints->inferior;
	struct inferior *other;

	TAILQ_FOREACH (other, &inferior->owner->list, link) {
		if (other->breakpoints && inferior_shares_memory(other, inferior) &&
		    need_commit(other->breakpoints, other != inferior))
			return true;
	}
	return false;
}

static struct error *location_commit(struct breakpoints *breakpoints,
				     struct location *location)
{
	if (!needs_commit(location))
		return NULL;
	if (location->state == LOCATION_OUT)
		return location_install(breakpoints, location);
	return location_switch(location, LOCATION_IN);
}

static struct error *drop_unwanted(struct breakpoints *breakpoints, bool stepping)
{
	struct location *location;
	struct error *error = NULL;

	if (!stepping)
		evict_unwanted(breakpoints);
	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (!error && !location->wanted && location->state == LOCATION_IN)
			error = location_switch(location, LOCATION_SUSPENDED);
	}
	return error;
}

/* A trap goes when nobody wants it who shares the memory: what is unwanted goes
 * everywhere, before anything comes. */
struct error *breakpoints_commit(struct breakpoints *breakpoints, bool stepping)
{
	const struct inferior *inferior = breakpoints->inferior;
	struct inferior *other;
	struct location *location;
	struct error *error = NULL;

	TAILQ_FOREACH (other, &inferior->owner->list, link) {
		if (!error && other->breakpoints &&
		    inferior_shares_memory(other, inferior))
			error = drop_unwanted(other->breakpoints, stepping);
	}
	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (!error)
			error = location_commit(breakpoints, location);
	}
	update_shadow(breakpoints);
	return error;
}

void breakpoints_inherit(struct breakpoints *child, const struct breakpoints *parent)
{
	const struct location *location;

	TAILQ_FOREACH (location, &parent->locations, link) {
		if (location->wanted &&
		    !location_add(child, location->type, location->addr, location->len,
				  &location->conditions, &location->commands))
			log_warning("out of memory: process %d does not stop at 0x%jx",
				    child->inferior->pid, (uintmax_t)location->addr);
	}
}

void breakpoints_forget(struct breakpoints *breakpoints)
{
	struct location *location;

	while ((location = TAILQ_FIRST(&breakpoints->locations))) {
		location_take_out(location, true);
		location_destroy(breakpoints, location);
	}
	update_shadow(breakpoints);
}

void breakpoints_thread_added(struct breakpoints *breakpoints, struct thread *thread)
{
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		int err = 0;

		if (location->state != LOCATION_OUT &&
		    location->engine->ops->thread_added)
			err = location->engine->ops->thread_added(location->engine,
								  location, thread);
		if (err < 0 && err != -ESRCH)
			log_warning("thread %d does not stop at %s *0x%jx: %s",
				    thread->tid, type_names[location->type],
				    (uintmax_t)location->addr, strerror(-err));
	}
}

static void clean_child(const struct breakpoints *breakpoints, struct inferior *child)
{
	const struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (location->state == LOCATION_IN && !uses_hardware(location) &&
		    int3_clean(location, child) < 0)
			log_debug(LOG_STOPS, "trap at 0x%jx stays in child %d",
				  (uintmax_t)location->addr, child->pid);
	}
}

void breakpoints_clean_child(struct breakpoints *breakpoints, struct inferior *child)
{
	const struct inferior *inferior = breakpoints->inferior;
	struct inferior *other;

	TAILQ_FOREACH (other, &inferior->owner->list, link) {
		if (other->breakpoints && inferior_shares_memory(other, inferior))
			clean_child(other->breakpoints, child);
	}
}

static struct error *lift_traps(struct breakpoints *breakpoints, uint64_t addr,
				bool everywhere)
{
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		struct error *error;

		if (location->state != LOCATION_IN || uses_hardware(location) ||
		    (!everywhere && location->addr != addr))
			continue;
		error = location_switch(location, LOCATION_SUSPENDED);
		if (error)
			return error;
	}
	return NULL;
}

struct error *breakpoints_lift_traps(struct breakpoints *breakpoints, uint64_t addr,
				     bool everywhere)
{
	const struct inferior *inferior = breakpoints->inferior;
	struct inferior *other;
	struct error *error = NULL;

	TAILQ_FOREACH (other, &inferior->owner->list, link) {
		if (!error && other->breakpoints &&
		    inferior_shares_memory(other, inferior))
			error = lift_traps(other->breakpoints, addr, everywhere);
	}
	return error;
}

bool breakpoints_have_traps(const struct breakpoints *breakpoints)
{
	const struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (location->state == LOCATION_IN && !uses_hardware(location))
			return true;
	}
	return false;
}

ssize_t breakpoints_read_memory(struct inferior *inferior, uint64_t addr, void *data,
				size_t len)
{
	ssize_t n = inferior_read(inferior, addr, data, len);

	if (n > 0)
		int3_show_originals(inferior, addr, data, (size_t)n);
	return n;
}

int breakpoints_write_memory(struct inferior *inferior, uint64_t addr, const void *data,
			     size_t len)
{
	return int3_write_under(inferior, addr, data, len);
}

void breakpoints_reset_counts(struct breakpoints *breakpoints)
{
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		location->counts = (struct location_counts){0};
		if (location->state != LOCATION_OUT &&
		    location->engine->ops->reset_counts)
			location->engine->ops->reset_counts(location->engine, location);
	}
}
