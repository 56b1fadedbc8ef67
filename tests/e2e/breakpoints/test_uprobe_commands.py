# SPDX-License-Identifier: BSD-2-Clause
"""What gdb's commands do among breakpoints does not depend on the engine: the same
commands, chosen at random, are given in sessions with traps of the stub's, with uprobes,
and with an engine that changes all the time. COMMANDS_SEED and STORM_SCALE make other
runs, and more of them, by hand."""
import os

from storms import SCALE
from uprobes import engines, need_uprobes

SEED = int(os.environ.get("COMMANDS_SEED", "1"))
LENGTH = 150
LINES = ("TWICE", "TRACE", "LOOP", "BODY", "LAST", "BOTTOM", "DOWN", "SWITCH", "BREAK", "LIBRARY",
         "FIRST", "POINTER", "END")

# Places are lines, functions, and any instructions of these.
PLAY = r"""
import random
import re

REGISTERS = ["$" + r for r in ("rip rsp rbp rax rbx rcx rdx rsi rdi r8 r9 r10 r11 r12 r13 "
                               "r14 r15 eflags").split()]
FUNCTIONS = ["inner", "loop", "down", "pick"]
CONDITIONS = ["", "", " if trace % 3 == 1", " if $rsp % 32 == 16", " if trace < 0",
              " if n == 2", " if *(int *)$rsp == 1"]


def instructions():
    found = []
    for name in FUNCTIONS:
        found += re.findall(r"^ +(0x\w+)", run(f"disassemble {name}"), re.M)
    return found


def command(chance, places):
    place = chance.choice(places)
    condition = chance.choice(CONDITIONS)
    return chance.choice([
        "step", "step", "next", "next", "stepi", "stepi", "nexti", "stepi 3", "step 2",
        "next 3", "finish", "until", f"until {place}", f"advance {place}",
        f"tbreak {place}{condition}", f"break {place}{condition}",
        f"break {place}{condition}", f"break {place}{condition}", "delete OLDEST",
        "disable OLDEST", "enable", "continue", "continue", "continue", "continue 2",
        "print inner(3)", "print loop(5)", "print pick(1) + down(2)", "up", "return",
        "set var trace = trace + 1", "x/12i $pc", "backtrace 3"])


def execute(text):
    if gdb.selected_frame().name() == "main" and text in ("finish", "return", "up"):
        return ""
    if "OLDEST" in text:
        numbers = [b.number for b in gdb.breakpoints() if b.number > 1]
        if len(numbers) < 3:
            return ""
        text = text.replace("OLDEST", str(numbers[0]))
    return run(text)


def play(commands):
    for text in commands:
        choose_engine()
        told = execute(text)
        emit(command=text, told=re.sub(r"\b(Thread|process) [\d.]+", r"\1", told),
             function=gdb.selected_frame().name(), registers=[value(r) for r in REGISTERS])


def commands(seed, length):
    chance = random.Random(seed)
    places = LINES + FUNCTIONS + ["*" + a for a in instructions()]
    return [command(chance, places) for _ in range(length)]
"""


def session(t, engine, commands, length):
    """What each command led to, and the table of breakpoints at the end."""
    lines = [t.line("steps.c", name) for name in LINES]
    # Of its own: with several engines no other server is to have uprobes there.
    path, = t.public_copy(t.prog("steps"))
    gdb = t.gdb(t.server("COMM", path), f"break {t.line('steps.c', 'PAUSE')}",
                "break inner if trace % 3 == 1", "continue", prog=path,
                python=f"""{PLAY}
LINES = {lines}
other = random.Random({length})


def choose_engine():
    run("monitor set engine " + other.choice({engine}))


play({commands})
emit(table=run("monitor breakpoints"))
""")
    *played, end = gdb.results
    t.equal(len(played), length, "commands")
    return played, end["table"]


def must_be_the_same(t, what, commands, length):
    wanted, _ = session(t, ["ptrace"], commands, length)
    for names in ["uprobe"], ["uprobe", "ptrace", "hardware", "auto"]:
        played, table = session(t, names, commands, length)
        for number, (got, want) in enumerate(zip(played, wanted)):
            t.equal(got, want, f"{what}, {names}: command {number}")
        if len(names) == 1:
            used = engines(table)
            t.check(used.count("uprobe") > len(used) / 2, f"engines: {used}")
    return wanted


def test_random_commands(t):
    need_uprobes(t)
    for seed in range(SEED, SEED + max(1, int(SCALE))):
        must_be_the_same(t, f"seed {seed}", f"commands({seed}, {LENGTH})", LENGTH)


def test_reverse(t):
    """gdb executes the program step by step meanwhile, over uprobes and onto them."""
    need_uprobes(t)
    commands = [f"break {t.line('steps.c', 'BODY')} if i > 0", "continue", "record full", "next",
                "stepi", "step", "next", "next", "reverse-stepi", "reverse-next",
                "reverse-continue", "continue", "next", "reverse-finish", "record stop",
                "continue", "continue"]
    played = must_be_the_same(t, "reverse", repr(commands), len(commands))
    t.equal(sum("error" in turn["told"] for turn in played), 0, f"errors: {played}")
    t.check(len({turn["registers"][0] for turn in played}) > 5, "places")
