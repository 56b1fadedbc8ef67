# SPDX-License-Identifier: BSD-2-Clause
"""Restartable sequences (rseq(2)): no breakpoint in one makes a program lose what it
counts, and each hit is told where it was made."""
import os
import re
import subprocess

import harness

# One sequence is described in the ELF section __rseq_cs, the other is not.
PROGS = "rseq", "rseq-hidden"
THREADS = len(os.sched_getaffinity(0)) + 2
SLOTS = 4
COUNTED = r"^wanted (\d+), counted (\d+), otherwise (\d+), restarted (\d+)"


def need_sequences(t):
    t.need_x86()
    if subprocess.run([t.prog("rseq"), "1", "1"], check=False,
                      stdout=subprocess.DEVNULL).returncode == 2:
        t.skip("no restartable sequences here (glibc registers them since 2.35)")


def need_kernel_filter(t):
    need_sequences(t)
    t.need_kernel_conditions()


def check_counted(t, output):
    """How often the kernel has begun a sequence anew."""
    wanted, counted, _, restarted = map(int, t.match(COUNTED, output).groups())
    t.equal(counted, wanted, "increments")
    return restarted


def row_of(table, place):
    rows = harness.breakpoint_rows(table)
    return next(row for row in rows if f" {place} " in row["text"])


def check_false_hits(t, prog, kind, place, engine, served, rounds=6000):
    server = t.server("COMM", t.prog(prog), THREADS, rounds)
    gdb = t.gdb(server, f"monitor set engine {engine}", f"{kind} *&{place} if $r8 == 0",
                "break done", "continue", prog=t.prog(prog), python=f"""
address = int(gdb.parse_and_eval("(long)&{place}"))
emit(table=run("monitor breakpoints"), told=run(f"monitor explain *{{address:#x}}"))
run("delete")
run("continue")
""")
    check_counted(t, server.output())
    row = row_of(gdb.results[0]["table"], place)
    t.match(rf" {served} ", row["text"], "the engine")
    t.check(row["hits"] >= THREADS * rounds, "each increment is a hit")
    t.equal(row["true"], 0, "true hits")
    # A slot is worth two hits (choice.c): with less than that, the choice comes to a uprobe
    # and turns away from it. Costs are shown rounded.
    costs = re.search(r"costs ([\d.]+) us by a uprobe.* in hardware ([\d.]+) us", gdb.results[0]["told"])
    by_costs = costs and float(costs.group(1)) > 1.9 * float(costs.group(2))
    if kind == "break" and (engine == "uprobe" or (engine == "auto" and not by_costs)):
        t.match("restartable sequence", gdb.results[0]["told"], "why")


def test_false_hits(t):
    """The kernel, which executes what has a uprobe elsewhere, would not begin the
    sequence anew."""
    t.need_breakpoint_registers()
    need_kernel_filter(t)
    for prog in PROGS:
        for engine in "auto", "uprobe":
            check_false_hits(t, prog, "break", "seq_middle", engine, "perf_event")


def test_false_hits_of_hardware(t):
    need_kernel_filter(t)
    check_false_hits(t, "rseq", "hbreak", "seq_commit", "auto", "perf_event")


def test_false_hits_where_the_kernel_emulates(t):
    t.need_breakpoint_registers()
    need_kernel_filter(t)
    for prog in PROGS:
        check_false_hits(t, prog, "break", "seq_jump", "uprobe", "perf_event")


def check_true_hits(t, prog, kind, place, engine):
    """The kernel has often begun the sequence anew before it delivers the stop's signal:
    the thread is put back all the same."""
    server = t.server("COMM", t.prog(prog), THREADS, 200)
    gdb = t.gdb(server, f"monitor set engine {engine}",
                f"{kind} *&{place} if $r8 % 20 == 7 && $r9 == 0", "break done", "continue",
                prog=t.prog(prog), python=f"""
def parse(text):
    return int(gdb.parse_and_eval(text))
place, found = parse("(long)&{place}"), []
while gdb.selected_frame().name() != "done":
    found.append([parse("$pc") - place, parse("$r8") % 20, parse("$r9"),
                  gdb.selected_thread().num, parse("$r8")])
    run("continue")
emit(stops=found, table=run("monitor breakpoints"))
run("delete")
run("continue")
""")
    check_counted(t, server.output())
    stops = gdb.results[0]["stops"]
    row = row_of(gdb.results[0]["table"], place)
    t.check(stops, "there are true hits")
    t.equal({tuple(stop[:3]) for stop in stops}, {(0, 7, 0)}, "PC, r8, r9 at the stops")
    t.equal(len({tuple(stop[3:]) for stop in stops}), len(stops), "each is told once")
    if engine != "ptrace":  # a maybe, which the stub has found true, is one more
        t.check(row["true"] <= len(stops) <= row["true"] + row["maybe"],
                f"{len(stops)} stops of {row}")


