/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/symbols/thread_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/inferior/maps.h"

struct thread_symbol {
	struct symbol_wish wish; /* its name is ours */
	bool missed;		 /* was looked for and not known */
	bool asked;		 /* the client was asked */
};

void thread_symbols_deinit(struct thread_symbols *symbols)
{
	for (size_t i = 0; i < symbols->count; i++)
		free((char *)symbols->rows[i].wish.name);
	free(symbols->rows);
	*symbols = (struct thread_symbols){0};
}

static int compare_rows(const void *a, const void *b)
{
	return strcmp(((const struct thread_symbol *)a)->wish.name,
		      ((const struct thread_symbol *)b)->wish.name);
}

static struct thread_symbol *row_find(struct thread_symbols *symbols, const char *name)
{
	const struct thread_symbol key = {.wish.name = name};

	if (symbols->count == 0)
		return NULL;
	return bsearch(&key, symbols->rows, symbols->count, sizeof(key), compare_rows);
}

static int add_one(struct thread_symbols *symbols, const char *name)
{
	struct thread_symbol *rows;
	char *copy;

	if (row_find(symbols, name))
		return 0;
	rows = reallocarray(symbols->rows, symbols->count + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	symbols->rows = rows;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	rows[symbols->count++] = (struct thread_symbol){.wish.name = copy};
	qsort(rows, symbols->count, sizeof(*rows), compare_rows);
	symbols->maps_hash = 0;
	symbols->maps_number = 0;
	return 0;
}

int thread_symbols_add(struct thread_symbols *symbols, const char *const *names)
{
	int r = 0;

	for (; *names && r == 0; names++)
		r = add_one(symbols, *names);
	return r;
}

/* FNV-1a. Never 0 but for what cannot be read. */
static uint64_t hash_maps(const struct inferior *inferior)
{
	_cleanup_buffer_ struct buffer own = {0};
	uint64_t hash = 0xcbf29ce484222325;
	const char *maps;

	if (maps_read(inferior, &own, &maps) < 0)
		return 0;
	for (; *maps; maps++)
		hash = (hash ^ (unsigned char)*maps) * 0x100000001b3;
	return hash | 1;
}

/* gdb offers its symbols anew for each library of hundreds, all in one stop. */
static bool are_read(struct thread_symbols *symbols, const struct inferior *inferior)
{
	const uint64_t number = maps_number(inferior);
	const bool same = number != 0 && number == symbols->maps_number;

	symbols->maps_number = number;
	return same;
}

/* The wishes that are still open, sorted; *rows tells whose they are. */
static size_t open_wishes(const struct thread_symbols *symbols,
			  struct symbol_wish *wishes, size_t *rows)
{
	size_t count = 0;

	for (size_t i = 0; i < symbols->count; i++) {
		if (symbols->rows[i].wish.found)
			continue;
		rows[count] = i;
		wishes[count++] = symbols->rows[i].wish;
	}
	return count;
}

void thread_symbols_read(struct thread_symbols *symbols, struct inferior *inferior)
{
	_cleanup_free_ struct symbol_wish *wishes = NULL;
	_cleanup_free_ size_t *rows = NULL;
	struct symbols *files;
	uint64_t hash;
	size_t count;

	if (are_read(symbols, inferior))
		return;
	hash = hash_maps(inferior);
	if (hash == 0 || hash == symbols->maps_hash || symbols->count == 0)
		return;
	wishes = calloc(symbols->count, sizeof(*wishes));
	rows = calloc(symbols->count, sizeof(*rows));
	if (!wishes || !rows)
		return;
	count = open_wishes(symbols, wishes, rows);
	if (count == 0)
		return;
	files = symbols_create(inferior);
	symbols_find(files, wishes, count);
	symbols_destroy(files);
	for (size_t i = 0; i < count; i++)
		symbols->rows[rows[i]].wish = wishes[i];
	symbols->maps_hash = hash;
}

bool thread_symbols_find(struct thread_symbols *symbols, const char *name,
			 uint64_t *addr)
{
	struct thread_symbol *row = row_find(symbols, name);

	if (!row)
		return false;
	if (!row->wish.found) {
		row->missed = true;
		return false;
	}
	*addr = row->wish.addr;
	return true;
}

const char *thread_symbols_ask(struct thread_symbols *symbols)
{
	for (size_t i = 0; i < symbols->count; i++) {
		struct thread_symbol *row = &symbols->rows[i];

		if (row->wish.found || row->asked ||
		    !(row->missed || symbols->from_client))
			continue;
		row->asked = true;
		return row->wish.name;
	}
	return NULL;
}

void thread_symbols_answer(struct thread_symbols *symbols, const char *name,
			   uint64_t addr)
{
	struct thread_symbol *row = row_find(symbols, name);

	if (!row || !row->asked || row->wish.found)
		return;
	row->wish.addr = addr;
	row->wish.found = true;
	symbols->from_client = true;
}

void thread_symbols_ask_again(struct thread_symbols *symbols)
{
	for (size_t i = 0; i < symbols->count; i++)
		symbols->rows[i].asked = false;
}
