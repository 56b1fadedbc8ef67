# SPDX-License-Identifier: BSD-2-Clause
"""Ignore counts that gdb's extension hands over (set truehit ignore-counts on): all stops
and all counts that are left are those of gdb alone. COUNT_SEEDS=N has so many random
sessions."""
import os

import harness

SCRIPT = harness.ROOT / "scripts" / "truehit-gdb.py"
SEEDS = int(os.environ.get("COUNT_SEEDS", 2))
ON = (f"source {SCRIPT}", "set truehit ignore-counts on")

PYTHON = """
import re

def counts():
    return {b.number: b.ignore_count for b in gdb.breakpoints()}

def ignored():
    '''What the server has ignored.'''
    try:
        text = gdb.execute("monitor breakpoints all", to_string=True)
    except gdb.error:
        return 0
    rows = re.findall(r"^ +\\d+ h?break .*?((?: +[\\d,]+){5}) ", text, re.M)
    return sum(int(row.split()[-1].replace(",", "")) for row in rows)

def go(command="continue"):
    return run(command)
"""


def both(t, python, program, *arguments, decided=True, first=(), connect="target remote",
         server=None):
    """What the same session emits with counts handed over and without; decided: does truehit
    count with them? The python emits `ignored` with the other values."""
    t.truehit_only("counts handed over")
    results = []
    for extended in True, False:
        listener = server() if server else t.server("COMM", t.prog(program), *arguments)
        gdb = t.gdb(listener, prog=t.prog(program), python=PYTHON + python, connect=connect,
                    first=[*(ON if extended else ()), *first])
        emitted = gdb.results
        ignored = sum(result.pop("ignored", 0) for result in emitted)
        if not extended:
            t.equal(ignored, 0, "hits ignored by truehit without its extension")
        elif decided is not None:
            t.equal(ignored > 0, decided, f"truehit counts ({ignored} hits are ignored)")
        results.append(emitted)
    for number, pair in enumerate(zip(*results)):
        t.equal(pair[0], pair[1], f"result {number} with counts handed over and without")
    t.equal(len(results[0]), len(results[1]), "number of results")
    return results[0]


def test_the_stop_after_it(t):
    found = both(t, f"""
run("break {t.line('loop.c', 'BODY')}")
run("ignore 1 150")
go()
emit(i=value("i"), counts=counts(), ignored=ignored())
go("continue 7")
emit(i=value("i"), counts=counts())
go()
emit(i=value("i"))
run("kill")
""", "loop", "1000")
    t.equal([row["i"] for row in found], ["150", "157", "158"], "i at the stops")


def test_with_a_condition(t):
    """Only true hits count."""
    found = both(t, f"""
run("break {t.line('loop.c', 'BODY')} if i % 10 == 3")
run("ignore 1 50")
go()
emit(i=value("i"), counts=counts(), ignored=ignored())
run("condition 1 i % 10 == 4")
run("ignore 1 3")
go()
emit(i=value("i"), counts=counts())
run("condition 1")
run("ignore 1 3")
go()
emit(i=value("i"), counts=counts())
run("kill")
""", "loop", "1000")
    t.equal([row["i"] for row in found], ["503", "534", "538"], "i at the stops")


def test_among_threads(t):
    """Exactly so many, whichever thread makes them: the program counts them."""
    for threads in 1, 16:
        found = both(t, f"""
run("break {t.line('serial.c', 'TURN')}")
for number in (200, 1, 77):
    run(f"ignore 1 {{number}}")
    go()
    emit(turns=value("turns"), counts=counts(), ignored=ignored())
run("kill")
""", "serial", str(threads), "500")
        t.equal([row["turns"] for row in found], ["200", "202", "280"],
                f"turns with {threads} threads")


def test_other_stops_in_between(t):
    """What is left is gdb's again at each of them; steps, and a breakpoint that is disabled
    for a while."""
    found = both(t, f"""
run("break {t.line('loop.c', 'BODY')}")
run("ignore 1 100")
run("tbreak loop.c:36 if i == 49")
go()
emit(i=value("i"), counts=counts(), ignored=ignored())
run("stepi")
emit(counts=counts())
run("next")
run("disable 1")
run("tbreak loop.c:36 if i == 99")
go()
emit(i=value("i"), counts=counts())
run("enable 1")
go()
emit(i=value("i"), counts=counts())
run("kill")
""", "loop", "1000")
    t.equal(found[0]["counts"], {"1": 50}, "what is left at the first stop")
    t.equal(found[-1]["i"], "150", "i at the last stop")


