# SPDX-License-Identifier: BSD-2-Clause
"""Many threads, signals, children and interrupts at once: the stops that a client
sees are those that the program counts itself, and nothing is left behind. Seeds are
fixed; STORM_SEED and STORM_SCALE make longer runs by hand, STORM=10000 so many signals
in test_storm_of_signals, for STORM_THREADS (-v shows the figures), and
STORM_SERVER=--debug=stops gives the server options. There are fewer signals where tests
take longer (TRUEHIT_PATIENCE)."""
import os
import random
import signal
import socket
import threading
import time

import harness
import rsp
from storms import (MACHINE, NEVER, PASS, SCALE, SEED, Background, Session, Storm, condition,
                    run_disturbed)
from test_watch_filter import AHEAD

SIGNALS_SENT = int(os.environ.get("STORM", 300 // harness.PATIENCE))
THREADS = int(os.environ.get("STORM_THREADS", "4"))


def storm(t, breakpoint, threads, rounds, activities="", passes="", interrupts=0.0,
          page=False, traps=False, seed=SEED, place="hit", engine=None):
    program = Storm(t, threads, max(64, int(rounds * SCALE)), activities)
    session = Session(t, program, breakpoint, condition(page=page), passes, seed, place,
                      engine)
    if traps:
        session.fill_slots()
    program.go()
    session.must_agree(session.run(interrupts))
    return session


def test_signals_hardware_one_thread(t):
    t.need_kernel_conditions()
    storm(t, 1, 1, 20000, "uaf", PASS)


def test_signals_hardware_threads(t):
    t.need_kernel_conditions()
    storm(t, 1, 8, 3000, "uaf", PASS)


def test_signals_hardware_reported(t):
    t.need_kernel_conditions()
    storm(t, 1, 8, 2000, "uf")


def test_signals_software_in_hardware(t):
    t.need_kernel_conditions()
    storm(t, 0, 8, 2000, "uaf", PASS, interrupts=0.3)


def test_signals_trap(t):
    storm(t, 0, 4, 256, "uaf", PASS, traps=True)


def test_signals_trap_reported(t):
    storm(t, 0, 4, 128, "uf", interrupts=0.3, traps=True)


def storm_of_signals(t, breakpoint, choice, engine):
    """While all threads hit: every second time with a client that is told of each. A true
    hit comes often, as an emulated processor needs milliseconds for any."""
    t.need_kernel_conditions()
    signal.alarm(0 if SIGNALS_SENT > 1000 else harness.TEST_LIMIT)
    for passes in PASS, "":
        program = Storm(t, THREADS, 64, "u", SIGNALS_SENT // 2, every=8)
        session = Session(t, program, breakpoint, condition(7), passes, engine=choice)
        t.match(f" {engine} ", session.client.monitor("breakpoints"), "the engine")
        program.go()
        session.must_agree(session.run(limit=10 ** 9))
        counts = program.counts()
        t.equal(counts["sent"], SIGNALS_SENT // 2, "signals")
        t.note(f"{engine}: {counts['sent']} signals, {sum(session.signals.values())} told; "
               f"{counts['calls']} hits, {counts['trues']} true; {session.hits} told, "
               f"{session.repeated} told again")


@harness.machines("main", "as=root")
def test_storm_of_signals_hardware(t):
    storm_of_signals(t, 1, "hardware", "perf_event")


def test_storm_of_signals_uprobe(t):
    t.need_x86()
    storm_of_signals(t, 0, "uprobe", "uprobe")


def storm_with_gdb(t, threads):
    """The stops that gdb shows, and the program's counts."""
    wanted = t.quick(SIGNALS_SENT // 10, 10)
    argument = {"x86_64": "$rdi", "aarch64": "$x0"}[MACHINE]
    program = Storm(t, threads, 64, "u", wanted)
    server = t.server(*os.environ.get("STORM_SERVER", "").split(),
                      "--attach", "COMM", program.pid)
    program.go()
    gdb = t.gdb(server, "handle SIGUSR1 nostop noprint pass",
                f"hbreak *hit if {argument} % 64 == 0", prog=t.prog("storm"), python=f"""
found = stops(["$_thread", "{argument}"], {100 * wanted + 1000})
emit(found=found, code=events.exit_code)
""")
    found, counts = gdb.results[0]["found"], program.counts()
    t.note(f"{counts['sent']} signals, {counts['calls']} hits, {counts['trues']} true; "
           f"{len(found)} shown, {len(set(map(tuple, found)))} different")
    t.equal(gdb.results[0]["code"], 0, "exit code")
    t.equal(counts["handled"], wanted, "signals handled")
    t.equal(len(set(map(tuple, found))), counts["trues"], "true hits shown")
    return found, counts


def test_storm_of_signals_with_gdb(t):
    """gdb passes them on: each true hit is shown once."""
    found, counts = storm_with_gdb(t, 1)
    t.equal(len(found), counts["trues"], "stops")


def test_storm_of_signals_with_gdb_threads(t):
    """When another thread stops meanwhile, gdb forgets that one is in a handler, from which
    it comes back to the place of its hit: where it hits again, gdb shows it again. With
    gdbserver, too."""
    found, counts = storm_with_gdb(t, 4)
    if MACHINE == "x86_64":
        t.equal(len(found), counts["trues"], "stops")


def test_many_threads(t):
    """New threads are filtered from their first instruction on."""
    t.need_kernel_conditions()
    storm(t, 1, 64, 128, "t", interrupts=0.2)


def test_new_threads_trap(t):
    storm(t, 0, 2, 128, "t", traps=True, interrupts=0.2)


def test_vfork_traps(t):
    """Several threads make children that share their memory for a while."""
    storm(t, 0, 2, 128, "vw", traps=True, interrupts=0.2)


def test_vfork_hardware(t):
    t.need_kernel_conditions()
    storm(t, 1, 4, 1000, "vwf", PASS, interrupts=0.2)


def test_leader_gone(t):
    """Other servers' uprobes at the place would take traps: without the leader, it is
    hardware that serves it."""
    t.need_kernel_conditions()
    t.need_breakpoint_registers()
    storm(t, 0, 4, 1000, "lut", interrupts=0.3)


def test_leader_gone_without_a_slot(t):
    """... or a trap in a pad."""
    t.need_kernel_conditions()
    other = Session(t, Storm(t, 1, 64), 0, condition())  # not let go
    other.client.send_bytes(other.client.frame("vCont;c"))
    storm(t, 0, 4, 1000, "lut", interrupts=0.3, traps=True)


def test_leader_gone_unnoticed(t):
    """Another server takes out its uprobe at the same place of the same file before ours
    hears that the leader has ended: the kernel then looks whose traps are to stay, and
    finds no memory of such a process."""
    t.need_kernel_conditions()
    t.need_breakpoint_registers()
    program, beside = Storm(t, 1, 64, "lm"), Storm(t, 1, 64)
    session, other = (Session(t, p, 0, condition()) for p in (program, beside))
    for one in session, other:
        one.client.send_bytes(one.client.frame("vCont;c"))
    other.client.interrupt()
    t.match("^T02", other.client.receive().decode(), "the other one's stop")
    worker, = set(os.listdir(f"/proc/{program.pid}/task")) - {str(program.pid)}
    for tid in program.pid, worker:
        harness.wait_for(lambda: harness.process_state(tid) == "S", "the program running")
    serving = session.server.serving
    os.kill(serving, signal.SIGSTOP)
    harness.wait_for(lambda: harness.process_state(serving) == "T", "the server stopped")
    program.go(2)
    harness.wait_for(lambda: harness.process_state(program.pid) in "tZ", "the leader's end")
    t.equal(other.client.ask("D"), "OK", "D")
    t.equal(other.server.wait(), 0, "status of the other server")
    program.go()
    harness.wait_for(lambda: harness.process_state(worker) == "t", "a stop")
    os.kill(session.server.pid, signal.SIGCONT)
    stop = session.client.receive().decode("latin1")
    while stop[0] == "T":
        session.step_off(session.on_hit(stop))
        stop = session.resume("vCont;c")
    session.must_agree(stop)


@harness.machines("main", "as=root")
def test_leader_gone_trap(t):
    """Traps of the stub's own: where a process had uprobes, and lost its leader, other
    servers with uprobes at the same place would take these."""
    storm(t, 0, 3, 128, "lut", interrupts=0.3, traps=True, engine="ptrace")


def test_traps_of_its_own(t):
    t.need_kernel_conditions()
    storm(t, 1, 4, 1000, "ru", PASS, interrupts=0.2)


def test_traps_blocked(t):
    t.need_kernel_conditions()
    storm(t, 1, 4, 1000, "bua", PASS, interrupts=0.2)


def test_page_comes_and_goes(t):
    t.need_kernel_conditions()
    storm(t, 1, 4, 1000, "dt", page=True, interrupts=0.2)


def test_page_forbidden(t):
    storm(t, 1, 4, 600, "pu", PASS, page=True, interrupts=0.2)


def begin(t, program, z, conditions):
    server = t.server("--attach", "COMM", program.pid)
    client = rsp.Client(server)
    client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    client.ask("qSupported:swbreak+;hwbreak+;vContSupported+")
    client.ask("?")
    client.ask("QPassSignals:" + PASS)
    at = program.counts()["hit_at"]
    t.equal(client.ask(f"Z{z},{at:x},1{conditions}"), "OK", "the breakpoint")
    return server, client


def test_killed_server_leaves_nothing(t):
    t.need_kernel_conditions()
    chance = random.Random(SEED)
    program = Background(t, 4, "utf")
    for turn in range(int(6 * SCALE)):
        server, client = begin(t, program, turn % 2, NEVER)
        client.send_bytes(client.frame("vCont;c"))
        time.sleep(chance.random() * 0.05)
        server.kill()
        server.wait()
        program.must_run()


def test_detach_leaves_nothing(t):
    """Unconditional hits all the time, some of them seen, some not yet."""
    chance = random.Random(SEED)
    program = Background(t, 4, "utf")
    for turn in range(int(8 * SCALE)):
        server, client = begin(t, program, turn % 2, "")
        for _ in range(chance.randrange(4)):
            client.ask("vCont;c")
        if turn % 4 > 1:
            client.send_bytes(client.frame("vCont;c"))
            time.sleep(chance.random() * 0.01)
            client.interrupt()
            client.receive()
        t.equal(client.ask("D"), "OK", "detach")
        client.close()
        server.wait()
        program.must_run()


def test_killed_program(t):
    """From outside, at any moment: the end is told."""
    chance = random.Random(SEED)
    for turn in range(int(8 * SCALE)):
        program = Background(t, 4, "utv")
        _, client = begin(t, program, turn % 2, condition(127) if turn % 4 < 2 else "")
        timer = threading.Timer(chance.random() * 0.05, program.process.kill)
        timer.start()
        for _ in range(100000):
            stop = client.ask("vCont;c")
            if stop[0] != "T":
                break
        t.match("^X09|^E", stop, "the end")
        timer.join()
        client.close()


def test_killed_while_a_hit_is_told(t):
    """All threads hit all the time. The one whose hit is to be told may be gone when the
    others have stopped: then these have to go on, for the end to come."""
    chance = random.Random(SEED)
    for _ in range(int(24 * SCALE)):
        program = Background(t, 4, "t")
        server, client = begin(t, program, 0, "")
        timer = threading.Timer(chance.random() * 0.01, program.process.kill)
        timer.start()
        stop = "T"
        while stop[0] == "T":
            stop = client.ask("vCont;c")
        t.match("^X09|^E", stop, "the end")
        timer.join()
        client.close()
        server.wait()


def test_stopped_from_outside(t):
    """SIGSTOP and SIGCONT all the time."""
    t.need_kernel_conditions()
    program = Storm(t, 4, 2000, "u")
    session = Session(t, program, 1, condition(), PASS)
    session.must_agree(run_disturbed(session, signal.SIGSTOP, signal.SIGCONT))


def test_watch_threads(t):
    """Two watchpoints that every write of 8 threads hits, and steps in between; a client
    that wants to hear of each."""
    program = Storm(t, 8, 20)
    session = Session(t, program, 1, NEVER)
    t.equal(session.client.ask("QThreadSuffixSupported"), "OK", "a feature of lldb")
    watchpoints = [f"2,{program.counts()['watched_at']:x},{size}" for size in (4, 8)]

    def ask_each(action):
        for watchpoint in watchpoints:
            t.equal(session.client.ask(action + watchpoint), "OK", action + watchpoint)
    ask_each("Z")
    program.go()
    for writes in range(10000):
        stop = session.resume("vCont;c")
        if stop[0] != "T":
            break
        t.match("watch:", stop, "a stop")
        if AHEAD or writes % 3 == 0:
            if AHEAD:
                ask_each("z")
            step = session.resume(f"vCont;s:{session.thread(stop)}")
            t.match("^T05", step, "a step")
            t.no_match("watch", step, "a step")
            if AHEAD:
                ask_each("Z")
    t.equal(stop, "W00", "the end")
    t.equal(writes, 160, "writes")


def test_range_step_over_hits(t):
    """A thread steps over and over through a loop in which it is to stop, while the
    others run: it makes no more and no fewer rounds than it should."""
    t.need_kernel_conditions()
    program = Storm(t, 3, 200, "u")
    session = Session(t, program, 1, condition(), PASS)
    packet = f"Z1,{session.at + 4:x},1{NEVER}"
    t.equal(session.client.ask(packet), "OK", packet)
    program.go()
    steps = 0
    stop = session.resume("vCont;c")
    while stop[0] == "T":
        if "hwbreak" in stop:
            session.on_hit(stop)
        steps += 1
        tid = session.thread(stop)
        if steps % 50:
            stop = session.resume(f"vCont;r{session.at:x},{session.at + 64:x}:{tid};c")
        else:
            stop = session.resume("vCont;c")
        if stop[0] == "T" and stop[1:3] == "1e":
            session.owed.append((session.thread(stop), 0x1e))
            stop = session.resume(session.go_on())
    session.must_agree(stop)
