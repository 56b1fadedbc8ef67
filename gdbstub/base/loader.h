/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared libraries that are loaded while the server runs. */
#ifndef TRUEHIT_BASE_LOADER_H
#define TRUEHIT_BASE_LOADER_H

#include "gdbstub/base/error.h"

/** Loads the library in this file. *@ret is for the others, and loader_close(). */
struct error *loader_open(const char *file, void **ret);
void loader_close(void *library);

/** The address of a function, or NULL: it has none of that name. */
void *loader_function(void *library, const char *name);

#endif
