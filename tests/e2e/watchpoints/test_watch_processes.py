# SPDX-License-Identifier: BSD-2-Clause
"""Conditional watchpoints of programs that fork and execute others: with truehit deciding,
gdb shows what it shows alone."""
import re

from test_extension import DECIDED, SCRIPT, STOPS
from test_watch_filter import VALUES

STORY = STOPS + """
decided()
found, hits = [], 0
for _ in range(60):
    run("continue")
    lives = [i for i in gdb.inferiors() if i.pid]
    if not lives:
        break
    watch = next((b for b in gdb.breakpoints() if b.number == 2), None)
    if watch and watch.hit_count > hits:
        hits = watch.hit_count
        found.append([gdb.selected_inferior().num, value(watch.expression), hits])
    if not alive():
        run(f"inferior {lives[0].num}")
emit(stops=found)
"""
BOTH = "set detach-on-fork off", "set schedule-multiple on"
CHILD = "set follow-fork-mode child",


def check(t, arguments, watch, stops, first=()):
    """The stops (gdb's number of the process, value, count of hits), with and without."""
    t.truehit_only("conditions handed over")
    arguments = [t.prog(arguments[0]), *arguments[1:]]
    for extended in True, False:
        server = t.server("COMM", *arguments)
        gdb = t.gdb(server, *first, "break main", "continue", "delete", watch, python=STORY,
                    prog=arguments[0], first=[f"source {SCRIPT}"] if extended else [])
        t.equal(bool(re.search(DECIDED, gdb.output(), re.M)), extended, "truehit decides")
        t.equal(gdb.results[0]["stops"], stops, f"stops, extended: {extended}")
        t.equal([new for _, new in re.findall(VALUES, gdb.output())],
                [value for _, value, _ in stops], f"new values, extended: {extended}")


def test_exec(t):
    """The program that is executed is the same, and writes its own variable."""
    anew = [t.prog("exec")] * 2
    check(t, ["exec", *anew], "watch before if before == 1", [[1, "1", 1], [1, "1", 2]])
    check(t, ["exec", *anew], "watch before if before == 2", [])


def test_parent(t):
    for how in "fork", "vfork":
        check(t, ["family", how, "4"], "watch worked if worked % 2 == 0",
              [[1, "2", 1], [1, "4", 2]])


def test_child(t):
    """The vfork child executes the program anew."""
    for how in "fork", "vfork":
        check(t, ["family", how, "4"], "watch worked if worked == 1", [[2, "1", 1]], CHILD)


def test_both(t):
    """gdb watches in the parent only; children come and go beside it."""
    for how in "fork", "vfork":
        check(t, ["family", how, "4"], "watch worked if is_child || worked > 2",
              [[1, "3", 1], [1, "4", 2]], BOTH)
