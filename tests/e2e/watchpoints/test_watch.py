# SPDX-License-Identifier: BSD-2-Clause
"""Watchpoints."""
import os

import harness


def changes(t, commands, show, kind="watch", program="watch", start="main"):
    server = t.server("COMM", t.prog(program))
    gdb = t.gdb(server, f"break {start}", "continue", "delete", *commands, "info breakpoints",
                prog=t.prog(program), python=f'emit(stops=stops({show!r}))')
    t.match(f"hw watchpoint|read watchpoint|acc watchpoint", gdb.output())
    return [row[1:] for row in gdb.results[0]["stops"]], gdb


def test_write_sizes(t):
    for name, values in (("w1", "123"), ("w2", ("300", "600", "900")),
                         ("w4", ("70000", "140000", "210000")),
                         ("w8", [str(i << 33) for i in (1, 2, 3)])):
        got, _ = changes(t, [f"watch {name}"], [name if name != "w1" else "(int)w1"])
        t.equal([row[0] for row in got], list(values), f"values of {name} at the stops")


@harness.machines("main", "small")
def test_write_several(t):
    """Four at a time, each reported as itself."""
    got, gdb = changes(t, ["watch w1", "watch w2", "watch w4", "watch w8"],
                       ["(int)w1", "w2", "w4", "w8"])
    t.equal(len(got), 12, "number of stops")
    t.equal([row[0] for row in got], list("111122223333"), "w1 at the stops")
    for number, name in enumerate(("w1", "w2", "w4", "w8"), 2):
        t.match(f"Hardware watchpoint {number}: {name}", gdb.output())


@harness.machines("main")
def test_access(t):
    """Reads and writes stop."""
    got, gdb = changes(t, ["awatch w4"], ["w4"])
    t.equal([row[0] for row in got], ["70000", "140000", "210000", "210000"], "w4 at the stops")


def test_read(t):
    """x86 has no watchpoints for reads only: gdb takes accesses and compares."""
    got, gdb = changes(t, ["rwatch w8"], ["w8"])
    t.equal([row[0] for row in got], [str(3 << 33)], "w8 at the stops")


def test_array_element(t):
    got, _ = changes(t, ["watch array[2]"], ["array[2]"])
    t.equal(got, [["2"]], "array[2] at the stops")


@harness.machines("main")
def test_condition(t):
    """gdb evaluates this one itself."""
    got, _ = changes(t, ["watch w4 if w4 == 140000"], ["w4"])
    t.equal(got, [["140000"]], "w4 at the stops")


def test_local_goes_out_of_scope(t):
    server = t.server("COMM", t.prog("watch"))
    gdb = t.gdb(server, "break scoped", "continue", "watch local", "continue", "continue",
                "continue", "continue", "info breakpoints", prog=t.prog("watch"))
    output = gdb.output()
    t.match(r"New value = 6", output)
    t.match(r"New value = 12", output)
    t.match(r"Watchpoint 2 deleted because the program has left the block", output)
    t.match(r"in main \(\)|main \(\) at", output)


def test_pc_is_after_the_write(t):
    length, store = {"x86_64": (7, r"mov .*<w8>"), "aarch64": (4, r"str\s")}[os.uname().machine]
    server = t.server("COMM", t.prog("watch"))
    gdb = t.gdb(server, "break main", "continue", "delete", "watch w8", "continue",
                prog=t.prog("watch"), python=f"""
emit(written=value("w8"), previous=run("x/i $pc - {length}"))
""")
    got = gdb.results[0]
    t.equal(got["written"], str(1 << 33), "w8 at the stop")
    t.match(store, got["previous"])


def test_threads_that_write(t):
    """Every thread's write is seen, also of threads that were born after."""
    server = t.server("COMM", t.prog("threads"), "8", "20")
    gdb = t.gdb(server, "break worker", "continue", "delete", "break body", "continue",
                "delete", "watch *expected", "continue", prog=t.prog("threads"),
                python='emit(text=type(events.stop).__name__)')
    t.match(r"Hardware watchpoint", gdb.output())


def test_too_many(t):
    server = t.server("COMM", t.prog("watch"))
    gdb = t.gdb(server, "break main", "continue", "watch w1", "watch w2", "watch w4",
                "watch w8", "watch array[0]", "continue", "delete 6", "continue",
                prog=t.prog("watch"))
    t.match(r"Could not insert hardware watchpoint|Hardware watchpoint 2: w1|Insufficient",
            gdb.output())
    t.match(r"Hardware watchpoint 2: w1", gdb.output())


def test_with_software_single_step(t):
    """Stepping with a watchpoint in place reports the watchpoint once."""
    t.need_steps_over_watched()
    server = t.server("COMM", t.prog("watch"))
    gdb = t.gdb(server, "break main", "continue", "delete", "watch w2", "next", "next", "next",
                "next", "p w2", "delete", "continue", prog=t.prog("watch"))
    t.match(r"Hardware watchpoint 2: w2", gdb.output())
    t.match(r"\$1 = 300", gdb.output())
