/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/base/loader.h"

#include <dlfcn.h>

struct error *loader_open(const char *file, void **ret)
{
	*ret = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	return *ret ? NULL : error_create(0, "%s", dlerror());
}

void loader_close(void *library)
{
	dlclose(library);
}

void *loader_function(void *library, const char *name)
{
	return dlsym(library, name);
}
