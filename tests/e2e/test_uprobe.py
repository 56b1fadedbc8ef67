# SPDX-License-Identifier: BSD-2-Clause
"""Software breakpoints by uprobes: how many, where, and who else sees them."""
import os
import re

import harness
import rsp


def need_uprobes(t):
    t.need_x86()
    t.need_kernel_conditions()
    client = rsp.Client(t.server("COMM", t.prog("loop")))
    text = client.monitor("engines")
    client.close()
    if not re.search(r"^uprobe .*\n +usable", text, re.M):
        t.skip("no uprobes here")


def engines(text):
    """The engine of each location of `monitor breakpoints`."""
    return [re.search(r" (uprobe|perf_event|debugreg|int3) ", row["text"]).group(1)
            for row in harness.breakpoint_rows(text)]


PARTS, THREADS, ROUNDS = 200, 4, 40

# The half with even numbers at the functions' first instructions, which the kernel
# emulates, the others behind the prologues.
SET_PARTS = f"""
for n in range({PARTS}):
    condition = f"if (int)$rdi == {{n * 7 % {ROUNDS}}} && (int)$rsi == {{n % {THREADS}}}"
    run(f"break {{'' if n % 2 else '*'}}part{{n:03}} {{condition}}")
"""


def test_two_hundred_at_once(t):
    """Each stops exactly where and as often as computed."""
    need_uprobes(t)
    server = t.server("COMM", t.prog("many"), THREADS, ROUNDS)
    gdb = t.gdb(server, "set breakpoint always-inserted on", "break main", "continue",
                prog=t.prog("many"), python=SET_PARTS + """
run("break done")
found = []
while True:
    run("continue")
    if not alive() or gdb.selected_frame().name() == "done":
        break
    at = int(gdb.parse_and_eval("(unsigned long)$pc"))
    start = gdb.selected_frame().function().value()
    found.append([gdb.selected_frame().name(), at - int(start.address),
                  *(int(gdb.parse_and_eval(f"(int){r}")) for r in ("$rdi", "$rsi"))])
emit(found=sorted(found), table=run("monitor breakpoints"))
run("delete")
run("continue")
emit(status=events.exit_code)
""")
    stops, end = gdb.results
    behind = {row[1] for row in stops["found"] if int(row[0][4:]) % 2}
    t.equal(len(behind), 1, "places behind the prologues")
    t.equal(stops["found"],
            [[f"part{n:03}", n % 2 * min(behind), n * 7 % ROUNDS, n % THREADS]
             for n in range(PARTS)], "stops")
    rows = [row for row in harness.breakpoint_rows(stops["table"]) if "part" in row["text"]]
    t.equal(len(rows), PARTS, "breakpoints")
    t.equal({(row["hits"], row["true"], row["maybe"]) for row in rows},
            {(THREADS * ROUNDS, 1, 0)}, "counts")
    t.check(all(" uprobe " in row["text"] for row in rows), "all are uprobes")
    t.equal(end["status"], 0, "the program's status")
    t.equal(server.wait(), 0, "the server's status")
    plain = harness.Process(t, [t.prog("many"), THREADS, ROUNDS])
    plain.wait()
    t.match(re.escape(plain.output().strip()), server.output(), "the program's result")
