/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/locations/counts.h"

#include <stdlib.h>
#include <string.h>

static void add(struct hit_counts *to, const struct hit_counts *more)
{
	to->hits += more->hits;
	to->trues += more->trues;
	to->maybes += more->maybes;
}

/* Where the thread is, or is to be inserted. */
static size_t place_of(const struct counts *counts, pid_t tid)
{
	size_t low = 0, high = counts->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (counts->threads[middle].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct thread_counts *find(const struct counts *counts, pid_t tid)
{
	size_t place = place_of(counts, tid);

	if (place < counts->count && counts->threads[place].tid == tid)
		return &counts->threads[place];
	return NULL;
}

static struct thread_counts *insert(struct counts *counts, pid_t tid)
{
	size_t place = place_of(counts, tid);
	struct thread_counts *at;

	if (counts->count == counts->capacity) {
		size_t capacity = counts->capacity ? 2 * counts->capacity : 8;
		struct thread_counts *threads =
			reallocarray(counts->threads, capacity, sizeof(*threads));

		if (!threads)
			return NULL;
		counts->threads = threads;
		counts->capacity = capacity;
	}
	at = &counts->threads[place];
	memmove(at + 1, at, (counts->count++ - place) * sizeof(*at));
	*at = (struct thread_counts){.tid = tid};
	return at;
}

void counts_add(struct counts *counts, pid_t tid, const struct hit_counts *more)
{
	struct thread_counts *thread = NULL;

	if (more->hits == 0 && more->trues == 0 && more->maybes == 0)
		return;
	if (tid != 0) {
		thread = find(counts, tid);
		if (!thread)
			thread = insert(counts, tid);
	}
	add(thread ? &thread->counts : &counts->others, more);
}

void counts_add_all(struct counts *counts, const struct counts *more)
{
	for (size_t i = 0; i < more->count; i++)
		counts_add(counts, more->threads[i].tid, &more->threads[i].counts);
	add(&counts->others, &more->others);
}

void counts_retire(struct counts *counts, pid_t tid)
{
	struct thread_counts *thread = find(counts, tid);
	const struct thread_counts *end;

	if (!thread)
		return;
	end = counts->threads + counts->count;
	add(&counts->others, &thread->counts);
	memmove(thread, thread + 1, (size_t)(end - thread - 1) * sizeof(*thread));
	counts->count--;
}

struct hit_counts counts_total(const struct counts *counts)
{
	struct hit_counts total = counts->others;

	for (size_t i = 0; i < counts->count; i++)
		add(&total, &counts->threads[i].counts);
	return total;
}

void counts_clear(struct counts *counts)
{
	free(counts->threads);
	*counts = (struct counts){0};
}
