# SPDX-License-Identifier: BSD-2-Clause
"""truehit's extension for gdb: write `source .../truehit-gdb.py` into ~/.gdbinit.

gdb decides the conditions of watchpoints itself, at a full stop for every hit. With
this, plain `watch EXPR if COND` (also what MI and DAP make of it) is decided where the
hits are: gdb's own compiler makes bytecode of the condition, and truehit gets it before
gdb puts the watchpoint in. gdb still tests the condition of what is reported, and keeps
its counts. So are some conditions of breakpoints that gdb cannot translate, as
truehit_breakpoints.py tells. Servers other than truehit see one packet that they do not
know, and nothing else changes. It also defines the command `truehit`.

A condition of a watchpoint is handed over only if truehit's verdict is the one that gdb
would come to:

- It is not that of an awatch, nor of an rwatch on x86: where gdb has missed changes, it
  shows reads as writes, or drops them.
- The watchpoint is in hardware, at one address that does not depend on memory: not
  *pointer, which moves when the pointer does.
- The compiler can do it: no calls, no floating point, no convenience variables.
- It reads no registers: truehit shows gdb the change before the one that is told, if
  gdb has missed it, with memory as it was then, but not with registers.
- Its names mean what they meant when gdb read the condition.
- Local variables have their home relative to the frame pointer (x86_64, as -O0 makes
  it). gdb looks for them in the innermost frame of their block. That is the frame that
  hits if its PC is in the block; the bytecode tells hits of all others, as when a
  callee writes to the variable, and gdb decides those.
"""
import os
import re
import sys

import gdb

# What is beside this file. (gdb's __file__ is that of the script that sources this one.)
sys.path.append(os.path.dirname(os.path.realpath(sys._getframe().f_code.co_filename)))
import truehit_commands
import truehit_counts
import truehit_dprintf
from truehit_breakpoints import Breaks, with_numbers
from truehit_conditions import (FAILURES, Refused, assemble, compile_expression,
                                compile_local, local_names, meaning)

PACKET = "QTruehit.WatchCondition:"

# ---- Watchpoints ----

KINDS = {gdb.BP_HARDWARE_WATCHPOINT: 2, gdb.BP_READ_WATCHPOINT: 3,
         gdb.BP_ACCESS_WATCHPOINT: 4}


def block_of(choose_frame):
    """The block of a frame; None: there is no frame, or it has no symbols."""
    try:
        return choose_frame().block()
    except (gdb.error, RuntimeError):
        return None


def visible_state(breakpoint):
    """What a modification can be seen by, the condition apart."""
    return (breakpoint.enabled, breakpoint.hit_count, breakpoint.ignore_count,
            breakpoint.thread, breakpoint.task, breakpoint.commands, breakpoint.silent,
            breakpoint.type)


def is_x86():
    return gdb.selected_inferior().architecture().name().startswith("i386")


class Target:
    """What is watched, seen when gdb had just read it in the selected frame."""

    def __init__(self, breakpoint):
        expression = breakpoint.expression
        # What -location makes of an address is a constant.
        fixed = re.match(r"-l(ocation)? +", expression)
        self.text = expression[fixed.end():] if fixed else expression
        self.fixed = fixed is not None
        self.address = self.length = self.frame = None
        block = block_of(gdb.selected_frame)
        names = local_names(self.text, block)
        self.locals = [] if fixed else names
        self.meaning = [] if fixed and names else meaning(self.text, block)
        if names:  # later, its frame may be another one, or gone
            self.frame = gdb.selected_frame()
            self.find()

    def find(self):
        """Evaluates it, in a frame where it means the same. What compiles has no side
        effects. Refuses what gdb may have to watch elsewhere one day."""
        code = compile_expression(f"&({self.text})")
        if not self.fixed and any(name.startswith("ref") for name, _ in code):
            raise Refused(f"where {self.text} is depends on memory")
        value = gdb.parse_and_eval(self.text)
        if value.address is None:
            raise Refused(f"{self.text} has no address")
        self.address, self.length = int(value.address), value.type.sizeof

    def find_again(self):
        """In any frame; the program may have been loaded elsewhere meanwhile."""
        if not self.frame:
            if meaning(self.text, block_of(gdb.newest_frame)) != self.meaning:
                raise Refused(f"{self.text} means something else in this frame")
            self.find()


