# SPDX-License-Identifier: BSD-2-Clause
"""`truehit calls`: the values of expressions at the hits of a place, counted."""
import re

import harness

EXTENSION = harness.ROOT / "scripts" / "truehit-gdb.py"


def debug(t, iterations, command):
    """gdb, after a command in a program that makes so many calls."""
    server = t.server("--once", "COMM", t.prog("loop"), iterations)
    return t.gdb(server, f"source {EXTENSION}", "tbreak main", "continue", prog=t.prog("loop"),
                 python=f"emit(text=run({command!r}), alive=alive())\n"
                 "run('kill') if alive() else None")


def calls(t, iterations, *commands):
    """What the commands print, each in a program of its own."""
    return [debug(t, iterations, command).results[0]["text"] for command in commands]


def rows(text):
    """What is counted, by the values."""
    return {values: int(count) for count, values in
            re.findall(r"^ *(\d+) +[\d.]+ %  [# ]{40}  (.*)$", text, re.M)}


def test_values(t):
    t.truehit_only("the extension")
    where = t.line("loop.c", "BODY")
    texts = calls(t, "1000", f"truehit calls {where} 60 i % 3",
                  f"truehit calls {where} 60 i % 2, (i % 4, 7) if i % 10 == 5",
                  f"truehit calls {where} 60 i / 500/x", f"truehit calls {where} 60 argv[1]/s")
    t.equal([rows(text) for text in texts],
            [{"0": 334, "1": 333, "2": 333}, {"1, 7": 100}, {"0": 500, "0x1": 500},
             {"1000": 1000}], "values")
    for text, line in zip(texts, ("1000 hits: i % 3", r"100 hits: i % 2, \(i % 4, 7\)",
                                  "1000 hits: i / 500", r"1000 hits: argv\[1\]")):
        t.match(f"^{line}$", text)
        t.no_match("truehit-calls", text)


def test_many_values(t):
    t.truehit_only("the extension")
    where = t.line("loop.c", "BODY")
    one, two = calls(t, "1000", f"truehit calls {where} 60 i - 500",
                     f"truehit calls {where} 60 i, i")
    t.match("^1000 different values$", one)
    bins = rows(one)
    t.equal((len(bins), sum(bins.values()), bins["-500 to -438"]), (16, 1000, 63), "bins")
    t.match("^the 20 most frequent of 1000$", two)
    t.equal(len(rows(two)), 20, "rows")


def test_the_time_is_over(t):
    """The program is stopped then, and alive."""
    t.truehit_only("the extension")
    gdb = debug(t, "1000000000", f"truehit calls {t.line('loop.c', 'BODY')} 0.3 i % 1")
    t.match("^Program received signal SIGINT", gdb.output())
    t.match(r"^[1-9]\d* hits: i % 1$", gdb.results[0]["text"])
    t.check(gdb.results[0]["alive"], "the program lives")


def test_what_is_refused(t):
    t.truehit_only("the extension")
    where = t.line("loop.c", "BODY")
    server = t.server("--once", "COMM", t.prog("loop"), "10")
    gdb = t.gdb(server, f"source {EXTENSION}", "truehit calls", f"truehit calls {where}",
                f"truehit calls {where} nonsense", f"truehit calls {where} i if nonsense",
                "truehit calls nowhere i", "info breakpoints", prog=t.prog("loop"),
                python="run('kill')")
    t.equal(gdb.output().count("expected LOCATION [SECONDS] EXPRESSION"), 2, "refused")
    t.match("No breakpoints or watchpoints", gdb.output())
