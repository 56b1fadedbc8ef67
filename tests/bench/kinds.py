# SPDX-License-Identifier: BSD-2-Clause
"""Measuring pads: a false hit at each kind of instruction, decided in the program by a
filter, or in the kernel by a probe in the pad.

The program (kinds.c) has a loop around each, and prints the nanoseconds of one round. What
is told is that minus the same loop without a breakpoint."""
import dataclasses
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile

import measure
import rsp

# As compilers make them without optimization (-O0), and with it.
KINDS = {
    "push": "push, of one byte (-O0)",
    "parameter": "store of a parameter (-O0)",
    "load": "load of a variable (-O0)",
    "add_local": "local variable += 1 (-O0)",
    "add_global": "global variable += 1 (-O0)",
    "call": "call (-O0)",
    "movslq": "load, extended (-O2)",
    "jne": "conditional jump (-O2)",
    "cmp": "comparison with memory (-O2)",
    "lea": "address (-O2)",
    "addsd": "floating point (-O2)",
}
# Never true: *(long *)($rsi - 8) == 77, by which a filter decides, and $cs == 0, which it
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
    condition: bytes = b""         # none: there is no server
    decided: str = ""              # what `monitor breakpoints` has to say of it
    engine: str = "uprobe"
    user: bool = False             # the server has no rights
    place: str = "kind_{}"


WAYS = [
    Way("floor", "jumps only", 50000000),
    Way("filter", "filter", 30000000, 12, FILTERED, "kernel"),
    Way("user", "filter, without rights", 30000000, 12, FILTERED, "filter; stub", "ptrace",
        True),
    Way("probe", "probe in a pad", 60000, 700, UNKNOWN, "kernel"),
    Way("unhit", "pad that is never hit", 50000000, 1, FILTERED, "kernel",
        place="kind_{}_floor"),
]


class Bench:
    """ns of a hit at each kind, by each way: a list of rounds."""

    def __init__(self, truehit, build):
        self.directory = tempfile.TemporaryDirectory(prefix="truehit-bench-")
        os.chmod(self.directory.name, 0o755)
        self.truehit, self.program = (
            shutil.copy(path, self.directory.name)
            for path in (truehit, pathlib.Path(build) / "tests" / "bench" / "kinds"))
        self.address = {
            name: measure.PIE_BASE + int(value, 16) for value, name in re.findall(
                r"^(\w+) \w (kind_\w+)$", subprocess.run(
                    ["nm", self.program], capture_output=True, text=True, check=True,
                    timeout=measure.LIMIT).stdout, re.M)}
        self.costs = {way.name: {kind: [] for kind in KINDS} for way in WAYS
                      if not way.user or os.geteuid() == 0}

    def run(self):
        """One round."""
        for kind in KINDS:
            plain = self.plain(kind)
            for way in WAYS:
                if way.name in self.costs:
                    cost = self.serve(kind, way) if way.condition else self.plain(kind, "floor")
                    self.costs[way.name][kind].append(cost - plain)

    def plain(self, kind, *floor):
        text = subprocess.run([*measure.pin(True), self.program, "50000000", kind, *floor],
                              capture_output=True, text=True, check=True,
                              timeout=measure.LIMIT).stdout
        return float(re.search(r"([\d.]+) ns per iteration", text).group(1))

    def serve(self, kind, way):
        server = [*USER, self.truehit] if way.user else [self.truehit]
        with measure.Server(server, self.program, way.rounds, kind, pinned=True) as running:
            client = rsp.Client(running)
            client.monitor(f"set engine {way.engine}")
            client.monitor("set pads always")
            client.ask(f"Z0,{self.address[way.place.format(kind)]:x},1;"
                       f"X{len(way.condition):x},{way.condition.hex()}")
            client.ask("QCatchSyscalls:1;e7")  # exit_group
            reply = client.ask("vCont;c")
            table, text = client.monitor("breakpoints"), client.monitor("explain 1")
            if "is in a pad" not in text or way.decided not in table or \
                    ("The filter, " in text) != (way.condition == FILTERED):
                raise measure.Broken(f"{kind}, {way.title}: {reply}\n{table}\n{text}")
            client.ask("vCont;c")
            client.close()
            return running.loop_ns()[1]

    def medians(self):
        return {way: {kind: statistics.median(runs) for kind, runs in kinds.items()}
                for way, kinds in self.costs.items()}

    def print(self):
        medians = self.medians()
        ways = [way for way in WAYS if way.name in medians]
        print("\nCost of a false hit in a pad, ns\n")
        print(f"  {'':<30} " + " ".join(f"{way.title:>22}" for way in ways))
        for kind, title in KINDS.items():
            print(f"  {title:<30} " + " ".join(
                f"{medians[way.name][kind]:>22.1f}" for way in ways))

    def judge(self):
        """Rows of targets, as bench.judge makes them: the dearest kind counts."""
        medians = self.medians()
        rows = []
        for way in WAYS:
            if way.most and way.name in medians:
                dearest = max(medians[way.name].values())
                rows.append((f"{way.title}, ns", dearest, "at most", way.most,
                             dearest <= way.most))
        return rows
