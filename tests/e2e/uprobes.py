# SPDX-License-Identifier: BSD-2-Clause
"""Sessions with uprobes: what they need, which engine a location has, and the programs
`many` and `text`."""
import re
import subprocess

import harness
import rsp

NEVER = ";X3,220027"
ALWAYS = ";X3,220127"
PARTS = 200  # functions that `many` calls


def are_usable(engines_text):
    """Does `monitor engines` say that there are uprobes?"""
    return bool(re.search(r"^uprobe .*\n +usable", engines_text, re.M))


def need_uprobes(t):
    """Returns what `monitor engines` says."""
    t.need_x86()
    t.need_kernel_conditions()
    client = rsp.Client(t.server("COMM", t.prog("loop")))
    text = client.monitor("engines")
    client.close()
    if not are_usable(text):
        t.skip("no uprobes here")
    return text


def engines(text):
    """The engine of each location of `monitor breakpoints`."""
    return [re.search(r" (uprobe|perf_event|debugreg|int3) ", row["text"]).group(1)
            for row in harness.breakpoint_rows(text)]


def part_addresses(t, process, count=PARTS):
    """Where part000, part001, ... are in a process that runs `many`."""
    symbols = subprocess.run(["nm", t.prog("many")], check=True, capture_output=True,
                             text=True).stdout
    with open(f"/proc/{process}/maps", encoding="latin1") as maps:
        base = int(maps.readline().partition("-")[0], 16)
    return [base + int(re.search(rf"^(\w+) t part{n:03}$", symbols, re.M).group(1), 16)
            for n in range(count)]


class Many:
    """A session with `many`, at its start."""

    def __init__(self, t, threads=1, rounds=10):
        self.t = t
        self.server = t.server("COMM", t.prog("many"), threads, rounds)
        self.client = rsp.Client(self.server)
        self.client.ask("qSupported:swbreak+;hwbreak+;vContSupported+;multiprocess+")
        self.pid = self.server.inferior()
        self.parts = part_addresses(t, self.pid)

    def insert(self, part, condition="", kind="Z0"):
        addr = part if part > PARTS else self.parts[part]
        self.t.equal(self.client.ask(f"{kind},{addr:x},1{condition}"), "OK", kind)

    def remove(self, part):
        self.t.equal(self.client.ask(f"z0,{self.parts[part]:x},1"), "OK", "z0")

    def base(self):
        with open(f"/proc/{self.pid}/maps", encoding="latin1") as maps:
            return int(maps.readline().partition("-")[0], 16)

    def register(self, number):
        return int.from_bytes(bytes.fromhex(self.client.ask(f"p{number:x}")), "little")

    def pc(self):
        return self.register(16)

    def table(self):
        return self.client.monitor("breakpoints")


def text_session(t, kind, python, *commands, settings=("monitor set engine uprobe",),
                 argument="$rdi", arguments=()):
    """gdb at the start of `text KIND`, with a breakpoint that is true at every fifth
    call of its code."""
    server = t.server("COMM", t.prog("text"), kind, *arguments)
    gdb = t.gdb(server, *settings, *commands, "break begin",
                "break middle", "continue",
                f"break *(long)function_at if {argument} % 5 == 3", prog=t.prog("text"),
                python=f"""
ARGUMENT = "{argument}"


""" + """
def called():
    "The calls that stop until begin() or middle() or the end."
    found = []
    while True:
        run("continue")
        if not alive() or gdb.selected_frame().name() in ("begin", "middle"):
            return found
        found.append(int(gdb.parse_and_eval(ARGUMENT)))


def rows():
    return [row for row in run("monitor breakpoints").splitlines() if ARGUMENT in row]


def reason():
    return run(f"monitor explain {rows()[0].split()[0]}")
""" + python)
    return server, gdb.results
