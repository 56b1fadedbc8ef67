/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/locations/sequences.h"

#include "gdbstub/symbols/symbols.h"
#include "gdbstub/locations/location.h"

static bool is_free(const struct sequences_free *known, const struct file_id *file)
{
	for (unsigned int i = 0; i < SEQUENCES_FREE_MAX; i++) {
		if (file_id_equal(&known->files[i], file))
			return true;
	}
	return false;
}

/* What is in no file is described nowhere (inode 0, as of the rows that are unused). */
static bool ask(struct inferior *inferior, uint64_t addr, const struct file_id *file)
{
	struct sequences_free *known = &inferior->breakpoints->sequences_free;
	enum symbols_sequences found;
	struct symbols *symbols;

	if (is_free(known, file))
		return false;
	symbols = symbols_create(inferior);
	found = symbols_sequences(symbols, addr);
	symbols_destroy(symbols);
	if (found == SEQUENCES_NONE)
		known->files[known->next++ % SEQUENCES_FREE_MAX] = *file;
	return found == SEQUENCES_COVER;
}

bool sequences_cover(struct location *location, const struct file_id *file)
{
	struct file_id own;

	if (location->restartable)
		return true;
	if (!file && mapping_file_at(location->inferior, location->addr, &own))
		file = &own;
	location->restartable = file && ask(location->inferior, location->addr, file);
	return location->restartable;
}

bool sequences_near(const struct location *location, unsigned int len)
{
	struct file_id file;

	if (!mapping_file_at(location->inferior, location->addr, &file))
		return false;
	for (unsigned int i = 0; i < len; i++)
		if (ask(location->inferior, location->addr + i, &file))
			return true;
	return false;
}
