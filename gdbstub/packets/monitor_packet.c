/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qRcmd: what users type after gdb's `monitor`, over a table of commands. To add
 * a command is to add a row.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/log.h"
#include "gdbstub/symbols/threaddb.h"
#include "gdbstub/client/console.h"
#include "gdbstub/rsp/frame.h"
#include "gdbstub/packets/monitor_steps.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"
#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/monitor/explain.h"
#include "gdbstub/locations/ignore.h"
#include "gdbstub/hits/last_hit.h"
#include "gdbstub/breakpoints/choice.h"
#include "gdbstub/locations/location_name.h"
#include "gdbstub/monitor/breakpoint_table.h"
#include "gdbstub/breakpoints/slots.h"

struct monitor_command {
	const char *name; /* one or more words */
	const char *args; /* for the help; "": the command takes none; "[...]": it
			   * may do without */
	const char *help;
	monitor_handler *handler;
};

static monitor_handler monitor_help, monitor_breakpoints, monitor_explain,
	monitor_engines, monitor_last_hit, monitor_ignore, monitor_until_hit,
	monitor_count, monitor_reset, monitor_variables, monitor_set_debug,
	monitor_set_variable, monitor_set_engine, monitor_set_pads,
	monitor_set_watch_filter, monitor_set_watch_kernel, monitor_set_remote_debug,
	monitor_set_debug_format, monitor_set_debug_file, monitor_set_threaddb_path,
	monitor_exit;

/* GDB's own test suite knows a gdbserver by the texts about help and exit. */
static const struct monitor_command commands[] = {
	{"help", "", "Show this list", monitor_help},
	{"breakpoints", "[all]",
	 "Show what serves each breakpoint of all processes, and its hits; all: gdb's "
	 "own "
	 "ones, too",
	 monitor_breakpoints},
	{"explain", "<LOCATION> [bytecode|bpf|pad]",
	 "Show how a breakpoint is decided, why, and what that costs; LOCATION is its "
	 "number,\n"
	 "    *ADDRESS or a symbol; bytecode: what gdb has sent, bpf: the program in "
	 "the kernel,\n"
	 "    pad: the code in the program",
	 monitor_explain},
	{"engines", "",
	 "Show the ways to stop at a breakpoint, and why one is not usable",
	 monitor_engines},
	{"last-hit", "[all]",
	 "Show which instruction made the last access that a watchpoint told of; all: "
	 "of "
	 "each thread",
	 monitor_last_hit},
	{"accesses", "[<write|access> <ADDRESS> <LENGTH> [<CONDITION>] | off]",
	 "Count all writes or accesses to memory, without stopping; CONDITION is "
	 "bytecode in\n"
	 "    hex digits; without arguments, and at the end: show who made them",
	 monitor_accesses},
	{"ignore", "<LOCATION> <N>", "Count the next N true hits, and do nothing else",
	 monitor_ignore},
	{"until-hit", "<LOCATION> <N>",
	 "Stop at the Nth true hit from now, whoever makes it, and at no other",
	 monitor_until_hit},
	{"until-state", "<LOCATION> <REGISTER>=<VALUE>... | <LOCATION> off",
	 "Ignore all hits but the next one at which registers are so",
	 monitor_until_state},
	{"count", "<LOCATION> [on|off]", "Count hits without ever stopping",
	 monitor_count},
	{"stepi", "[<N>]",
	 "The next single step makes N of them, and stops once; without N: show how "
	 "many\n"
	 "    were left when it stopped before exclusive accesses (aarch64)",
	 monitor_stepi},
	{"counters", "", "Show what the processor's counters count, and how exactly",
	 monitor_counters},
	{"until-count", "[<EVENT> <N> [<STEPS>] | off]",
	 "The single steps of the current thread are one, until N more EVENTs have "
	 "been\n"
	 "    counted, instructions, branches, conditional-branches or taken-branches, "
	 "or\n"
	 "    the next one has made STEPS; without arguments: show how many are left",
	 monitor_until_count},
	{"reset", "", "Set the counts of all breakpoints to zero", monitor_reset},
	{"variables", "", "Show the trace state variables", monitor_variables},
	{"set variable", "<NUMBER> <VALUE>", "Set a trace state variable",
	 monitor_set_variable},
	{"set watch-kernel", "<on|off>",
	 "Stop where a system call has written to what is watched; if the thread "
	 "blocks\n"
	 "    SIGTRAP, and the call waits for more, the stop cuts it off",
	 monitor_set_watch_kernel},
	{"set debug", "<0|1|CATEGORIES>",
	 "Disable or enable debugging messages; CATEGORIES is a list such as rsp,stops",
	 monitor_set_debug},
	{"set remote-debug", "<0|1>", "Disable or enable messages about the protocol",
	 monitor_set_remote_debug},
	{"set debug-format", "<all|none|timestamp>",
	 "What each debugging message begins with", monitor_set_debug_format},
	{"set debug-file", "[FILE]",
	 "Send debugging messages to a file of the server's machine, or to its stderr",
	 monitor_set_debug_file},
	{"set libthread-db-search-path", "[DIRECTORIES]",
	 "Where to look for libthread_db, which finds thread-local storage; at first\n"
	 "    this is $sdir, the system's own directories. $pdir, that of the "
	 "program's\n"
	 "    C library, or any other is used only if others cannot change what is "
	 "there",
	 monitor_set_threaddb_path},
	{"set engine", "<auto|uprobe|hardware|ptrace>",
	 "Which engines may serve breakpoints; auto takes the cheapest",
	 monitor_set_engine},
	{"set pads", "<auto|always|off>",
	 "Whether traps are put into code that is made for them, to which a jump in "
	 "the\n"
	 "    place of the instruction leads, and which begins with the condition",
	 monitor_set_pads},
	{"set watch-filter", "<on|off>",
	 "Whether writes to watched memory that do not change it are no hits",
	 monitor_set_watch_filter},
	{"set skid", "<auto|off|N>",
	 "How many events before its end until-count begins to step, as the "
	 "interrupts of\n"
	 "    counters come late; auto: as this processor needs it; off: it only steps",
	 monitor_set_skid},
	{"exit", "", "Quit GDBserver", monitor_exit},
};
enum { NCOMMANDS = sizeof(commands) / sizeof(commands[0]) };

