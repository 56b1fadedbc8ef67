#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""How costs grow with threads, breakpoints and memory: truehit and gdbserver in turns.

Each row is one command of gdb's, in ms: medians of the rounds, and the median of the
rounds' ratios. `attach` is all that a server does until it listens. The servers' memory is
what is resident of it and theirs alone, in KiB. Nothing else may run meanwhile."""
import sys

sys.dont_write_bytecode = True
import argparse
import json
import math
import os
import pathlib
import re
import select
import shutil
import statistics
import subprocess
import tempfile
import time

import measure

SIZES = {"threads": (1, 500, 1000, 2000, 5000),
         "breakpoints": (1, 500, 1000, 2000, 3900),
         "conditions": (200, 400, 800),
         "judged": (1, 8), "judged attached": (1, 8)}
ATTACHED = ("threads", "judged attached")
JUDGED = 300  # hits
MIB = 256
MOST_RATIO = 1.05   # of gdbserver's time
MOST_GROWTH = 2.2   # from n to 2n
MEMORY = "server's memory, KiB"

# What gdb does: `times` is filled with the ms of named commands.
HEAD = """
import gdb, json, time
times = {}

def run(command):
    return gdb.execute(command, to_string=True)

def timed(name, action, count=1):
    took = []
    for _ in range(count):
        start = time.monotonic_ns()
        action()
        took.append((time.monotonic_ns() - start) / 1e6)
    took.sort()
    times[name] = took[len(took) // 2]

def stop_and_next():
    run("break turn")
    run("continue")
    timed("stop to stop", lambda: run("continue"), 5)
    timed("next", lambda: run("next"), 5)
"""
BEGIN = {
    "threads": """
timed("connect", lambda: run("target remote " + ADDRESS))
run("thread 1")
run("set var go = 1")
timed("info threads", lambda: run("info threads"), 3)
stop_and_next()
""",
    "breakpoints": """
run("target remote " + ADDRESS)
run("break main")
run("continue")
run("set var go = 1")
for i in range(SIZE):
    run("break place%04d" % i)
timed("first next", lambda: run("next"))
stop_and_next()
""",
    # The kernel decides them, each hit; gdbserver stops at each, but here nobody comes.
    "conditions": """
run("target remote " + ADDRESS)
run("break main")
run("continue")
run("set var go = 1")
for i in range(SIZE):
    run("break place%04d if x == 1000000" % i)
timed("first next", lambda: run("next"))
stop_and_next()
""",
    # gdb keeps conditions with floating point or its own variables to itself: it judges
    # each hit and goes on from there, by a step and a continue.
    "judged": """
run("target remote " + ADDRESS)
run("set var go = 1")
run("tbreak turn")
run("continue")
run("set $hits = 0")
run("break turn if (++$hits %% %d) + i * 0.0 == 0.0" % HITS)
timed("%d hits that gdb judges" % HITS, lambda: run("continue"), 5)
""",
    "memory": """
run("target remote " + ADDRESS)
run("break turn")
run("tbreak main")
run("continue")
run("set var go = 1")
run("continue")
inferior = gdb.selected_inferior()
start = int(gdb.parse_and_eval("(unsigned long)memory"))
run("set stack-cache off")
run("set code-cache off")
timed("small reads, 10,000", lambda: [inferior.read_memory(start + 64 * i, 8)
                                      for i in range(10000)], 3)

def backtraces():
    for _ in range(50):
        run("maintenance flush register-cache")
        run("backtrace")

run("set stack-cache on")
timed("backtraces, 50", backtraces, 3)
timed("dump, %d MiB" % SIZE, lambda: run("dump binary memory /dev/null %d %d" %
                                         (start, start + (SIZE << 20))))
""",
}
BEGIN["judged attached"] = BEGIN["judged"]
TAIL = """
print("times", json.dumps(times))
run("kill")
"""


def cpu_ms(pid):
    """User and system time of a process and its children that it has waited for."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) * 1000 / os.sysconf("SC_CLK_TCK")


def memory_kib(pid):
    """What is resident, but for files and what is shared."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return int(re.search(r"^RssAnon:\s+(\d+) kB$", file.read(), re.M).group(1))


def of_server(pid, measured):
    """Of all its processes: truehit has a guard, whose child the server is."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    names = [pid, *(child for child in children
                    if "truehit" in pathlib.Path(f"/proc/{child}/comm").read_text())]
    return sum(measured(name) for name in names)


