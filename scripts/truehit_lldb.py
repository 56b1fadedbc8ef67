# SPDX-License-Identifier: BSD-2-Clause
"""truehit's extension for lldb: write `command script import .../truehit_lldb.py` into
~/.lldbinit.

lldb decides the conditions of breakpoints and watchpoints itself, at a full stop for every hit.
With this, they are decided where the hits are: `continue` translates the conditions into bytecode,
and hands them over to truehit. lldb still tests the condition of what is told, and keeps its counts
(but that lldb 14 counts hits of watchpoints, too, at which the condition is false). Other servers
see one packet that they do not know, and nothing else changes. It also defines the command
`truehit`.

A condition is handed over only if truehit's verdict is the one that lldb would come to:

- It can be translated: truehit_lldb_compiler.py has what of C; truehit_lldb_places.py, how it is
  certain where the variables are.
- All breakpoints at its address have such a one, and lldb has none of its own there.
- No step is unfinished (lldb goes on with it at a `continue`), and no breakpoint or watchpoint has
  commands, as these may begin a step, or change a condition.
- That of a watchpoint is about global variables whose names are no others in any function of their
  file, as lldb reads it anew wherever the access is (truehit_lldb_watchpoints.py).

It holds while the program runs by `continue` (or `c`): when the user sees a stop, a stop hook says
so to truehit. From then on each hit is told, whatever lldb does, up to the next `continue`. If the
user changes a breakpoint while the program runs, that ends it, too.
"""
import os
import re
import sys
import threading

import lldb

sys.path.append(os.path.dirname(os.path.realpath(__file__)))
import truehit_lldb_breakpoints as breakpoints
import truehit_lldb_watchpoints as watchpoints
from truehit_bytecode import Refused
from truehit_lldb_places import ask

PACKET = "QTruehit.WatchCondition:"
HOOK = "truehit_lldb.StopHook"


class Server:
    """The connection of one process, and what truehit has been told."""

    def __init__(self, process):
        self.process, self.prefix = process, f"{PACKET}p{process.GetProcessID():x};"
        self.told, self.cache, self.said, self.first = set(), {}, set(), {}
        self.holds = False  # conditions hold
        self.is_truehit = self.send("") == "OK"

    def ask(self, command):
        """What a command of lldb's prints, for this process."""
        result = lldb.SBCommandReturnObject()
        interpreter = self.process.GetTarget().GetDebugger().GetCommandInterpreter()
        thread = self.process.GetSelectedThread()
        context = lldb.SBExecutionContext(thread if thread.IsValid() else self.process)
        interpreter.HandleCommand(command, context, result, False)
        return (result.GetOutput() or "") + (result.GetError() or "")

    def packet(self, text):
        match = re.search(r"^response: (.*)$", self.ask(f"process plugin packet {text}"), re.M)
        return match[1].strip() if match else None

    def send(self, text):
        return self.packet(f"send '{self.prefix}{text}'")

    def tell(self, wanted):
        """Hands over what is wanted, as (type, address, length): bytecodes. An error's text, or
        None."""
        for key in self.told - set(wanted):
            self.withdraw(key)
        for key, codes in wanted.items():
            self.told.add(key)
            reply = self.send("{:x},{:x},{:x};".format(*key) + "".join(
                f"X{len(code):x},{code.hex()}" for code in codes))
            if reply != "OK":
                return f"truehit says {reply}"
        return None

    def withdraw(self, key):
        if self.send("{:x},{:x},{:x}".format(*key)) == "OK":
            self.told.discard(key)

    def monitor(self, line):
        """What a monitor command of truehit's prints."""
        reply = self.packet(f"monitor {line}") or ""
        if re.fullmatch("([0-9a-f]{2})+", reply):
            return bytes.fromhex(reply).decode(errors="replace")
        return reply + "\n"

    def stopped(self):
        """The user sees a stop, or changes something. Conditions of watchpoints hold whatever
        else the client does."""
        for key in [key for key in self.told if key[0] >= watchpoints.WRITE]:
            self.withdraw(key)
        if self.holds and self.send("stopped") == "OK":
            self.holds = False


class Watcher(threading.Thread):
    """While the program runs in asynchronous mode, the user may change breakpoints."""
    MATTERS = {lldb.eBreakpointEventTypeAdded, lldb.eBreakpointEventTypeEnabled,
               lldb.eBreakpointEventTypeConditionChanged,
               lldb.eBreakpointEventTypeCommandChanged,
               lldb.eBreakpointEventTypeIgnoreChanged}

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.ended = server, False
        self.listener = lldb.SBListener("truehit")
        server.process.GetTarget().GetBroadcaster().AddListener(
            self.listener, lldb.SBTarget.eBroadcastBitBreakpointChanged
            | lldb.SBTarget.eBroadcastBitWatchpointChanged)

    def run(self):
        event = lldb.SBEvent()
        while not self.ended:
            if self.listener.WaitForEvent(1, event) and not self.ended and self.matters(event):
                self.server.stopped()
                break

    def matters(self, event):
        return lldb.SBWatchpoint.EventIsWatchpointEvent(event) or (
            lldb.SBBreakpoint.GetBreakpointEventTypeFromEvent(event) in self.MATTERS)


