# SPDX-License-Identifier: BSD-2-Clause
"""What the commands share that let the program run for a while, or ask truehit's monitor."""
import os
import signal
import threading

import gdb

from truehit_conditions import capture


class Setting:
    """One of gdb's that has another value meanwhile."""

    def __init__(self, name, value):
        self.name, self.value = name, value

    def __enter__(self):
        before = gdb.parameter(self.name)
        self.before = {True: "on", False: "off"}.get(before, before)
        gdb.execute(f"set {self.name} {self.value}")

    def __exit__(self, *exception):
        gdb.execute(f"set {self.name} {self.before}")


def need_truehit(servers):
    if not servers.is_truehit(gdb.selected_inferior()):
        raise gdb.GdbError("There is no process that truehit serves.")


def monitor(servers, line):
    """What a monitor command of truehit's prints."""
    need_truehit(servers)
    try:
        return capture(f"monitor {line}")
    except gdb.error:
        pass
    try:  # What truehit says of it is lost with the exception.
        gdb.execute(f"monitor {line}")
    except gdb.error as error:
        raise gdb.GdbError(str(error)) from None
    return ""


def go_on(seconds, shown=False):
    """What is printed until then, which is captured, or shown at once. The end of the time
    is a Ctrl-C; None: there is no end."""
    timer = threading.Timer(seconds or 0, os.kill, (os.getpid(), signal.SIGINT))
    if seconds is not None:
        timer.start()
    try:
        return gdb.execute("continue", to_string=not shown)
    finally:
        timer.cancel()
