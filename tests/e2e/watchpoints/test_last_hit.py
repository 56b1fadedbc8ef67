# SPDX-License-Identifier: BSD-2-Clause
"""`monitor last-hit`: the instruction that has made the access."""
import os

import harness
from test_rights import ordinary_user


def last_hit(t, function, what, before=(), command="watch"):
    t.truehit_only("monitor last-hit")
    server = t.server("COMM", t.prog("accesses"))
    gdb = t.gdb(server, f"break {function}", "continue", "delete", *before,
                f"{command} {what}", "continue", prog=t.prog("accesses"), python="""
emit(text=run("monitor last-hit"), again=run("monitor last-hit all"),
     address=value("(long)&(%s)"), threads=len(gdb.selected_inferior().threads()))
""" % what)
    t.note(gdb.results[0]["text"])
    return gdb.results[0]


def x86_hit(t, function, what, before=()):
    t.need_x86()
    return last_hit(t, function, what, before)


def check(t, text, *, function, insn, size, old, new):
    """The place, the instruction and its size, and both values."""
    t.match(rf"by +0x[0-9a-f]+ <{function}(\+0x[0-9a-f]+)?>: {insn}.* \({size}\)$", text,
            "the instruction")
    t.match(rf"old +0x[0-9a-f]+ = {old}$", text, "the old value")
    t.match(rf"new +0x[0-9a-f]+ = {new}$", text, "the new value")
    t.no_match("not certain", text)


def test_mov(t):
    got = x86_hit(t, "by_mov", "number")
    check(t, got["text"], function="by_mov", insn=r"movl? ", size="4 bytes", old=0, new=1)
    t.match(r"^watch \d+, 4 bytes at 0x[0-9a-f]+ <number>, thread \d+\.\d+ \"accesses\"$",
            got["text"])
    t.equal(got["again"], got["text"], "last-hit all, of one thread")


def test_xadd(t):
    got = x86_hit(t, "by_xadd", "counter")
    check(t, got["text"], function="by_xadd", insn="lock ", size="8 bytes", old=0, new=5)


def test_rep_stos(t):
    """The trap comes between two rounds: the PC is still at the instruction."""
    got = x86_hit(t, "by_rep_stos", "buffer[20]")
    check(t, got["text"], function="by_rep_stos", insn="rep stosb ", size="1 byte", old=0,
          new=ord("x"))


def test_push(t):
    got = x86_hit(t, "by_push", "stack[31]")
    check(t, got["text"], function="by_push", insn="pushq? ", size="8 bytes", old=0, new=7)


def test_call(t):
    """The thread is somewhere else already."""
    got = x86_hit(t, "by_call", "stack[15]")
    check(t, got["text"], function="by_call", insn="callq? ", size="8 bytes", old=0, new=r"\d+")


def test_read(t):
    t.need_kernel_conditions()
    got = x86_hit(t, "by_read", "number")
    t.match(r"by +system call read, which returns to 0x[0-9a-f]+ <.*read", got["text"])
    t.match(r"old +0x0*1 = 1$", got["text"], "the old value")
    t.match(r"new +0x0*2 = 2$", got["text"], "the new value")


def test_under_a_trap(t):
    """Breakpoints planted in the code are not seen."""
    t.need_steps_over_watched()
    got = x86_hit(t, "by_mov", "number", before=["break *by_mov+4", "break *by_mov"])
    check(t, got["text"], function="by_mov", insn=r"movl? ", size="4 bytes", old=0, new=1)


def test_signal_frame(t):
    t.need_x86()
    t.need_kernel_conditions()
    server = t.server("COMM", t.prog("calls_write"))
    gdb = t.gdb(server, "handle SIGUSR1 nostop noprint pass",
                f"break {t.line('calls_write.c', 'SIGNAL')}", "continue", "watch *below",
                "continue", prog=t.prog("calls_write"),
                python='emit(text=run("monitor last-hit"))')
    t.match("by +the kernel .* <on_signal>", gdb.results[0]["text"])


def test_debug_registers(t):
    """The same for a user without rights."""
    t.need_x86()
    t.truehit_only("monitor last-hit")
    server, prog = ordinary_user(t, program="accesses")
    gdb = t.gdb(server, "break by_mov", "continue", "delete", "watch number", "continue",
                prog=prog, python='emit(text=run("monitor last-hit"))')
    check(t, gdb.results[0]["text"], function="by_mov", insn=r"movl? ", size="4 bytes", old=0,
          new=1)


def test_reads(t):
    """Of a watchpoint without a filter there is the value now."""
    t.need_x86()
    got = last_hit(t, "by_xadd", "counter", command="awatch")
    t.match(r"^awatch .*\n  by +0x[0-9a-f]+ <by_xadd\+0x[0-9a-f]+>: lock .*\n  now +0x0*5 = 5$",
            got["text"])


def need_aarch64(t):
    if os.uname().machine != "aarch64":
        t.skip("traps before the access: aarch64")


@harness.machines("main", "on=aarch64")
def test_before_the_store(t):
    """The thread is at the instruction when it hits, after it when gdb shows it."""
    need_aarch64(t)
    got = last_hit(t, "by_mov", "number")
    t.match(r"by +0x[0-9a-f]+ <by_mov\+0x[0-9a-f]+>: str w\d+, \[x\d+.*\]$", got["text"])
    t.match(r"old +0x0*0 = 0$", got["text"], "the old value")


def test_before_the_access(t):
    """Of a watchpoint without a filter, too, there is the value before."""
    need_aarch64(t)
    got = last_hit(t, "by_mov", "number", command="awatch")
    t.match(r"^awatch .*\n  by +0x[0-9a-f]+ <by_mov.*>: str .*\n  old +0x0*0 = 0$", got["text"])


def test_nothing_yet(t):
    t.truehit_only("monitor last-hit")
    server = t.server("COMM", t.prog("accesses"))
    gdb = t.gdb(server, "monitor last-hit", prog=t.prog("accesses"))
    t.match("No watchpoint has been hit", gdb.output())
