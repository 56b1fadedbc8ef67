# SPDX-License-Identifier: BSD-2-Clause
"""Runs inside lldb: the Python of a test, with these helpers. What it passes to emit() are the
test's results.

The environment has LLDBSIDE, as for lldbside.py; beside what that has, "script" is truehit's
extension, or none, and "python" the text."""
import json
import os
import sys
import traceback

import lldb
from lldb_session import CONFIG, Session, functions, line, number, reason

session = Session()
if CONFIG["script"]:
    print(session.run(f"command script import {CONFIG['script']}"))
session.connect()


def emit(**results):
    print("\nRESULT " + json.dumps(results), flush=True)


def run(command):
    text = session.run(command)
    print(f"(lldb) {command}\n{text}", flush=True)
    return text


def alive():
    return session.process.GetState() == lldb.eStateStopped


def at_breakpoints():
    """The threads that have stopped at one."""
    return [thread for thread in session.process if reason(thread) == "breakpoint"]


def frame():
    return session.stopped().GetFrameAtIndex(0)


def where():
    """The function, the line and the reason of a stop, and the thread's number."""
    if not alive():
        return session.state()
    return [frame().GetFunctionName(), line(frame()), reason(session.stopped()),
            session.stopped().GetIndexID()]


def hits():
    return [breakpoint.GetHitCount() for breakpoint in session.target.breakpoint_iter()]


def stop_at(place, condition=None, *options):
    """FILE:LINE, or the name of a function; the breakpoint's number."""
    file, _, at = place.partition(":")
    where_to = f"-f {file} -l {at}" if at else f"-n {place}"
    text = run(" ".join(["breakpoint set", where_to, *options]))
    if not text.startswith("Breakpoint "):
        raise RuntimeError(text)
    breakpoint = session.target.FindBreakpointByID(int(text.split()[1].rstrip(":")))
    if condition:
        breakpoint.SetCondition(condition)
    return breakpoint.GetID()


def story(limit=70, command="continue"):
    """Every stop to the end: where, and the counts of lldb's."""
    found = []
    for _ in range(limit):
        run(command)
        found.append([where(), hits()])
        if not alive():
            break
    return found


def decided():
    """Who decides each condition, as the extension tells."""
    if CONFIG["script"]:
        run("truehit breakpoints")


try:
    exec(CONFIG["python"])  # pylint: disable=exec-used
except Exception:  # pylint: disable=broad-except
    traceback.print_exc(file=sys.stdout)
sys.stdout.flush()
os._exit(0)
