/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/monitor/explain.h"

#include <string.h>

#include <inttypes.h>

#include "gdbstub/agent/print.h"
#include "gdbstub/agent/scope.h"
#include "gdbstub/symbols/symbols.h"
#include "gdbstub/locations/ignore.h"
#include "bpf/shared/left_over.h"
#include "gdbstub/monitor/cost.h"
#include "gdbstub/monitor/why.h"
#include "gdbstub/pads/location_pad.h"
#include "gdbstub/text/trap.h"
#include "gdbstub/text/trap_inspection.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/breakpoints/watch.h"

enum { TEXT_MAX = 1000 }; /* bytes of an expression; the bytecode tells the rest */

static const char *const part_names[EXPLAIN_PARTS] = {
	[EXPLAIN_BYTECODE] = "bytecode",
	[EXPLAIN_BPF] = "bpf",
	[EXPLAIN_PAD] = "pad",
};

enum explain_part explain_part_named(const char *word)
{
	for (int i = 0; i < EXPLAIN_PARTS; i++)
		if (part_names[i] && strcmp(word, part_names[i]) == 0)
			return (enum explain_part)i;
	return EXPLAIN_PAGE;
}

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

/* "  why:         ..." */
static void explain_why(void *out, enum why_kind kind, const char *text)
{
	static const char *const titles[] = {
		[WHY_SERVED] = "why:  ", [WHY_NOTE] = "note: ", [WHY_SLOTS] = "slots:"};

	buffer_printf(out, "  %s       %s\n", titles[kind], text);
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
	why_each(location, explain_why, out);
	buffer_append_string(out, "  decided by:  ");
	engine->ops->describe(location->engine, location, out);
	buffer_append_char(out, '\n');
	cost_tell(location, out);
}

/* ---- what the client has sent ---- */

/* In which function a condition holds, which is about the variables of one call. */
static void explain_scope(const struct location *location,
			  const struct agent_expr *expr, struct buffer *out)
{
	_cleanup_buffer_ struct buffer first = {0}, last = {0};
	struct symbols *symbols;
	struct agent_scope scope;
	size_t count;
	const struct agent_insn *insns = agent_expr_insns(expr, &count);

	if (!agent_scope_find(insns, count, &scope))
		return;
	symbols = symbols_create(location->inferior);
	symbols_print(symbols, scope.first, &first);
	symbols_print(symbols, scope.last, &last);
	symbols_destroy(symbols);
	buffer_printf(out,
		      "  It is about variables of one call, while that is at %s to %s; "
		      "what hits\n  elsewhere is gdb's to decide.\n",
		      buffer_string(&first), buffer_string(&last));
}

