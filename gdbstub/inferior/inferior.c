/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/inferior/inferior.h"

#include <stdlib.h>

#include "gdbstub/base/log.h"
#include "gdbstub/inferior/thread.h"

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

struct inferior *inferior_next_sharing(const struct inferior *inferior,
				       const struct inferior *last)
{
	struct inferior *other =
		last ? TAILQ_NEXT(last, link) : TAILQ_FIRST(&inferior->owner->list);

	while (other && !inferior_shares_memory(other, inferior))
		other = TAILQ_NEXT(other, link);
	return other;
}

bool inferior_lends_memory(const struct inferior *inferior)
{
	const struct inferior *other;

	FOREACH_SHARING (other, inferior) {
		if (other->lenders > 0)
			return true;
	}
	return false;
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

void inferior_forget_threaddb(struct inferior *inferior)
{
	if (inferior->threaddb)
		inferior->forget_threaddb(inferior);
}

struct inferior *inferior_find(struct inferiors *inferiors, pid_t pid)
{
	struct inferior *inferior;

	TAILQ_FOREACH (inferior, &inferiors->list, link)
		if (inferior->pid == pid)
			return inferior;
	return NULL;
}
