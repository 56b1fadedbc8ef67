/* SPDX-License-Identifier: BSD-2-Clause */
/* In the place of capstone_library.c in a server without shared libraries. */
#include "gdbstub/text/capstone_library.h"

bool capstone_library_find(struct capstone_library *ret)
{
	*ret = (struct capstone_library){
		.open = cs_open,
		.option = cs_option,
		.malloc = cs_malloc,
		.free = cs_free,
		.close = cs_close,
		.disasm_iter = cs_disasm_iter,
		.regs_access = cs_regs_access,
	};
	return true;
}
