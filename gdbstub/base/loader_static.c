/* SPDX-License-Identifier: BSD-2-Clause */
/* In the place of loader.c in a server without shared libraries: what it would load was
 * made for another C library than the one that is in it, and would bring that along. */
#include <nss.h>
#include <stddef.h>

#include "gdbstub/base/loader.h"

struct error *loader_open(const char *file, void **ret)
{
	*ret = NULL;
	return error_create(0, "%s: this truehit loads no libraries", file);
}

void loader_close(void *library)
{
	(void)library;
}

void *loader_function(void *library, const char *name)
{
	(void)library;
	(void)name;
	return NULL;
}

/* The C library loads what nsswitch.conf names, but for these, which are in itself. */
__attribute__((constructor)) static void keep_names_inside(void)
{
	static const char *const databases[] = {"passwd", "group", "initgroups"};

	for (size_t i = 0; i < sizeof(databases) / sizeof(databases[0]); i++)
		__nss_configure_lookup(databases[i], "files");
	__nss_configure_lookup("hosts", "files dns");
}
