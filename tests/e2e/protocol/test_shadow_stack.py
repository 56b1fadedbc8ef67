# SPDX-License-Identifier: BSD-2-Clause
"""Programs with a shadow stack (x86_64: CET), whose pointer gdb 17 and later want."""
import re
import subprocess

import harness
import rsp


def has_shadow_stacks(t):
    return subprocess.run([t.prog("shadow")], check=False).returncode != 77


def need_shadow_stacks(t):
    t.need_x86()
    if not has_shadow_stacks(t):
        raise harness.Skip("no shadow stacks for programs: the processor or the kernel has none")


def test_description(t):
    """The register is in it where programs can have a shadow stack, and nowhere else."""
    t.need_x86()
    client = rsp.Client(t.server("COMM", t.prog("shadow")))
    client.ask("qSupported:xmlRegisters=i386")
    text = part = "m"
    while part.startswith("m"):
        part = client.ask(f"qXfer:features:read:target.xml:{len(text) - 1:x},1000")
        text += part[1:]
    t.match("org.gnu.gdb.i386.core", text)
    t.equal("pl3_ssp" in text, has_shadow_stacks(t), "pl3_ssp in the description")


def test_pointer(t):
    """It points to what the stack pointer does: where the function returns to. A thread
    has none before."""
    need_shadow_stacks(t)
    gdb = t.gdb(t.server("COMM", t.prog("shadow")), "break main", "continue",
                "print $pl3_ssp", "break *work", "continue",
                prog=t.prog("shadow"), python="""
emit(shadow=value("*(long *) $pl3_ssp"), stack=value("*(long *) $sp"))
""")
    t.match(r"\$1 = <unavailable>", gdb.output())
    t.equal(gdb.results[0]["shadow"], gdb.results[0]["stack"], "the return address")


def test_calls(t):
    """gdb calls functions in the program, whose returns the processor compares."""
    need_shadow_stacks(t)
    gdb = t.gdb(t.server("COMM", t.prog("shadow")), "break work", "continue",
                prog=t.prog("shadow"), python="""
import gdb
emit(version=gdb.VERSION, result=run("print twice(21)"), end=run("continue") + run("continue"))
""")
    result = gdb.results[0]
    if int(re.match(r"\D*(\d+)", result["version"]).group(1)) < 17:
        raise harness.Skip("this gdb does not know shadow stacks")
    t.match(r"= 42$", result["result"].strip())
    t.match(r"exited with code 010", result["end"])
