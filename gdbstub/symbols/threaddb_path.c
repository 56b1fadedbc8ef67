/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/symbols/threaddb_path.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gdbstub/inferior/proc.h"

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

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)inferior_living_task(inferior),
		 name);
	if (stat(path, &theirs) != 0)
		return false;
	snprintf(path, sizeof(path), "/proc/self/%s", name);
	return stat(path, &ours) == 0 && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}

/* ---- what may be loaded ---- */

/* Whose files are loaded besides root's: those of the user who runs us, unless our file
 * lends him rights that he has not. */
static uid_t trusted_user(void)
{
	return getauxval(AT_SECURE) != 0 ? 0 : geteuid();
}

/* Can nobody but root and that user change this file, or what this directory holds? In
 * a directory with the sticky bit, others can change only what is their own. */
static bool is_ours(const char *path)
{
	struct stat st;

	if (lstat(path, &st) != 0 || (st.st_uid != 0 && st.st_uid != trusted_user()))
		return false;
	if (S_ISDIR(st.st_mode) && (st.st_mode & S_ISVTX) != 0)
		return true;
	return (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)) &&
	       (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/*
 * What is loaded runs with our rights: nobody else may have a hand in it. The path
 * holds no symbolic links any more, and is looked at from the root on: what stands in a
 * directory that only we can change stays what it is, so what is checked here is what
 * dlopen(3) finds later.
 */
static struct error *check_trusted(char *real)
{
	if (!is_ours("/"))
		return error_create(0, "/ could be changed by others");
	for (char *end = real; end && *end != '\0';) {
		end = strchr(end + 1, '/');
		if (end)
			*end = '\0';
		if (!is_ours(real))
			return error_create(
				0, "%s could be changed by others than root%s", real,
				trusted_user() != 0 ? " and you" : "");
		if (end)
			*end = '/';
	}
	return NULL;
}

/* The library at this path, without symbolic links. NULL: see *error. */
static char *trusted_file(const char *file, struct error **error)
{
	_cleanup_free_ char *real = realpath(file, NULL);

	*error = real ? check_trusted(real) : error_create(errno, "%s", file);
	return *error ? NULL : take_ptr(real);
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
	_cleanup_free_ char *dir = c_library_dir(inferior);

	if (!dir)
		*error = error_create(0, "$pdir: process %d has no C library mapped",
				      (int)inferior->pid);
	else if (!same_file(inferior, "root") || !same_file(inferior, "ns/mnt"))
		*error =
			error_create(0, "$pdir: process %d sees other files than we do",
				     (int)inferior->pid);
	return *error ? NULL : file_in(dir, more);
}

char *threaddb_file(const struct inferior *inferior, const char *part,
		    struct error **error)
{
	static const char pdir[] = "$pdir";
	const size_t len = sizeof(pdir) - 1;
	_cleanup_free_ char *file = NULL;

	*error = NULL;
	/* The dynamic linker's own directories need no check. */
	if (strcmp(part, "$sdir") == 0)
		file = strdup(LIBRARY);
	else if (strncmp(part, pdir, len) == 0 &&
		 (part[len] == '\0' || part[len] == '/'))
		file = file_in_pdir(inferior, part + len, error);
	else
		file = file_in(part, "");
	if (!file && !*error)
		*error = error_create(ENOMEM, "%s", part);
	if (!file || strcmp(part, "$sdir") == 0)
		return take_ptr(file);
	return trusted_file(file, error);
}
