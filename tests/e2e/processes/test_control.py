# SPDX-License-Identifier: BSD-2-Clause
"""Running, stepping, interrupting, attaching, leaving, killing."""
import os
import re
import signal
import struct

import harness
import rsp

MACHINE = os.uname().machine


class Ticker:
    """A program with counters that this test can read without a debugger."""

    def __init__(self, t, threads=1, wrap=None):
        self.t = t
        self.file = t.dir / "counts"
        self.threads = threads
        self.process = harness.Process(
            t, [*(wrap or []), t.prog("attach"), self.file, threads])
        self.pid = self.process.pid
        harness.wait_for(lambda: self.file.exists() and len(self.counts()) and
                         all(self.counts()), "the first counts")

    def counts(self):
        data = self.file.read_bytes()[:8 * self.threads]
        return struct.unpack(f"={len(data) // 8}Q", data)

    def must_run(self):
        """Every thread goes on counting."""
        before = self.counts()
        harness.wait_for(lambda: all(a > b + 2 for a, b in zip(self.counts(), before)),
                         "every thread of the program counting on")
        self.t.equal(self.process.process.poll(), None, "status of the program")

    def must_be_free(self):
        harness.wait_for(lambda: harness.tracer_of(self.pid) == 0, "no tracer")
        self.must_run()


def attach(t, ticker, *options, **kwargs):
    return t.server(*options, "--attach", "COMM", ticker.pid, **kwargs)


@harness.machines("main", "small")
def test_attach_and_detach(t):
    ticker = Ticker(t)
    server = attach(t, ticker)
    t.match(r"Attached; pid = %d" % ticker.pid, server.output())
    gdb = t.gdb(server, "break tick", "continue", "bt", "p counts[0] > 0", "detach",
                prog=t.prog("attach"))
    t.match(r"Breakpoint 1, tick \(id=0\)", gdb.output())
    t.match(r"\$1 = 1", gdb.output())
    ticker.must_be_free()
    t.equal(server.wait(), 0, "exit status of the server")


@harness.machines("main")
def test_attach_threads(t):
    ticker = Ticker(t, 8)
    server = attach(t, ticker)
    gdb = t.gdb(server, "info threads", "break tick thread 5", "continue",
                "thread", "detach", prog=t.prog("attach"))
    t.equal(len(re.findall(r"^[* ] +\d+ +Thread", gdb.output(), re.M)), 8, "threads")
    t.match(r"Current thread is 5", gdb.output())
    ticker.must_be_free()


def test_attach_while_threads_come_and_go(t):
    """No thread is forgotten, whichever have just begun or ended."""
    process = harness.Process(t, [t.prog("relay"), 60])
    process.wait_output("begun")
    server = t.server("--multi", "COMM")
    client = rsp.Client(server)
    client.ask("qSupported:multiprocess+")
    for _ in range(150):
        t.match("^T", client.ask(f"vAttach;{process.pid:x}"))
        tids = [int(tid) for tid in os.listdir(f"/proc/{process.pid}/task")]
        t.equal([tid for tid in tids if harness.tracer_of(tid) == 0], [],
                "threads that nobody traces")
        t.equal(client.ask(f"D;{process.pid:x}"), "OK", "detaching")


def test_attach_hardware_breakpoint_in_all_threads(t):
    """A hardware breakpoint works in each of the threads that were there before."""
    ticker = Ticker(t, 6)
    server = attach(t, ticker)
    gdb = t.gdb(server, "hbreak tick", prog=t.prog("attach"), python="""
seen = set()
for _ in range(400):
    run("continue")
    seen.add(int(gdb.parse_and_eval("id")))
    if len(seen) == 6:
        break
emit(seen=sorted(seen))
run("delete")
run("detach")
""")
    t.equal(gdb.results[-1]["seen"], list(range(6)), "threads that were stopped")
    ticker.must_be_free()


def test_attach_kill(t):
    ticker = Ticker(t)
    server = attach(t, ticker)
    t.gdb(server, "kill", prog=t.prog("attach"))
    t.equal(ticker.process.wait(), -signal.SIGKILL, "status of the program")
    server.wait()


