# SPDX-License-Identifier: BSD-2-Clause
"""Uprobes while threads run through them, and over many hits: the stops are those that
the program's own bookkeeping has, none missing and none twice."""
import itertools
import re
import subprocess

import harness
import rsp
from storms import SCALE
from test_nonstop import NonStop
from uprobes import NEVER, engines, need_uprobes

ENGINES = "uprobe", "ptrace", "auto", "hardware"
RDI, RBP, RSP, R15, RIP = 5, 6, 7, 15, 16
PUSH_RBP, ENDBR64 = "55", "f30f1efa"


class Counters(NonStop):
    """Threads that count, and a place, tick, that each passes before it does."""

    def __init__(self, t, count):
        need_uprobes(t)
        # Of its own: with several engines no other server is to have uprobes there.
        super().__init__(t, count, path=t.public_copy(t.prog("counters"))[0])
        self.count = count
        self.ids = self.run_threads(count)
        self.tick = self.symbol("tick")
        self.entry = self.ask(f"m{self.tick:x},4")

    def condition(self, remainder, index=None):
        """The thread that hits, or only that one, counts to remainder in a hundred now."""
        code = (f"26000522030925{self.symbol('counters'):016x}021a"
                f"22640822{remainder:02x}13")
        if index is not None:
            code += f"26000522{index:02x}130f"
        return f";X{len(code) // 2 + 1:x},{code}27"

    def insert(self, conditions, at=0):
        self.expect("OK", f"Z0,{self.tick + at:x},1{conditions}")

    def remove(self, at=0):
        self.expect("OK", f"z0,{self.tick + at:x},1")

    def register(self, number):
        return int.from_bytes(bytes.fromhex(self.ask(f"p{number:x}")), "little")

    def hits(self):
        """The next stops: which thread, and what it has counted to."""
        found = []
        for _, thread, text in self.notified():
            self.t.match("swbreak:;", text, "a stop")
            self.expect("OK", f"Hg{thread}")
            self.t.equal(self.register(RIP), self.tick, "PC")
            index = self.ids.index(thread) - 1
            self.t.equal(self.register(RDI), index, "the argument")
            found.append((index, self.long("counters", index)))
        return found

    def pass_over(self, index):
        """Executes the instruction in the thread's place: the trap stays where it is."""
        self.expect("OK", f"Hg{self.ids[index + 1]}")
        length = len(ENDBR64) // 2
        if not self.entry.startswith(ENDBR64):
            self.t.check(self.entry.startswith(PUSH_RBP), f"tick() begins with {self.entry}")
            length = 1
            sp = self.register(RSP) - 8
            self.expect("OK", f"M{sp:x},8:{self.ask(f'p{RBP:x}')}")
            self.expect("OK", f"P{RSP:x}={sp.to_bytes(8, 'little').hex()}")
        pc = self.tick + length
        self.expect("OK", f"P{RIP:x}={pc.to_bytes(8, 'little').hex()}")

    def go_on(self, index):
        self.expect("OK", f"vCont;c:{self.ids[index + 1]}")


def test_the_engine_changes_while_threads_run(t):
    """Each thread stops at every hundred, whatever serves the place."""
    t.need_breakpoint_registers()
    n = Counters(t, 4)
    turns = itertools.cycle(ENGINES)
    seen, used = {index: [] for index in range(4)}, set()
    n.insert(n.condition(0))
    while min(map(len, seen.values())) < 8 * SCALE:
        for index, count in n.hits():
            seen[index].append(count)
            n.client.monitor(f"set engine {next(turns)}")
            n.pass_over(index)
            n.go_on(index)
            used.update(engines(n.client.monitor("breakpoints")))
    for index, counts in seen.items():
        first = counts[0]
        t.equal(counts, list(range(first, first + 100 * len(counts), 100)),
                f"stops of thread {index}")
        t.equal(first % 100, 0, "the first one")
    t.check({"uprobe", "int3"} < used, f"engines: {used}")


def test_conditions_change_while_threads_run(t):
    """The first hit that the new condition is true for stops, at once; others come and
    go beside it, at each instruction of the function."""
    n = Counters(t, 4)
    n.client.monitor("set engine uprobe")
    for turn in range(int(24 * SCALE)):
        index, remainder, beside = turn % 4, turn * 37 % 100, (1, 4, 8, 12)[turn % 4]
        before = n.long("counters", index)
        n.insert(n.condition(remainder, index))
        after = n.long("counters", index)
        n.insert(NEVER, beside)
        (who, count), = n.hits()
        # When the condition came, the thread may have been between its hit and the count.
        first, last = ((x - remainder + 99) // 100 * 100 + remainder
                       for x in (before, after + 1))
        t.equal(who, index, "the thread")
        t.check(count % 100 == remainder and first <= count <= last,
                f"turn {turn}: a stop at {count}, not in {first}..{last}")
        n.insert(NEVER)
        n.pass_over(index)
        n.go_on(index)
        if turn % 3:
            n.remove(beside)


