# SPDX-License-Identifier: BSD-2-Clause
"""doc/guide.md: what gdb prints in its sessions is what the page shows."""
import os
import re
import shutil
import subprocess

import harness
import machine

PAGE = harness.ROOT / "doc" / "guide.md"
BLOCK = re.compile(r"^```gdb( registers)?\n(.*?)^```$", re.M | re.S)
# Of threads that come and go, and of files that gdb reads.
VARYING = re.compile(r"^(\[New |\[Switching |\[Thread |Reading |warning: File transfers).*\n", re.M)
MARK = "@@ next command @@"


class Session:
    """What is typed after one start of the server, and what is printed for each line."""

    def __init__(self, needs_registers):
        self.needs_registers = needs_registers
        self.steps = []  # [command, the lines after it]


def sessions(text):
    found = []
    for needs_registers, block in BLOCK.findall(text):
        for line in block.splitlines():
            if line.startswith("$ truehit "):
                found.append(Session(bool(needs_registers)))
            elif line.startswith("(gdb) "):
                found[-1].steps.append([line[len("(gdb) "):], []])
            else:
                found[-1].steps[-1][1].append(line)
    return found


def pattern(lines):
    """A line of "..." is any lines, also none; within a line it is any text."""
    parts = [r"(?:.*\n)*?" if line == "..." else
             ".*?".join(re.escape(part) for part in line.split("...")) + "\n" for line in lines]
    return re.compile("".join(parts))


def play(t, session, program):
    """What gdb prints after each command."""
    server = t.server("COMM", program, cwd=t.dir)
    address = {"target remote :1234": f"target remote {server.address}",
               "source truehit-gdb.py": f"source {harness.ROOT}/scripts/truehit-gdb.py"}
    script = t.dir / f"commands-{len(t.processes)}"
    script.write_text("".join(f"{address.get(command, command)}\necho {MARK}\\n\n"
                              for command, _ in session.steps))
    with open(script, "rb") as commands:
        gdb = harness.Process(
            t, [t.config.gdb, *harness.GDB_OPTIONS, "-iex", "set width 0", "-iex",
                "set height 0", "-iex", "set confirm off", "-iex", "set sysroot", "-iex",
                "set remotetimeout 60", program],
            env=dict(os.environ, LC_ALL="C", TERM="dumb"), stdin=commands, cwd=t.dir)
    gdb.wait(harness.GDB_LIMIT)
    text = gdb.output().replace(server.address, ":1234").replace("(gdb) ", "")
    parts = VARYING.sub("", text).split(MARK + "\n")
    return [re.sub(r"^Reading symbols from .*\n", "", part) for part in parts]


def test_guide(t):
    t.truehit_only("its own guide")
    t.need_any_engine("a page that shows what users see")
    t.need_kernel_conditions()
    if os.uname().machine != "x86_64":
        t.skip("the page was written on x86_64")
    t.need_tool("cc")
    shutil.copy(harness.ROOT / "examples" / "accounts.c", t.dir)
    subprocess.run(["cc", "-g", "accounts.c", "-o", "accounts", "-pthread"], cwd=t.dir, check=True)
    for number, session in enumerate(sessions(PAGE.read_text(encoding="utf-8")), 1):
        if session.needs_registers and not machine.breakpoint_registers_fire():
            t.note(f"session {number} is left out: {machine.NO_REGISTERS}")
            continue
        for (command, wanted), printed in zip(session.steps, play(t, session, "./accounts")):
            if not pattern(wanted).fullmatch(printed):
                t.check(False, f"session {number}, {command}: gdb prints\n{printed}\n"
                               "where the page has\n" + "\n".join(wanted))
