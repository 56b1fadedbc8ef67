# SPDX-License-Identifier: BSD-2-Clause
"""The stop at the Nth true hit of a location, of those of all threads: the program counts
how often it was there. And the stop at the pass of a loop with a given state.
UNTIL_HIT=999983 goes that far with each engine, or with UNTIL_ENGINE="ptrace in pads" alone."""
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


def engines(t):
    """Those that there are here."""
    probes = os.uname().machine == "x86_64" and not harness.kernel_conditions(t.config.server)
    fire = harness.breakpoint_registers_fire()
    return [engine for engine in ENGINES if os.environ.get("UNTIL_ENGINE", engine) == engine
            and (probes or not engine.startswith("uprobe")) and (fire or engine != "hardware")]


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
    for engine in engines(t):
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


# ---- states ----

SECOND = "rsi" if os.uname().machine == "x86_64" else "x1"  # an argument's register


def state_session(t, engine, python):
    """One thread that calls body() with 0, 1, 2 and so on."""
    kind, _, pads = engine.partition(" ")
    server = t.server("--once", "COMM", t.prog("threads"), "1", "20000")
    gdb = t.gdb(server, f"source {EXTENSION}", f"monitor set engine {kind}",
                f"monitor set pads {ENGINES[engine]}", "tbreak worker", "continue",
                prog=t.prog("threads"), python=python + '\nrun("kill")')
    return gdb.results[0]


def test_the_same_state_in_another_run(t):
    """Of two runs that are alike: the pass at which all registers are as they were."""
    t.truehit_only("until-state")
    t.need_any_engine()
    for engine in engines(t):
        saved = state_session(t, engine, f"""
run("truehit until-state *body {SECOND}=12345")
first = int(gdb.parse_and_eval("${SECOND}"))
run("tbreak body if i == 17777")
run("continue")
emit(first=first, i=int(gdb.parse_and_eval("i")), state=run("truehit save-point").strip())
""")
        t.equal((saved["first"], saved["i"]), (12345, 17777), f"where it stops, {engine}")
        again = state_session(t, engine, f"""
run("truehit until-state {saved['state']}")
emit(i=int(gdb.parse_and_eval("i")), state=run("truehit save-point").strip(),
     other=run("truehit until-state {saved['state']} if i == 3"), alive=alive())
""")
        t.equal((again["i"], again["state"]), (17777, saved["state"]), f"the state, {engine}")
        t.equal(again["alive"], False, "no other pass has it")


def test_states_that_are_refused(t):
    t.truehit_only("until-state")
    result = state_session(t, "auto", """
emit(texts=[run("truehit until-state " + line) for line in ("", "*body rax", "*body rax=x=1",
                                                            "*body nothing=1")])
""")
    for text in result["texts"]:
        t.match("^error: ", text)
    t.match(r"expected LOCATION \[REGISTER=VALUE\.\.\.\]", result["texts"][0])


STATES = int(os.environ.get("UNTIL_STATE", 100))
RANDOM = """
import os, random, re
def loaded(pid):
    '''The programs that the server holds in the kernel.'''
    texts = []
    for name in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            texts.append(open(f"/proc/{pid}/fdinfo/{name}").read())
        except OSError:
            pass
    return sorted(set(re.findall(r"^prog_id:\\t(\\d+)", "\\n".join(texts), re.M)))
def until(passes):
    run(f"monitor until-state body {SECOND}={passes}")
    run("continue")
    return int(gdb.parse_and_eval("$" + SECOND)) if alive() else -1
run("set breakpoint always-inserted on")
run("break *body")
"""


def test_random_states(t):
    """Each by the monitor command; no program is loaded for another one.
    UNTIL_STATE=1000 has so many with each engine."""
    t.truehit_only("until-state")
    t.need_any_engine()
    passes = STATES * 20
    for engine in engines(t):
        kind, _, pads = engine.partition(" ")
        server = t.server("--once", "COMM", t.prog("threads"), "1", str(passes))
        gdb = t.gdb(server, f"monitor set engine {kind}", f"monitor set pads {ENGINES[engine]}",
                    "tbreak worker", "continue", prog=t.prog("threads"), python=f"""
SECOND = {SECOND!r}
{RANDOM}
wanted = sorted(random.Random(22).sample(range(100, {passes}), {STATES}))
first = until(50)
before = loaded({server.serving})
found = [until(number) for number in wanted]
table = run("monitor breakpoints")
explained = run("monitor explain body")
off = run("monitor until-state body off") if alive() else ""
run("continue") if alive() and found[-1] < {passes} - 1 else None
emit(first=first, wrong=[pair for pair in zip(wanted, found) if pair[0] != pair[1]],
     loaded=[before, loaded({server.serving})], table=table, explained=explained, off=off,
     next=int(gdb.parse_and_eval("$" + SECOND)), last=found[-1])
run("kill")
""")
        result = gdb.results[0]
        t.equal(result["first"], 50, f"the first state, {engine}")
        t.equal(result["wrong"], [], f"passes, {engine}")
        before, after = map(set, result["loaded"])
        # One that is hit often may get another engine, or a pad.
        t.check(len(after - before) <= 1, f"{len(after - before)} programs, {engine}")
        t.match(rf"^Condition: \${SECOND} == {result['last']}$", result["explained"])
        t.match(r"Will stop in all states at break \d+ at body", result["off"])
        t.equal(result["next"], result["last"] + 1, "without a state, the next pass")


def test_states_that_the_monitor_refuses(t):
    t.truehit_only("until-state")
    refused = {
        "": "expected a location and REG", "body": "expected a location and REG",
        f"body {SECOND}": "expected a location and REG", f"99 {SECOND}=1": "no location",
        f"body {SECOND}=x": "number of 64 bits", "body nothing=1": "no register 'nothing'",
        f"body {SECOND}=1 x": "expected REGISTER=VALUE, not 'x'",
        f"barrier {SECOND}=1": "a watchpoint stops at no state"}
    server = t.server("--once", "COMM", t.prog("threads"), "1", "200")
    gdb = t.gdb(server, "set breakpoint always-inserted on", "tbreak worker", "continue",
                "break *body", "watch *(int *)&barrier",
                *[f"monitor until-state {line}".strip() for line in refused],
                "monitor explain body", "kill", prog=t.prog("threads"))
    for line, regex in refused.items():
        t.match(regex, gdb.output(), line)
    t.match("^Condition: gdb sent no condition", gdb.output())
