#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Shows a session with truehit and gdb, checks it, and measures: demo.py BUILD."""
import sys

sys.dont_write_bytecode = True
import os
import re

import measure

ITERATIONS = 1000000
TRUE_HIT = 777777
LOOKS = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("", "")


def show_command(text):
    print(f"{LOOKS[0]}{text}{LOOKS[1]}", flush=True)


def check(condition, text):
    if not condition:
        sys.exit(f"demo: {text}")


def session(truehit, loop):
    """The session as a user would see it; returns the output of gdb and the server."""
    where = measure.line()
    commands = [f"break {where} if i == {TRUE_HIT}", "continue", "print i",
                "info symbol $pc", "monitor breakpoints", "continue"]
    show_command(f"$ truehit :0 {os.path.relpath(loop)} {ITERATIONS}")
    with measure.Server(truehit, loop, ITERATIONS) as server:
        print(server.text().strip())
        show_command(f"\n$ gdb {os.path.relpath(loop)}")
        show_command(f"(gdb) target remote :{server.port}")
        shown = []
        for command in commands:
            shown += [f"echo {LOOKS[0]}(gdb) {command}{LOOKS[1]}\\n", command]
        output = server.gdb(loop, shown)
        print(output.rstrip(), flush=True)
        done, cost = server.loop_ns()
        show_command("\nWhat the program printed:")
        print(f"{done} iterations, {cost:.1f} ns per iteration")
    return output, done, cost


def verify(output, done):
    check(done == ITERATIONS, f"the program ran {done} of {ITERATIONS} iterations")
    stops = re.findall(r"^(?:Thread .* hit )?Breakpoint 1, ", output, re.M)
    check(len(stops) == 1, f"gdb stopped {len(stops)} times instead of once")
    check(re.search(rf"^\$1 = {TRUE_HIT}$", output, re.M), f"i is not {TRUE_HIT} at the stop")
    row = re.search(r"^\s*\d+ break .*?\s([\d,]+)\s+([\d,]+)\s+([\d,]+)\s+([\d,]+)(\s|$)",
                    output, re.M)
    check(row, "monitor breakpoints shows no break")
    hits, suppressed, true_hits = (int(n.replace(",", "")) for n in row.groups()[:3])
    check((hits, suppressed, true_hits) == (TRUE_HIT + 1, TRUE_HIT, 1),
          f"{hits} hits, {suppressed} false and {true_hits} true, instead of {TRUE_HIT} "
          "false hits and one true one")
    return len(stops), suppressed


def measurements(truehit, build):
    bench = measure.Bench(truehit, build)
    bench.calibrate()
    cases = bench.break_cases()
    for _ in range(3):
        for case in cases:
            bench.run(case)
    return cases


def table(cases):
    own = next(case for case in cases if case.name == "truehit").median
    print(f"  {'':<34} {'time per false hit':>18} {'ratio to truehit':>17} {'iterations':>11}")
    for case in cases:
        print(f"  {case.title:<34} {measure.microseconds(case.median):>18} "
              f"{case.median / own:>16.1f}x {case.iterations:>11}")
    print()
    print(measure.bars([(case.title, case.median, measure.microseconds(case.median))
                        for case in cases]))


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    truehit = os.path.join(build, "truehit")
    loop = os.path.join(build, "tests", "progs", "loop")
    try:
        output, done, cost = session(truehit, loop)
        stops, suppressed = verify(output, done)
        show_command("\nMeasuring here and now (half a minute)...\n")
        cases = measurements(truehit, build)
    except measure.Broken as error:
        sys.exit(f"demo: {error}")
    print(f"  iterations               {done:>12,}")
    print(f"  stops seen by gdb        {stops:>12,}")
    print(f"  false hits suppressed    {suppressed:>12,}  until the stop")
    print(f"  time per iteration       {measure.microseconds(cost):>12}  with the breakpoint\n")
    table(cases)
    return 0


if __name__ == "__main__":
    sys.exit(main())
