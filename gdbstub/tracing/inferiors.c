/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/inferior/maps.h"
#include "gdbstub/tracing/inferiors.h"

#include <stdlib.h>

#include "gdbstub/tracing/early.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/syscalls.h"
#include "gdbstub/tracing/terminal.h"
#include "gdbstub/inferior/thread.h"

void inferiors_init(struct inferiors *inferiors)
{
	*inferiors = (struct inferiors){.changed = true};
	TAILQ_INIT(&inferiors->list);
	TAILQ_INIT(&inferiors->expected);
	inferiors->client = PATIENCE_NOBODY;
}

void inferiors_deinit(struct inferiors *inferiors)
{
	while (!TAILQ_EMPTY(&inferiors->list))
		inferior_destroy(TAILQ_FIRST(&inferiors->list));
	while (inferiors->early_stops) {
		struct early_stop *stop = inferiors->early_stops;

		inferiors->early_stops = stop->next;
		free(stop);
	}
	table_deinit(&inferiors->by_tid);
	proc_close_stat(inferiors);
	free(take_ptr(inferiors->threaddb_path));
}

static void forget(struct inferior *inferior)
{
	if (inferior->control)
		inferior->owner->hooks->inferior_gone(inferior);
	maps_destroy(inferior->maps);
	free(inferior);
}

struct inferior *inferior_create(struct inferiors *inferiors, pid_t pid, bool attached)
{
	const struct control_hooks *hooks = inferiors->hooks;
	struct inferior *inferior = calloc(1, sizeof(*inferior));

	if (!inferior)
		return NULL;
	inferior->pid = pid;
	inferior->attached = attached;
	inferior->arch = arch_native();
	inferior->mem_fd = -1;
	inferior->maps = maps_create();
	inferior->owner = inferiors;
	TAILQ_INIT(&inferior->threads);
	if (hooks && !hooks->inferior_made(inferior)) {
		maps_destroy(inferior->maps);
		free(inferior);
		return NULL;
	}
	if (!thread_create(inferior, pid)) {
		forget(inferior);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&inferiors->list, inferior, link);
	maps_outdate(inferiors);
	return inferior;
}

void inferior_destroy(struct inferior *inferior)
{
	struct inferior *other;

	TAILQ_FOREACH (other, &inferior->owner->list, link) {
		if (other->vfork_parent == inferior)
			other->vfork_parent = inferior->vfork_parent;
	}
	terminal_return(inferior->pid, inferior->lender_group);
	early_forget(inferior);
	inferior_forget_threaddb(inferior);
	while (!TAILQ_EMPTY(&inferior->threads))
		thread_destroy(TAILQ_FIRST(&inferior->threads));
	TAILQ_REMOVE(&inferior->owner->list, inferior, link);
	memory_close(inferior);
	syscalls_clear(&inferior->syscalls);
	forget(inferior);
}
