/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <ctype.h>
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
#include "gdbstub/monitor/location_json.h"
#include "gdbstub/locations/ignore.h"
#include "gdbstub/hits/last_hit.h"
#include "gdbstub/locations/location_name.h"
#include "gdbstub/monitor/breakpoint_table.h"
#include "gdbstub/breakpoints/slots.h"

static struct run run;
static struct client client = {.run = &run};
static struct inferior inferior;
static struct breakpoints breakpoints;
static struct buffer console;
static unsigned int resets;
static size_t table_size;
static bool paused;

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
	buffer_append(&console, text, len);
}

void breakpoints_print(struct inferiors *of, bool all, struct buffer *out)
{
	cr_assert_eq(of, &run.inferiors);
	buffer_append_string(out, all ? "the whole table\n" : "the table\n");
	for (size_t i = 0; i < table_size; i++)
		buffer_append_char(out, 'x');
}

void breakpoints_print_json(struct inferiors *of, bool all, struct buffer *out)
{
	cr_assert_eq(of, &run.inferiors);
	buffer_append_string(out, all ? "[\"all\"]\n" : "[]\n");
}

void breakpoints_reset_counts(struct breakpoints *of)
{
	cr_assert_eq(of, &breakpoints);
	resets++;
}

/* The only location is "2", in a function with blanks in its name. */
struct error *location_named(struct inferior *of, const char *text,
			     struct location **ret)
{
	static struct location location = {.shown_number = 2};

