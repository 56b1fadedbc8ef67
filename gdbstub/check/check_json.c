/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/check/check_json.h"

#include <string.h>

#include "gdbstub/base/json_writer.h"
#include "gdbstub/check/advice.h"
#include "gdbstub/check/machine_facts.h"

/* ---- facts ---- */

static void write_words(struct json *json, const char *name, const char *words)
{
	json_open(json, name, '[');
	while (*words != '\0') {
		const size_t len = strcspn(words, " ");
		_cleanup_buffer_ struct buffer word = {0};

		buffer_append(&word, words, len);
		json_text(json, NULL, buffer_string(&word));
		words += len + (words[len] == ' ');
	}
	json_close(json, ']');
}

static void write_fact(struct json *json, const char *name,
		       const struct fact_value *value)
{
	switch (value->kind) {
	case FACT_UNKNOWN:
		json_text(json, name, NULL);
		break;
	case FACT_TEXT:
		json_text(json, name, buffer_string(&value->text));
		break;
	case FACT_NUMBER:
		json_number(json, name, value->number);
		break;
	case FACT_BOOL:
		json_bool(json, name, value->number);
		break;
	case FACT_WORDS:
		write_words(json, name, buffer_string(&value->text));
		break;
	}
}

static void write_facts(struct json *json, const struct findings *findings,
			enum fact_group group)
{
	unsigned int count;
	const struct fact *all = facts(&count);

	json_open(json, fact_group_name(group), '{');
	for (unsigned int i = 0; i < count; i++) {
		struct fact_value value _cleanup_fact_ = {0};

		if (all[i].group != group)
			continue;
		all[i].tell(findings, &value);
		write_fact(json, all[i].name, &value);
	}
	json_close(json, '}');
}

/* ---- hardware ---- */

static void write_slots(struct json *json, const struct findings *findings)
{
	json_open(json, "hardware_slots", '[');
	for (unsigned int i = 0; i < findings->pools; i++) {
		json_open(json, NULL, '{');
		json_text(json, "kinds", findings->pool[i].kinds);
		json_number(json, "count", (long)findings->pool[i].total);
		if (findings->pool[i].free >= 0)
			json_number(json, "free", findings->pool[i].free);
		else
			json_text(json, "free", NULL);
		json_bool(json, "usable", !findings->no_slots);
		json_text(json, "why_not", findings->no_slots);
		json_close(json, '}');
	}
	json_close(json, ']');
}

/* ---- ways ---- */

static void write_ways(struct json *json, const struct findings *findings)
{
	json_open(json, "engines", '[');
	for (unsigned int i = 0; i < FOUND_WAYS; i++) {
		const struct way_finding *way = &findings->way[i];

		json_open(json, NULL, '{');
		json_text(json, "name", way->name);
		json_bool(json, "usable", !way->unusable);
		json_error(json, "why_not", way->unusable);
		json_text(json, "decides", way->decides);
		json_tenths(json, "false_hit_ns", way->false_hit_ns);
		json_tenths(json, "stepped_false_hit_ns", way->stepped_ns);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_deciders(struct json *json, const struct findings *findings)
{
	const bool hardware = findings_has(findings, FOUND_PERF_EVENT);

	json_open(json, "breakpoints", '[');
	if (findings_has(findings, FOUND_PAD))
		json_text(json, NULL, "program");
	if (findings_kernel_decides(findings))
		json_text(json, NULL, "kernel");
	if (findings_has(findings, FOUND_INT3))
		json_text(json, NULL, "server");
	json_close(json, ']');
	json_text(json, "hardware_breakpoints",
		  hardware				   ? "kernel"
		  : findings_has(findings, FOUND_DEBUGREG) ? "server"
							   : NULL);
}

static void write_advice(struct json *json, const struct findings *findings)
{
	_cleanup_buffer_ struct buffer line = {0};
	struct advice advice;

	json_open(json, "advice", '[');
	for (unsigned int i = 0; advice_find(findings, i, &line, &advice); i++) {
		json_open(json, NULL, '{');
		json_text(json, "name", advice.name);
		json_text(json, "line", advice.line);
		json_text(json, "where", advice.where);
		json_text(json, "gain", advice.gain);
		json_close(json, '}');
	}
	json_close(json, ']');
}

void check_print_json(const struct findings *findings, int exit_status,
		      struct buffer *out)
{
	struct json json = {out, true};

	json_open(&json, NULL, '{');
	json_text(&json, "version", PACKAGE_VERSION);
	for (int i = 0; i < FACT_GROUPS; i++)
		write_facts(&json, findings, (enum fact_group)i);
	write_slots(&json, findings);
	counters_write(&json, findings->count, &findings->until_count);
	write_ways(&json, findings);
	write_deciders(&json, findings);
	write_advice(&json, findings);
	json_number(&json, "exit_status", exit_status);
	json_close(&json, '}');
	buffer_append_char(out, '\n');
}
