/* SPDX-License-Identifier: BSD-2-Clause */
#include "inferior/osdata.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "inferior/proc.h"

/* ---- XML ---- */

static void append_column(struct buffer *out, const char *name, const char *value)
{
	buffer_printf(out, "<column name=\"");
	buffer_append_xml(out, name);
	buffer_append_string(out, "\">");
	buffer_append_xml(out, value);
	buffer_append_string(out, "</column>");
}

static void append_number(struct buffer *out, const char *name, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	append_column(out, name, text);
}

static void begin_item(struct buffer *out)
{
	buffer_append_string(out, "<item>");
}

static void end_item(struct buffer *out)
{
	buffer_append_string(out, "</item>\n");
}

/* ---- Names ---- */

enum { NAME_SIZE = 64, ENTRY_SIZE = 16384 };

static void user_name(uid_t uid, char *name)
{
	char data[ENTRY_SIZE];
	struct passwd entry, *found = NULL;

	getpwuid_r(uid, &entry, data, sizeof(data), &found);
	if (found)
		snprintf(name, NAME_SIZE, "%s", found->pw_name);
	else
		snprintf(name, NAME_SIZE, "%u", uid);
}

static void group_name(gid_t gid, char *name)
{
	char data[ENTRY_SIZE];
	struct group entry, *found = NULL;

	getgrgid_r(gid, &entry, data, sizeof(data), &found);
	if (found)
		snprintf(name, NAME_SIZE, "%s", found->gr_name);
	else
		snprintf(name, NAME_SIZE, "%u", gid);
}

/* What the process calls itself; its number if it is gone. */
static void command_name(int pid, char *name)
{
	_cleanup_buffer_ struct buffer comm = {0};
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if (proc_read(path, &comm) < 0)
		snprintf(name, NAME_SIZE, "%d", pid);
	else
		snprintf(name, NAME_SIZE, "%.*s",
			 (int)strcspn(buffer_string(&comm), "\n"),
			 buffer_string(&comm));
}

static void append_command(struct buffer *out, const char *column, int pid)
{
	char name[NAME_SIZE];

	command_name(pid, name);
	append_column(out, column, name);
}

/* The arguments with blanks between them; a kernel thread has a [name]. */
static void append_command_line(struct buffer *out, const char *column, int pid)
{
	_cleanup_buffer_ struct buffer line = {0};
	char path[32], name[NAME_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	if (proc_read(path, &line) < 0 || line.len == 0) {
		command_name(pid, name);
		buffer_printf(&line, "[%s]", name);
	}
	for (size_t i = 0; i + 1 < line.len; i++)
		if (line.data[i] == '\0')
			line.data[i] = ' ';
	append_column(out, column, buffer_string(&line));
}

/* ---- Folders whose entries are numbers: processes, threads, descriptors ---- */

struct ids {
	int *id;
	size_t count;
};

static void cleanup_ids(struct ids *ids)
{
	free(ids->id);
}
#define _cleanup_ids_ _cleanup_(cleanup_ids)

static void ids_add(struct ids *ids, int id)
{
	int *grown = reallocarray(ids->id, ids->count + 1, sizeof(*grown));

	if (!grown)
		return;
	grown[ids->count++] = id;
	ids->id = grown;
}

static int compare_ids(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static void ids_sort(struct ids *ids)
{
	if (ids->count > 0)
		qsort(ids->id, ids->count, sizeof(*ids->id), compare_ids);
}

/* In ascending order; nothing if the folder cannot be read. */
static struct ids list_numbers(const char *path)
{
	_cleanup_closedir_ DIR *folder = opendir(path);
	const struct dirent *entry;
	struct ids ids = {0};

	while (folder && (entry = readdir(folder)))
		if (isdigit((unsigned char)entry->d_name[0]))
			ids_add(&ids, (int)strtol(entry->d_name, NULL, 10));
	ids_sort(&ids);
	return ids;
}

static struct ids list_processes(void)
{
	return list_numbers("/proc");
}

static struct ids list_threads(int pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return list_numbers(path);
}

/* A field of stat that is a number, or -1. */
static int stat_number(int tid, unsigned int field)
{
	char value[16];

	if (!proc_stat_field(tid, field, value, sizeof(value)))
		return -1;
	return (int)strtol(value, NULL, 10);
}

static void append_owner(struct buffer *out, int pid)
{
	char path[32], name[NAME_SIZE] = "";
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &st) == 0)
		user_name(st.st_uid, name);
	append_column(out, "user", name);
}

