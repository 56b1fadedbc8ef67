# SPDX-License-Identifier: BSD-2-Clause
"""Measuring the uprobe engine: false hits and stops of `break`, at one place and at
many, of one thread and of many. All on one CPU, so that hits of threads add up.

The program calls functions that do next to nothing, and prints the nanoseconds of one
call. Its functions begin with an instruction that the kernel emulates (push), and
`break` on their name means one that it has to step (a load)."""
import dataclasses
import json
import pathlib
import re
import subprocess
import tempfile

import measure

SOURCE = measure.ROOT / "tests" / "progs" / "code" / "hits.c"
EMULATED, STEPPED = "*f000", "f000"
FUNCTIONS = 200  # hits.c has them
ENGINES = ("uprobe", "ptrace")
PLAIN = 12800000  # calls without breakpoints: the same number for each thread
FILTERED = 20000000  # calls, of which a filter takes some nanoseconds each

# In gdb: times a command by each engine, the first time of which is for the change.
TURNS = """
import gdb, json, statistics, time

def ns():
    start = time.monotonic_ns()
    gdb.execute({command!r}, to_string=True)
    return time.monotonic_ns() - start

def turn(engine):
    gdb.execute("monitor set engine " + engine, to_string=True)
    return statistics.median([ns() for _ in range(12)][2:])

engines = {engines}
rounds = [[turn(engine) for engine in engines] for _ in range({rounds})]
print("rounds", json.dumps(dict(zip(engines, zip(*rounds)))))
"""


@dataclasses.dataclass
class Case(measure.Case):
    """With a breakpoint in each of the first functions."""
    place: str = EMULATED
    functions: int = 1
    threads: int = 1
    condition: str = "last == -1"
    pinned: bool = True
    filters: bool = False  # in the program, before the trap
    command: str = "break"


def places(case):
    return [case.place.replace("000", f"{i:03}") for i in range(case.functions)]


def match(regex, text, what):
    found = re.search(regex, text, re.M)
    if not found:
        raise measure.Broken(f"{what}: {text}")
    return found