class Watch:
    """A watchpoint and what its condition, if any, is compiled to."""

    def __init__(self, breakpoint, is_new):
        self.state = visible_state(breakpoint)
        self.condition = self.bytecode = self.meaning = self.target = None
        self.reason = "it has no condition"
        try:
            self.target = Target(breakpoint)
            if self.target.locals and not is_new:
                raise Refused("it was there before truehit-gdb.py")
        except FAILURES as error:
            self.reason, self.target = str(error), None

    def set_condition(self, breakpoint):
        """gdb has just read a condition in the selected frame."""
        self.condition, self.bytecode, self.meaning = breakpoint.condition, None, None
        if self.target and self.condition:
            self.attempt(self.compile_here)

    def compile_here(self):
        block = block_of(gdb.selected_frame)
        names = local_names(self.condition, block)
        if names or self.target.locals:
            return self.compile_local(names)
        self.meaning = meaning(self.condition, block)
        return self.compile_global()

    def attempt(self, compiler):
        try:
            self.bytecode = compiler()
        except FAILURES as error:
            self.bytecode, self.reason = None, str(error)

    def compile_local(self, names):
        text = with_numbers(self.condition)
        self.target.find_again()
        if self.target.locals:
            if gdb.selected_frame() != self.target.frame:
                raise Refused("it was set in another frame")
            # Where the variable is another frame's, gdb sees that its scope has ended.
            names = names + self.target.locals
            text = f"&({self.target.text}) != {self.target.address:#x} || ({text})"
        return compile_local(text, names)

    def compile_global(self):
        """Anywhere, if all names mean there what they meant when it was set."""
        if meaning(self.condition, block_of(gdb.newest_frame)) != self.meaning:
            raise Refused("its names mean something else in this frame")
        self.target.find_again()
        code = compile_expression(with_numbers(self.condition))
        if any(name == "reg" for name, _ in code):
            raise Refused("it reads registers" if "$" in self.condition
                          else "it reads local variables")
        return assemble(code)

    def invalidate(self):
        """Addresses may have changed."""
        self.bytecode, self.reason = None, "the program has changed since it was set"

    def refresh(self):
        if self.bytecode is None and self.meaning is not None:
            self.attempt(self.compile_global)

    def addresses(self, breakpoint):
        """Where gdb puts it: addresses with gdb's numbers of the inferiors (None: any).
        None: not known."""
        if not hasattr(breakpoint, "locations"):  # gdb 12
            return [(self.target.address, None)] if self.bytecode else None
        return [(location.address, location.thread_groups)
                for location in breakpoint.locations
                if location.enabled and location.address is not None]

    def why_not(self, breakpoint):
        """Why it is left to gdb; None: it is not."""
        if breakpoint.type not in KINDS:
            return "it is a software watchpoint"
        if breakpoint.type == gdb.BP_READ_WATCHPOINT and is_x86():
            return "the processor cannot watch reads alone, so gdb compares values"
        if breakpoint.type == gdb.BP_ACCESS_WATCHPOINT:
            return "gdb has to see each change, to tell reads from writes"
        if self.bytecode is None:
            return self.reason
        if [address for address, _ in self.addresses(breakpoint)] != [self.target.address]:
            return "it is not at exactly one address"
        return None


