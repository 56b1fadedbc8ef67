/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/breakpoints/slots.h"

#include <errno.h>
#include <inttypes.h>

#include "gdbstub/symbols/symbols.h"
#include "gdbstub/locations/carrier.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/locations/numbers.h"
#include "gdbstub/breakpoints/share.h"

/* ---- what a location asks for ---- */

static enum hw_kind kind_of(const struct location *location)
{
	static const enum hw_kind kinds[] = {
		[BREAKPOINT_SOFTWARE] = HW_EXECUTE, [BREAKPOINT_HARDWARE] = HW_EXECUTE,
		[WATCHPOINT_WRITE] = HW_WRITE,	    [WATCHPOINT_READ] = HW_READ,
		[WATCHPOINT_ACCESS] = HW_ACCESS,
	};

	return kinds[location->type];
}

int slots_plan(const struct location *location, struct hw_region *out, unsigned int max)
{
	const struct hw_region region = {kind_of(location), location->addr,
					 location->len};

	return location->inferior->arch->hw_plan(&region, out, max);
}

bool slots_same_pool(const struct arch_ops *arch, enum hw_kind a, enum hw_kind b)
{
	bool shared;

	arch->hw_slots(a, &shared);
	return shared || (a == HW_EXECUTE) == (b == HW_EXECUTE);
}

unsigned int slots_needed(const struct location *location)
{
	struct hw_region plan[HW_SLOTS_MAX];
	int count = slots_plan(location, plan, HW_SLOTS_MAX);

	return count < 0 ? HW_SLOTS_MAX + 1 : (unsigned int)count;
}

/* ---- the pools ---- */

/* Those that share are counted with the first of them. */
static unsigned int slots_held(const struct location *location)
{
	const struct location *carrier = share_carrier(location);

	if (!carrier)
		return slots_needed(location);
	return share_leads(location) ? slots_needed(carrier) : 0;
}

static bool has_slots_of(const struct location *location, enum hw_kind kind)
{
	return location_uses_hardware(location) &&
	       slots_same_pool(location->inferior->arch, kind_of(location), kind);
}

/* Only trying shows what other tracers and users of perf have taken. */
static void count_free(struct slot_pool *pool)
{
	struct engines *engines = pool->breakpoints->engines;
	unsigned int left = pool->used < pool->total ? pool->total - pool->used : 0;
	int n = -ENOTSUP;

	for (int i = 0; n < 0 && i < NENGINES; i++) {
		struct engine *engine = &engines->engine[i];

		if (!engine->unusable && engine->ops->slots_free)
			n = engine->ops->slots_free(engine, pool->breakpoints->inferior,
						    pool->kind);
	}
	pool->free = n >= 0 && (unsigned int)n < left ? (unsigned int)n : left;
	pool->foreign = left - pool->free;
}

struct slot_pool slots_look(const struct breakpoints *breakpoints, enum hw_kind kind)
{
	struct slot_pool pool = {.breakpoints = breakpoints, .kind = kind};
	const struct location *location;

	pool.total = breakpoints->inferior->arch->hw_slots(kind, &pool.for_all);
	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (has_slots_of(location, kind))
			pool.used += slots_held(location);
	}
	count_free(&pool);
	return pool;
}

bool slots_may_suffice(const struct location *location)
{
	const struct inferior *inferior = location->inferior;
	enum hw_kind kind = kind_of(location);
	unsigned int needed = slots_needed(location);
	const struct location *other;
	bool shared;

	TAILQ_FOREACH (other, &inferior->breakpoints->locations, link) {
		if (other->type != BREAKPOINT_SOFTWARE && has_slots_of(other, kind))
			needed += slots_held(other);
	}
	return needed <= inferior->arch->hw_slots(kind, &shared);
}

static const struct engine_ops *engine_of(const struct location *location)
{
	const struct location *carrier = share_carrier(location);

	return (carrier ? carrier : location)->engine->ops;
}

unsigned int slots_of_other_engines(const struct location *location,
				    const struct engine_ops *ops)
{
	const struct breakpoints *breakpoints = location->inferior->breakpoints;
	const struct location *other;
	unsigned int count = 0;

	if (!breakpoints)
		return 0;
	TAILQ_FOREACH (other, &breakpoints->locations, link) {
		if (has_slots_of(other, kind_of(location)) && engine_of(other) != ops)
			count += slots_held(other);
	}
	return count;
}

/* ---- for people ---- */

static void print_count(unsigned int count, struct buffer *out)
{
	if (count > HW_SLOTS_MAX)
		buffer_printf(out, "more than %u slots", HW_SLOTS_MAX);
	else
		buffer_printf(out, "%u slot%s", count, count == 1 ? "" : "s");
}

/* "watch *0x404028, 16 bytes, flag" */
static void print_location(const struct location *location, struct symbols *symbols,
			   struct buffer *out)
{
	_cleanup_buffer_ struct buffer symbol = {0};

