# SPDX-License-Identifier: BSD-2-Clause
"""Ignore counts of breakpoints (`ignore`, `continue N`, -break-insert -i, an editor's hit
counts), for truehit's extension for gdb.

gdb counts what it ignores itself, at a full stop for every hit. With `set truehit
ignore-counts on`, truehit counts in its place: when the user continues, it gets the counts,
and gdb has none; at the next stop gdb gets back what is left. The stops are the same ones.
What differs is gdb's count of hits in `info breakpoints` (and MI's `times`), which Python
cannot set: it lacks what truehit has ignored. So it is off but in gdb's own debug adapter,
where editors do not show it.

A count is handed over only where truehit ignores what gdb would:

- The command only continues. While gdb steps, it has breakpoints of its own that truehit
  cannot tell from others. Commands that step are known by their hooks: the user's own hooks
  for them leave all counts with gdb.
- There is one process, in all-stop mode, and gdb follows no child.
- The breakpoint is at one address, where there is no other one, for all threads, and has no
  `stop` method. Its condition, if any, is one that gdb sends.
- There are no watchpoints: gdb takes the place at which one stops for a hit of what is
  there. It does so, too, with the place to which a step over a breakpoint has led; truehit
  counts that (gdbstub/locations/handed_counts.h).
"""
import re
import sys

import gdb

from truehit_breakpoints import is_at, is_plain
from truehit_conditions import FAILURES, capture

PACKET = "QTruehit.IgnoreCounts:"
STEPPING = ("step", "next", "stepi", "nexti", "until", "advance", "finish")
HOOK = "python __import__('sys').modules['truehit_counts'].note_step()"
WATCHPOINTS = {gdb.BP_WATCHPOINT, gdb.BP_HARDWARE_WATCHPOINT, gdb.BP_READ_WATCHPOINT,
               gdb.BP_ACCESS_WATCHPOINT}


class Command:
    """What the user has the program do, until its next stop."""
    steps = False
    calls = False


def note_step():
    """A command that steps begins."""
    Command.steps = True


def hook(name):
    """The hook of a command, as gdb shows it; None: there is none."""
    try:
        return capture(f"show user hook-{name}")
    except gdb.error:
        return None


def make_hooks():
    """But for those that the user has."""
    for name in STEPPING:
        if hook(name) is None:
            gdb.execute(f"define hook-{name}\n{HOOK}\nend", to_string=True)


def hooks_are_ours():
    return all(HOOK in (hook(name) or "") for name in STEPPING)


class Prefix(gdb.Command):
    """Settings of truehit's extension."""

    def __init__(self, name):
        super().__init__(name, gdb.COMMAND_BREAKPOINTS, gdb.COMPLETE_NONE, prefix=True)

    def invoke(self, argument, from_tty):
        if argument:
            raise gdb.GdbError(f"There is no setting of truehit's {argument}.")
        gdb.execute("show truehit ignore-counts")


class Setting(gdb.Parameter):
    """Whether truehit counts the hits that gdb's ignore counts are about.

Only true hits after the ignored ones stop the program then. gdb's own count of hits, in
`info breakpoints`, lacks those that were ignored. With auto, it is so in gdb's own debug
adapter (gdb -i dap)."""
    set_doc = "Set whether truehit counts the hits that gdb's ignore counts are about."
    show_doc = "Show whether truehit counts the hits that gdb's ignore counts are about."

    def __init__(self):
        super().__init__("truehit ignore-counts", gdb.COMMAND_BREAKPOINTS, gdb.PARAM_ENUM,
                         ["auto", "on", "off"])
        self.value = "auto"

    def get_set_string(self):
        if self.value == "on":
            make_hooks()
        return ""

    def get_show_string(self, value):
        return f"Whether truehit counts what gdb's ignore counts are about is \"{value}\"."

    def is_on(self):
        return self.value == "on" or (self.value == "auto" and "gdb.dap" in sys.modules)