	cr_assert_eq(of, &inferior);
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

void location_explain_json(struct location *location, struct buffer *out)
{
	buffer_printf(out, "[%d]\n", location->shown_number);
}

struct error *ignore_next(struct inferior *of, const char *args, struct buffer *out)
{
	cr_assert_eq(of, &inferior);
	buffer_printf(out, "ignore <%s>\n", args);
	return NULL;
}

struct error *ignore_all_but(struct inferior *of, const char *args, struct buffer *out)
{
	cr_assert_eq(of, &inferior);
	buffer_printf(out, "until-hit <%s>\n", args);
	return NULL;
}

struct error *until_state(struct inferior *of, const char *args, struct buffer *out)
{
	cr_assert_eq(of, &inferior);
	cr_assert(paused, "breakpoints change while nothing runs");
	buffer_printf(out, "until-state <%s>\n", args);
	return NULL;
}

void run_pause(struct run *of)
{
	cr_assert_eq(of, client.run);
	paused = true;
}

struct error *run_unpause(struct run *of, struct error *error)
{
	cr_assert_eq(of, client.run);
	paused = false;
	return error;
}

struct error *ignore_all(struct inferior *of, const char *args, struct buffer *out)
{
	cr_assert_eq(of, &inferior);
	buffer_printf(out, "count <%s>\n", args);
	return NULL;
}

void engines_print(const struct engines *engines, struct buffer *out)
{
	cr_assert_eq(engines, &client.run->engines);
	buffer_append_string(out, "the engines\n");
}

void engines_print_json(const struct engines *engines,
			const struct inferiors *inferiors, struct buffer *out)
{
	cr_assert_eq(engines, &client.run->engines);
	cr_assert_eq(inferiors, &client.run->inferiors);
	buffer_append_string(out, "[\"engines\"]\n");
}

void slots_print(const struct breakpoints *of, struct buffer *out)
{
	cr_assert_eq(of, &breakpoints);
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
	cr_assert_eq(of, &inferior);
	buffer_printf(out, "last hit%s\n", all ? "s of all" : "");
	return NULL;
}

struct error *monitor_accesses(struct client *of, const char *args, struct buffer *out)
{
	cr_assert_eq(of, &client);
	buffer_printf(out, "accesses <%s>\n", args);
	return NULL;
}

static void begin(void)
{
	TAILQ_INIT(&client.run->inferiors.list);
	inferior.breakpoints = &breakpoints;
	TAILQ_INSERT_TAIL(&client.run->inferiors.list, &inferior, link);
}

static void end(void)
{
	buffer_deinit(&console);
}

/* The reply to a line: "OK", "E01" or hex digits, which become text. */
static void run_line(const char *line, struct buffer *text)
{
	_cleanup_buffer_ struct buffer hex = {0}, reply = {0};
	struct cursor args;
	char *decoded;

	buffer_reset(text);
	buffer_reset(&console);
	buffer_append_hex(&hex, line, strlen(line));
	args = (struct cursor){buffer_string(&hex), buffer_string(&hex) + hex.len};
	cr_assert_null(packet_qRcmd(&client, &args, &reply));
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

#define assert_text(line, expected)                                                    \
	do {                                                                           \
		run_line(line, &text);                                                 \
		cr_assert_str_eq(buffer_string(&text), expected);                      \
		cr_assert_eq(console.len, 0);                                          \
	} while (0)

#define assert_failure(line, expected)                                                 \
	do {                                                                           \
		run_line(line, &text);                                                 \
		cr_assert_str_eq(buffer_string(&text), "E01");                         \
		cr_assert(strncmp(buffer_string(&console), expected,                   \
				  strlen(expected)) == 0,                              \
			  "%s", buffer_string(&console));                              \
	} while (0)

TestSuite(monitor, .init = begin, .fini = end);

Test(monitor, help_is_what_gdbs_test_suite_looks_for)
{
	_cleanup_buffer_ struct buffer text = {0};

	run_line("help", &text);
	cr_assert_eq(strncmp(text.data,
			     "The following monitor commands are supported:\n", 46),
		     0);
	cr_assert_not_null(strstr(text.data, "\n  exit\n    Quit GDBserver\n"));
	cr_assert_not_null(strstr(text.data, "\n  set debug <0|1|CATEGORIES>\n"));
}

Test(monitor, help_of_one_command)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("help ignore",
		    "Usage: monitor ignore <LOCATION> <N>\n"
		    "Count the next N true hits, and do nothing else.\n\n"
		    "LOCATION is as for 'explain'. 0: none is ignored any more.\n");
	assert_text(
		"help se  watch-k",
		"Usage: monitor set watch-kernel <on|off>\n"
		"Stop where a system call has written to what is watched, or do "
		"not.\n\n"
		"If the thread blocks SIGTRAP, and the call waits for more, the stop "
		"cuts it\noff.\n");
	assert_text("help reset", "Usage: monitor reset\n"
				  "Set the counts of all breakpoints to zero.\n");
	/* Its own name, though others begin so. */
	run_line("help set debug", &text);
	cr_assert_eq(strncmp(text.data, "Usage: monitor set debug <", 26), 0);
	run_line("help set", &text);
	cr_assert_eq(
		strncmp(text.data, "  set variable <NUMBER> <VALUE>\n    Set a ", 42),
		0);
	cr_assert_null(strstr(text.data, "explain"));
	cr_assert_not_null(strstr(text.data, "\n  set skid <auto|off|N>\n"));
	assert_failure("help me", "Unknown monitor command 'me'; see monitor help.\n");
	assert_failure("help reset x", "Unknown monitor command 'reset x'");
}

/* What is typed is no sentence; the help texts are lines, and begin with a verb. */
Test(monitor, help_texts_are_alike)
{
	unsigned int count;
	const struct monitor_command *commands = monitor_commands(&count);

	for (unsigned int i = 0; i < count; i++) {
		const struct monitor_command *command = &commands[i];

		cr_expect(isupper((unsigned char)command->help[0]), "%s",
			  command->name);
		cr_expect_leq(strlen(command->help), 76, "%s", command->name);
		cr_expect_null(strpbrk(command->help, "\n.:;"), "%s", command->name);
		cr_expect(!command->details ||
				  command->details[strlen(command->details) - 1] == '.',
			  "%s", command->name);
	}
}

Test(monitor, commands_reach_their_handlers)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("accesses write 0x10 8", "accesses <write 0x10 8>\n");
	assert_text("accesses", "accesses <>\n");
	assert_text("breakpoints", "the table\n");
	assert_text("breakpoints all", "the whole table\n");
	assert_failure("breakpoints some", "breakpoints takes nothing or all");
	assert_text("engines", "the engines\nthe slots\n");
	assert_text("explain 2", "about 2\n");
	assert_text("explain 2  bpf", "program of 2\n");
	assert_text("explain f(int, bpf)", "about 2\n");
	assert_text("explain f(int, bpf) bpf", "program of 2\n");
	assert_failure("explain 2 code", "no location 2 code\n");
	assert_failure("explain bpf", "no location bpf\n");
	assert_text("ignore 2 17", "ignore <2 17>\n");
	assert_text("until-hit 2 17", "until-hit <2 17>\n");
	assert_text("until-state 2 rax=1", "until-state <2 rax=1>\n");
	assert_text("stepi 17", "The next single step makes 17.\n");
	cr_assert_eq(client.session.more_steps, 16);
	assert_text("stepi", "0 steps are left.\n");
	assert_text("count  2", "count <2>\n");
	assert_text("reset", "All counts are zero.\n");
	cr_assert_eq(resets, 1);
	assert_text("  breakpoints \t\n", "the table\n");
}

