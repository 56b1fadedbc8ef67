# SPDX-License-Identifier: BSD-2-Clause
"""The command `truehit` of truehit's extension for gdb, and its parts."""
import re

import gdb

import truehit_running
from truehit_accesses import Accesses
from truehit_calls import Calls
from truehit_conditions import capture
from truehit_monitor import Monitor, Set, Stats, Words, offered
from truehit_running import Setting

# ---- truehit's monitor, and gdb's breakpoints ----

def monitor(extension, line):
    """What a monitor command of truehit's prints."""
    return truehit_running.monitor(extension.servers, line)


def numbers():
    """Of all breakpoints. gdb.breakpoints() leaves dprintfs out."""
    return re.findall(r"^(\d+) ", capture("info breakpoints"), re.M)


def addresses(number):
    """Of the locations of gdb's breakpoint."""
    for breakpoint in gdb.breakpoints():
        if breakpoint.number == number and hasattr(breakpoint, "locations"):
            return [f"*{location.address:#x}" for location in breakpoint.locations
                    if location.address is not None]
    if str(number) not in numbers():
        raise gdb.GdbError(f"No breakpoint number {number}.")
    # A row for each; conditions and commands are in lines of their own.
    rows = re.findall(rf"^{number}(?:\.\d+)? .*?\s(0x[0-9a-f]+)\s",
                      capture(f"info breakpoints {number}"), re.M)
    return ["*" + address for address in rows]


def places(text):
    """truehit's names of a location: gdb's numbers N and N.M are translated, as the
    server does not know them; all else is as in `monitor`."""
    match = re.fullmatch(r"(\d+)(?:\.(\d+))?", text)
    if not match:
        return [text]
    found = addresses(int(match.group(1)))
    if match.group(2):
        found = found[int(match.group(2)) - 1:int(match.group(2))]
    if not found:
        raise gdb.GdbError(f"Breakpoint {text} has no address.")
    return list(dict.fromkeys(found))


class Truehit(gdb.Command):
    """What truehit, the server, knows of breakpoints and does at their hits.

In these commands LOCATION is a number as `info breakpoints` shows it (2, or 2.1), an
address (*0x401136) or a symbol (name, name+0x12)."""

    def __init__(self):
        super().__init__("truehit", gdb.COMMAND_BREAKPOINTS, prefix=True)


class OnLocation(gdb.Command):
    """A command that takes a location and passes the rest on."""

    def __init__(self, extension, name):
        self.extension = extension
        super().__init__(f"truehit {name}", gdb.COMMAND_BREAKPOINTS)
        self.name = name

    def invoke(self, argument, from_tty):
        words = argument.split()
        if not words:
            raise gdb.GdbError(f"truehit {self.name}: expected a location")
        for place in places(words[0]):
            gdb.write(monitor(self.extension, " ".join([self.name, place, *words[1:]])))

    REST = {"count": ["off", "on"], "explain": ["--json", "bpf", "bytecode", "pad"]}

    def complete(self, text, word):
        if len(text.split()) > 1 or text.endswith(" "):
            return offered(text, word, self.REST.get(self.name, []))
        return offered(text, word, numbers())


class Explain(OnLocation):
    """Show how a breakpoint is decided, why, and what that costs.
Usage: truehit explain LOCATION [bytecode|bpf|pad]

With one of these words: what gdb has sent, the program in the kernel, or the code in the
program."""


class Ignore(OnLocation):
    """Count the next N true hits of a breakpoint without stopping.
Usage: truehit ignore LOCATION N"""


class Count(OnLocation):
    """Count all hits of a breakpoint without stopping.
Usage: truehit count LOCATION [on|off]"""


