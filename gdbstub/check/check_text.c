/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/check/check_text.h"

#include <string.h>

#include "gdbstub/check/advice.h"
#include "gdbstub/check/machine_facts.h"
#include "gdbstub/locations/hit_costs.h"

enum { TITLE_WIDTH = 33, NAME_WIDTH = 10 };

struct style {
	const char *head, *good, *bad, *end;
};

static const struct style plain = {"", "", "", ""};
static const struct style coloured = {"\033[1m", "\033[32m", "\033[31m", "\033[0m"};

static void print_head(const struct style *style, const char *text, struct buffer *out)
{
	buffer_printf(out, "%s%s%s%s\n", out->len > 0 ? "\n" : "", style->head, text,
		      style->end);
}

/* "6.3 us", "2.1 ns" */
static void print_ns(double ns, struct buffer *out)
{
	if (ns < 0)
		buffer_append_string(out, "an unknown time");
	else if (ns < 100)
		buffer_printf(out, "%.1f ns", ns);
	else
		hit_costs_append((unsigned int)ns, out);
}

/* ---- facts ---- */

static void print_value(const struct fact_value *value, struct buffer *out)
{
	switch (value->kind) {
	case FACT_NUMBER:
		buffer_printf(out, "%ld", value->number);
		break;
	case FACT_BOOL:
		buffer_append_string(out, value->number ? "yes" : "no");
		break;
	case FACT_TEXT:
	case FACT_WORDS:
		buffer_append_string(out, value->text.len > 0
						  ? buffer_string(&value->text)
						  : "none");
		break;
	case FACT_UNKNOWN:
		buffer_append_string(out, "-");
	}
	if (value->note)
		buffer_printf(out, " (%s)", value->note);
}

static void print_facts(const struct findings *findings, enum fact_group group,
			struct buffer *out)
{
	unsigned int count;
	const struct fact *all = facts(&count);

	for (unsigned int i = 0; i < count; i++) {
		struct fact_value value _cleanup_fact_ = {0};

		if (all[i].group != group)
			continue;
		all[i].tell(findings, &value);
		buffer_printf(out, "  %-*s", TITLE_WIDTH, all[i].title);
		print_value(&value, out);
		buffer_append_char(out, '\n');
	}
}

/* ---- hardware ---- */

static void print_pools(const struct findings *findings, struct buffer *out)
{
	for (unsigned int i = 0; i < findings->pools; i++) {
		const bool all = strcmp(findings->pool[i].kinds, "all") == 0;
		_cleanup_buffer_ struct buffer title = {0};

		buffer_printf(&title, "slots%s%s", all ? "" : " of ",
			      all ? "" : findings->pool[i].kinds);
		buffer_printf(out, "  %-*s%u", TITLE_WIDTH, buffer_string(&title),
			      findings->pool[i].total);
		if (findings->no_slots)
			buffer_printf(out, ", none usable: %s", findings->no_slots);
		else if (findings->pool[i].free >= 0)
			buffer_printf(out, ", %d free", findings->pool[i].free);
		buffer_append_char(out, '\n');
	}
}

static void print_counters(const struct findings *findings, struct buffer *out)
{
	struct counter_findings until_count = findings->until_count;
	_cleanup_buffer_ struct buffer lines = {0};
	const char *line;
	size_t len;

	counters_print(findings->count, &until_count, &lines);
	for (line = buffer_string(&lines); *line != '\0'; line += len + 1) {
		const size_t name = strcspn(line, ":");

		len = strcspn(line, "\n");
		buffer_printf(out, "  %-*.*s%.*s\n", TITLE_WIDTH, (int)name, line,
			      (int)(len - name - 2), line + name + 2);
	}
}

/* ---- ways ---- */

