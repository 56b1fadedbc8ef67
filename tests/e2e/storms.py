# SPDX-License-Identifier: BSD-2-Clause
"""The program `storm`, which does everything at once, and a client that keeps account of
its stops, to be compared with what the program has counted itself. STORM_SEED,
STORM_SCALE and STORM_SERVER are those of test_storm.py."""
import collections
import os
import random
import re
import socket
import struct
import threading
import time

import harness
import rsp

SEED = int(os.environ.get("STORM_SEED", "1"))
SCALE = float(os.environ.get("STORM_SCALE", "1"))
NAMES = ("go hit_at watched_at calls trues sent handled alarms children chlds raised "
         "trapped errors done push_at move_at store_at update_at count_at load_at add_at "
         "call_at branch_at jump_at leave_at return_at ask_at write_at rewrite_at "
         "exchange_at indirect_at vector_at x87_at string_at resizes resized conts").split()
ARGUMENT = {"x86_64": (5, 4), "aarch64": (0, 1)}  # registers of the first two arguments
PC = {"x86_64": 16, "aarch64": 32}
SP = {"x86_64": 7, "aarch64": 31}
MACHINE = os.uname().machine
NEVER = ";X3,220027"
PASS = "0e;14;1e"  # SIGALRM, SIGCHLD, SIGUSR1
PASS_ALL = PASS + ";13;1c"  # SIGCONT, SIGWINCH


class Storm:
    """The program, not yet let go. @wrapper: what starts it, in the same process."""

    def __init__(self, t, threads, rounds, activities="", signals=0, every=64, wrapper=()):
        self.t, self.every = t, every
        self.signals = bool(set("uafr") & set(activities))
        self.file = t.dir / f"counts-{len(t.processes)}"
        self.process = harness.Process(
            t, [*wrapper, t.prog("storm"), self.file, threads, rounds, activities, signals,
                every])
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
    number = [0x22, mask] if mask < 256 else [0x23, *mask.to_bytes(2, "big")]
    code = bytes([0x26, 0, first, *number, 0x0f, 0x22, 0, 0x13])
    if page:
        code += bytes([0x26, 0, second, 0x17, 0x22, 0, 0x13, 0x0f])
    return f";X{len(code) + 1:x},{code.hex()}27"


class Session:
    """A client that does what gdb does, and keeps account of the stops."""

    def __init__(self, t, storm, breakpoint, conditions, passes="", seed=SEED,
                 place="hit", engine=None, pads=None):
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
        if pads:
            self.client.monitor(f"set pads {pads}")
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
        if end != "W00":
            self.t.note("\n".join(self.told_last))
        self.t.equal(end, "W00", "the end")
        self.t.equal(counts["errors"], 0, "errors that the program saw")
        self.t.equal(self.hits, counts["trues"], "true hits")
        if counts["sent"]:
            self.t.equal(counts["handled"], counts["sent"], "SIGUSR1 handled")
        self.t.equal(counts["resized"], counts["resizes"], "SIGWINCH handled")


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
