# SPDX-License-Identifier: BSD-2-Clause
"""Steps that count what processors retire: against loops that are counted by hand."""
import random

import harness
import rsp
from storms import MACHINE

EXTENSION = harness.ROOT / "scripts" / "truehit-gdb.py"
EVENTS = {
    "instructions": lambda kind, taken: True,
    "branches": lambda kind, taken: kind != "other",
    "conditional-branches": lambda kind, taken: kind == "conditional",
    "taken-branches": lambda kind, taken: taken,
}
ROUNDS = 1000
CALL = {"x86_64": "syscall", "aarch64": "svc"}[MACHINE]
CALL_LENGTH = {"x86_64": 2, "aarch64": 4}[MACHINE]
COUNTER = {name: registers[MACHINE == "aarch64"] for name, registers in {
    "plain": ("rdi", "x0"), "nested": ("rdi", "x0"), "calling": ("rdi", "x0"),
    "choosing": ("rdi", "x0"), "repeating": ("rdx", "x2")}.items()}


# ---- what the functions of the program `counted` execute: each instruction's place in the
# function, its kind, whether it is taken, and how many turns are left after it ----

def plain(n):
    while n:
        n -= 1
        yield 0, "other", False, n
        yield 1, "conditional", n > 0, n


def nested(n):
    while n:
        yield 0, "other", False, n
        for inner in 2, 1, 0:
            yield 1, "other", False, n
            yield 2, "conditional", inner > 0, n
        n -= 1
        yield 3, "other", False, n
        yield 4, "conditional", n > 0, n


def calling(n):
    first = 1 if MACHINE == "aarch64" else 0
    if first:
        yield 0, "other", False, n
    while n:
        yield first, "always", True, n
        yield first + 4, "always", True, n
        n -= 1
        yield first + 1, "other", False, n
        yield first + 2, "conditional", n > 0, n


def choosing(n):
    while n:
        yield 0, "other", False, n
        yield 1, "conditional", n % 2 == 1, n
        if n % 2 == 0:
            yield 2, "other", False, n
        n -= 1
        yield 3, "other", False, n
        yield 4, "conditional", n > 0, n


def repeating(n):
    yield 0, "other", False, n
    while n:
        for place in 1, 2, 3:
            yield place, "other", False, n
        n -= 1
        yield 4, "other", False, n
        yield 5, "conditional", n > 0, n


def after(function, event, count):
    """The place of the next instruction after so many events, and the turns left then."""
    steps = function(ROUNDS)
    for _, kind, taken, left in steps:
        count -= EVENTS[event](kind, taken)
        if count == 0:
            return next(steps)[0], left
    raise AssertionError("the loop is too short")


# ---- the tests ----

def wishes(name):
    """(event, how many) for each of the functions: few, and as many as it makes steps."""
    rng = random.Random(name)
    most = 950 if name != "repeating" else 95  # a string instruction makes many steps
    return [(event, count) for event in EVENTS for count in (1, 2, rng.randrange(3, most))]


def stops_of(t, name, asked):
    """Where it is after each: the address, and the counter. It begins anew each time."""
    server = t.server("--once", "COMM", t.prog("counted"))
    counter = COUNTER[name]
    start = "rdi" if MACHINE == "x86_64" else "x0"
    found = t.gdb(server, f"source {EXTENSION}", f"tbreak *{name}", "continue",
                  prog=t.prog("counted"), python=f"""
base = int(gdb.parse_and_eval("(long)$pc"))
listing = [i["addr"] for i in gdb.selected_frame().architecture().disassemble(base, count=8)]
found = []
for event, count in {asked!r}:
    run(f"set $pc = {{base}}")
    run("set ${start} = {ROUNDS}")
    run(f"truehit until-count {{event}} {{count}}")
    found.append([listing.index(int(gdb.parse_and_eval("(long)$pc"))),
                  int(gdb.parse_and_eval("(long)${counter}"))])
emit(found=found)
run("kill")
""").results[0]["found"]
    return found


def compare(t, name, function):
    t.truehit_only("monitor until-count")
    asked = wishes(name)
    for (event, count), found in zip(asked, stops_of(t, name, asked)):
        place, left = after(function, event, count)
        if name == "repeating" and place == 0:
            left = found[1]  # the counter is not loaded yet
        t.equal(found, [place, left], f"{name}: after {count} {event}")


