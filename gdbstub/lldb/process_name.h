/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes of this machine, by the name of their program. */
#ifndef TRUEHIT_LLDB_PROCESS_NAME_H
#define TRUEHIT_LLDB_PROCESS_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** A list of processes; all zero: an empty one. */
struct process_list {
	pid_t *pids;
	size_t count, allocated;
};

void process_list_deinit(struct process_list *list);
bool process_list_has(const struct process_list *list, pid_t pid);
/**
 * Those whose program's file has this name, or this path. Zombies have no program. 0 or
 * a negative errno.
 */
int process_list_find(struct process_list *list, const char *name);

#endif
