/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/osdata/osdata.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/base/log.h"
#include "gdbstub/base/patience.h"
#include "gdbstub/osdata/osdata_item.h"
#include "gdbstub/osdata/osdata_tables.h"
#include "gdbstub/inferior/proc.h"

enum {
	COMMAND_LINE_MAX = 128 << 10, /* bytes shown of the arguments of a process */
	TABLE_LIMIT = 10 * 1000,      /* ms to make one */
};

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

static void append_command(struct buffer *out, const char *column, int pid)
{
	char name[OSDATA_NAME_SIZE];

	osdata_command_name(pid, name);
	osdata_column(out, column, name);
}

/*
 * The arguments with blanks between them; a kernel thread has a [name]. A process may
 * have the kernel take any memory of its for its arguments (prctl(2), PR_SET_MM_MAP),
 * so they are cut.
 */
static void append_command_line(struct buffer *out, const char *column, int pid)
{
	_cleanup_buffer_ struct buffer line = {0};
	char path[32], name[OSDATA_NAME_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	if (proc_read_some(path, COMMAND_LINE_MAX, &line) == -EFBIG) {
		buffer_append(&line, "...", sizeof("..."));
	} else if (line.len == 0) {
		osdata_command_name(pid, name);
		buffer_printf(&line, "[%s]", name);
	}
	for (size_t i = 0; i + 1 < line.len; i++)
		if (line.data[i] == '\0')
			line.data[i] = ' ';
	osdata_column(out, column, buffer_string(&line));
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
	char path[32], name[OSDATA_NAME_SIZE] = "";
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &st) == 0)
		osdata_user(st.st_uid, name);
	osdata_column(out, "user", name);
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
	osdata_column(out, "cores", buffer_string(&list));
}

static void append_processes(struct osdata_table *table)
{
	struct buffer *out = table->out;
	_cleanup_ids_ struct ids processes = list_processes();

	for (size_t i = 0; i < processes.count && osdata_goes_on(table); i++) {
		osdata_begin_item(out);
		osdata_number(out, "pid", processes.id[i]);
		append_owner(out, processes.id[i]);
		append_command_line(out, "command", processes.id[i]);
		append_cores(out, processes.id[i]);
		osdata_end_item(out);
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

static void append_groups(struct osdata_table *table)
{
	struct buffer *out = table->out;
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
	for (size_t i = 0; i < processes.count && osdata_goes_on(table); i++) {
		/* Kernel threads are in none (0), what has just ended is -1. */
		if (members[i].group <= 0)
			continue;
		osdata_begin_item(out);
		osdata_number(out, "pgid", members[i].group);
		append_command(out, "leader command", members[i].group);
		osdata_number(out, "pid", members[i].pid);
		append_command_line(out, "command line", members[i].pid);
		osdata_end_item(out);
	}
}

static void append_threads(struct osdata_table *table)
{
	struct buffer *out = table->out;
	_cleanup_ids_ struct ids processes = list_processes();

	for (size_t i = 0; i < processes.count; i++) {
		_cleanup_ids_ struct ids threads = list_threads(processes.id[i]);

		for (size_t t = 0; t < threads.count && osdata_goes_on(table); t++) {
			int tid = threads.id[t];

			osdata_begin_item(out);
			osdata_number(out, "pid", processes.id[i]);
			append_command(out, "command", processes.id[i]);
			osdata_number(out, "tid", tid);
			osdata_number(out, "core",
				      stat_number(tid, PROC_STAT_PROCESSOR));
			osdata_end_item(out);
		}
	}
}

static void append_files_of(struct osdata_table *table, int pid)
{
	struct buffer *out = table->out;
	char path[64], target[PATH_MAX];
	_cleanup_ids_ struct ids files = {0};

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	files = list_numbers(path);
	for (size_t i = 0; i < files.count && osdata_goes_on(table); i++) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, files.id[i]);
		n = readlink(path, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		osdata_begin_item(out);
		osdata_number(out, "pid", pid);
		append_command(out, "command", pid);
		osdata_number(out, "file descriptor", files.id[i]);
		osdata_column(out, "name", target);
		osdata_end_item(out);
	}
}

static void append_files(struct osdata_table *table)
{
	_cleanup_ids_ struct ids processes = list_processes();

	for (size_t i = 0; i < processes.count && osdata_goes_on(table); i++)
		append_files_of(table, processes.id[i]);
}

/* ---- The tables ---- */

static void append_types(struct osdata_table *table);

/* The table of tables is first, and is not in itself. */
static const struct osdata_type {
	const char *name;
	const char *id; /* of the document */
	const char *title;
	const char *description;
	void (*append)(struct osdata_table *table);
} types[] = {
	{"types", "types", "Types", "Listing of all tables", append_types},
	{"cpus", "cpus", "CPUs", "Listing of all cpus/cores on the system",
	 osdata_cpus},
	{"files", "files", "File descriptors", "Listing of all file descriptors",
	 append_files},
	{"modules", "modules", "Kernel modules", "Listing of all loaded kernel modules",
	 osdata_modules},
	{"msg", "message queues", "Message queues", "Listing of all message queues",
	 osdata_queues},
	{"processes", "processes", "Processes", "Listing of all processes",
	 append_processes},
	{"procgroups", "process groups", "Process groups",
	 "Listing of all process groups", append_groups},
	{"semaphores", "semaphores", "Semaphores", "Listing of all semaphores",
	 osdata_semaphores},
	{"shm", "shared memory", "Shared-memory regions",
	 "Listing of all shared-memory regions", osdata_shared_memory},
	{"sockets", "I sockets", "Sockets", "Listing of all internet-domain sockets",
	 osdata_sockets},
	{"threads", "threads", "Threads", "Listing of all threads", append_threads},
};
enum { NTYPES = sizeof(types) / sizeof(types[0]) };

/* gdb takes the column "Title" for the titles of windows and does not show it. */
static void append_types(struct osdata_table *table)
{
	struct buffer *out = table->out;

	for (int i = 1; i < NTYPES; i++) {
		osdata_begin_item(out);
		osdata_column(out, "Type", types[i].name);
		osdata_column(out, "Description", types[i].description);
		osdata_column(out, "Title", types[i].title);
		osdata_end_item(out);
	}
}

bool osdata_xml(const char *type, int client, struct buffer *out)
{
	struct osdata_table table = {.out = out};
	const struct osdata_type *row = *type == '\0' ? &types[0] : NULL;

	for (int i = 0; i < NTYPES && !row; i++)
		if (strcmp(types[i].name, type) == 0)
			row = &types[i];
	if (!row)
		return false;
	buffer_printf(out, "<osdata type=\"%s\">\n", row->id);
	patience_begin(&table.patience, client, TABLE_LIMIT);
	row->append(&table);
	buffer_append_string(out, "</osdata>\n");
	if (table.cut)
		log_warning("info os %s: the table is cut off as %s", row->name,
			    table.cut);
	return true;
}