def test_threads_count_in_variables(t):
    """Two places count in one variable, and a third stops at each 500th hit (and then the
    other threads are, too: some have counted on by then)."""
    need_uprobes(t)
    threads, rounds = 8, 500
    gdb = t.gdb(t.server("COMM", t.prog("many"), threads, rounds), "monitor set engine uprobe",
                "tvariable $n", "tvariable $m", "break *part000 if ($n = $n + 1) < 0",
                "break *part001 if ($n = $n + 1) < 0",
                "break *part002 if ($m = $m + 1) % 500 == 0", "break done",
                prog=t.prog("many"), python="""
found = 0
while True:
    run("continue")
    if not alive() or gdb.selected_frame().name() == "done":
        break
    found += 1
emit(found=found, n=value("$n"), m=value("$m"), table=run("monitor breakpoints"))
""")
    result = gdb.results[0]
    t.equal((result["n"], result["m"]), (str(2 * threads * rounds), str(threads * rounds)),
            "$n, $m")
    t.equal(result["found"], threads * rounds // 500, "stops")
    t.equal(set(engines(result["table"])[:3]), {"uprobe"}, "engines")


def test_ten_thousand_stops(t):
    """Each at the right instruction of eight, with the registers that the program has
    noted before; it finds each of them executed once."""
    t.need_x86()
    need_uprobes(t)
    stops = int((2000 if t.config.sanitized else 10000) * SCALE)
    server = t.server("COMM", t.prog("ledger"), stops)
    client = rsp.Client(server)
    client.ask("qSupported:swbreak+;hwbreak+;vContSupported+")
    client.ask("QStartNoAckMode")
    client.acks = False
    client.monitor("set engine uprobe")
    with open(f"/proc/{server.inferior()}/maps", encoding="latin1") as maps:
        base = int(maps.readline().partition("-")[0], 16)
    symbols = subprocess.run(["nm", t.prog("ledger")], check=True, capture_output=True,
                             text=True).stdout
    where = {name: base + int(address, 16)
             for address, name in re.findall(r"^(\w+) . (\w+)$", symbols, re.M)}
    places = [where["at_" + name] for name in "add push store load lea carry branch call".split()]
    inserts = [f"Z0,{place:x},1;Xa,26{R15:04x}22080822{i:02x}1327"
               for i, place in enumerate(places)]
    for packet in inserts:
        t.equal(client.ask(packet), "OK", packet)
    t.equal(engines(client.monitor("breakpoints")), ["uprobe"] * 8, "engines")
    noted = f"m{where['before']:x},{17 * 8 + 4:x}"
    for round in range(stops):
        stop = client.ask("vCont;c")
        registers = client.ask("g")[:2 * (17 * 8 + 4)]
        if registers != client.ask(noted) or "swbreak" not in stop:
            t.equal(registers, client.ask(noted), f"round {round}, {stop}: registers")
        place = places[round % 8]
        if registers[2 * 8 * RIP:2 * 8 * (RIP + 1)] != place.to_bytes(8, "little").hex():
            raise harness.Failure(f"round {round}: a stop elsewhere")
        client.ask(f"z0,{place:x},1")
        client.ask("vCont;s")
        client.ask(inserts[round % 8])
    t.match("^W00", client.ask("vCont;c"), "the end")
    server.wait_output("errors 0")


def test_the_first_uprobe_takes_traps_along(t):
    """Of one commit: a breakpoint becomes a uprobe, as it ignores hits now, and a trap that
    came before it would be taken for a uprobe that another server has there."""
    need_uprobes(t)
    t.need_any_engine()
    path = t.prog("serial")
    symbols = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    first, second = (int(t.match(rf"^([0-9a-f]+) t {name}$", symbols).group(1), 16)
                     for name in ("turn", "worker"))
    program = harness.Process(t, [path, "1", "1000000000000"])
    other = rsp.Client(harness.Server(t, ["--attach", "COMM", str(program.pid)]))
    other.ask("?")
    other.monitor("set pads off")
    with open(f"/proc/{program.pid}/maps", encoding="latin1") as maps:
        base = int(maps.readline().split("-")[0], 16)
    t.equal(other.ask(f"Z0,{first + base:x},1{NEVER}"), "OK", "Z0 of the other server")
    other.send_bytes(other.frame("vCont;c"))
    client = rsp.Client(t.server("--once", "COMM", path, "1", "100"))
    client.ask("qSupported:swbreak+")
    client.ask("?")
    for place in first, second:
        t.equal(client.ask(f"Z0,{place + harness.LOADED_AT:x},1"), "OK", "Z0")
    t.match("Will ignore", client.monitor("ignore worker 1000000"))
    t.match("^T05", client.ask("vCont;c"))
