# SPDX-License-Identifier: BSD-2-Clause
"""What a false hit of `breakpoint set -c` costs in lldb: with lldb-server, with truehit, and
with truehit's extension for lldb. Skipped without lldb."""
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import measure

sys.path.append(str(measure.ROOT / "tests" / "e2e"))
sys.path.append(str(measure.ROOT / "tests" / "e2e" / "protocol"))
from test_lldb import find_tool, python_of, versions

SCRIPT = measure.ROOT / "scripts" / "truehit_lldb.py"
# By way: passes of the loop.
WAYS = {"lldb-server": 300, "truehit": 300, "truehit, extension": 4000000}
ROUNDS = 3
LEAST = 1000.0  # times that lldb-server's cost has to be that with the extension


class LldbServer:
    """lldb-server with a program in it, ended when the block ends."""

    def __init__(self, path, program, passes):
        self.directory = tempfile.TemporaryDirectory()
        fifo = os.path.join(self.directory.name, "port")
        os.mkfifo(fifo)
        self.process = subprocess.Popen(
            [path, "gdbserver", "--named-pipe", fifo, "127.0.0.1:0", "--", str(program),
             str(passes)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        with open(fifo, encoding="ascii") as file:
            self.port = int(file.read().rstrip("\0"))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.kill()
        self.process.wait()
        self.directory.cleanup()

    @staticmethod
    def text():
        return ""


class Bench:
    """Costs of a pass, ns, by way; none without lldb."""

    def __init__(self, bench):
        self.bench = bench
        self.lldb = find_tool("LLDB", *versions("lldb"))
        beside = self.lldb and os.path.join(os.path.dirname(os.path.realpath(self.lldb)),
                                            "lldb-server")
        self.lldb_server = self.lldb and find_tool("LLDB_SERVER", beside,
                                                   *versions("lldb-server"))
        ways = WAYS if self.lldb and self.has_python() else {}
        self.runs = {name: [] for name in ways if name != "lldb-server" or self.lldb_server}

    def has_python(self):
        return re.search(r"^42$", self.ask(["script print(6 * 7)"]), re.M)

    def ask(self, commands, *program):
        argv = [self.lldb, "--batch", "--no-lldbinit", *map(str, program)]
        for command in commands:
            argv += ["-o", command]
        return subprocess.run(argv, capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=measure.LIMIT,
                              env=python_of(self.lldb)).stdout

    def run(self):
        for name, runs in self.runs.items():
            runs.append(self.run_way(name, WAYS[name]))

    def serve(self, name, passes):
        if name == "lldb-server":
            return LldbServer(self.lldb_server, self.bench.loop, passes)
        return measure.Server(self.bench.truehit, self.bench.loop, passes)

    def run_way(self, name, passes):
        file, _, line = measure.line().partition(":")
        commands = ["gdb-remote {}", f"breakpoint set -f {file} -l {line} -c 'i == -1'",
                    "continue"]
        if name.endswith("extension"):
            commands.insert(0, f"command script import {SCRIPT}")
        with self.serve(name, passes) as server:
            text = self.ask([command.format(server.port) for command in commands],
                            self.bench.loop) + server.text()
        match = re.search(r"(\d+) iterations, ([\d.]+) ns per iteration", text)
        if not match or int(match[1]) != passes:
            raise measure.Broken(f"lldb with {name}: {text}")
        return float(match[2]) - self.bench.base

    def show(self):
        if not self.runs:
            print("\nlldb is not installed, or has no Python: its hits are left out.")
            return
        print(f"\nCost of a false hit in lldb ({pathlib.Path(self.lldb).name})\n")
        for name, runs in self.runs.items():
            print(f"  {name:<20} {measure.microseconds(statistics.median(runs)):>10}")

    def judge(self):
        if "lldb-server" not in self.runs:
            return []
        ratio = statistics.median(
            own / max(quick, 0.1) for own, quick in zip(self.runs["lldb-server"],
                                                        self.runs["truehit, extension"]))
        return [("lldb-server / lldb's extension", ratio, "at least", LEAST, ratio >= LEAST)]