def test_attach_stopped_process(t):
    """A process that job control has stopped can be attached to and looked at."""
    ticker = Ticker(t)
    os.kill(ticker.pid, signal.SIGSTOP)
    harness.wait_for(lambda: harness.process_state(ticker.pid) == "T", "stopped")
    server = attach(t, ticker)
    gdb = t.gdb(server, "p counts != 0", "detach", prog=t.prog("attach"))
    t.match(r"\$1 = 1", gdb.output())
    os.kill(ticker.pid, signal.SIGCONT)
    ticker.must_be_free()


def test_client_that_vanishes_leaves_attached_program(t):
    """The client is killed without a word: an attached program lives on."""
    ticker = Ticker(t)
    server = attach(t, ticker, "--once")
    gdb = t.gdb(server, "break tick", "continue", prog=t.prog("attach"), wait=False,
                python="import os; emit(ready=1); time.sleep(60)")
    gdb.wait_output("RESULT")
    gdb.kill()
    server.wait()
    ticker.must_be_free()


def test_interrupt(t):
    server = t.server("COMM", t.prog("loop"), "1000000000000")
    gdb = t.gdb(server, prog=t.prog("loop"), python="""
interrupt_after(0.5)
text = run("continue")
emit(text=text, signal=getattr(events.stop, "stop_signal", None))
run("break loop.c:%s")
run("continue")
emit(function=gdb.selected_frame().name())
interrupt_after(0.5)
run("delete")
run("continue")
emit(signal=getattr(events.stop, "stop_signal", None))
run("kill")
""" % t.line("loop.c", "BODY").partition(":")[2])
    first, second, third = gdb.results
    t.equal(first["signal"], "SIGINT", "first stop")
    t.equal(second["function"], "main", "function at the breakpoint")
    t.equal(third["signal"], "SIGINT", "third stop")


def test_interrupt_attached_without_terminal(t):
    """The attached program is no leader of a process group and has no terminal."""
    t.truehit_only("interrupt that needs no process group")
    ticker = Ticker(t, 3, wrap=["sh", "-c", '"$0" "$@" & wait'])
    ticker.pid = harness.descendants(ticker.pid)[0]
    server = attach(t, ticker)
    gdb = t.gdb(server, prog=t.prog("attach"), python="""
interrupt_after(0.5)
run("continue")
emit(signal=getattr(events.stop, "stop_signal", None))
run("detach")
""")
    t.equal(gdb.results[0]["signal"], "SIGINT", "stop")
    ticker.must_be_free()


def test_kill_started_program(t):
    server = t.server("COMM", t.prog("attach"), t.dir / "counts", "3")
    inferior = server.inferior()
    t.gdb(server, "break tick", "continue", "kill", prog=t.prog("attach"))
    harness.wait_for(lambda: not os.path.exists(f"/proc/{inferior}"), "end of the program")
    server.wait()


@harness.machines("main")
def test_step_next_finish_until(t):
    server = t.server("COMM", t.prog("calls"))
    calls = t.prog("calls")
    gdb = t.gdb(server, f"break outer", "continue", "next", "next", "next",
                f"until {t.line('calls.c', 'CALL')}", "step", "step", "bt", "finish",
                "next", "p result", "finish", "stepi", "nexti", "info line", prog=calls)
    output = gdb.output()
    t.match(r"inner \(depth=3\)", output)
    t.match(r"/\* INNER \*/", output)
    t.match(r"Value returned is \$\d+ = 12", output)
    t.match(r"\$\d+ = 32", output)
    t.match(r"Value returned is \$\d+ = 32", output)


def test_step_counts_loop_iterations(t):
    """Range stepping stops at each new line and nowhere else."""
    server = t.server("COMM", t.prog("calls"))
    gdb = t.gdb(server, "break outer", "continue", prog=t.prog("calls"), python="""
lines = []
for _ in range(12):
    run("next")
    lines.append(gdb.selected_frame().find_sal().line)
emit(lines=lines)
""")
    loop = int(t.line("calls.c", "LOOP").partition(":")[2])
    call = int(t.line("calls.c", "CALL").partition(":")[2])
    lines = gdb.results[0]["lines"]
    t.equal(lines[:12], [loop] + [loop + 1, loop] * 5 + [call], "lines after each next")


