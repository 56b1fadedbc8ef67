# SPDX-License-Identifier: BSD-2-Clause
"""Pads while threads, children, libraries and programs come and go: each true hit is told
once, and what runs a copy of the text without a debugger meets none. CHURN=1000 makes a
longer run, of so many rounds."""
import collections
import os
import signal

import harness
from test_pads import ENGINES, need_pads

ROUNDS = int(os.environ.get("CHURN", 30 // harness.PATIENCE))
THREADS, CALLS = 4, 5  # of a round


def churn(t, engine, choice):
    path = t.prog("churn")
    signal.alarm(0 if ROUNDS > 30 else harness.TEST_LIMIT)
    server = t.server(path, ROUNDS)
    gdb = t.gdb(server, f"monitor set engine {engine}", f"monitor set pads {choice}",
                "set breakpoint pending on", f"break {t.line('churn.c', 'WORK')} if i == 3",
                "break greet if x == 2", "break work if i == 12345", prog=path, python='''
found = []
run("continue")
while alive():
    name = gdb.selected_frame().name()
    found.append(name + " " + value({"work": "i", "greet": "x"}.get(name, "$pc")))
    run("continue")
emit(stops=found)
''')
    return collections.Counter(gdb.results[0]["stops"]), server.output()


def test_churn(t):
    t.need_any_engine()
    need_pads(t)
    for engine in ENGINES:
        told, output = churn(t, engine, "always")
        t.equal(dict(told), {"work 3": ROUNDS * THREADS, "greet 2": ROUNDS}, f"stops, {engine}")
        rounds = THREADS * sum(2 * i + 1 for i in range(CALLS)) + sum(
            100 + i for i in range(CALLS))
        t.match(f"^sum {ROUNDS * rounds}$", output)
        t.no_match("a child ended", output)