def test_plain(t):
    compare(t, "plain", plain)


def test_nested(t):
    compare(t, "nested", nested)


def test_calling(t):
    compare(t, "calling", calling)


def test_choosing(t):
    compare(t, "choosing", choosing)


def test_repeating(t):
    compare(t, "repeating", repeating)


def steps_from(t, functions, how, *commands, count=40):
    """Where the thread is after each seven instructions, and how often it is short of them."""
    server = t.server("--once", "COMM", t.prog("threads"), "1", "50")
    gdb = t.gdb(server, f"source {EXTENSION}", "tbreak main", "continue",
                prog=t.prog("threads"), python=f"""
import re
for name in {functions}:
    try:
        gdb.execute(f"tbreak *{{name}}")
    except gdb.error:
        pass
run("continue")
for command in {commands}:
    run(command)
def pc():
    return int(gdb.parse_and_eval("(long)$pc"))
def stepi(count):
    for _ in range(count):
        before = pc()
        while pc() == before:   # on aarch64 the step after one over a system call is none
            run("stepi")
def until_count(count):
    text = run(f"truehit until-count instructions {{count}}")
    left = re.search("^([0-9]+) instructions are left", text, re.M)
    return 1 + until_count(int(left[1])) if left else 0
begin, places, short = pc(), [], 0
for _ in range({count}):
    short += {how}(7) or 0
    places.append(pc() - begin)
emit(places=places, short=short)
run("kill")
""")
    return gdb.results[0]["places"], gdb.results[0]["short"]


def thread_is_made_at(t):
    """The instruction by which the C library does it, in a function that has no symbol."""
    server = t.server("--once", "COMM", t.prog("threads"), "1", "50")
    gdb = t.gdb(server, "catch syscall clone", "catch syscall clone3", "continue",
                prog=t.prog("threads"), python="emit(pc=int(gdb.parse_and_eval('(long)$pc')))")
    return gdb.results[0]["pc"] - CALL_LENGTH


@harness.machines("counted")
def test_call_that_makes_a_thread(t):
    """Its instruction is one, though the thread stops within it. A branch follows another
    call on aarch64, after which a step executes nothing."""
    t.truehit_only("monitor until-count")
    names = [hex(thread_is_made_at(t))]
    t.equal(steps_from(t, names, "until_count"), steps_from(t, names, "stepi"), "where it is")


def test_caught_calls(t):
    """The same, where it stops before the call and after it."""
    t.truehit_only("monitor until-count")
    names = ["pthread_create"]
    # Up to an exclusive access, on aarch64, which gdb steps over in one.
    places, short = steps_from(t, names, "until_count", "catch syscall", count=14)
    t.equal(places, steps_from(t, names, "stepi", count=14)[0], "where it is")
    t.check(short > 1, "calls are caught")


def test_after_a_call_that_made_a_thread(t):
    """The thread has run on since: its first step is none out of the call."""
    t.truehit_only("monitor until-count")
    server = t.server("--once", "COMM", t.prog("counted"), "9", "1")
    gdb = t.gdb(server, f"source {EXTENSION}", "tbreak plain", "continue",
                "truehit until-count instructions 2", prog=t.prog("counted"), python=f"""
emit(left=int(gdb.parse_and_eval("${COUNTER['plain']}")))
run("kill")
""")
    t.equal(gdb.results, [{"left": 8}], "turns after 2 instructions")


def test_exec(t):
    """It is an instruction, too, and the next one is the new program's first."""
    t.truehit_only("monitor until-count")
    places = []
    for command in "truehit until-count instructions 3", "stepi 3":
        server = t.server("--once", "COMM", t.prog("exec"), t.prog("exec"))
        gdb = t.gdb(server, f"source {EXTENSION}", "tbreak main", "continue", "catch exec",
                    "tbreak execve", "continue", prog=t.prog("exec"), python=f"""
import re
while not {CALL!r} in run("x/i $pc").split():
    run("stepi")
text = run("truehit until-count instructions 5")
emit(left=re.search("^([0-9]+) instructions are left", text, re.M)[1])
before = gdb.parse_and_eval("(long)$pc")
emit(first=int(before))
if "{command}" == "stepi 3":
    run("stepi")
    while gdb.parse_and_eval("(long)$pc") == before:
        run("stepi")
    run("stepi 2")
else:
    run("{command}")
emit(pc=int(gdb.parse_and_eval("(long)$pc")))
run("kill")
""")
        t.equal(gdb.results[0], {"left": "4"}, "after exec")
        places.append(gdb.results[1:])
    t.equal(places[0], places[1], "where it is")


