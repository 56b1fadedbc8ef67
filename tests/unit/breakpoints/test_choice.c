/* SPDX-License-Identifier: BSD-2-Clause */
/* Which engine is asked first, by what hits cost. */
#include "gdbstub/breakpoints/choice.h"

#include <criterion/criterion.h>
#include <string.h>

#include "bpf/kernel/costs.h"
#include "gdbstub/tracing/attach.h"
#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/tracing/launch.h"
#include "gdbstub/symbols/symbols.h"
#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/breakpoints/install.h"
#include "gdbstub/locations/location.h"

static struct hit_costs hits_cost; /* here */

static const struct hit_costs *costs(const struct engine *engine)
{
	(void)engine;
	return &hits_cost;
}

/* As if it were hot, and could have no pad. */
static struct error *insert(struct engine *engine, struct location *to)
{
	(void)engine;
	to->padless = true;
	return NULL;
}

static void take_out(struct engine *engine, struct location *from, bool gone)
{
	(void)engine;
	(void)from;
	(void)gone;
}

static const struct engine_ops ops = {
	.name = "fake", .costs = costs, .insert = insert, .remove = take_out};
static const struct agent_expr *one;
static struct inferiors inferiors;
static struct engines engines;
static struct location location;
static uint64_t push, store; /* addresses: emulated, stepped */

static uint64_t address(struct inferior *inferior, const char *name)
{
	struct symbols *symbols = symbols_create(inferior);
	struct symbol_wish wish = {.name = name};

	symbols_find(symbols, &wish, 1);
	symbols_destroy(symbols);
	cr_assert(wish.found, "%s", name);
	return wish.addr;
}

static void begin(void)
{
	char *argv[] = {(char *)PROGS_DIR "/frames", NULL};
	const struct launch_options options = {.program = argv[0], .argv = argv};
	struct inferior *inferior;
	struct error *error = arch_native()->init();

	cr_assert_null(error);
	inferiors_init(&inferiors);
	error = inferior_launch(&inferiors, &options, &inferior);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	push = address(inferior, "general");
	store = address(inferior, "general_store");
	for (int i = 0; i < NENGINES; i++)
		engines.engine[i].ops = &ops;
	engines.pads = PADS_OFF;
	location = (struct location){
		.inferior = inferior,
		.type = BREAKPOINT_SOFTWARE,
		.addr = store,
		.conditions = {(struct agent_expr **)&one, 1},
	};
}

static void end(void)
{
	inferior_kill(location.inferior);
	inferiors_deinit(&inferiors);
}

TestSuite(choice, .init = begin, .fini = end);

/* The engines by their initials, in order. */
static const char *list(void)
{
	static const char initials[NENGINES] = {[ENGINE_UPROBE] = 'u',
						[ENGINE_PERF_EVENT] = 'p',
						[ENGINE_DEBUGREG] = 'd',
						[ENGINE_INT3] = 'i',
						[ENGINE_SHARED] = 's'};
	static char text[NENGINES + 1];
	int choices[NENGINES];
	unsigned int n = choice_list(&engines, &location, choices);

	memset(text, 0, sizeof(text));
	for (unsigned int i = 0; i < n; i++)
		text[i] = initials[choices[i]];
	return text;
}

Test(choice, the_cheapest_is_first)
{
	hits_cost = (struct hit_costs){16000, 500, 5000};
	cr_expect_str_eq(list(), "updi");
	hits_cost = (struct hit_costs){1000, 500, 2500};
	cr_expect_str_eq(list(), "pdui");
	hits_cost = (struct hit_costs){0, 500, 2500}; /* there is no hardware */
	cr_expect_str_eq(list(), "updi");
}

