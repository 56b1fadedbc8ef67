# SPDX-License-Identifier: BSD-2-Clause
"""Conditional breakpoints at instructions of every kind, which are executed before
their stop and undone: the client sees each true hit once, before the instruction, and
the program's own results show that each was executed once."""
import random
import signal
import time

import harness
import rsp
from storms import (NEVER, PASS, PASS_ALL, SCALE, SEED, Background, Session, Storm, condition,
                    run_disturbed)

RAX, RCX, RBP, RSP = 0, 2, 6, 7
KINDS = "push move load add call branch jump leave return".split()
STORES = "store update count".split()
OTHERS = "ask write rewrite exchange indirect vector x87 string".split()


class Probe(Session):
    """A client at a place of storm's kinds()."""

    def __init__(self, t, storm, place, conditions=None, passes="", seed=SEED):
        t.need_x86()
        t.need_kernel_conditions()
        self.place = place
        super().__init__(t, storm, 0, condition() if conditions is None else conditions, passes, seed, place,
                         "uprobe")

    def word(self, address):
        return int.from_bytes(bytes.fromhex(self.client.ask(f"m{address:x},8")), "little")

    def engine(self):
        return harness.breakpoint_rows(self.client.monitor("breakpoints"))[0]["text"]

    def on_hit(self, stop):
        tid = super().on_hit(stop)
        if self.place in OTHERS:
            return tid
        i = self.register(tid, 5)
        self.client.ask(f"Hg{tid}")
        sp, fp = self.register(tid, RSP), self.register(tid, RBP)
        rax = {"store": i + 1, "update": i + 1, "load": i + 1, "add": i + 1, "call": i + 8,
               "branch": 3 * (i + 8) + 1, "jump": 5 * i + 26, "leave": 5 * i + 26,
               "return": 5 * i + 26}
        if self.place in rax:
            self.t.equal(self.register(tid, RAX), rax[self.place], "rax")
        if self.place in ("add", "call", "branch", "jump"):
            self.t.equal(self.register(tid, RCX), 7, "rcx")
        if self.place == "move":
            self.t.equal(self.word(sp), fp, "what push has stored")
        elif self.place not in ("push", "return"):
            self.t.equal(fp - sp, 16, "the frame")
        if self.place in ("update", "load", "call", "leave"):
            self.t.equal(self.word(fp - 8), i + 1 if self.place == "update" else 2 * i + 1,
                         "the local variable")
        return tid


def probe(t, place, threads, rounds, activities="", passes="", interrupts=0.0,
          seed=SEED, conditions=None):
    kind = "o" if place in OTHERS else "k"
    program = Storm(t, threads, max(64, int(rounds * SCALE)), kind + activities)
    session = Probe(t, program, place, conditions, passes, seed)
    t.match(r" uprobe ", session.engine(), "the engine")
    program.go()
    session.must_agree(session.run(interrupts))
    return session


def redirects(t):
    """Can threads be stopped before any instruction, with no need to undo it?"""
    client = rsp.Client(t.server("COMM", t.prog("loop")))
    text = client.monitor("engines")
    client.close()
    return "threads stop before the instruction" in text


def need_redirection(t):
    t.need_x86()
    t.need_kernel_conditions()
    if not redirects(t):
        t.skip("this kernel lets no program set the PC")


def test_what_cannot_be_undone(t):
    need_redirection(t)
    for place in OTHERS:
        probe(t, place, 1, 640)
        probe(t, place, 8, 64)
        probe(t, place, 4, 640, "uaf", PASS, interrupts=0.3)


def test_hits_of_which_nobody_is_told(t):
    """The kernel does not know fs_base: the stub decides each hit, and lets the thread go
    on after the instruction, which is executed once."""
    t.need_x86()
    t.need_kernel_conditions()
    code = condition().partition(",")[2][:-2] + "26003a2200130e0f27"
    for place in ["add"] + OTHERS * redirects(t):
        session = probe(t, place, 4, 128, conditions=f";X{len(code) // 2:x},{code}")
        t.check(session.hits > 0, "hits")