def test_breakpoints_on_the_way(t):
    """One that it begins at is passed, one that it comes to stops it."""
    t.truehit_only("monitor until-count")
    server = t.server("--once", "COMM", t.prog("counted"))
    counter = COUNTER["plain"]
    gdb = t.gdb(server, f"source {EXTENSION}", f"break *plain if ${counter} % 10 == 0",
                "continue", "truehit until-count branches 100",
                "truehit until-count branches 3", prog=t.prog("counted"),
                python=f"""emit(left=int(gdb.parse_and_eval("${counter}")))
run("kill")
""")
    t.match("^90 branches are left", gdb.output())
    t.equal(gdb.results[0]["left"], ROUNDS - 13, "turns left after 10 and 3")


def test_what_is_refused(t):
    t.truehit_only("monitor until-count")
    server = t.server("--once", "COMM", t.prog("counted"))
    lines = ["apples 3", "branches", "branches 0", "branches -1", "branches 1 0",
             "branches 1 2 3", "branches 1x", "b" * 100 + " 1"]
    gdb = t.gdb(server, f"source {EXTENSION}", *(f"monitor until-count {line}" for line in lines),
                "truehit until-count branches", prog=t.prog("counted"))
    t.equal(gdb.output().count("expected instructions, branches,"), len(lines) + 1, "refused")


def test_what_is_left(t):
    """What runs without steps is not counted, and that is shown."""
    t.truehit_only("monitor until-count")
    client = rsp.Client(t.server("--once", "COMM", t.prog("counted"), "100000000000"))
    for text, left in ("until-count branches 12", 12), ("until-count", 12), (
            "until-count off", 0), ("until-count instructions 5 2", 5):
        t.match(f"^{left} (branches|instructions) are left.$", client.monitor(text))
    thread = client.ask("qC")[2:]
    for left in 3, 0:
        client.ask(f"vCont;s:{thread}")
        t.match(f"^{left} instructions are left.$", client.monitor("until-count"))
    client.monitor("until-count branches 3")
    t.match("^T05", client.ask(f"vCont;r0,1:{thread}"), "a range's step")
    t.match("left; it has run without being counted", client.monitor("until-count"))
    client.monitor("until-count branches 3")
    client.send_bytes(client.frame("vCont;c"))
    client.interrupt()
    client.receive()
    t.match("left; it has run without being counted", client.monitor("until-count"))
    client.close()


def test_of_a_thread_that_runs(t):
    """In non-stop mode: what it counts cannot be changed meanwhile, but seen."""
    t.truehit_only("monitor until-count")
    client = rsp.Client(t.server("--once", "COMM", t.prog("counted"), "100000000000"))
    t.equal(client.ask("QNonStop:1"), "OK", "non-stop mode")
    t.equal(client.ask("vCont;c"), "OK", "vCont;c")
    client.send_bytes(client.frame(b"qRcmd," + b"until-count branches 3".hex().encode()))
    t.equal(client.receive().decode(), "E01", "until-count")
    t.match("^The thread runs", client.console.decode())
    t.match("^0 instructions are left", client.monitor("until-count"))
    client.close()


def test_counters(t):
    """What the machine has, or why it has none."""
    t.truehit_only("monitor counters")
    client = rsp.Client(t.server("--once", "COMM", t.prog("counted")))
    text = client.monitor("counters")
    for name in "instructions", "branches", "cycles":
        t.match(rf"^{name}: (\d+ in a loop of 1000000 turns|this machine has no|the kernel keeps)",
                text)
    for event in EVENTS:
        t.match(rf"^until-count {event}: by (the processor, the last \d+ by steps|steps: \w)", text)