/* The processors that the threads last ran on, each once. */
static void append_cores(struct buffer *out, int pid)
{
	_cleanup_buffer_ struct buffer list = {0};
	_cleanup_ids_ struct ids threads = list_threads(pid), cores = {0};

	for (size_t i = 0; i < threads.count; i++)
		ids_add(&cores, stat_number(threads.id[i], PROC_STAT_PROCESSOR));
	ids_sort(&cores);
	for (size_t i = 0; i < cores.count; i++)
		if (cores.id[i] >= 0 && (i == 0 || cores.id[i] != cores.id[i - 1]))
			buffer_printf(&list, "%s%d", list.len > 0 ? "," : "",
				      cores.id[i]);
	append_column(out, "cores", buffer_string(&list));
}

static void append_processes(struct buffer *out)
{
	_cleanup_ids_ struct ids processes = list_processes();

	for (size_t i = 0; i < processes.count; i++) {
		begin_item(out);
		append_number(out, "pid", processes.id[i]);
		append_owner(out, processes.id[i]);
		append_command_line(out, "command", processes.id[i]);
		append_cores(out, processes.id[i]);
		end_item(out);
	}
}

struct member {
	int group, pid;
};

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->group != y->group)
		return compare_ids(&x->group, &y->group);
	return compare_ids(&x->pid, &y->pid);
}

static void append_groups(struct buffer *out)
{
	_cleanup_ids_ struct ids processes = list_processes();
	_cleanup_free_ struct member *members =
		calloc(processes.count + 1, sizeof(*members));

	if (!members)
		return;
	for (size_t i = 0; i < processes.count; i++)
		members[i] = (struct member){
			.group = stat_number(processes.id[i], PROC_STAT_GROUP),
			.pid = processes.id[i],
		};
	qsort(members, processes.count, sizeof(*members), compare_members);
	for (size_t i = 0; i < processes.count; i++) {
		/* Kernel threads are in none (0), what has just ended is -1. */
		if (members[i].group <= 0)
			continue;
		begin_item(out);
		append_number(out, "pgid", members[i].group);
		append_command(out, "leader command", members[i].group);
		append_number(out, "pid", members[i].pid);
		append_command_line(out, "command line", members[i].pid);
		end_item(out);
	}
}

static void append_threads(struct buffer *out)
{
	_cleanup_ids_ struct ids processes = list_processes();

	for (size_t i = 0; i < processes.count; i++) {
		_cleanup_ids_ struct ids threads = list_threads(processes.id[i]);

		for (size_t t = 0; t < threads.count; t++) {
			int tid = threads.id[t];

			begin_item(out);
			append_number(out, "pid", processes.id[i]);
			append_command(out, "command", processes.id[i]);
			append_number(out, "tid", tid);
			append_number(out, "core",
				      stat_number(tid, PROC_STAT_PROCESSOR));
			end_item(out);
		}
	}
}

static void append_files_of(struct buffer *out, int pid)
{
	char path[64], target[PATH_MAX];
	_cleanup_ids_ struct ids files = {0};

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	files = list_numbers(path);
	for (size_t i = 0; i < files.count; i++) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, files.id[i]);
		n = readlink(path, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		begin_item(out);
		append_number(out, "pid", pid);
		append_command(out, "command", pid);
		append_number(out, "file descriptor", files.id[i]);
		append_column(out, "name", target);
		end_item(out);
	}
}

static void append_files(struct buffer *out)
{
	_cleanup_ids_ struct ids processes = list_processes();

	for (size_t i = 0; i < processes.count; i++)
		append_files_of(out, processes.id[i]);
}

/* ---- Files that are tables, a line each row ---- */

enum format {
	PLAIN,
	HEX, /* without its 0x */
	USER,
	GROUP,
	COMMAND, /* of this process id; none for 0 */
	TIME,	 /* seconds since 1970; none for 0 */
	ADDRESS, /* "0100007F:1F90" as in /proc/net */
	PORT,
	STATE,
};

struct column {
	const char *name;
	unsigned int field; /* of the line, from 0 */
	enum format format;
};

static void format_time(const char *text, char *out, size_t size)
{
	time_t seconds = (time_t)strtoll(text, NULL, 10);
	struct tm tm;

	*out = '\0';
	if (seconds != 0 && localtime_r(&seconds, &tm))
		strftime(out, size, "%a %b %e %H:%M:%S %Y", &tm);
}

/* An address is words in the machine's byte order, eight digits each. */
static void format_address(const char *text, char *out, size_t size)
{
	size_t words = strcspn(text, ":") / 8;
	uint32_t address[4] = {0};
	char word[9];

	for (size_t i = 0; i < words && i < 4; i++) {
		snprintf(word, sizeof(word), "%s", text + 8 * i);
		address[i] = (uint32_t)strtoul(word, NULL, 16);
	}
	inet_ntop(words == 1 ? AF_INET : AF_INET6, address, out, (socklen_t)size);
}