class Watches:
    """All watchpoints, by gdb's numbers."""

    def __init__(self):
        self.known = {}
        for breakpoint in gdb.breakpoints():
            self.note(breakpoint, is_new=False)

    def note(self, breakpoint, is_new):
        """It is new, or something about it has changed."""
        if breakpoint.type not in KINDS and breakpoint.type != gdb.BP_WATCHPOINT:
            return
        state, watch = visible_state(breakpoint), self.known.get(breakpoint.number)
        if not watch:
            watch = self.known[breakpoint.number] = Watch(breakpoint, is_new)
            if is_new:
                watch.set_condition(breakpoint)
            elif breakpoint.condition:
                watch.condition = breakpoint.condition
                watch.reason = "it was there before truehit-gdb.py: set the condition again"
        # With nothing else changed, perhaps the same text was read in another frame.
        elif watch.condition != breakpoint.condition or watch.state == state:
            watch.set_condition(breakpoint)
        watch.state = state

    def forget(self, breakpoint):
        self.known.pop(breakpoint.number, None)

    def invalidate(self):
        for watch in self.known.values():
            watch.invalidate()

    def refresh(self):
        for watch in self.known.values():
            watch.refresh()

    def wanted(self, inferior):
        """What truehit has to know: (type, address, length): list of bytecodes. gdb
        puts one in for several that are equal: all of those have to be known."""
        wanted, unknown = {}, set()
        for breakpoint in gdb.breakpoints():
            watch = self.known.get(breakpoint.number)
            if not watch or breakpoint.type not in KINDS or not breakpoint.enabled:
                continue
            reason, places = watch.why_not(breakpoint), watch.addresses(breakpoint)
            if places is None:
                return {}
            for address, groups in places:
                if groups and inferior.num not in groups:
                    continue
                key = (KINDS[breakpoint.type], address)
                if reason:
                    unknown.add(key)
                else:
                    wanted.setdefault((*key, watch.target.length), []).append(watch.bytecode)
        return {key: codes for key, codes in wanted.items() if key[:2] not in unknown}


# ---- The server ----

class Servers:
    """Which connections lead to truehit, and what it has been told."""

    def __init__(self):
        self.knows = {}  # number of a connection: is it truehit?
        self.told = {}   # (that number, PID): what Watches.wanted() was

    @staticmethod
    def connection(inferior):
        """Its remote connection, or None."""
        connection = inferior.connection if inferior.pid else None
        if isinstance(connection, gdb.RemoteTargetConnection):
            return connection
        return None

    def met(self, inferior):
        """Is it known to be truehit already?"""
        connection = self.connection(inferior)
        return connection is not None and self.knows.get(connection.num, False)

    def is_truehit(self, inferior):
        """Asks once per connection."""
        connection = self.connection(inferior)
        if not connection:
            return False
        if connection.num not in self.knows:
            try:
                reply = connection.send_packet(PACKET)
            except (gdb.error, RuntimeError):  # it runs: another time
                return False
            self.knows[connection.num] = reply == b"OK"
        return self.knows[connection.num]

    def forget_connection(self, connection):
        self.knows.pop(connection.num, None)
        self.told = {key: told for key, told in self.told.items() if key[0] != connection.num}

    def forget_processes(self):
        """A process that ends or executes another program has nothing left."""
        self.told = {}

    def tell(self, inferior, wanted):
        """Hands over what has changed. Returns errors by key."""
        connection, process = self.connection(inferior), f"{PACKET}p{inferior.pid:x};"
        number, errors = (connection.num, inferior.pid), {}
        if number not in self.told:  # it may have conditions of the parent that forked it
            if self.send(connection, process) != "OK":
                return errors
            self.told[number] = {}
        told = self.told[number]
        for key in [*(key for key in told if key not in wanted), *wanted]:
            codes = wanted.get(key, [])
            if told.get(key, []) == codes:
                continue
            text = process + "{},{:x},{:x}".format(*key)
            if codes:
                text += ";" + "".join(f"X{len(code):x},{code.hex()}" for code in codes)
            reply = self.send(connection, text)
            if reply != "OK":
                errors[key] = reply
            elif codes:
                told[key] = codes
            else:
                told.pop(key, None)
        return errors

    def resume(self, inferior):
        """A command of the user's is about to resume threads: conditions of breakpoints
        hold while it only continues."""
        self.send(self.connection(inferior), f"{PACKET}p{inferior.pid:x};resume")

    def has_told(self, key):
        return any(key in told for told in self.told.values())

    @staticmethod
    def send(connection, text):
        try:
            return (connection.send_packet(text) or b"").decode(errors="replace")
        except (gdb.error, RuntimeError) as error:
            return str(error)


