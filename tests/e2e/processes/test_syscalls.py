# SPDX-License-Identifier: BSD-2-Clause
"""What a stop and a resume cost in system calls."""
import os
import re

import harness

TRACED = "bpf,perf_event_open"


def traced_session(t, breakpoints, stops):
    """The process that serves under strace; its children are not followed: a process
    has one tracer only. Returns the calls seen between the second and the last stop,
    which are marked by reads of a file that nobody else reads."""
    t.need_kernel_conditions()
    t.need_tool("strace")
    if os.geteuid() != 0 and harness.has_capabilities(t.config.server):
        t.skip("only root traces a server with file capabilities")
    trace = t.dir / "trace"
    probe = harness.Process(t, ["strace", "-o", "/dev/null", "true"])
    if probe.wait():
        t.skip("strace may not trace here")
    marker = t.dir / "marker"
    # A sanitizer cannot look for leaks where somebody traces.
    server = t.server("COMM", t.prog("loop"), "1000",
                      program=["env", "ASAN_OPTIONS=detect_leaks=0", t.config.server])
    tracer = harness.Process(t, ["strace", "-e", f"trace={TRACED},openat", "-o", trace,
                                 "-p", server.serving])
    tracer.wait_output("attached")
    commands = [b for b in breakpoints]
    gdb = t.gdb(server, *commands, prog=t.prog("loop"), python=f"""
run("continue")
run("continue")
run("remote get {marker} /dev/null")
seen = []
for _ in range({stops}):
    run("continue")
    seen.append(value("i"))
run("remote get {marker} /dev/null")
run("delete")
run("continue")
emit(seen=seen)
""")
    text = trace.read_text()
    parts = re.split(rf'.*"{re.escape(str(marker))}".*', text)
    t.equal(len(parts), 3, f"markers in the trace\n{text}")
    t.check(re.search(r"perf_event_open\(", parts[0]), "the trace shows the calls")
    t.check(re.search(r"bpf\(BPF_PROG_LOAD", parts[0]), "the trace shows the calls")
    calls = re.findall(rf"^.*\b(?:{TRACED.replace(',', '|')})\(.*$", parts[1], re.M)
    return calls, gdb.results[0]["seen"]


def test_stop_and_continue_makes_no_event_and_no_program(t):
    calls, seen = traced_session(
        t, [f"hbreak {t.line('loop.c', 'BODY')} if i % 10 == 3"], 20)
    t.equal(seen, [str(i) for i in range(23, 223, 10)], "stops")
    t.equal(calls, [], "calls while breakpoints did not change")


def test_stop_and_continue_with_four(t):
    calls, seen = traced_session(
        t, [f"hbreak {t.line('loop.c', 'BODY')} if i % 10 == 3",
            *(f"hbreak {t.line('loop.c', name)} if other == 99"
              for name in ("NEVER1", "NEVER2", "NEVER3"))], 20)
    t.equal(seen, [str(i) for i in range(23, 223, 10)], "stops")
    t.equal(calls, [], "calls while breakpoints did not change")
