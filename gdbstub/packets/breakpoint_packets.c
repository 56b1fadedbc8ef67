/* SPDX-License-Identifier: BSD-2-Clause */
/* Z z: breakpoints and watchpoints, with conditions and commands; and conditions and
 * ignore counts that extensions of gdb and lldb (scripts/truehit-gdb.py,
 * truehit_lldb.py) hand over. */
#include <errno.h>
#include <string.h>

#include "gdbstub/agent/expr.h"
#include "gdbstub/packets/address_tag.h"
#include "gdbstub/inferior/compat.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/client/threads.h"
#include "gdbstub/rsp/zpacket.h"
#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"
#include "gdbstub/locations/handed_counts.h"
#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/run/continuation.h"
#include "gdbstub/text/trap_inspection.h"

enum { EXPRESSIONS_MAX = 1024 }; /* in a list */

/* What a Z packet wants to have done at a hit. */
struct wishes {
	struct agent_list conditions;
	struct commands commands;
};

static void cleanup_wishes(struct wishes *wishes)
{
	agent_list_clear(&wishes->conditions);
	agent_list_clear(&wishes->commands.list);
}

static struct error *add_expr(struct agent_list *list,
			      const struct zpacket_expr *packed)
{
	struct agent_expr *expr;
	struct error *error;

	if (list->count == EXPRESSIONS_MAX)
		return error_create(0, "there are more than %d", EXPRESSIONS_MAX);
	if (packed->is_command)
		error = agent_expr_create_command(packed->bytecode, packed->len, &expr);
	else
		error = agent_expr_create(packed->bytecode, packed->len, &expr);
	if (!error && agent_list_append(list, expr) < 0)
		error = error_create(ENOMEM, "bytecode");
	return error;
}

static struct error *read_wishes(struct zpacket_options *options, struct wishes *wishes)
{
	for (;;) {
		struct zpacket_expr packed;
		struct error *error = zpacket_next_expr(options, &packed);
		struct agent_list *list = packed.is_command ? &wishes->commands.list
							    : &wishes->conditions;

		if (error || !packed.bytecode)
			return error;
		error = add_expr(list, &packed);
		free(packed.bytecode);
		if (error)
			return error_prefix(error, "%s %zu",
					    packed.is_command ? "command" : "condition",
					    list->count + 1);
	}
}

/* Watched addresses are those of data, which may have a tag. */
static void untag(const struct inferior *inferior, struct zpacket *packet)
{
	const uint64_t addr = packet->addr;

	if (packet->type > BREAKPOINT_HARDWARE)
		packet->addr = address_untag(inferior, addr);
	packet->tag = addr & ~packet->addr;
}

/* Stops are told with the address as the client has it. */
static void keep_tag(struct breakpoints *breakpoints, const struct zpacket *packet)
{
	struct location *location =
		location_find(breakpoints, (enum breakpoint_type)packet->type,
			      packet->addr, packet->kind);

	if (location)
		location->tag = packet->tag;
}

/* The packet's head and the locations that it is about. *ret is NULL for a type
 * that we do not know: not supported, as the empty reply says. */
static struct error *begin(struct client *client, struct cursor *args,
			   struct zpacket *packet, struct breakpoints **ret)
{
	struct error *error = zpacket_parse(*args, packet);
	const struct inferior *inferior = client_inferior(client);

	*ret = NULL;
	if (error || packet->type > WATCHPOINT_ACCESS)
		return error;
	if (!inferior || !inferior->breakpoints)
		return error_create(0, "no process is being debugged");
	untag(inferior, packet);
	*ret = inferior->breakpoints;
	return NULL;
}

static struct error *insert(struct client *client, struct breakpoints *breakpoints,
			    const struct zpacket *packet, const struct wishes *wishes)
{
	struct error *error = NULL;

	run_pause(client->run);
	/* Of a process that has just ended the client will hear soon. */
	if (!breakpoints->inferior->control->pending_stop)
		error = breakpoints_insert(
			breakpoints, (enum breakpoint_type)packet->type, packet->addr,
			packet->kind, &wishes->conditions, &wishes->commands);
	return run_unpause(client->run, error);
}