class Until(gdb.Command):
    """A command that continues to a hit of a breakpoint that is gone at the next stop."""
    USAGE = NAME = None

    def __init__(self, extension):
        self.extension = extension
        super().__init__(f"truehit {self.NAME}", gdb.COMMAND_RUNNING, gdb.COMPLETE_LOCATION)

    def invoke(self, argument, from_tty):
        found = self.parse(argument.strip())
        if not found:
            raise gdb.GdbError(f"truehit {self.NAME}: expected {self.USAGE}")
        # gdb inserts it when it is made, not when the program goes on.
        with Setting("breakpoint always-inserted", "on"):
            breakpoint = self.insert(*found)
            try:
                gdb.execute("continue", from_tty)
            finally:
                if breakpoint.is_valid():
                    breakpoint.delete()

    def insert(self, location, number, condition):
        before = numbers()
        others = {place for number in before for place in addresses(int(number))}
        gdb.execute(f"tbreak {location}" + (f" if {condition}" if condition else ""))
        new = [b for b in gdb.breakpoints() if str(b.number) not in before]
        if not new:
            raise gdb.GdbError(f"There is no breakpoint at {location}.")
        breakpoint = new[0]
        try:
            found = addresses(breakpoint.number)
            if len(found) != 1:
                raise gdb.GdbError(f"{location} is at {len(found)} addresses, not at one.")
            if found[0] in others:
                raise gdb.GdbError(f"Another breakpoint is at {found[0]}: its hits would "
                                   "count, too.")
            explained = monitor(self.extension, f"explain {found[0]}")
            if condition and "\nCondition: gdb sent no condition" in explained:
                raise gdb.GdbError("gdb keeps this condition to itself, so that truehit "
                                   "cannot count its true hits.")
            monitor(self.extension, f"until-hit {found[0]} {number}")
        except BaseException:
            breakpoint.delete()
            raise
        return breakpoint


class UntilHit(Until):
    """Continue until the Nth true hit of a location, whichever thread makes it.
Usage: truehit until-hit LOCATION N [if CONDITION]

LOCATION is as for `break`. No other hit stops the program, and the breakpoint is gone at
the next stop, as that of `until`."""
    NAME, USAGE = "until-hit", "LOCATION N [if CONDITION]"

    def parse(self, text):
        match = re.fullmatch(r"(.+?)\s+([1-9]\d*)(?:\s+if\b\s*(.+))?", text)
        return match and match.groups()


class UntilState(Until):
    """Continue until a location is reached in a given state.
Usage: truehit until-state LOCATION [REGISTER=VALUE...] [if CONDITION]

LOCATION is as for `break`. `truehit save-point` prints the present state in this form."""
    NAME, USAGE = "until-state", "LOCATION [REGISTER=VALUE...] [if CONDITION]"

    def parse(self, text):
        match = re.fullmatch(r"(.+?)((?:\s+\w+=\w+)*)(?:\s+if\b\s*(.+))?", text)
        if not match:
            return None
        location, state, condition = match.groups()
        terms = [f"${register} == {value}" for register, value in
                 (word.split("=") for word in state.split())]
        terms += [f"({condition})"] if condition else []
        return location, 1, " && ".join(terms)


def is_at_breakpoint():
    here = f"*{gdb.newest_frame().pc():#x}"
    return any(here in addresses(int(number)) for number in numbers())


class StepI(gdb.Command):
    """Step N instructions, with one stop at the end.
Usage: truehit stepi N

It stops where `stepi N` does, but truehit makes the steps."""

    def __init__(self, extension):
        self.extension = extension
        super().__init__("truehit stepi", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE)

    def invoke(self, argument, from_tty):
        if not re.fullmatch(r"[1-9]\d*", argument.strip()):
            raise gdb.GdbError("truehit stepi: expected how many instructions")
        left = int(argument)
        while left > 0:
            # gdb takes a breakpoint out while it steps from there, and passes exclusive
            # accesses (aarch64), before which truehit stops, in one step.
            count = 1 if is_at_breakpoint() else left
            if not self.step(count):
                return
            left -= count
            if count > 1 and (rest := self.rest()) > 0:
                if not self.step(1):
                    return
                left = rest - 1

    def rest(self):
        """How many steps the last one has left, as it has ended early."""
        return int(monitor(self.extension, "stepi").split()[0])

    def step(self, count):
        """False: something else than the step's end stopped the program."""
        events = []
        if count > 1:
            monitor(self.extension, f"stepi {count}")
        gdb.events.stop.connect(events.append)
        try:
            gdb.execute("stepi")
        finally:
            gdb.events.stop.disconnect(events.append)
        return [type(event) for event in events] == [gdb.StopEvent]


