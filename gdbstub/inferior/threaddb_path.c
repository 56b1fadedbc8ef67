/* SPDX-License-Identifier: BSD-2-Clause */
#include "inferior/threaddb_path.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* <gnu/lib-names.h> has it, too, where there is one. */
#define LIBRARY "libthread_db.so.1"

/* ---- $pdir ---- */

/* How well a file would do as the C library that knows of threads. */
static int rank(const char *path)
{
	static const char *const names[] = {"libpthread", "libc.so.", "libc-"};
	const int count = sizeof(names) / sizeof(names[0]);
	const char *name = strrchr(path, '/') + 1;

	for (int i = 0; i < count; i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return count - i;
	return 0;
}

/* The directory of the inferior's C library; the caller frees it. NULL: none. */
static char *c_library_dir(const struct inferior *inferior)
{
	_cleanup_buffer_ struct buffer maps = {0};
	char *best = NULL, *rest = NULL;
	int best_rank = 0;

	if (inferior_proc_file(inferior, "maps", &maps) < 0 || !maps.data)
		return NULL;
	for (char *line = strtok_r(maps.data, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *path = strchr(line, '/');

		if (!path || rank(path) <= best_rank)
			continue;
		best = path;
		best_rank = rank(path);
	}
	return best ? strdup(dirname(best)) : NULL;
}

static bool same_file(const struct inferior *inferior, const char *name)
{
	struct stat ours, theirs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)inferior->pid, name);
	if (stat(path, &theirs) != 0)
		return false;
	snprintf(path, sizeof(path), "/proc/self/%s", name);
	return stat(path, &ours) == 0 && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}

/* Can only root and we change this file or directory, or what a directory holds? */
static bool is_ours(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0 || (st.st_uid != 0 && st.st_uid != geteuid()))
		return false;
	return (st.st_mode & (S_IWGRP | S_IWOTH)) == 0 ||
	       (S_ISDIR(st.st_mode) && (st.st_mode & S_ISVTX) != 0);
}

/*
 * The inferior chooses this directory, and what is loaded from it runs with our
 * rights: nobody else may have a hand in it.
 */
static struct error *check_trusted(const struct inferior *inferior, const char *file)
{
	_cleanup_free_ char *real = realpath(file, NULL);

	if (!same_file(inferior, "root") || !same_file(inferior, "ns/mnt"))
		return error_create(0, "$pdir: process %d sees other files than we do",
				    (int)inferior->pid);
	if (!real)
		return error_create(errno, "%s", file);
	for (char *path = real; *path != '\0'; *strrchr(path, '/') = '\0')
		if (!is_ours(path))
			return error_create(0, "%s could be changed by others", path);
	return is_ours("/") ? NULL : error_create(0, "/ could be changed by others");
}

/* ---- parts of the path ---- */

static char *file_in(const char *dir, const char *more)
{
	char *file;

	return asprintf(&file, "%s%s/" LIBRARY, dir, more) < 0 ? NULL : file;
}

/* "$pdir" and what follows it. */
static char *file_in_pdir(const struct inferior *inferior, const char *more,
			  struct error **error)
{
	_cleanup_free_ char *dir = c_library_dir(inferior), *file = NULL;

	if (!dir) {
		*error = error_create(0, "$pdir: process %d has no C library mapped",
				      (int)inferior->pid);
		return NULL;
	}
	file = file_in(dir, more);
	if (file)
		*error = check_trusted(inferior, file);
	return *error ? NULL : take_ptr(file);
}

char *threaddb_file(const struct inferior *inferior, const char *part,
		    struct error **error)
{
	static const char pdir[] = "$pdir";
	const size_t len = sizeof(pdir) - 1;
	char *file;

	*error = NULL;
	if (strcmp(part, "$sdir") == 0)
		file = strdup(LIBRARY);
	else if (strncmp(part, pdir, len) == 0 &&
		 (part[len] == '\0' || part[len] == '/'))
		file = file_in_pdir(inferior, part + len, error);
	else
		file = file_in(part, "");
	if (!file && !*error)
		*error = error_create(ENOMEM, "%s", part);
	return file;
}
