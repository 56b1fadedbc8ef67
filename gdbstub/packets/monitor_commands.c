/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/packets/monitor_commands.h"

#include <string.h>

/* "Quit GDBserver" is how GDB's own test suite (target_is_gdbserver) and pwndbg know
 * that they talk to a gdbserver, or to what is in its place. */
static const struct monitor_command commands[] = {
	{"help", "[<COMMAND>]", "Show this list, or what a command does", NULL,
	 monitor_help, monitor_help_json},
	{"breakpoints", "[all]", "Show what serves each breakpoint, and its hits",
	 "Those of all processes: the engine, who decides whether a hit is true "
	 "(kernel; stub, which is this server; filter: the program itself; gdb), how "
	 "many hits were false, true, left to the stub ('Maybe'), and ignored; where "
	 "several threads hit one, the busiest of them, too.\nall: all threads, and "
	 "gdb's own breakpoints, by numbers below 0.",
	 monitor_breakpoints, monitor_breakpoints_json},
	{"explain", "<LOCATION> [bytecode|bpf|pad]",
	 "Show how a breakpoint is decided, why, and what that costs",
	 "LOCATION is a number as 'monitor breakpoints' shows it, *ADDRESS, or a "
	 "symbol.\nWhat a false hit costs is told by a trial at the start; and after a "
	 "thousand hits, what they have cost here at most: the time of processors that "
	 "the process has taken since its counts were zero, or, where hits stop their "
	 "threads, the time that the program has run.\nbytecode: what gdb has sent; "
	 "bpf: the program in the kernel; pad: the code in the program.",
	 monitor_explain, monitor_explain_json},
	{"stats", "[every <SECONDS> | off]", "Show how often breakpoints are hit",
	 "Since the last time, or since their counts were zero. Seconds are those in "
	 "which the program ran.\nevery: while it runs, the table is shown again and "
	 "again, of which nobody stops; off: no longer. Not in non-stop mode, in which "
	 "the client can ask.",
	 monitor_stats, monitor_stats_json},
	{"engines", "",
	 "Show the ways to stop at a breakpoint, and why one is not usable",
	 "The last lines are the hardware slots of each process: who has them, and how "
	 "many are free.",
	 monitor_engines, monitor_engines_json},
	{"last-hit", "[all]",
	 "Show which instruction made the last access that a watchpoint told of",
	 "all: the last one of each thread.", monitor_last_hit, NULL},
	{"accesses", "[<write|access> <ADDRESS> <LENGTH> [<CONDITION>] | off]",
	 "Count all writes or accesses to memory, without stopping",
	 "CONDITION is the bytecode of an agent expression in hex digits. Without "
	 "arguments, and at the end (off), the table is shown: how many accesses each "
	 "thread has made by each instruction, and what was there before and after. "
	 "'truehit accesses' of gdb's extension takes expressions.",
	 monitor_accesses, NULL},
	{"ignore", "<LOCATION> <N>", "Count the next N true hits, and do nothing else",
	 "LOCATION is as for 'explain'. 0: none is ignored any more.", monitor_ignore,
	 NULL},
	{"until-hit", "<LOCATION> <N>",
	 "Stop at the Nth true hit from now, whoever makes it, and at no other",
	 "LOCATION is as for 'explain'.", monitor_until_hit, NULL},
	{"until-state", "<LOCATION> <REGISTER>=<VALUE>... | <LOCATION> off",
	 "Ignore all hits but the next one at which registers are so",
	 "It is decided as the breakpoint's conditions are. off takes the state away.",
	 monitor_until_state, NULL},
	{"count", "<LOCATION> [on|off]", "Count hits without ever stopping",
	 "LOCATION is as for 'explain'. off: true hits stop again.", monitor_count,
	 NULL},
	{"stepi", "[<N>]",
	 "Make N single steps of the next one, with one stop at the end",
	 "Without N: show how many were left when it stopped before exclusive accesses "
	 "(aarch64).",
	 monitor_stepi, NULL},
	{"counters", "", "Show what the processor's counters count, and how exactly",
	 NULL, monitor_counters, monitor_counters_json},
	{"until-count", "[<EVENT> <N> [<STEPS>] | off]",
	 "Make one step of the next ones, until N events have been counted",
	 "EVENT is instructions, branches, conditional-branches or taken-branches, of "
	 "the current thread.\nSTEPS: or until the next one has made so many. Without "
	 "arguments: show how many are left.",
	 monitor_until_count, NULL},
	{"reset", "", "Set the counts of all breakpoints to zero", NULL, monitor_reset,
	 NULL},
	{"variables", "", "Show the trace state variables", NULL, monitor_variables,
	 NULL},
	{"set variable", "<NUMBER> <VALUE>", "Set a trace state variable", NULL,
	 monitor_set_variable, NULL},
	{"set watch-kernel", "<on|off>",
	 "Stop where a system call has written to what is watched, or do not",
	 "If the thread blocks SIGTRAP, and the call waits for more, the stop cuts it "
	 "off.",
	 monitor_set_watch_kernel, NULL},
	{"set debug", "<on|off|CATEGORIES> | <CATEGORY> <on|off>",
	 "Enable or disable debugging messages",
	 "CATEGORIES is a list of rsp, inferior, stops, bpf and server; gdbserver's "
	 "names of them, remote, threads and event-loop; or all. One with a - before "
	 "it is disabled. 1 and 0 are on and off.",
	 monitor_set_debug, NULL},
	{"set debug-hw-points", "<0|1>",
	 "Enable or disable messages about breakpoints and watchpoints",
	 "'set debug stops on' does the same.", monitor_set_debug_hw_points, NULL},
	{"set remote-debug", "<0|1>", "Enable or disable messages about the protocol",
	 "'set debug remote on' does the same.", monitor_set_remote_debug, NULL},
	{"set event-loop-debug", "<0|1>",
	 "Enable or disable messages about connections and the event loop",
	 "'set debug event-loop on' does the same.", monitor_set_event_loop_debug,
	 NULL},
	{"set debug-format", "<all|none|timestamp>",
	 "Choose what each debugging message begins with", NULL,
	 monitor_set_debug_format, NULL},
	{"set debug-file", "[<FILE>]",
	 "Send debugging messages to a file of the server's machine, or to its stderr",
	 NULL, monitor_set_debug_file, NULL},
	{"set libthread-db-search-path", "[<DIRECTORIES>]",
	 "Choose where to look for libthread_db, which finds thread-local storage",
	 "At first this is $sdir, the system's own directories. $pdir, that of the "
	 "program's C library, or any other is used only if others cannot change what "
	 "is there.",
	 monitor_set_threaddb_path, NULL},
	{"set engine", "<auto|uprobe|hardware|ptrace>",
	 "Choose which engines may serve breakpoints",
	 "auto takes the cheapest that is exact; 'monitor engines' lists them.",
	 monitor_set_engine, NULL},
	{"set pads", "<auto|always|off>",
	 "Choose which traps are put into code that is made for them",
	 "A jump in the place of the instruction leads to such a pad, which begins "
	 "with the condition as native code. auto: where most hits are false.",
	 monitor_set_pads, NULL},
	{"set watch-filter", "<on|off>",
	 "Pass over writes to watched memory that do not change it, or do not", NULL,
	 monitor_set_watch_filter, NULL},
	{"set skid", "<auto|off|N>",
	 "Choose how many events before its end until-count begins to step",
	 "Counters interrupt late. auto: as late as this processor is known to; off: "
	 "it only steps.",
	 monitor_set_skid, NULL},
	{"exit", "", "Quit GDBserver",
	 "This server, and what it has started; what it was attached to lives on.",
	 monitor_exit, NULL},
};

