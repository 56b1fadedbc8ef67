# SPDX-License-Identifier: BSD-2-Clause
"""Which conditions of breakpoints truehit's extension for lldb hands over, and why it hands
others not; and what forbids that for all, watchpoints too."""
import re

import lldb

from truehit_bytecode import Refused
from truehit_lldb_compiler import Compiler
from truehit_lldb_places import Scope
import truehit_lldb_watchpoints as watchpoints

SOFTWARE, HARDWARE = 0, 1
# Where a condition was changed, lldb 21 and 22 (at least) evaluate the former one.
VERSION = re.search(r"version (\d+)", lldb.SBDebugger.GetVersionString())
KEEPS_FIRST = not VERSION or int(VERSION[1]) >= 21


class Placed:
    """A location of a breakpoint of the user's that is in the program."""

    def __init__(self, breakpoint, location):
        self.breakpoint, self.location = breakpoint, location
        self.name = f"{breakpoint.GetID()}.{location.GetID()}"
        self.address = location.GetLoadAddress()
        self.condition = location.GetCondition()

    def check(self, server):
        """Refuses what lldb does with it that truehit does not know of."""
        if self.condition != server.first.setdefault(self.name, self.condition) and KEEPS_FIRST:
            raise Refused(f"the condition of breakpoint {self.name} was changed, and this lldb may "
                          "go on with the former one; delete it, and set another")
        if not self.condition:
            raise Refused(f"breakpoint {self.name}, at the same address, has no condition")
        if self.breakpoint.IsOneShot():
            raise Refused(f"breakpoint {self.name} is for one stop")
        if self.breakpoint.GetIgnoreCount() or self.location.GetIgnoreCount():
            raise Refused(f"breakpoint {self.name} ignores some hits")
        stream = lldb.SBStream()
        self.breakpoint.GetDescription(stream)
        if re.search("python class|condition language|class = ", stream.GetData() or "", re.I):
            raise Refused(f"breakpoint {self.name} is decided by a script")


def placed(target):
    for breakpoint in target.breakpoint_iter():
        for location in breakpoint:
            if breakpoint.IsEnabled() and location.IsEnabled() and \
                    location.GetLoadAddress() != lldb.LLDB_INVALID_ADDRESS:
                yield Placed(breakpoint, location)


# ---- what forbids all ----

def has_unfinished_step(server):
    """Of the active plans of a thread, the first is to run on."""
    active, threads = False, 0
    for line in server.ask("thread plan list --internal all").splitlines():
        threads += line.startswith("thread #")
        if "plan stack" in line or line.startswith("thread"):
            active = "Active" in line
        elif active and "Element" in line and "Base thread plan" not in line:
            return True
    return threads < server.process.GetNumThreads()  # not all are told of


def has_commands(server, what):
    return "does not have an associated command" not in server.ask(what)  # neither in an error


def check_all(server, target, found):
    """Refuses what makes all conditions uncertain."""
    if not target.GetTriple().startswith("x86_64"):
        raise Refused("conditions are translated on x86_64 only")
    prefix = server.ask("settings show target.expr-prefix")
    if not re.search(r'= ?(""|)\s*$', prefix):
        raise Refused("target.expr-prefix may give words another meaning")
    for item in found:
        if has_commands(server, f"breakpoint command list {item.breakpoint.GetID()}") or \
                has_commands(server, f"breakpoint command list {item.name}"):
            raise Refused(f"the commands of breakpoint {item.name} may change all")
    for watchpoint in target.watchpoint_iter():
        if has_commands(server, f"watchpoint command list {watchpoint.GetID()}"):
            raise Refused(f"the commands of watchpoint {watchpoint.GetID()} may change all")
    if has_unfinished_step(server):
        raise Refused("a step is not finished")


# ---- conditions ----

def compiled(server, item):
    """The bytecode of a condition. What was found out before is kept while the program has the
    same libraries."""
    target = server.process.GetTarget()
    key = (item.address, item.condition, target.GetNumModules())
    if key not in server.cache:
        try:
            scope = Scope(target, item.location.GetAddress())
            server.cache[key] = Compiler(scope).whole(item.condition)
        except Refused as error:
            server.cache[key] = str(error)
        except (OSError, RecursionError) as error:
            server.cache[key] = f"it cannot be translated: {error}"
    if isinstance(server.cache[key], str):
        raise Refused(server.cache[key])
    return server.cache[key]


def internal_addresses(server):
    """Where lldb has breakpoints of its own."""
    text = server.ask("breakpoint list --internal --verbose")
    if "reakpoints" not in text:
        raise Refused("lldb does not tell of its own breakpoints")
    return {int(address, 16) for address in re.findall(r"address = (0x[0-9a-f]+)", text)}


def codes_at(server, items, internal):
    """The bytecodes of all conditions at an address."""
    if items[0].address in internal:
        raise Refused("lldb has a breakpoint of its own at the same address")
    for item in items:
        item.check(server)
    return [compiled(server, item) for item in items]


def decide(server):
    """Bytecodes by (type, address, length); and for each location with a condition, and each
    watchpoint, why lldb decides it, or None."""
    target = server.process.GetTarget()
    found, by_address, codes, verdicts = list(placed(target)), {}, {}, []
    for item in found:
        by_address.setdefault(item.address, []).append(item)
    conditional = [item for item in found if item.condition]
    if not conditional and not watchpoints.conditional(target):
        return {}, []
    try:
        check_all(server, target, found)
        internal = internal_addresses(server)
    except Refused as error:
        return {}, [(f"breakpoint {item.name}", str(error)) for item in conditional] + [
            (f"watchpoint {watchpoint.GetID()}", str(error))
            for watchpoint in watchpoints.conditional(target)]
    for item in conditional:
        try:
            codes[item.address] = codes_at(server, by_address[item.address], internal)
            verdicts.append((f"breakpoint {item.name}", None))
        except Refused as error:
            verdicts.append((f"breakpoint {item.name}", str(error)))
    hard = {item.address for item in found if item.breakpoint.IsHardware()}
    watched, verdicts_of_watchpoints = watchpoints.decide(server)
    return {**{(kind, address, 1): code for address, code in codes.items()
               for kind in ([SOFTWARE, HARDWARE] if address in hard else [SOFTWARE])},
            **watched}, verdicts + verdicts_of_watchpoints


def describe(server):
    """Who decides each condition, for people."""
    lines = ""
    for name, reason in decide(server)[1]:
        lines += (f"lldb decides {name}: {reason}\n" if reason else
                  f"truehit decides {name}\n")
    return lines
