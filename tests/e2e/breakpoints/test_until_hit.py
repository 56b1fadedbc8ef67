# SPDX-License-Identifier: BSD-2-Clause
"""The stop at the Nth true hit of a location, of those of all threads: the program counts
how often it was there. UNTIL_HIT=999983 goes that far with each engine."""
import os
import signal

import harness

LAST = int(os.environ.get("UNTIL_HIT", 0))
EXTENSION = harness.ROOT / "scripts" / "truehit-gdb.py"
ENGINES = {"auto": "auto", "uprobe": "off", "uprobe in pads": "always", "hardware": "off",
           "ptrace": "off", "ptrace in pads": "always"}
PYTHON = """
def until(line):
    text = run("truehit until-hit " + line)
    table = run("monitor breakpoints") if alive() else ""
    return [int(gdb.parse_and_eval("turns")) if alive() else None, len(gdb.breakpoints()), text]
"""


def session(t, lines, threads, turns, engine="auto"):
    """What the program has counted at the stop of each until-hit, and what is printed."""
    kind, _, pads = engine.partition(" ")
    server = t.server("--once", "COMM", t.prog("serial"), str(threads), str(turns))
    gdb = t.gdb(server, f"source {EXTENSION}", f"monitor set engine {kind}",
                f"monitor set pads {ENGINES.get(engine, 'auto')}", "tbreak main", "continue",
                prog=t.prog("serial"), python=PYTHON + f"""
emit(found=[until(line) for line in {lines!r}])
run("continue") if alive() else None
""")
    return gdb.results[0]["found"], gdb.output(), server.output()


def check(t, engine, threads):
    """Also with a condition, which is true of each third turn."""
    place = t.line("serial.c", "TURN")
    numbers = [1, 2, 1000] + ([LAST] if LAST else [])
    lines = [f"{place} {number}" for number in numbers]
    lines += [f"{place} 1 if turns % 3 == 0", f"{place} 500 if turns % 3 == 0"]
    expected, at = [], -1
    for number in numbers:
        at += number
        expected.append(at)
    expected.append(at + 3 - at % 3)
    expected.append(expected[-1] + 3 * 500)
    found, _, output = session(t, lines, threads, at + 5000, engine)
    t.equal([turns for turns, *_ in found], expected, f"turns, {engine}, {threads} threads")
    t.equal({breakpoints for _, breakpoints, _ in found}, {0}, "breakpoints that are left")
    t.match(f"^{at + 5000} turns$", output)


def test_exactly_that_hit(t):
    t.truehit_only("until-hit")
    t.need_any_engine()
    if LAST:
        signal.alarm(0)
    for engine in ENGINES:
        if engine.startswith("uprobe"):
            if harness.kernel_conditions(t.config.server) or os.uname().machine != "x86_64":
                continue
        for threads in 1, 16:
            check(t, engine, threads)
            t.note(f"{engine}, {threads} threads: exact")


def test_the_program_ends_before(t):
    t.truehit_only("until-hit")
    found, output, _ = session(t, [f"{t.line('serial.c', 'TURN')} 101"], 4, 100)
    t.equal([turns for turns, *_ in found], [None], "turns")
    t.match(r"exited normally\]", output)


def test_what_is_refused(t):
    t.truehit_only("until-hit")
    place = t.line("serial.c", "TURN")
    server = t.server("--once", "COMM", t.prog("serial"), "2", "100")
    refused = ["", place, f"{place} 0", f"{place} -1", f"{place} 1 unless 2", "nowhere 1",
               f"{place} 1 if puts(0) == 3"]
    gdb = t.gdb(server, f"source {EXTENSION}", "tbreak main", "continue",
                f"truehit until-hit {place} 99999999999",
                prog=t.prog("serial"), python=f"""
texts = [run("truehit until-hit " + line) for line in {refused!r}]
run("break turn")
texts.append(run("truehit until-hit turn 1"))
emit(texts=texts, left=len(gdb.breakpoints()), inserted=gdb.parameter("breakpoint always-inserted"))
run("continue")
""")
    texts = gdb.results[0]["texts"]
    for text in texts[:4]:
        t.match(r"expected LOCATION N \[if CONDITION\]", text)
    for text, regex in zip(texts[4:], ("error: ", "no breakpoint at nowhere",
                                       "keeps this condition to itself",
                                       "Another breakpoint is at")):
        t.match(regex, text)
    t.match(r"which of its hits to stop at \(1 to 2147483647\)", gdb.output())
    t.equal((gdb.results[0]["left"], gdb.results[0]["inserted"]), (1, False), "what is left")
    t.match(r"Breakpoint \d+, turn \(\)", gdb.output())
