# SPDX-License-Identifier: BSD-2-Clause
# Put in front of the Python that a test runs inside gdb.
import json
import sys
import threading
import time

import gdb


def run(command):
    """Runs a command; returns its text, or "error: ..."."""
    try:
        return gdb.execute(command, to_string=True) or ""
    except gdb.error as error:
        return f"error: {error}"


def emit(**values):
    """Hands values to the test."""
    sys.stdout.flush()
    gdb.write("\nRESULT " + json.dumps(values) + "\n")
    gdb.flush()


def alive():
    return gdb.selected_inferior().pid != 0


def value(expression):
    return str(gdb.parse_and_eval(expression))


class Events:
    """The last stop and the exit status, as gdb's events tell them."""

    def __init__(self):
        self.stop = None
        self.exit_code = None
        gdb.events.stop.connect(self.on_stop)
        gdb.events.exited.connect(self.on_exit)

    def on_stop(self, event):
        self.stop = event

    def on_exit(self, event):
        self.exit_code = getattr(event, "exit_code", None)


events = Events()


def stops(expressions, limit=2000, command="continue"):
    """Continues to the end of the program. Each stop is a list: PC, the values of
    the expressions, and gdb's error if evaluating the condition failed."""
    found = []
    for _ in range(limit):
        text = run(command)
        if not alive():
            break
        row = [value("(unsigned long)$pc")]
        row += [value(e) for e in expressions]
        lines = [l for l in text.splitlines()
                 if "Error in testing" in l or "Cannot access" in l or "zero" in l]
        found.append(row + lines)
    return found


def interrupt_after(seconds):
    """Ctrl-C, sent while gdb waits for the program."""
    def later():
        time.sleep(seconds)
        gdb.post_event(lambda: gdb.execute("interrupt"))
    threading.Thread(target=later, daemon=True).start()
