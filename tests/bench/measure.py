# SPDX-License-Identifier: BSD-2-Clause
"""Measuring what a false hit costs; used by the benchmark and the demo.

The loop program measures itself: it prints the nanoseconds of one iteration. What
the breakpoint costs is that minus the same loop without one.
"""
import dataclasses
import functools
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile

import bytecode

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LOOP = ROOT / "tests" / "progs" / "code" / "loop.c"
EXTENSION = ROOT / "scripts" / "truehit-gdb.py"
PIE_BASE = 0x555555554000  # where programs are without randomisation
LIMIT = 300  # seconds: a run that takes longer hangs


class Broken(Exception):
    """A measurement could not be made; the text says why."""


def line(marker="BODY", source=LOOP):
    """FILE:LINE of a marked line of a program."""
    for number, text in enumerate(source.read_text().splitlines(), 1):
        if f"/* {marker} */" in text:
            return f"{source.name}:{number}"
    raise Broken(f"{source.name} has no line marked {marker}")


def gdb_argv(program, commands):
    argv = ["gdb", "-nx", "-q", "-batch"]
    for setting in ("debuginfod enabled off", "width 0", "height 0", "confirm off", "sysroot"):
        argv += ["-iex", f"set {setting}"]
    argv.append(str(program))
    for command in commands:
        argv += ["-ex", command]
    return argv


def pin(pinned):
    """What a command line begins with to stay on one CPU: they are not equally fast."""
    return ["taskset", "-c", "0"] if pinned and shutil.which("taskset") else []


class Server:
    """A server with a program in it, ended when the block ends. Pinned: both and gdb
    share one CPU. @server: a program, or a command line."""

    def __init__(self, server, program, *arguments, pinned=False):
        self.pin = pin(pinned)
        self.output = tempfile.TemporaryFile("w+")
        words = server if isinstance(server, list) else [str(server)]
        self.process = subprocess.Popen(
            [*self.pin, *words, "--once", ":0", str(program), *map(str, arguments)],
            stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT)

    def __enter__(self):
        try:
            self.port = int(self.wait_for(r"Listening on port (\d+)"))
            self.address = f":{self.port}"
        except Broken:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.output.close()

    def text(self):
        self.output.flush()
        with open(f"/proc/self/fd/{self.output.fileno()}", encoding="utf-8",
                  errors="replace") as file:
            return file.read()

    def wait_for(self, regex):
        while True:
            ended = self.process.poll() is not None
            match = re.search(regex, self.text())
            if match:
                return match.group(1)
            if ended:
                raise Broken(f"{self.process.args[0]} ended: {self.text().strip()}")
            try:
                self.process.wait(0.01)
            except subprocess.TimeoutExpired:
                pass

    def gdb(self, program, commands):
        """Runs gdb with these commands; returns its output."""
        argv = gdb_argv(program, [f"target remote {self.address}", *commands])
        done = subprocess.run([*self.pin, *argv], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=LIMIT, check=False)
        return done.stdout

    def loop_ns(self):
        """What the loop program printed: iterations done, ns of each."""
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired as error:
            raise Broken("the server has not ended with its program") from error
        match = re.search(r"(\d+) iterations, ([\d.]+) ns per iteration", self.text())
        if not match:
            raise Broken(f"the loop did not end: {self.text().strip()}")
        return int(match.group(1)), float(match.group(2))


@dataclasses.dataclass
class Case:
    """One way to throw false hits away."""
    name: str
    title: str
    iterations: int
    server: str = ""         # a program, or "" for the floor
    command: str = "hbreak"
    evaluation: str = "target"
    pinned: bool = False
    code: bytes = b""        # the condition, if it is not gdb's
    floor: str = "floor"     # the case with the same event
    runs: list = dataclasses.field(default_factory=list)  # ns per false hit

    @property
    def median(self):
        return statistics.median(self.runs)

    @property
    def in_hardware(self):
        """Is it of no worth where breakpoint registers do not fire?"""
        return self.command != "break"

    @property
    def watches(self):
        return self.command.startswith("watch")


