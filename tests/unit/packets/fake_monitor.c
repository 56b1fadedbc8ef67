/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/packets/fake_monitor.h"

#include <errno.h>
#include <string.h>

#include "gdbstub/rsp/frame.h"
#include "gdbstub/base/log.h"
#include "gdbstub/packets/monitor_commands.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"
#include "gdbstub/breakpoints/choice.h"
#include "gdbstub/breakpoints/until_state.h"
#include "gdbstub/monitor/engine_json.h"
#include "gdbstub/monitor/explain.h"
#include "gdbstub/monitor/explain_json.h"
#include "gdbstub/client/live_stats.h"
#include "gdbstub/monitor/location_json.h"
#include "gdbstub/monitor/stats.h"
#include "gdbstub/locations/ignore.h"
#include "gdbstub/hits/last_hit.h"
#include "gdbstub/locations/location_name.h"
#include "gdbstub/monitor/breakpoint_table.h"
#include "gdbstub/breakpoints/slots.h"

struct fake_monitor fake = {.client = {.run = &fake.run}};

/* Who a command calls. */
struct inferior *client_inferior(struct client *of)
{
	return TAILQ_FIRST(&of->run->inferiors.list);
}

struct thread *client_thread(struct client *of)
{
	(void)of;
	return NULL;
}

void console_show(struct client *of, const char *text, size_t len)
{
	(void)of;
	buffer_append(&fake.console, text, len);
}

void breakpoints_print(struct inferiors *of, bool all, struct buffer *out)
{
	cr_assert_eq(of, &fake.run.inferiors);
	buffer_append_string(out, all ? "the whole table\n" : "the table\n");
	for (size_t i = 0; i < fake.table_size; i++)
		buffer_append_char(out, 'x');
}

void breakpoints_print_json(struct inferiors *of, bool all, struct buffer *out)
{
	cr_assert_eq(of, &fake.run.inferiors);
	buffer_append_string(out, all ? "[\"all\"]\n" : "[]\n");
}

void breakpoints_reset_counts(struct breakpoints *of)
{
	cr_assert_eq(of, &fake.breakpoints);
	fake.resets++;
}

/* The only location is "2", in a function with blanks in its name. */
struct error *location_named(struct inferior *of, const char *text,
			     struct location **ret)
{
	static struct location location = {.shown_number = 2};

	cr_assert_eq(of, &fake.inferior);
	*ret = &location;
	return strcmp(text, "2") == 0 || strcmp(text, "f(int, bpf)") == 0
		       ? NULL
		       : error_create(0, "no location %s", text);
}

enum explain_part explain_part_named(const char *word)
{
	return strcmp(word, "bpf") == 0 ? EXPLAIN_BPF : EXPLAIN_PAGE;
}

struct error *location_explain(struct location *location, enum explain_part part,
			       struct buffer *out)
{
	buffer_printf(out, "%s %d\n", part == EXPLAIN_BPF ? "program of" : "about",
		      location->shown_number);
	return NULL;
}

void stats_name(struct inferiors *of)
{
	cr_assert_eq(of, &fake.run.inferiors);
	fake.named++;
}

void stats_print(struct inferiors *of, struct buffer *out)
{
	cr_assert_eq(of, &fake.run.inferiors);
	cr_assert_eq(fake.named, 1, "names are found out before");
	fake.named = 0;
	buffer_append_string(out, "the stats\n");
}

void stats_print_json(struct inferiors *of, struct buffer *out)
{
	stats_print(of, out);
}

void live_stats_set(struct client *of, int interval)
{
	cr_assert_eq(of, &fake.client);
	of->session.stats_interval = interval;
}

void location_explain_json(struct location *location, struct buffer *out)
{
	buffer_printf(out, "[%d]\n", location->shown_number);
}

struct error *ignore_next(struct inferior *of, const char *args, struct buffer *out)
{
	cr_assert_eq(of, &fake.inferior);
	buffer_printf(out, "ignore <%s>\n", args);
	return NULL;
}