def test_interrupted(t):
    """What is left and what has been passed are all."""
    t.truehit_only("counts handed over")
    server = t.server("COMM", t.prog("serial"), "3", "2000000000")
    gdb = t.gdb(server, prog=t.prog("serial"), first=ON, python=PYTHON + f"""
run("break {t.line('serial.c', 'TURN')}")
run("ignore 1 1000000000")
found = []
while len(found) < 3 or found[-1][1] == 0:
    interrupt_after({0.3 * harness.PATIENCE})
    go()
    found.append([counts()[1], ignored(), events.stop.stop_signal])
emit(found=found)
run("kill")
""")
    for left, ignored, signal in gdb.results[0]["found"]:
        t.equal((left + ignored, signal), (10 ** 9, "SIGINT"), "hits left and ignored")


def test_steps_onto_it(t):
    """A step over a breakpoint leads to the next one, whose hit gdb takes from that."""
    lines = [t.line("loop.c", "BODY").replace("34", str(number)) for number in (34, 35, 36)]
    found = both(t, f"""
for line in {lines!r}:
    run(f"break {{line}}")
run("ignore 2 20")
run("ignore 3 50")
for _ in range(50):
    go()
    emit(pc=value("$pc"), i=value("i"), counts=counts(), ignored=ignored())
run("kill")
""", "loop", "1000")
    t.equal((found[0]["i"], found[20]["i"]), ("0", "20"), "i at stops")


def test_a_condition_that_it_steps_onto(t):
    lines = [t.line("loop.c", "BODY").replace("34", str(number)) for number in (34, 35)]
    both(t, f"""
run("break {lines[0]}")
run("break {lines[1]} if i % 3 == 1")
run("ignore 2 10")
for _ in range(30):
    go()
    emit(pc=value("$pc"), i=value("i"), counts=counts(), ignored=ignored())
run("kill")
""", "loop", "1000")


def test_while_gdb_steps(t):
    """It counts itself: it has breakpoints of its own at any place."""
    both(t, f"""
run("break {t.line('steps.c', 'TWICE')}")
run("tbreak main")
go()
run("ignore 1 5")
for command in ("next", "next", "step", "finish", "until", "advance inner", "stepi 9"):
    run(command)
    emit(pc=value("$pc"), counts=counts(), ignored=ignored())
run("kill")
""", "steps", decided=False)


def test_not_in_the_midst(t):
    """gdb tells of a resume also when it learns of a thread, which may be at a hit: only what
    was handed over before may be without its count then."""
    t.truehit_only("counts handed over")
    server = t.server("COMM", t.prog("loop"), "100")
    gdb = t.gdb(server, prog=t.prog("loop"), first=ON, python=PYTHON + f"""
class Midst(gdb.Breakpoint):
    def stop(self):
        run("set detach-on-fork on")
        EXTENSION.counts.on_resume()
        return False
run("break {t.line('loop.c', 'BODY')}")
run("ignore 1 20")
run("set detach-on-fork off")
Midst("loop.c:36").ignore_count = 0
go()
emit(i=value("i"), ignored=ignored(), counts=counts())
run("delete 2")
run("ignore 1 20")
go()
emit(i=value("i"), ignored=ignored(), counts=counts())
run("kill")
""")
    t.equal(gdb.results, [{"i": "20", "ignored": 0, "counts": {"1": 0, "2": 0}},
                          {"i": "41", "ignored": 20, "counts": {"1": 0}}], "stops")