/* include/net/tcp_states.h; for UDP the kernel uses the same numbers. */
static const char *socket_state(const char *text)
{
	static const char *const names[] = {
		[1] = "ESTABLISHED", [2] = "SYN_SENT",	 [3] = "SYN_RECV",
		[4] = "FIN_WAIT1",   [5] = "FIN_WAIT2",	 [6] = "TIME_WAIT",
		[7] = "CLOSE",	     [8] = "CLOSE_WAIT", [9] = "LAST_ACK",
		[10] = "LISTEN",     [11] = "CLOSING",
	};
	unsigned long state = strtoul(text, NULL, 16);
	size_t count = sizeof(names) / sizeof(names[0]);

	return state < count && names[state] ? names[state] : "(unknown)";
}

static void append_field(struct buffer *out, const struct column *column,
			 const char *text)
{
	char value[128] = "";
	long number = strtol(text, NULL, 10);
	const char *port = strchr(text, ':');

	switch (column->format) {
	case HEX:
		text += strncmp(text, "0x", 2) == 0 ? 2 : 0;
		/* fall through */
	case PLAIN:
		snprintf(value, sizeof(value), "%s", text);
		break;
	case USER:
		user_name((uid_t)number, value);
		break;
	case GROUP:
		group_name((gid_t)number, value);
		break;
	case COMMAND:
		if (number != 0)
			command_name((int)number, value);
		break;
	case TIME:
		format_time(text, value, sizeof(value));
		break;
	case ADDRESS:
		format_address(text, value, sizeof(value));
		break;
	case PORT:
		snprintf(value, sizeof(value), "%lu",
			 port ? strtoul(port + 1, NULL, 16) : 0);
		break;
	case STATE:
		snprintf(value, sizeof(value), "%s", socket_state(text));
		break;
	}
	append_column(out, column->name, value);
}

enum { FIELDS_MAX = 32 };

static unsigned int split(char *line, char **fields)
{
	unsigned int count = 0;
	char *state = NULL, *field = strtok_r(line, " \t", &state);

	for (; field && count < FIELDS_MAX; field = strtok_r(NULL, " \t", &state))
		fields[count++] = field;
	return count;
}

/* @more: what every item of the file ends with. */
static void append_table(struct buffer *out, const char *path, bool has_header,
			 const struct column *columns, const char *more)
{
	_cleanup_buffer_ struct buffer text = {0};
	char *line, *rest, *fields[FIELDS_MAX];

	if (proc_read(path, &text) < 0 || text.len == 0)
		return;
	rest = text.data;
	if (has_header)
		strsep(&rest, "\n");
	while ((line = strsep(&rest, "\n"))) {
		unsigned int count = split(line, fields);

		if (count == 0)
			continue;
		begin_item(out);
		for (const struct column *column = columns; column->name; column++)
			append_field(out, column,
				     column->field < count ? fields[column->field]
							   : "");
		buffer_append_string(out, more);
		end_item(out);
	}
}

static void append_modules(struct buffer *out)
{
	static const struct column columns[] = {
		{"name", 0, PLAIN},	{"size", 1, PLAIN},
		{"num uses", 2, PLAIN}, {"dependencies", 3, PLAIN},
		{"status", 4, PLAIN},	{"address", 5, HEX},
		{NULL, 0, PLAIN},
	};

	append_table(out, "/proc/modules", false, columns, "");
}

static void append_queues(struct buffer *out)
{
	static const struct column columns[] = {
		{"key", 0, PLAIN},
		{"msqid", 1, PLAIN},
		{"permissions", 2, PLAIN},
		{"num used bytes", 3, PLAIN},
		{"num messages", 4, PLAIN},
		{"last msgsnd() command", 5, COMMAND},
		{"last msgrcv() command", 6, COMMAND},
		{"user", 7, USER},
		{"group", 8, GROUP},
		{"creator user", 9, USER},
		{"creator group", 10, GROUP},
		{"last msgsnd() time", 11, TIME},
		{"last msgrcv() time", 12, TIME},
		{"last msgctl() time", 13, TIME},
		{NULL, 0, PLAIN},
	};

	append_table(out, "/proc/sysvipc/msg", true, columns, "");
}

static void append_semaphores(struct buffer *out)
{
	static const struct column columns[] = {
		{"key", 0, PLAIN},
		{"semid", 1, PLAIN},
		{"permissions", 2, PLAIN},
		{"num semaphores", 3, PLAIN},
		{"user", 4, USER},
		{"group", 5, GROUP},
		{"creator user", 6, USER},
		{"creator group", 7, GROUP},
		{"last semop() time", 8, TIME},
		{"last semctl() time", 9, TIME},
		{NULL, 0, PLAIN},
	};

	append_table(out, "/proc/sysvipc/sem", true, columns, "");
}

