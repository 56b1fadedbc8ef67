/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc/PID/maps says of a mapping (proc(5)). */
#ifndef TRUEHIT_SYMBOLS_MAPPING_H
#define TRUEHIT_SYMBOLS_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

struct inferior;

/** Tells a mapped file from others. */
struct file_id {
	unsigned int major, minor; /* of the device */
	unsigned long inode;	   /* 0: no file */
};

bool file_id_equal(const struct file_id *a, const struct file_id *b);

/** A line of it. */
struct mapping {
	uint64_t start, end; /* addresses */
	uint64_t offset;     /* in the file, of the start */
	char permissions[5]; /* "r-xp" */
	struct file_id file;
	const char *name; /* in the line, up to its end; a path, "[vdso]", or nothing */
	int name_len;
};

/** Of one line, whether or not others follow it. False: it is none. */
bool mapping_parse(const char *line, struct mapping *ret);
/** The mapping that has the address. @maps: the lines. False: there is none. */
bool mapping_find(const char *maps, uint64_t addr, struct mapping *ret);
/** Which file is mapped there (no file: inode 0). False: nothing is, or nobody can
 * tell. */
bool mapping_file_at(const struct inferior *inferior, uint64_t addr,
		     struct file_id *ret);

#endif