def test_true_hits(t):
    t.need_breakpoint_registers()
    need_kernel_filter(t)
    for prog in PROGS:
        for kind, engine in ("break", "auto"), ("break", "uprobe"), ("hbreak", "auto"):
            check_true_hits(t, prog, kind, "seq_middle", engine)


def test_accesses(t):
    """The access is after the thread, which is in the sequence still: told where it is,
    and not where the kernel has sent it since."""
    need_sequences(t)
    server = t.server("COMM", t.prog("rseq"), 2, 15, 2)
    gdb = t.gdb(server, "break done", "awatch counters[0].count", "awatch counters[1].count",
                "continue", prog=t.prog("rseq"), python="""
places = {int(gdb.parse_and_eval(f"(long)&{name}")): name for name in
          ("seq_middle", "seq_end")}
found = []
while gdb.selected_frame().name() == "count_one":
    found.append(places.get(int(gdb.parse_and_eval("$pc"))))
    run("continue")
emit(stops=found)
run("delete")
run("continue")
""")
    check_counted(t, server.output())
    t.check(gdb.results[0]["stops"], "there are stops")
    t.check(set(gdb.results[0]["stops"]) <= {"seq_middle", "seq_end"},
            f"places of the stops: {gdb.results[0]['stops']}")


def test_watch(t):
    """The store that ends the sequence: the thread is after it, and begins nothing anew.
    (Of several changes before gdb has looked, it shows the last.)"""
    need_sequences(t)
    server = t.server("COMM", t.prog("rseq"), THREADS, 20)
    gdb = t.gdb(server, "break done", "watch counters[0].count", "continue",
                prog=t.prog("rseq"), python="""
end, found, places = int(gdb.parse_and_eval("(long)&seq_end")), [], set()
while gdb.selected_frame().name() != "done":
    found.append(int(gdb.parse_and_eval("counters[0].count")))
    places.add(int(gdb.parse_and_eval("$pc")) - end)
    run("continue")
emit(values=found, places=list(places), last=int(gdb.parse_and_eval("counters[0].count")))
run("delete")
run("continue")
""")
    check_counted(t, server.output())
    result = gdb.results[0]
    t.equal(result["values"], sorted(set(result["values"])), "values")
    t.equal(result["values"][-1:], [result["last"]][:len(result["values"])], "the last one")
    t.check(set(result["places"]) <= {0}, f"places of the stops: {result['places']}")


def test_new_thread_between_hits(t):
    """The first hit moves the location; a new thread may come before the server has seen
    the stop of the second one."""
    t.need_breakpoint_registers()
    need_kernel_filter(t)
    for _ in range(8):
        server = t.server("COMM", t.prog("rseq-hidden"), 7, 300, 0, 200)
        t.gdb(server, "monitor set engine uprobe",
              "break *&seq_middle if $r8 == 1 && $r9 > 99", "break done", "continue",
              "delete", "continue", prog=t.prog("rseq-hidden"))
        check_counted(t, server.output())


def test_steps(t):
    """A step within a sequence makes it begin anew, as with gdbserver: it ends after the
    first instruction of the abort handler."""
    t.need_breakpoint_registers()
    need_kernel_filter(t)
    for prog in PROGS:
        for kind in "break", "hbreak":
            server = t.server("COMM", t.prog(prog), THREADS, 300)
            gdb = t.gdb(server, "monitor set engine uprobe",
                        f"{kind} *&seq_middle if $r8 % 50 == 3 && $r9 < 3", "break done",
                        "continue", prog=t.prog(prog), python="""
first, last = (int(gdb.parse_and_eval(f"(long)&{name}")) for name in
               ("seq_start", "seq_end"))
found = []
while gdb.selected_frame().name() != "done":
    run("set scheduler-locking on")
    for _ in range(3):
        run("stepi")
        found.append(first <= int(gdb.parse_and_eval("$pc")) < last)
    run("set scheduler-locking off")
    run("continue")
emit(inside=found)
run("delete")
run("continue")
""")
            check_counted(t, server.output())
            t.check(gdb.results[0]["inside"], "there are steps")
            t.check(not any(gdb.results[0]["inside"]), "each step leaves the sequence")


