/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/symbols/mapped_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gdbstub/symbols/mapping.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/proc.h"

#define VDSO "[vdso]"

/* ---- /proc/PID/maps ---- */

static bool is_of_interest(const struct mapping *mapping)
{
	if (mapping->name[0] == '/')
		return mapping->file.inode != 0 || mapping->file.major != 0 ||
		       mapping->file.minor != 0;
	return strcmp(mapping->name, VDSO) == 0;
}

static bool is_same_file(const struct mapping *a, const struct mapping *b)
{
	return file_id_equal(&a->file, &b->file) && strcmp(a->name, b->name) == 0;
}

static bool add_file(struct mapped_files *files, const struct mapping *mapping)
{
	size_t count = files->count;

	/* Doubled whenever it is full. */
	if ((count & (count - 1)) == 0) {
		struct mapped_file *rows = reallocarray(
			files->rows, count > 0 ? 2 * count : 1, sizeof(*rows));

		if (!rows)
			return false;
		files->rows = rows;
	}
	files->rows[files->count++] = (struct mapped_file){
		.start = mapping->start,
		.end = mapping->end,
		.name = mapping->name,
	};
	return true;
}

/* Mappings of one file that follow each other, but for anonymous ones, are one row. */
static struct error *parse_maps(struct mapped_files *files)
{
	struct mapping last = {.name = ""}, mapping;
	char *rest = files->maps.data;

	for (char *line; (line = strsep(&rest, "\n"));) {
		if (!mapping_parse(line, &mapping) || !is_of_interest(&mapping))
			continue;
		if (files->count > 0 && is_same_file(&last, &mapping))
			files->rows[files->count - 1].end = mapping.end;
		else if (!add_file(files, &mapping))
			return error_create(ENOMEM, "cannot list the mapped files");
		last = mapping;
	}
	return NULL;
}

struct error *mapped_files_read(struct mapped_files *files,
				const struct inferior *inferior)
{
	int r;

	*files = (struct mapped_files){0};
	r = inferior_proc_file(inferior, "maps", &files->maps);
	if (r < 0)
		return error_create(-r, "cannot read the memory map of process %d",
				    (int)inferior->pid);
	return parse_maps(files);
}

void mapped_files_deinit(struct mapped_files *files)
{
	free(files->rows);
	buffer_deinit(&files->maps);
	*files = (struct mapped_files){0};
}

struct mapped_file *mapped_files_at(const struct mapped_files *files, uint64_t addr)
{
	size_t low = 0, high = files->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct mapped_file *file = &files->rows[middle];

		if (addr >= file->start && addr < file->end)
			return file;
		if (addr < file->start)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* ---- the files ---- */

enum { VDSO_MAX = 1 << 20 };

static int copy_vdso(const struct mapped_file *file, struct inferior *inferior)
{
	const size_t size = file->end - file->start;
	_cleanup_close_ int fd = memfd_create("vdso", MFD_CLOEXEC);
	_cleanup_free_ char *data = NULL;

	if (fd < 0)
		return -errno;
	if (size > VDSO_MAX)
		return -EFBIG;
	data = malloc(size);
	if (!data)
		return -ENOMEM;
	if (inferior_read(inferior, file->start, data, size) != (ssize_t)size ||
	    write(fd, data, size) != (ssize_t)size)
		return -EIO;
	return take_fd(&fd);
}

/*
 * A descriptor that only names the file: nothing is opened. Symbolic links lead to
 * where they do for the process; before Linux 5.6, absolute ones lead to our files.
 * Where its root cannot be reached, the file of that name is taken that we see.
 */
static int find_file(pid_t pid, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	_cleanup_close_ int root = -1;
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/root", (int)pid);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return open(path, O_PATH | O_CLOEXEC);
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (fd < 0 && errno == ENOSYS)
		fd = openat(root, path + strspn(path, "/"), O_PATH | O_CLOEXEC);
	return fd;
}

/* A file of gigabytes costs its owner nothing where it has only holes, but whoever
 * reads them. Compressed files have fewer blocks than bytes, too, but not that few. */
static bool is_hollow(const struct stat *st)
{
	return st->st_size > 64 << 20 && st->st_blocks < st->st_size / 512 / 8;
}

int mapped_file_open(const struct mapped_file *file, struct inferior *inferior)
{
	_cleanup_close_ int found = -1, fd = -1;
	struct stat st;

	if (strcmp(file->name, VDSO) == 0)
		return copy_vdso(file, inferior);
	found = find_file(inferior_living_task(inferior), file->name);
	if (found < 0)
		return -errno;
	fd = proc_open_regular(found, &st);
	if (fd >= 0 && is_hollow(&st))
		return -EFBIG;
	return take_fd(&fd);
}
