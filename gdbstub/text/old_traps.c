/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/text/old_traps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/log.h"
#include "gdbstub/inferior/event.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/text/text.h"
#include "gdbstub/text/trap.h"
#include "gdbstub/text/traps.h"

enum { OLD_TRAPS_MAX = 8192 };

struct old_trap {
	TAILQ_ENTRY(old_trap) link; /* the oldest first */
	struct table_entry by_addr;
	struct trap trap;
};

static struct old_trap *find(const struct breakpoints *breakpoints, uint64_t addr)
{
	struct table_entry *entry = table_find(&breakpoints->old_by_addr, addr);

	return entry ? (struct old_trap *)((char *)entry -
					   offsetof(struct old_trap, by_addr))
		     : NULL;
}

static void forget(struct breakpoints *breakpoints, struct old_trap *old)
{
	TAILQ_REMOVE(&breakpoints->old_traps, old, link);
	table_remove(&breakpoints->old_by_addr, &old->by_addr);
	free(old);
}

void old_traps_add(struct breakpoints *breakpoints, uint64_t addr,
		   const struct trap *trap)
{
	struct old_trap *old = find(breakpoints, addr);

	if (old)
		forget(breakpoints, old);
	else if (breakpoints->old_by_addr.count == OLD_TRAPS_MAX)
		forget(breakpoints, TAILQ_FIRST(&breakpoints->old_traps));
	old = malloc(sizeof(*old));
	if (!old)
		return;
	old->trap = *trap;
	TAILQ_INSERT_TAIL(&breakpoints->old_traps, old, link);
	table_insert(&breakpoints->old_by_addr, &old->by_addr, addr);
}

void old_traps_forget(struct breakpoints *breakpoints, uint64_t addr, size_t len)
{
	struct old_trap *old, *next;

	for (old = TAILQ_FIRST(&breakpoints->old_traps); old; old = next) {
		next = TAILQ_NEXT(old, link);
		if (old->by_addr.key - addr < len)
			forget(breakpoints, old);
	}
}

void old_traps_clear(struct breakpoints *breakpoints)
{
	struct old_trap *old;

	while ((old = TAILQ_FIRST(&breakpoints->old_traps)))
		forget(breakpoints, old);
	table_deinit(&breakpoints->old_by_addr);
}

/* Is it memory into which code can only have been copied? A breakpoint instruction that
 * is in the mapping of a file has been written there by the program itself. */
static bool is_anonymous(const struct inferior *inferior, uint64_t addr)
{
	_cleanup_buffer_ struct buffer maps = {0};
	char *rest = NULL;

	if (inferior_proc_file(inferior, "maps", &maps) < 0 || !maps.data)
		return false;
	for (const char *line = strtok_r(maps.data, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		uint64_t start, end, inode;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*x %*x:%*x %" SCNu64,
			   &start, &end, &inode) == 3 &&
		    addr >= start && addr < end)
			return inode == 0;
	}
	return false;
}

/* Had the program such an instruction of its own there, it is no copy of ours. */
static bool is_copy(struct inferior *inferior, uint64_t addr, const struct trap *trap)
{
	const unsigned int len = trap->len;
	uint8_t code[TRAP_CODE_MAX];

	if (memcmp(trap->original, trap->planted, len) == 0 ||
	    breakpoints_read_memory(inferior, addr, code, trap->known) !=
		    (ssize_t)trap->known)
		return false;
	/* It may have been taken out for another thread meanwhile. */
	if (memcmp(code, trap->planted, len) == 0)
		memcpy(code, trap->original, len);
	return memcmp(code, trap->original, trap->known) == 0;
}

/* A copy of which is there, or NULL. */
static const struct trap *find_copied(struct inferior *inferior, uint64_t addr)
{
	const struct old_trap *old = find(inferior->breakpoints, addr);

	return old && is_copy(inferior, addr, &old->trap) &&
			       is_anonymous(inferior, addr)
		       ? &old->trap
		       : NULL;
}

bool old_traps_find_distinct(struct inferior *inferior, uint64_t pc)
{
	const struct trap *trap =
		inferior->breakpoints ? find_copied(inferior, pc) : NULL;

	return trap && trap->kind == TRAP_DISTINCT;
}

bool old_traps_undo(const struct event *event)
{
	struct inferior *inferior = event->inferior;
	const struct trap *trap;
	uint64_t pc;

	if (!trap_is_reported(event) || thread_get_pc(event->thread, &pc) < 0)
		return false;
	pc -= inferior->arch->breakpoint_pc_advance;
	trap = find_copied(inferior, pc);
	if (!trap || inferior_write(inferior, pc, trap->original, trap->len) < 0)
		return false;
	log_debug(LOG_STOPS, "thread %d has met a copy of a trap at 0x%jx",
		  event->thread->tid, (uintmax_t)pc);
	return thread_set_pc(event->thread, pc) == 0 &&
	       thread_hit_no_more(event->thread) >= 0;
}
