# SPDX-License-Identifier: BSD-2-Clause
"""Non-stop mode, byte by byte: one thread stops, the others run on; stops are
notifications, fetched one by one, each told exactly once."""
import os
import re
import signal
import subprocess
import time

import harness
import rsp
from uprobes import need_uprobes

FEATURES = "qSupported:multiprocess+;swbreak+;hwbreak+;fork-events+;vfork-events+;no-resumed+"


def in_order(ids):
    """Thread ids, "pPID.TID", in the order in which the threads were made."""
    def key(text):
        pid, tid = (int(number, 16) for number in text[1:].split("."))
        return pid, tid != pid, tid
    return sorted(ids, key=key)


class NonStop:
    """A client in non-stop mode with a program of its own."""

    def __init__(self, t, *arguments, path=None, options=(), multi=False):
        self.t = t
        self.path = path or t.prog("counters")
        self.symbols = {}
        command = [] if multi else [self.path, *arguments]
        self.server = t.server(*options, "COMM", *command)
        self.connect()

    def connect(self, mode="QNonStop:1"):
        self.client = rsp.Client(self.server)
        self.t.check("QNonStop+" in self.ask(FEATURES), "QNonStop+ is not offered")
        self.expect("OK", mode)

    def ask(self, packet):
        return self.client.ask(packet)

    def expect(self, wanted, packet):
        self.t.match(f"^(?:{wanted})$", self.ask(packet), packet)

    def fetch(self, first):
        """All stops from the first one on, as [signal, thread, text]."""
        stops = []
        while first != "OK":
            stops.append(self.stop(first))
            first = self.ask("vStopped")
        return stops

    def stop(self, text):
        text = text.removeprefix("Stop:")
        thread = re.search(r"thread:([^;]*)", text)
        return text[:3], thread and thread.group(1), text

    def notified(self):
        """The stops that the next notification begins with."""
        return self.fetch(self.client.notification())

    def listed(self, threads):
        """What `?` tells: one stop at once; the others when they are asked to stop."""
        stops = self.fetch(self.ask("?"))
        self.t.equal(len(stops), 1, "stops that ? tells")
        others = [x for x in threads if x != stops[0][1]]
        self.expect("OK", "vCont;" + ";".join(f"t:{x}" for x in others))
        while len(stops) < len(threads):
            stops += self.notified()
        self.expect("OK", "vStopped")
        return stops

    def symbol(self, name):
        """An address in the program, which is not randomised."""
        if not self.symbols:
            text = subprocess.run(["nm", self.path], capture_output=True,
                                  text=True, check=True).stdout
            for address, symbol in re.findall(r"^([0-9a-f]+) \w (\w+)$", text, re.M):
                self.symbols[symbol] = harness.LOADED_AT + int(address, 16)
        return self.symbols[name]

    def long(self, name, index=0):
        text = self.ask(f"m{self.symbol(name) + 8 * index:x},8")
        return int.from_bytes(bytes.fromhex(text), "little")

    def counters(self, count):
        return [self.long("counters", i) for i in range(count)]

    def threads(self):
        ids = re.findall(r'id="([^"]*)"', self.ask("qXfer:threads:read::0,10000"))
        return in_order(ids)

    def run_threads(self, count):
        """Lets the program run until all its threads count."""
        stops = self.fetch(self.ask("?"))
        self.t.equal([s[0] for s in stops], ["T05"], "stops at the start")
        self.expect("OK", "vCont;c")
        harness.wait_for(lambda: all(self.counters(count)), "threads that count")
        return self.threads()

    def moves(self, index, count):
        before = self.counters(count)
        harness.wait_for(lambda: self.counters(count)[index] > before[index],
                         f"counter {index} to move")

    def stop_all(self, threads):
        self.expect("OK", "vCont;t")
        stops = []
        while len(stops) < len(threads):
            stops += self.notified()
        self.t.equal(in_order(s[1] for s in stops), threads, "threads that have stopped")
        return stops


def test_resuming_after_the_last_end(t):
    """A client may resume or stop what has ended a moment ago: that is no error."""
    server = t.server("--multi", "COMM")
    client = rsp.Client(server)
    client.ask("qSupported:multiprocess+")
    t.equal(client.ask("QNonStop:1"), "OK", "non-stop mode")
    for packet in ("vCont;t:p-1.-1", "vCont;c:p1234.1234"):
        t.equal(client.ask(packet), "OK", packet)


