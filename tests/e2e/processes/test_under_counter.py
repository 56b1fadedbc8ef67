# SPDX-License-Identifier: BSD-2-Clause
"""until-count where the processor counts: as exact as steps, and by a counter indeed. Most
machines that run tests have none that counts exactly; that of scripts/vm --icount has.

UNTIL_COUNT_TARGETS: how many random targets, 50 if it is not set."""
import contextlib
import fcntl
import os
import pathlib
import random
import re
import signal
import struct

import harness
import rsp
import test_until_count
from storms import MACHINE

ROUNDS = 3000
FUNCTIONS = {name: getattr(test_until_count, name)
             for name in ("plain", "nested", "calling", "choosing", "repeating")}
NUMBER = {"x0": 0, "x2": 2, "rdi": 5, "rdx": 1}   # as packets number registers
START = "rdi" if MACHINE == "x86_64" else "x0"


def symbols(path):
    """The addresses of an ELF file's symbols."""
    data = pathlib.Path(path).read_bytes()
    offset, = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3a)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
    table = next(header for header in headers if header[1] == 2)   # SHT_SYMTAB
    names = headers[table[6]][4]
    found = {}
    for at in range(table[4], table[4] + table[5], 24):
        name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", data, at)
        end = data.index(b"\0", names + name)
        found[data[names + name:end].decode()] = value
    return found


