/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/locations/sequences.h"

#include "gdbstub/inferior/maps.h"
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

static bool look_up(const struct location *location, struct file_id *ret)
{
	_cleanup_buffer_ struct buffer own = {0};
	struct mapping mapping;
	const char *maps;

	if (maps_read(location->inferior, &own, &maps) < 0 ||
	    !mapping_find(maps, location->addr, &mapping))
		return false;
	*ret = mapping.file;
	return true;
}

bool sequences_cover(struct location *location, const struct file_id *file)
{
	struct file_id own;

	if (location->restartable)
		return true;
	if (!file && look_up(location, &own))
		file = &own;
	location->restartable = file && ask(location->inferior, location->addr, file);
	return location->restartable;
}

bool sequences_near(const struct location *location, unsigned int len)
{
	struct file_id file;

	if (!look_up(location, &file))
		return false;
	for (unsigned int i = 0; i < len; i++)
		if (ask(location->inferior, location->addr + i, &file))
			return true;
	return false;
}
