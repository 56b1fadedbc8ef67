# SPDX-License-Identifier: BSD-2-Clause
"""Measuring pads: false hits at each kind of instruction, decided in the program by a
filter, with and without rights, or in the kernel by a probe in the pad.

The program (kinds.c), built without and with optimization, has a loop around each, and
prints the nanoseconds of one round. What is told is that minus the same loop without a
breakpoint, of the same round of runs. Once, all breakpoints are in place together."""
import contextlib
import dataclasses
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time

import measure
import rsp

KINDS = {
    "push": "push, of one byte",
    "store": "store of a variable",
    "load": "load of a variable",
    "add_local": "local variable += 1",
    "add_global": "global variable += 1",
    "call": "call",
    "movslq": "load, extended",
    "jne": "conditional jump",
    "cmp": "comparison with memory",
    "lea": "address of a variable",
    "addsd": "floating point",
}
EMULATED = ("push", "call", "jne")  # by the kernel, at a probe; it steps the others
LEVELS = ("O0", "O2")
# Never true: *(int *)($rsi - 8) == 77, by which a filter decides, and $cs == 0, which it
# leaves to the kernel, as it does not know that register.
FILTERED = bytes.fromhex("260004" "2208" "03" "19" "224d" "13" "27")
UNKNOWN = bytes.fromhex("260012" "2200" "13" "27")
USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all",
        "--bounding-set=-all"]


@dataclasses.dataclass
class Way:
    """How false hits are thrown away."""
    name: str
    title: str
    rounds: int                    # of the loop
    most: float = 0                # ns that a hit may cost, if there is such a limit
    condition: bytes = FILTERED
    place: str = "kind_{}"
    served: str = r"uprobe +kernel"  # what `monitor breakpoints` has to say of each
    server: str = "truehit"        # or gdbserver, or user: truehit without rights


WAYS = [
    Way("floor", "jumps only", 20000000),
    Way("filter", "filter", 20000000, 12),
    Way("user", "no rights", 20000000, 12, served=r"int3 +filter; stub", server="user"),
    Way("probe", "probe", 60000, 700, UNKNOWN),
    Way("unhit", "never hit", 20000000, 0.5, place="never_{}"),
    Way("gdbserver", "gdbserver", 1500, server="gdbserver"),
]
# How many times the way costs less than gdbserver.
LEAST = {"filter": 2000, "user": 2000}


class Program:
    """kinds, built in one way, where any user reaches it."""

    def __init__(self, path):
        self.path = path
        names = subprocess.run(["nm", path], capture_output=True, text=True, check=True,
                               timeout=measure.LIMIT).stdout
        self.address = {name: measure.PIE_BASE + int(value, 16) for value, name in
                        re.findall(r"^(\w+) \w ((?:kind|never)_\w+)$", names, re.M)}


def costs(text):
    """What the program has printed: ns of a round, by kinds."""
    found = {kind: float(cost) for kind, cost in re.findall(
        r"^(\w+): \d+ iterations, ([\d.]+) ns per iteration", text, re.M)}
    if set(found) != set(KINDS):
        raise measure.Broken(f"kinds did not end: {text.strip()}")
    return found


def insert(client, program, way, condition):
    """A breakpoint at each kind."""
    text = f";X{len(condition):x},{condition.hex()}" if condition else ""
    for kind in KINDS:
        reply = client.ask(f"Z0,{program.address[way.place.format(kind)]:x},1{text}")
        if reply != "OK":
            raise measure.Broken(f"{kind}, {way.title}: Z0: {reply}")


def check_pads(client, filters):
    """They are in pads, which begin with filters, or do not."""
    for number in range(1, len(KINDS) + 1):
        text = client.monitor(f"explain {number}")
        if "The trap is in a pad" not in text or ("The filter, " in text) != filters:
            raise measure.Broken(f"no such pad: {text}")


def check_counts(client, way):
    """Each hit was false, and was decided as it is to be."""
    table = client.monitor("breakpoints")
    count = 0 if way.place.startswith("never") else way.rounds
    names = way.place.format(f"(?:{'|'.join(KINDS)})")
    rows = re.findall(rf" {names} +{way.served} +{count:,} +{count:,} +0 +0 ", table)
    if len(rows) != len(KINDS):
        raise measure.Broken(f"{way.title}: not decided so:\n{table}")


def serving(pid):
    """The process that serves: the child of the guard."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return int(children.split()[0])


def wait_until(condition, what):
    end = time.monotonic() + measure.LIMIT
    while not condition():
        if time.monotonic() > end:
            raise measure.Broken(f"{what}: not in {measure.LIMIT} seconds")
        time.sleep(0.01)


def is_in_state(pid, state, tracer):
    """Its first thread is, and is traced by this process, 0 for none."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return re.search(rf"^State:\s*{state}.*^TracerPid:\s*{tracer}$", status, re.M | re.S)


def is_dead(pid):
    """All its threads are: any of them may keep the kernel's traps."""
    try:
        return os.listdir(f"/proc/{pid}/task") == [str(pid)] and is_in_state(pid, "Z", 0)
    except FileNotFoundError:
        return True


