/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/symbols/mapping.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/base/cleanup.h"
#include "gdbstub/inferior/maps.h"

bool file_id_equal(const struct file_id *a, const struct file_id *b)
{
	return a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

/* A number, and what comes after it. False: there is none, or something else comes. */
static bool take_number(const char **text, int base, char after, uint64_t *ret)
{
	char *end;

	if (!isxdigit((unsigned char)**text))
		return false;
	*ret = strtoull(*text, &end, base);
	if (*end != after)
		return false;
	*text = end + 1;
	return true;
}

static bool take_range(const char **text, struct mapping *ret)
{
	return take_number(text, 16, '-', &ret->start) &&
	       take_number(text, 16, ' ', &ret->end);
}

static bool take_permissions(const char **text, struct mapping *ret)
{
	const size_t len = sizeof(ret->permissions) - 1;

	if (strcspn(*text, " \n") != len || (*text)[len] != ' ')
		return false;
	memcpy(ret->permissions, *text, len);
	ret->permissions[len] = '\0';
	*text += len + 1;
	return true;
}

/* From the permissions on. There are hundreds of lines, which are read often. */
static bool take_rest(const char *text, struct mapping *ret)
{
	uint64_t major, minor;
	char *end;

	if (!take_permissions(&text, ret) ||
	    !take_number(&text, 16, ' ', &ret->offset) ||
	    !take_number(&text, 16, ':', &major) ||
	    !take_number(&text, 16, ' ', &minor) || !isdigit((unsigned char)*text))
		return false;
	ret->file = (struct file_id){(unsigned int)major, (unsigned int)minor,
				     strtoul(text, &end, 10)};
	ret->name = end + strspn(end, " \t");
	ret->name_len = (int)strcspn(ret->name, "\n");
	return true;
}

bool mapping_parse(const char *line, struct mapping *ret)
{
	return take_range(&line, ret) && take_rest(line, ret);
}

bool mapping_find(const char *maps, uint64_t addr, struct mapping *ret)
{
	for (const char *line = maps; *line;) {
		const char *rest = line, *end = strchr(line, '\n');

		if (take_range(&rest, ret) && ret->start <= addr && addr < ret->end &&
		    take_rest(rest, ret))
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
