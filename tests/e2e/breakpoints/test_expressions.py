# SPDX-License-Identifier: BSD-2-Clause
"""Some random C conditions; scripts/fuzz expressions tries as many as one likes."""
import sys

import harness

sys.path.insert(0, str(harness.ROOT / "tests" / "fuzz"))
import expressions

COUNT = 60 // harness.PATIENCE


@harness.machines("main", "as=root")
def test_random_conditions(t):
    t.truehit_only("right sign extension from 33 to 63 bits")
    outcome = expressions.seeded_batch(t, seed="e2e", batch=0, count=COUNT)
    t.note(f"{outcome.conditions} conditions, {outcome.stops} stops, {outcome.decided}")
    t.equal("\n".join(outcome.differences), "", "lists that differ")
    t.check(outcome.stops > 8 * COUNT, "too few conditions hold")
    t.check(outcome.decided["kept by gdb"] < COUNT / 4, "too many conditions are kept by gdb")
