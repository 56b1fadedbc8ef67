/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/monitor/explain.h"

#include <string.h>

#include <inttypes.h>

#include "gdbstub/agent/print.h"
#include "gdbstub/symbols/symbols.h"
#include "gdbstub/locations/ignore.h"
#include "gdbstub/breakpoints/choice.h"
#include "gdbstub/text/trap.h"
#include "gdbstub/text/trap_inspection.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/breakpoints/slots.h"
#include "gdbstub/breakpoints/watch.h"

enum { TEXT_MAX = 1000 }; /* bytes of an expression; the bytecode tells the rest */

/* ---- what and where ---- */

static void explain_place(const struct location *location, struct buffer *out)
{
	struct symbols *symbols = symbols_create(location->inferior);
	_cleanup_buffer_ struct buffer symbol = {0};

	symbols_print(symbols, location->addr, &symbol);
	symbols_destroy(symbols);
	buffer_printf(out, "Location %d: %s *0x%" PRIx64, location->shown_number,
		      breakpoint_type_name(location->type), location->addr);
	if (location->type > BREAKPOINT_HARDWARE)
		buffer_printf(out, ", %u byte%s", location->len,
			      location->len == 1 ? "" : "s");
	if (symbol.len > 0)
		buffer_printf(out, ", %s", buffer_string(&symbol));
	buffer_printf(out, " (process %d)\n", (int)location->inferior->pid);
}

static void explain_counts(const struct location *location, struct buffer *out)
{
	struct hit_counts counts = location_count(location);

	buffer_append_string(out, "  hits:        ");
	buffer_append_count(out, counts.hits);
	buffer_append_string(out, ", ");
	buffer_append_count(out, counts.trues);
	buffer_append_string(out, " of them true; left to the stub: ");
	buffer_append_count(out, counts.maybes);
	buffer_append_char(out, '\n');
}

static void explain_fate(const struct location *location, struct buffer *out)
{
	_cleanup_buffer_ struct buffer text = {0};

	location_print_fate(location, &text);
	if (text.len > 0)
		buffer_printf(out, "  text:        %s\n", buffer_string(&text));
}

/* What monitor ignore and monitor count have asked for. */
static void explain_ignored(struct location *location, struct buffer *out)
{
	const struct gate *gate = ignore_gate(location);
	int64_t left = gate_left(gate);

	if (left == 0 && !gate->single && gate->ignored == 0)
		return;
	buffer_append_string(out, "  ignored:     ");
	buffer_append_count(out, gate->ignored);
	buffer_append_string(out, " true ones so far");
	if (left == GATE_ENDLESS) {
		buffer_append_string(out, ", and all that come");
	} else if (gate->single) {
		buffer_append_string(out, ", and all that come but hit ");
		buffer_append_count(out, (uint64_t)left + 1);
	} else if (left > 0) {
		buffer_append_string(out, ", and the next ");
		buffer_append_count(out, (uint64_t)left);
	}
	buffer_append_char(out, '\n');
}

static void explain_filter(const struct location *location, struct buffer *out)
{
	if (watch_compares(location))
		buffer_append_string(out,
				     "  value filter: hits that leave the value as it "
				     "was are false\n");
}

/* ---- the engine ---- */

/* Who has what the location would like to have. */
static void explain_slots(const struct location *location, struct buffer *out)
{
	_cleanup_buffer_ struct buffer users = {0};

	slots_print_users(location, &users);
	if (users.len > 0)
		buffer_printf(out, "  slots:       used by %s; disable or delete one\n",
			      buffer_string(&users));
}

/* One that is preferred for its filter is listed a second time, where it would be
 * without. */
static bool is_listed(const struct engine *engine, const struct engines *engines,
		      const int *choices, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (engine == &engines->engine[choices[i]])
			return true;
	return false;
}

/* Why engines that would be preferred do not serve: the same reason once. */
static void explain_unusable(const struct location *location, struct buffer *out)
{
	const struct engines *engines = location->inferior->breakpoints->engines;
	int choices[NENGINES];
	unsigned int n = choice_list(engines, location, choices);
	const char *said = "";

	for (unsigned int i = 0; i < n; i++) {
		const struct engine *engine = &engines->engine[choices[i]];

		if (engine == location->engine &&
		    !is_listed(engine, engines, choices + i + 1, n - i - 1))
			return;
		if (!engine->unusable || !strcmp(said, error_text(engine->unusable)))
			continue;
		said = error_text(engine->unusable);
		buffer_printf(out, "  why:         %s is not usable: %s\n",
			      engine->ops->name, said);
	}
}

/* Where the choice is by costs. */
static void explain_costs(const struct location *location, struct buffer *out)
{
	_cleanup_buffer_ struct buffer costs = {0};

	if (location->type != BREAKPOINT_SOFTWARE || choice_keeps_out(location) ||
	    location->engine->ops->own_traps)
		return;
	choice_print_costs(location->inferior->breakpoints->engines, location, &costs);
	if (costs.len > 0)
		buffer_printf(out, "  costs:       %s\n", buffer_string(&costs));
}

