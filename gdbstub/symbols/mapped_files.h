/* SPDX-License-Identifier: BSD-2-Clause */
/* Which files an inferior has mapped, and the files themselves. */
#ifndef TRUEHIT_SYMBOLS_MAPPED_FILES_H
#define TRUEHIT_SYMBOLS_MAPPED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/base/error.h"
#include "gdbstub/inferior/inferior.h"

/** A file, or the vDSO, from the start of its first mapping to the end of its last. */
struct mapped_file {
	uint64_t start, end;
	const char *name; /* its path, maybe with " (deleted)"; or "[vdso]" */
	bool failed;	  /* of symbols.c: it is not to be read again */
};

struct mapped_files {
	struct mapped_file *rows; /* by address */
	size_t count;
	struct buffer maps; /* holds the names */
};

/** Reads what is mapped now. On error, too, mapped_files_deinit is to be called. */
struct error *mapped_files_read(struct mapped_files *files,
				const struct inferior *inferior);
void mapped_files_deinit(struct mapped_files *files);

/** The file at an address, or NULL. */
struct mapped_file *mapped_files_at(const struct mapped_files *files, uint64_t addr);

/**
 * Opens a file as the inferior sees it, which may live in another mount name space; of
 * the vDSO a copy. A new descriptor for reading, or a negative errno: -EINVAL for what
 * is no regular file (to open a device may have effects, to open a FIFO may wait for
 * ever), -EFBIG for a large file that consists of holes.
 */
int mapped_file_open(const struct mapped_file *file, struct inferior *inferior);

#endif