	buffer_printf(out, "%s *0x%" PRIx64, breakpoint_type_name(location->type),
		      location->addr);
	if (location->type > BREAKPOINT_HARDWARE)
		buffer_printf(out, ", %u byte%s", location->len,
			      location->len == 1 ? "" : "s");
	symbols_print(symbols, location->addr, &symbol);
	if (symbol.len > 0)
		buffer_printf(out, ", %s", buffer_string(&symbol));
}

/* Is @other in the way of the location? Software breakpoints are in nobody's way but
 * their own. */
static bool stands_in_the_way(const struct location *other,
			      const struct location *location)
{
	return has_slots_of(other, kind_of(location)) &&
	       (other->type != BREAKPOINT_SOFTWARE ||
		location->type == BREAKPOINT_SOFTWARE);
}

void slots_print_users(const struct location *location, struct buffer *out)
{
	struct symbols *symbols = symbols_create(location->inferior);
	const char *separator = "";
	const struct location *other;

	numbers_give(location->inferior->breakpoints);
	TAILQ_FOREACH (other, &location->inferior->breakpoints->locations, link) {
		if (!stands_in_the_way(other, location))
			continue;
		buffer_printf(out, "%s%d (", separator, other->shown_number);
		print_location(other, symbols, out);
		buffer_append_char(out, ')');
		separator = ", ";
	}
	symbols_destroy(symbols);
}

static void print_foreign(const struct slot_pool *pool, struct buffer *out)
{
	if (pool->foreign > 0)
		buffer_printf(out, ", %u taken by another debugger or user of perf",
			      pool->foreign);
}

static void print_held(const struct location *location, struct buffer *out)
{
	const struct location *carrier = share_carrier(location);

	buffer_append_string(out, carrier ? ": shares " : ": ");
	print_count(slots_needed(carrier ? carrier : location), out);
	if (carrier) {
		buffer_append_string(out, " with ");
		share_print_others(location, out);
	}
	buffer_append_char(out, '\n');
}

static void print_pool(const struct slot_pool *pool, struct symbols *symbols,
		       struct buffer *out)
{
	const char *why = engines_no_slots(pool->breakpoints->engines);
	const struct location *location;
	const char *title = "Hardware";

	if (!pool->for_all)
		title = pool->kind == HW_EXECUTE ? "Breakpoint" : "Watchpoint";
	buffer_printf(out, "\n%s slots of process %d, in each thread: %u, ", title,
		      (int)pool->breakpoints->inferior->pid, pool->total);
	if (why) {
		buffer_printf(out, "none usable: %s\n", why);
		return;
	}
	buffer_printf(out, "%u in use", pool->used);
	print_foreign(pool, out);
	buffer_printf(out, ", %u free\n", pool->free);
	TAILQ_FOREACH (location, &pool->breakpoints->locations, link) {
		if (!has_slots_of(location, pool->kind))
			continue;
		buffer_printf(out, "%5d  ", location->shown_number);
		print_location(location, symbols, out);
		print_held(location, out);
	}
}

void slots_print(const struct breakpoints *breakpoints, struct buffer *out)
{
	struct symbols *symbols = symbols_create(breakpoints->inferior);
	struct slot_pool pool = slots_look(breakpoints, HW_EXECUTE);

	numbers_give(breakpoints->inferior->breakpoints);
	print_pool(&pool, symbols, out);
	if (!pool.for_all) {
		pool = slots_look(breakpoints, HW_WRITE);
		print_pool(&pool, symbols, out);
	}
	if (breakpoints->refusal)
		buffer_printf(out, "Refused since the last resume: %s\n",
			      breakpoints->refusal);
	symbols_destroy(symbols);
}

struct error *slots_error(const struct location *location)
{
	struct breakpoints *breakpoints = location->inferior->breakpoints;
	struct slot_pool pool = slots_look(breakpoints, kind_of(location));
	struct symbols *symbols = symbols_create(breakpoints->inferior);
	_cleanup_buffer_ struct buffer text = {0}, users = {0};
	unsigned int needed = slots_needed(location);

	buffer_append_string(&text, "no hardware slots for ");
	print_location(location, symbols, &text);
	symbols_destroy(symbols);
	buffer_append_string(&text, ": it needs ");
	print_count(needed, &text);
	buffer_printf(&text, ", each thread has %u", pool.total);
	if (needed > pool.total)
		return error_create(0, "%s; watch a smaller part",
				    buffer_string(&text));
	print_foreign(&pool, &text);
	buffer_printf(&text, ", %u free", pool.free);
	slots_print_users(location, &users);
	if (users.len > 0)
		buffer_printf(&text,
			      "; in use by %s; delete what is not needed (monitor "
			      "breakpoints shows all)",
			      buffer_string(&users));
	return error_create(0, "%s", buffer_string(&text));
}