@harness.machines("main")
def test_one_stops_the_others_run(t):
    n = NonStop(t, 3)
    threads = n.run_threads(3)
    t.equal(len(threads), 4, "threads")
    worker = threads[1]
    n.expect("OK", f"vCont;t:{worker}")
    stops = n.notified()
    t.equal([s[:2] for s in stops], [("T00", worker)], "the stop that was asked for")
    still = n.counters(3)
    for index in (1, 2):
        n.moves(index, 3)
    t.equal(n.counters(3)[0], still[0], "the stopped thread's counter")
    # Registers of a stopped thread, and of none that runs.
    n.expect("OK", f"Hg{worker}")
    t.match("^[0-9a-fx]+$", n.ask("g"))
    n.expect("OK", f"Hg{threads[2]}")
    for packet in ("g", "p10", "P10=0000000000000000", "G00"):
        t.match(r"^E\.thread \d+ is running$", n.ask(packet))
    n.expect("OK", f"vCont;c:{worker}")
    n.moves(0, 3)
    # Asked twice, told once; an action for a thread that is gone is no error.
    n.expect("OK", f"vCont;t:{worker};t:{worker}")
    n.expect("OK", f"vCont;t:{worker}")
    t.equal([s[0] for s in n.notified()], ["T00"], "one stop for two requests")
    n.expect("OK", f"vCont;c:{worker.split('.')[0]}.7fffffff")
    n.moves(1, 3)


def test_stops_are_fetched_one_by_one(t):
    t.need_x86()
    n = NonStop(t, 4)
    threads = n.run_threads(4)
    n.expect("OK", "vStopped")
    stops = n.stop_all(threads)
    t.equal({s[0] for s in stops}, {"T00"}, "signals")
    n.expect("OK", "vStopped")
    # `?` tells every stopped thread again, and no running one.
    n.expect("OK", f"vCont;c:{threads[2]}")
    stopped = [x for x in threads if x != threads[2]]
    again = n.listed(stopped)
    t.equal(in_order(s[1] for s in again), stopped, "?")
    t.equal({s[0] for s in again}, {"T00"}, "signals")
    for _, _, text in again:
        t.match(r"(^|;)10:[0-9a-f]{16};", text[3:], "registers in a stop")


def test_what_is_told_is_not_resumed_before_it_is_known(t):
    """vCont;c crosses a notification on the wire: the stop is not lost."""
    n = NonStop(t, 2)
    threads = n.run_threads(2)
    n.expect("OK", f"vCont;t:{threads[1]}")
    first = n.client.notification()
    n.expect("OK", "vCont;c")
    n.expect("OK", "vStopped")
    still = n.counters(2)[0]
    n.moves(1, 2)
    t.equal(n.counters(2)[0], still, "the counter of the thread that was told")
    t.match("^Stop:T00", first)
    n.expect("OK", "vCont;c")
    n.moves(0, 2)


def test_breakpoint_while_threads_run(t):
    t.need_x86()
    n = NonStop(t, 3)
    threads = n.run_threads(3)
    where = n.symbol("tick")
    for _ in range(3):
        n.expect("OK", f"Z0,{where:x},1")
        stops = []
        while len(stops) < 3:
            stops += n.notified()
        t.equal(in_order(s[1] for s in stops), threads[1:], "one hit per thread")
        for _, _, text in stops:
            t.match("^T05.*swbreak:;", text)
            pc = int.from_bytes(bytes.fromhex(re.search("10:([0-9a-f]{16});", text)[1]),
                                "little")
            t.equal(pc, where, "the PC of a hit")
        n.expect("OK", f"z0,{where:x},1")
        still = n.counters(3)
        n.expect("OK", "vCont;c")
        for index in range(3):
            n.moves(index, 3)
        t.check(min(b - a for a, b in zip(still, n.counters(3))) > 0, "all go on")
    # The main thread has run on all the time: it is not told.
    n.expect("OK", f"vCont;t:{threads[0]}")
    t.equal([s[:2] for s in n.notified()], [("T00", threads[0])], "the main thread")


