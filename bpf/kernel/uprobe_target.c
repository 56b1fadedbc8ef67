/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/kernel/uprobe_target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/base/cleanup.h"
#include "gdbstub/base/rights.h"
#include "gdbstub/base/setcap.h"
#include "gdbstub/inferior/maps.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/text/text.h"

/* As kernel/events/uprobes.c has it in valid_vma(); what is not executable is no
 * place for a breakpoint. */
static const char *why_not(const struct mapping *mapping)
{
	if (mapping->file.inode == 0)
		return "it is in no file (generated code, for instance)";
	if (mapping->permissions[3] != 'p')
		return "the file is mapped shared there";
	if (mapping->permissions[1] == 'w')
		return "the program may write there";
	if (mapping->permissions[2] != 'x')
		return "nothing can be executed there";
	return NULL;
}

/* The kernel plants traps where something may become executable, not only where it is,
 * and they stay where the program may write by now. */
static bool may_have_traps(const struct mapping *mapping)
{
	return mapping->file.inode != 0 && mapping->permissions[3] == 'p';
}

/* By the mapping itself: any file. Needs CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN. */
static char *path_by_mapping(const struct inferior *inferior,
			     const struct mapping *mapping)
{
	char *path;

	if (asprintf(&path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, inferior->pid,
		     mapping->start, mapping->end) < 0)
		return NULL;
	return path;
}

/* By its name, which may be another file's by now. */
static char *path_by_name(const struct inferior *inferior,
			  const struct mapping *mapping)
{
	char *path;

	if (asprintf(&path, "/proc/%d/root%.*s", inferior->pid, mapping->name_len,
		     mapping->name) < 0)
		return NULL;
	return path;
}

/* Devices are not compared: some file systems (btrfs) tell two different ones. */
static int open_mapped(const char *path, const struct mapping *mapping)
{
	_cleanup_close_ int found = path ? open(path, O_PATH | O_CLOEXEC) : -1, fd = -1;
	struct stat file;

	if (found < 0)
		return path ? -errno : -ENOMEM;
	fd = proc_open_regular(found, &file);
	if (fd < 0)
		return fd;
	return file.st_ino == mapping->file.inode ? take_fd(&fd) : -ENOENT;
}

static int open_by_mapping(const char *path, const struct mapping *mapping)
{
	RIGHTS_RAISED_IN_SCOPE;

	return open_mapped(path, mapping);
}

static struct error *no_file(const struct mapping *mapping, int err)
{
	_cleanup_free_ char *command = setcap_command("cap_checkpoint_restore");

	return error_create(-err,
			    "its file %.*s cannot be reached (one that was deleted or "
			    "replaced needs root, or: %s)",
			    mapping->name_len, mapping->name,
			    command ? command : "setcap");
}

/* ---- the last file ---- */

void uprobe_file_deinit(struct uprobe_file *file)
{
	if (file->path)
		close(file->fd);
	free(file->path);
	*file = (struct uprobe_file){0};
}

/* A name may be another file's in the next moment. */
static bool is_last(const struct uprobe_file *last, const struct inferior *inferior,
		    const struct mapping *mapping)
{
	return last->path && last->maps_number != 0 && last->pid == inferior->pid &&
	       last->maps_number == maps_number(inferior) &&
	       last->start == mapping->start && last->end == mapping->end;
}

static struct error *open_file(const struct inferior *inferior,
			       const struct mapping *mapping, struct uprobe_file *last)
{
	_cleanup_free_ char *path = NULL;
	int fd;

	if (is_last(last, inferior, mapping))
		return NULL;
	uprobe_file_deinit(last);
	path = path_by_mapping(inferior, mapping);
	fd = open_by_mapping(path, mapping);
	*last = (struct uprobe_file){.pid = inferior->pid,
				     .maps_number = maps_number(inferior),
				     .start = mapping->start,
				     .end = mapping->end};
	if (fd < 0) {
		free(path);
		path = path_by_name(inferior, mapping);
		fd = open_mapped(path, mapping);
		last->maps_number = 0;
	}
	if (fd < 0)
		return no_file(mapping, fd);
	last->fd = fd;
	last->path = take_ptr(path);
	return NULL;
}

static struct error *compare(struct inferior *inferior, uint64_t addr, unsigned int len,
			     int fd, const struct uprobe_target *target)
{
	unsigned char in_memory[INSN_LEN_MAX], in_file[INSN_LEN_MAX];

	if (len > sizeof(in_file) ||
	    breakpoints_read_memory(inferior, addr, in_memory, len) != (ssize_t)len)
		return error_create(EFAULT, "the instruction cannot be read");
	if (pread(fd, in_file, len, (off_t)target->offset) != (ssize_t)len ||
	    memcmp(in_memory, in_file, len) != 0)
		return error_create(0, "the program's code was changed there (the file "
				       "has another instruction)");
	return NULL;
}

static struct error *find_target(struct inferior *inferior, uint64_t addr,
				 unsigned int len, struct uprobe_file *last,
				 struct uprobe_target *ret)
{
	_cleanup_buffer_ struct buffer own = {0};
	struct mapping mapping;
	struct error *error;
	const char *maps;
	int r = maps_read(inferior, &own, &maps);

	if (r < 0)
		return error_create(-r, "the map of its memory cannot be read");
	if (*maps == '\0')
		return error_create(0, "the process's first thread has ended");
	if (!mapping_find(maps, addr, &mapping))
		return error_create(0, "there is no memory");
	if (why_not(&mapping))
		return error_create(0, "%s", why_not(&mapping));
	ret->file = mapping.file;
	ret->offset = mapping.offset + (addr - mapping.start);
	error = open_file(inferior, &mapping, last);
	if (error)
		return error;
	ret->path = strdup(last->path);
	return ret->path ? compare(inferior, addr, len, last->fd, ret)
			 : error_create(ENOMEM, "a uprobe");
}

struct error *uprobe_target_find(struct inferior *inferior, uint64_t addr,
				 unsigned int len, struct uprobe_file *last,
				 struct uprobe_target *ret)
{
	struct error *error;

	*ret = (struct uprobe_target){0};
	error = find_target(inferior, addr, len, last, ret);
	if (!error)
		return NULL;
	uprobe_target_deinit(ret);
	return error_prefix(error, "no uprobe at 0x%" PRIx64, addr);
}

void uprobe_target_deinit(struct uprobe_target *target)
{
	free(target->path);
	target->path = NULL;
}

bool uprobe_memory_is_shared(const struct inferior *inferior, uint64_t addr)
{
	_cleanup_buffer_ struct buffer own = {0};
	struct mapping mapping;
	const char *maps;

	return maps_read(inferior, &own, &maps) == 0 &&
	       mapping_find(maps, addr, &mapping) && mapping.permissions[3] != 'p';
}

bool uprobe_text_find(const struct inferior *inferior, uint64_t addr,
		      struct uprobe_text *ret)
{
	_cleanup_buffer_ struct buffer own = {0};
	struct mapping mapping;
	const char *maps;

	if (maps_read(inferior, &own, &maps) < 0 ||
	    !mapping_find(maps, addr, &mapping) || !may_have_traps(&mapping))
		return false;
	*ret = (struct uprobe_text){.file = mapping.file,
				    .start = mapping.start,
				    .end = mapping.end,
				    .offset = mapping.offset};
	return true;
}
