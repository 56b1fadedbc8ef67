/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/lldb/process_name.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/base/cleanup.h"

void process_list_deinit(struct process_list *list)
{
	free(list->pids);
	*list = (struct process_list){0};
}

bool process_list_has(const struct process_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->pids[i] == pid)
			return true;
	return false;
}

static int add(struct process_list *list, pid_t pid)
{
	if (list->count == list->allocated) {
		const size_t wanted = list->allocated ? 2 * list->allocated : 16;
		pid_t *pids = reallocarray(list->pids, wanted, sizeof(*pids));

		if (!pids)
			return -ENOMEM;
		list->pids = pids;
		list->allocated = wanted;
	}
	list->pids[list->count++] = pid;
	return 0;
}

/* Of a file that was deleted or replaced meanwhile, the link says so after the name.
 */
static bool has_name(pid_t pid, const char *name)
{
	static const char suffix[] = " (deleted)";
	char link[32], path[PATH_MAX];
	const char *base;
	size_t tail;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	tail = (size_t)n >= sizeof(suffix) ? (size_t)n - (sizeof(suffix) - 1) : 0;
	if (tail > 0 && strcmp(path + tail, suffix) == 0)
		path[tail] = '\0';
	base = strrchr(path, '/');
	return strcmp(path, name) == 0 || (base && strcmp(base + 1, name) == 0);
}

int process_list_find(struct process_list *list, const char *name)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc");
	const struct dirent *entry;
	int err = 0;

	if (!dir)
		return -errno;
	while (err == 0 && (entry = readdir(dir))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (*end == '\0' && pid > 0 && pid <= INT_MAX &&
		    has_name((pid_t)pid, name))
			err = add(list, (pid_t)pid);
	}
	return err;
}
