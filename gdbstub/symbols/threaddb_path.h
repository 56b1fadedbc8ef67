/* SPDX-License-Identifier: BSD-2-Clause */
/* Where to look for libthread_db; for threaddb.c only. */
#ifndef TRUEHIT_SYMBOLS_THREADDB_PATH_H
#define TRUEHIT_SYMBOLS_THREADDB_PATH_H

#include "gdbstub/inferior/inferior.h"

/**
 * The file that a part of the search path means for this inferior, for dlopen(3): the
 * bare name of the library, or a path without symbolic links, in which each directory
 * and the file can be changed by nobody but root and the user who runs us (but root
 * only, where our file has capabilities). The caller frees it. NULL, and the reason in
 * *error: it means none, or one that must not be loaded.
 */
char *threaddb_file(const struct inferior *inferior, const char *part,
		    struct error **error);

#endif
