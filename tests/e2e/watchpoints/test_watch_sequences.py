# SPDX-License-Identifier: BSD-2-Clause
"""Conditional watchpoints whose hits truehit decides: where gdb stops, and the values that
it shows, are those of a gdb that is told of every hit. The random sequences are always
the same; SEQUENCES_SEED and SEQUENCES_COUNT make others by hand."""
import os
import random
import re

import harness
import rsp
from test_extension import PACKET, SCRIPT
from test_protocol import symbol
from test_rights import ordinary_user
from test_watch_filter import AHEAD, VALUES

PROG = "sequence"
SEED = int(os.environ.get("SEQUENCES_SEED", "1"))
COUNT = int(os.environ.get("SEQUENCES_COUNT", 200 // harness.PATIENCE))
PLAY = """
def play(watches, between=()):
    '''The stops of a sequence.'''
    for watch in watches:
        run(watch)
    numbers = [b.number for b in gdb.breakpoints() if b.number != 1]
    found = []
    while True:
        run("continue")
        if not alive() or gdb.newest_frame().name() == "begin":
            break
        found.append([value("x"), value("y"),
                      [b.hit_count for b in gdb.breakpoints() if b.number in numbers]])
        for command in between:
            run(command)
    for number in numbers:
        run(f"delete {number}")
    return found
"""


def stops(t, cases, extended, user=False):
    """Per case, (watchpoints, writes, commands at stops), the stops, and the old and new
    values that gdb has shown."""
    arguments = []
    for _, writes, _ in cases:
        arguments += [*writes, "/"]
    if user:
        server, prog = ordinary_user(t, program=PROG, arguments=arguments)
    else:
        server, prog = t.server("COMM", t.prog(PROG), *arguments), t.prog(PROG)
    gdb = t.gdb(server, "break begin", "continue", prog=prog,
                first=[f"source {SCRIPT}"] if extended else [],
                python=PLAY + f"""
for watches, _, between in {cases!r}:
    emit(stops=play(watches, between))
""")
    shown = [re.findall(VALUES, text) for text in re.split(r"(?m)^RESULT ", gdb.output())]
    return [(result["stops"], values) for result, values in zip(gdb.results, shown)]


def compare(t, cases, user=False):
    t.truehit_only("conditions handed over")
    got, wanted = stops(t, cases, True, user), stops(t, cases, False, user)
    t.equal(len(got), len(cases), "number of sequences played")
    for case, ours, theirs in zip(cases, got, wanted):
        t.equal(ours, theirs, f"stops of {case}")
    return got


def case(condition, *writes, between=()):
    return ([f"watch x if {condition}"], [w if "=" in w else f"x={w}" for w in writes],
            list(between))


CASES = [
    case("x == 10", "10", "3", "10"),
    case("x == 10", "10", "3", "4", "10", "10", "11", "10"),
    case("x > 5", "6", "7", "1", "7", "2", "3", "8"),
    case("y == 1", "4", "y=1", "5", "y=0", "6", "y=1", "5", "7", "y=0", "1", "2", "y=1", "7"),
    case("x == y", "y=10", "10", "3", "y=4", "4", "10", "y=10", "4", "10"),
    case("x == 10", "10", "3", "10", "4", "10", between=["set var x = 4"]),
    case("y != 1", "3", "y=1", "1", "y=2", "4", "y=1", "3", "y=2", "4"),
    case("y != 70000", "3", "y=70000", "1", "y=2", "3", "y=70000", "5", "y=-5", "3"),
    case("x + y != 1000", "3", "y=999", "1", "y=2", "4", "y=-1000", "2000", "y=7", "4"),
    (["watch x if x == 10", "watch x if y == 2"],
     ["x=10", "x=3", "y=2", "x=10", "y=0", "x=4", "x=10", "x=5", "y=2", "x=10"], []),
]


def test_values_that_return(t):
    got = compare(t, CASES)
    t.equal(got[0], ([["10", "0", [1]], ["10", "0", [2]]], [("0", "10"), ("3", "10")]),
            "stops of 10, 3, 10")


def test_values_that_return_without_rights(t):
    compare(t, CASES, user=True)


# Random ones

NUMBERS = (0, 1, 2, 3, 4, 0, 1, 2, 3, 4, -1, 300, -70000, 2147483647, -2147483648)


class Cases:
    """Conditions, writes, and what is done at stops, out of few numbers: they meet often."""

    def __init__(self, seed):
        self.chance = random.Random(seed)

    def number(self):
        return str(self.chance.choice(NUMBERS))

    def term(self, depth=2):
        if depth == 0 or self.chance.random() < 0.3:
            return self.chance.choice(["x", "y", "x", "y", self.number()])
        # What gdb's compiler makes of 1 % 0 is 0.
        if self.chance.random() < 0.1:
            return f"({self.chance.choice('xy')} % {self.term(depth - 1)})"
        return f"({self.term(depth - 1)} {self.chance.choice('+-^&|')} {self.term(depth - 1)})"

    def condition(self, depth=2):
        kind = self.chance.randrange(10) if depth else 9
        if kind < 2:
            return f"!{self.condition(depth - 1)}"
        if kind < 5:
            return f"({self.condition(depth - 1)} {self.chance.choice(['&&', '||'])} " \
                   f"{self.condition(depth - 1)})"
        relation = self.chance.choice(["==", "!=", "<", ">", "<=", ">="])
        return f"({self.term()} {relation} {self.term(1)})"

    def watches(self):
        watches = [f"watch x if {self.condition()}"]
        if self.chance.random() < 0.3:
            watches.append(self.chance.choice([f"watch x if {self.condition()}",
                                               f"watch y if {self.condition()}", "watch y"]))
        if self.chance.random() < 0.2:
            watches.append(f"ignore $bpnum {self.chance.randrange(1, 4)}")
        return watches

    def at_stops(self, watches):
        commands = [[], [], [], [], [f"set var x = {self.number()}"],
                    [f"set var y = {self.number()}"]]
        # What replay.h makes exceptions of: a step that ends at a hit, and a condition that
        # would have been true at the change before.
        if len(watches) == 1:
            commands += [["stepi"], ["disable $bpnum", "stepi 3", "enable $bpnum"],
                         [f"condition $bpnum y == {self.number()}"]]
        return self.chance.choice(commands)

    def case(self):
        watches = self.watches()
        writes = [f"{self.chance.choice('xxxy')}={self.number()}" for _ in range(14)]
        return watches, writes, self.at_stops(watches)


def compare_random(t, seed, user=False):
    cases = Cases(seed)
    got = compare(t, [cases.case() for _ in range(COUNT)], user)
    t.check(sum(len(stops) for stops, _ in got) > 2 * COUNT, "few stops")


def test_random(t):
    compare_random(t, SEED)


def test_random_without_rights(t):
    compare_random(t, SEED + 1, user=True)


def local_of_another_thread(t, writes, condition, extended):
    """The values that gdb has shown of a local variable which another thread writes,
    too (rewrite.c)."""
    server = t.server("COMM", t.prog("rewrite"), "owned", *writes)
    gdb = t.gdb(server, f"break {t.line('rewrite.c', 'OWNED')}", "continue", "delete",
                f"watch mine if {condition}", *["continue"] * (len(writes) + 1),
                prog=t.prog("rewrite"), first=[f"source {SCRIPT}"] if extended else [])
    return re.findall(VALUES, gdb.output())


def test_local_of_another_thread(t):
    """Its writes are none for gdb, what the condition may say."""
    t.truehit_only("conditions handed over")
    chance = random.Random(8)
    for condition in "mine == 1", "mine != 0", "mine > 1", "mine % 2 == 0":
        writes = [chance.choice(("", "", "+")) + str(chance.randrange(4)) for _ in range(30)]
        got, wanted = [local_of_another_thread(t, writes, condition, extended)
                       for extended in (True, False)]
        t.check(wanted, f"nothing is shown for {writes}")
        t.equal(got, wanted, f"values for {condition}, {writes}")


def test_returns_after_ignored_changes(t):
    """gdb, which shows no hit at which it finds what it remembers, is shown the last of
    the changes that were ignored."""
    t.truehit_only("monitor ignore")
    for writes, wanted in (("1 2 3 4", [("0", "3"), ("3", "4")]),
                           ("1 2 0 4", [("0", "2"), ("2", "0"), ("0", "4")]),
                           ("1 2 2 0 2", [("0", "2"), ("2", "0"), ("0", "2")])):
        arguments = [f"x={value}" for value in writes.split()]
        for server, prog in ((t.server("COMM", t.prog(PROG), *arguments), t.prog(PROG)),
                             ordinary_user(t, program=PROG, arguments=arguments)):
            gdb = t.gdb(server, "break begin", "continue", "delete",
                        "set breakpoint always-inserted on", "watch x", "monitor ignore x 2",
                        *["continue"] * (len(writes) + 1), prog=prog)
            t.equal(re.findall(VALUES, gdb.output()), wanted, f"values for {writes}")


def kinds_of_stores(t, watches, extended, user):
    """The values at the stops of a program that stores in several ways, and counts."""
    if user:
        server, prog = ordinary_user(t, program="stores", arguments=["12"])
    else:
        server, prog = t.server("COMM", t.prog("stores"), "12"), t.prog("stores")
    gdb = t.gdb(server, "break begin", "continue", f"tbreak {t.line('stores.c', 'END')}",
                *watches, prog=prog, first=[f"source {SCRIPT}"] if extended else [], python="""
found = []
while True:
    run("continue")
    if gdb.selected_frame().find_sal().line == END:
        break
    found.append([value("all.value"), value("round_number"), run("p $pc")])
emit(stops=found, hits=[b.hit_count for b in gdb.breakpoints() if b.number > 2])
""".replace("END", t.line("stores.c", "END").split(":")[-1]))
    return gdb.results[0], re.findall(VALUES, gdb.output())


def test_kinds_of_stores(t):
    """Those that a program knows before they are done, and others; conditions on what is
    watched, on what is stored next to it, and on what is elsewhere."""
    t.truehit_only("conditions handed over")
    both = ["watch all.value if all.value == 1 && round_number > 5",
            "watch round_number if all.value == 2"]
    for user, watches in ((False, ["watch all.value if all.value == 1"]),
                          (False, ["watch all.pair.next if all.value == 2"]),
                          (False, ["watch all.value if all.pair.next % 3 == 1"]),
                          (False, ["watch all.value if round_number % 7 == 3"]),
                          (False, both), (True, both)):
        got, wanted = [kinds_of_stores(t, watches, extended, user)
                       for extended in (True, False)]
        t.check(len(wanted[0]["stops"]) > 1, f"few stops: {watches}")
        t.equal(got, wanted, f"stops of {watches}, without rights: {user}")


# The two stops, as a client sees them

def is_ten(x):
    """x == 10: const64 &x; ref32; const8 10; equal; end"""
    code = f"25{x:016x}19220a1327"
    return f";X{len(code) // 2:x},{code}"


def start(t, *writes, handed=True):
    t.truehit_only("conditions handed over")
    server = t.server("COMM", t.prog(PROG), *writes)
    client = rsp.Client(server)
    client.ask("qSupported:multiprocess+;swbreak+;hwbreak+")
    begin, x = (symbol(t, PROG, name) for name in ("begin", "x"))
    t.equal(client.ask(f"Z0,{begin:x},1"), "OK", "begin")
    t.match("^T05", client.ask("vCont;c"), "begin")
    t.equal(client.ask(f"z0,{begin:x},1"), "OK", "begin")
    text = is_ten(x)
    if handed:
        t.equal(client.ask(f"{PACKET}2,{x:x},4{text}"), "OK", "handed over")
    t.equal(client.ask(f"Z2,{x:x},4{'' if handed else text}"), "OK", "x")
    return server, client, x


def step_over(t, client, x, text=""):
    """Where hits come before the access, a client makes it, with the watchpoint off."""
    t.equal(client.ask(f"z2,{x:x},4"), "OK", "x is off")
    t.no_match("watch:", t.match("^T05", client.ask("vCont;s"), "the access").string, "the step")
    t.equal(client.ask(f"Z2,{x:x},4{text}"), "OK", "x is on")


def expect(t, client, x, values, resume="vCont;c", text=""):
    """Stops of the watchpoint, and what is read there."""
    for value in values:
        t.match("^T05.*watch:", client.ask(resume), f"stop for {value}")
        if AHEAD:
            step_over(t, client, x, text)
        t.equal(client.ask(f"m{x:x},4"), value.to_bytes(4, "little").hex(), "x at the stop")


def test_told_twice(t):
    """By whichever way the client goes on; also what lies around the variable."""
    for resume in ("vCont;c", "vCont;s", "s", f"vCont;r{0:x},{2 ** 63:x}"):
        _, client, x = start(t, "x=10", "x=3", "x=10")
        expect(t, client, x, [10, 3])
        t.equal(client.ask(f"m{x + 1:x},2"), "0000", "a part")
        t.equal(client.ask(f"m{x - 1:x},2")[2:], "03", "the beginning")
        expect(t, client, x, [10], resume)
        t.match("^W00", client.ask("vCont;c"), "the end")


def test_rest_is_told_once(t):
    """Without changes in between there is one stop."""
    _, client, x = start(t, "x=10", "x=10", "x=11", "x=12", "x=10", "x=10")
    expect(t, client, x, [10, 12, 10])
    t.match("^W00", client.ask("vCont;c"), "the end")


def test_conditions_of_its_own(t):
    """A client that puts them into Z2 has not gdb's rules."""
    _, client, x = start(t, "x=10", "x=3", "x=10", handed=False)
    expect(t, client, x, [10, 10], text=is_ten(x))
    t.match("^W00", client.ask("vCont;c"), "the end")


# Where hits come before the access, which the stub has made when it tells of them

def at_access(t, *writes):
    """A client that is told of the first hit, and the PC that it is shown."""
    if not AHEAD:
        t.skip("hits come after the access")
    server, client, x = start(t, *writes, handed=False)
    t.match("^T05.*watch:", client.ask("vCont;c"), "x = 10")
    return server, client, x, read_pc(client)


def read_pc(client):
    return int.from_bytes(bytes.fromhex(client.ask("p20")), "little")


def test_shown_before_the_access(t):
    _, client, x, pc = at_access(t, "x=10", "x=3", "x=10")
    t.equal(client.ask(f"m{x:x},4"), "00000000", "x before the access")
    t.equal(client.ask("g")[16 * 32:16 * 33], pc.to_bytes(8, "little").hex(), "the PC of all")
    t.match(f";20:{pc.to_bytes(8, 'little').hex()};|20:{pc.to_bytes(8, 'little').hex()};",
            client.ask("?"), "the PC of the stop")
    step_over(t, client, x, is_ten(x))
    t.equal(read_pc(client), pc + 4, "the PC after the access")
    t.equal(client.ask(f"m{x:x},4"), "0a000000", "x after the access")
    expect(t, client, x, [10], text=is_ten(x))
    t.match("^W00", client.ask("vCont;c"), "the end")


def test_goes_on_without_the_step(t):
    """The access is made once."""
    _, client, x, pc = at_access(t, "x=10", "x=3", "x=10")
    t.match("^T05.*watch:", client.ask("vCont;c"), "x = 10 again")
    t.equal(read_pc(client), pc, "the PC")
    t.equal(client.ask(f"m{x:x},4"), "03000000", "x before the access")
    t.match("^W00", client.ask("vCont;c"), "the end")


def test_registers_written_before_the_access(t):
    """They are written; the access has been made."""
    _, client, x, pc = at_access(t, "x=10", "x=3", "x=10")
    t.equal(client.ask("P9=1122334455667788"), "OK", "x9")
    t.equal((client.ask("p9"), read_pc(client)), ("1122334455667788", pc), "what is shown")
    step_over(t, client, x, is_ten(x))
    t.equal((client.ask("p9"), read_pc(client)), ("1122334455667788", pc + 4), "after it")
    expect(t, client, x, [10], text=is_ten(x))


def test_client_goes_before_the_access(t):
    """The program has written, and the next client sees it."""
    server, client, x, _ = at_access(t, "x=10", "x=3", "x=10")
    client.close()
    client = rsp.Client(server)
    client.ask("?")
    t.equal(client.ask(f"m{x:x},4"), "0a000000", "x")
    t.match("^OK", client.ask(f"D;{server.inferior():x}"), "detach")
    harness.wait_for(lambda: "10 0" in server.output(), "the program's output")


def test_client_writes_in_between(t):
    """Memory is what it is from then on."""
    _, client, x = start(t, "x=10", "x=3", "x=10")
    expect(t, client, x, [10, 3])
    t.equal(client.ask(f"M{x:x},4:07000000"), "OK", "the write")
    t.equal(client.ask(f"m{x:x},4"), "07000000", "what was written")


def test_removed_in_between(t):
    """The hit is of no interest; an equal one that comes back before the resume is."""
    _, client, x = start(t, "x=10", "x=3", "x=10")
    expect(t, client, x, [10, 3])
    t.equal(client.ask(f"z2,{x:x},4"), "OK", "removed")
    t.match("^W00", client.ask("vCont;c"), "the end")


def test_detach_in_between(t):
    """The program has what it has written."""
    server, client, x = start(t, "x=10", "x=3", "x=10")
    expect(t, client, x, [10, 3])
    t.match("^OK", client.ask(f"D;{server.inferior():x}"), "detach")
    harness.wait_for(lambda: "10 0" in server.output(), "the program's output")


def test_kill_in_between(t):
    server, client, x = start(t, "x=10", "x=3", "x=10")
    expect(t, client, x, [10, 3])
    t.equal(client.ask(f"vKill;{server.inferior():x}"), "OK", "kill")


def test_interrupt_in_between(t):
    """The hit comes first."""
    _, client, x = start(t, "x=10", "x=3", "x=10")
    expect(t, client, x, [10, 3])
    client.interrupt()
    expect(t, client, x, [10])


def test_next_client(t):
    """It sees memory as it is."""
    server, client, x = start(t, "x=10", "x=3", "x=10")
    expect(t, client, x, [10, 3])
    client.close()
    client = rsp.Client(server)
    client.ask("?")
    t.equal(client.ask(f"m{x:x},4"), "0a000000", "x")