def test_left_to_gdb(t):
    """Where there is another breakpoint, or one of its own; with watchpoints; for one thread;
    with a condition that gdb keeps to itself; where it follows children."""
    place = t.line("loop.c", "BODY")
    others = [[f"break {place}", f"break {place} if i % 5 == 3"],
              [f"break {place}", "watch other"],
              [f"break {place} thread 1"],
              [f'break {place} if $_streq("a", "a") && i % 2'],
              [f"break {place}", f'dprintf {place},"%d", i'],
              [f"break {place}", "set follow-fork-mode child"]]
    found = both(t, f"""
run("tbreak main")
go()
for commands in {others!r}:
    for command in commands:
        run(command)
    run(f"ignore {{gdb.breakpoints()[0].number}} 9")
    for _ in range(3):
        go()
        emit(i=value("i"), counts=list(counts().values()), ignored=ignored())
    run("delete")
run("kill")
""", "loop", "1000", decided=False)
    t.equal(len(found), 18, "stops")


def test_hooks_of_the_user(t):
    """They stay, and then it is not known what steps."""
    t.truehit_only("counts handed over")
    server = t.server("COMM", t.prog("loop"), "100")
    gdb = t.gdb(server, prog=t.prog("loop"), python=PYTHON + f"""
run("define hook-next\\necho mine\\nend")
gdb.execute("source {SCRIPT}")
run("set truehit ignore-counts on")
run("break {t.line('loop.c', 'BODY')}")
run("ignore 1 9")
text = run("truehit breakpoints")
go()
emit(text=text, i=value("i"), ignored=ignored(), shown=run("show user hook-next"))
run("kill")
""")
    result = gdb.results[0]
    t.match("gdb counts what breakpoint 1 ignores: a command that steps has a hook",
            result["text"])
    t.equal((result["i"], result["ignored"]), ("9", 0), "the stop, and hits that truehit ignored")
    t.match("mine", result["shown"])


# ---- programs that change ----

def test_exec(t):
    """The same program, executed by itself, has the same breakpoint, whose count goes on."""
    path = t.prog("exec")
    found = both(t, """
run("break main")
run("ignore 1 2")
go()
emit(argc=value("argc"), counts=counts(), ignored=3 - gdb.breakpoints()[0].hit_count)
run("kill")
""", "exec", path, path, path)
    t.equal(found[0]["argc"], "2", "arguments of the third program")


def test_a_library_that_moves(t):
    """A breakpoint that is at another address each time, and between in none."""
    found = both(t, """
run("set breakpoint pending on")
run("break greet")
run("ignore 1 14")
go()
emit(counts=counts(), x=value("x"))
run("ignore 1 12")
go()
emit(counts=counts(), x=value("x"), ignored=ignored())
run("kill")
""", "reload", decided=None)
    t.equal([row["x"] for row in found], ["4", "7"], "x at the stops")


def test_forks(t):
    """The child is let go."""
    both(t, """
run("break work")
run("ignore 1 5")
go()
emit(round=value("round"), counts=counts(), ignored=ignored())
run("kill")
""", "family", "fork", "10")


def test_calls(t):
    """A function that the user calls hits it."""
    found = both(t, f"""
run("tbreak {t.line('crew.c', 'FIRST')}")
go()
run("break {t.line('crew.c', 'ADD')}")
run("ignore 2 3")
emit(sum=run("print add(1, 2) + add(3, 4)"), counts=counts())
go()
emit(b=value("b"), counts=counts(), ignored=ignored())
""", "crew", "calls")
    t.equal(found[0]["counts"], {"2": 1}, "what is left after two calls")


def test_started_again(t):
    prog = t.prog("loop")
    results = []
    for first in ON, ():
        gdb = t.gdb(t.server("--multi", "COMM"), f"set remote exec-file {prog}", prog=prog,
                    first=first, connect="target extended-remote", python=PYTHON + f"""
run("set args 300")
run("break {t.line('loop.c', 'BODY')}")
run("ignore 1 500")
go("run")
emit(counts=counts(), alive=alive())
go("run")
emit(counts=counts(), alive=alive(), i=value("i"))
run("kill")
""")
        results.append(gdb.results)
    t.equal(results[0], results[1], "results with counts handed over and without")
    t.equal(results[0][0], {"counts": {"1": 200}, "alive": False}, "what is left at the end")
    t.equal(results[0][1]["i"], "200", "i at the stop")