/* What could not be measured does not win by its 0. */
Test(choice, uprobes_without_a_cost)
{
	location.addr = push;
	hits_cost = (struct hit_costs){1000, 0, 0};
	cr_expect_str_eq(list(), "pdui");
	hits_cost = (struct hit_costs){1000, 500, 0};
	cr_expect_str_eq(list(), "updi");
	hits_cost = (struct hit_costs){0, 0, 0}; /* hardware is no better */
	cr_expect_str_eq(list(), "updi");
}

Test(choice, a_slot_is_worth_twice_its_cost)
{
	hits_cost = (struct hit_costs){1000, 500, 2000};
	cr_expect_str_eq(list(), "updi");
	hits_cost = (struct hit_costs){1000, 500, 2001};
	cr_expect_str_eq(list(), "pdui");
}

Test(choice, what_is_emulated_is_cheaper)
{
	location.addr = push;
	hits_cost = (struct hit_costs){1000, 500, 2500};
	cr_expect_str_eq(list(), "updi");
	hits_cost = (struct hit_costs){1000, 2400, 2500};
	cr_expect_str_eq(list(), "pdui");
}

Test(choice, without_uprobes)
{
	engines.engine[ENGINE_UPROBE].unusable = error_create(0, "none");
	cr_expect_str_eq(list(), "pdui");
	error_destroy(engines.engine[ENGINE_UPROBE].unusable);
}

Test(choice, the_user_decides)
{
	hits_cost = (struct hit_costs){1000, 500, 2500};
	engines.choice = CHOOSE_UPROBE;
	cr_expect_str_eq(list(), "updi");
	hits_cost = (struct hit_costs){16000, 500, 2500};
	engines.choice = CHOOSE_HARDWARE;
	cr_expect_str_eq(list(), "pdi");
	engines.choice = CHOOSE_PTRACE;
	cr_expect_str_eq(list(), "i");
}

/* A hit is one of the pad's nop. */
Test(choice, with_pads)
{
	engines.pads = PADS_AUTO;
	hits_cost = (struct hit_costs){1000, 500, 2500};
	cr_expect_str_eq(list(), "updi");
	location.padless = true;
	cr_expect_str_eq(list(), "pdui");
}

/* What was chosen for the sake of a pad is chosen anew without. */
Test(choice, hot_without_a_pad)
{
	struct error *error;

	cr_assert_not_null(breakpoints_create(location.inferior, &engines));
	engines.pads = PADS_AUTO;
	hits_cost = (struct hit_costs){1000, 500, 2500};
	error = location_put_in(location.inferior->breakpoints, &location);
	cr_assert_null(error);
	cr_expect_eq(location.engine, &engines.engine[ENGINE_PERF_EVENT]);
	location_take_out(&location, false);
	breakpoints_destroy(location.inferior->breakpoints, true);
}

/* It leaves the slots to others, but where nothing else serves. */
Test(choice, one_that_stops_at_each_hit)
{
	location.conditions.count = 0;
	cr_expect_str_eq(list(), "ip");
	location.inferior->attached = true;
	cr_expect_str_eq(list(), "uip");
	location.inferior->attached = false;
	engines.choice = CHOOSE_UPROBE;
	cr_expect_str_eq(list(), "uip");
}

/* A trap of ours is the last choice there: other servers' uprobes would take its hits.
 */
Test(choice, among_uprobes)
{
	struct breakpoints breakpoints = {.uprobed = true};

	location.inferior->breakpoints = &breakpoints;
	location.conditions.count = 0;
	cr_expect_str_eq(list(), "updi");
	engines.choice = CHOOSE_PTRACE;
	cr_expect_str_eq(list(), "i");
	location.inferior->breakpoints = NULL;
}

Test(choice, hardware_locations)
{
	location.type = BREAKPOINT_HARDWARE;
	cr_expect_str_eq(list(), "pd");
	engines.choice = CHOOSE_UPROBE;
	cr_expect_str_eq(list(), "pd");
	engines.choice = CHOOSE_PTRACE;
	cr_expect_str_eq(list(), "d");
}
