# SPDX-License-Identifier: BSD-2-Clause
"""What gdb's commands do among breakpoints does not depend on the engine: the same
commands, chosen at random, are given in sessions with traps of the stub's, with uprobes,
and with an engine that changes all the time. COMMANDS_SEED and STORM_SCALE make other
runs, and more of them, by hand."""
import os
import re

import harness
from test_storm import SCALE
from test_uprobe import engines, need_uprobes

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


def play(seed, length, choose_engine):
    chance = random.Random(seed)
    places = LINES + FUNCTIONS + ["*" + a for a in instructions()]
    for _ in range(length):
        text = command(chance, places)
        choose_engine()
        told = execute(text)
        frame = gdb.selected_frame()
        emit(command=text, told=re.sub(r"\b(Thread|process) [\d.]+", r"\1", told),
             function=frame.name(), registers=[value(r) for r in REGISTERS])
"""


def session(t, seed, engine):
    """What each command led to, and the table of breakpoints at the end."""
    lines = [t.line("steps.c", name) for name in LINES]
    choose = f"run('monitor set engine ' + other.choice({engine}))"
    gdb = t.gdb(t.server("COMM", t.prog("steps")), f"break {t.line('steps.c', 'PAUSE')}",
                "break inner if trace % 3 == 1", "continue", prog=t.prog("steps"),
                python=f"{PLAY}\nLINES = {lines}\nother = random.Random({seed})\n"
                       f"play({seed}, {LENGTH}, lambda: {choose})\n"
                       "emit(table=run('monitor breakpoints'))\n")
    *played, end = gdb.results
    t.equal(len(played), LENGTH, "commands")
    return played, end["table"]


def test_random_commands(t):
    need_uprobes(t)
    for seed in range(SEED, SEED + max(1, int(SCALE))):
        wanted, _ = session(t, seed, ["ptrace"])
        for names in ["uprobe"], ["uprobe", "ptrace", "hardware", "auto"]:
            played, table = session(t, seed, names)
            for number, (got, want) in enumerate(zip(played, wanted)):
                t.equal(got, want, f"seed {seed}, {names}: command {number}")
            if len(names) == 1:
                used = engines(table)
                t.check(used.count("uprobe") > len(used) / 2, f"engines: {used}")
