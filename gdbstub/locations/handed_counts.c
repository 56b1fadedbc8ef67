/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/locations/handed_counts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "gdbstub/locations/ignore.h"
#include "gdbstub/locations/index.h"
#include "gdbstub/locations/location.h"

struct handed_count {
	uint64_t addr;
	int64_t left; /* while there is no location */
	bool conditional;
	struct location *location; /* whose gate has it, or NULL */
	TAILQ_ENTRY(handed_count) link;
};

static struct handed_count *find(const struct breakpoints *breakpoints, uint64_t addr)
{
	struct handed_count *count;

	TAILQ_FOREACH (count, &breakpoints->handed_counts, link) {
		if (count->addr == addr)
			return count;
	}
	return NULL;
}

static size_t length(const struct handed_counts *list)
{
	const struct handed_count *count;
	size_t n = 0;

	TAILQ_FOREACH (count, list, link)
		n++;
	return n;
}

/* From its location's gate, which is open again. */
static void release(struct handed_count *count)
{
	if (!count->location)
		return;
	count->left = ignore_left(count->location);
	gate_set(ignore_gate(count->location), 0);
	count->location = NULL;
}

static void drop(struct handed_counts *list, struct handed_count *count)
{
	TAILQ_REMOVE(list, count, link);
	free(count);
}

/* "monitor ignore", say, has set it. */
static bool is_busy(const struct location *location)
{
	return ignore_left(location) > 0;
}

static struct error *check_locations(const struct breakpoints *breakpoints,
				     uint64_t addr)
{
	const struct location *location;
	struct index_walk walk;

	for (location = index_begin(&walk, breakpoints, addr, addr); location;
	     location = index_next(&walk)) {
		if (location->type <= BREAKPOINT_HARDWARE && is_busy(location))
			return error_create(0, "%s *0x%jx ignores hits already",
					    breakpoint_type_name(location->type),
					    (uintmax_t)addr);
	}
	return NULL;
}

static void bind_those_at(struct breakpoints *breakpoints, uint64_t addr)
{
	struct location *location;
	struct index_walk walk;

	for (location = index_begin(&walk, breakpoints, addr, addr); location;
	     location = index_next(&walk))
		handed_count_bind(breakpoints, location);
}

struct error *handed_count_set(struct breakpoints *breakpoints, uint64_t addr,
			       int64_t left, bool conditional)
{
	struct handed_count *count = find(breakpoints, addr);
	struct error *error;

	if (count) {
		release(count);
		drop(&breakpoints->handed_counts, count);
	}
	error = check_locations(breakpoints, addr);
	if (error)
		return error;
	if (length(&breakpoints->handed_counts) == HANDED_COUNTS_MAX)
		return error_create(ENOSPC, "the count of *0x%jx", (uintmax_t)addr);
	count = calloc(1, sizeof(*count));
	if (!count)
		return error_create(ENOMEM, "the count of *0x%jx", (uintmax_t)addr);
	count->addr = addr;
	count->left = left;
	count->conditional = conditional;
	TAILQ_INSERT_TAIL(&breakpoints->handed_counts, count, link);
	bind_those_at(breakpoints, addr);
	return NULL;
}

void handed_count_bind(struct breakpoints *breakpoints, struct location *location)
{
	struct handed_count *count;

	if (location->type > BREAKPOINT_HARDWARE)
		return;
	count = find(breakpoints, location->addr);
	if (!count || (count->location && count->location != location))
		return;
	if (count->conditional != (location->asked.count > 0)) {
		release(count);
	} else if (!count->location) {
		count->location = location;
		gate_set(ignore_gate(location), count->left);
	}
}

void handed_count_unbind(struct breakpoints *breakpoints, struct location *location)
{
	struct handed_count *count = find(breakpoints, location->addr);

	if (count && count->location == location)
		release(count);
}

bool handed_count_is_bound(const struct breakpoints *breakpoints,
			   const struct location *location)
{
	const struct handed_count *count = find(breakpoints, location->addr);

	return count && count->location == location;
}

struct location *handed_count_at(const struct breakpoints *breakpoints, uint64_t addr)
{
	const struct handed_count *count = find(breakpoints, addr);

	if (!count || !count->location || ignore_left(count->location) == 0)
		return NULL;
	return count->location;
}

static void take(struct handed_counts *list, struct buffer *out)
{
	struct handed_count *count;
	const char *separator = "";

	while ((count = TAILQ_FIRST(list))) {
		release(count);
		buffer_printf(out, "%s%" PRIx64 ",%" PRIx64, separator, count->addr,
			      (uint64_t)count->left);
		separator = ";";
		drop(list, count);
	}
}

void handed_counts_take(struct breakpoints *breakpoints, struct buffer *out)
{
	take(&breakpoints->handed_counts, out);
}

void handed_counts_clear(struct breakpoints *breakpoints)
{
	struct handed_count *count;

	while ((count = TAILQ_FIRST(&breakpoints->handed_counts))) {
		release(count);
		drop(&breakpoints->handed_counts, count);
	}
}

void handed_counts_keep(struct breakpoints *breakpoints)
{
	struct engines *engines = breakpoints->engines;

	if (TAILQ_EMPTY(&breakpoints->handed_counts))
		return;
	handed_counts_forget_ended(engines);
	engines->ended_pid = breakpoints->inferior->pid;
	TAILQ_CONCAT(&engines->ended_counts, &breakpoints->handed_counts, link);
}

void handed_counts_take_ended(struct engines *engines, pid_t pid, struct buffer *out)
{
	if (engines->ended_pid == pid)
		take(&engines->ended_counts, out);
}

void handed_counts_forget_ended(struct engines *engines)
{
	struct handed_count *count;

	while ((count = TAILQ_FIRST(&engines->ended_counts)))
		drop(&engines->ended_counts, count);
}