def steps_and_hits(t, n, rounds):
    """A thread is stepped over the trap while others hit it, step, and run on."""
    threads = n.run_threads(4)
    where = n.symbol("tick")
    n.expect("OK", f"Z0,{where:x},1")
    seen, state = {index: [] for index in range(4)}, {}
    while sum(len(s) for s in seen.values()) < rounds:
        for _, thread, text in n.notified():
            index = threads.index(thread) - 1
            if "swbreak" in text:
                count = n.long("counters", index)
                # The trap may be back before the thread has made its step.
                again = state.get(thread) == "step"
                t.equal(count in seen[index], again, f"{thread} hit at {count} before")
                seen[index].append(count)
                n.expect("OK", f"z0,{where:x},1")
                n.expect("OK", f"vCont;s:{thread}")
                state[thread] = "step"
            else:
                t.equal(state[thread], "step", "what a SIGTRAP ends")
                n.expect("OK", f"Z0,{where:x},1")
                n.expect("OK", f"vCont;c:{thread}")
                state[thread] = "run"
    t.check(all(seen.values()), "every thread has hit")


def test_steps_and_hits_of_many_threads(t):
    t.need_x86()
    steps_and_hits(t, NonStop(t, 4), 400)


def test_steps_and_hits_of_uprobes(t):
    """The end of a step at a uprobe, of a thread that had to be resumed twice for it."""
    need_uprobes(t)
    n = NonStop(t, 4)
    t.match("served by uprobe", n.client.monitor("set engine uprobe"), "the engine")
    steps_and_hits(t, n, 2000)


def every_hundredth(n, index):
    """Agent expression: the thread counts in this place, now to a full hundred."""
    counter = n.symbol("counters") + 8 * index
    return (f"260005" f"22{index:02x}" "13" f"25{counter:016x}" "1a" "2264" "08" "0e"
            "0f" "27")


def test_conditions_are_exact(t):
    """Every true hit stops its thread, once, and no false one stops anybody."""
    t.need_x86()
    n = NonStop(t, 4)
    threads = n.run_threads(4)
    where = n.symbol("tick")
    condition = every_hundredth(n, 2)
    insert = f"Z0,{where:x},1;X{len(condition) // 2:x},{condition}"
    n.expect("OK", insert)
    seen = []
    while len(seen) < 5:
        stops = n.notified()
        t.equal([s[1] for s in stops], [threads[3]], "the thread that counts there")
        seen.append(n.long("counters", 2))
        n.expect("OK", f"z0,{where:x},1")
        n.expect("OK", f"vCont;s:{threads[3]}")
        t.equal([s[:2] for s in n.notified()], [("T05", threads[3])], "the step's end")
        n.expect("OK", insert)
        n.expect("OK", f"vCont;c:{threads[3]}")
    t.equal([x % 100 for x in seen], [0] * 5, "counters at hits")
    t.equal([b - a for a, b in zip(seen, seen[1:])], [100] * 4, "from hit to hit")


def test_detach_while_threads_run(t):
    process = harness.Process(t, [t.prog("counters"), "3"])
    harness.wait_for(lambda: len(os.listdir(f"/proc/{process.pid}/task")) == 4, "threads")
    n = NonStop(t, multi=True, options=("--multi",))
    n.expect("OK", "!")
    n.expect("OK", f"vAttach;{process.pid:x}")
    threads = n.threads()
    t.equal(len(threads), 4, "threads")
    t.equal({x[0] for x in n.stop_all(threads)}, {"T00"}, "stops after vAttach")
    # To stop what is stopped is no news, and no thread is missing.
    n.expect("OK", "vCont;t")
    n.expect("OK", "vStopped")
    n.expect("OK", "vCont;c")
    n.expect("OK", f"vCont;t:p{process.pid:x}.{process.pid:x}")
    # The stop is neither fetched nor known when the process is let go.
    n.client.notification()
    n.expect("OK", f"D;{process.pid:x}")
    n.expect("OK", "vStopped")
    n.expect("OK", "vStopped")
    t.equal(harness.tracer_of(process.pid), 0, "tracer")
    t.check(harness.process_state(process.pid) in "SR", "it runs on")
    n.expect("OK|l|<.*", "qfThreadInfo")


