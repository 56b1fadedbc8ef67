# SPDX-License-Identifier: BSD-2-Clause
"""Memory that the program itself brings in: a server that waited for that, with the
program stopped, would wait for ever."""
import signal
import subprocess

import harness

ROUNDS = 5
LAZY = f"lazy {0x0101010101010101 + sum(range(ROUNDS)):x}"


def start(t, *options):
    """At main(), with the server."""
    if subprocess.run([t.prog("userfault"), "1"], stdout=subprocess.DEVNULL).returncode == 3:
        t.skip("this user may not handle faults of the kernel (vm.unprivileged_userfaultfd)")
    return t.server(*options, "COMM", t.prog("userfault"), str(ROUNDS))


def test_look_and_change(t):
    """Pages that are not there cannot be accessed, and come when the program wants them."""
    server = start(t)
    gdb = t.gdb(server, "break work", "continue", "p *lazy", "p *never", "set var *never = 7",
                "x/2000xb lazy", "delete", "finish", "next", "p *never",
                "call (long) work(1)", "continue", prog=t.prog("userfault"))
    t.equal(gdb.output().count("Cannot access memory at address"), 5, "errors")
    t.match(r"exited normally", gdb.output())
    server.wait_output(LAZY)


def test_conditions(t):
    """What a condition cannot read is for gdb, whichever engine has met it. A filter in the
    program would have the page brought in: there is none once the program serves memory."""
    for engine in "auto", "int3", "uprobe", "perf_event", "debugreg":
        server = start(t)
        gdb = t.gdb(server, f"monitor set engine {engine}",
                    f"break {t.line('userfault.c', 'BEGIN')}", "continue",
                    f"{'hbreak' if engine in ('perf_event', 'debugreg') else 'break'} work "
                    "if *never == 7 || n == 3", prog=t.prog("userfault"),
                    python='emit(stops=stops(["n"]))')
        stops = [[n, "Cannot access memory" in str(rest)] for _, n, *rest in
                 gdb.results[0]["stops"]]
        t.equal(stops, [[str(n), True] for n in range(ROUNDS)], f"stops with {engine}")
        server.wait_output(LAZY)


def test_watch(t):
    """A watched value that cannot be read yet."""
    server = start(t)
    gdb = t.gdb(server, "break work", "continue", "delete", "watch *never",
                "watch -l other", "continue", "delete", "continue",
                prog=t.prog("userfault"))
    t.match(r"exited normally", gdb.output())
    server.wait_output(LAZY)


def test_dprintf(t):
    server = start(t)
    gdb = t.gdb(server, "set dprintf-style agent", "break main", "continue",
                'dprintf work,"%ld is %ld\\n", n, *never', "continue", "kill",
                prog=t.prog("userfault"), limit=60)
    t.no_match(r"is 0", gdb.output())


def test_server_can_be_ended(t):
    """After all these looks it lets go."""
    server = start(t)
    t.gdb(server, "break work", "continue", "p *never", "disconnect",
          prog=t.prog("userfault"))
    pid = server.inferior()
    server.kill(signal.SIGTERM)
    server.wait()
    harness.wait_for(lambda: harness.process_state(pid) in (None, "Z"), "end of the program")