struct error *ignore_all_but(struct inferior *of, const char *args, struct buffer *out)
{
	cr_assert_eq(of, &fake.inferior);
	buffer_printf(out, "until-hit <%s>\n", args);
	return NULL;
}

struct error *until_state(struct inferior *of, const char *args, struct buffer *out)
{
	cr_assert_eq(of, &fake.inferior);
	cr_assert(fake.paused, "breakpoints change while nothing runs");
	buffer_printf(out, "until-state <%s>\n", args);
	return NULL;
}

void run_pause(struct run *of)
{
	cr_assert_eq(of, fake.client.run);
	fake.paused = true;
}

struct error *run_unpause(struct run *of, struct error *error)
{
	cr_assert_eq(of, fake.client.run);
	fake.paused = false;
	return error;
}

struct error *ignore_all(struct inferior *of, const char *args, struct buffer *out)
{
	cr_assert_eq(of, &fake.inferior);
	buffer_printf(out, "count <%s>\n", args);
	return NULL;
}

void engines_print(const struct engines *engines, struct buffer *out)
{
	cr_assert_eq(engines, &fake.client.run->engines);
	buffer_append_string(out, "the engines\n");
}

void engines_print_json(const struct engines *engines,
			const struct inferiors *inferiors, struct buffer *out)
{
	cr_assert_eq(engines, &fake.client.run->engines);
	cr_assert_eq(inferiors, &fake.client.run->inferiors);
	buffer_append_string(out, "[\"engines\"]\n");
}

void slots_print(const struct breakpoints *of, struct buffer *out)
{
	cr_assert_eq(of, &fake.breakpoints);
	buffer_append_string(out, "the slots\n");
}

void engines_set_watch_kernel(struct engines *engines, bool on)
{
	engines->engine[0].watch_kernel = on;
}

int choice_parse(const char *name, enum engine_choice *ret)
{
	if (strcmp(name, "uprobe") != 0)
		return -EINVAL;
	*ret = CHOOSE_UPROBE;
	return 0;
}

struct error *last_hit_print(struct inferior *of, bool all, struct buffer *out)
{
	cr_assert_eq(of, &fake.inferior);
	buffer_printf(out, "last hit%s\n", all ? "s of all" : "");
	return NULL;
}

struct error *monitor_accesses(struct client *of, const char *args, struct buffer *out)
{
	cr_assert_eq(of, &fake.client);
	buffer_printf(out, "accesses <%s>\n", args);
	return NULL;
}

void fake_begin(void)
{
	TAILQ_INIT(&fake.client.run->inferiors.list);
	fake.inferior.breakpoints = &fake.breakpoints;
	TAILQ_INSERT_TAIL(&fake.client.run->inferiors.list, &fake.inferior, link);
}

void fake_end(void)
{
	buffer_deinit(&fake.console);
}

void fake_type(const char *line, struct buffer *text)
{
	_cleanup_buffer_ struct buffer hex = {0}, reply = {0};
	struct cursor args;
	char *decoded;

	buffer_reset(text);
	buffer_reset(&fake.console);
	buffer_append_hex(&hex, line, strlen(line));
	args = (struct cursor){buffer_string(&hex), buffer_string(&hex) + hex.len};
	cr_assert_null(packet_qRcmd(&fake.client, &args, &reply));
	cr_assert_leq(reply.len, RSP_PACKET_SIZE);
	if (strcmp(buffer_string(&reply), "OK") == 0 ||
	    strcmp(buffer_string(&reply), "E01") == 0) {
		buffer_append_string(text, reply.data);
		return;
	}
	decoded = cursor_hex_string((struct cursor){reply.data, reply.data + reply.len},
				    NULL);
	cr_assert_not_null(decoded, "%s", reply.data);
	buffer_append_string(text, decoded);
	free(decoded);
}