def disturbed(t, place, *signals):
    program = Storm(t, 4, max(64, int(2000 * SCALE)), "o" if place in OTHERS else "k")
    session = Probe(t, program, place, passes=PASS + ";13")
    session.must_agree(run_disturbed(session, *signals))


def test_continued_from_outside(t):
    """A SIGCONT discards the signal that a hit sends, and no hit is lost for that."""
    need_redirection(t)
    for place in "add", "write":
        disturbed(t, place, signal.SIGCONT)


def test_stopped_from_outside(t):
    need_redirection(t)
    for place in "add", "write":
        disturbed(t, place, signal.SIGSTOP, signal.SIGCONT)


def test_many_threads(t):
    for place in KINDS:
        probe(t, place, 64, 64)


def test_one_thread(t):
    for place in KINDS:
        probe(t, place, 1, 6400)


def test_signals(t):
    for place in KINDS:
        probe(t, place, 4, 640, "ua", PASS)


def beside_probes(t, storm, place, conditions=None):
    """A client at a place that can be no uprobe, in memory with uprobes, without a slot and a
    pad: there is a trap that the kernel does not take for its own."""
    session = Probe(t, storm, place, conditions, PASS)
    session.client.monitor("set pads off")
    probe_at = f"Z0,{storm.counts()['move_at']:x},1{NEVER}"
    t.equal(session.client.ask(probe_at), "OK", probe_at)
    session.extra.append(probe_at)
    session.fill_slots()
    return session


def test_distinct_traps(t):
    for place in STORES:
        program = Storm(t, 4, max(64, int(640 * SCALE)), "kua")
        session = beside_probes(t, program, place)
        program.go()
        session.must_agree(session.run(0.3))


def test_distinct_traps_leave_nothing(t):
    """At a detach or a kill at any moment, with hits of which nobody has been told yet."""
    chance = random.Random(SEED)
    traps = not redirects(t)  # else stores can be uprobes, whatever threads there are
    program = Background(t, 4, "kuf")
    for turn in range(int(12 * SCALE)):
        session = beside_probes(t, program, STORES[turn % 3], "" if turn % 4 else NEVER)
        if turn % 4:
            stop = session.client.ask("vCont;c")
            t.match("^T05.*swbreak", stop, "a stop")
            t.match(" int3 " if traps else " uprobe ", session.engine(), "the engine")
        if turn % 2:
            session.client.send_bytes(session.client.frame("vCont;c"))
            time.sleep(chance.random() * 0.05)
            session.server.kill()
        else:
            t.equal(session.client.ask("D"), "OK", "detach")
            session.client.close()
        session.server.wait()
        program.must_run()


def test_signals_and_interrupts(t):
    for place in KINDS:
        probe(t, place, 4, 640, "uaf", PASS, interrupts=0.3)


def test_signals_reported(t):
    for place in KINDS:
        probe(t, place, 4, 640, "uf", interrupts=0.1)


def test_stores_of_one_thread(t):
    """It is alone, and is not any more: the place is for another engine then, and no hit
    is lost or comes twice."""
    for place in STORES:
        probe(t, place, 3, 640, "m")


def test_stores_beside_another_server(t):
    """When the place is for another engine, without a hardware slot, it is a trap of the
    server's own, which the kernel must not take for the other server's uprobe."""
    for place in STORES:
        other = Probe(t, Storm(t, 1, 64, "k"), place)  # not let go: it has one thread
        t.match(r" uprobe ", other.engine(), "the other one's engine")
        other.client.send_bytes(other.client.frame("vCont;c"))
        program = Storm(t, 3, max(64, int(640 * SCALE)), "km")
        session = Probe(t, program, place)
        session.fill_slots()
        program.go()
        session.must_agree(session.run())
        other.client.interrupt()
        t.match("^T02", other.client.receive().decode(), "the other one's stop")
        t.equal(other.client.ask("D"), "OK", "D")


def test_stores_and_signals(t):
    for place in STORES:
        probe(t, place, 3, 640, "mua", PASS, interrupts=0.3)


