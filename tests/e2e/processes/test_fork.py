# SPDX-License-Identifier: BSD-2-Clause
"""Families of processes: fork, vfork, exec, and several inferiors at once."""
import re
import subprocess

import harness
import rsp


def family(t, *args, options=()):
    return t.server(*options, "COMM", t.prog("family"), *args)


def exit_statuses(output):
    """(inferior, exit code) of each process that gdb saw end, the code in decimal."""
    found = re.findall(r"\[Inferior (\d+) \(process \d+\) exited (normally|with code (\d+))",
                       output)
    return [(int(number), int(code or "0", 8)) for number, _, code in found]


def test_catch_fork_names_the_child(t):
    server = family(t, "fork", 3)
    gdb = t.gdb(server, "catch fork", "continue", "continue", "continue", "continue",
                prog=t.prog("family"))
    children = re.findall(r"Catchpoint 1 \(forked process (\d+)\)", gdb.output())
    t.equal(len(set(children)), 3, "different children")
    t.equal(exit_statuses(gdb.output()), [(1, 0)], "ends")
    t.match(r"worked 3 failures 0", server.output())


def test_catch_vfork_and_exec(t):
    server = family(t, "vfork", 2)
    gdb = t.gdb(server, "catch vfork", "continue", "continue", "continue",
                prog=t.prog("family"))
    t.equal(len(re.findall(r"Catchpoint 1 \(vforked process \d+\)", gdb.output())), 2, "stops")
    t.equal(exit_statuses(gdb.output()), [(1, 0)], "ends")
    t.match(r"worked 2 failures 0", server.output())


def test_follow_child(t):
    """The child stops at its parent's breakpoints, the parent runs on without them."""
    for kind in ("break", "hbreak"):
        server = family(t, "fork", 1)
        gdb = t.gdb(server, "set follow-fork-mode child", f"{kind} work", "continue",
                    "p is_child", "continue", prog=t.prog("family"))
        t.match(r"\$1 = 1", gdb.output())
        t.equal(exit_statuses(gdb.output()), [(2, 0)], "ends")
        ends_well(t, server, 1)


def ends_well(t, server, count):
    server.wait_output(rf"worked {count} failures 0")
    t.equal(server.wait(), 0, "exit status of the server")


def test_follow_vfork_child_through_exec(t):
    server = family(t, "vfork", 1)
    gdb = t.gdb(server, "set follow-fork-mode child", "break work", "continue",
                "p is_child", "p round", "continue", prog=t.prog("family"))
    t.match(r"is executing new program: .*family", gdb.output())
    t.match(r"\$1 = 1", gdb.output())
    t.equal(exit_statuses(gdb.output()), [(2, 0)], "ends")
    ends_well(t, server, 1)


@harness.machines("main")
def test_conditions_hold_in_every_process(t):
    """Both processes are kept: each of them stops at true hits only."""
    server = family(t, "fork", 6)
    gdb = t.gdb(server, "set detach-on-fork off", "set schedule-multiple on",
                "break work if round == 4", prog=t.prog("family"), python="""
while any(inferior.pid for inferior in gdb.inferiors()):
    run("continue")
    if gdb.selected_thread() and gdb.selected_thread().is_valid():
        text = run("frame 0")
        if "work (round" in text:
            emit(round=value("round"), child=value("is_child"))
    if not alive():
        run(f"inferior {next((i.num for i in gdb.inferiors() if i.pid), 1)}")
""")
    stops = sorted((r["round"], r["child"]) for r in gdb.results)
    t.equal(stops, [("4", "0"), ("4", "1")], "stops")
    t.match(r"worked 6 failures 0", server.output())


