/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/inferior/thread.h"

#include <stddef.h>
#include <stdlib.h>

#include "gdbstub/inferior/proc.h"

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

struct thread *thread_create(struct inferior *inferior, pid_t tid)
{
	const struct control_hooks *hooks = inferior->owner->hooks;
	struct thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return NULL;
	thread->last_regset = calloc(1, sizeof(*thread->last_regset));
	thread->inferior = inferior;
	thread->tid = tid;
	thread->group = inferior->pid;
	thread->syscall = SYSCALL_NONE;
	if (hooks && !hooks->thread_made(thread)) {
		free(thread->last_regset);
		free(thread);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&inferior->threads, thread, link);
	table_insert(&inferior->owner->by_tid, &thread->by_tid, (uint64_t)tid);
	return thread;
}

void thread_set_group(struct thread *thread, pid_t group)
{
	struct inferior *inferior = thread->inferior;

	inferior->ntasks -= thread->group != inferior->pid;
	inferior->ntasks += group != inferior->pid;
	thread->group = group;
}

void thread_destroy(struct thread *thread)
{
	struct inferiors *inferiors = thread->inferior->owner;

	if (thread->control)
		inferiors->hooks->thread_gone(thread);
	thread_set_group(thread, thread->inferior->pid);
	TAILQ_REMOVE(&thread->inferior->threads, thread, link);
	table_remove(&inferiors->by_tid, &thread->by_tid);
	if (thread->is_expected)
		TAILQ_REMOVE(&inferiors->expected, thread, expected);
	if (inferiors->stat.tid == thread->tid)
		proc_close_stat(inferiors);
	free(thread->last_regset);
	free(thread);
}

void thread_renumber(struct thread *thread, pid_t tid)
{
	struct table *by_tid = &thread->inferior->owner->by_tid;

	table_remove(by_tid, &thread->by_tid);
	thread->tid = tid;
	table_insert(by_tid, &thread->by_tid, (uint64_t)tid);
}

void thread_expect(struct thread *thread)
{
	if (!thread->is_expected)
		TAILQ_INSERT_TAIL(&thread->inferior->owner->expected, thread, expected);
	thread->is_expected = true;
}
