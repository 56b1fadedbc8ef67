/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/ir/ir.h"

#include <stdlib.h>

void ir_deinit(struct ir *ir)
{
	free(ir->insns);
	*ir = (struct ir){0};
}