class Extension:
    """Hands conditions over when something has changed, and before each resume, which
    is when gdb puts watchpoints in."""

    def __init__(self):
        self.watches = Watches()
        self.breaks = Breaks()
        self.of_breaks = {}  # inferior: what Breaks.wanted() was at the last resume
        self.servers = Servers()
        self.counts = truehit_counts.Counts(self.servers, self.breaks)
        self.dprintfs = truehit_dprintf.Dprintfs(self.servers)
        self.errors = {}  # (type, address, length): why truehit does not take it
        events = gdb.events
        events.breakpoint_created.connect(lambda b: self.on_breakpoint(b, True))
        events.breakpoint_modified.connect(lambda b: self.on_breakpoint(b, False))
        events.breakpoint_deleted.connect(self.on_deleted)
        events.cont.connect(lambda event: self.on_resume())
        events.exited.connect(lambda event: self.on_exit())
        for name in ("clear_objfiles", "free_objfile"):  # the latter came with gdb 13
            if hasattr(events, name):
                getattr(events, name).connect(lambda event: self.on_program())
        events.connection_removed.connect(
            lambda event: self.servers.forget_connection(event.connection))

    def on_breakpoint(self, breakpoint, is_new):
        self.watches.note(breakpoint, is_new)
        self.breaks.note(breakpoint)
        self.counts.on_breakpoint(breakpoint)
        before = self.errors
        self.hand_over()
        for key, error in self.errors.items():
            if before.get(key) != error and self.servers.has_told(key):
                gdb.write(f"truehit goes by the former conditions at {key[1]:#x} until "
                          f"the next stop: {error.splitlines()[0]}\n")
        self.dprintfs.update()

    def on_deleted(self, breakpoint):
        self.watches.forget(breakpoint)
        self.breaks.forget(breakpoint)
        self.counts.on_deleted(breakpoint)
        self.hand_over()

    def on_resume(self):
        self.watches.refresh()
        self.of_breaks = {inferior.num: self.breaks.wanted(inferior)
                          for inferior in gdb.inferiors() if inferior.pid}
        self.hand_over()
        for inferior in gdb.inferiors():
            if self.of_breaks.get(inferior.num) and self.servers.met(inferior):
                self.servers.resume(inferior)
        self.counts.on_resume()
        self.dprintfs.update()

    def invalidate(self):
        """Nothing that was found out about the program is sure."""
        self.watches.invalidate()
        self.breaks.invalidate()
        self.of_breaks = {}
        self.servers.forget_processes()

    def on_exit(self):
        self.counts.on_exit()
        self.invalidate()

    def on_program(self):
        """Another program, or one library less: nothing known is sure. gdb is in the midst
        of forgetting it: a packet would have it lose track of which program that is."""
        self.invalidate()

    def hand_over(self):
        self.errors = {}
        for inferior in gdb.inferiors():
            wanted = {**self.watches.wanted(inferior),
                      **self.of_breaks.get(inferior.num, {})}
            if (wanted or self.servers.met(inferior)) and self.servers.is_truehit(inferior):
                self.errors.update(self.servers.tell(inferior, wanted))

    def describe(self, breakpoint):
        """Who decides a condition, for people; None: there is none, or gdb has sent it."""
        inferior = gdb.selected_inferior()
        if not inferior.pid:
            return None
        watch = self.watches.known.get(breakpoint.number)
        if not watch:
            return self.breaks.describe(breakpoint, inferior)
        if not breakpoint.condition:
            return None
        reason = watch.why_not(breakpoint)
        if not reason:
            address = watch.addresses(breakpoint)[0][0]
            key = (KINDS[breakpoint.type], address, watch.target.length)
            reason = self.errors.get(key)
        if reason:
            return f"gdb decides watchpoint {breakpoint.number}: {reason.splitlines()[0]}\n"
        return f"truehit decides watchpoint {breakpoint.number}, at {address:#x}\n"

    def describe_count(self, breakpoint):
        """Who counts what it ignores, for people; None: nothing is ignored."""
        inferior = gdb.selected_inferior()
        return self.counts.describe(breakpoint, inferior) if inferior.pid else None


if "EXTENSION" not in globals():  # sourcing it again is harmless
    truehit_counts.define()
    EXTENSION = Extension()
    truehit_commands.define(EXTENSION)