def test_two_programs(t):
    """One is detached from, one is killed, and the others' stops are untouched."""
    n = NonStop(t, multi=True, options=("--multi",))
    n.expect("OK", "!")
    path = t.prog("counters").encode().hex()
    pids = []
    for _ in range(3):
        text = n.ask(f"vRun;{path};{'2'.encode().hex()}")
        pids.append(t.match(r"^T05.*thread:p([0-9a-f]+)\.", text).group(1))
        n.expect("OK", f"vCont;c:p{pids[-1]}.-1")
    harness.wait_for(lambda: len(n.threads()) == 9, "threads of all")
    n.expect("OK", "vCont;t")
    n.client.notification()
    n.expect("OK", f"vKill;{pids[0]}")
    stops = n.fetch(n.ask("vStopped"))
    t.equal([s for s in stops if s[1].startswith(f"p{pids[0]}.")], [],
            "stops of what was killed")
    left = in_order(s[1] for s in stops)
    while len(left) < 5:
        left = sorted(left + [s[1] for s in n.notified()])
    n.expect("OK", f"vCont;c:p{pids[1]}.-1")
    n.expect("OK", f"D;{pids[2]}")
    t.equal(len(n.threads()), 3, "threads of the one that is left")
    n.expect("OK", f"Hgp{pids[1]}.{pids[1]}")
    n.expect("OK", f"M{n.symbol('leave'):x},4:01000000")
    t.match(f"^W07;process:{pids[1]}$", n.notified()[0][2])
    os.kill(int(pids[2], 16), 9)


def test_interrupt(t):
    """vCtrlC and the byte 0x03: one thread stops with SIGINT."""
    n = NonStop(t, 3)
    threads = n.run_threads(3)
    for ask in (lambda: n.expect("OK", "vCtrlC"), n.client.interrupt):
        ask()
        stops = n.notified()
        t.equal([s[0] for s in stops], ["T02"], "stops")
        running = [i for i in range(3) if threads[i + 1] != stops[0][1]]
        for index in running:
            n.moves(index, 3)
        n.expect("OK", "vCont;c")


def test_end(t):
    n = NonStop(t, 3)
    n.run_threads(3)
    pid = n.server.inferior()
    n.expect("OK", f"M{n.symbol('leave'):x},4:01000000")
    t.equal(n.client.notification(), f"Stop:W07;process:{pid:x}", "the end")
    n.expect("OK", "vStopped")
    # A client that has not heard of it yet may still want to stop threads.
    n.expect("OK", f"vCont;t:p{pid:x}.-1")
    n.expect("OK", "vCont;t")
    n.client.close()
    t.equal(n.server.wait(), 0, "exit status")


def test_end_of_a_stopped_process(t):
    """It is told when the process is resumed, which its client believes to live."""
    n = NonStop(t, 2)
    pid = n.server.inferior()
    threads = n.run_threads(2)
    n.stop_all(threads)
    os.kill(pid, signal.SIGKILL)
    harness.wait_for(lambda: harness.process_state(pid) is None, "the end")
    n.expect("OK", "vStopped")
    t.equal(n.client.notifications, [], "notifications of a stopped process")
    n.expect("OK", f"vCont;c:{threads[1]}")
    t.equal(n.client.notification(), f"Stop:X09;process:{pid:x}", "the end")
    n.expect("OK", "vStopped")


def test_mode_changes_while_threads_run(t):
    n = NonStop(t, 3)
    threads = n.run_threads(3)
    n.expect("OK", f"vCont;t:{threads[1]}")
    n.expect("OK", "QNonStop:0")
    n.client.notifications.clear()
    t.match("^T", n.ask("?"))
    still = n.counters(3)
    time.sleep(0.05)
    t.equal(n.counters(3), still, "counters of a stopped program")
    t.match(r"^E\.vCont;t is for non-stop", n.ask("vCont;t"))
    n.expect("OK", "vStopped")
    # All-stop: nothing but the stop that comes.
    n.client.send_bytes(rsp.Client.frame("vCont;c"))
    t.match(r"^E\.the program is running", n.ask("QNonStop:1"))
    t.equal(n.ask("vCtrlC"), "OK", "vCtrlC")
    t.match("^T02", n.client.receive().decode())
    # And back.
    n.expect("OK", "QNonStop:1")
    stops = n.listed(threads)
    t.equal(in_order(s[1] for s in stops), threads, "stops of all threads")
    n.expect("OK", "vCont;c")
    for index in range(3):
        n.moves(index, 3)
    t.match("^E", n.ask("QNonStop:2"))