class Extension:
    def __init__(self):
        self.servers = {}  # by lldb's own numbers of processes
        self.watcher = None

    def server(self, process):
        """None: it is none of truehit's."""
        if not process.IsValid() or process.GetPluginName() != "gdb-remote" or \
                process.GetState() not in (lldb.eStateStopped, lldb.eStateRunning):
            return None
        number = process.GetUniqueID()
        if number not in self.servers:
            self.servers[number] = Server(process)
        return self.servers[number] if self.servers[number].is_truehit else None

    def before_continue(self, debugger, arguments, result):
        """Hands over what holds from now on."""
        process = debugger.GetSelectedTarget().GetProcess()
        server = self.server(process)
        self.end_watcher()
        if not server or process.GetState() != lldb.eStateStopped:
            return
        server.stopped()
        if arguments:  # a number of hits that are to be ignored
            return
        wanted, verdicts = breakpoints.decide(server)
        for name, reason in verdicts:
            if reason and (name, reason) not in server.said:
                server.said.add((name, reason))
                result.AppendMessage(f"lldb decides {name}: {reason}")
        if not wanted:
            return
        reason = server.tell(wanted) or self.hook(server)
        if not reason and server.send("continue") == "OK":
            server.holds = True
            if debugger.GetAsync():
                self.watcher = Watcher(server)
                self.watcher.start()
        else:
            server.stopped()
            result.AppendMessage(f"lldb decides all conditions: {reason or 'truehit says no'}")

    @staticmethod
    def hook(server):
        """Makes sure that the stop hook is there. Why it is not, or None."""
        def is_there():
            return any(HOOK in text and "enabled" in text for text in
                       re.split(r"^Hook: ", server.ask("target stop-hook list"), flags=re.M))
        if not is_there():
            server.ask(f"target stop-hook add -P {HOOK}")
        return None if is_there() else "there is no stop hook"

    def end_watcher(self):
        if self.watcher:
            self.watcher.ended = True
            self.watcher = None

    def on_stop(self, process):
        self.end_watcher()
        server = self.servers.get(process.GetUniqueID())
        if server:
            server.stopped()


class StopHook:
    """Called by lldb before its user, or a script, hears of a stop."""

    def __init__(self, target, arguments, _internal):
        pass

    def handle_stop(self, context, _stream):
        EXTENSION.on_stop(context.GetProcess())
        return True


# ---- commands ----

def continue_(debugger, arguments, _context, result, _internal):
    """Continue, with conditions of breakpoints handed over to truehit (`process continue`)."""
    try:
        EXTENSION.before_continue(debugger, arguments.strip(), result)
    except (Refused, ValueError, RuntimeError) as error:
        result.AppendMessage(f"lldb decides all conditions: {error}")
    interpreter, own = debugger.GetCommandInterpreter(), lldb.SBCommandReturnObject()
    interpreter.HandleCommand(f"process continue {arguments}", own, False)
    process = debugger.GetSelectedTarget().GetProcess()
    if process.GetState() == lldb.eStateStopped:  # somebody may have deleted the stop hook
        EXTENSION.on_stop(process)
    if own.GetOutput():
        result.AppendMessage(own.GetOutput().rstrip("\n"))
    if not own.Succeeded():
        result.SetError((own.GetError() or "").removeprefix("error: ").rstrip("\n"))
    result.SetStatus(own.GetStatus())


def truehit(debugger, arguments, _context, result, _internal):
    """What truehit does for lldb: truehit breakpoints (what serves each, its hits, and who
    decides its condition), truehit monitor LINE (a command of truehit's own: monitor help)."""
    server = EXTENSION.server(debugger.GetSelectedTarget().GetProcess())
    word, _, line = arguments.strip().partition(" ")
    if not server:
        result.SetError("there is no process that truehit serves")
    elif word == "breakpoints" and not line:
        result.AppendMessage((server.monitor("breakpoints")
                              + breakpoints.describe(server)).rstrip("\n"))
    elif word == "monitor" and line:
        result.AppendMessage(server.monitor(line).rstrip("\n"))
    else:
        result.SetError("truehit: expected breakpoints, or monitor and a line")


EXTENSION = Extension()


def __lldb_init_module(debugger, _internal):
    name = __name__
    for word in ("continue", "c"):
        try:  # an alias of lldb's; what the user has made of it is left alone
            if "process continue" not in ask(debugger, f"help {word}"):
                continue
            ask(debugger, f"command unalias {word}")
        except Refused:
            continue
        debugger.HandleCommand(f"command script add -s current -f {name}.continue_ {word}")
    debugger.HandleCommand(f"command script add -f {name}.truehit truehit")