/* Of one that stops at every hit. */
static const char *why_in_text(const struct location *location)
{
	const char *keeps_out = choice_keeps_out(location);

	if (!keeps_out || location->engine->ops->own_traps)
		return keeps_out;
	if (location->inferior->attached)
		return "the program was attached to: nothing would stay behind in it, "
		       "should truehit be killed";
	return "other uprobes are in the program, and traps of two kinds do not mix";
}

static void explain_why(const struct location *location, struct buffer *out)
{
	bool by_user = location->choice != CHOOSE_AUTO;
	const char *in_text = by_user ? NULL : why_in_text(location);

	if (by_user)
		buffer_printf(out, "  why:         monitor set engine %s\n",
			      choice_name(location->choice));
	if (in_text)
		buffer_printf(out, "  why:         %s\n", in_text);
	explain_unusable(location, out);
	if (location->why)
		buffer_printf(out, "  why:         %s\n", location->why);
	if (choice_restarts(location))
		buffer_printf(out, "  note:        %s\n", choice_restarts(location));
	if (location->why && !location_uses_hardware(location))
		explain_slots(location, out);
	explain_costs(location, out);
}

static void explain_engine(const struct location *location, struct buffer *out)
{
	const struct engine *engine = location->engine;

	if (location->state == LOCATION_OUT) {
		buffer_append_string(out, "  engine:      none; it is not in place\n");
		return;
	}
	buffer_printf(out, "  engine:      %s: %s\n", engine->ops->name,
		      engine->ops->title);
	explain_why(location, out);
	buffer_append_string(out, "  decided by:  ");
	engine->ops->describe(location->engine, location, out);
	buffer_append_char(out, '\n');
}

/* ---- what the client has sent ---- */

static void explain_list(const char *title, const struct agent_list *list,
			 const struct arch_ops *arch, struct buffer *out)
{
	for (size_t i = 0; i < list->count; i++) {
		_cleanup_buffer_ struct buffer text = {0};
		size_t len;

		agent_expr_bytecode(list->exprs[i], &len);
		agent_expr_print(list->exprs[i], arch, &text);
		buffer_printf(out, "\n%s", title);
		if (list->count > 1)
			buffer_printf(out, " %zu of %zu", i + 1, list->count);
		buffer_printf(out, ": %.*s%s\n", TEXT_MAX, buffer_string(&text),
			      text.len > TEXT_MAX ? "..." : "");
		buffer_printf(out, "  bytecode, %zu bytes:\n", len);
		agent_expr_disassemble(list->exprs[i], arch, out);
	}
}

/* gdb sends no condition of a watchpoint, and none that it cannot compile. */
static void explain_no_condition(const struct location *location, struct buffer *out)
{
	buffer_append_string(out, "\nCondition: gdb sent no condition\n");
	if (location->type > BREAKPOINT_HARDWARE)
		buffer_append_string(
			out, "  Those of watchpoints it evaluates itself; its "
			     "extension, truehit-gdb.py, hands\n  them over.\n");
	else
		buffer_append_string(
			out,
			"  If you have set one, gdb evaluates it at each hit: it "
			"cannot translate all of them\n  (character literals, "
			"$_thread, floating point, calls, strings), and does not "
			"after 'set\n  breakpoint condition-evaluation host', nor "
			"where another breakpoint at this address\n  has none. Its "
			"extension, truehit-gdb.py, tells why, and translates "
			"more.\n");
}

static void explain_lists(const struct location *location, struct buffer *out)
{
	const struct arch_ops *arch = location->inferior->arch;

	if (location->conditions.count == 0)
		explain_no_condition(location, out);
	explain_list("Condition", &location->conditions, arch, out);
	explain_list("Command", &location->commands.list, arch, out);
}

/* ---- what is decided where ---- */

static void explain_stub(const struct location *location, struct buffer *out)
{
	buffer_append_string(out, "\nLeft to the stub:\n");
	if (location->conditions.count == 0 && location->commands.list.count == 0 &&
	    !watch_compares(location)) {
		buffer_append_string(out, "  nothing: each hit is a stop\n");
		return;
	}
	buffer_printf(out, "  every hit%s: the thread stops, and the stub %s\n",
		      location->trap && trap_is_jump(location)
			      ? " of the trap in its pad"
			      : "",
		      location->conditions.count > 0 ? "evaluates the condition"
		      : watch_compares(location)     ? "compares the value"
						     : "runs the commands");
}

static void explain_decisions(const struct location *location, struct buffer *out)
{
	if (location->state == LOCATION_OUT)
		return;
	if (!location->engine->ops->explain || location->engine->ops->own_traps)
		explain_stub(location, out);
	if (location->engine->ops->explain)
		location->engine->ops->explain(location->engine, location, out);
}

void location_explain(struct location *location, struct buffer *out)
{
	explain_place(location, out);
	explain_engine(location, out);
	explain_fate(location, out);
	explain_counts(location, out);
	explain_filter(location, out);
	explain_ignored(location, out);
	explain_lists(location, out);
	explain_decisions(location, out);
}