static void append_shared_memory(struct buffer *out)
{
	static const struct column columns[] = {
		{"key", 0, PLAIN},
		{"shmid", 1, PLAIN},
		{"permissions", 2, PLAIN},
		{"size", 3, PLAIN},
		{"creator command", 4, COMMAND},
		{"last op. command", 5, COMMAND},
		{"num attached", 6, PLAIN},
		{"user", 7, USER},
		{"group", 8, GROUP},
		{"creator user", 9, USER},
		{"creator group", 10, GROUP},
		{"last shmat() time", 11, TIME},
		{"last shmdt() time", 12, TIME},
		{"last shmctl() time", 13, TIME},
		{NULL, 0, PLAIN},
	};

	append_table(out, "/proc/sysvipc/shm", true, columns, "");
}

static void append_sockets(struct buffer *out)
{
	static const struct column columns[] = {
		{"local address", 1, ADDRESS},
		{"local port", 1, PORT},
		{"remote address", 2, ADDRESS},
		{"remote port", 2, PORT},
		{"state", 3, STATE},
		{"user", 7, USER},
		{NULL, 0, PLAIN},
	};
	static const struct {
		const char *path, *family, *protocol;
	} files[] = {
		{"/proc/net/tcp", "INET", "STREAM"},
		{"/proc/net/udp", "INET", "DGRAM"},
		{"/proc/net/tcp6", "INET6", "STREAM"},
		{"/proc/net/udp6", "INET6", "DGRAM"},
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		_cleanup_buffer_ struct buffer more = {0};

		append_column(&more, "family", files[i].family);
		append_column(&more, "protocol", files[i].protocol);
		append_table(out, files[i].path, true, columns, buffer_string(&more));
	}
}

/* Removes white space at the end, returns the text behind that at the start. */
static char *trim(char *text)
{
	size_t len = strlen(text);

	while (len > 0 && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

/* Lines "NAME : VALUE"; an empty one ends a processor. */
static void append_cpus(struct buffer *out)
{
	_cleanup_buffer_ struct buffer text = {0};
	bool open = false;
	char *line, *rest;

	if (proc_read("/proc/cpuinfo", &text) < 0 || text.len == 0)
		return;
	rest = text.data;
	while ((line = strsep(&rest, "\n"))) {
		char *name = strsep(&line, ":");

		if (!line) {
			if (open)
				end_item(out);
			open = false;
			continue;
		}
		if (!open)
			begin_item(out);
		open = true;
		append_column(out, trim(name), trim(line));
	}
	if (open)
		end_item(out);
}

/* ---- The tables ---- */

static void append_types(struct buffer *out);

/* The table of tables is first, and is not in itself. */
static const struct osdata_type {
	const char *name;
	const char *id; /* of the document */
	const char *title;
	const char *description;
	void (*append)(struct buffer *out);
} types[] = {
	{"types", "types", "Types", "Listing of all tables", append_types},
	{"cpus", "cpus", "CPUs", "Listing of all cpus/cores on the system",
	 append_cpus},
	{"files", "files", "File descriptors", "Listing of all file descriptors",
	 append_files},
	{"modules", "modules", "Kernel modules", "Listing of all loaded kernel modules",
	 append_modules},
	{"msg", "message queues", "Message queues", "Listing of all message queues",
	 append_queues},
	{"processes", "processes", "Processes", "Listing of all processes",
	 append_processes},
	{"procgroups", "process groups", "Process groups",
	 "Listing of all process groups", append_groups},
	{"semaphores", "semaphores", "Semaphores", "Listing of all semaphores",
	 append_semaphores},
	{"shm", "shared memory", "Shared-memory regions",
	 "Listing of all shared-memory regions", append_shared_memory},
	{"sockets", "I sockets", "Sockets", "Listing of all internet-domain sockets",
	 append_sockets},
	{"threads", "threads", "Threads", "Listing of all threads", append_threads},
};
enum { NTYPES = sizeof(types) / sizeof(types[0]) };

/* gdb takes the column "Title" for the titles of windows and does not show it. */
static void append_types(struct buffer *out)
{
	for (int i = 1; i < NTYPES; i++) {
		begin_item(out);
		append_column(out, "Type", types[i].name);
		append_column(out, "Description", types[i].description);
		append_column(out, "Title", types[i].title);
		end_item(out);
	}
}

bool osdata_xml(const char *type, struct buffer *out)
{
	const struct osdata_type *row = *type == '\0' ? &types[0] : NULL;

	for (int i = 0; i < NTYPES && !row; i++)
		if (strcmp(types[i].name, type) == 0)
			row = &types[i];
	if (!row)
		return false;
	buffer_printf(out, "<osdata type=\"%s\">\n", row->id);
	row->append(out);
	buffer_append_string(out, "</osdata>\n");
	return true;
}
