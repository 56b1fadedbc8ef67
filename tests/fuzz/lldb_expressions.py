#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Random C conditions from the side of lldb's user: with truehit's extension for lldb,
breakpoints stop where they do without it.

The program and the conditions are those of expressions.py. A batch of them is tried in one
lldb without the extension, and in one with it, all at one place in one round of the program.
A condition's list of stops is the numbers of the iterations.
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), *(str(path) for path in sorted((HERE.parent / "e2e").glob("*/"))),
                str(HERE.parent / "e2e")]
import harness
from expressions import PLACES, SOURCE, conditions_of
from lldb_conditions import Story

BATCH = 50

# One round: which breakpoints stop at which iterations.
LLDB_SIDE = r'''
end = session.target.BreakpointCreateByLocation(*END)
end.SetCondition("1 == 1")
run("continue")
groups = []
for start in range(0, len(CONDITIONS), len(PLACES_OF)):
    breakpoints = []
    for place, condition in zip(PLACES_OF, CONDITIONS[start:start + len(PLACES_OF)]):
        breakpoints.append(session.target.BreakpointCreateByLocation(*place))
        breakpoints[-1].SetCondition(condition)
    decided()
    found = [[] for _ in breakpoints]
    before = [0 for _ in breakpoints]
    ends = end.GetHitCount()
    while True:
        run("continue")
        if not alive():
            raise RuntimeError("the program has ended")
        now = session.target.FindFirstGlobalVariable("iteration").GetValueAsSigned()
        for i, breakpoint in enumerate(breakpoints):
            if breakpoint.GetHitCount() > before[i]:
                before[i] = breakpoint.GetHitCount()
                found[i].append(now)
        if end.GetHitCount() > ends:
            break
    groups += found
    for breakpoint in breakpoints:
        session.target.BreakpointDelete(breakpoint.GetID())
emit(groups=groups)
'''


def place(t, marker):
    file, _, at = t.line(SOURCE, marker).partition(":")
    return file, int(at)


def try_batch(t, conditions, program="expressions"):
    """Texts about differences, and how many conditions were decided by whom, and why."""
    settings = {"END": place(t, "END"), "CONDITIONS": conditions,
                "PLACES_OF": [place(t, f"PLACE {i}") for i in range(PLACES)]}
    python = "".join(f"{name} = {value!r}\n" for name, value in settings.items()) + LLDB_SIDE
    stories = [Story(t, python, program, (), extended) for extended in (False, True)]
    wanted, got = (story.results[0]["groups"] for story in stories)
    ways = collections.Counter(re.sub(r"\b[gpls]_\w+|\b\d\S*", "_", reason or "truehit")
                               for name, reason in stories[1].verdicts().items() if name != "1.1")
    return [f"{condition}\n  lldb    {one}\n  truehit {other}"
            for condition, one, other in zip(conditions, wanted, got) if one != other], ways, \
        sum(len(one) for one in wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=100, help="of conditions")
    parser.add_argument("--build", default=None, help="build directory")
    parser.add_argument("--condition", action="append", help="try this one; may be repeated")
    options = parser.parse_args()
    config = harness.Config.find(options.build)
    harness.libc.prctl(harness.PR_SET_CHILD_SUBREAPER, 1)
    out = os.dup(1)
    os.dup2(os.memfd_create("log"), 1)
    failed, ways, stops = 0, collections.Counter(), 0
    for start in range(0, options.count, BATCH):
        conditions = options.condition or conditions_of(
            options.seed, start // BATCH, min(BATCH, options.count - start))
        t = harness.Test(config, "lldb-expressions")
        try:
            differences, decided, count = try_batch(t, conditions)
        finally:
            t.close()
            shutil.rmtree(t.dir, ignore_errors=True)
        failed, ways, stops = failed + len(differences), ways + decided, stops + count
        os.write(out, "".join(f"{text}\n" for text in differences).encode())
        if options.condition:
            break
    os.write(out, (f"{stops} stops, {failed} lists differ (seed {options.seed}); decided: "
                   + "; ".join(f"{n} {way}" for way, n in ways.most_common()) + "\n").encode())
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