def test_detach_leaves_nothing(t):
    """At any moment, with hits of which nobody has been told yet."""
    t.need_x86()
    chance = random.Random(SEED)
    program = Background(t, 4, "kuf")
    for turn in range(int(12 * SCALE)):
        session = Probe(t, program, KINDS[turn % len(KINDS)], passes=PASS)
        for _ in range(chance.randrange(4)):
            session.client.ask("vCont;c")
        if turn % 3 > 1:
            session.client.send_bytes(session.client.frame("vCont;c"))
            time.sleep(chance.random() * 0.01)
            session.client.interrupt()
            session.client.receive()
        t.equal(session.client.ask("D"), "OK", "detach")
        session.client.close()
        session.server.wait()
        program.must_run()


def test_killed_server_leaves_nothing(t):
    t.need_x86()
    chance = random.Random(SEED)
    program = Background(t, 4, "kuf")
    for turn in range(int(9 * SCALE)):
        session = Probe(t, program, KINDS[turn % len(KINDS)], "" if turn % 2 else NEVER,
                        PASS)
        session.client.send_bytes(session.client.frame("vCont;c"))
        time.sleep(chance.random() * 0.05)
        session.server.kill()
        session.server.wait()
        program.must_run()


def test_step_where_it_is_inserted(t):
    """The end of the step comes first, and the signal that the hit has sent is still on
    its way when the program is left."""
    t.need_x86()
    for place in ("push", "add", "return"):
        program = Background(t, 2, "k")
        session = Probe(t, program, place, "")
        stop = session.client.ask("vCont;c")
        for _ in range(3):
            stop = session.client.ask(f"vCont;s:{session.thread(stop)}")
            t.match("^T05", stop, "a stop")
        t.equal(session.client.ask("D"), "OK", "detach")
        program.must_run()


def fault_stops(t, mode, condition, *commands):
    """What each stop is for: a hit, or the signal's name."""
    t.need_x86()
    t.need_kernel_conditions()
    server = t.server("COMM", t.prog("loads"), mode)
    gdb = t.gdb(server, "monitor set engine uprobe", f"break {t.line('loads.c', 'READY')}",
                "continue", f"break *load if {condition}", *commands, prog=t.prog("loads"),
                python="""
found = []
for _ in range(20):
    run("continue")
    if not alive():
        break
    if isinstance(events.stop, gdb.SignalEvent):
        found.append(events.stop.stop_signal)
    else:
        found.append("hit" if value("$pc == &load") == "1" else "elsewhere")
emit(found=found, code=events.exit_code)
""")
    t.equal(gdb.results[0]["code"], 0, "exit code")
    t.match(r"^handled 1, sum 27$", server.output())
    return gdb.results[0]["found"]


def test_faults_at_the_place(t):
    """The hit comes first, then the fault, once."""
    true, false = "$rdi == page", "$rdi == 1"
    t.equal(fault_stops(t, "jump", true), ["hit", "SIGSEGV"], "true, siglongjmp")
    t.equal(fault_stops(t, "mend", true), ["hit", "SIGSEGV", "hit"], "true, mended")
    for mode in "jump", "mend":
        t.equal(fault_stops(t, mode, false), ["SIGSEGV"], f"false, {mode}")
        t.equal(fault_stops(t, mode, false, "handle SIGSEGV nostop noprint pass"), [],
                f"false and passed, {mode}")
    t.equal(fault_stops(t, "jump", true, "handle SIGSEGV nostop noprint pass"), ["hit"],
            "true and passed")


def test_continued_all_the_time(t):
    """SIGCONT takes back a SIGSTOP that is on its way to a thread."""
    for place in KINDS[::2]:
        probe(t, place, 4, 640, "cu", PASS_ALL)


def test_continued_with_signals_blocked(t):
    for place in KINDS[::2]:
        probe(t, place, 4, 320, "cusx", PASS_ALL, interrupts=0.1)


def test_resized_all_the_time(t):
    """Signals of the number that programs send: each reaches the program."""
    for place in KINDS:
        probe(t, place, 4, 640, "xua", PASS_ALL, interrupts=0.1)


def test_stopped_all_the_time(t):
    """By job control, and continued, as fast as can be."""
    for place in KINDS:
        probe(t, place, 4, 320, "jus", PASS_ALL, interrupts=0.3)
