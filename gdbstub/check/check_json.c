/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/check/check_json.h"

#include <string.h>

#include "gdbstub/check/advice.h"
#include "gdbstub/check/machine_facts.h"
#include "gdbstub/control/counter.h"
#include "gdbstub/control/retired_event.h"

/* Within an object or an array: what comes next is the first of it or not. */
struct writer {
	struct buffer *out;
	bool first;
};

/* ---- writing ---- */

static void begin_value(struct writer *writer, const char *name)
{
	buffer_append_string(writer->out, writer->first ? "" : ", ");
	writer->first = false;
	if (!name)
		return;
	buffer_append_json(writer->out, name);
	buffer_append_string(writer->out, ": ");
}

/* @name: NULL in an array. @bracket: '{' or '['. */
static void open_value(struct writer *writer, const char *name, char bracket)
{
	begin_value(writer, name);
	buffer_append_char(writer->out, bracket);
	writer->first = true;
}

static void close_value(struct writer *writer, char bracket)
{
	buffer_append_char(writer->out, bracket);
	writer->first = false;
}

/* @text: NULL is null. */
static void write_text(struct writer *writer, const char *name, const char *text)
{
	begin_value(writer, name);
	if (text)
		buffer_append_json(writer->out, text);
	else
		buffer_append_string(writer->out, "null");
}

static void write_bool(struct writer *writer, const char *name, bool value)
{
	begin_value(writer, name);
	buffer_append_string(writer->out, value ? "true" : "false");
}

static void write_number(struct writer *writer, const char *name, long number)
{
	begin_value(writer, name);
	buffer_printf(writer->out, "%ld", number);
}

/* Negative: not known. Whole ones and tenths, as printf's %f is the locale's. */
static void write_ns(struct writer *writer, const char *name, double ns)
{
	const long tenths = (long)(ns * 10 + 0.5);

	begin_value(writer, name);
	if (ns < 0)
		buffer_append_string(writer->out, "null");
	else
		buffer_printf(writer->out, "%ld.%ld", tenths / 10, tenths % 10);
}

static void write_error(struct writer *writer, const char *name,
			const struct error *error)
{
	write_text(writer, name, error ? error_text(error) : NULL);
}

/* ---- facts ---- */

static void write_words(struct writer *writer, const char *name, const char *words)
{
	open_value(writer, name, '[');
	while (*words != '\0') {
		const size_t len = strcspn(words, " ");
		_cleanup_buffer_ struct buffer word = {0};

		buffer_append(&word, words, len);
		write_text(writer, NULL, buffer_string(&word));
		words += len + (words[len] == ' ');
	}
	close_value(writer, ']');
}

static void write_fact(struct writer *writer, const char *name,
		       const struct fact_value *value)
{
	switch (value->kind) {
	case FACT_UNKNOWN:
		write_text(writer, name, NULL);
		break;
	case FACT_TEXT:
		write_text(writer, name, buffer_string(&value->text));
		break;
	case FACT_NUMBER:
		write_number(writer, name, value->number);
		break;
	case FACT_BOOL:
		write_bool(writer, name, value->number);
		break;
	case FACT_WORDS:
		write_words(writer, name, buffer_string(&value->text));
		break;
	}
}

static void write_facts(struct writer *writer, const struct findings *findings,
			enum fact_group group)
{
	unsigned int count;
	const struct fact *all = facts(&count);

	open_value(writer, fact_group_name(group), '{');
	for (unsigned int i = 0; i < count; i++) {
		struct fact_value value _cleanup_fact_ = {0};

		if (all[i].group != group)
			continue;
		all[i].tell(findings, &value);
		write_fact(writer, all[i].name, &value);
	}
	close_value(writer, '}');
}

/* ---- hardware ---- */

static void write_slots(struct writer *writer, const struct findings *findings)
{
	open_value(writer, "hardware_slots", '[');
	for (unsigned int i = 0; i < findings->pools; i++) {
		open_value(writer, NULL, '{');
		write_text(writer, "kinds", findings->pool[i].kinds);
		write_number(writer, "count", (long)findings->pool[i].total);
		if (findings->pool[i].free >= 0)
			write_number(writer, "free", findings->pool[i].free);
		else
			write_text(writer, "free", NULL);
		write_bool(writer, "usable", !findings->no_slots);
		write_text(writer, "why_not", findings->no_slots);
		close_value(writer, '}');
	}
	close_value(writer, ']');
}