@harness.machines("main")
def test_step_over_breakpoints(t):
    """Breakpoints on each line do not lose or repeat a stop."""
    server = t.server("COMM", t.prog("calls"))
    loop = int(t.line("calls.c", "LOOP").partition(":")[2])
    gdb = t.gdb(server, f"break calls.c:{loop + 1}", f"hbreak calls.c:{loop + 1}",
                prog=t.prog("calls"), python='emit(stops=stops(["i"]))')
    t.equal([row[1] for row in gdb.results[0]["stops"]], list("01234"), "values of i")


@harness.machines("main")
def test_software_breakpoint_reports(t):
    server = t.server("COMM", t.prog("calls"))
    gdb = t.gdb(server, "break triple", "tbreak inner", prog=t.prog("calls"), python="""
where = []
for _ in range(2):
    run("continue")
    frame = gdb.selected_frame()
    where.append([frame.name(), str(frame.pc() == frame.find_sal().pc)])
emit(where=where)
run("continue")
emit(code=events.exit_code)
""")
    where, end = gdb.results
    t.equal([w[0] for w in where["where"]], ["inner", "triple"], "functions")
    t.equal([w[1] for w in where["where"]], ["True", "True"], "PC is at the breakpoint")
    t.equal(end["code"], 42, "exit code")


def test_call_function(t):
    server = t.server("COMM", t.prog("calls"))
    gdb = t.gdb(server, "break outer", "continue", "call triple(14)", "p triple(triple(2))",
                "break triple", "call triple(5)", "bt", "finish", "delete", "continue",
                prog=t.prog("calls"))
    t.match(r"\$1 = 42", gdb.output())
    t.match(r"\$2 = 18", gdb.output())
    t.match(r"<function called from gdb>", gdb.output())
    t.match(r"exited with code 052", gdb.output())


def test_write_memory(t):
    server = t.server("COMM", t.prog("calls"))
    gdb = t.gdb(server, "break outer", "continue", "set var global = 1234567",
                'set var text = "written by gdb\\0................"', "p global", "x/s text",
                "set var x = 3", "p x", "continue", prog=t.prog("calls"))
    t.match(r"\$1 = 1234567", gdb.output())
    t.match(r"global 1234567 text written by gdb", server.output())


def test_write_memory_under_breakpoint(t):
    """Bytes with a trap in them read as the program's own, and survive a write."""
    server = t.server("COMM", t.prog("calls"))
    gdb = t.gdb(server, "break triple", "break outer", "continue", prog=t.prog("calls"),
                python="""
address = int(gdb.parse_and_eval("(unsigned long)&triple"))
memory = gdb.selected_inferior()
before = bytes(memory.read_memory(address, 32))
memory.write_memory(address, before)
emit(same=bytes(memory.read_memory(address, 32)) == before)
run("continue")
emit(name=gdb.selected_frame().name())
""")
    t.equal(gdb.results[0]["same"], True, "memory")
    t.equal(gdb.results[1]["name"], "triple", "next stop")


def test_breakpoint_in_memory_that_is_unmapped(t):
    """gdb's user hears that a breakpoint could not be removed; the session goes on."""
    server = t.server("COMM", t.prog("calls"))
    gdb = t.gdb(server, "break main", "continue", "set breakpoint always-inserted on",
                "break triple", "p $page = (long)&triple / 4096 * 4096",
                "p ((int (*)(void *, unsigned long))munmap)((void *)$page, 4096)", "delete 2",
                "p $sp != 0", "kill", prog=t.prog("calls"))
    t.match(r"\$2 = 0", gdb.output())
    t.match(r"warning: [Ee]rror removing breakpoint 2", gdb.output())
    t.match(r"\$3 = 1", gdb.output())


def test_read_unmapped_memory(t):
    server = t.server("COMM", t.prog("calls"))
    gdb = t.gdb(server, "x/4x 0", "x/4x 0x7ffffffff000", "p global", prog=t.prog("calls"))
    t.match(r"Cannot access memory at address 0x0", gdb.output())
    t.match(r"\$1 = 7", gdb.output())


