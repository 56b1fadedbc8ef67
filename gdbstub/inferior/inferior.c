/* SPDX-License-Identifier: BSD-2-Clause */
#include "inferior/inferior.h"

#include <stdlib.h>

#include "inferior/memory.h"
#include "inferior/terminal.h"
#include "inferior/threaddb.h"
#include "inferior/wait.h"

void inferiors_init(struct inferiors *inferiors)
{
	TAILQ_INIT(&inferiors->list);
	inferiors->early_stops = NULL;
	inferiors->threaddb_path = NULL;
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

struct inferior *inferior_find(struct inferiors *inferiors, pid_t pid)
{
	struct inferior *inferior;

	TAILQ_FOREACH (inferior, &inferiors->list, link)
		if (inferior->pid == pid)
			return inferior;
	return NULL;
}

struct thread *inferior_thread(struct inferior *inferior, pid_t tid)
{
	struct thread *thread;

	TAILQ_FOREACH (thread, &inferior->threads, link)
		if (thread->tid == tid)
			return thread;
	return NULL;
}

struct thread *thread_find(struct inferiors *inferiors, pid_t tid)
{
	struct inferior *inferior;

	TAILQ_FOREACH (inferior, &inferiors->list, link) {
		struct thread *thread = inferior_thread(inferior, tid);

		if (thread)
			return thread;
	}
	return NULL;
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
	return thread;
}

void thread_destroy(struct thread *thread)
{
	TAILQ_REMOVE(&thread->inferior->threads, thread, link);
	free(thread->pending_stop);
	free(thread->last_hit);
	free(thread->last_regset);
	free(thread);
}
