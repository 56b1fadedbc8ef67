# SPDX-License-Identifier: BSD-2-Clause
"""Storms while conditions are in pads: signals, forks, new threads, programs that execute
themselves anew, libraries that come and go. Each hit is counted once, and each true one is
told once, as the program counts them itself. STORM_SEED, STORM_SCALE and STORM are those of
test_storm.py (-v shows the figures): STORM_SCALE=30 has each of these some thousand times,
STORM=10000 so many signals."""
import collections
import os
import random
import signal
import struct

import harness
import rsp
from storms import (ARGUMENT, MACHINE, NAMES, PASS, PASS_ALL, PC, SCALE, SEED, Session, Storm,
                    condition)
from test_storm import THREADS

SIGNALS_SENT = int(os.environ.get("STORM", 100 // harness.PATIENCE))
EXIT_GROUP = {"x86_64": 0xe7, "aarch64": 0x5e}[MACHINE]
# Where the place is free that a jump with given last bytes leads to depends on the addresses.
FIXED = ["setarch", "-R"]
KINDS = ("push_at", "move_at", "store_at", "update_at", "count_at", "load_at", "add_at", "call_at",
         "branch_at", "jump_at", "leave_at", "return_at")
RENEW = "go hit point greet calls trues greets greet_trues turns errors".split()
EVERY = 128      # renew's
ENGINES = ("uprobe", "ptrace") if MACHINE == "x86_64" else ("ptrace",)


def need_pads(t, engine):
    t.truehit_only("pads")
    t.need_any_engine()
    if engine == "uprobe":
        t.need_x86()
        t.need_kernel_conditions()


def row_at(client, address):
    """Of `monitor breakpoints`: the counts of the location there."""
    text = client.monitor("breakpoints")
    return next((row for row in harness.breakpoint_rows(text)
                 if int(row["text"].split()[2], 16) == address), None)


def why_no_pad(client, address):
    """None: its trap is in one."""
    number = row_at(client, address)["text"].split()[0]
    text = client.monitor(f"explain {number}")
    if "The trap is in a pad" in text:
        return None
    return text.partition("No pad: ")[2].partition("\n")[0] or text


# ---- the program `storm`: signals, forks, threads ----

class PadSession(Session):
    """With a pad. It stops once more when the program is about to end, and counts."""

    def insert(self):
        super().insert()
        self.client.ask(f"QCatchSyscalls:1;{EXIT_GROUP:x}")

    def resume(self, packet, interrupt=False):
        stop = super().resume(packet, interrupt)
        if "syscall_entry" not in stop:
            return stop
        self.row = row_at(self.client, self.at)
        self.t.equal(why_no_pad(self.client, self.at), None, "why it is in no pad in the end")
        return super().resume("vCont;c")

    def must_agree(self, end):
        super().must_agree(end)
        counts = self.storm.counts()
        # A thread that a client steps into a signal's handler comes back to its hit.
        calls, trues = (counts[name] + self.repeated for name in ("calls", "trues"))
        self.t.equal((self.row["hits"], self.row["true"], self.row["false"]),
                     (calls, trues, calls - trues), "hits, true and false ones")
        self.t.note(f"{counts['calls']} hits, {counts['trues']} true; {counts['children']} "
                    f"children, {counts['sent']} signals, {sum(self.signals.values())} told")


def storm(t, engine, activities, threads=4, rounds=2000, passes=PASS, place="hit", signals=0,
          every=64, interrupts=0.0):
    program = Storm(t, threads, rounds, activities, signals, every, FIXED)
    session = PadSession(t, program, 0, condition(every - 1), passes, SEED, place, engine,
                         "always")
    t.equal(why_no_pad(session.client, session.at), None, f"why {place} is in no pad")
    program.go()
    session.must_agree(session.run(interrupts, 10 ** 9))


def storm_of_signals(t, engine):
    """As test_storm_of_signals_uprobe: while all threads hit, half of the signals just before
    true hits, and every second time with a client that is told of each."""
    need_pads(t, engine)
    signal.alarm(0 if SIGNALS_SENT > 1000 else harness.TEST_LIMIT)
    for passes in PASS, "":
        storm(t, engine, "u", THREADS, 64, passes, "hit", SIGNALS_SENT // 2, 8)


def test_pads_in_a_storm_of_signals(t):
    storm_of_signals(t, "uprobe")


def test_pads_in_a_storm_of_signals_without_rights(t):
    storm_of_signals(t, "ptrace")


def storm_of(t, activities):
    """Many false hits for each true one, so that much happens meanwhile."""
    rounds, every = (1000000, 16384) if harness.PATIENCE == 1 else (2048, 64)
    signal.alarm(0 if SCALE > 1 else harness.TEST_LIMIT)
    for engine in ENGINES:
        need_pads(t, engine)
        storm(t, engine, activities, 4, max(every, int(rounds * SCALE)), every=every,
              interrupts=0.2)


def test_pads_in_a_storm_of_forks(t):
    """Of each child, the text is as it was before it runs."""
    storm_of(t, "fvwua")


def test_pads_in_a_storm_of_threads(t):
    storm_of(t, "tu")


def test_pads_in_a_storm_of_everything(t):
    storm_of(t, "fvtuax")


def test_pads_in_a_storm_of_stops(t):
    """By job control, and continued, as fast as can be: among these stops is the end of the
    step by which a thread leaves a pad."""
    t.need_x86()
    for engine in ENGINES:
        need_pads(t, engine)
        storm(t, engine, "kjus", 4, max(64, int(192 * min(SCALE, 10))), PASS_ALL, "return",
              interrupts=0.3)


def test_pads_of_each_kind_in_a_storm(t):
    """At instructions of every kind: two of them, or all in a long run."""
    t.need_x86()
    kinds = KINDS if SCALE > 1 else random.Random(SEED).sample(KINDS, 2)
    for place in kinds:
        for engine in ENGINES:
            need_pads(t, engine)
            storm(t, engine, "kutf", 4, max(64, int(300 * min(SCALE, 10))), place=place[:-3])


# ---- the program `renew`: exec and dlopen ----

class Renewing:
    """It, and a server that has attached."""

    def __init__(self, t, way, times, threads):
        self.t, self.times = t, times
        self.file = t.dir / f"counts-{len(t.processes)}"
        process = harness.Process(t, [*FIXED, t.prog("renew"), self.file, way, times, threads])
        harness.wait_for(lambda: self.file.exists() and self.counts()["hit"],
                         "the program's addresses")
        self.server = t.server("--attach", "COMM", process.pid)

    def counts(self):
        data = self.file.read_bytes()[:8 * len(RENEW)].ljust(8 * len(RENEW), b"\0")
        return dict(zip(RENEW, struct.unpack(f"={len(RENEW)}Q", data)))

    def go(self):
        with open(self.file, "r+b") as file:
            file.write(struct.pack("=Q", 1))


class Renewed(Renewing):
    """A session with it. Of its points, each is told; hit() and greet() are in pads."""

    def __init__(self, t, way, times, threads, engine):
        super().__init__(t, way, times, threads)
        self.client = rsp.Client(self.server)
        self.client.ask("qSupported:multiprocess-;swbreak+;vContSupported+;exec-events+")
        self.client.ask("QStartNoAckMode")
        self.client.acks = False
        self.client.ask("?")
        self.client.monitor(f"set engine {engine}")
        self.client.monitor("set pads always")
        self.inserted = {}  # the condition of each, but of what the library takes with it
        self.before = {}    # what was counted when it was put in: by us, by the program
        self.trues = {"hit": 0, "greet": 0}
        self.pads = {"hit": collections.Counter(), "greet": collections.Counter()}

    def counted(self, what):
        """By the program, and by the server: hits, and true ones."""
        counts = self.counts()
        row = row_at(self.client, self.where(what))
        self.t.equal(row["hits"], row["true"] + row["false"], "hits, and their sum")
        names = ("calls", "trues") if what == "hit" else ("greets", "greet_trues")
        return [counts[name] for name in names], [row["hits"], row["true"]]

    def where(self, what):
        return self.counts()[what]

    def put(self, what):
        code = condition(EVERY - 1) if what != "point" else ""
        self.inserted[self.where(what)] = code
        self.t.equal(self.client.ask(f"Z0,{self.where(what):x},1{code}"), "OK", f"Z0 {what}")
        if what != "point":
            self.before[what] = self.counted(what)
            self.pads[what][why_no_pad(self.client, self.where(what))] += 1

    def take(self, address):
        self.t.equal(self.client.ask(f"z0,{address:x},1"), "OK", "z0")

    def must_agree(self, what):
        """Each hit since it was put in was counted, and each true one told."""
        program, server = ([now - then for now, then in zip(*pair)] for pair in
                           zip(self.counted(what), self.before[what]))
        self.t.equal(server, program, f"turn {self.counts()['turns']}: hits of {what}, and "
                     "true ones")
        trues = self.counts()["trues" if what == "hit" else "greet_trues"]
        self.t.equal(self.trues[what], trues, f"true hits of {what} told")

    def register(self, tid, number):
        self.client.ask(f"Hg{tid}")
        return int.from_bytes(bytes.fromhex(self.client.ask(f"p{number:x}"))[:8], "little")

    def on_hit(self, stop):
        tid = Session.thread(stop)
        pc, argument = (self.register(tid, n) for n in (PC[MACHINE], ARGUMENT[MACHINE][0]))
        if pc == self.where("point"):
            self.on_point(argument)
        else:
            what, = (name for name in self.trues if self.where(name) == pc)
            self.t.equal(argument % EVERY, 0, "the argument at a true hit")
            self.trues[what] += 1
        self.step_off(tid)

    def step_off(self, tid):
        """As gdb: everything out, the thread steps alone, everything in again."""
        inserted = dict(self.inserted)
        for address in inserted:
            self.client.ask(f"z0,{address:x},1")
        self.t.match(f"^T05.*thread:{tid};", self.client.ask(f"vCont;s:{tid}"), "a step")
        for address, code in inserted.items():
            self.t.equal(self.client.ask(f"Z0,{address:x},1{code}"), "OK", "Z0")

    def on_point(self, what):
        turn = self.counts()["turns"]
        self.must_agree("hit")
        if what == 2:
            if self.left:
                self.take(self.left)
                self.left = None
            self.put("greet")
        elif what == 3:
            self.must_agree("greet")
            # Gone before the library is, or after, or never, as gdb does.
            greet = self.where("greet")
            del self.inserted[greet]
            if turn % 5 == 0:
                self.take(greet)
            elif turn % 5 == 1:
                self.left = greet

    left = None   # is to be taken out when the library has gone

    def run(self):
        self.put("point")
        self.put("hit")
        self.go()
        while (stop := self.client.ask("vCont;c"))[0] == "T":
            if "exec:" in stop:
                self.inserted = {}
                self.put("point")
                self.put("hit")
            else:
                self.t.match("swbreak", stop, "a stop")
                self.on_hit(stop)
        counts = self.counts()
        self.t.note(f"{counts}; told {self.trues}; why they were in no pad: {self.pads}")
        self.t.equal(stop, "W00", "the end")
        self.t.equal((counts["turns"], counts["errors"]), (self.times, 0), "turns and errors")
        # Near a library, the place may be taken that a jump can lead to.
        self.t.equal(set(self.pads["hit"]), {None}, "why hit() was in no pad")
        self.t.check(self.pads["greet"][None] or not self.pads["greet"], "greet() in a pad")


def renew(t, way, engine):
    need_pads(t, engine)
    signal.alarm(0 if SCALE > 1 else harness.TEST_LIMIT)
    Renewed(t, way, max(3, int(15 * SCALE)), 3, engine).run()


def test_pads_in_a_storm_of_execs(t):
    for engine in ENGINES:
        renew(t, "exec", engine)


def test_pads_in_a_storm_of_libraries(t):
    for engine in ENGINES:
        renew(t, "dlopen", engine)


def show(t, way):
    """gdb shows each true hit once."""
    need_pads(t, ENGINES[0])
    program = Renewing(t, way, max(3, int(5 * SCALE)), 3)
    program.go()
    gdb = t.gdb(program.server, f"monitor set engine {ENGINES[0]}", "monitor set pads always",
                "set breakpoint pending on", f"break hit if i % {EVERY} == 0",
                f"break greet if x % {EVERY} == 0", prog=t.prog("renew"), python="""
shown, pads = {}, 0
while True:
    run("continue")
    if not alive():
        break
    name = gdb.selected_frame().name()
    shown[name] = shown.get(name, 0) + 1
    pads += "The trap is in a pad" in run("monitor explain 1")
emit(shown=shown, pads=pads, code=events.exit_code)
""")
    counts, found = program.counts(), gdb.results[0]
    t.note(f"{counts}; {found}")
    t.equal((found["code"], counts["errors"]), (0, 0), "exit code, and errors")
    t.equal([found["shown"].get(name, 0) for name in ("hit", "greet")],
            [counts["trues"], counts["greet_trues"]], "true hits shown")
    t.check(found["pads"], "a pad")


def test_gdb_in_a_storm_of_execs(t):
    show(t, "exec")


def test_gdb_in_a_storm_of_libraries(t):
    show(t, "dlopen")