@harness.machines("main", "on=aarch64")
def test_registers_aarch64(t):
    if MACHINE != "aarch64":
        t.skip("registers of aarch64")
    server = t.server("COMM", t.prog("registers"))
    gdb = t.gdb(server, "break stop_general", "break stop_vector", "break stop_double",
                "continue", "p/x $x2", "p/x $w3", "p $tpidr != 0",
                "p (long) $pc == (long) &stop_general",
                "set var $x3 = 0x1122334455667788", "p $cpsr",
                "continue", "p/x $v3.d.u", "set var $v3.d.u[1] = 0x5a5a",
                "continue", "p $d5", "set var $d5 = 8.25", "continue",
                prog=t.prog("registers"))
    output = gdb.output()
    t.match(r"= 0x123456789abcdef$", output)
    t.match(r"= 0x33221100$", output)
    t.match(r"\$3 = 1$", output)
    t.match(r"\$4 = 1$", output)
    t.match(r"\$5 = \[ .*\]$", output)
    t.match(r"= \{0x1111111111111111, 0x2222222222222222\}", output)
    t.match(r"= 2\.5$|f = 2\.5", output)
    result = server.output()
    t.match(r"x2 123456789abcdef x3 1122334455667788", result)
    t.match(r"v3 1111111111111111 5a5a", result)
    t.match(r"d5 8\.25", result)


def test_registers(t):
    if MACHINE != "x86_64":
        t.skip("registers of x86_64")
    server = t.server("COMM", t.prog("registers"))
    with open("/proc/cpuinfo", encoding="ascii") as file:
        avx = re.search(r"^flags.*\bavx\b", file.read(), re.M) is not None
    commands = ["break stop_general", "break stop_sse", "break stop_x87", "break stop_avx",
                "continue", "p/x $rax", "p/x $rbx", "p $fs_base != 0", "p/x $eax",
                "set var $rbx = 0x1122334455667788", "p/x $cs", "p $eflags",
                "continue", "p/x $xmm3.v2_int64", "set var $xmm3.v2_int64[1] = 0x5a5a",
                "continue", "p $st0", "set var $st0 = 8.25"]
    if avx:
        commands += ["continue", "p/x $ymm5.v4_int64", "set var $ymm5.v4_int64[3] = 0x77"]
    gdb = t.gdb(server, *commands, "continue", prog=t.prog("registers"))
    output = gdb.output()
    t.match(r"= 0x123456789abcdef$", output)
    t.match(r"= 0x7766554433221100$", output)
    t.match(r"\$3 = 1$", output)
    t.match(r"= 0x89abcdef$", output)
    t.match(r"= 0x33$", output)
    t.match(r"= \{0x1111111111111111, 0x2222222222222222\}", output)
    t.match(r"= 2\.5$", output)
    result = server.output()
    t.match(r"rax 123456789abcdef rbx 1122334455667788", result)
    t.match(r"xmm3 1111111111111111 5a5a", result)
    t.match(r"st0 8\.25", result)
    if avx:
        t.match(r"= \{0x1111111111111111, 0x2222222222222222, 0x3333333333333333, "
                r"0x4444444444444444\}", output)
        t.match(r"ymm5 1111111111111111 77", result)


def test_registers_are_those_of_the_thread(t):
    server = t.server("COMM", t.prog("threads"), "4", "10")
    gdb = t.gdb(server, "break body if id == 3", "continue", prog=t.prog("threads"),
                python="""
stacks, bases = set(), set()
base = "$fs_base" if value("$fs_base") != "void" else "$tpidr"
for thread in gdb.selected_inferior().threads():
    thread.switch()
    stacks.add(value("$sp"))
    bases.add(value(base))
emit(stacks=len(stacks), bases=len(bases), threads=len(gdb.selected_inferior().threads()))
""")
    got = gdb.results[0]
    t.equal((got["stacks"], got["bases"]), (got["threads"],) * 2, "distinct registers")


@harness.machines("main")
def test_signal_stop_and_pass(t):
    server = t.server("COMM", t.prog("signals"))
    gdb = t.gdb(server, "handle SIGUSR1 stop print pass", prog=t.prog("signals"), python="""
while True:
    run("continue")
    if not alive():
        break
    emit(signal=getattr(events.stop, "stop_signal", None))
""")
    t.equal([r["signal"] for r in gdb.results], ["SIGUSR1"] * 5, "stops")
    t.match(r"SIGUSR1 5 SIGUSR2 0", server.output())


def test_signal_nopass(t):
    server = t.server("COMM", t.prog("signals"))
    gdb = t.gdb(server, "handle SIGUSR1 nostop noprint nopass", "continue",
                prog=t.prog("signals"))
    t.match(r"exited normally", gdb.output())
    t.match(r"SIGUSR1 0 SIGUSR2 0", server.output())