struct error *packet_Z(struct client *client, struct cursor *args, struct buffer *reply)
{
	struct wishes wishes _cleanup_(cleanup_wishes) = {0};
	struct breakpoints *breakpoints;
	struct zpacket packet;
	struct error *error = begin(client, args, &packet, &breakpoints);

	if (error || !breakpoints)
		return error;
	error = read_wishes(&packet.options, &wishes);
	if (error)
		return error;
	/* Without commands there is nothing to go on with. */
	wishes.commands.persistent =
		packet.options.persistent && wishes.commands.list.count > 0;
	error = insert(client, breakpoints, &packet, &wishes);
	/* The empty reply makes gdb try another type (Z4 for Z3). */
	if (error && error_errno(error) == EOPNOTSUPP) {
		error_destroy(error);
		return NULL;
	}
	if (error)
		return error;
	keep_tag(breakpoints, &packet);
	buffer_append_string(reply, "OK");
	return NULL;
}

/* The place of a software breakpoint that is no longer wanted may have been unmapped:
 * the client's user hears of that. */
static struct error *check_place(struct breakpoints *breakpoints,
				 const struct zpacket *packet)
{
	const struct location *location;
	uint8_t byte;

	if (packet->type != BREAKPOINT_SOFTWARE)
		return NULL;
	location = location_find(breakpoints, BREAKPOINT_SOFTWARE, packet->addr,
				 packet->kind);
	if ((location && trap_is_seen(location)) ||
	    inferior_read(breakpoints->inferior, packet->addr, &byte, 1) != -EFAULT)
		return NULL;
	return error_create(EFAULT, "the breakpoint at 0x%jx is gone with its memory",
			    (uintmax_t)packet->addr);
}

struct error *packet_z(struct client *client, struct cursor *args, struct buffer *reply)
{
	struct breakpoints *breakpoints;
	struct zpacket packet;
	struct error *error = begin(client, args, &packet, &breakpoints);

	if (error || !breakpoints)
		return error;
	/* It may be the first of many. */
	if (!client->run->running)
		breakpoints_inspect(breakpoints);
	run_pause(client->run);
	breakpoints_remove(breakpoints, (enum breakpoint_type)packet.type, packet.addr,
			   packet.kind);
	error = run_unpause(client->run, check_place(breakpoints, &packet));
	if (!error)
		buffer_append_string(reply, "OK");
	return error;
}

/* ---- QTruehit.WatchCondition:[pPID;][WORD|TYPE,ADDR,LEN[;X LEN,BYTECODE]...]
 * WORD: resume, continue or stopped ---- */

/* The breakpoints of the process that is named, or else of the current one. */
static struct error *choose(struct client *client, struct cursor *args,
			    struct breakpoints **ret)
{
	struct inferior *inferior = client_inferior(client);
	struct error *error = NULL;
	uint64_t pid;

	if (cursor_char(args, 'p')) {
		if (!cursor_hex(args, &pid) || !cursor_char(args, ';'))
			return error_create(0, "no PID; after p");
		error = threads_inferior(client, pid, &inferior);
	}
	if (error)
		return error;
	if (!inferior || !inferior->breakpoints)
		return error_create(0, "no process is being debugged");
	*ret = inferior->breakpoints;
	return compat_refuse(inferior);
}

static struct error *read_conditions(struct cursor args, struct zpacket *packet,
				     struct wishes *wishes)
{
	struct error *error = zpacket_parse(args, packet);

	if (error)
		return error;
	if (packet->type > WATCHPOINT_ACCESS)
		return error_create(0, "WatchCondition: there is no type %ju",
				    (uintmax_t)packet->type);
	error = read_wishes(&packet->options, wishes);
	if (!error && wishes->commands.list.count > 0)
		error = error_create(0, "WatchCondition: takes no commands");
	return error;
}

/* A command of the user's is about to resume threads: conditions of breakpoints hold,
 * until the client does anything else than to continue. */
static struct error *begin_resume(struct client *client, bool only_continues)
{
	run_pause(client->run);
	return run_unpause(client->run,
			   continuation_begin(client->run, only_continues));
}