static void write_count(struct writer *writer, const struct event_count *count)
{
	open_value(writer, NULL, '{');
	write_text(writer, "event", count->name);
	write_bool(writer, "usable",
		   count->verdict != COUNT_REFUSED && count->verdict != COUNT_TOO_FEW);
	if (count->verdict == COUNT_EXACT || count->verdict == COUNT_INEXACT)
		write_bool(writer, "exact", count->verdict == COUNT_EXACT);
	else
		write_text(writer, "exact", NULL);
	write_text(writer, "why_not",
		   count->verdict == COUNT_REFUSED ? counter_refusal(count->err)
		   : count->verdict == COUNT_TOO_FEW
			   ? "it has counted less than was executed"
			   : NULL);
	close_value(writer, '}');
}

static void write_until_count(struct writer *writer, enum retired_event event,
			      const struct counter_finding *finding)
{
	open_value(writer, NULL, '{');
	write_text(writer, "event", retired_event_name(event));
	write_bool(writer, "usable", finding->usable);
	write_text(writer, "why_not", finding->usable ? NULL : finding->why_not);
	close_value(writer, '}');
}

static void write_counters(struct writer *writer, const struct findings *findings)
{
	open_value(writer, "counters", '[');
	for (unsigned int i = 0; i < EVENT_COUNTS; i++)
		write_count(writer, &findings->count[i]);
	close_value(writer, ']');
	open_value(writer, "until_count", '[');
	for (unsigned int i = 0; i < RETIRED_EVENTS; i++)
		write_until_count(writer, (enum retired_event)i,
				  &findings->until_count.of[i]);
	close_value(writer, ']');
}

/* ---- ways ---- */

static void write_ways(struct writer *writer, const struct findings *findings)
{
	open_value(writer, "engines", '[');
	for (unsigned int i = 0; i < FOUND_WAYS; i++) {
		const struct way_finding *way = &findings->way[i];

		open_value(writer, NULL, '{');
		write_text(writer, "name", way->name);
		write_bool(writer, "usable", !way->unusable);
		write_error(writer, "why_not", way->unusable);
		write_text(writer, "decides", way->decides);
		write_ns(writer, "false_hit_ns", way->false_hit_ns);
		write_ns(writer, "stepped_false_hit_ns", way->stepped_ns);
		close_value(writer, '}');
	}
	close_value(writer, ']');
}

static void write_deciders(struct writer *writer, const struct findings *findings)
{
	const bool hardware = findings_has(findings, FOUND_PERF_EVENT);

	open_value(writer, "breakpoints", '[');
	if (findings_has(findings, FOUND_PAD))
		write_text(writer, NULL, "program");
	if (findings_kernel_decides(findings))
		write_text(writer, NULL, "kernel");
	if (findings_has(findings, FOUND_INT3))
		write_text(writer, NULL, "server");
	close_value(writer, ']');
	write_text(writer, "hardware_breakpoints",
		   hardware				    ? "kernel"
		   : findings_has(findings, FOUND_DEBUGREG) ? "server"
							    : NULL);
}

static void write_advice(struct writer *writer, const struct findings *findings)
{
	_cleanup_buffer_ struct buffer line = {0};
	struct advice advice;

	open_value(writer, "advice", '[');
	for (unsigned int i = 0; advice_find(findings, i, &line, &advice); i++) {
		open_value(writer, NULL, '{');
		write_text(writer, "name", advice.name);
		write_text(writer, "line", advice.line);
		write_text(writer, "where", advice.where);
		write_text(writer, "gain", advice.gain);
		close_value(writer, '}');
	}
	close_value(writer, ']');
}

void check_print_json(const struct findings *findings, int exit_status,
		      struct buffer *out)
{
	struct writer writer = {out, true};

	open_value(&writer, NULL, '{');
	write_text(&writer, "version", PACKAGE_VERSION);
	for (int i = 0; i < FACT_GROUPS; i++)
		write_facts(&writer, findings, (enum fact_group)i);
	write_slots(&writer, findings);
	write_counters(&writer, findings);
	write_ways(&writer, findings);
	write_deciders(&writer, findings);
	write_advice(&writer, findings);
	write_number(&writer, "exit_status", exit_status);
	close_value(&writer, '}');
	buffer_append_char(out, '\n');
}
