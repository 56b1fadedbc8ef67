# SPDX-License-Identifier: BSD-2-Clause
"""What the kernel leaves open is decided by the stub: rightly, and at little cost."""
import collections
import re

import harness

PAGES, PASSES = 64, 5  # of pages.c


def pages(t, condition, *options, before=()):
    """hbreak BODY if CONDITION, which never holds. Returns the counts and the server."""
    t.need_kernel_conditions()
    server = t.server(*options, "COMM", t.prog("pages"), PASSES)
    gdb = t.gdb(server, f"tbreak {t.line('pages.c', 'START')}", "continue", *before,
                f"hbreak {t.line('pages.c', 'BODY')} if {condition}",
                f"tbreak {t.line('pages.c', 'DONE')}", "continue", prog=t.prog("pages"),
                python="""
emit(table=run("monitor breakpoints"), threads=[th.ptid[1] for th in
     gdb.selected_inferior().threads()], now=gdb.selected_thread().ptid[1])
run("continue")
emit(code=events.exit_code)
""")
    result, end = gdb.results
    t.equal(end["code"], 0, "exit code")
    row = next(r for r in harness.breakpoint_rows(result["table"])
               if re.search(r"\bhbreak\b", r["text"]))
    t.note(row["text"])
    t.equal((row["hits"], row["true"]), (PAGES * PASSES, 0), "hits")
    return row, server, result


def test_an_evaluation_brings_the_page_in(t):
    """Each page costs one visit to the stub; later hits are decided in the kernel."""
    row, _, _ = pages(t, "anonymous[page * 4096] == 9")
    t.equal(row["maybe"], PAGES, "hits that were left open")


def test_pages_of_a_file(t):
    """The kernel may bring in several at a time."""
    row, _, _ = pages(t, "file[page * 4096] == 99")
    t.check(1 <= row["maybe"] <= PAGES, f"hits that were left open: {row['maybe']}")


def test_other_threads_run_on(t):
    """Whatever is left open stops the thread that asks, and nobody else."""
    t.need_x86()
    row, server, result = pages(t, "$fs_base == page", "--debug=inferior")
    t.equal(row["maybe"], PAGES * PASSES, "hits that were left open")
    log = server.output()
    stops = collections.Counter(re.findall(r"\b(\d+): event signal", log))
    hitting = result["now"]
    others = [tid for tid in result["threads"] if tid != hitting]
    t.equal(len(others), 1, "other threads")
    t.check(stops[str(hitting)] >= row["maybe"], f"stops of the thread that asks: {stops}")
    ends = re.findall(rf"\b{others[0]}: (?:continue|step)", log)
    t.check(len(ends) < 10, f"the other thread was resumed {len(ends)} times")


def test_a_store_to_a_page_that_was_not_there(t):
    """Before it, the client sees what was there, and it is executed once."""
    t.need_kernel_conditions()
    t.need_x86()
    server = t.server("COMM", t.prog("fresh"))
    gdb = t.gdb(server, "monitor set engine uprobe", "break *at_variable if $rsp != 0",
                "break *at_frame if $rsp != 0", "continue", prog=t.prog("fresh"), python="""
table = run("monitor breakpoints")
counter = [value("fresh.counter")]
run("stepi")
counter.append(value("fresh.counter"))
run("continue")
frame = [value("(int)frame[8]")]
run("stepi")
frame.append(value("(int)frame[8]"))
run("continue")
emit(table=table, counter=counter, frame=frame)
""")
    result = gdb.results[0]
    t.equal(len(re.findall(r" to_\w+\+\w+ +uprobe +kernel ", result["table"])), 2, "uprobes")
    t.equal((result["counter"], result["frame"]), (["0", "5"], ["0", "7"]), "before and after")
    t.match("7 5", server.output())


def test_a_watched_write_where_the_kernel_left_a_condition_open(t):
    """The breakpoint's condition is false, the watchpoint's stop is after the write."""
    t.need_kernel_conditions()
    t.need_x86()
    t.need_steps_over_watched()
    server = t.server(t.prog("accesses"))
    gdb = t.gdb(server, "monitor set engine uprobe", "break *by_mov", "continue", prog=t.prog("accesses"), python="""
frame = gdb.selected_frame()
code = frame.architecture().disassemble(frame.pc(), frame.pc() + 14)
place = next(i for i in code if "number" in i["asm"] or "$0x1" in i["asm"])
run("delete")
run("set variable number = 0")
run(f"break *{place['addr']} if $ds == 1")
run("watch number")
run("continue")
emit(after=gdb.selected_frame().pc() - place["addr"] - place["length"], number=int(value("number")),
     table=run("monitor breakpoints"))
run("kill")
""")
    result = gdb.results[0]
    t.note(result["table"])
    t.equal((result["after"], result["number"]), (0, 1), "where it is, the value")
    rows = harness.breakpoint_rows(result["table"])
    counts = [(r["hits"], r["true"], r["maybe"]) for r in rows
              if re.search(r" by_mov| number", r["text"])]
    t.equal(counts, [(1, 0, 1), (1, 1, 0)], "hits of the breakpoint and the watchpoint")


def test_registers_of_the_kernel(t):
    """Those that it has, narrow ones too, leave nothing open; of others, it is told."""
    t.need_x86()
    row, _, _ = pages(t, "(int)$eflags == 1 || $cs == 1 || $ss == 1 || $orig_rax == 1")
    t.equal(row["maybe"], 0, "hits that were left open")
    row, _, _ = pages(t, "$ds == 1")
    t.match(r"reads \$ds", row["text"])


def test_a_trap_elsewhere(t):
    """A trap in the program and one in the dynamic linker: what lies between them is
    read in the kernel."""
    row, _, _ = pages(t, "counted == 0", before=["break map_file"])
    t.equal(row["maybe"], 0, "hits that were left open")


def nested(depth):
    return "".join(f"(i + {n} + " for n in range(depth)) + "0" + ")" * depth


def test_more_than_the_kernel_takes(t):
    """Too deep or too long for a program in the kernel: the stub evaluates."""
    t.need_kernel_conditions()
    for condition in (f"{nested(75)} % 7 == 3", f"{nested(300)} % 7 == 3", " + ".join(["g_s64 * i"] * 700) + " > 5"):
        found = []
        for mode in "host", "target":
            server = t.server("COMM", t.prog("conditions"))
            gdb = t.gdb(server, f"set breakpoint condition-evaluation {mode}",
                        f"hbreak {t.line('conditions.c', 'BODY')} if {condition}",
                        prog=t.prog("conditions"), python="""
emit(stops=stops(["i"]))
""")
            found.append([row[1] for row in gdb.results[0]["stops"]])
        t.check(5 < len(found[0]) < 60, f"{len(found[0])} stops")
        t.equal(found[1], found[0], f"stops of {condition[:40]}...")