def test_the_connection_ends_too(t):
    """What is left is not known: gdb has the count that it had."""
    t.truehit_only("counts handed over")
    gdb = t.gdb(t.server("COMM", t.prog("loop"), "300"), prog=t.prog("loop"), first=ON,
                python=PYTHON + f"""
run("break {t.line('loop.c', 'BODY')}")
run("ignore 1 500")
go()
emit(counts=counts(), alive=alive())
""")
    t.equal(gdb.results, [{"counts": {"1": 500}, "alive": False}], "the count")


def test_cannot_resume(t):
    """A breakpoint cannot be put in place: the next resume has the counts all the same."""
    found = both(t, f"""
run("break {t.line('loop.c', 'BODY')}")
run("ignore 1 50")
run("break *1")
text = go()
run("delete 2")
go()
emit(failed=text.startswith("error"), i=value("i"), counts=counts(), ignored=ignored())
run("kill")
""", "loop", "100")
    t.equal((found[0]["failed"], found[0]["i"]), (True, "50"), "the stop after it")


# ---- random sessions ----

RANDOM = """
import random
chance = random.Random(SEED)
LINES = MARKED
CONDITIONS = ["trace % 3 == 1", "trace > 40", "$pc != 0", "trace % 2", "n == 1"]

def instructions():
    '''Of the program's functions.'''
    found = []
    for name in ("inner", "loop", "down", "pick"):
        block = gdb.lookup_global_symbol(name).symtab.linetable()
        start = int(gdb.parse_and_eval(f"(unsigned long)&{name}"))
        end = gdb.block_for_pc(start).end
        found += [insn["addr"] for insn in
                  gdb.selected_inferior().architecture().disassemble(start, end - 1)]
    return found

def place():
    if chance.random() < 0.4:
        return f"*{chance.choice(PLACES):#x}"
    return chance.choice(LINES)

def number():
    return chance.choice([b.number for b in gdb.breakpoints() if b.number != ANCHOR])

def change():
    kind = chance.choice("break break tbreak hbreak if if ignore ignore ignore ignore "
                         "condition condition no enable disable delete".split())
    if kind == "if":
        return f"break {place()} if {chance.choice(CONDITIONS)}"
    if "break" in kind or len(gdb.breakpoints()) == 1:
        return f"{kind if 'break' in kind else 'break'} {place()}"
    if kind == "ignore":
        return f"ignore {number()} {chance.choice([1, 2, 3, 10, 30, 100])}"
    if kind == "condition":
        return f"condition {number()} {chance.choice(CONDITIONS)}"
    if len(gdb.breakpoints()) > 9:
        kind = "delete"
    return f"condition {number()}" if kind == "no" else f"{kind} {number()}"

def move():
    return chance.choice(["continue"] * 12 + [f"continue {chance.randint(1, 9)}", "next",
                          "step", "finish", "until", f"stepi {chance.randint(1, 5)}", "nexti",
                          "advance inner"])

run("tbreak main")
go()
PLACES = instructions()
run("break pause_here")
ANCHOR = 2
for _ in range(ROUNDS):
    commands = []
    for _ in range(chance.randint(0, 2)):
        commands.append(change())
        run(commands[-1])
    commands.append(move())
    # Without a resume, for want of slots, say, gdb has the counts at its next prompt.
    failed = go(commands[-1]).startswith("error")
    gdb.breakpoints()[0].ignore_count = 0  # the anchor's, after `continue N`
    emit(commands=commands, pc=value("$pc"), sp=value("$sp"), trace=value("trace"),
         counts=None if failed else counts(), ignored=ignored())
run("kill")
"""


def test_random_sessions(t):
    """Breakpoints at random lines and instructions, with counts and conditions that change,
    and every way to resume the program."""
    lines = [t.line("steps.c", marker) for marker in
             ("TWICE", "TRACE", "LOOP", "BODY", "LAST", "BOTTOM", "DOWN", "SWITCH", "BREAK")]
    first = int(os.environ.get("COUNT_SEED", 1))
    for seed in range(first, first + SEEDS):
        t.note(f"seed {seed}")
        python = RANDOM.replace("SEED", str(seed)).replace("MARKED", repr(lines))
        both(t, python.replace("ROUNDS", "50"), "steps", decided=None)
