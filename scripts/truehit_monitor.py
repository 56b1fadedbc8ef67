# SPDX-License-Identifier: BSD-2-Clause
"""`truehit monitor` and `truehit set`, gdb's `monitor` with completion, and `truehit stats`."""
import json
import re
import time

import gdb

from truehit_conditions import FAILURES
from truehit_running import Setting, go_on, monitor, need_truehit

HOW = "--json"


def literals(arguments):
    """What is typed as it is: not <LOCATION>."""
    return [word for word in re.findall(r"[\w-]+", arguments)
            if re.fullmatch(r"[a-z][a-z-]*|[01]", word)]


class Words:
    """What may be typed, as the server says."""

    def __init__(self, servers):
        self.servers = servers
        self.of = {}  # number of a connection: its commands

    def commands(self):
        """Those of the selected inferior's server: dictionaries. While the program runs, or
        without truehit, what is known."""
        connection = self.servers.connection(gdb.selected_inferior())
        if not connection:
            return []
        if connection.num not in self.of:
            try:
                self.of[connection.num] = json.loads(
                    monitor(self.servers, "help " + HOW))["commands"]
            except (gdb.GdbError, *FAILURES):
                return []
        return self.of[connection.num]

    def after(self, typed):
        """The words that may come after these."""
        found = set()
        if typed[:1] == ["help"]:
            typed = typed[1:]
        for command in self.commands():
            name = command["name"].split()
            if any(not word.startswith(part) for part, word in zip(typed, name)):
                continue
            if len(typed) < len(name):
                found.add(name[len(typed)])
                continue
            found.update(literals(command["arguments"]))
            if command["json"]:
                found.add(HOW)
        return sorted(found - set(typed))


def offered(text, word, candidates):
    """Those that begin with the last word of text, as gdb wants them: to be put in the place
    of what it takes for the last word, which may be a part of that."""
    last = "" if text[-1:].isspace() else (text.split() or [""])[-1]
    skipped = len(last) - len(word or "")
    return [candidate[max(skipped, 0):] for candidate in candidates
            if candidate.startswith(last)]


class Monitor(gdb.Command):
    """Pass a line on to truehit's monitor.
Usage: truehit monitor COMMAND...

It is gdb's command `monitor`, with completion of all words. `truehit monitor help` lists
the commands. Locations have the server's own numbers here."""
    NAME, FIRST = "monitor", ""

    def __init__(self, servers, words):
        self.servers, self.words = servers, words
        super().__init__(f"truehit {self.NAME}", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        gdb.write(monitor(self.servers, self.FIRST + argument.strip()))

    def complete(self, text, word):
        typed = (self.FIRST + text).split()
        if text and not text[-1].isspace():
            typed = typed[:-1]
        return offered(text, word, self.words.after(typed))


class Set(Monitor):
    """Change a setting of truehit.
Usage: truehit set NAME VALUE

It is `monitor set`, with completion. `truehit monitor help set` lists the settings."""
    NAME, FIRST = "set", "set "


class Stats(gdb.Command):
    """Show how often breakpoints are hit while the program runs, every second.
Usage: truehit stats [SECONDS]

The program goes on for so long, or until something else stops it. The table has each
breakpoint's hits in the last second, false and true ones, and who serves it. Nobody stops
for it. In non-stop mode, SECONDS are needed, and threads run that were resumed before."""
    NAME = "stats"

    def __init__(self, servers):
        self.servers = servers
        super().__init__(f"truehit {self.NAME}", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE)

    def invoke(self, argument, from_tty):
        if not re.fullmatch(r"(\d+(\.\d+)?)?", argument.strip()):
            raise gdb.GdbError("truehit stats: expected how many seconds, or nothing")
        seconds = float(argument) if argument.strip() else None
        need_truehit(self.servers)
        if gdb.parameter("non-stop"):
            self.ask(seconds)
        else:
            self.watch(seconds)

    def ask(self, seconds):
        if seconds is None:
            raise gdb.GdbError("truehit stats: expected how many seconds, in non-stop mode")
        monitor(self.servers, "stats")
        while seconds > 0:
            time.sleep(min(seconds, 1))
            seconds -= 1
            gdb.write(monitor(self.servers, "stats"))
            gdb.flush()

    def watch(self, seconds):
        # gdb inserts what is new at once then, so that it has a number and a name.
        with Setting("breakpoint always-inserted", "on"):
            monitor(self.servers, "stats")
            monitor(self.servers, "stats every 1")
            try:
                go_on(seconds, shown=True)
            finally:
                self.end()

    def end(self):
        """The connection may have ended with the program."""
        try:
            monitor(self.servers, "stats off")
        except (gdb.GdbError, gdb.error):
            pass
