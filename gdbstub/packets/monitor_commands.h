/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The monitor commands: what users type after gdb's `monitor`. To add one is to add a
 * row to the table in monitor_commands.c, and a handler to a file of its subject.
 */
#ifndef TRUEHIT_PACKETS_MONITOR_COMMANDS_H
#define TRUEHIT_PACKETS_MONITOR_COMMANDS_H

#include "gdbstub/base/buffer.h"
#include "gdbstub/base/error.h"

struct client;

/**
 * Appends what the user is to see to @out. @args is the rest of the line without
 * blanks around it; "" only if the command takes none, or need not.
 */
typedef struct error *monitor_handler(struct client *client, const char *args,
				      struct buffer *out);

struct monitor_command {
	const char *name;    /* one or more words */
	const char *args;    /* words in lower case are typed as they are, those in
			      * upper case stand for something; "": the command takes
			      * none; "[...]": it may do without */
	const char *help;    /* a line that begins with a verb */
	const char *details; /* for `monitor help NAME`, paragraphs that end with a
			      * newline each but for the last; NULL: there is no more
			      * to say */
	monitor_handler *handler;
	monitor_handler *json; /* the same for scripts, with --json: appends one JSON
				* document; NULL: it has no such form */
};

const struct monitor_command *monitor_commands(unsigned int *count);

/**
 * The one command that @line means, by prefixes of words that do, and what follows its
 * words. NULL: *count may be meant, and their names are appended to @names.
 */
const struct monitor_command *monitor_command_find(const char *line, const char **rest,
						   unsigned int *count,
						   struct buffer *names);
/** May all words of @line be the first of the command's? *exact: as they are. */
bool monitor_command_begins(const struct monitor_command *command, const char *line,
			    bool *exact);
/** Appends "name args [--json]". */
void monitor_command_append(const struct monitor_command *command, struct buffer *out);

/* monitor_accesses.c */
monitor_handler monitor_accesses;
/* monitor_debug.c */
monitor_handler monitor_set_debug, monitor_set_debug_file, monitor_set_debug_format,
	monitor_set_debug_hw_points, monitor_set_event_loop_debug,
	monitor_set_remote_debug;
/* monitor_help.c */
monitor_handler monitor_help, monitor_help_json;
/* monitor_locations.c */
monitor_handler monitor_breakpoints, monitor_breakpoints_json, monitor_count,
	monitor_engines, monitor_engines_json, monitor_explain, monitor_explain_json,
	monitor_ignore, monitor_last_hit, monitor_reset, monitor_stats,
	monitor_stats_json, monitor_until_hit, monitor_variables;
/* monitor_packet.c */
monitor_handler monitor_exit;
/* monitor_settings.c */
monitor_handler monitor_set_engine, monitor_set_pads, monitor_set_threaddb_path,
	monitor_set_variable, monitor_set_watch_filter, monitor_set_watch_kernel;
/* monitor_steps.c: those for which threads run or pause */
monitor_handler monitor_counters, monitor_counters_json, monitor_set_skid,
	monitor_stepi, monitor_until_count, monitor_until_state;

#endif
