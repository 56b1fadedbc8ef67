# SPDX-License-Identifier: BSD-2-Clause
"""`truehit accesses`: who accesses a variable, and what becomes of it, counted."""
import re

import gdb

from truehit_conditions import FAILURES, assemble, capture, compile_expression, local_names
from truehit_running import go_on, monitor, need_truehit

FUNCTION_MAX = 1 << 16  # bytes of a function that are disassembled
REFERENCES = gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF

# What `monitor accesses` prints (gdbstub/monitor/access_log.h).
TABLE = re.compile(r"^(\d+) (accesses|writes) of \d+ bytes? at 0x\w+ in process \d+(.*)\n"
                   r"((?: .*\n)*)", re.M)
ROW = re.compile(r" *(\d+)  thread (\d+)\.(\d+) at (0x\w+) (by|after) (0x\w+)(.*)")
CHANGE = re.compile(r" *(\d+)  (?:(\S+) -> (\S+)|others)")


class Target:
    """What is watched."""

    def __init__(self, text):
        try:
            value = gdb.parse_and_eval(text)
        except gdb.error as error:
            raise gdb.GdbError(f"{text}: {error}") from None
        if value.type.code in REFERENCES:
            value = value.referenced_value()
        if value.address is None:
            raise gdb.GdbError(f"{text} is not in memory.")
        self.text, self.type = text, value.type
        self.address, self.length = int(value.address), value.type.sizeof

    def show(self, number, address):
        """A value, as the server tells it; of a part of the whole, a number."""
        if number == "?" or address != self.address or self.length not in (1, 2, 4, 8):
            return number
        data = int(number, 16).to_bytes(self.length, "little")
        try:
            return gdb.Value(data, self.type).format_string()
        except (gdb.error, TypeError):
            return number


def bytecode(condition):
    """In hex digits."""
    try:
        block = gdb.selected_frame().block()
    except (gdb.error, RuntimeError):
        block = None
    names = local_names(condition, block)
    if names:
        raise gdb.GdbError(f"{names[0]} is another one in each thread that makes an access, "
                           "or is none: a condition has globals and registers.")
    try:
        return assemble(compile_expression(condition)).hex()
    except FAILURES as error:
        raise gdb.GdbError(f"The condition is not for the kernel: {error}") from None


# ---- what is shown ----

def function_offset(address):
    """Name of the function, and how far the address is from its start; None: none."""
    match = re.match(r"(\S.*?)(?: \+ (\d+))? in section ", capture(f"info symbol {address:#x}"))
    return match and (match[1], int(match[2] or 0))


def instruction_before(pc):
    """Its address, by all that are before it in the function; None: it is not known."""
    found = function_offset(pc - 1)
    if not found or found[1] > FUNCTION_MAX:
        return None
    try:
        insns = gdb.selected_inferior().architecture().disassemble(pc - 1 - found[1], pc - 1)
    except gdb.error:
        return None
    if insns and insns[-1]["addr"] + insns[-1]["length"] == pc:
        return insns[-1]["addr"]
    return None


def describe(address):
    """Symbol, line, and what is there."""
    words, found = [f"{address:#x}"], function_offset(address)
    if found:
        words.append(f"<{found[0]}+{found[1]}>")
    line = gdb.find_pc_line(address)
    if line.symtab and line.line:
        words.append(f"at {line.symtab.filename}:{line.line}")
    try:
        asm = gdb.selected_inferior().architecture().disassemble(address)[0]["asm"]
    except gdb.error:
        return " ".join(words)
    return " ".join(words) + ": " + re.sub(r"\s+", " ", asm)


def place(how, address, rest, is_gone):
    """As gdb knows it; of a program that gdb has no more, as the server does."""
    if is_gone:
        return f"{how} {address:#x}{rest}"
    insn = address if how == "by" else instruction_before(address)
    return f"by {describe(insn)}" if insn else f"after {describe(address)}"


def thread_name(pid, tid):
    for inferior in gdb.inferiors():
        for thread in inferior.threads():
            if thread.ptid[0] == pid and thread.ptid[1] == tid:
                return f"thread {thread.num} (LWP {tid})"
    return f"LWP {tid} (which has ended)"


def show(target, table, out):
    """The server's table, with what gdb knows of it."""
    total, kind, ended, lines = table.groups()
    is_gone = "executed" in ended  # gdb has the symbols of the other program
    where = f", in a process{ended[1:]}" if ended else ""
    out(f"{total} {kind} of {target.text}, {target.length} byte"
        f"{'s' if target.length > 1 else ''} at {target.address:#x}{where}\n")
    address = target.address
    for line in lines.splitlines():
        row, change = ROW.fullmatch(line), CHANGE.fullmatch(line)
        if row:
            address = int(row[4], 16)
            part = f" at +{address - target.address}" if address != target.address else ""
            where = place(row[5], int(row[6], 16), row[7], is_gone)
            out(f"{row[1]:>10} {100 * int(row[1]) / int(total):5.1f} %  "
                f"{thread_name(int(row[2]), int(row[3]))}{part} {where}\n")
        elif change and change[2]:
            out(f"{change[1]:>22}  {target.show(change[2], address)} -> "
                f"{target.show(change[3], address)}\n")
        else:
            out(f"{change[1]:>22}  others\n" if change else line + "\n")


# ---- the command ----

class Accesses(gdb.Command):
    """Count all accesses of all threads to a variable, without stopping at them.
Usage: truehit accesses [-w] EXPRESSION [SECONDS] [if CONDITION]

The program goes on for so long (1 second), or until something else stops it; then there is
a table of who made the accesses, the most frequent first: how many, the thread, the
instruction, and what was there before them and after them. With -w it has writes only.
EXPRESSION is an object in memory of up to four aligned parts of up to 8 bytes, each of
which takes a breakpoint register. CONDITION is about globals and registers, as they are
after the access (aarch64: before it). System calls make no accesses here."""
    USAGE = "[-w] EXPRESSION [SECONDS] [if CONDITION]"

    def __init__(self, servers):
        self.servers = servers
        super().__init__("truehit accesses", gdb.COMMAND_RUNNING, gdb.COMPLETE_EXPRESSION)

    def parse(self, argument):
        match = re.fullmatch(r"(-w\s+)?((?!-w\b|if\b).+?)(?:\s+(\d+(?:\.\d+)?))?"
                             r"(?:\s+if\b\s*(.+))?", argument.strip())
        if not match:
            raise gdb.GdbError(f"truehit accesses: expected {self.USAGE}")
        writes, text, seconds, condition = match.groups()
        return "write" if writes else "access", text, float(seconds or 1), condition

    def invoke(self, argument, from_tty):
        kind, text, seconds, condition = self.parse(argument)
        need_truehit(self.servers)
        target = Target(text)
        code = bytecode(condition) if condition else ""
        monitor(self.servers, f"accesses {kind} {target.address:#x} {target.length} {code}")
        try:
            text = go_on(seconds)
        except BaseException:
            self.end()
            raise
        table = TABLE.search(text) or TABLE.search(self.end())
        gdb.write(TABLE.sub("", text))
        if not table:
            raise gdb.GdbError("What truehit has counted is lost.")
        show(target, table, gdb.write)

    def end(self):
        """What it has counted; nothing if the connection has ended."""
        try:
            return capture("monitor accesses off")
        except gdb.error:
            return ""