/* ---- The commands ---- */

static struct error *monitor_help(struct client *client, const char *args,
				  struct buffer *out)
{
	(void)client;
	(void)args;
	buffer_append_string(out, "The following monitor commands are supported:\n");
	for (int i = 0; i < NCOMMANDS; i++)
		buffer_printf(out, "  %s%s%s\n    %s\n", commands[i].name,
			      commands[i].args[0] != '\0' ? " " : "", commands[i].args,
			      commands[i].help);
	return NULL;
}

static struct error *monitor_breakpoints(struct client *client, const char *args,
					 struct buffer *out)
{
	struct inferiors *inferiors = &client->run->inferiors;
	bool all = strcmp(args, "all") == 0;

	if (!all && args[0] != '\0')
		return error_create(0, "breakpoints takes nothing or all, not '%s'.",
				    args);
	if (TAILQ_EMPTY(&inferiors->list))
		return error_create(0, "There is no process, hence no breakpoints.");
	breakpoints_print(inferiors, all, out);
	return NULL;
}

/* Takes the last word off @line, if that names a part; symbols have blanks, too. */
static enum explain_part take_part(char *line)
{
	char *blank = strrchr(line, ' ');
	enum explain_part part = EXPLAIN_PAGE;

	if (blank)
		part = explain_part_named(blank + 1);
	while (part != EXPLAIN_PAGE && blank > line && blank[-1] == ' ')
		blank--;
	if (part != EXPLAIN_PAGE)
		*blank = '\0';
	return part;
}

