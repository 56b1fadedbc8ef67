/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/pads/client_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "gdbstub/base/log.h"
#include "gdbstub/base/shutdown.h"
#include "gdbstub/inferior/maps.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/pads/injected_call.h"

enum { PIECES_MAX = 1024 }; /* an expression takes some four */

struct client_memory {
	struct client_memory *next;
	uint64_t addr, len;
};

static unsigned int count(const struct inferior *inferior)
{
	unsigned int n = 0;

	for (const struct client_memory *piece = inferior->client_memory; piece;
	     piece = piece->next)
		n++;
	return n;
}

static struct error *begin(struct inferior *inferior, struct injection *injection)
{
	const char *why = injection_begin(inferior, injection);

	if (!why)
		return NULL;
	return error_create(EAGAIN, "process %d cannot be made to map memory, as %s",
			    inferior->pid, why);
}

/* Calls mmap(2) or munmap(2). What a stop has shown of traps holds no longer. */
static struct error *call(struct inferior *inferior, long number,
			  const uint64_t arguments[SYSCALL_ARGUMENTS], int64_t *ret)
{
	struct injection injection;
	struct error *error = begin(inferior, &injection);

	if (error)
		return error;
	*ret = injection_call(&injection, number, arguments);
	injection_end(&injection);
	maps_outdate(inferior->owner);
	if (inferior->breakpoints)
		inferior->breakpoints->inspected = false;
	return *ret < 0
		       ? error_create((int)-*ret, "memory of process %d", inferior->pid)
		       : NULL;
}

struct error *client_memory_map(struct inferior *inferior, uint64_t len, int protection,
				uint64_t *addr)
{
	const uint64_t arguments[SYSCALL_ARGUMENTS] = {
		0,	    len, (uint64_t)protection, MAP_PRIVATE | MAP_ANONYMOUS,
		UINT64_MAX, 0};
	_cleanup_free_ struct client_memory *piece = NULL;
	struct error *error;
	int64_t mapped;

	if (count(inferior) == PIECES_MAX)
		return error_create(ENOSPC, "the client has %d pieces of memory",
				    PIECES_MAX);
	piece = malloc(sizeof(*piece));
	if (!piece)
		return error_create(ENOMEM, "memory of process %d", inferior->pid);
	error = call(inferior, SYS_mmap, arguments, &mapped);
	if (error)
		return error;
	*addr = (uint64_t)mapped;
	*piece = (struct client_memory){
		.next = inferior->client_memory, .addr = *addr, .len = len};
	inferior->client_memory = take_ptr(piece);
	return NULL;
}

struct error *client_memory_unmap(struct inferior *inferior, uint64_t addr)
{
	struct client_memory **link = &inferior->client_memory, *piece;
	struct error *error;
	int64_t ret;

	while (*link && (*link)->addr != addr)
		link = &(*link)->next;
	piece = *link;
	if (!piece)
		return error_create(ENOENT,
				    "no memory was mapped for the client at 0x%jx",
				    (uintmax_t)addr);
	error = call(inferior, SYS_munmap,
		     (const uint64_t[SYSCALL_ARGUMENTS]){addr, piece->len}, &ret);
	if (error)
		return error;
	*link = piece->next;
	free(piece);
	return NULL;
}

static void unmap_all(const struct inferior *inferior, struct injection *injection)
{
	for (const struct client_memory *piece = inferior->client_memory; piece;
	     piece = piece->next)
		injection_call(
			injection, SYS_munmap,
			(const uint64_t[SYSCALL_ARGUMENTS]){piece->addr, piece->len});
	maps_outdate(inferior->owner);
}

/* As for pads, SIGKILL of the server would leave a thread in the middle of a call. */
static void give_back(struct inferior *inferior)
{
	struct injection injection;
	const char *why = shutdown_by_guard() ? "truehit was killed"
					      : injection_begin(inferior, &injection);

	if (why) {
		log_warning("memory of the client's stays in process %d: %s",
			    inferior->pid, why);
		return;
	}
	unmap_all(inferior, &injection);
	injection_end(&injection);
}

void client_memory_remove(struct inferior *inferior, bool gone)
{
	if (!inferior->client_memory)
		return;
	if (!gone)
		give_back(inferior);
	while (inferior->client_memory) {
		struct client_memory *piece = inferior->client_memory;

		inferior->client_memory = piece->next;
		free(piece);
	}
}
