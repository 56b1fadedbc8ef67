/* SPDX-License-Identifier: BSD-2-Clause */
/* Z z: breakpoints and watchpoints, with conditions. */
#include <errno.h>

#include "agent/expr.h"
#include "rsp/packet.h"
#include "rsp/zpacket.h"
#include "server.h"
#include "stops/breakpoints.h"

enum { CONDITIONS_MAX = 1024 };

struct conditions {
	struct agent_expr **expr;
	size_t count;
};

static void cleanup_conditions(struct conditions *conditions)
{
	for (size_t i = 0; i < conditions->count; i++)
		agent_expr_unref(conditions->expr[i]);
	free(conditions->expr);
}

static struct error *add_condition(struct conditions *conditions,
				   const struct zpacket_condition *condition)
{
	struct agent_expr **bigger;

	if (conditions->count == CONDITIONS_MAX)
		return error_create(0, "more than %d conditions", CONDITIONS_MAX);
	bigger = realloc(conditions->expr,
			 (conditions->count + 1) * sizeof(conditions->expr[0]));
	if (!bigger)
		return error_create(ENOMEM, "condition");
	conditions->expr = bigger;
	return agent_expr_create(condition->bytecode, condition->len,
				 &bigger[conditions->count]);
}

static struct error *read_conditions(struct cursor options,
				     struct conditions *conditions)
{
	for (;;) {
		struct zpacket_condition condition;
		struct error *error = zpacket_next_condition(&options, &condition);

		if (error || !condition.bytecode)
			return error;
		error = add_condition(conditions, &condition);
		free(condition.bytecode);
		if (error)
			return error_prefix(error, "condition %zu",
					    conditions->count + 1);
		conditions->count++;
	}
}

/* The packet's head and the locations that it is about. *ret is NULL for a type
 * that we do not know: not supported, as the empty reply says. */
static struct error *begin(struct server *server, struct cursor *args,
			   struct zpacket *packet, struct breakpoints **ret)
{
	struct error *error = zpacket_parse(*args, packet);
	const struct inferior *inferior = server_inferior(server);

	*ret = NULL;
	if (error || packet->type > WATCHPOINT_ACCESS)
		return error;
	if (!inferior || !inferior->breakpoints)
		return error_create(0, "no process is being debugged");
	*ret = inferior->breakpoints;
	return NULL;
}

struct error *packet_Z(struct server *server, struct cursor *args, struct buffer *reply)
{
	struct conditions conditions _cleanup_(cleanup_conditions) = {0};
	struct breakpoints *breakpoints;
	struct zpacket packet;
	struct error *error = begin(server, args, &packet, &breakpoints);

	if (error || !breakpoints)
		return error;
	error = read_conditions(packet.options, &conditions);
	if (error)
		return error;
	error = breakpoints_insert(breakpoints, (enum breakpoint_type)packet.type,
				   packet.addr, packet.kind, conditions.expr,
				   conditions.count);
	/* The empty reply makes gdb try another type (Z4 for Z3). */
	if (error && error_errno(error) == EOPNOTSUPP) {
		error_destroy(error);
		return NULL;
	}
	if (!error)
		buffer_append_string(reply, "OK");
	return error;
}

struct error *packet_z(struct server *server, struct cursor *args, struct buffer *reply)
{
	struct breakpoints *breakpoints;
	struct zpacket packet;
	struct error *error = begin(server, args, &packet, &breakpoints);

	if (error || !breakpoints)
		return error;
	breakpoints_remove(breakpoints, (enum breakpoint_type)packet.type, packet.addr,
			   packet.kind);
	buffer_append_string(reply, "OK");
	return NULL;
}
