/* SPDX-License-Identifier: BSD-2-Clause */
/* vAttachName vAttachWait vAttachOrWait qVAttachOrWaitSupported: to a process by the
 * name of its program. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/patience.h"
#include "gdbstub/rsp/connection.h"
#include "gdbstub/client/client.h"
#include "gdbstub/client/client_program.h"
#include "gdbstub/client/report.h"
#include "gdbstub/lldb/lldb_packets.h"
#include "gdbstub/lldb/process_name.h"

enum { LOOK_INTERVAL = 10 }; /* ms */

/* ---- which process ---- */

/* One that is not among those before. 0: there is none; -EEXIST: there are several. */
static pid_t find_new(const char *name, const struct process_list *before)
{
	struct process_list _cleanup_(process_list_deinit) found = {0};
	int err = process_list_find(&found, name);
	pid_t pid = 0;

	for (size_t i = 0; err == 0 && i < found.count; i++) {
		if (process_list_has(before, found.pids[i]))
			continue;
		if (pid > 0)
			return -EEXIST;
		pid = found.pids[i];
	}
	return err < 0 ? err : pid;
}

static struct error *find_running(const char *name, pid_t *pid)
{
	static const struct process_list nobody;

	*pid = find_new(name, &nobody);
	if (*pid > 0)
		return NULL;
	if (*pid == 0)
		return error_create(ESRCH, "no process runs a program named %s", name);
	if (*pid == -EEXIST)
		return error_create(0,
				    "several processes run a program named %s; "
				    "attach to one by its number",
				    name);
	return error_create(-*pid, "the list of processes");
}

/*
 * Waits for the next one. A client that sends something meanwhile, its interrupt or
 * whatever, or goes, does not want it any more; nor does who asks the server to end.
 */
static struct error *wait_for(struct client *client, const char *name,
			      const struct process_list *before, pid_t *pid)
{
	struct pollfd input = {.fd = connection_input(client->connection),
			       .events = POLLIN};
	struct patience patience;

	patience_begin(&patience, input.fd, PATIENCE_ENDLESS);
	do {
		*pid = find_new(name, before);
		if (*pid != 0)
			break;
		if (connection_has_input(client->connection) ||
		    patience_ended(&patience) || poll(&input, 1, LOOK_INTERVAL) != 0)
			return error_create(EINTR, "no program named %s was started",
					    name);
	} while (true);
	return *pid > 0 ? NULL : find_running(name, pid);
}

/* ---- the packets ---- */

/* Threads of others are not looked after while a new process is waited for. */
static struct error *check_room(const struct client *client)
{
	if (client_has_process(client))
		return error_create(EBUSY, "Already debugging a process");
	return NULL;
}

static struct error *attach(struct client *client, pid_t pid, struct buffer *reply)
{
	struct error *error = client_attach(client, pid);

	if (!error)
		report_last_stop(client, reply);
	return error;
}

static struct error *parse_name(struct cursor args, char **ret)
{
	size_t len;

	*ret = cursor_hex_string(args, &len);
	if (*ret && len > 0 && strlen(*ret) == len)
		return NULL;
	return error_create(EINVAL, "not the name of a program in hex digits");
}

struct error *packet_vAttachName(struct client *client, struct cursor *args,
				 struct buffer *reply)
{
	_cleanup_free_ char *name = NULL;
	struct error *error = parse_name(*args, &name);
	pid_t pid;

	if (!error)
		error = check_room(client);
	if (!error)
		error = find_running(name, &pid);
	return error ? error : attach(client, pid, reply);
}

static struct error *wait_and_attach(struct client *client, struct cursor args,
				     bool takes_running, struct buffer *reply)
{
	struct process_list _cleanup_(process_list_deinit) before = {0};
	_cleanup_free_ char *name = NULL;
	struct error *error = parse_name(args, &name);
	pid_t pid;
	int err;

	if (!error)
		error = check_room(client);
	if (error)
		return error;
	err = takes_running ? 0 : process_list_find(&before, name);
	if (err < 0)
		return error_create(-err, "the list of processes");
	error = wait_for(client, name, &before, &pid);
	return error ? error : attach(client, pid, reply);
}

struct error *packet_vAttachWait(struct client *client, struct cursor *args,
				 struct buffer *reply)
{
	return wait_and_attach(client, *args, false, reply);
}

struct error *packet_vAttachOrWait(struct client *client, struct cursor *args,
				   struct buffer *reply)
{
	return wait_and_attach(client, *args, true, reply);
}

struct error *packet_qVAttachOrWaitSupported(struct client *client, struct cursor *args,
					     struct buffer *reply)
{
	(void)client;
	(void)args;
	buffer_append_string(reply, "OK");
	return NULL;
}