def test_signal_nostop_pass(t):
    """QPassSignals: the server passes them on by itself."""
    server = t.server("COMM", t.prog("signals"))
    gdb = t.gdb(server, "handle SIGUSR1 nostop noprint pass", "continue",
                prog=t.prog("signals"))
    t.match(r"exited normally", gdb.output())
    t.match(r"SIGUSR1 5 SIGUSR2 0", server.output())


def test_signal_command(t):
    server = t.server("COMM", t.prog("signals"))
    gdb = t.gdb(server, "handle SIGUSR1 nostop noprint nopass", "handle SIGUSR2 nostop print pass",
                f"break {t.line('signals.c', 'DONE')}", "continue", "delete", "signal SIGUSR2",
                prog=t.prog("signals"))
    t.match(r"exited normally", gdb.output())
    t.match(r"SIGUSR1 0 SIGUSR2 1", server.output())


@harness.machines("main")
def test_signal_step_into_handler(t):
    """A step with a signal stops in the handler's first instruction's function."""
    server = t.server("COMM", t.prog("signals"))
    gdb = t.gdb(server, "handle SIGUSR1 nostop noprint pass",
                f"break {t.line('signals.c', 'HANDLER')}", "continue", "bt", "next", "delete",
                "continue", prog=t.prog("signals"))
    t.match(r"<signal handler called>", gdb.output())
    t.match(r"SIGUSR1 5", server.output())


def test_fault_is_handled_by_program(t):
    server = t.server("COMM", t.prog("faults"), "handler")
    gdb = t.gdb(server, "continue", "continue", prog=t.prog("faults"))
    t.match(r"Program received signal SIGSEGV", gdb.output())
    t.match(r"exited with code 05", gdb.output())
    t.match(r"survived", server.output())


def test_shared_library(t):
    server = t.server("COMM", t.prog("solib"))
    gdb = t.gdb(server, "set breakpoint pending on", f"break {t.line('libgreet.c', 'GREET')} if x == 6",
                "continue", "info sharedlibrary", "p x", "bt", "continue", prog=t.prog("solib"))
    output = gdb.output()
    t.match(r"Yes .*libgreet\.so", output)
    t.match(r"Yes .*libc\.so", output)
    t.match(r"\$1 = 6", output)
    t.match(r"greet \(x=6\)", output)
    t.match(r"exited normally", output)
    t.match(r"sum 1045", server.output())


def test_no_local_binary(t):
    """gdb has no file at all and fetches everything from the server."""
    copy, library = t.public_copy(t.prog("solib"), t.prog("libgreet.so"))
    server = t.server("--multi", "COMM", copy)
    gdb = t.gdb(server, "break main", "continue", "info sharedlibrary", "break greet",
                "continue", "bt", "delete", "continue", connect="target extended-remote",
                sysroot=None)
    output = gdb.output()
    t.match(r"Reading .*solib from remote target", output)
    t.match(r"Breakpoint 1, main", output)
    t.match(r"libgreet\.so", output)
    t.match(r"greet \(x=0\)", output)
    t.match(r"exited normally", output)


def test_multi_run_again(t):
    """extended-remote: run, kill, run again, and then another program."""
    server = t.server("--multi", "COMM")
    calls, loop = t.prog("calls"), t.prog("loop")
    gdb = t.gdb(server, f"set remote exec-file {calls}", "set args first", "break outer", "run",
                "bt", "kill", "info inferiors", "set args second", "run", "continue",
                "delete", f"file {loop}", f"set remote exec-file {loop}", "set args 1000",
                "run", "monitor exit",
                prog=calls, connect="target extended-remote")
    output = gdb.output()
    t.equal(len(re.findall(r"^Breakpoint 1, outer", output, re.M)), 2, "stops in outer")
    t.match(r"exited with code 052", output)
    t.match(r"argument 1: second", server.output())
    t.match(r"1000 iterations", server.output())


def test_multi_attach(t):
    ticker = Ticker(t, 2)
    server = t.server("--multi", "COMM")
    gdb = t.gdb(server, f"attach {ticker.pid}", "break tick", "continue", "detach",
                "info inferiors", f"attach {ticker.pid}", "info threads", "detach",
                prog=t.prog("attach"), connect="target extended-remote")
    t.match(r"Breakpoint 1.* tick", gdb.output())
    ticker.must_be_free()