static struct error *hand(struct client *client, struct breakpoints *breakpoints,
			  struct cursor args)
{
	struct wishes wishes _cleanup_(cleanup_wishes) = {0};
	bool all = cursor_left(&args) == 0;
	struct error *error = NULL;
	struct zpacket packet = {0};

	if (!all)
		error = read_conditions(args, &packet, &wishes);
	if (error)
		return error;
	untag(breakpoints->inferior, &packet);
	run_pause(client->run);
	error = all ? breakpoints_unhand_all(breakpoints)
		    : breakpoints_hand(breakpoints, (enum breakpoint_type)packet.type,
				       packet.addr, packet.kind, &wishes.conditions);
	return run_unpause(client->run, error);
}

static bool is_word(const struct cursor *args, const char *word)
{
	return cursor_left(args) == strlen(word) &&
	       memcmp(args->p, word, strlen(word)) == 0;
}

/* With no more than a process, all conditions are withdrawn: what comes first after
 * connecting, and finds out whether this packet is known. */
struct error *packet_QTruehit_WatchCondition(struct client *client, struct cursor *args,
					     struct buffer *reply)
{
	struct breakpoints *breakpoints = NULL;
	struct error *error = choose(client, args, &breakpoints);

	if (error)
		return error;
	if (is_word(args, "resume"))
		error = begin_resume(client, false);
	else if (is_word(args, "continue"))
		error = begin_resume(client, true);
	else if (is_word(args, "stopped")) /* the user may change all */
		continuation_disturb(client->run);
	else
		error = hand(client, breakpoints, *args);
	if (!error)
		buffer_append_string(reply, "OK");
	return error;
}

/* ---- QTruehit.IgnoreCounts:pPID;{hand,ADDR,LEFT,CONDITIONAL|take} ---- */

static struct error *hand_count(struct client *client, struct breakpoints *breakpoints,
				struct cursor args)
{
	uint64_t addr, left;
	bool conditional;
	struct error *error;

	if (client->run->non_stop)
		return error_create(0, "IgnoreCounts: in non-stop mode gdb counts");
	if (!cursor_hex(&args, &addr) || !cursor_char(&args, ',') ||
	    !cursor_hex(&args, &left) || !cursor_char(&args, ','))
		return error_create(0, "IgnoreCounts: expected ADDR,LEFT,CONDITIONAL");
	if (left == 0 || left > GATE_MAX)
		return error_create(0, "IgnoreCounts: 1 to %d hits can be ignored",
				    GATE_MAX);
	error = cursor_switch(&args, "IgnoreCounts", &conditional);
	if (error)
		return error;
	run_pause(client->run);
	return run_unpause(client->run, handed_count_set(breakpoints, addr,
							 (int64_t)left, conditional));
}

/* Also of a process that has just ended. */
static struct error *take_counts(struct client *client, uint64_t pid,
				 struct buffer *reply)
{
	struct inferior *inferior;
	_cleanup_error_ struct error *error = threads_inferior(client, pid, &inferior);

	if (!error && inferior->breakpoints)
		handed_counts_take(inferior->breakpoints, reply);
	else
		handed_counts_take_ended(&client->run->engines, (pid_t)pid, reply);
	if (reply->len == 0)
		buffer_append_string(reply, "OK");
	return NULL;
}

/* Only while all is stopped, which gdb is told of: nothing is counted meanwhile. */
struct error *packet_QTruehit_IgnoreCounts(struct client *client, struct cursor *args,
					   struct buffer *reply)
{
	struct breakpoints *breakpoints = NULL;
	struct cursor process = *args;
	struct error *error;
	uint64_t pid;

	if (!cursor_char(&process, 'p') || !cursor_hex(&process, &pid) ||
	    !cursor_char(&process, ';'))
		return error_create(0, "IgnoreCounts: expected pPID;");
	if (cursor_text(&process, "take") && cursor_left(&process) == 0)
		return take_counts(client, pid, reply);
	error = choose(client, args, &breakpoints);
	if (!error && !cursor_text(args, "hand,"))
		error = error_create(0, "IgnoreCounts: expected hand or take");
	if (!error)
		error = hand_count(client, breakpoints, *args);
	if (!error)
		buffer_append_string(reply, "OK");
	return error;
}