const struct monitor_command *monitor_commands(unsigned int *count)
{
	*count = sizeof(commands) / sizeof(commands[0]);
	return commands;
}

/* ---- from a line to a command ---- */

enum match { MATCH_NONE, MATCH_PREFIX, MATCH_EXACT };

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

/* Compares a word, and goes on to the next ones. */
static enum match match_word(const char **line, const char **name)
{
	size_t typed = strcspn(*line, " \t"), whole = strcspn(*name, " ");

	if (typed == 0 || typed > whole || memcmp(*line, *name, typed) != 0)
		return MATCH_NONE;
	*line = skip_blanks(*line + typed);
	*name = skip_blanks(*name + whole);
	return typed < whole ? MATCH_PREFIX : MATCH_EXACT;
}

/* *rest is what follows the command's words. */
static enum match match_name(const char *line, const char *name, const char **rest)
{
	enum match match = MATCH_EXACT;

	while (*name != '\0' && match != MATCH_NONE) {
		enum match word = match_word(&line, &name);

		match = word < match ? word : match;
	}
	*rest = line;
	return match;
}

bool monitor_command_begins(const struct monitor_command *command, const char *line,
			    bool *exact)
{
	const char *name = command->name;
	enum match match = MATCH_EXACT;

	while (*line != '\0' && match != MATCH_NONE) {
		enum match word = match_word(&line, &name);

		match = word < match ? word : match;
	}
	*exact = match == MATCH_EXACT && *name == '\0';
	return match != MATCH_NONE;
}

const struct monitor_command *monitor_command_find(const char *line, const char **rest,
						   unsigned int *count,
						   struct buffer *names)
{
	const struct monitor_command *found = NULL;
	unsigned int all;

	monitor_commands(&all);
	*count = 0;
	for (unsigned int i = 0; i < all; i++) {
		enum match match = match_name(line, commands[i].name, rest);

		if (match == MATCH_EXACT)
			return &commands[i];
		if (match == MATCH_NONE)
			continue;
		found = &commands[i];
		buffer_printf(names, "%s%s", (*count)++ > 0 ? ", " : "", found->name);
	}
	if (*count != 1)
		return NULL;
	match_name(line, found->name, rest);
	return found;
}

void monitor_command_append(const struct monitor_command *command, struct buffer *out)
{
	buffer_printf(out, "%s%s%s%s", command->name,
		      command->args[0] != '\0' ? " " : "", command->args,
		      command->json ? " [--json]" : "");
}
