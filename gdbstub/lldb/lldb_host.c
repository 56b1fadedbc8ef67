/* SPDX-License-Identifier: BSD-2-Clause */
/* qHostInfo qProcessInfo qGetPid qGetWorkingDir qWatchpointSupportInfo: the machine,
 * and the process. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "arch/arch.h"
#include "gdbstub/inferior/inferior.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/tracing/startup.h"
#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"
#include "gdbstub/lldb/lldb_packets.h"

enum { OS_RELEASE_MAX = 64 << 10 };

static void append_hex_key(struct buffer *out, const char *key, const char *value)
{
	buffer_printf(out, "%s:", key);
	buffer_append_hex(out, value, strlen(value));
	buffer_append_char(out, ';');
}

/* ---- the machine ---- */

/* os-release(5): a line ID=debian, maybe in quotes. */
static void append_distribution(struct buffer *out)
{
	struct buffer text _cleanup_buffer_ = {0};
	const char *id;
	char name[64];

	buffer_append_char(&text, '\n');
	proc_read_some("/etc/os-release", OS_RELEASE_MAX, &text);
	id = strstr(buffer_string(&text), "\nID=");
	if (!id)
		return;
	id += strlen("\nID=");
	id += strspn(id, "\"'");
	if (sscanf(id, "%63[a-z0-9._-]", name) == 1)
		append_hex_key(out, "distribution_id", name);
}

static void append_system(struct buffer *out)
{
	unsigned int major, minor, patch;
	struct utsname name;

	if (uname(&name) < 0)
		return;
	if (sscanf(name.release, "%u.%u.%u", &major, &minor, &patch) == 3)
		buffer_printf(out, "os_version:%u.%u.%u;", major, minor, patch);
	append_hex_key(out, "os_build", name.release);
	append_hex_key(out, "os_kernel", name.version);
	append_hex_key(out, "hostname", name.nodename);
}

struct error *packet_qHostInfo(struct client *client, struct cursor *args,
			       struct buffer *reply)
{
	const struct arch_ops *arch = arch_native();

	(void)client;
	(void)args;
	append_hex_key(reply, "triple", arch->triple);
	buffer_printf(reply, "ptrsize:8;watchpoint_exceptions_received:%s;",
		      arch->stores ? "before" : "after");
	buffer_append_string(reply, "endian:little;");
	buffer_printf(reply, "vm-page-size:%ld;", sysconf(_SC_PAGESIZE));
	append_distribution(reply);
	append_system(reply);
	return NULL;
}

/* ---- the process ---- */

static struct error *current(struct client *client, const struct inferior **ret)
{
	*ret = client_inferior(client);
	return *ret ? NULL : error_create(ESRCH, "no process is being debugged");
}

/* Two numbers of a line "NAME:\tREAL\tEFFECTIVE..." of /proc/PID/status. */
static void append_ids(const char *status, const char *line, const char *what,
		       struct buffer *out)
{
	const char *at = strstr(status, line);
	unsigned int real, effective;

	if (at && sscanf(at + strlen(line), "%u %u", &real, &effective) == 2)
		buffer_printf(out, "real-%s:%x;effective-%s:%x;", what, real, what,
			      effective);
}

struct error *packet_qProcessInfo(struct client *client, struct cursor *args,
				  struct buffer *reply)
{
	struct buffer status _cleanup_buffer_ = {0};
	const struct inferior *inferior;
	struct error *error = current(client, &inferior);

	(void)args;
	if (error)
		return error;
	inferior_proc_file(inferior, "status", &status);
	buffer_printf(reply, "pid:%x;parent-pid:%lx;", (unsigned int)inferior->pid,
		      proc_status_number(inferior->pid, "PPid"));
	append_ids(buffer_string(&status), "\nUid:", "uid", reply);
	append_ids(buffer_string(&status), "\nGid:", "gid", reply);
	append_hex_key(reply, "triple",
		       inferior->compat ? inferior->arch->compat->triple
					: inferior->arch->triple);
	buffer_printf(reply, "ostype:linux;endian:little;ptrsize:%d;",
		      inferior->compat ? 4 : 8);
	return NULL;
}

struct error *packet_qGetPid(struct client *client, struct cursor *args,
			     struct buffer *reply)
{
	const struct inferior *inferior;
	struct error *error = current(client, &inferior);

	(void)args;
	if (!error)
		buffer_printf(reply, "%x", (unsigned int)inferior->pid);
	return error;
}

/* Where programs are started: what was set, or the server's own. */
struct error *packet_qGetWorkingDir(struct client *client, struct cursor *args,
				    struct buffer *reply)
{
	const char *directory = client->startup->directory;
	char own[PATH_MAX];

	(void)args;
	if (!directory)
		directory = getcwd(own, sizeof(own));
	if (!directory)
		return error_create(errno, "the working directory");
	buffer_append_hex(reply, directory, strlen(directory));
	return NULL;
}

struct error *packet_qWatchpointSupportInfo(struct client *client, struct cursor *args,
					    struct buffer *reply)
{
	bool shared;

	(void)client;
	(void)args;
	buffer_printf(reply, "num:%u;", arch_native()->hw_slots(HW_WRITE, &shared));
	return NULL;
}