def test_client_vanishes(t):
    """With stops told, not told, and threads that run: the next client finds the
    program whole, without a trap in it."""
    t.need_x86()
    n = NonStop(t, 3)
    threads = n.run_threads(3)
    n.expect("OK", f"vCont;t:{threads[1]}")
    n.expect("OK", f"Z0,{n.symbol('tick'):x},1")
    n.client.notification()
    n.client.close()
    n.server.wait_output("reopen")
    n.connect()
    stops = n.listed(threads)
    t.equal(in_order(s[1] for s in stops), threads, "stopped threads")
    n.expect("OK", "vCont;c")
    for index in range(3):
        n.moves(index, 3)
    n.client.close()
    n.server.wait_output("(?s)reopen.*reopen")
    n.connect("QNonStop:0")
    t.match("^T", n.ask("?"))
    n.client.send_bytes(rsp.Client.frame("vCont;c"))
    n.client.interrupt()
    t.match("^T02", n.client.receive().decode())


def test_once_ends_with_its_client(t):
    n = NonStop(t, 2, options=("--once",))
    n.run_threads(2)
    n.client.close()
    t.equal(n.server.wait(), 0, "exit status")


def counting_process(t, count):
    process = harness.Process(t, [t.prog("counters"), str(count)])
    harness.wait_for(lambda: len(os.listdir(f"/proc/{process.pid}/task")) == count + 1,
                     "threads")
    return process


def test_gdb_attaches(t):
    """gdb in all-stop mode on top of non-stop: it stops every thread by itself, and
    must know of each one when it has attached, again and again."""
    process = counting_process(t, 6)
    server = t.server("--multi", "COMM")
    once = [f"attach {process.pid}", "info threads", "break tick", "continue", "continue",
            "delete", "detach"]
    gdb = t.gdb(server, *once, *once, prog=t.prog("counters"),
                connect="target extended-remote", first=["maint set target-non-stop on"])
    text = gdb.output()
    t.no_match("No unwaited-for|badly formatted|internal-error|Unexpected|\\(running\\)",
               text, "gdb")
    t.equal(len(re.findall(r"^[* ] +\d.*Thread", text, re.M)), 14, "threads, twice")
    t.equal(len(re.findall(r"hit Breakpoint \d", text)), 4, "hits")
    t.equal(harness.tracer_of(process.pid), 0, "tracer")
    t.check(harness.process_state(process.pid) in "SR", "it runs on")


def test_gdb_connects_to_many_stopped_threads(t):
    for settings in (["set non-stop on"], ["maint set target-non-stop on"]):
        process = counting_process(t, 6)
        server = t.server("--once", "COMM", "--attach", process.pid)
        gdb = t.gdb(server, "thread 7", "print counters[0] > 0", "detach",
                    prog=t.prog("counters"), first=settings)
        text = gdb.output()
        t.match(r"Switching to thread 7", text)
        t.match(r"\$1 = 1", text)
        t.no_match("internal-error", text, "gdb")
        t.equal(harness.tracer_of(process.pid), 0, "tracer")


def test_interrupt_is_for_the_newest_process(t):
    """In all-stop mode, too: not for the one that the client has chosen."""
    n = NonStop(t, multi=True, options=("--multi",))
    n.expect("OK", "QNonStop:0")
    n.expect("OK", "!")
    path = t.prog("counters").encode().hex()
    pids = [t.match(r"^T05.*thread:p([0-9a-f]+)\.", n.ask(f"vRun;{path}")).group(1)
            for _ in range(2)]
    n.expect("OK", f"Hgp{pids[0]}.{pids[0]}")
    for _ in range(3):
        n.client.send_bytes(rsp.Client.frame("vCont;c"))
        n.client.interrupt()
        t.match(f"^T02.*thread:p{pids[1]}\\.", n.client.receive().decode("latin1"))
        n.expect("OK", f"Hgp{pids[0]}.{pids[0]}")