def first_bytes(pid, program):
    """Of the instructions: jumps to pads, if there are some."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        return [os.pread(memory.fileno(), 1, program.address[f"kind_{kind}"])
                for kind in KINDS]


class Bench:
    """ns of a hit at each kind, by level and way: a list of rounds."""

    def __init__(self, truehit, build):
        self.directory = tempfile.TemporaryDirectory(prefix="truehit-bench-")
        os.chmod(self.directory.name, 0o755)
        built = pathlib.Path(build) / "tests" / "bench"
        self.programs = {level: Program(self.copy(built / f"kinds-{level}"))
                         for level in LEVELS}
        self.servers = {"truehit": [self.copy(truehit)]}
        if os.geteuid() == 0 and shutil.which("setpriv"):
            self.servers["user"] = USER + self.servers["truehit"]
        if shutil.which("gdbserver") and shutil.which("taskset"):
            self.servers["gdbserver"] = ["gdbserver"]
        self.ways = [way for way in WAYS if way.server in self.servers]
        self.loops = {level: {kind: [] for kind in KINDS} for level in LEVELS}
        self.costs = {level: {way.name: {kind: [] for kind in KINDS} for way in self.ways}
                      for level in LEVELS}

    def copy(self, path):
        return shutil.copy(path, self.directory.name)

    def run(self):
        """One round."""
        for level, program in self.programs.items():
            loop = self.plain(program)
            for kind in KINDS:
                self.loops[level][kind].append(loop[kind])
            for way in self.ways:
                found = (self.jumps if way.name == "floor" else self.serve)(program, way)
                for kind, runs in self.costs[level][way.name].items():
                    runs.append(found[kind] - loop[kind])

    def plain(self, program):
        """With a server, for the same environment and addresses, but no breakpoints."""
        with measure.Server(self.servers["truehit"], program.path, WAYS[0].rounds,
                            pinned=True) as running:
            client = rsp.Client(running)
            client.ask("vCont;c")
            client.close()
            running.process.wait(measure.LIMIT)
            return costs(running.text())

    def serve(self, program, way):
        with measure.Server(self.servers[way.server], program.path, way.rounds,
                            pinned=True) as running:
            client = rsp.Client(running)
            if way.server == "gdbserver":
                client.ask("qSupported:xmlRegisters=i386")
                client.ask("?")  # it needs both
                insert(client, program, way, way.condition)
            else:
                self.serve_in_pads(client, program, way)
            client.ask("vCont;c")
            client.close()
            running.process.wait(measure.LIMIT)
            return costs(running.text())

    def serve_in_pads(self, client, program, way):
        """Up to the program's exit. A user's truehit chooses the engine itself."""
        client.monitor("set pads always")
        if way.server == "truehit":
            client.monitor("set engine uprobe")
        insert(client, program, way, way.condition)
        client.ask("QCatchSyscalls:1;e7")  # exit_group
        client.ask("vCont;c")
        check_counts(client, way)
        check_pads(client, way.condition == FILTERED)

    def jumps(self, program, way):
        """Of pads whose guard and server were killed, the jumps are left, and the copies."""
        with contextlib.ExitStack() as stack:
            process = stack.enter_context(subprocess.Popen(
                [*measure.pin(True), "setarch", "-R", program.path, str(way.rounds), "wait"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
            stack.callback(process.kill)
            if process.stdout.readline() != "waiting\n":
                raise measure.Broken("kinds does not wait")
            before = first_bytes(process.pid, program)
            running = stack.enter_context(measure.Server(
                [*self.servers["truehit"], "--attach"], process.pid, pinned=True))
            self.abandon(running, program, way, process.pid)
            if any(old == new for old, new in zip(before, first_bytes(process.pid, program))):
                raise measure.Broken("there are no jumps to pads")
            return costs(process.communicate("\n", timeout=measure.LIMIT)[0])

    def abandon(self, running, program, way, pid):
        """Pads without filters, and nobody who has them."""
        server = serving(running.process.pid)
        client = rsp.Client(running)
        client.monitor("set pads always")
        client.monitor("set engine uprobe")
        insert(client, program, way, b"")
        check_pads(client, False)
        client.send_bytes(client.frame("vCont;c"))
        wait_until(lambda: is_in_state(pid, "S", server), "the program runs")
        for killed in server, running.process.pid:
            os.kill(killed, 9)
        running.process.wait()
        client.close()
        wait_until(lambda: is_dead(server), "the server's end")
        wait_until(lambda: is_in_state(pid, "S", 0), "the program runs alone")

    # ---- results ----

    def medians(self, level):
        return {way: {kind: statistics.median(runs) for kind, runs in kinds.items()}
                for way, kinds in self.costs[level].items()}

    def print(self):
        print("\nCost of a false hit in a pad, ns above the loop without a breakpoint")
        for level in LEVELS:
            medians = self.medians(level)
            print(f"\n  {'-' + level:<24} {'loop':>8} " +
                  " ".join(f"{way.title:>10}" for way in self.ways))
            for kind, title in KINDS.items():
                print(f"  {title:<24} {statistics.median(self.loops[level][kind]):>8.1f} " +
                      " ".join(f"{medians[way.name][kind]:>10.1f}" for way in self.ways))

    def judge(self):
        """Rows of targets, as bench.judge makes them: the worst kind counts."""
        rows = []
        for level in LEVELS:
            medians = self.medians(level)
            for way in self.ways:
                if way.most:
                    most = max(cost for kind, cost in medians[way.name].items()
                               if way.name != "probe" or kind not in EMULATED)
                    rows.append((f"{way.title} at -{level}, ns", most, "at most", way.most,
                                 most <= way.most))
            for way, limit in LEAST.items():
                if way in medians and "gdbserver" in medians:
                    least = min(medians["gdbserver"][kind] / max(medians[way][kind], 0.1)
                                for kind in KINDS)
                    rows.append((f"gdbserver / {way} at -{level}", least, "at least", limit,
                                 least >= limit))
        return rows

    def is_complete(self):
        return len(self.ways) == len(WAYS)

    def results(self):
        return {level: {"loop": self.loops[level], **self.costs[level]} for level in LEVELS}
