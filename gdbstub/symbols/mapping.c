/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/symbols/mapping.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/base/cleanup.h"
#include "gdbstub/inferior/maps.h"

bool file_id_equal(const struct file_id *a, const struct file_id *b)
{
	return a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

bool mapping_parse(const char *line, struct mapping *ret)
{
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %lu%n",
		   &ret->start, &ret->end, ret->permissions, &ret->offset,
		   &ret->file.major, &ret->file.minor, &ret->file.inode, &at) != 7)
		return false;
	ret->name = line + at + strspn(line + at, " \t");
	ret->name_len = (int)strcspn(ret->name, "\n");
	return true;
}

bool mapping_find(const char *maps, uint64_t addr, struct mapping *ret)
{
	for (const char *line = maps; *line;) {
		const char *end = strchr(line, '\n');

		if (mapping_parse(line, ret) && ret->start <= addr && addr < ret->end)
			return true;
		if (!end)
			break;
		line = end + 1;
	}
	return false;
}

bool mapping_file_at(const struct inferior *inferior, uint64_t addr,
		     struct file_id *ret)
{
	_cleanup_buffer_ struct buffer own = {0};
	struct mapping mapping;
	const char *maps;

	if (maps_read(inferior, &own, &maps) < 0 || !mapping_find(maps, addr, &mapping))
		return false;
	*ret = mapping.file;
	return true;
}