def test_fork_child_has_no_traps(t):
    for kind in ("break", "hbreak"):
        server = t.server("COMM", t.prog("fork"))
        gdb = t.gdb(server, f"{kind} body", prog=t.prog("fork"),
                    python='emit(stops=len(stops(["calls"])))')
        t.equal(gdb.results[0]["stops"], 2, f"stops of the parent with {kind}")
        t.match(r"child exited 11", server.output())
        t.match(r"calls 2", server.output())


def test_vfork_child(t):
    server = t.server("COMM", t.prog("fork"), "vfork")
    gdb = t.gdb(server, "break body", prog=t.prog("fork"),
                python='emit(stops=len(stops(["calls"])))')
    t.equal(gdb.results[0]["stops"], 2, "stops")
    t.match(r"child exited 11", server.output())


@harness.machines("main")
def test_follow_fork_child(t):
    server = t.server("COMM", t.prog("fork"))
    gdb = t.gdb(server, "set follow-fork-mode child", "break body if calls == 5",
                "catch fork", "continue", prog=t.prog("fork"))
    if "not support" in gdb.output() and not t.config.reference:
        t.skip("following into a child is not offered by this server")
    t.match(r"Catchpoint|Breakpoint", gdb.output())


@harness.machines("main")
def test_exec(t):
    server = t.server("COMM", t.prog("exec"), t.prog("calls"), "from-exec")
    gdb = t.gdb(server, f"break {t.line('exec.c', 'BEFORE')}", "hbreak main", "continue",
                "catch exec", "continue", "continue", "delete", "break triple", "continue", "bt",
                "delete", "continue", prog=t.prog("exec"))
    output = gdb.output()
    t.match(r"is executing new program: .*calls", output)
    t.match(r"triple \(x=", output)
    t.match(r"exited with code 052", output)
    t.match(r"argument 1: from-exec", server.output())


def test_exec_uncaught_runs_on(t):
    """exec with breakpoints in place, and nobody asked to catch it."""
    server = t.server("COMM", t.prog("exec"), t.prog("calls"), "x")
    gdb = t.gdb(server, f"hbreak {t.line('exec.c', 'BEFORE')}", "continue", "delete",
                "continue", prog=t.prog("exec"))
    t.match(r"exited with code 052", gdb.output())


def test_thread_names_and_ids(t):
    server = t.server("COMM", t.prog("threads"), "3", "5")
    gdb = t.gdb(server, "break body", "continue", "info threads", "thread apply all p $_thread",
                "delete", "continue", prog=t.prog("threads"))
    t.match(r'Thread \d+\.\d+ "threads"', gdb.output())
    t.match(r"exited normally", gdb.output())


def test_scheduler_locking_step(t):
    """Only the chosen thread moves."""
    server = t.server("COMM", t.prog("threads"), "4", "50")
    gdb = t.gdb(server, "break body if id == 2", "continue", "set scheduler-locking on",
                "next", "next", "next", "p id", "set scheduler-locking off", "delete", "continue",
                prog=t.prog("threads"))
    t.match(r"exited normally", gdb.output())
    t.match(r"expected \d+ stops", server.output())


def test_disconnect_and_reconnect(t):
    """A new client finds the program where the last one left it."""
    server = t.server("--multi", "COMM", t.prog("calls"))
    first = t.gdb(server, "break triple", "continue", "disconnect", prog=t.prog("calls"))
    t.match(r"Breakpoint 1, triple", first.output())
    again = t.gdb(server, "bt", "continue", prog=t.prog("calls"))
    t.match(r"#0 +triple|#0 .* triple", again.output())
    t.match(r"exited with code 052", again.output())


def test_tbreak_run_many_stops(t):
    """A few hundred stops and resumes, alternating kinds of breakpoints."""
    server = t.server("COMM", t.prog("loop"), "300")
    body = t.line("loop.c", "BODY")
    gdb = t.gdb(server, f"break {body}", prog=t.prog("loop"), python='''
seen = []
while True:
    run("continue")
    if not alive():
        break
    seen.append(int(gdb.parse_and_eval("i")))
    if len(seen) == 150:
        run("delete")
        run("hbreak %s")
emit(seen=seen)
''' % body)
    seen = gdb.results[0]["seen"]
    t.check(seen == list(range(300)), f"each i once and in order: {seen}")