class Session:
    """The program `counted`, which can be set to the beginning of each of its functions."""

    def __init__(self, t, threads=0, alone=False):
        """alone: no other session is there meanwhile."""
        self.t = t
        path = t.prog("counted")
        self.lock = open(path, "rb")
        fcntl.flock(self.lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        self.address = {name: value + harness.LOADED_AT for name, value in symbols(path).items()}
        self.server = t.server("--once", "COMM", path, "1", str(threads))
        self.client = rsp.Client(self.server)
        self.thread = self.client.ask("qC")[2:]
        self.counters = self.client.monitor("counters")
        plain = self.address["plain"]
        self.ask_ok(f"Z0,{plain:x},{self.trap_len}")
        t.match("^T05", self.client.ask("vCont;c"))
        self.ask_ok(f"z0,{plain:x},{self.trap_len}")

    trap_len = 1 if MACHINE == "x86_64" else 4

    def ask_ok(self, packet):
        self.t.equal(self.client.ask(packet), "OK", packet)

    def served(self):
        """The events that the processor counts. A margin of what is needed; an emulator's
        interrupt is never late."""
        events = re.findall(r"^until-count (\S+): by the processor.* came (\d+) late$",
                            self.counters, re.M)
        if not events:
            self.client.close()
            self.t.skip("; ".join(dict.fromkeys(
                re.findall(r"^until-count \S+: by steps: (.*)$", self.counters, re.M))))
        if all(late == "0" for _, late in events):
            self.client.monitor("set skid 20")
        return [event for event, _ in events]

    def write(self, number, value):
        self.ask_ok(f"P{number:x}={value.to_bytes(8, 'little').hex()}")

    def read(self, number):
        return int.from_bytes(bytes.fromhex(self.client.ask(f"p{number:x}")), "little")

    def begin(self, name, rounds=ROUNDS):
        self.write(rsp.PC, self.address[name])
        self.write(NUMBER[START], rounds)

    def resume(self):
        return self.client.ask(f"vCont;s:{self.thread}")

    def place(self, name):
        """The offset of the PC in the function, and the turns left."""
        return (self.read(rsp.PC) - self.address[name],
                self.read(NUMBER[test_until_count.COUNTER[name]]))

    def state(self):
        """How many are left, and how many the processor has counted."""
        text = self.client.monitor("until-count")
        self.t.no_match("more than wanted", text)
        self.t.no_match("without being counted", text)
        counted = re.search(r"^The processor has counted (\d+)\.$", text, re.M)
        return int(text.split()[0]), int(counted[1]) if counted else 0

    def close(self):
        self.t.no_match("came late", self.client.console.decode())
        self.client.ask("vKill;" + self.thread.split(".")[0].lstrip("p"))
        self.client.close()
        self.lock.close()


def offsets(session, name):
    """Of the instructions of a function, by their numbers."""
    if MACHINE == "aarch64":
        return [4 * i for i in range(8)]
    session.begin(name, 2)
    found = {}
    steps = FUNCTIONS[name](2)
    for place, *_ in steps:
        found[place] = session.read(rsp.PC) - session.address[name]
        session.resume()
        while session.read(rsp.PC) - session.address[name] == found[place]:
            session.resume()   # a string instruction
    return [found.get(i) for i in range(8)]


def targets(name, event):
    """By how many of the event were executed: the next instruction, and the turns left."""
    wanted = test_until_count.EVENTS[event]
    steps = list(FUNCTIONS[name](ROUNDS))
    return [(following[0], step[3]) for step, following in zip(steps, steps[1:])
            if wanted(*step[1:3])]


@harness.machines("counted", "as=root")
def test_random_targets(t):
    """Each is reached exactly, most of the way under the counter."""
    t.truehit_only("monitor until-count")
    count = int(os.environ.get("UNTIL_COUNT_TARGETS", "50"))
    session = Session(t)
    tables = {(name, event): targets(name, event)
              for event in session.served() for name in FUNCTIONS}
    where = {name: offsets(session, name) for name in FUNCTIONS}
    rng = random.Random(count)
    wanted = stepped = 0
    for _ in range(count):
        name, event = rng.choice(list(tables))
        number = rng.randrange(1, len(tables[name, event]))
        place, left = tables[name, event][number - 1]
        session.begin(name)
        session.client.monitor(f"until-count {event} {number}")
        t.match("^T05", session.resume())
        found, (rest, counted) = session.place(name), session.state()
        if name == "repeating" and place <= 1:
            left = found[1]   # the counter is not loaded yet
        t.equal((rest, *found), (0, where[name][place], left), f"{name}: after {number} {event}")
        wanted, stepped = wanted + number, stepped + number - counted
    session.close()
    t.note(session.counters)
    t.note(f"{count} targets, overshoot 0: of {wanted} events {stepped} were stepped")
    t.check(stepped * 4 < wanted, f"{stepped} of {wanted} were stepped")


@harness.machines("counted", "as=root")
def test_steps_agree(t):
    """What is stepped alone ends where the same under the counter does."""
    t.truehit_only("monitor until-count")
    session = Session(t)
    for event in session.served():
        for name in FUNCTIONS:
            if name == "repeating" and MACHINE == "x86_64":
                continue   # a string instruction makes many steps
            number = len(targets(name, event)) // 9
            found = []
            for skid in "off", "20" if "came 0 late" in session.counters else "auto":
                session.client.monitor(f"set skid {skid}")
                session.begin(name)
                session.client.monitor(f"until-count {event} {number}")
                t.match("^T05", session.resume())
                found.append(session.place(name))
                t.check((session.state()[1] == 0) == (skid == "off"), "who counts")
            t.equal(found[1], found[0], f"{name}: after {number} {event}")
    session.close()


def executed(session, event, rounds):
    """How many of the event the function `plain` has executed."""
    place, left = session.place("plain")
    turns, inside = rounds - left, place != 0
    return 2 * turns - inside * (left != rounds) if event == "instructions" else turns - inside


def check_sum(session, event, number, rounds, what):
    """What is left and what is executed are what was wanted, at any stop."""
    session.t.equal(session.state()[0] + executed(session, event, rounds), number, what)


@harness.machines("counted", "as=root")
def test_breakpoint_on_the_way(t):
    """It stops the thread before its instruction, which is not counted."""
    t.truehit_only("monitor until-count")
    session = Session(t)
    event, number = session.served()[0], 5000
    trap = f"0,{session.address['plain'] + offsets(session, 'plain')[1]:x},{session.trap_len}"
    session.begin("plain")
    session.client.monitor(f"until-count {event} {number}")
    session.ask_ok("Z" + trap)
    for _ in range(20):
        t.match("^T05", session.resume())
        check_sum(session, event, number, ROUNDS, "at the breakpoint")
    session.ask_ok("z" + trap)
    t.match("^T05", session.resume())
    check_sum(session, event, number, ROUNDS, "at the end")
    t.equal(session.state()[0], 0, "left")
    session.close()


@harness.machines("counted", "as=root")
def test_interrupted(t):
    """By Ctrl-C, by signals of its own, of which one is the counter's, too, and by SIGCONT,
    which stops each thread, and discards stop signals."""
    t.truehit_only("monitor until-count")
    session = Session(t)
    event, rounds, number = session.served()[0], 1 << 40, 1 << 39
    session.begin("plain", rounds)
    session.client.monitor(f"until-count {event} {number}")
    pid = session.server.inferior()
    for _ in range(5):
        for number_of, reason in ((None, "^T02"), (signal.SIGCONT, "^T13"),
                                  (signal.SIGSTOP, "^T11"), (signal.SIGUSR1, "^T1e")):
            session.client.send_bytes(session.client.frame(f"vCont;s:{session.thread}"))
            harness.wait_for(lambda: harness.process_state(pid) == "R", "the program runs")
            if number_of:
                os.kill(pid, number_of)
            else:
                session.client.interrupt()
            t.match(reason, session.client.receive().decode())
            check_sum(session, event, number, rounds, "where it was stopped")
    session.close()


@harness.machines("counted", "as=root")
def test_stops_within_calls(t):
    """A call in which the thread stops (test_until_count) is counted once, by the processor."""
    t.truehit_only("monitor until-count")
    session = Session(t)
    if "instructions" not in session.served() or "came 0 late" not in session.counters:
        t.skip("a margin of 1 is none here")
    # The second: up to an exclusive access, which gdb steps over in one.
    for names, count, *commands in ((["clone3", "__clone", "clone"], 40),
                                    (["pthread_create"], 14, "catch syscall")):
        steps, _ = test_until_count.steps_from(t, names, "stepi", count=count)
        places, short = test_until_count.steps_from(t, names, "until_count", "monitor set skid 1",
                                                    *commands, count=count)
        t.equal(places, steps, f"where it is: {commands}")
        t.equal(short > 1, bool(commands), "calls are caught")
    session.close()


def both_at_their_ends(t, session, resume, wait):
    """Two threads, each under a counter of its own, of which one has farther to go."""
    threads = session.client.ask("qfThreadInfo")[1:].split(",")
    t.equal(len(threads), 2, "threads")
    event, rounds = session.served()[0], 1 << 40
    numbers = dict(zip(threads, (20000001, 12345678)))
    for thread, number in numbers.items():
        session.ask_ok(f"Hg{thread}")
        session.begin("plain", rounds)
        session.client.monitor(f"until-count {event} {number}")
    on_their_way = set(threads)
    resume(on_their_way)
    while on_their_way:
        for thread in wait(on_their_way):
            session.ask_ok(f"Hg{thread}")
            check_sum(session, event, numbers[thread], rounds, f"thread {thread}")
            if session.state()[0] == 0:
                on_their_way.discard(thread)
    session.close()


@harness.machines("counted", "as=root")
def test_two_threads(t):
    """The stop of one halts the other, which goes on afterwards."""
    t.truehit_only("monitor until-count")
    session = Session(t, threads=1)

    def resume(threads):
        session.client.send_bytes(session.client.frame(
            "vCont" + "".join(f";s:{thread}" for thread in threads)))

    def wait(threads):
        t.match("^T05", session.client.receive().decode())
        yield from list(threads)
        if threads:
            resume(threads)

    both_at_their_ends(t, session, resume, wait)


@harness.machines("counted", "as=root")
def test_two_threads_in_nonstop_mode(t):
    """Each stops by itself."""
    t.truehit_only("monitor until-count")
    session = Session(t, threads=1)
    session.ask_ok("QNonStop:1")

    def resume(threads):
        for thread in threads:
            session.ask_ok(f"vCont;s:{thread}")

    def wait(_):
        stop = session.client.notification().removeprefix("Stop:")
        while stop != "OK":
            t.match("^T05", stop)
            yield re.search("thread:([^;]*)", stop)[1]
            stop = session.client.ask("vStopped")

    both_at_their_ends(t, session, resume, wait)


@harness.machines("counted", "as=root")
def test_detach(t):
    """The program runs on, even if the counter's signal is under way."""
    t.truehit_only("monitor until-count")
    for number in 1 << 40, 1 << 24:
        session = Session(t)
        event, pid = session.served()[0], session.server.inferior()
        session.begin("plain", 1 << 40)
        session.client.monitor(f"until-count {event} {number}")
        session.client.send_bytes(session.client.frame(f"vCont;s:{session.thread}"))
        harness.wait_for(lambda pid=pid: harness.process_state(pid) == "R", "the program runs")
        session.client.interrupt()
        t.match("^T0[25]", session.client.receive().decode())
        session.ask_ok("D;" + session.thread.split(".")[0].lstrip("p"))
        harness.wait_for(lambda pid=pid: harness.process_state(pid) == "R", "it runs again")
        os.kill(pid, signal.SIGKILL)
        session.client.close()
        session.lock.close()


@contextlib.contextmanager
def counters_taken():
    """All counters of all processors are another's, as by perf stat -a -e ...:D."""
    number, pinned, instructions = {"x86_64": 298, "aarch64": 241}[MACHINE], 1 << 2, 0x8
    if MACHINE == "x86_64":
        instructions = 0x5100c0
    attr = struct.pack("<IIQQQQQQQ", 4, 64, instructions, 0, 0, 0, pinned, 0, 0)
    files = []
    try:
        for cpu in sorted(os.sched_getaffinity(0)):
            for _ in range(16):
                fd = harness.libc.syscall(number, attr, -1, cpu, -1, 0)
                if fd >= 0:
                    files.append(fd)
        yield
    finally:
        for fd in files:
            os.close(fd)


@harness.machines("counted", "as=root")
def test_counters_taken_away(t):
    """Neither does the thread run on, nor is it silent."""
    t.truehit_only("monitor until-count")
    t.need_root()
    session = Session(t, alone=True)   # they are taken from all
    event = session.served()[0]
    pid = session.server.inferior()
    for before in False, True:
        session.begin("plain", 1 << 40)
        session.client.monitor(f"until-count {event} {1 << 39}")
        with contextlib.ExitStack() as stack:
            if before:
                stack.enter_context(counters_taken())
            session.client.send_bytes(session.client.frame(f"vCont;s:{session.thread}"))
            harness.wait_for(lambda: harness.process_state(pid) == "R", "the program runs")
            if not before:
                stack.enter_context(counters_taken())
            t.match("^T05", session.client.receive().decode())
        t.match("^Others have taken the processor's counters", session.client.console.decode())
        t.match("without being counted", session.client.monitor("until-count"))
        session.client.console.clear()
    session.close()


def test_skid_setting(t):
    """What can be said of it, and what it does."""
    t.truehit_only("monitor set skid")
    client = rsp.Client(t.server("--once", "COMM", t.prog("counted")))
    for line, text in (("off", "steps all the way"), ("17", "steps the last 17"),
                       ("auto", "as far as this processor"), ("x", "takes auto, off or a number"),
                       ("0", "takes auto"), ("1 2", "takes auto")):
        client.send_bytes(client.frame(b"qRcmd," + f"set skid {line}".encode().hex().encode()))
        reply = client.receive().decode()
        if reply != "E01":
            t.match(text, bytes.fromhex(reply).decode())
        else:
            t.match(text, client.console.decode())
            client.console.clear()
    client.close()