Test(monitor, for_scripts)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("breakpoints --json", "[]\n");
	assert_text("b  --json all", "[\"all\"]\n");
	assert_text("breakpoints all --json ", "[\"all\"]\n");
	assert_text("engines --json", "[\"engines\"]\n");
	assert_text("explain 2 --json", "[2]\n");
	assert_text("explain f(int, bpf) --json", "[2]\n");
	assert_text("help reset --json",
		    "{\"commands\": [{\"name\": \"reset\", \"arguments\": \"\", "
		    "\"help\": \"Set the counts of all breakpoints to zero\", "
		    "\"details\": null, \"json\": false}]}\n");
	/* A failure is a document, too. */
	assert_failure("explain 3 --json", "{\"error\": \"no location 3\"}\n");
	assert_failure("explain 2 bpf --json", "{\"error\": \"no location 2 bpf\"}\n");
	assert_failure("breakpoints --json some",
		       "{\"error\": \"breakpoints takes nothing or all, not "
		       "'some'.\"}\n");
	assert_failure("reset --json", "{\"error\": \"Usage: monitor reset\"}\n");
	assert_failure("explain --json", "{\"error\": \"Usage: monitor explain "
					 "<LOCATION> [bytecode|bpf|pad] [--json]\"}");
	assert_failure("nonsense --json",
		       "{\"error\": \"Unknown monitor command.\\u000a");
	cr_assert_eq(resets, 0);
	/* It is a word. */
	assert_failure("breakpoints --jsons", "breakpoints takes nothing or all");
	assert_failure("--json", "Unknown monitor command.\n");
}

Test(monitor, prefixes_do_if_they_mean_one_command)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("b", "the table\n");
	assert_text("eng", "the engines\nthe slots\n");
	assert_text("se rem 0", "Protocol debug output disabled.\n");
	assert_text("set  debug\t0", "Debug output disabled.\n");
	assert_failure("e", "Ambiguous monitor command 'e': explain, engines, exit.\n");
	cr_assert_not(client.session.exit_server);
	assert_failure("breakpointsx", "Unknown monitor command.\n\n");
	assert_failure("set", "Unknown monitor command.\n\n");
}

Test(monitor, unknown_and_empty_show_the_help)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_failure("nonsense", "Unknown monitor command.\n\nThe following monitor "
				   "commands are supported:\n");
	assert_failure("", "Unknown monitor command.\n\nThe following");
	assert_failure("   ", "Unknown monitor command.\n\nThe following");
}

Test(monitor, arguments_are_checked)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_failure("exit now", "Usage: monitor exit\n");
	cr_assert_not(client.session.exit_server);
	assert_failure(
		"explain",
		"Usage: monitor explain <LOCATION> [bytecode|bpf|pad] [--json]\n");
	assert_failure("explain 3", "no location 3\n");
	assert_failure("set debug", "Usage: monitor set debug <0|1|CATEGORIES>\n");
	assert_failure("set debug nonsense", "unknown debug category 'nonsense'");
	assert_failure("set remote-debug 2", "set remote-debug takes 0 or 1");
}

Test(monitor, debugging_by_category)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("set debug stops,rsp", "Debug output enabled.\n");
	cr_assert(log_enabled(LOG_STOPS) && log_enabled(LOG_RSP));
	cr_assert_not(log_enabled(LOG_BPF));
	assert_text("set remote-debug 0", "Protocol debug output disabled.\n");
	cr_assert(log_enabled(LOG_STOPS) && !log_enabled(LOG_RSP));
	assert_text("set debug 1", "Debug output enabled.\n");
	cr_assert(log_enabled(LOG_BPF));
	assert_text("set debug 0", "Debug output disabled.\n");
	cr_assert_not(log_enabled(LOG_STOPS));
	assert_text("set remote-debug 1", "Protocol debug output enabled.\n");
	cr_assert(log_enabled(LOG_RSP) && !log_enabled(LOG_STOPS));
}