def why_not_now(inferior):
    """Why all counts stay with gdb; None: they need not."""
    if Command.steps:
        return "gdb steps"
    if Command.calls:
        return "gdb calls a function"
    if gdb.parameter("non-stop"):
        return "in non-stop mode gdb counts"
    if [i for i in gdb.inferiors() if i.pid] != [inferior]:
        return "there are several processes"
    if not gdb.parameter("detach-on-fork") or gdb.parameter("follow-fork-mode") == "child":
        return "gdb follows children"
    if gdb.parameter("displaced-stepping") == "on":
        return "displaced-stepping is on"
    if gdb.current_recording() is not None:
        return "gdb records"
    if any(b.type in WATCHPOINTS and b.enabled for b in gdb.breakpoints()):
        return "there are watchpoints"
    return None


def is_for_all(breakpoint):
    """Of all threads and frames, and without a say of Python's."""
    return (breakpoint.thread is None and breakpoint.task is None
            and getattr(breakpoint, "inferior", None) is None
            and not hasattr(breakpoint, "stop"))


class Counts:
    """What truehit counts in gdb's place."""

    def __init__(self, servers, breaks):
        self.servers, self.breaks = servers, breaks
        self.setting = Setting()
        self.handed = {}  # gdb's number of a breakpoint: its address and its count
        self.process = None  # the inferior, and the PID that it has, or had
        self.is_busy = False
        self.runs = False  # the program, as far as the user knows
        events = gdb.events
        events.stop.connect(lambda event: self.on_stop())
        events.inferior_call.connect(self.on_call)
        events.before_prompt.connect(self.on_prompt)

    # When gdb tells of something

    def on_call(self, event):
        Command.calls = isinstance(event, gdb.InferiorCallPreEvent)

    def on_stop(self):
        self.take_back()
        self.runs = Command.steps = Command.calls = False

    def on_prompt(self):
        """Perhaps the program could not be resumed."""
        thread = gdb.selected_thread() if self.runs else None
        if thread and not thread.is_running():
            self.take_back()
            self.runs = False

    def on_breakpoint(self, breakpoint):
        """It may be at other places than before, as when a library has been loaded. A
        command that steps may come next."""
        if self.is_busy:
            return
        if breakpoint.number in self.handed \
                and self.place(breakpoint) != self.handed[breakpoint.number][0]:
            self.take_back()
        if breakpoint.ignore_count > 0 and self.setting.is_on():
            make_hooks()

    def on_deleted(self, breakpoint):
        self.handed.pop(breakpoint.number, None)

    def on_resume(self):
        """Also when gdb learns of a thread while the program runs: it may be at a hit then,
        which it has to ignore itself if the count was not handed over before."""
        if not self.runs:
            self.take_back()
        counting = [b for b in gdb.breakpoints() if is_plain(b) and b.enabled
                    and (b.number in self.handed if self.runs else b.ignore_count > 0)]
        places = self.places_now(counting)
        if self.runs and any(b.ignore_count > 0 or b.number not in places
                             or places[b.number] != self.handed[b.number][0] for b in counting):
            self.take_back()
        if not self.runs:
            for breakpoint in counting:
                if breakpoint.number in places:
                    self.hand(breakpoint, places[breakpoint.number])
            self.runs = not Command.calls
            gdb.post_event(self.on_prompt)

    def on_exit(self):
        """A connection may be gone with the process, and what is left is not known then:
        gdb has again what it had."""
        self.take_back()
        self.runs = False

    # What can be handed over

    def why_not(self, inferior):
        """Why all counts stay with gdb; None: they need not."""
        if not self.setting.is_on():
            return "truehit ignore-counts is off"
        reason = why_not_now(inferior)
        if reason is None and not hooks_are_ours():
            reason = "a command that steps has a hook of the user's"
        if reason is None and not self.servers.is_truehit(inferior):
            reason = "truehit does not serve it"
        return reason

    @staticmethod
    def place(breakpoint):
        """The address of its only location; None: there is not exactly one."""
        locations = breakpoint.locations
        if len(locations) != 1 or not locations[0].enabled or breakpoint.pending:
            return None
        return locations[0].address

    def places_now(self, counting):
        """The addresses of those that can be handed over, by their numbers."""
        inferior = gdb.selected_inferior()
        if not counting or self.why_not(inferior):
            return {}
        found, unknown = self.breaks.places(inferior)
        return {b.number: self.place(b) for b in counting
                if not self.why_not_this(b, found, unknown, inferior)}

    def why_not_this(self, breakpoint, found, unknown, inferior):
        """Why its count stays with gdb; None: it can be handed over."""
        address = self.place(breakpoint)
        if address is None or not is_at(breakpoint.locations[0], inferior):
            return "it is not at exactly one address"
        if not is_for_all(breakpoint):
            return "it is not for all threads, or Python decides it"
        if address in unknown or found.get(address) != [breakpoint]:
            return "there is another breakpoint at the same address"
        if breakpoint.condition and not self.sends(breakpoint, address, inferior):
            return "gdb keeps its condition to itself"
        return None

    def sends(self, breakpoint, address, inferior):
        """Does gdb send its condition?"""
        if not re.search(r"currently target|\btarget\b\.?$",
                         capture("show breakpoint condition-evaluation").strip()):
            return False
        try:
            return self.breaks.bytecode(breakpoint, address, inferior)[1]
        except FAILURES:
            return False

    # Handing over, and taking back

    def send(self, inferior, text):
        connection = self.servers.connection(inferior)
        return self.servers.send(connection, f"{PACKET}p{self.process[1]:x};{text}")

    def hand(self, breakpoint, address):
        count, inferior = breakpoint.ignore_count, gdb.selected_inferior()
        self.process = inferior, inferior.pid
        condition = 1 if breakpoint.condition else 0
        if self.send(inferior, f"hand,{address:x},{count:x},{condition}") != "OK":
            return
        self.handed[breakpoint.number] = address, count
        self.set_count(breakpoint, 0)

    def left(self):
        """What truehit has not ignored, by addresses; None: it cannot be asked."""
        inferior = self.process[0]
        if not inferior.is_valid() or not inferior.connection:
            return None
        reply = self.send(inferior, "take")
        if reply == "OK":
            return {}
        if not re.fullmatch(r"[0-9a-f]+,[0-9a-f]+(;[0-9a-f]+,[0-9a-f]+)*", reply):
            return None
        return {int(address, 16): int(count, 16) for address, count in
                (part.split(",") for part in reply.split(";"))}

    def take_back(self):
        if not self.handed:
            return
        left = self.left()
        handed, self.handed = self.handed, {}
        for breakpoint in gdb.breakpoints():
            if breakpoint.number in handed and breakpoint.ignore_count == 0:
                address, count = handed[breakpoint.number]
                self.set_count(breakpoint, left.get(address, 0) if left is not None else count)

    def set_count(self, breakpoint, count):
        if breakpoint.ignore_count == count:
            return
        self.is_busy = True
        try:
            breakpoint.ignore_count = count
        finally:
            self.is_busy = False

    def describe(self, breakpoint, inferior):
        """Who counts what is ignored, for people; None: nothing is."""
        if not is_plain(breakpoint) or breakpoint.ignore_count == 0 or not breakpoint.enabled:
            return None
        reason = self.why_not(inferior)
        if not reason:
            found, unknown = self.breaks.places(inferior)
            reason = self.why_not_this(breakpoint, found, unknown, inferior)
        if reason:
            return f"gdb counts what breakpoint {breakpoint.number} ignores: {reason}\n"
        return f"truehit counts what breakpoint {breakpoint.number} ignores\n"


def define():
    """The prefixes of the setting's commands."""
    Prefix("set truehit")
    Prefix("show truehit")
