# SPDX-License-Identifier: BSD-2-Clause
"""Users with fewer rights: everything works, only the engine differs."""
import os
import re
import subprocess

import harness


def with_capabilities(t):
    """The same as t.without_rights(), with the capabilities that README speaks of."""
    if os.geteuid() != 0:
        if not harness.has_capabilities(t.config.server):
            t.skip("only root gives files capabilities")
        return {"program": [t.config.server]}
    t.need_tool("setcap")
    start = t.without_rights()
    done = subprocess.run(["setcap", harness.CAPABILITIES, *start["program"]],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        t.skip("no file capabilities here: " + done.stderr.strip())
    return start


def ordinary_user(t, program="conditions", arguments=(), start=None):
    """A server run by an ordinary user from copies that this user can read."""
    start = start or t.without_rights()
    prog, = t.public_copy(t.prog(program))
    return t.server("COMM", prog, *arguments, cwd="/", **start), prog


def hits(t, server, prog, kind="hbreak"):
    gdb = t.gdb(server, f"{kind} {t.line('conditions.c', 'BODY')} if i % 20 == 7", prog=prog,
                python='table = run("monitor engines")\n'
                       'found = stops(["i"])\nemit(stops=found, engines=table)')
    t.equal([row[1] for row in gdb.results[0]["stops"]], ["7", "27", "47"], f"stops of {kind}")
    return gdb.results[0]["engines"]


def perf_is_roots():
    """Kernels of distributions may keep perf events to root, whatever the capabilities."""
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
        return int(file.read()) > 2


@harness.machines("main")
def test_without_rights(t):
    """No BPF: the condition is evaluated by the stub, and this is said."""
    for kind in "hbreak", "break":
        server, prog = ordinary_user(t)
        engines = hits(t, server, prog, kind)
        if not t.config.reference:
            way = rf"setcap cap_bpf,cap_perfmon\+ep {re.escape(server.argv[0])}; see README, Rights\)"
            for engine in "perf_event", "uprobe":
                t.match(rf"^{engine} .*\n +not usable: .*{way}", engines)
            said = [l for l in server.output().splitlines() if re.search(way, l)]
            t.equal(len(said), 1, "lines about it on stderr")
            t.equal("sysctl kernel.perf_event_paranoid=2" in said[0], perf_is_roots(),
                    f"perf_event_open is spoken of: {said[0]}")


def test_without_rights_many_hits(t):
    server, prog = ordinary_user(t, program="loop", arguments=("2000",))
    gdb = t.gdb(server, f"hbreak {t.line('loop.c', 'BODY')} if i == 1555", prog=prog,
                python='emit(stops=stops(["i"]))')
    t.equal([row[1] for row in gdb.results[0]["stops"]], ["1555"], "stops")
    t.match(r"^2000 iterations", server.output())


def test_without_rights_dprintf(t):
    server, prog = ordinary_user(t, program="loop", arguments=("500",))
    gdb = t.gdb(server, f'dprintf {t.line("loop.c", "BODY")},"i=%ld\\n", i', "continue",
                prog=prog, first=("set dprintf-style agent",))
    server.wait()
    output = (server if t.config.reference else gdb).output()
    t.equal(re.findall(r"^i=(\d+)$", output, re.M), [str(i) for i in range(500)], "lines")


def test_without_rights_threads(t):
    server, prog = ordinary_user(t, program="threads", arguments=("6", "100"))
    gdb = t.gdb(server, f"hbreak {t.line('threads.c', 'BODY')} if (i * 7 + id) % 500 == 3",
                prog=prog, python='emit(stops=stops(["id", "i"]))')
    expected = int(t.match(r"expected (\d+) stops", server.output()).group(1))
    t.equal(len(gdb.results[0]["stops"]), expected, "number of stops")


def test_without_rights_blocked_sigtrap(t):
    t.truehit_only("exact stop in a thread that blocks SIGTRAP")
    server, prog = ordinary_user(t, program="blocked")
    gdb = t.gdb(server, f"hbreak {t.line('blocked.c', 'BODY')} if i % 100 == 7", prog=prog,
                python='emit(stops=stops(["i"]))')
    t.equal([row[1] for row in gdb.results[0]["stops"]],
            [str(i) for i in range(7, 1000, 100)], "stops")
    t.match(r"SIGTRAP clean", server.output())


@harness.machines("main")
def test_without_rights_watch(t):
    server, prog = ordinary_user(t, program="watch")
    gdb = t.gdb(server, "break main", "continue", "delete", "watch w4", prog=prog,
                python='emit(stops=stops(["w4"]))')
    t.equal([row[1] for row in gdb.results[0]["stops"]], ["70000", "140000", "210000"], "stops")


@harness.machines("main", "small")
def test_without_rights_at_one_instruction(t):
    """A breakpoint in vain at an instruction whose write is ignored: both are passed,
    neither is hit twice."""
    t.truehit_only("monitor ignore")
    server, prog = ordinary_user(t, program="watch")
    gdb = t.gdb(server, "break main", "continue", "delete", "watch w4", "continue", prog=prog,
                python="""
frame = gdb.selected_frame()
code = frame.architecture().disassemble(frame.function().value().address, frame.pc() - 1)
store = next(i["addr"] for i in code if i["addr"] + i["length"] == frame.pc())
run(f"hbreak *{store} if i == 0")
run("set breakpoint always-inserted on")
ignored = run("monitor ignore w4 1")
found = stops(["i", "w4"], limit=1)
emit(ignored=ignored, stops=found, table=run("monitor breakpoints"))
run("kill")
""")
    result = gdb.results[0]
    t.equal([row[1:] for row in result["stops"]], [["3", "210000"]], f"stops, {result}")
    hbreak, = (r for r in harness.breakpoint_rows(result["table"]) if "hbreak" in r["text"])
    t.equal((hbreak["hits"], hbreak["false"]), (2, 2), "hits of the breakpoint")


@harness.machines("main")
def test_file_capabilities(t):
    """CAP_BPF and CAP_PERFMON on the file: the kernel filters for anyone."""
    t.need_kernel_conditions()
    server, prog = ordinary_user(t, start=with_capabilities(t))
    engines = hits(t, server, prog)
    if perf_is_roots():
        t.match(r"needs root, or: sysctl kernel\.perf_event_paranoid=2 and", server.output())
        return
    t.no_match(r"perf_event .*(CAP_BPF|not permitted|[Pp]ermission)", engines)
    t.no_match(r"cap_bpf", server.output())


def test_capabilities_are_not_passed_on(t):
    """The program gets none of the server's rights."""
    t.need_kernel_conditions()
    prog, = t.public_copy("/bin/grep")
    server = t.server("COMM", prog, "Cap", "/proc/self/status", cwd="/",
                      **with_capabilities(t))
    t.gdb(server, "continue")
    output = server.output()
    t.match(r"CapEff:\s*0+$", output)
    t.match(r"CapAmb:\s*0+$", output)


def test_unprivileged_attach_to_own_process(t):
    prog, = t.public_copy(t.prog("attach"))
    counts = t.dir / "public" / "counts"
    counts.write_bytes(b"")
    os.chmod(counts, 0o666)
    program = harness.Process(t, [prog, counts, "3"], preexec=t.become_nobody)
    harness.wait_for(lambda: counts.stat().st_size >= 4096, "the program")
    server = t.server("--attach", "COMM", program.pid, **t.without_rights())
    gdb = t.gdb(server, "hbreak tick if id == 2", "continue", "p id", "detach", prog=prog)
    t.match(r"\$1 = 2", gdb.output())
    harness.wait_for(lambda: harness.tracer_of(program.pid) == 0, "no tracer")
    t.equal(program.process.poll(), None, "status of the program")


def test_pid_name_space(t):
    """In a container thread ids differ from the kernel's own."""
    t.need_root("make a name space")
    t.need_kernel_conditions()
    unshare = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if harness.Process(t, [*unshare, "true"]).wait():
        t.skip("no PID name space can be made here")
    server = harness.Server(t, ["COMM", t.prog("conditions")],
                            program=[*unshare, t.config.server])
    gdb = t.gdb(server, f"hbreak {t.line('conditions.c', 'BODY')} if i % 20 == 7",
                prog=t.prog("conditions"), python="""
run("continue")
emit(i=value("i"), table=run("monitor breakpoints"))
run("kill")
""")
    t.equal(gdb.results[0]["i"], "7", "the true hit")
    t.match(r"perf_event +kernel ", gdb.results[0]["table"])
    t.no_match(r"cap_bpf", server.output())