Test(monitor, format_of_debugging_output)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("set debug-format all",
		    "All extra debug format options enabled.\n");
	assert_text("set debug-format none",
		    "All extra debug format options disabled.\n");
	assert_text("set debug-format timestamp",
		    "Debug messages begin with: timestamp.\n");
	assert_failure("set debug-format nonsense",
		       "unknown part of debugging output 'nonsense'");
}

Test(monitor, file_of_debugging_output)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("set debug-file /dev/null", "Debug output goes to /dev/null.\n");
	assert_text("set debug-file", "Debug output goes to stderr.\n");
	assert_failure("set debug-file /no/such/file",
		       "Cannot open /no/such/file for writing: No such file");
}

Test(monitor, exit_says_nothing_and_ends_the_server)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("exit", "OK");
	cr_assert(client.session.exit_server);
	cr_assert(client.session.ending);
}

Test(monitor, without_a_process)
{
	_cleanup_buffer_ struct buffer text = {0};

	TAILQ_INIT(&client.run->inferiors.list);
	assert_failure("breakpoints", "There is no process");
	assert_failure("reset", "There is no process");
	assert_failure("explain 2", "There is no process");
	assert_text("engines", "the engines\n");
}

Test(monitor, without_breakpoints)
{
	_cleanup_buffer_ struct buffer text = {0};

	inferior.breakpoints = NULL;
	assert_text("breakpoints", "the table\n");
	assert_text("reset", "All counts are zero.\n");
}

Test(monitor, a_large_output_goes_to_the_console)
{
	_cleanup_buffer_ struct buffer text = {0};

	table_size = RSP_PACKET_SIZE / 2 - strlen("the table\n");
	run_line("breakpoints", &text);
	cr_assert_eq(text.len, RSP_PACKET_SIZE / 2);
	table_size++;
	run_line("breakpoints", &text);
	cr_assert_str_eq(text.data, "OK");
	cr_assert_eq(console.len, RSP_PACKET_SIZE / 2 + 1);
}

Test(monitor, what_is_not_hex_is_an_error)
{
	static const char *const bad[] = {"6", "xy", "6800"};
	struct buffer reply = {0};

	for (size_t i = 0; i < 3; i++) {
		struct cursor args = {bad[i], bad[i] + strlen(bad[i])};
		struct error *error = packet_qRcmd(&client, &args, &reply);

		cr_assert_not_null(error, "%s", bad[i]);
		error_destroy(error);
	}
}

Test(monitor, watch_kernel)
{
	const bool *on = &client.run->engines.engine[0].watch_kernel;
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("set watch-kernel on",
		    "Writes by system calls are hits of watchpoints.\n");
	cr_assert(*on);
	assert_text("set watch-kernel off",
		    "Writes by system calls are no hits of watchpoints.\n");
	cr_assert_not(*on);
	assert_failure("set watch-kernel maybe",
		       "set watch-kernel takes on or off, not 'maybe'.\n");
	cr_assert_not(*on);
}

Test(monitor, engine, .init = begin, .fini = end)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("set engine uprobe",
		    "Breakpoints are served by uprobe from the next resume on.\n");
	cr_assert_eq(client.run->engines.choice, CHOOSE_UPROBE);
	assert_failure("set engine magic", "set engine takes auto, uprobe");
	cr_assert_eq(client.run->engines.choice, CHOOSE_UPROBE);
}

Test(monitor, watch_filter, .init = begin, .fini = end)
{
	const bool *unfiltered = &client.run->engines.unfiltered;
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("set watch-filter on", "Writes that change nothing are no hits.\n");
	cr_expect_not(*unfiltered);
	assert_text("set watch-filter off", "Writes that change nothing are hits.\n");
	cr_expect(*unfiltered);
	assert_failure("set watch-filter no", "set watch-filter takes on or off");
}

Test(monitor, last_hit)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("last-hit", "last hit\n");
	assert_text("last-hit all", "last hits of all\n");
	assert_failure("last-hit some", "last-hit takes nothing or all, not 'some'.\n");
}