class Server:
    """A server with a program, or attached to one."""

    def __init__(self, path, program, threads=0, mib=1, attach=False):
        self.program = None
        argv = [str(program), str(threads), str(mib)]
        if attach:
            # gdbserver interrupts the process group.
            self.program = subprocess.Popen(argv, stdout=subprocess.PIPE,
                                            start_new_session=True)
            self.program.stdout.readline()
        options = ["--attach", ":0", str(self.program.pid)] if attach else [":0", *argv]
        start = time.monotonic()
        self.process = subprocess.Popen([path, "--once", *options],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        try:
            self.port = self.wait_for_port()
        except measure.Broken:
            self.__exit__()
            raise
        self.ms = (time.monotonic() - start) * 1000

    def wait_for_port(self):
        """Woken by the line itself: looking for it now and then would be in the figures. What
        comes after it is short, and stays in the pipe."""
        output, end, text = self.process.stdout.fileno(), time.monotonic() + measure.LIMIT, b""
        while select.select([output], [], [], max(0, end - time.monotonic()))[0]:
            piece = os.read(output, 4096)
            text += piece
            found = re.search(rb"Listening on port (\d+)\n", text)
            if found:
                return int(found.group(1))
            if not piece:
                break
        raise measure.Broken(f"{self.process.args[0]} does not listen: "
                             f"{text.decode(errors='replace')}")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        for process in (self.process, self.program):
            if process and process.poll() is None:
                process.kill()
            if process:
                process.wait()
                process.stdout.close()


def late_most(values):
    """The most of the last quarter: at first, truehit finds out what the kernel can do."""
    return max(values[len(values) * 3 // 4:], default=0)


def threads_of(kind, size):
    """Besides the main one."""
    if kind.startswith("judged"):
        return size - 1
    return size if kind == "threads" else 0


def run_once(path, program, kind, size):
    """The ms of each command, and of the server's own."""
    with Server(path, program, threads=threads_of(kind, size),
                mib=size if kind == "memory" else 1, attach=kind in ATTACHED) as server, \
            tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(f'ADDRESS, SIZE, HITS = ":{server.port}", {size}, {JUDGED}\n' +
                     HEAD + BEGIN[kind] + TAIL)
        script.flush()
        done = subprocess.Popen(measure.gdb_argv(program, [f"source {script.name}"]),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
        busy, memory = 0, []
        while True:
            try:
                output, _ = done.communicate(timeout=0.05)
                break
            except subprocess.TimeoutExpired:
                try:
                    busy = max(busy, of_server(server.process.pid, cpu_ms))
                    memory.append(of_server(server.process.pid, memory_kib))
                except (OSError, ValueError, AttributeError):
                    pass
        found = re.search(r"^times (.*)$", output, re.M)
        if not found:
            raise measure.Broken(f"{path}, {size} {kind}: gdb said\n{output[-2000:]}")
        times = json.loads(found.group(1))
        if kind == "threads":
            times = {"attach": server.ms, **times}
        return {**times, "server's processor time": busy, MEMORY: late_most(memory)}


def measure_kind(servers, program, kind, sizes, rounds):
    """{(command, size): {server: [ms]}}"""
    rows = {}
    for number in range(rounds):
        for size in sizes:
            for name, path in servers.items():
                for command, ms in run_once(path, program, kind, size).items():
                    row = rows.setdefault((command, size), {})
                    row.setdefault(name, []).append(ms)
        print(f"{kind}: round {number + 1} of {rounds}", file=sys.stderr)
    return rows


def ratio(row):
    return statistics.median(a / max(b, 0.001)
                             for a, b in zip(row["truehit"], row["gdbserver"]))


def growth_to(rows, command, size, sizes):
    """From n to 2n, by the largest n of about half the size or less; 0: there is none."""
    smaller = [n for n in sizes if n <= size * 0.52]
    if not smaller:
        return 0
    then, now = (statistics.median(rows[command, n]["truehit"]) for n in (max(smaller), size))
    return (now / max(then, 0.001)) ** (1 / math.log2(size / max(smaller)))


def print_memory_of_one(kind, rows, sizes):
    """What each one takes that comes to the fewest."""
    least, most = min(sizes), max(sizes)
    if most < 2 * least:
        return
    of_one = [(statistics.median(rows[MEMORY, most][name]) -
               statistics.median(rows[MEMORY, least][name])) / (most - least)
              for name in ("truehit", "gdbserver")]
    print("  KiB of memory for each    {:>15.2f} {:>10.2f}".format(*of_one))


def print_kind(kind, rows, sizes):
    """Prints the table; returns the rows that are not as they have to be."""
    missed = []
    print(f"\n{kind}: ms, truehit / gdbserver, ratio; growth from n to 2n (truehit)\n")
    for command in dict.fromkeys(command for command, _ in rows):
        for size in sizes:
            row = rows[command, size]
            own, other = (statistics.median(row[name]) for name in ("truehit", "gdbserver"))
            text = f"  {command:<24} {size:>5} {own:>10.1f} {other:>10.1f} {ratio(row):>6.2f}"
            growth = growth_to(rows, command, size, sizes)
            if growth:
                text += f" {growth:>6.2f}"
            print(text)
            counts = not command.startswith("server's")
            if counts and (ratio(row) > MOST_RATIO or growth > MOST_GROWTH):
                missed.append(f"{kind}: {text.strip()}")
    print_memory_of_one(kind, rows, sizes)
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--truehit", default="build/truehit")
    parser.add_argument("--gdbserver", default=shutil.which("gdbserver"))
    parser.add_argument("--build", default="build", help="where the programs were built")
    parser.add_argument("--output", default="build/bench", help="directory of the results")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=BEGIN, action="append")
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--check", action="store_true", help="missed targets are a failure")
    options = parser.parse_args()
    servers = {"truehit": options.truehit, "gdbserver": options.gdbserver}
    program = pathlib.Path(options.build) / "tests" / "bench" / "growth"
    results, missed = {}, []
    for kind in options.only or BEGIN:
        sizes = options.sizes or SIZES.get(kind, (MIB,))
        try:
            rows = measure_kind(servers, program, kind, sizes, options.rounds)
        except measure.Broken as error:
            sys.exit(f"bench: {error}")
        missed += print_kind(kind, rows, sizes)
        results[kind] = {f"{command}, {size}": row for (command, size), row in rows.items()}
    directory = pathlib.Path(options.output)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "growth.json").write_text(json.dumps(
        {"machine": measure.machine(), "ms": results}, indent=2) + "\n")
    print(f"\nTargets: at most {MOST_RATIO} x gdbserver, {MOST_GROWTH} x from n to 2n:",
          "met" if not missed else "MISSED by")
    for text in missed:
        print(f"  {text}")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