static void explain_list(const char *title, const struct agent_list *list,
			 const struct location *location, struct buffer *out)
{
	for (size_t i = 0; i < list->count; i++) {
		_cleanup_buffer_ struct buffer text = {0};

		agent_expr_print(list->exprs[i], location->inferior->arch, &text);
		buffer_printf(out, "\n%s", title);
		if (list->count > 1)
			buffer_printf(out, " %zu of %zu", i + 1, list->count);
		buffer_printf(out, ": %.*s%s\n", TEXT_MAX, buffer_string(&text),
			      text.len > TEXT_MAX ? "..." : "");
		explain_scope(location, list->exprs[i], out);
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
	if (location->conditions.count == 0)
		explain_no_condition(location, out);
	explain_list("Condition", &location->conditions, location, out);
	explain_list("Command", &location->commands.list, location, out);
}

/* ---- what is decided where ---- */

/* Of a location whose hits all stop. */
static void explain_stub(const struct location *location, struct buffer *out)
{
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

/* One that is left as a whole is told by its reason. */
static void explain_reason(const struct left_reason *reason, bool is_first,
			   struct buffer *out)
{
	static const char *const titles[LEFT_KINDS] = {
		[LEFT_HITS] = "hits at which",
		[LEFT_COMMANDS] = "commands at hits at which",
		[LEFT_ALL_COMMANDS] = "all commands, as one of them",
	};

	if (reason->kind == LEFT_ALL_HITS)
		buffer_printf(out, "  every hit: %s\n", reason->text);
	else if (is_first)
		buffer_printf(out, "  %s\n", titles[reason->kind]);
	if (reason->kind != LEFT_ALL_HITS)
		buffer_printf(out, "    - %s\n", reason->text);
	if (reason->advice)
		buffer_printf(out, "      %s\n", reason->advice);
}

static void explain_left_over(const struct location *location, struct buffer *out)
{
	const struct engine *engine = location->engine;
	_cleanup_left_over_ struct left_over left = {0};

	buffer_append_string(out, "\nLeft to the stub:\n");
	if (!engine->ops->left_over) {
		explain_stub(location, out);
		return;
	}
	engine->ops->left_over(location->engine, location, &left);
	if (left.count == 0)
		buffer_append_string(out, "  nothing\n");
	for (size_t i = 0; i < left.count; i++)
		explain_reason(&left.rows[i],
			       i == 0 || left.rows[i].kind != left.rows[i - 1].kind,
			       out);
}

static void explain_pad(const struct location *location, struct buffer *out)
{
	if (!location->engine->ops->pad)
		return;
	buffer_append_char(out, '\n');
	location_pad_tell(location->engine->ops->pad(location), out);
}

/* ---- the parts ---- */

static void print_bytecode(const char *title, const struct agent_list *list,
			   const struct arch_ops *arch, struct buffer *out)
{
	for (size_t i = 0; i < list->count; i++) {
		size_t len;

		agent_expr_bytecode(list->exprs[i], &len);
		buffer_append_string(out, title);
		if (list->count > 1)
			buffer_printf(out, " %zu of %zu", i + 1, list->count);
		buffer_printf(out, ", %zu bytes:\n", len);
		agent_expr_disassemble(list->exprs[i], arch, out);
	}
}

static struct error *explain_bytecode(const struct location *location,
				      struct buffer *out)
{
	const struct arch_ops *arch = location->inferior->arch;

	if (location->conditions.count == 0 && location->commands.list.count == 0)
		return error_create(0, "gdb sent no bytecode for location %d",
				    location->shown_number);
	print_bytecode("Condition", &location->conditions, arch, out);
	print_bytecode("Command", &location->commands.list, arch, out);
	return NULL;
}

static struct error *explain_bpf(const struct location *location, struct buffer *out)
{
	if (location->state == LOCATION_OUT || !location->engine->ops->print_program)
		return error_create(
			0, "location %d has no BPF program: %s", location->shown_number,
			location->state == LOCATION_OUT ? "it is not in place"
							: "hits stop their threads");
	location->engine->ops->print_program(location->engine, location, out);
	return NULL;
}

static struct error *explain_code_of_pad(const struct location *location,
					 struct buffer *out)
{
	const struct location_pad *pad = NULL;
	const char *why_none;

	if (location->state != LOCATION_OUT && location->engine->ops->pad)
		pad = location->engine->ops->pad(location);
	why_none = pad ? location_pad_why_none(pad)
		       : "no trap of a breakpoint is in place there";
	if (why_none)
		return error_create(0, "location %d has no pad: %s",
				    location->shown_number, why_none);
	location_pad_print(pad, location->inferior, out);
	return NULL;
}

static void explain_page(struct location *location, struct buffer *out)
{
	explain_engine(location, out);
	explain_fate(location, out);
	explain_counts(location, out);
	explain_filter(location, out);
	explain_ignored(location, out);
	explain_lists(location, out);
	if (location->state == LOCATION_OUT)
		return;
	explain_left_over(location, out);
	explain_pad(location, out);
}

struct error *location_explain(struct location *location, enum explain_part part,
			       struct buffer *out)
{
	if (part == EXPLAIN_BYTECODE)
		return explain_bytecode(location, out);
	if (part == EXPLAIN_BPF)
		return explain_bpf(location, out);
	if (part == EXPLAIN_PAD)
		return explain_code_of_pad(location, out);
	explain_place(location, out);
	explain_page(location, out);
	return NULL;
}
