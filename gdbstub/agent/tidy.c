/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/tidy.h"

#include "agent/facts.h"
#include "agent/flow.h"
#include "agent/needs.h"
#include "agent/slots.h"

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
