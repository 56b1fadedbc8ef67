# SPDX-License-Identifier: BSD-2-Clause
"""How much less it costs to look for a state by `monitor until-state` than by a breakpoint
and a look at each pass (classical.c)."""
import os
import re
import statistics
import subprocess

import measure
import rsp

# Engine, pads, passes, and per cent of the classical overhead that have to go.
WAYS = {
    "hardware": ("hardware", "off", 60000, 94.0),
    "uprobe": ("uprobe", "off", 60000, 94.0),
    "uprobe in pads": ("uprobe", "always", 4000000, 99.9),
    "ptrace in pads": ("ptrace", "always", 4000000, 99.9),
}
CLASSICAL, PASSES = "classical", 10000
ROUNDS = 5
REGISTER = "rax" if os.uname().machine == "x86_64" else "x0"
NEVER = 0x123456789abcdef


class Bench:
    """Costs of a pass, ns, by way."""

    def __init__(self, bench):
        self.bench = bench
        self.classical = f"{bench.loop.parents[1]}/bench/classical"
        self.address, _ = bench.place()
        self.ways = {name: way for name, way in WAYS.items() if self.is_here(name)}
        self.runs = {name: [] for name in (CLASSICAL, *self.ways)}

    def is_here(self, name):
        if "uprobe" in name:
            return os.uname().machine == "x86_64"
        return self.bench.fires or name != "hardware"

    def run(self):
        self.runs[CLASSICAL].append(self.run_classical())
        for name, way in self.ways.items():
            self.runs[name].append(self.run_way(name, *way[:3]))

    def run_classical(self):
        done = subprocess.run([self.classical, f"{self.address:#x}", self.bench.loop,
                               str(PASSES)], capture_output=True, text=True, check=False,
                              timeout=measure.LIMIT)
        match = re.search(r"([\d.]+) ns per iteration", done.stdout)
        if not match or done.returncode != 0:
            raise measure.Broken(f"classical: {done.stdout}{done.stderr}")
        return float(match[1]) - self.bench.base

    def run_way(self, name, engine, pads, passes):
        with measure.Server(self.bench.truehit, self.bench.loop, passes) as server:
            client = rsp.Client(server)
            client.ask("qSupported:swbreak+;hwbreak+")
            client.monitor(f"set engine {engine}")
            client.monitor(f"set pads {pads}")
            kind = 1 if engine == "hardware" else 0
            reply = client.ask(f"Z{kind},{self.address:x},1")
            client.monitor(f"until-state *{self.address:#x} {REGISTER}={NEVER:#x}")
            end = client.ask("vCont;c")
            client.close()
            done, cost = server.loop_ns()
        if (reply, end, done) != ("OK", "W00", passes):
            raise measure.Broken(f"until-state by {name}: {reply}, {end}, {done} passes")
        return cost - self.bench.base

    def removed(self, name):
        return statistics.median(100 - 100 * cost / classical for cost, classical in
                                 zip(self.runs[name], self.runs[CLASSICAL]))

    def show(self):
        print("\nCost of a pass where a state is looked for\n")
        for name, runs in self.runs.items():
            less = "" if name == CLASSICAL else f"{self.removed(name):8.3f} % less"
            print(f"  {name:<16} {measure.microseconds(statistics.median(runs)):>10} {less}")

    def judge(self):
        return [(f"until-state by {name}, % less", self.removed(name), "at least", most,
                 self.removed(name) >= most) for name, (*_, most) in self.ways.items()]
