/* SPDX-License-Identifier: BSD-2-Clause */
#include "inferior/inferior.h"

#include <stdlib.h>

#include "base/log.h"
#include "inferior/memory.h"
#include "inferior/terminal.h"
#include "inferior/threaddb.h"
#include "inferior/wait.h"

void inferiors_init(struct inferiors *inferiors)
{
	*inferiors = (struct inferiors){.changed = true};
	TAILQ_INIT(&inferiors->list);
	TAILQ_INIT(&inferiors->expected);
	TAILQ_INIT(&inferiors->has_pending);
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
	free(take_ptr(inferiors->threaddb_path));
}

static const struct inferior *memory_owner(const struct inferior *inferior)
{
	while (inferior->vfork_parent)
		inferior = inferior->vfork_parent;
	return inferior;
}

bool inferior_shares_memory(const struct inferior *a, const struct inferior *b)
{
	return memory_owner(a) == memory_owner(b);
}

void inferior_patience(const struct inferior *inferior, struct patience *patience,
		       int limit)
{
	patience_begin(patience,
		       inferior->owner ? inferior->owner->client : PATIENCE_NOBODY,
		       limit);
}

/* FNV-1a. */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return hash;
}

void inferior_warn(struct inferior *inferior, const char *text)
{
	const unsigned int room =
		sizeof(inferior->warnings) / sizeof(inferior->warnings[0]);
	uint64_t hash = hash_of(text);

	for (unsigned int i = 0; i < room && i < inferior->nwarnings; i++)
		if (inferior->warnings[i] == hash)
			return;
	inferior->warnings[inferior->nwarnings++ % room] = hash;
	log_warning("process %d: %s", (int)inferior->pid, text);
}

struct inferior *inferior_find(struct inferiors *inferiors, pid_t pid)
{
	struct inferior *inferior;

	TAILQ_FOREACH (inferior, &inferiors->list, link)
		if (inferior->pid == pid)
			return inferior;
	return NULL;
}

static struct thread *thread_of(struct table_entry *entry)
{
	return entry ? (struct thread *)((char *)entry -
					 offsetof(struct thread, by_tid))
		     : NULL;
}

/* A tid may be given anew before the end of the thread that had it is known. */
struct thread *inferior_thread(struct inferior *inferior, pid_t tid)
{
	struct table_entry *entry = table_find(&inferior->owner->by_tid, (uint64_t)tid);

	while (entry && thread_of(entry)->inferior != inferior)
		entry = table_find_next(entry);
	return thread_of(entry);
}

struct thread *thread_find(struct inferiors *inferiors, pid_t tid)
{
	return thread_of(table_find(&inferiors->by_tid, (uint64_t)tid));
}

struct inferior *inferior_create(struct inferiors *inferiors, pid_t pid, bool attached)
{
	struct inferior *inferior = calloc(1, sizeof(*inferior));

	if (!inferior)
		return NULL;
	inferior->pid = pid;
	inferior->attached = attached;
	inferior->arch = arch_native();
	inferior->mem_fd = -1;
	inferior->owner = inferiors;
	TAILQ_INIT(&inferior->threads);
	if (!thread_create(inferior, pid)) {
		free(inferior);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&inferiors->list, inferior, link);
	memory_open(inferior);
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
	wait_forget(inferior);
	threaddb_forget(inferior);
	while (!TAILQ_EMPTY(&inferior->threads))
		thread_destroy(TAILQ_FIRST(&inferior->threads));
	TAILQ_REMOVE(&inferior->owner->list, inferior, link);
	memory_close(inferior);
	syscalls_clear(&inferior->syscalls);
	free(inferior->pending_stop);
	free(inferior);
}

struct thread *thread_create(struct inferior *inferior, pid_t tid)
{
	struct thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return NULL;
	thread->last_regset = calloc(1, sizeof(*thread->last_regset));
	thread->inferior = inferior;
	thread->tid = tid;
	thread->group = inferior->pid;
	thread->syscall = SYSCALL_NONE;
	TAILQ_INSERT_TAIL(&inferior->threads, thread, link);
	table_insert(&inferior->owner->by_tid, &thread->by_tid, (uint64_t)tid);
	return thread;
}

void thread_destroy(struct thread *thread)
{
	struct inferiors *inferiors = thread->inferior->owner;

	thread_set_group(thread, thread->inferior->pid);
	TAILQ_REMOVE(&thread->inferior->threads, thread, link);
	table_remove(&inferiors->by_tid, &thread->by_tid);
	if (thread->is_expected)
		TAILQ_REMOVE(&inferiors->expected, thread, expected);
	if (thread->pending_stop)
		TAILQ_REMOVE(&inferiors->has_pending, thread, has_pending);
	free(thread->pending_stop);
	free(thread->last_hit);
	free(thread->look);
	free(thread->last_regset);
	free(thread);
}

void thread_set_group(struct thread *thread, pid_t group)
{
	struct inferior *inferior = thread->inferior;

	inferior->ntasks -= thread->group != inferior->pid;
	inferior->ntasks += group != inferior->pid;
	thread->group = group;
}

void thread_renumber(struct thread *thread, pid_t tid)
{
	struct table *by_tid = &thread->inferior->owner->by_tid;

	table_remove(by_tid, &thread->by_tid);
	thread->tid = tid;
	table_insert(by_tid, &thread->by_tid, (uint64_t)tid);
}