class Bench:
    """The programs to measure with."""

    def __init__(self, truehit, build, gdbserver=None):
        self.truehit = truehit
        self.loop = pathlib.Path(build) / "tests" / "progs" / "loop"
        self.floor = pathlib.Path(build) / "tests" / "bench" / "floor"
        self.gdbserver = gdbserver or shutil.which("gdbserver")
        self.base = 0.0

    def calibrate(self):
        """The loop without breakpoints, ns per iteration."""
        runs = []
        for _ in range(3):
            text = subprocess.run([self.loop, "10000000"], capture_output=True, text=True,
                                  check=True, timeout=LIMIT).stdout
            runs.append(float(re.search(r"([\d.]+) ns per iteration", text).group(1)))
        self.base = statistics.median(runs)

    @functools.cached_property
    def fires(self):
        """Some virtual machines have breakpoint registers that never do."""
        return subprocess.run([self.floor, "100"], capture_output=True, check=False,
                              timeout=LIMIT).returncode == 0

    def possible(self, cases):
        """Those that can be measured on this machine."""
        return [case for case in cases if self.fires or not case.in_hardware]

    def cases(self, scale=1.0):
        def count(number):
            return max(100, int(number * scale))
        cases = [Case("floor", "kernel floor: event + `return 0`", count(60000),
                      pinned=True),
                 Case("truehit", "truehit hbreak ... if", count(60000), self.truehit,
                      pinned=True)]
        if self.gdbserver and shutil.which("taskset"):
            server = self.gdbserver
            cases += [
                Case("z1_pinned", "gdbserver Z1, pinned to one CPU", count(6000), server,
                     pinned=True),
                Case("z0_pinned", "gdbserver Z0, pinned to one CPU", count(6000), server,
                     "break", pinned=True),
                Case("z1", "gdbserver Z1 (hbreak ... if)", count(3000), server),
                Case("z0", "gdbserver Z0 (break ... if)", count(3000), server, "break"),
                Case("host", "host-side, gdbserver", count(1000), server, evaluation="host"),
            ]
        return cases

    def break_cases(self):
        """What users of `break ... if` get, with each server as it is at first."""
        cases = [Case("truehit", "truehit break ... if", 10000000, self.truehit, "break")]
        if self.gdbserver:
            cases += [Case("z0", "gdbserver break ... if", 3000, self.gdbserver, "break"),
                      Case("host", "host-side, gdbserver", 1000, self.gdbserver, "break",
                           evaluation="host")]
        return cases

    def place(self):
        """The address of the loop's body in a running program, and of words to read."""
        output = subprocess.run(
            gdb_argv(self.loop, [f"info line {line()}", "info address other"]),
            capture_output=True, text=True, timeout=LIMIT, check=False).stdout
        found = re.search(r"address (0x\w+)[^$]* (0x\w+)", output)
        if not found:
            raise Broken(f"no addresses: gdb said\n{output}")
        body, other = (PIE_BASE + int(text, 16) for text in found.groups())
        return body, [other - 8 * i for i in range(4)]

    def size_cases(self, iterations):
        """Conditions of different sizes. Four reads do not fit into ten operations."""
        _, words = self.place()
        sizes = [(operations, reads) for operations in (1, 10, 50, 200) for reads in (0, 1, 4)
                 if operations >= 10 * reads or operations > 10]
        cases = []
        for size in sizes:
            code = bytecode.condition(*size, words)
            if bytecode.count(code) != size:
                raise Broken(f"a condition of {bytecode.count(code)} instead of {size}")
            cases.append(Case("ops_%d_reads_%d" % size,
                              "truehit, operations: %d, reads: %d" % size, iterations,
                              self.truehit, code=code, pinned=True))
        return cases

    def dprintf_cases(self, iterations, gdbserver_iterations):
        cases = [Case("dprintf", "truehit, agent dprintf", iterations, self.truehit,
                      "dprintf")]
        if self.gdbserver:
            cases.append(Case("dprintf_gdbserver", "gdbserver, agent dprintf",
                              gdbserver_iterations, self.gdbserver, "dprintf"))
        return cases

    def watch_cases(self, iterations, gdbserver_iterations):
        """Writes that change nothing, and changes that a condition is false at."""
        ways = [("watch_same", "watch flag, same value", "watch flag"),
                ("watch_if", "watch counter if ...", "watch counter if counter == -1")]
        cases = [Case("watch_floor", "kernel floor of a watchpoint", iterations,
                      command="watch", pinned=True, floor="watch_floor")]
        cases += [Case(name, f"truehit {title}", iterations, self.truehit, command,
                       pinned=True, floor="watch_floor") for name, title, command in ways]
        if self.gdbserver and shutil.which("taskset"):
            cases += [Case(f"{name}_gdbserver", f"gdbserver {title}", gdbserver_iterations,
                           self.gdbserver, command, pinned=True, floor="watch_floor")
                      for name, title, command in ways]
        return cases

    def run(self, case):
        """One run of a case: appends the cost of one hit in ns."""
        if not case.server:
            event = ["write"] if case.watches else []
            done = subprocess.run(
                [*pin(case.pinned), self.floor, str(case.iterations), *event],
                capture_output=True, text=True, timeout=LIMIT, check=False)
            match = re.match(r"([\d.]+) ns per hit", done.stdout)
            if not match:
                raise Broken(done.stderr.strip() or "floor failed")
            case.runs.append(float(match.group(1)))
            return
        with Server(case.server, self.loop, case.iterations, pinned=case.pinned) as server:
            if case.code:
                self.run_bytecode(case, server)
            elif case.command == "dprintf":
                self.run_dprintf(case, server)
            elif case.watches:
                self.run_watch(case, server)
            else:
                self.run_condition(case, server)
            done, cost = server.loop_ns()
        if done != case.iterations:
            raise Broken(f"{case.title}: {done} of {case.iterations} iterations")
        case.runs.append(cost - self.base)

    def run_condition(self, case, server):
        output = server.gdb(self.loop, [
            f"set breakpoint condition-evaluation {case.evaluation}",
            f"{case.command} {line()} if i == -1", "continue"])
        if "exited normally" not in output:
            raise Broken(f"{case.title}: gdb said\n{output}")

    def run_watch(self, case, server):
        extension = [f"source {EXTENSION}"] if case.server == self.truehit else []
        output = server.gdb(self.loop, [*extension, case.command, "continue"])
        if "exited normally" not in output:
            raise Broken(f"{case.title}: gdb said\n{output}")

    def run_bytecode(self, case, server):
        body, _ = self.place()
        reply, _ = bytecode.run_with(server, body, case.code)
        if reply != "W00":
            raise Broken(f"{case.title}: {reply}")

    def run_dprintf(self, case, server):
        """gdbserver prints by itself. truehit's lines go to the client: here to one that
        only takes them, as gdb needs so long for a line that two processors are too few."""
        if case.server == self.truehit:
            body, words = self.place()
            command = bytecode.printf("i=%ld\\n", words[0])
            _, output = bytecode.run_with(server, body, command=command)
        else:
            output = server.gdb(self.loop, ["set dprintf-style agent",
                                            f'dprintf {line()},"i=%ld\\n", i', "continue"])
        server.loop_ns()
        lines = len(re.findall(r"^i=\d+$", output + server.text(), re.M))
        if lines != case.iterations:
            raise Broken(f"{case.title}: {lines} of {case.iterations} lines")

    def stop_cost(self, server, breakpoints, stops=150):
        """ns of one reported stop and the continue after it, seen by the program."""
        others = [f"hbreak {line(name)} if other == 5"
                  for name in ("NEVER1", "NEVER2", "NEVER3")][:breakpoints - 1]
        with Server(server, self.loop, stops) as running:
            script = "\n".join(["import gdb", "while gdb.selected_inferior().pid:",
                                "    gdb.execute('continue', to_string=True)"])
            with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
                file.write(script)
                file.flush()
                output = running.gdb(self.loop, [f"hbreak {line()} if i >= 0", *others,
                                                 f"source {file.name}"])
            done, cost = running.loop_ns()
        if done != stops:
            raise Broken(f"{done} of {stops} iterations; gdb said\n{output}")
        return cost


def machine():
    """What the numbers were measured on."""
    model = "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for text in file:
            if text.startswith("model name"):
                model = text.partition(":")[2].strip()
                break
    return {"cpu": model, "cpus": os.cpu_count(), "kernel": os.uname().release}


def microseconds(ns):
    if ns < 100:
        return f"{ns:.1f} ns"
    return f"{ns / 1000:.1f} us" if ns < 1e6 else f"{ns / 1e6:.2f} ms"


def bars(rows, width=44):
    """Rows of (title, value, text) as bars, as long as their values."""
    top = max(value for _, value, _ in rows)
    indent = max(len(title) for title, _, _ in rows)
    eighths = " ▏▎▍▌▋▊▉"
    out = []
    for title, value, text in rows:
        length = max(1, round(8 * width * value / top))
        bar = "█" * (length // 8) + (eighths[length % 8] if length % 8 else "")
        out.append(f"  {title:<{indent}}  {bar} {text}")
    return "\n".join(out)
