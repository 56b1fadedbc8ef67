/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/text/capstone_library.h"

#include <stddef.h>
#include <string.h>

#include "gdbstub/base/loader.h"
#include "gdbstub/base/log.h"

static const struct {
	const char *name;
	size_t at;
} functions[] = {
	{"cs_open", offsetof(struct capstone_library, open)},
	{"cs_option", offsetof(struct capstone_library, option)},
	{"cs_malloc", offsetof(struct capstone_library, malloc)},
	{"cs_free", offsetof(struct capstone_library, free)},
	{"cs_close", offsetof(struct capstone_library, close)},
	{"cs_disasm_iter", offsetof(struct capstone_library, disasm_iter)},
	{"cs_regs_access", offsetof(struct capstone_library, regs_access)},
};

bool capstone_library_find(struct capstone_library *ret)
{
	_cleanup_error_ struct error *error = NULL;
	void *library;

	error = loader_open(CAPSTONE_FILE, &library);
	if (error) {
		log_warning("instructions cannot be decoded: %s", error_text(error));
		return false;
	}
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = loader_function(library, functions[i].name);

		if (!function) {
			log_warning("instructions cannot be decoded: %s has no %s",
				    CAPSTONE_FILE, functions[i].name);
			return false;
		}
		memcpy((char *)ret + functions[i].at, &function, sizeof(function));
	}
	return true;
}