def test_without_a_slot(t):
    """A thread that stops begins the sequence anew: so does each false hit, as with
    gdbserver, and the user is told."""
    need_kernel_filter(t)
    server = t.server("COMM", t.prog("rseq"), 2, 10, 3)
    gdb = t.gdb(server, *(f"hbreak *{n}" for n in range(1, SLOTS + 1)),
                "break *&seq_middle if $r8 == 0", "break done", "continue",
                prog=t.prog("rseq"), python=f"""
emit(table=run("monitor breakpoints"), told=run("monitor explain {SLOTS + 1}"))
run("delete")
run("continue")
""")
    check_counted(t, server.output())
    row = row_of(gdb.results[0]["table"], "seq_middle")
    t.match(" int3 ", row["text"], "the engine")
    t.check(row["hits"] >= 2 * 10 * 3, "each try is a hit")
    t.match("begins anew", gdb.results[0]["told"], "the explanation")
    t.match("warning|begins anew", server.output(), "the server's warning")


def test_keeps_its_slot(t):
    """It has no other choice, as hardware breakpoints have none."""
    need_kernel_filter(t)
    server = t.server("COMM", t.prog("rseq"), 2, 500)
    gdb = t.gdb(server, "break *&seq_middle if $r8 == 0", "break done",
                *(f"hbreak *{n}" for n in range(1, SLOTS)), "continue",
                prog=t.prog("rseq"), python="""
emit(table=run("monitor breakpoints"))
run("delete")
run("continue")
""")
    check_counted(t, server.output())
    t.match(" perf_event ", row_of(gdb.results[0]["table"], "seq_middle")["text"], "engine")


def test_takes_a_slot(t):
    """Those that are as exact without one give one to it, though they were first."""
    t.need_breakpoint_registers()
    need_kernel_filter(t)
    # gdb inserts by address.
    others = "_init", "_start", "frame_dummy", "count_one"
    server = t.server("COMM", t.prog("rseq"), 2, 500)
    gdb = t.gdb(server, "monitor set engine hardware",
                *(f"break *&{place} if $r8 == -1" for place in others),
                "tbreak main", "continue", "break *&seq_middle if $r8 == 0", "break done",
                "continue", prog=t.prog("rseq"), python="""
emit(table=run("monitor breakpoints"))
run("delete")
run("continue")
""")
    check_counted(t, server.output())
    table = gdb.results[0]["table"]
    t.match(" perf_event ", row_of(table, "seq_middle")["text"], "engine")
    texts = [row_of(table, place)["text"] for place in others]
    t.equal(sum(" perf_event " in text for text in texts), SLOTS - 1, "others with a slot")
    t.match(" is served by int3: gave its hardware slot away", table, "the one that gave")


def test_attached(t):
    """What is attached to is to be left clean, by uprobes, but not in a sequence."""
    need_kernel_filter(t)
    for prog in PROGS:
        program = harness.Process(t, [t.prog(prog), THREADS, 300000000])
        harness.wait_for(lambda p=program: len(os.listdir(f"/proc/{p.pid}/task")) ==
                         THREADS + 1, "threads")
        server = t.server("--attach", "COMM", program.pid)
        gdb = t.gdb(server, "break *&seq_middle", "continue", prog=t.prog(prog), python="""
place, found = int(gdb.parse_and_eval("(long)&seq_middle")), []
for _ in range(20):
    found.append(int(gdb.parse_and_eval("$pc")) - place)
    run("continue")
emit(stops=found, table=run("monitor breakpoints"))
run("delete")
run("detach")
""")
        t.no_match(" uprobe ", row_of(gdb.results[0]["table"], "seq_middle")["text"])
        t.equal(set(gdb.results[0]["stops"]), {0}, "PC at the stops")
        program.wait()
        check_counted(t, program.output())