static struct error *monitor_explain(struct client *client, const char *args,
				     struct buffer *out)
{
	struct inferior *inferior = client_inferior(client);
	_cleanup_free_ char *name = strdup(args);
	struct location *location = NULL;
	enum explain_part part;
	struct error *error;

	if (!inferior)
		return error_create(0, "There is no process, hence no breakpoints.");
	if (!name)
		return error_create(ENOMEM, "explain");
	part = take_part(name);
	error = location_named(inferior, name, &location);
	return error ? error : location_explain(location, part, out);
}

static struct error *monitor_engines(struct client *client, const char *args,
				     struct buffer *out)
{
	const struct inferior *inferior;

	(void)args;
	engines_print(&client->run->engines, out);
	TAILQ_FOREACH (inferior, &client->run->inferiors.list, link) {
		if (inferior->breakpoints)
			slots_print(inferior->breakpoints, out);
	}
	return NULL;
}

static struct error *monitor_last_hit(struct client *client, const char *args,
				      struct buffer *out)
{
	struct inferior *inferior = client_inferior(client);
	bool all = strcmp(args, "all") == 0;

	if (!inferior)
		return error_create(0, "There is no process, hence no watchpoints.");
	if (!all && args[0] != '\0')
		return error_create(0, "last-hit takes nothing or all, not '%s'.",
				    args);
	return last_hit_print(inferior, all, out);
}

static struct error *monitor_ignore(struct client *client, const char *args,
				    struct buffer *out)
{
	struct inferior *inferior = client_inferior(client);

	if (!inferior)
		return error_create(0, "There is no process, hence no breakpoints.");
	return ignore_next(inferior, args, out);
}

static struct error *monitor_until_hit(struct client *client, const char *args,
				       struct buffer *out)
{
	struct inferior *inferior = client_inferior(client);

	if (!inferior)
		return error_create(0, "There is no process, hence no breakpoints.");
	return ignore_all_but(inferior, args, out);
}

static struct error *monitor_count(struct client *client, const char *args,
				   struct buffer *out)
{
	struct inferior *inferior = client_inferior(client);

	if (!inferior)
		return error_create(0, "There is no process, hence no breakpoints.");
	return ignore_all(inferior, args, out);
}

static struct error *monitor_reset(struct client *client, const char *args,
				   struct buffer *out)
{
	struct inferior *inferior;

	(void)args;
	if (TAILQ_EMPTY(&client->run->inferiors.list))
		return error_create(0, "There is no process, hence no breakpoints.");
	TAILQ_FOREACH (inferior, &client->run->inferiors.list, link)
		if (inferior->breakpoints)
			breakpoints_reset_counts(inferior->breakpoints);
	buffer_append_string(out, "All counts are zero.\n");
	return NULL;
}

static struct error *monitor_variables(struct client *client, const char *args,
				       struct buffer *out)
{
	(void)args;
	variables_print(&client->run->engines.variables, out);
	return NULL;
}

static struct error *monitor_set_variable(struct client *client, const char *args,
					  struct buffer *out)
{
	char *end, *last;
	unsigned long number = strtoul(args, &end, 0);
	long long value = strtoll(end, &last, 0);
	struct error *error;

	if (end == args || last == end || *last != '\0' || number > UINT16_MAX)
		return error_create(0, "set variable takes two numbers, not '%s'.",
				    args);
	error = variables_set(&client->run->engines.variables, (unsigned int)number,
			      value);
	if (!error)
		buffer_printf(out, "Trace state variable %lu is %lld.\n", number,
			      value);
	return error;
}

static struct error *monitor_set_watch_kernel(struct client *client, const char *args,
					      struct buffer *out)
{
	bool on = strcmp(args, "on") == 0;

	if (!on && strcmp(args, "off") != 0)
		return error_create(0, "set watch-kernel takes on or off, not '%s'.",
				    args);
	engines_set_watch_kernel(&client->run->engines, on);
	buffer_printf(out, "Writes by system calls are %s of watchpoints.\n",
		      on ? "hits" : "no hits");
	return NULL;
}

