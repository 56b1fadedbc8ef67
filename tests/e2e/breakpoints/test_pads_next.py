# SPDX-License-Identifier: BSD-2-Clause
"""Pads for which the next instruction has a jump, too: that of the instruction itself would
lead to where no memory is free, by the bytes of the next one."""
import re

import harness
from test_pads import ENGINES, NEVER, debug, need_pads

ADDED = re.compile(r"^(\d+) added", re.M)


def added(rounds):
    return sum(i + 3 for i in range(rounds))


def walk(t, breakpoints):
    """What the registers are at each instruction, in two calls; the second one begins at the
    next instruction."""
    found, output = debug(t, [40], ["tbreak short_one if $rax == 30", *breakpoints], '''
run("continue")
places = []
def note(count):
    for _ in range(count):
        places.append([register(name) for name in ("pc", "sp", "rax", "eflags")])
        run("stepi")
note(12)
had = pads()
run("tbreak *(long)&second_one if $rax == 35")
run("continue")
note(4)
run("delete")
emit(places=places, pads=had, stop=places[12][0] - int(gdb.parse_and_eval("(long)&second_one")))
run("continue")
''')
    t.equal(int(ADDED.search(output).group(1)), added(40), "what was added")
    return found


def test_steps(t):
    """Instruction by instruction, with the pad and without."""
    t.need_x86()
    need_pads(t)
    plain = walk(t, [])
    padded = walk(t, [f"break *short_one {NEVER}"])
    t.equal(padded["places"], plain["places"], "places")
    t.check("in a pad" in padded["pads"].values(), f"pads: {padded['pads']}")
    t.equal(padded["stop"], 0, "where another breakpoint has stopped")


def check_hits(t, engine, rounds, arguments, condition, wanted):
    """Those of the instruction are hits; what comes to the next one is none."""
    found, output = debug(t, [rounds, *arguments], [
        f"break *short_one {condition}", f"tbreak {t.line('pads.c', 'END')}"], '''
run("continue")
stop = [register("pc") - PLACE, register("rax")]
had = list(pads().values())[0]
code = bytes(gdb.selected_inferior().read_memory(PLACE, 7)).hex()
table = run("monitor breakpoints")
if stop[0] == 0:
    run("continue")
    table = run("monitor breakpoints")
run("continue")
emit(stop=stop, pad=had, code=code, table=table)
'''.replace("PLACE", 'int(gdb.parse_and_eval("(long)&short_one"))'), engine=engine)
    t.equal(found["code"], "900503000000c3", "memory as gdb reads it")
    t.equal(found["pad"], "in a pad", "the pad")
    row = harness.breakpoint_rows(found["table"])[0]
    t.equal((row["true"], row["false"]), wanted, f"hits, {engine}")
    t.equal(int(ADDED.search(output).group(1)), added(rounds), "what was added")
    return found["stop"], output


def test_hits(t):
    t.need_x86()
    need_pads(t)
    for engine in ENGINES:
        stop, _ = check_hits(t, engine, 2000, [], "if $rax == 1000", (1, 1499))
        t.equal(stop, [0, 1000], "the stop")


def test_signals(t):
    """No handler sees another place than one of the text."""
    t.need_x86()
    need_pads(t)
    for engine in ENGINES:
        _, output = check_hits(t, engine, 200000, ["timer"], NEVER, (0, 150000))
        t.match("^0 from elsewhere of many", output)


def test_a_breakpoint_at_the_next(t):
    """It takes the jump's place there, and both are hit."""
    t.need_x86()
    need_pads(t)
    found, output = debug(t, [100], ["break *short_one if $rax == 20",
                                     "break *second_one if $rax == 23 || $rax == 40"], '''
stops = []
for _ in range(3):
    run("continue")
    stops.append([register("pc") - int(gdb.parse_and_eval("(long)&short_one")), register("rax")])
run("delete")
emit(stops=stops)
run("continue")
''')
    t.equal(found["stops"], [[0, 20], [1, 23], [1, 40]], "stops")
    t.equal(int(ADDED.search(output).group(1)), added(100), "what was added")
