# SPDX-License-Identifier: BSD-2-Clause
"""A million hits of a watchpoint that end in the kernel, and the one that does not."""
import harness
from test_extension import SCRIPT
from test_watch_filter import check_loop, values


def test_writes_that_change_nothing(t):
    t.need_kernel_conditions()
    counts = check_loop(t, 1000000)
    t.counted(counts, false=1000000)


def test_changes_that_are_false(t):
    """The old value at the stop is that of the change before, which truehit alone saw."""
    t.need_kernel_conditions()
    server = t.server("COMM", t.prog("watched"), "1000000")
    gdb = t.gdb(server, "break main", "continue", "delete",
                "watch counter if counter == 999999", prog=t.prog("watched"),
                first=[f"source {SCRIPT}"], python="""
run("continue")
emit(counter=value("counter"), hits=[b.hit_count for b in gdb.breakpoints()],
     table=run("monitor breakpoints"))
run("continue")
emit(exit=events.exit_code)
""")
    stop, end = gdb.results
    t.equal((stop["counter"], stop["hits"]), ("999999", [1]), "the stop")
    t.equal(values(gdb), [("999998", "999999")], "old and new values")
    t.equal(end["exit"], 0, "the end, without another stop")
    row = next(r for r in harness.breakpoint_rows(stop["table"]) if " watch " in r["text"])
    t.counted(row, false=999998)
