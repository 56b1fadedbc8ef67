# SPDX-License-Identifier: BSD-2-Clause
"""Many threads, signals, children and interrupts at once: the stops that a client
sees are those that the program counts itself, and nothing is left behind. Seeds are
fixed; STORM_SEED and STORM_SCALE make longer runs by hand, STORM=10000 so many signals
in test_storm_of_signals, for STORM_THREADS (-v shows the figures), and
STORM_SERVER=--debug=stops gives the server options. There are fewer signals where tests
take longer (TRUEHIT_PATIENCE)."""
import collections
import os
import random
import re
import signal
import socket
import struct
import threading
import time

import harness
import rsp
from test_watch_filter import AHEAD

SEED = int(os.environ.get("STORM_SEED", "1"))
SCALE = float(os.environ.get("STORM_SCALE", "1"))
SIGNALS_SENT = int(os.environ.get("STORM", 300 // harness.PATIENCE))
THREADS = int(os.environ.get("STORM_THREADS", "4"))
NAMES = ("go hit_at watched_at calls trues sent handled alarms children chlds raised "
         "trapped errors done push_at move_at store_at update_at count_at load_at add_at "
         "call_at branch_at jump_at leave_at return_at ask_at write_at rewrite_at "
         "exchange_at indirect_at vector_at x87_at string_at resizes resized conts").split()
ARGUMENT = {"x86_64": (5, 4), "aarch64": (0, 1)}  # registers of the first two arguments
PC = {"x86_64": 16, "aarch64": 32}
SP = {"x86_64": 7, "aarch64": 31}
MACHINE = os.uname().machine
SIGNALS = {5: "TRAP", 10: "BUS", 14: "ALRM", 30: "USR1", 20: "CHLD"}  # gdb's numbers


class Storm:
    """The program, not yet let go."""

    def __init__(self, t, threads, rounds, activities="", signals=0, every=64):
        self.t, self.every = t, every
        self.signals = bool(set("uafr") & set(activities))
        self.file = t.dir / f"counts-{len(t.processes)}"
        self.process = harness.Process(
            t, [t.prog("storm"), self.file, threads, rounds, activities, signals, every])
        self.pid = self.process.pid
        harness.wait_for(lambda: self.file.exists() and self.counts()["hit_at"],
                         "the program's addresses")

    def counts(self):
        data = self.file.read_bytes()[:8 * len(NAMES)].ljust(8 * len(NAMES), b"\0")
        return dict(zip(NAMES, struct.unpack(f"={len(NAMES)}Q", data)))

    def go(self, how=1):
        with open(self.file, "r+b") as file:
            file.write(struct.pack("=Q", how))


def condition(mask=63, page=False):
    """(first argument & mask) == 0, && *second argument == 0 if page is set."""
    first, second = ARGUMENT[MACHINE]
    code = bytes([0x26, 0, first, 0x22, mask, 0x0f, 0x22, 0, 0x13])
    if page:
        code += bytes([0x26, 0, second, 0x17, 0x22, 0, 0x13, 0x0f])
    return f";X{len(code) + 1:x},{code.hex()}27"


NEVER = ";X3,220027"


class Session:
    """A client that does what gdb does, and keeps account of the stops."""

    def __init__(self, t, storm, breakpoint, conditions, passes="", seed=SEED,
                 place="hit", engine=None):
        self.t, self.storm = t, storm
        self.random = random.Random(seed)
        self.server = t.server(*os.environ.get("STORM_SERVER", "").split(),
                               "--attach", "COMM", storm.pid)
        self.client = rsp.Client(self.server)
        self.client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.client.ask("qSupported:multiprocess-;swbreak+;hwbreak+;vContSupported+"
                        ";QThreadEvents-;no-resumed+")
        self.client.ask("QStartNoAckMode")
        self.client.acks = False
        self.client.ask("?")
        if passes:
            self.client.ask("QPassSignals:" + passes)
        # There, a signal that comes at a hit makes another one when its handler
        # returns; x86_64 has a flag for hardware's.
        self.hits_again = MACHINE == "aarch64" and storm.signals
        self.at = storm.counts()[place + "_at"]
        self.software = breakpoint == 0
        self.z = f"z{breakpoint},{self.at:x},1"
        self.Z = f"Z{breakpoint},{self.at:x},1{conditions}"
        if engine:
            self.client.monitor(f"set engine {engine}")
        self.hits, self.signals, self.interrupts = 0, {}, 0
        self.seen, self.again, self.repeated = set(), set(), 0
        self.extra, self.owed = [], []
        self.told_last = collections.deque(maxlen=24)
        self.insert()

    def fill_slots(self):
        """Leaves no hardware to conditions: they are left to traps in the text."""
        address = self.storm.counts()["watched_at"] + 256
        for index in range(16):
            packet = f"Z1,{address + 16 * index:x},1"
            if self.client.ask(packet) != "OK":
                return
            self.extra.append(packet)

    def insert(self):
        for packet in [self.Z, *self.extra]:
            self.t.equal(self.client.ask(packet), "OK", packet)

    def remove(self):
        for packet in [self.z, *("z" + p[1:].partition(";")[0] for p in self.extra)]:
            self.t.equal(self.client.ask(packet), "OK", packet)

    def resume(self, packet, interrupt=False):
        """The stop reply. With interrupt, Ctrl-C comes after a random while."""
        self.client.send_bytes(self.client.frame(packet))
        try:
            if interrupt:
                time.sleep(self.random.random() * 0.004)
                self.client.interrupt()
            stop = self.client.receive().decode("latin1")
            self.told_last.append(f"{packet} -> {stop}")
            return stop
        except (ConnectionError, rsp.Closed):
            # A Ctrl-C that nobody has read takes the last packet with it.
            self.t.check(interrupt, "the server closed the connection")
            return f"W{self.storm.process.wait() & 0xff:02x}"

    @staticmethod
    def thread(stop):
        return re.search(r"thread:([0-9a-f.p]+);", stop).group(1)

    def register(self, tid, number):
        self.client.ask(f"Hg{tid}")
        value = self.client.ask(f"p{number:x}")
        return int.from_bytes(bytes.fromhex(value)[:8], "little")

    def on_hit(self, stop):
        tid = self.thread(stop)
        i = self.register(tid, ARGUMENT[MACHINE][0])
        self.t.equal(self.register(tid, PC[MACHINE]), self.at, "PC")
        self.t.equal(i % self.storm.every, 0, "the argument at a true hit")
        again = (tid, i) in self.seen
        if again and self.hits_again:
            self.again.add((tid, i))
        self.t.check(not again or (tid, i) in self.again, f"thread {tid}: {i} hit twice")
        self.again.discard((tid, i))
        self.seen.add((tid, i))
        self.hits += not again
        self.repeated += again
        self.told = tid, i, self.register(tid, SP[MACHINE])
        return tid

    def expect_again(self, tid):
        """A signal that came before the instruction was executed: when its handler
        returns, the thread hits again, but for one that hardware has stopped."""
        told, i, sp = self.told
        if told == tid and sp - self.register(tid, SP[MACHINE]) > 256:
            self.again.add((tid, i))

    def step_off(self, tid):
        """While the program is told to be quiet: nothing can end a storm of signals."""
        self.storm.go(2)
        end = self.step_alone(tid)
        self.storm.go()
        return end

    def step_alone(self, tid):
        """As gdb: everything out, the thread steps alone, everything in again.
        Signals that come in between wait. The reply if the program ends instead."""
        self.remove()
        for _ in range(100):
            stop = self.resume(f"vCont;s:{tid}")
            if stop[0] != "T":
                return stop
            self.t.equal(self.thread(stop), tid, f"the thread of {stop}")
            number = int(stop[1:3], 16)
            if number == 5:
                self.expect_again(tid)
                self.insert()
                return None
            if number == 2:  # a Ctrl-C that came too late for the last stop
                self.interrupts += 1
            else:
                self.owed.append((tid, number))
        raise harness.Failure("a step that does not end")

    def go_on(self):
        """The packet that continues, and delivers a signal to each whom one is owed."""
        packet, told, rest = "vCont", set(), []
        for tid, number in self.owed:
            if tid in told:
                rest.append((tid, number))
            else:
                told.add(tid)
                packet += f";C{number:02x}:{tid}"
        self.owed = rest
        return packet + ";c"

    def run(self, interrupts=0.0, limit=100000):
        """Until the program ends. Returns its last packet."""
        for _ in range(limit):
            packet = self.go_on()
            # Who is owed another signal must stop again.
            stop = self.resume(packet, self.owed or self.random.random() < interrupts)
            if stop[0] != "T":
                return stop
            number, tid = int(stop[1:3], 16), self.thread(stop)
            if "swbreak" in stop or "hwbreak" in stop:
                self.on_hit(stop)
                if self.software or self.random.random() < 0.5:
                    end = self.step_off(tid)
                    if end:
                        return end
            elif number == 2:
                self.interrupts += 1
            elif number == 5 and self.storm.counts()["raised"] == 0:
                self.t.check(False, f"a stop for no reason: {stop}; {self.about(tid)}")
            else:
                self.signals[number] = self.signals.get(number, 0) + 1
                self.owed.append((tid, number))
        raise harness.Failure("the program does not end")

    def about(self, tid):
        """Where the signal came from, the thread, and what is in place."""
        self.client.ask(f"Hg{tid}")
        info = self.client.ask("qXfer:siginfo:read::0,80").encode("latin1")[1:]
        number, _, code = struct.unpack("=3i", info[:12])
        pc = self.register(tid, PC[MACHINE])
        return "\n".join([f"signal {number}, si_code {code}, then {info[16:48].hex()}",
                          f"PC {pc:#x}; code from {pc - 8:#x} on: "
                          + self.client.ask(f"m{pc - 8:x},10"),
                          f"registers {self.client.ask('g')[:400]}",
                          *self.told_last, self.client.monitor("breakpoints")])

    def must_agree(self, end):
        counts = self.storm.counts()
        self.t.note(f"{counts} hits {self.hits} signals {self.signals} "
                    f"interrupts {self.interrupts} hit again {self.repeated}")
        self.t.equal(end, "W00", "the end")
        self.t.equal(counts["errors"], 0, "errors that the program saw")
        self.t.equal(self.hits, counts["trues"], "true hits")
        if counts["sent"]:
            self.t.equal(counts["handled"], counts["sent"], "SIGUSR1 handled")
        self.t.equal(counts["resized"], counts["resizes"], "SIGWINCH handled")


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


PASS = "0e;14;1e"  # SIGALRM, SIGCHLD, SIGUSR1
PASS_ALL = PASS + ";13;1c"  # SIGCONT, SIGWINCH


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
    server = t.server("--attach", "COMM", program.pid)
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
    t.need_kernel_conditions()
    storm(t, 0, 4, 1000, "lut", interrupts=0.3)


def test_leader_gone_unnoticed(t):
    """Another server takes out its uprobe at the same place of the same file before ours
    hears that the leader has ended: the kernel then looks whose traps are to stay, and
    finds no memory of such a process."""
    t.need_kernel_conditions()
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


class Background(Storm):
    """A program that is let go before anybody attaches, and is to live on."""

    def __init__(self, t, threads, activities):
        super().__init__(t, threads, 1000000000, activities)
        self.go()

    def must_run(self):
        before = self.counts()
        harness.wait_for(lambda: self.process.process.poll() is not None or
                         self.counts()["calls"] > before["calls"] + 1000,
                         "the program going on")
        self.t.equal(self.process.process.poll(), None, "status of the program")
        harness.wait_for(lambda: harness.tracer_of(self.pid) == 0, "no tracer")
        self.t.check(harness.process_state(self.pid) not in "Tt", "it is stopped")
        self.t.equal(self.counts()["errors"], 0, "errors that the program saw")
        if self.counts()["sent"]:
            sent = self.counts()["sent"]
            harness.wait_for(lambda: self.counts()["handled"] > sent, "SIGUSR1 handled")


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


class Sender:
    """Sends signals to the program all the time, in the background. Of a step it disturbs
    the beginning only: signals that come faster than it is made would let none end."""

    def __init__(self, storm, signals, seed=SEED):
        self.storm, self.signals = storm, signals
        self.chance = random.Random(seed)
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.send)
        self.thread.start()

    def send(self):
        left = 0
        while not self.ended.wait(self.chance.random() * 0.002):
            left = left - 1 if self.storm.counts()["go"] == 2 else 10
            if left <= 0:
                continue
            for number in self.signals:
                try:
                    os.kill(self.storm.pid, number)
                except ProcessLookupError:
                    return

    def end(self):
        self.ended.set()
        self.thread.join()


def run_disturbed(session, *signals):
    """As session.run(), while the program gets signals from outside."""
    session.storm.go()
    sender = Sender(session.storm, signals)
    try:
        return session.run()
    finally:
        sender.end()


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
    t.equal(session.client.ask("QThreadSuffixSupported"), "", "a feature of lldb")
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
