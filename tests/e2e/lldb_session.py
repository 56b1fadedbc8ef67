# SPDX-License-Identifier: BSD-2-Clause
"""Inside lldb: a debugger that is connected to a server, and what scenarios check with
(lldbside.py)."""
import json
import os
import re
import time

import lldb

CONFIG = json.loads(os.environ["LLDBSIDE"])
PROGRAM, LINES, PORTS = CONFIG["program"], CONFIG["lines"], list(CONFIG["ports"])
PATIENCE = int(os.environ.get("TRUEHIT_PATIENCE", "1"))
REASONS = {value: name[len("eStopReason"):].lower()
           for name, value in vars(lldb).items() if name.startswith("eStopReason")}
STATES = {value: name[len("eState"):].lower()
          for name, value in vars(lldb).items() if name.startswith("eState")}
X86 = os.uname().machine == "x86_64"
FIRST_ARGUMENT, RESULT = ("rdi", "rax") if X86 else ("x0", "x0")


def check(name, passed, found=""):
    print("CHECK " + json.dumps([f"{CONFIG['scenario']}: {name}", bool(passed), str(found)]),
          flush=True)


def equal(name, found, wanted):
    check(name, found == wanted, f"{found!r}, wanted {wanted!r}")


def contains(name, regex, text):
    check(name, re.search(regex, text), text[-600:])


class Session:
    """A debugger with a target, connected to the next server."""

    def __init__(self, program=PROGRAM):
        self.debugger = lldb.SBDebugger.Create(False)
        self.debugger.SetAsync(False)
        self.run("settings set symbols.enable-external-lookup false")
        self.run("settings set use-color false")
        self.run("settings set plugin.process.gdb-remote.packet-timeout 60")
        self.run(f"settings set target.process.interrupt-timeout {2 * PATIENCE}")
        self.target = self.debugger.CreateTarget(program)
        self.port = PORTS.pop(0)

    def run(self, command):
        """A command's text, or "error: ..."."""
        result = lldb.SBCommandReturnObject()
        self.debugger.GetCommandInterpreter().HandleCommand(command, result)
        return (result.GetOutput() or "") + (result.GetError() or "")

    def connect(self):
        """To a server that has a process."""
        text = self.run(f"gdb-remote 127.0.0.1:{self.port}")
        if not self.process.IsValid():
            raise RuntimeError(f"not connected: {text}")
        return self

    def connect_plainly(self):
        """To one that has none yet."""
        self.debugger.SetAsync(True)
        error = lldb.SBError()
        process = self.target.ConnectRemote(self.debugger.GetListener(),
                                            f"connect://127.0.0.1:{self.port}",
                                            "gdb-remote", error)
        if error.Fail():
            raise RuntimeError(f"not connected: {error.GetCString()}")
        self.wait(lldb.eStateConnected)
        self.debugger.SetAsync(False)
        return process

    @property
    def process(self):
        return self.target.GetProcess()

    def wait(self, *states):
        """In asynchronous mode: until the process is in one of these states."""
        listener, event = self.debugger.GetListener(), lldb.SBEvent()
        end = time.monotonic() + 30 * PATIENCE
        while self.process.GetState() not in states and time.monotonic() < end:
            listener.WaitForEvent(1, event)
        if self.process.GetState() not in states:
            raise RuntimeError(f"state {self.state()} instead of "
                               f"{[STATES[state] for state in states]}")

    def interrupt(self):
        """Stops the process in asynchronous mode. lldb sends no interrupt, and waits for a
        stop all the same, if it is just about to let the process go on after a change."""
        for _ in range(10):
            error = self.process.Stop()
            if error.Success():
                break
        self.wait(lldb.eStateStopped)
        return error

    def state(self):
        return STATES[self.process.GetState()]

    def stop_at(self, marker, condition=None):
        breakpoint = self.target.BreakpointCreateByLocation("crew.c", LINES[marker])
        if condition:
            breakpoint.SetCondition(condition)
        return breakpoint

    def go(self):
        self.process.Continue()
        return self.stopped()

    def stopped(self):
        """The thread that has stopped for the user's reason, the selected one."""
        return self.process.GetSelectedThread()

    def threads(self):
        return list(self.process)

    def end(self):
        lldb.SBDebugger.Destroy(self.debugger)


def reason(thread):
    return REASONS.get(thread.GetStopReason(), "?")


def line(frame):
    return frame.GetLineEntry().GetLine()


def functions(thread):
    return [frame.GetFunctionName() or "?" for frame in thread]


def value(frame, expression):
    options = lldb.SBExpressionOptions()
    options.SetIgnoreBreakpoints(True)
    options.SetTimeoutInMicroSeconds(30 * 1000000)
    return frame.EvaluateExpression(expression, options)


def number(frame, expression):
    result = value(frame, expression)
    return result.GetValueAsSigned() if result.GetError().Success() else str(result.GetError())


def register(frame, name):
    return frame.FindRegister(name).GetValueAsUnsigned()


def tracer_of(pid):
    """0: nobody; None: the process is no more."""
    try:
        with open(f"/proc/{pid}/status", encoding="latin1") as file:
            text = file.read()
    except OSError:
        return None
    return None if "State:\tZ" in text else int(re.search(r"TracerPid:\t(\d+)", text)[1])
