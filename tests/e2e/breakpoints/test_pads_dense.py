# SPDX-License-Identifier: BSD-2-Clause
"""Pads of instructions that are next to each other: the end of one's jump is the beginning of
another one's, and has to follow when that comes or goes."""
import harness
from test_pads import ENGINES, X86, debug, need_pads, sum_of

ROUNDS = 90
# At each instruction of two functions; in the middle, and later on, some go and come.
WALK = '''
import re

def insns(name):
    start = int(gdb.parse_and_eval(f"(long){name}"))
    lines = run(f"disassemble {name}").splitlines()
    return [int(found[1], 16) for found in (re.match(r"[=> ]+(0x[0-9a-f]+) ", line)
                                            for line in lines) if found]

def rows():
    found = {}
    for line in run("monitor breakpoints").splitlines()[1:]:
        words = line.split()
        if words and words[0].isdigit() and words[1] == "break" and "-77" in line:
            numbers = [int(word.replace(",", "")) for word in words
                       if word.replace(",", "").isdigit()]
            found[words[2]] = numbers[1]
    return found

def every(third):
    return [b.number for b in own if b.is_valid() and b.number % 3 == third]

places = insns("turn") + insns("twice")
own = [gdb.Breakpoint(f"*{at}") for at in places]
for breakpoint in own:
    breakpoint.condition = "sum == -77"
table, had = [], []
for change in CHANGES:
    run("continue")
    table.append(rows())
    had.append(list(pads().values()).count("in a pad"))
    for command in change:
        run(command.format(*(" ".join(map(str, every(third))) for third in range(3))))
run("stepi")
run("continue")
emit(table=table, pads=had, places=len(places), stop=run("info program"))
'''
CHANGES = [[], ["delete {0}", "stepi", "stepi"], ["disable {1}"], ["enable {1}", "disable {2}"],
           ["enable {2}", "stepi", "disable {1}", "stepi", "enable {1}"], []]


def walk(t, engine, choice):
    counted = t.line("pads.c", "COUNT")
    stops = [f"break {counted} if i == {i}" for i in (10, 20, 30, 40, 50, 60)]
    return debug(t, [ROUNDS], ["break main", "continue", *stops],
                 WALK.replace("CHANGES", repr(CHANGES)), choice=choice, engine=engine)


def test_every_instruction(t):
    """Each is hit as often as without pads, and the program does the same."""
    need_pads(t)
    for engine in ENGINES:
        plain, wanted = walk(t, engine, "off")
        found, output = walk(t, engine, "always")
        t.equal(found["table"], plain["table"], f"hits, {engine}")
        t.equal(output.splitlines()[-3:], wanted.splitlines()[-3:], "the program's output")
        t.match(f"^{ROUNDS} rounds, sum {sum_of(ROUNDS)}, ", output)
        t.note(f"{engine}: of {found['places']} instructions in pads: {found['pads']}")
        t.check(found["pads"][0] > found["places"] // (2 if X86 else 3), "most have pads")


def test_a_probe_in_the_way(t):
    """Nobody can tell when the kernel takes a probe away: no jump ends with one."""
    t.need_x86()
    need_pads(t)
    middle, last = t.line("pads.c", "BEGIN"), t.line("pads.c", "END")
    found, output = debug(t, [20000], [
        f"break {middle}", "continue", "break *((long)turn + 1) if sum == -77",
        f"tbreak {last}"], '''
def pads_of(offset):
    at = hex(int(gdb.parse_and_eval(f"(long)turn + {offset}")))
    return at, pads().get(at)

run("tbreak turn if i == 10000")
run("continue")
before = pads_of(1)
other = gdb.Breakpoint("*((long)turn + 4)")
other.condition = "sum == -77"
run("tbreak turn if i == 10100")
run("continue")
with_probe = [pads_of(1), pads_of(4)]
other.delete()
run("tbreak turn if i == 10200")
run("continue")
after = pads_of(1)
run("continue")
emit(before=before, with_probe=with_probe, after=after, table=run("monitor breakpoints"))
run("continue")
''', choice="auto")
    t.equal(found["before"][1], "in a pad", f"before: {found}")
    t.match("^a probe is in the bytes that a jump takes", found["with_probe"][0][1])
    t.equal(found["with_probe"][1][1], "it is not hit often", "the other one")
    t.equal(found["after"][1], "in a pad", "after")
    row = next(row for row in harness.breakpoint_rows(found["table"])
               if found["before"][0] in row["text"])
    t.equal((row["true"], row["false"]), (0, 20000), "hits")
    t.match(f"^20000 rounds, sum {sum_of(20000)}, ", output)