class Bench(measure.Bench):
    """The same for cases of other kinds."""

    def __init__(self, truehit, build, gdbserver=None):
        super().__init__(truehit, build, gdbserver)
        self.hits = pathlib.Path(build) / "tests" / "progs" / "hits"
        self.probe_floor = pathlib.Path(build) / "tests" / "bench" / "probe_floor"
        self.offsets = {}

    def calibrate(self):
        """And where the functions are."""
        super().calibrate()
        for place in (EMULATED, STEPPED):
            case = Case("", "", 0, place=place, functions=FUNCTIONS)
            commands = [f"break {where}" for where in places(case)]
            text = subprocess.run(
                measure.gdb_argv(self.hits, ["maint info sections .text", *commands]),
                capture_output=True, text=True, timeout=measure.LIMIT, check=False).stdout
            start, offset = (int(number, 16) for number in match(
                r"(0x\w+)->0x\w+ at (0x\w+): \.text", text, "no sections").groups())
            self.offsets[place] = [str(int(address, 16) - start + offset) for address in
                                   re.findall(r"^Breakpoint \d+ at (0x\w+)", text, re.M)]

    def cost(self, text, calls):
        found = match(r"(\d+) iterations, ([\d.]+) ns per iteration", text, "no result")
        if int(found.group(1)) != calls:
            raise measure.Broken(f"{found.group(1)} of {calls} calls")
        return float(found.group(2))

    def probe_cases(self, emulated, stepped, gdbserver_iterations):
        """False hits of `break *function if` and `break function if`."""
        ways = [("entry", "*function", emulated, {}),
                ("body", "function", stepped, {"place": STEPPED, "condition": "i == -1"})]
        ways += [(f"places_{count}", f"{count} *functions", emulated, {"functions": count})
                 for count in (10, 100, FUNCTIONS)]
        ways += [(f"threads_{count}", f"*function, {count} threads", emulated,
                  {"threads": count}) for count in (8, 64)]
        cases = []
        for name, title, _, others in (*ways[:2], ways[-3], ways[-1]):
            cases.append(Case(f"filter_{name}", f"truehit filter, {title}", FILTERED,
                              self.truehit, floor=f"{name}_floor", filters=True, **others))
        for name, title, iterations, others in ways:
            floor = name + "_floor"
            cases += [Case(floor, f"kernel floor, {title}", iterations, floor=floor, **others),
                      Case(name, f"truehit break, {title}", iterations, self.truehit,
                           floor=floor, **others)]
            if self.gdbserver and name in ("entry", "body"):
                cases.append(Case(f"{name}_gdbserver", f"gdbserver break, {title}",
                                  gdbserver_iterations, self.gdbserver, floor=floor,
                                  **others))
        return cases

    def run(self, case):
        if not isinstance(case, Case):
            super().run(case)
            return
        arguments = [str(case.iterations), str(case.functions), str(case.threads)]
        alone = self.calls_alone(case)
        if case.server:
            cost = self.run_breaks(case, arguments)
        else:
            cost = self.run_floor(case, arguments)
        case.runs.append(cost - alone)

    def calls_alone(self, case):
        """ns of one without breakpoints. Calls of many functions in turn cost more."""
        return self.cost(subprocess.run(
            [*measure.pin(True), self.hits, str(PLAIN), str(case.functions),
             str(case.threads)], capture_output=True, text=True, check=True,
            timeout=measure.LIMIT).stdout, PLAIN)

    def run_floor(self, case, arguments):
        done = subprocess.run(
            [*measure.pin(True), self.probe_floor, self.hits, *arguments, "--",
             *self.offsets[case.place][:case.functions]],
            capture_output=True, text=True, timeout=measure.LIMIT, check=False)
        if done.returncode != 0:
            raise measure.Broken(done.stderr.strip() or "probe_floor failed")
        return self.cost(done.stdout, case.iterations)

    def run_breaks(self, case, arguments):
        """They are put in place at once, for truehit to say how it serves them."""
        forced, asked = [], []
        if case.server == self.truehit:
            asked = ["monitor breakpoints"]
            # A hardware slot may cost as much, and all is measured from the beginning.
            forced = ["monitor set engine uprobe",
                      f"monitor set pads {'always' if case.filters else 'off'}"]
            if case.filters:
                asked.append("monitor explain 1")
        with measure.Server(case.server, self.hits, *arguments, pinned=True) as server:
            output = server.gdb(self.hits, [
                "set breakpoint always-inserted on", *forced,
                *(f"break {place} if {case.condition}" for place in places(case)),
                *asked, "continue"])
            if "exited normally" not in output:
                raise measure.Broken(f"{case.title}: gdb said\n{output}")
            served = re.findall(r"^ *\d+ break \S+ f\d+\S* +uprobe ", output, re.M)
            if asked and len(served) != case.functions:
                raise measure.Broken(f"{case.title}: not by uprobes:\n{output}")
            if case.filters and "The filter, " not in output:
                raise measure.Broken(f"{case.title}: no filter:\n{output}")
            server.loop_ns()
            return self.cost(server.text(), case.iterations)

    def engine_costs(self, rounds):
        """ns of what gdb does with breakpoints, a list of rounds for each engine."""
        call = measure.line("CALL", SOURCE)
        ways = [("break, continue", "continue", f"break {EMULATED}"),
                ("break if true, continue", "continue", f"break {EMULATED} if last != -1"),
                ("next over a call, next", "next", f"tbreak {call}")]
        return {title: self.take_turns(command, setup, rounds)
                for title, command, setup in ways}

    def take_turns(self, command, setup, rounds):
        """The engines' in one session; of the times of a round the median counts."""
        with measure.Server(self.truehit, self.hits, 1000000, pinned=True) as server:
            with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
                file.write(TURNS.format(command=command, engines=ENGINES, rounds=rounds))
                file.flush()
                output = server.gdb(self.hits, [setup, "continue", f"source {file.name}",
                                                "kill"])
        found = match(r"^rounds (.*)", output, "no times").group(1)
        return json.loads(found)
