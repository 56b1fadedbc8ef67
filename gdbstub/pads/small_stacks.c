/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/pads/small_stacks.h"

#include "gdbstub/symbols/symbols.h"

static bool ask(struct inferior *inferior, uint64_t addr)
{
	struct symbols *symbols = symbols_create(inferior);
	const bool small = symbols_small_stacks(symbols, addr);

	symbols_destroy(symbols);
	return small;
}

bool small_stacks_at(struct small_stacks *known, struct inferior *inferior,
		     uint64_t addr)
{
	struct file_id file;
	unsigned int row;

	/* What is in no file may have been made by anything. */
	if (!mapping_file_at(inferior, addr, &file) || file.inode == 0)
		return true;
	for (unsigned int i = 0; i < SMALL_STACKS_KNOWN; i++)
		if (file_id_equal(&known->files[i].file, &file))
			return known->files[i].small;
	row = known->next++ % SMALL_STACKS_KNOWN;
	known->files[row].file = file;
	known->files[row].small = ask(inferior, addr);
	return known->files[row].small;
}
