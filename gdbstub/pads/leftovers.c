/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/pads/leftovers.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/displaced.h"
#include "arch/native.h"
#include "gdbstub/base/cleanup.h"
#include "gdbstub/inferior/maps.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/pads/pad_memory.h"
#include "gdbstub/symbols/mapped_files.h"
#include "gdbstub/symbols/mapping.h"

enum { CHUNK = 64 << 10 }; /* bytes of text at a time */

/* A look at one mapping of text. */
struct looking {
	struct inferior *inferior;
	const char *maps;
	struct mapping mapping;
	int fd; /* of its file */
	unsigned int count;
	uint8_t text[CHUNK + JUMP_LEN_MAX], file[CHUNK + JUMP_LEN_MAX];
};

static bool is_of_pads(const char *maps, uint64_t addr)
{
	struct mapping mapping;

	return mapping_find(maps, addr, &mapping) && pad_memory_is_code(&mapping);
}

/* It traces another process in this memory (CLONE_VM). */
static bool has_server(struct inferior *inferior, const struct mapping *mapping)
{
	struct native_shared shared;

	return pad_memory_is_shared(mapping) &&
	       inferior_read(inferior, mapping->start, &shared, sizeof(shared)) ==
		       (ssize_t)sizeof(shared) &&
	       (shared.server & FUTEX_TID_MASK) != 0;
}

/* Pads that are no living server's. */
static bool any_left(struct inferior *inferior, const char *maps)
{
	struct mapping mapping;
	bool any = false;

	for (const char *line = maps; mapping_parse(line, &mapping);) {
		const char *end = strchr(line, '\n');

		if (has_server(inferior, &mapping))
			return false;
		any |= pad_memory_is_code(&mapping);
		if (!end)
			break;
		line = end + 1;
	}
	return any;
}

/* If the bytes from there on are a jump to a pad, and some of them are not the file's:
 * puts these there. */
static void take_out(struct looking *look, uint64_t addr, const uint8_t *text,
		     const uint8_t *file, size_t len)
{
	const struct displaced_ops *ops = look->inferior->arch->displaced;
	const unsigned int most = len < JUMP_LEN_MAX ? (unsigned int)len : JUMP_LEN_MAX;
	uint64_t to;
	const unsigned int jump = ops->jump_target(text, most, addr, &to);

	if (jump == 0 || memcmp(text, file, jump) == 0 || !is_of_pads(look->maps, to) ||
	    inferior_write(look->inferior, addr, file, jump) < 0)
		return;
	look->count++;
}

static void look_at_chunk(struct looking *look, uint64_t addr, size_t len, size_t all)
{
	/* The end of a jump may be the beginning of another one. */
	for (size_t at = 0; at < len; at++)
		take_out(look, addr + at, look->text + at, look->file + at, all - at);
}

static void look_at_text(struct looking *look)
{
	const struct mapping *mapping = &look->mapping;

	for (uint64_t at = mapping->start; at < mapping->end; at += CHUNK) {
		const uint64_t rest = mapping->end - at;
		const size_t all =
			rest < sizeof(look->text) ? rest : sizeof(look->text);
		const off_t offset = (off_t)(mapping->offset + at - mapping->start);
		const ssize_t n = inferior_read(look->inferior, at, look->text, all);
		const ssize_t m = pread(look->fd, look->file, all, offset);
		const ssize_t both = n < m ? n : m;

		if (both > 0 && memcmp(look->text, look->file, (size_t)both) != 0)
			look_at_chunk(look, at, both < CHUNK ? (size_t)both : CHUNK,
				      (size_t)both);
	}
}

static bool is_text(const struct mapping *mapping)
{
	return mapping->file.inode != 0 && mapping->permissions[2] == 'x' &&
	       mapping->permissions[3] == 'p' && !pad_memory_is_code(mapping);
}

/* The file that is mapped, and no other one of that name. */
static int open_file(const struct looking *look, const struct mapped_files *files)
{
	const struct mapped_file *file = mapped_files_at(files, look->mapping.start);
	_cleanup_close_ int fd = file ? mapped_file_open(file, look->inferior) : -1;
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == look->mapping.file.inode
		       ? take_fd(&fd)
		       : -1;
}

static void look_at_all(struct looking *look, const struct mapped_files *files)
{
	for (const char *line = look->maps; mapping_parse(line, &look->mapping);) {
		const char *end = strchr(line, '\n');

		look->fd = is_text(&look->mapping) ? open_file(look, files) : -1;
		if (look->fd >= 0) {
			look_at_text(look);
			close(look->fd);
		}
		if (!end)
			break;
		line = end + 1;
	}
}

unsigned int leftovers_take_out(struct inferior *inferior)
{
	_cleanup_buffer_ struct buffer own = {0};
	_cleanup_(mapped_files_deinit) struct mapped_files files = {0};
	_cleanup_free_ struct looking *look = NULL;
	const char *maps;

	if (!inferior->arch->displaced || maps_read(inferior, &own, &maps) < 0 ||
	    !any_left(inferior, maps))
		return 0;
	look = calloc(1, sizeof(*look));
	if (!look)
		return 0;
	look->inferior = inferior;
	look->maps = maps;
	error_destroy(mapped_files_read(&files, inferior));
	look_at_all(look, &files);
	return look->count;
}
