# SPDX-License-Identifier: BSD-2-Clause
"""Tags of memory (Arm MTE), as gdb shows and sets them."""
import subprocess

import rsp


def need_tags(t):
    if subprocess.run([t.prog("tags")], check=False).returncode == 77:
        t.skip("this processor has no tags of memory")


def at_stop(t, *commands):
    server = t.server("COMM", t.prog("tags"))
    return t.gdb(server, f"break {t.line('tags.c', 'STOP')}", "continue", *commands,
                 prog=t.prog("tags"))


def test_read(t):
    need_tags(t)
    gdb = at_stop(t, "memory-tag print-allocation-tag memory",
                  "memory-tag print-allocation-tag memory + 31", "p/x $tag_ctl & 1")
    t.match(r"\$1 = 0x3$", gdb.output(), "the first")
    t.match(r"\$2 = 0x7$", gdb.output(), "the second")
    t.match(r"\$3 = 0x1$", gdb.output(), "tagged addresses")


def test_write(t):
    """Two granules, the second by a part of it."""
    need_tags(t)
    gdb = at_stop(t, "memory-tag set-allocation-tag memory+8 16 05",
                  "memory-tag print-allocation-tag memory + 16", "continue")
    t.match(r"\$1 = 0x5$", gdb.output(), "the second")
    t.match(r"exited with code 012\]", gdb.output(), "both, as the program sees them")


def test_where_there_are_none(t):
    """Of memory without tags, or of none; of a type that nobody knows."""
    need_tags(t)
    t.truehit_only("the texts")
    client = rsp.Client(t.server("COMM", t.prog("tags")))
    t.match("memory-tagging[+]", client.ask("qSupported"))
    stack = int.from_bytes(bytes.fromhex(client.ask("p1f")), "little")
    t.match("^E.no tags at 0x[0-9a-f]+0 .is there.*: ", client.ask(f"qMemTags:{stack:x},1:1"))
    t.match("^E.no tags at 0x10 ", client.ask("qMemTags:1f,20:1"))
    t.match("^E.no tags at 0x10 ", client.ask("QMemTags:10,20:1:0102"))
    t.match("^E.no tags of type 0", client.ask(f"qMemTags:{stack:x},1:0"))
    t.match("^E.QMemTags: no tags", client.ask(f"QMemTags:{stack:x},1:1:"))
    t.match("^E.more than", client.ask("qMemTags:ffffffffffffffff,10:1"))
    t.equal(client.ask(f"qMemTags:{stack:x},0:1"), "m", "none at all")


def test_processor_without(t):
    t.truehit_only("the reply")
    client = rsp.Client(t.server("COMM", t.prog("calls")))
    if "memory-tagging+" in client.ask("qSupported"):
        t.skip("this processor has tags of memory")
    t.equal(client.ask("qMemTags:1000,10:1"), "", "qMemTags")
    t.equal(client.ask("QMemTags:1000,10:1:01"), "", "QMemTags")
