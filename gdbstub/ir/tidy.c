/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/ir/tidy.h"

#include "gdbstub/ir/facts.h"
#include "gdbstub/ir/flow.h"
#include "gdbstub/ir/needs.h"
#include "gdbstub/ir/slot_assignment.h"

int ir_tidy(struct ir *ir, const struct ir_target *target)
{
	enum { ROUNDS = 2 }; /* what one pass makes of the code is food for another */
	int r = tidy_flow(ir);

	for (int i = 0; i < ROUNDS && r == 0; i++) {
		tidy_facts(ir, target);
		r = tidy_needs(ir);
		if (r == 0)
			r = tidy_flow(ir);
	}
	if (r == 0)
		r = tidy_slots(ir);
	return r < 0 ? r : tidy_flow(ir);
}