static struct error *monitor_set_pads(struct client *client, const char *args,
				      struct buffer *out)
{
	static const struct {
		const char *name, *told;
	} choices[] = {
		[PADS_OFF] = {"off", "the text itself"},
		[PADS_AUTO] = {"auto", "pads where they are hit often"},
		[PADS_ALWAYS] = {"always", "pads"},
	};

	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		if (strcmp(args, choices[i].name) != 0)
			continue;
		client->run->engines.pads = (enum pads_choice)i;
		buffer_printf(out, "Traps of breakpoints are put into %s.\n",
			      choices[i].told);
		return NULL;
	}
	return error_create(0, "set pads takes auto, always or off, not '%s'.", args);
}

static struct error *monitor_set_debug(struct client *client, const char *args,
				       struct buffer *out)
{
	bool off = strcmp(args, "0") == 0;
	struct error *error;

	(void)client;
	if (off)
		error = log_disable("all");
	else
		error = log_enable(strcmp(args, "1") == 0 ? "all" : args);
	if (!error)
		buffer_printf(out, "Debug output %s.\n", off ? "disabled" : "enabled");
	return error;
}

static struct error *monitor_set_remote_debug(struct client *client, const char *args,
					      struct buffer *out)
{
	bool off = strcmp(args, "0") == 0;
	struct error *error;

	(void)client;
	if (!off && strcmp(args, "1") != 0)
		return error_create(0, "set remote-debug takes 0 or 1, not '%s'.",
				    args);
	error = off ? log_disable("rsp") : log_enable("rsp");
	if (!error)
		buffer_printf(out, "Protocol debug output %s.\n",
			      off ? "disabled" : "enabled");
	return error;
}

static struct error *monitor_set_debug_format(struct client *client, const char *args,
					      struct buffer *out)
{
	struct error *error = log_format(args);

	(void)client;
	if (error)
		return error;
	if (strcmp(args, "all") == 0 || strcmp(args, "none") == 0)
		buffer_printf(out, "All extra debug format options %s.\n",
			      *args == 'a' ? "enabled" : "disabled");
	else
		buffer_printf(out, "Debug messages begin with: %s.\n", args);
	return NULL;
}

static struct error *monitor_set_debug_file(struct client *client, const char *args,
					    struct buffer *out)
{
	struct error *error = log_open_file(args);

	(void)client;
	if (!error)
		buffer_printf(out, "Debug output goes to %s.\n",
			      *args != '\0' ? args : "stderr");
	return error;
}

static struct error *monitor_set_threaddb_path(struct client *client, const char *args,
					       struct buffer *out)
{
	struct inferiors *inferiors = &client->run->inferiors;
	int r = threaddb_set_path(inferiors, args);

	if (r == -EPERM)
		return error_create(0, "libthread-db-search-path: a truehit with file "
				       "capabilities loads no library but the system's "
				       "(" THREADDB_DEFAULT_PATH ")");
	if (r < 0)
		return error_create(ENOMEM, "libthread-db-search-path");
	buffer_printf(out, "libthread-db-search-path set to `%s'\n",
		      threaddb_path(inferiors));
	return NULL;
}

static struct error *monitor_set_engine(struct client *client, const char *args,
					struct buffer *out)
{
	if (choice_parse(args, &client->run->engines.choice) < 0)
		return error_create(
			0,
			"set engine takes auto, uprobe, hardware or ptrace, "
			"not '%s'.",
			args);
	buffer_printf(out, "Breakpoints are served by %s from the next resume on.\n",
		      strcmp(args, "auto") == 0 ? "the cheapest engine" : args);
	return NULL;
}

static struct error *monitor_set_watch_filter(struct client *client, const char *args,
					      struct buffer *out)
{
	bool off = strcmp(args, "off") == 0;

	if (!off && strcmp(args, "on") != 0)
		return error_create(0, "set watch-filter takes on or off, not '%s'.",
				    args);
	client->run->engines.unfiltered = off;
	buffer_printf(out, "Writes that change nothing are %s.\n",
		      off ? "hits" : "no hits");
	return NULL;
}