static void print_way(const struct way_finding *way, const struct style *style,
		      struct buffer *out)
{
	buffer_printf(out, "  %-*s  %s\n  %-*s  %s%s%s", NAME_WIDTH, way->name,
		      way->title, NAME_WIDTH, "",
		      way->unusable ? style->bad : style->good,
		      way->unusable ? "not usable" : "usable", style->end);
	if (way->unusable) {
		buffer_printf(out, ": %s\n", error_text(way->unusable));
		return;
	}
	buffer_append_string(out, ", a false hit costs ");
	print_ns(way->false_hit_ns, out);
	buffer_append_char(out, '\n');
	if (way->found.len > 0)
		buffer_printf(out, "  %-*s  %s\n", NAME_WIDTH, "",
			      buffer_string(&way->found));
}

/* ---- what comes of it ---- */

/* "the kernel (0.6 us a false hit)" */
static void print_decider(const struct way_finding *way, struct buffer *out)
{
	buffer_printf(out, "the %s (", way->decides);
	print_ns(way->false_hit_ns, out);
	buffer_append_string(out, " a false hit)");
}

static const struct way_finding *find_first(const struct findings *findings,
					    const enum found_way *ways,
					    unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (findings_has(findings, ways[i]))
			return &findings->way[ways[i]];
	return NULL;
}

static void print_breakpoints(const struct findings *findings,
			      const struct style *style, struct buffer *out)
{
	static const enum found_way after_pads[] = {FOUND_UPROBE, FOUND_PERF_EVENT,
						    FOUND_INT3};
	const bool in_pads = findings_has(findings, FOUND_PAD);
	const struct way_finding *way = find_first(findings, after_pads, 3);

	buffer_printf(out, "  %-*s%s", TITLE_WIDTH, "conditions of breakpoints",
		      in_pads || findings_kernel_decides(findings) ? style->good
								   : style->bad);
	if (in_pads) {
		print_decider(&findings->way[FOUND_PAD], out);
		buffer_append_string(out, way ? ", else " : "");
	}
	if (way)
		print_decider(way, out);
	if (!way && !in_pads)
		buffer_append_string(out, "no breakpoints");
	buffer_printf(out, "%s\n", style->end);
}

static void print_hardware(const struct findings *findings, const struct style *style,
			   struct buffer *out)
{
	static const enum found_way ways[] = {FOUND_PERF_EVENT, FOUND_DEBUGREG};
	const struct way_finding *way = find_first(findings, ways, 2);

	buffer_printf(out, "  %-*s%s", TITLE_WIDTH, "... of hbreak and watchpoints",
		      findings_has(findings, FOUND_PERF_EVENT) ? style->good
							       : style->bad);
	if (way)
		print_decider(way, out);
	else
		buffer_append_string(out, "there are none of these");
	buffer_printf(out, "%s\n", style->end);
}

static void print_advice(const struct findings *findings, const struct style *style,
			 struct buffer *out)
{
	_cleanup_buffer_ struct buffer line = {0};
	struct advice advice;

	for (unsigned int i = 0; advice_find(findings, i, &line, &advice); i++) {
		if (i == 0)
			print_head(style, "What would help", out);
		buffer_printf(out, "  %s%s%s\n      %s: %s\n", style->head, advice.line,
			      style->end, advice.where, advice.gain);
	}
}

void check_print_text(const struct findings *findings, bool colours, struct buffer *out)
{
	const struct style *style = colours ? &coloured : &plain;

	print_head(style, "Machine", out);
	print_facts(findings, FACT_MACHINE, out);
	print_pools(findings, out);
	print_head(style, "User", out);
	print_facts(findings, FACT_USER, out);
	print_head(style, "Counters of the processor", out);
	print_counters(findings, out);
	print_head(style, "Ways to decide about a hit", out);
	for (unsigned int i = 0; i < FOUND_WAYS; i++)
		print_way(&findings->way[i], style, out);
	print_head(style, "Who decides", out);
	print_breakpoints(findings, style, out);
	print_hardware(findings, style, out);
	print_advice(findings, style, out);
}