def test_detached_children_of_threads(t):
    """Children that are let go run past traps; every hit of the parent is seen."""
    server = family(t, "threads", 8)
    gdb = t.gdb(server, "break work", prog=t.prog("family"),
                python='emit(stops=len(stops(["round"])))')
    # A set: where SIGCHLD comes in the middle of gdb's step off the breakpoint and
    # another thread stops next, gdb finds the first one at the breakpoint again.
    hits = set(re.findall(r"Thread (\d) .* hit Breakpoint 1, work \((round=\d)", gdb.output()))
    t.equal(len(hits), 32, "stops of the parent")
    t.match(r"worked \d+ failures 0", server.output())


def work_address(t, server):
    """Where work() is in the running program, which is position independent."""
    with open(f"/proc/{server.inferior()}/maps", encoding="latin1") as maps:
        base = int(maps.readline().partition("-")[0], 16)
    symbols = subprocess.run(["nm", t.prog("family")], check=True, capture_output=True,
                             text=True).stdout
    return base + int(re.search(r"^([0-9a-f]+) T work$", symbols, re.M).group(1), 16)


def test_threads_beside_a_vfork_child(t):
    """While a vfork child is held, its parent's other threads step and run; a trap in
    the memory that both share is seen by neither, and stays for the parent."""
    server = family(t, "beside", 1)
    client = rsp.Client(server)
    client.ask("qSupported:multiprocess+;swbreak+;vfork-events+")
    t.equal(client.ask("QPassSignals:14"), "OK", "SIGCHLD is not of interest")
    work = work_address(t, server)
    text = client.ask(f"m{work:x},4")
    t.equal(client.ask(f"Z0,{work:x},1"), "OK", "insertion")
    stop = client.ask("vCont;c")
    parent, child = t.match(r"vfork:p([0-9a-f]+)\.\1;.*thread:p([0-9a-f]+)\.", stop).groups()[::-1]
    threads = re.findall(rf"p{parent}\.([0-9a-f]+)", client.ask("qfThreadInfo"))
    t.equal(len(threads), 2, "threads of the parent")
    for _ in range(20):
        step = client.ask(f"vCont;s:p{parent}.{threads[1]}")
        t.match(rf"^T05.*thread:p{parent}\.{threads[1]};", step, "step")
    # One trap for both, which goes when it is taken out by the name of either.
    t.equal(client.ask(f"Hgp{parent}.{threads[1]}"), "OK", "choice of the thread")
    here = int.from_bytes(bytes.fromhex(client.ask(f"p{rsp.PC:x}")), "little")
    t.equal(client.ask(f"Z0,{here:x},1"), "OK", "insertion in the parent")
    t.equal(client.ask(f"Hgp{child}.{child}"), "OK", "choice of the child")
    t.equal(client.ask(f"Z0,{here:x},1"), "OK", "insertion in the child")
    t.equal(client.ask(f"z0,{here:x},1"), "OK", "removal")
    t.no_match("swbreak", client.ask(f"vCont;s:p{parent}.{threads[1]}"), "step")
    t.equal(client.ask(f"Hgp{child}.{child}"), "OK", "choice of the child")
    t.equal(client.ask(f"m{work:x},4"), text, "text that the child shows")
    t.equal(client.ask(f"D;{child}"), "OK", "detach from the child")
    t.match(r"vforkdone", client.ask("vCont;c"))
    t.match(r"swbreak", client.ask("vCont;c"))
    t.equal(client.ask(f"m{work:x},4"), text, "text that the parent shows")
    t.match(r"^W00", client.ask(f"z0,{work:x},1") and client.ask("vCont;c"))


