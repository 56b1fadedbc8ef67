# SPDX-License-Identifier: BSD-2-Clause
"""Several watchpoints that one instruction hits, of which clients that can are told in
one stop. The program `halves` stores both halves of a number at once."""
import re
import subprocess

import harness
import rsp

SEVERAL = "swbreak+;hwbreak+;multi-wp-addr+"


class Halves:
    def __init__(self, t, features):
        t.need_x86()
        t.need_breakpoint_registers()
        names = subprocess.run(["nm", t.prog("halves")], capture_output=True, text=True,
                               check=True).stdout
        offset = int(re.search(r"^([0-9a-f]+) . number$", names, re.M).group(1), 16)
        self.address = harness.LOADED_AT + offset
        self.t = t
        self.client = rsp.Client(t.server("COMM", t.prog("halves")))
        self.ask = self.client.ask
        self.ask(f"qSupported:{features}")
        for half in 0, 4:
            self.watch(half)

    def watch(self, offset, packet="Z2"):
        self.t.equal(self.ask(f"{packet},{self.address + offset:x},4"), "OK", packet)

    def go(self):
        """Which halves the next stop is about; what gdb would read of them is read."""
        reply = self.ask("vCont;c")
        offsets = [int(address, 16) - self.address
                   for address in re.findall(r"(?<=watch:)[0-9a-f]+(?=;)", reply)]
        for offset in offsets:
            self.ask(f"m{self.address + offset:x},4")
        return offsets


def test_all_are_told(t):
    """Those that have changed, in one stop; the store that changes nothing makes none."""
    halves = Halves(t, SEVERAL)
    t.equal([sorted(halves.go()) for _ in range(4)], [[0, 4], [0], [0, 4], []],
            "halves at the stops")


def test_asked_again(t):
    """`?` names them all."""
    halves = Halves(t, SEVERAL)
    halves.go()
    t.match(r"^T05watch:[0-9a-f]+;watch:[0-9a-f]+;", halves.ask("?"))


def test_who_takes_one(t):
    """Without the feature a stop names one, and the other comes at the next store."""
    t.truehit_only("the value filter")
    halves = Halves(t, "swbreak+;hwbreak+")
    stops = [halves.go() for _ in range(4)]
    t.equal([len(stop) for stop in stops], [1] * 4, "watchpoints at the stops")
    t.equal(sorted(set(sum(stops[:3], []))), [0, 4], "the first stops")


def test_kinds_at_one_place(t):
    """A watchpoint for writes and one for accesses, at one address, and a third beside
    them."""
    halves = Halves(t, SEVERAL)
    halves.watch(0, "Z4")
    reply = halves.ask("vCont;c")
    stop = sorted(re.findall(r"(a?watch):([0-9a-f]+);", reply))
    t.equal(stop, [("awatch", f"{halves.address:x}"), ("watch", f"{halves.address:x}"),
                   ("watch", f"{halves.address + 4:x}")], "what the stop names")


@harness.machines("main")
def test_real_gdb(t):
    """It shows each of them, at each stop where it has changed."""
    t.need_all_slots_told()
    gdb = t.gdb(t.server("COMM", t.prog("halves")), "break main", "continue", "delete",
                "watch number.half[0]", "watch number.half[1]", prog=t.prog("halves"), python="""
answer = run("show remote multiple-watchpoint-addresses-packet")
seen = []
for _ in range(4):
    run("continue")
    if not events.stop or not hasattr(events.stop, "breakpoints"):
        break
    seen.append(sorted(b.number for b in events.stop.breakpoints))
emit(seen=seen, answer=answer)
""")
    result = gdb.results[0]
    if result["answer"].startswith("error"):
        raise harness.Skip("this gdb takes one watchpoint at each stop")
    t.equal(result["seen"][:3], [[2, 3], [2], [2, 3]], "watchpoints at the stops")