class UntilCount(gdb.Command):
    """Step until the selected thread has executed N more instructions of a kind.
Usage: truehit until-count EVENT N

EVENT is instructions, branches, conditional-branches or taken-branches. They are counted as
processors count those that they retire: step by step, in the server, which tells every two
seconds how far it is; or, where `monitor counters` says that it counts them exactly, by the
processor, up to some steps before the end. Ctrl-C ends it, as does a breakpoint or a signal
that stops."""
    EVENTS = "instructions", "branches", "conditional-branches", "taken-branches"

    def __init__(self, extension):
        self.extension = extension
        super().__init__("truehit until-count", gdb.COMMAND_RUNNING)

    def complete(self, text, word):
        return [event for event in self.EVENTS if event.startswith(word or "")]

    def invoke(self, argument, from_tty):
        words = argument.split()
        if len(words) != 2 or words[0] not in self.EVENTS or not re.fullmatch(
                r"[1-9]\d*", words[1]):
            raise gdb.GdbError("truehit until-count: expected "
                               + ", ".join(self.EVENTS) + "; and how many")
        event, left = words[0], int(words[1])
        try:
            # gdb takes a breakpoint out while it steps from there.
            if is_at_breakpoint():
                left = self.count(event, left, " 1")
            if left:
                left = self.count(event, left)
            if left:
                gdb.write(f"{left} {event} are left.\n")
        finally:
            monitor(self.extension, "until-count off")

    def count(self, event, left, limit=""):
        """How many are left after a step."""
        monitor(self.extension, f"until-count {event} {left}{limit}")
        gdb.execute("stepi")
        text = monitor(self.extension, "until-count")
        if "without being counted" in text:
            raise gdb.GdbError(f"What gdb did instead of a step was not counted: {text}")
        if "more than wanted" in text:
            raise gdb.GdbError(f"The program has gone too far: {text}")
        return int(text.split()[0])


class SavePoint(gdb.Command):
    """Print the state of the selected thread, as `truehit until-state` takes it.
Usage: truehit save-point

It has the general registers, without the flags, in which what debuggers do shows."""
    NAMES = re.compile(r"r([abcd]x|[sd]i|[sb]p|\d+)|[xw]\d+|sp")

    def __init__(self):
        super().__init__("truehit save-point", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE)

    def invoke(self, argument, from_tty):
        frame = gdb.newest_frame()
        names = [register.name for register in frame.architecture().registers("general")
                 if self.NAMES.fullmatch(register.name)]
        gdb.write(" ".join([f"*{frame.pc():#x}"] + [
            f"{name}={capture(f'output/x ${name}')}" for name in names]) + "\n")


class Breakpoints(gdb.Command):
    """Show what serves each breakpoint, its hits, who decides it, and dprintfs without lines.
Usage: truehit breakpoints

The table has the server's own numbers, which only `monitor` takes."""

    def __init__(self, extension):
        self.extension = extension
        super().__init__("truehit breakpoints", gdb.COMMAND_BREAKPOINTS, gdb.COMPLETE_NONE)

    def invoke(self, argument, from_tty):
        gdb.write(monitor(self.extension, "breakpoints"))
        for breakpoint in gdb.breakpoints():
            gdb.write(self.extension.describe(breakpoint) or "")
            gdb.write(self.extension.describe_count(breakpoint) or "")
        gdb.write(self.extension.dprintfs.describe())


def define(extension):
    Truehit()
    SavePoint()
    Calls(extension.servers)
    Accesses(extension.servers)
    Stats(extension.servers)
    words = Words(extension.servers)
    for command in (Monitor, Set):
        command(extension.servers, words)
    for command in (Breakpoints, UntilHit, UntilState, UntilCount, StepI):
        command(extension)
    for command, name in ((Explain, "explain"), (Ignore, "ignore"), (Count, "count")):
        command(extension, name)