def test_breakpoint_by_the_name_of_a_vfork_child(t):
    """gdb 16 inserts a breakpoint once for the memory that a vfork child shares with its
    parent, by the child's name; the parent stops there when the child has gone."""
    server = family(t, "vfork", 1)
    client = rsp.Client(server)
    client.ask("qSupported:multiprocess+;swbreak+;vfork-events+;exec-events+")
    t.equal(client.ask("QPassSignals:14;11"), "OK", "SIGCHLD is not of interest")
    work = work_address(t, server)
    child = t.match(r"vfork:p([0-9a-f]+)\.\1;", client.ask("vCont;c")).group(1)
    t.equal(client.ask(f"Hgp{child}.{child}"), "OK", "choice of the child")
    t.equal(client.ask(f"Z0,{work:x},1"), "OK", "insertion")
    t.match(rf"exec:.*thread:p{child}\.", client.ask(f"vCont;c:p{child}.-1"), "exec")
    t.match(rf"^W00;process:{child}$", client.ask(f"vCont;c:p{child}.-1"), "end of the child")
    t.match(r"vforkdone", client.ask("vCont;c"))
    t.match(r"swbreak", client.ask("vCont;c"), "stop of the parent")
    t.equal(client.ask(f"z0,{work:x},1"), "OK", "removal")
    t.match(r"^W00", client.ask("vCont;c"), "end of the parent")


def test_detached_vfork_children(t):
    server = family(t, "vfork", 10)
    gdb = t.gdb(server, "break work if round % 2 == 0", "set breakpoint always-inserted on",
                prog=t.prog("family"), python='emit(stops=len(stops(["round"])))')
    t.equal(gdb.results[0]["stops"], 5, "stops of the parent")
    t.match(r"worked 10 failures 0", server.output())


def test_vfork_with_memory_of_its_own(t):
    """clone(CLONE_VFORK) without CLONE_VM: whoever goes its own way has no trap of ours."""
    for follow, thread in ("parent", 0), ("child", 1):
        server = t.server("COMM", t.prog("kin"), "waited", 4)
        gdb = t.gdb(server, "monitor set engine int3", f"set follow-fork-mode {follow}",
                    "break work", prog=t.prog("kin"),
                    python='emit(stops=stops(["round", "child"]), status=events.exit_code)')
        t.equal([stop[1:] for stop in gdb.results[0]["stops"]],
                [[str(round), str(thread)] for round in range(4)], f"stops of the {follow}")
        t.equal(gdb.results[0]["status"], 7 * thread, f"exit status of the {follow}")
        server.wait_output("status 7")


def test_detach_with_forks_that_were_not_reported(t):
    """Threads fork while gdb leaves: neither they nor their children are lost."""
    server = family(t, "threads", 200)
    t.gdb(server, "catch fork", "continue", "break work if round == 20", "delete 1",
          "continue", "delete", "detach", prog=t.prog("family"))
    harness.wait_for(lambda: re.search(r"worked \d+ failures 0", server.output()),
                     "the end of the program")


def test_kill_with_children(t):
    server = family(t, "fork", 3)
    gdb = t.gdb(server, "set detach-on-fork off", "catch fork", "continue",
                "kill inferiors 1", "info inferiors",
                prog=t.prog("family"))
    pids = re.findall(r"Killing process\(es\): (\d+)", server.output())
    t.equal(len(set(pids)), 2, "processes killed")
    t.equal(server.wait(), 0, "exit status of the server")
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", encoding="latin1") as file:
                t.match(r"\) [ZX] ", file.read(), f"state of {pid}")
        except FileNotFoundError:
            pass


def test_two_programs_at_once(t):
    """Two programs that were started side by side run and stop together."""
    server = t.server("--multi", "COMM")
    gdb = t.gdb(server, f"set remote exec-file {t.prog('family')}", "break work if round == 3",
                "set args fork 5", "run", "add-inferior", "inferior 2",
                f"file {t.prog('family')}", f"set remote exec-file {t.prog('family')}",
                "set args fork 7", "run", "info inferiors", "set schedule-multiple on",
                "delete", "continue", "inferior 2", "continue", "inferior 1", "continue",
                prog=t.prog("family"), connect="target extended-remote")
    t.equal(len(re.findall(r"Breakpoint 1(\.\d)?, work", gdb.output())), 2, "stops")
    t.equal(sorted(exit_statuses(gdb.output())), [(1, 0), (2, 0)], "ends")
    t.match(r"worked 5 failures 0", server.output())
    t.match(r"worked 7 failures 0", server.output())
