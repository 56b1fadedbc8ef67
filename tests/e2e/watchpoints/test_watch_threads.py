# SPDX-License-Identifier: BSD-2-Clause
"""Counters that many threads write, each change under a lock: what gdb is told of is what
the program itself has counted, no more and no less."""
import re

import harness
from test_extension import SCRIPT
from test_rights import ordinary_user
from test_watch_filter import AHEAD, VALUES

PROG = "turns"
NAMES = "one", "other"
WANTED = "{}.value == 3"


def play(t, *watches, threads, rounds, cycle, user=False, extended=False):
    """gdb's results and output, and what the program has counted by name of a counter."""
    arguments = [str(threads), str(rounds), str(cycle)]
    if user:
        server, prog = ordinary_user(t, program=PROG, arguments=arguments)
    else:
        server, prog = t.server("COMM", t.prog(PROG), *arguments), t.prog(PROG)
    gdb = t.gdb(server, "break begin", "continue", f"tbreak {t.line('turns.c', 'TOLD')}",
                *watches, prog=prog, first=[f"source {SCRIPT}"] if extended else [], python="""
found = []
while True:
    run("continue")
    if gdb.newest_frame().name() == "main":
        break
    found.append([value("one.value"), value("other.value")])
emit(stops=found, hits=[b.hit_count for b in gdb.breakpoints() if b.number > 2],
     table=run("monitor breakpoints"))
run("continue")
""")
    counted = {}
    for name in NAMES:
        match = t.match(rf"^{name}: (\d+) turns, (\d+) changes, (\d+) to", server.output())
        counted[name] = dict(zip(("turns", "changes", "wanted"), map(int, match.groups())))
        t.equal(counted[name]["turns"], threads * rounds, "turns")
    return gdb, counted


def rows(gdb):
    """Of `monitor breakpoints`, by name of a counter."""
    found = harness.breakpoint_rows(gdb.results[0]["table"])
    return {name: row for name in NAMES for row in found if f" {name}+0x" in row["text"]}


def check_changes(t, threads, rounds, user=False):
    """Each is told once."""
    gdb, counted = play(t, "watch one.value", threads=threads, rounds=rounds, cycle=10 ** 9,
                        user=user)
    changes = counted["one"]["changes"]
    t.equal(changes, threads * rounds // 10, "changes")
    t.equal([int(one) for one, _ in gdb.results[0]["stops"]], list(range(1, changes + 1)),
            "values at the stops")
    t.equal(re.findall(VALUES, gdb.output()), [(str(i), str(i + 1)) for i in range(changes)],
            "old and new values")


def test_changes(t):
    check_changes(t, t.quick(64, 16), 32)


def test_changes_without_rights(t):
    check_changes(t, 8, 50, user=True)


def check_condition(t, *names, threads, rounds, user=False, extended=True):
    """Each change that makes it true is told once, with the value before."""
    gdb, counted = play(t, *(f"watch {n}.value if {WANTED.format(n)}" for n in names),
                        threads=threads, rounds=rounds, cycle=7, user=user, extended=extended)
    wanted = [counted[name]["wanted"] for name in names]
    t.check(min(wanted) >= threads * rounds // 10 // 7, f"changes that are wanted: {wanted}")
    t.equal(gdb.results[0]["hits"], wanted, "hits, as gdb counts them")
    t.equal(len(gdb.results[0]["stops"]), sum(wanted), "stops")
    t.equal(re.findall(VALUES, gdb.output()), [("2", "3")] * sum(wanted), "old and new values")
    return gdb, counted


def check_decided(t, *names, threads, rounds, user=False):
    """Also by truehit's own counts."""
    t.truehit_only("conditions handed over")
    gdb, counted = check_condition(t, *names, threads=threads, rounds=rounds, user=user)
    for name in names:
        row, turns = rows(gdb)[name], counted[name]["turns"]
        t.equal(row["true"], counted[name]["wanted"], f"true hits of {name}")
        # Who is halted between a hit and the access that it comes before hits again.
        t.check(row["hits"] >= turns if AHEAD else row["hits"] == turns,
                f"hits of {name}: {row['hits']} of {turns}")


def test_condition(t):
    check_decided(t, "one", threads=64, rounds=t.quick(160, 16))


def test_conditions(t):
    """Of two counters, which threads write at the same time."""
    check_decided(t, *NAMES, threads=64, rounds=t.quick(160, 16))


def test_conditions_without_rights(t):
    check_decided(t, *NAMES, threads=8, rounds=50, user=True)


def test_conditions_decided_by_gdb(t):
    """It is told of every change."""
    check_condition(t, *NAMES, threads=t.quick(64, 16), rounds=16, extended=False)