static struct error *monitor_exit(struct client *client, const char *args,
				  struct buffer *out)
{
	(void)args;
	(void)out;
	client->session.exit_server = true;
	client->session.ending = true;
	return NULL;
}

/* ---- From a line to a command ---- */

enum match { MATCH_NONE, MATCH_PREFIX, MATCH_EXACT };

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

/* Compares word by word; *rest is what follows the command's words. */
static enum match match_name(const char *line, const char *name, const char **rest)
{
	enum match match = MATCH_EXACT;

	while (*name != '\0') {
		size_t typed = strcspn(line, " \t"), whole = strcspn(name, " ");

		if (typed == 0 || typed > whole || memcmp(line, name, typed) != 0)
			return MATCH_NONE;
		if (typed < whole)
			match = MATCH_PREFIX;
		line = skip_blanks(line + typed);
		name = skip_blanks(name + whole);
	}
	*rest = line;
	return match;
}

/* The one command that @line means; else NULL, and the reason in @out. */
static const struct monitor_command *command_find(const char *line, const char **rest,
						  struct buffer *out)
{
	_cleanup_buffer_ struct buffer names = {0};
	const struct monitor_command *found = NULL;
	unsigned int count = 0;

	for (int i = 0; i < NCOMMANDS; i++) {
		enum match match = match_name(line, commands[i].name, rest);

		if (match == MATCH_EXACT)
			return &commands[i];
		if (match == MATCH_NONE)
			continue;
		found = &commands[i];
		buffer_printf(&names, "%s%s", count++ > 0 ? ", " : "", found->name);
	}
	if (count == 0) {
		buffer_append_string(out, "Unknown monitor command.\n\n");
		monitor_help(NULL, "", out);
		return NULL;
	}
	if (count > 1) {
		buffer_printf(out, "Ambiguous monitor command '%s': %s.\n", line,
			      buffer_string(&names));
		return NULL;
	}
	match_name(line, found->name, rest);
	return found;
}

/* Runs a line. All that the user is to see goes to @out; false: it failed. */
static bool run_line(struct client *client, const char *line, struct buffer *out)
{
	_cleanup_error_ struct error *error = NULL;
	const char *args;
	const struct monitor_command *command = command_find(line, &args, out);

	if (!command)
		return false;
	if (command->args[0] != '[' &&
	    (args[0] == '\0') != (command->args[0] == '\0')) {
		buffer_printf(out, "Usage: monitor %s%s%s\n", command->name,
			      command->args[0] != '\0' ? " " : "", command->args);
		return false;
	}
	error = command->handler(client, args, out);
	if (error)
		buffer_printf(out, "%s\n", error_text(error));
	return !error;
}

/* ---- The packet ---- */

static void trim(char *line)
{
	size_t len = strlen(line);

	while (len > 0 && strchr(" \t\r\n", line[len - 1]))
		line[--len] = '\0';
}

/*
 * A user reads the reason of a failure in the output, with every version of gdb,
 * so the reply is "E01" (gdb: "Protocol error with Rcmd"), as gdbserver's.
 */
struct error *packet_qRcmd(struct client *client, struct cursor *args,
			   struct buffer *reply)
{
	_cleanup_buffer_ struct buffer out = {0};
	_cleanup_free_ char *line = NULL;
	size_t len;
	bool ok;

	line = cursor_hex_string(*args, &len);
	if (!line || strlen(line) != len)
		return error_create(0, "qRcmd: expected a command in hex digits");
	trim(line);
	ok = run_line(client, skip_blanks(line), &out);
	if (buffer_failed(&out))
		return error_create(ENOMEM, "monitor %s", line);
	if (ok && out.len > 0 && 2 * out.len <= RSP_PACKET_SIZE) {
		buffer_append_hex(reply, out.data, out.len);
	} else {
		console_show(client, buffer_string(&out), out.len);
		buffer_append_string(reply, ok ? "OK" : "E01");
	}
	return NULL;
}
