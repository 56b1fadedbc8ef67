# SPDX-License-Identifier: BSD-2-Clause
"""Threads that sleep in the kernel, where nothing wakes them, keep nobody waiting: not
Ctrl-C, not the end of the server, not a detach. Each answer comes while they sleep: who
wakes them is ended later, by the test."""
import contextlib
import ctypes
import os
import pathlib
import re
import resource
import signal
import struct
import subprocess
import threading
import time

import harness
import rsp

PC = {"x86_64": 16, "aarch64": 32}[os.uname().machine]
OTHER = {"x86_64": 1, "aarch64": 19}[os.uname().machine]  # not known: rbx, x19


def must_live(t, pid):
    t.check(harness.process_state(pid) in ("S", "R", "D"), f"process {pid} lives")


class Sleeper:
    """The program `asleep`, asleep. @process prints what it does."""

    def __init__(self, t, process, pid, children=1):
        self.t, self.process, self.pid = t, process, pid
        harness.wait_for(lambda: len(self.children) == children, "the vfork children")
        harness.wait_for(lambda: self.state() == "D", "the main thread asleep")

    @classmethod
    def alone(cls, t, *args, children=1):
        process = harness.Process(t, [t.prog("asleep"), *args])
        return cls(t, process, process.pid, children)

    @property
    def children(self):
        return [int(pid) for pid in re.findall(r"^child (\d+)$", self.process.output(), re.M)]

    def address(self, name):
        return self.process.wait_output(rf"\b{name} 0x(\w+)").group(1)

    def state(self):
        return harness.process_state(self.pid)

    def must_sleep(self):
        for child in self.children:
            must_live(self.t, child)

    def wake(self, count=None):
        for child in self.children[:count]:
            os.kill(child, signal.SIGKILL)

    def must_end_well(self):
        self.wake()
        self.process.wait_output("done")

    def is_free(self):
        return all(harness.tracer_of(tid) == 0
                   for tid in os.listdir(f"/proc/{self.pid}/task"))


def session(server):
    client = rsp.Client(server)
    client.ask("qSupported:swbreak+;hwbreak+;vContSupported+")
    client.ask("QPassSignals:14")  # SIGCHLD
    client.ask("QStartNoAckMode")
    client.acks = False
    return client


def go(client, packet="vCont;c"):
    client.send_bytes(client.frame(packet))


def started(t, *args, children=1, before=()):
    """A server that has started the program, and its client, which waits. @before:
    packets ahead of that."""
    server = t.server("COMM", t.prog("asleep"), *args)
    client = session(server)
    client.ask("?")
    for packet in before:
        t.equal(client.ask(packet), "OK", packet)
    go(client)
    return server, client, Sleeper(t, server, server.inferior(), children)


def attached(t, *args, children=1):
    sleeper = Sleeper.alone(t, *args, children=children)
    server = t.server("--attach", "COMM", sleeper.pid)
    return server, session(server), sleeper


def thread_of(t, stop):
    return t.match(r"thread:([0-9a-f.p]+);", stop).group(1)


# Ctrl-C

def test_interrupt(t):
    t.truehit_only("threads that are late")
    server, client, sleeper = started(t)
    client.interrupt()
    stop = client.receive().decode()
    sleeper.must_sleep()
    t.match("^T02", stop)
    t.match(r"does not stop.*\((vfork|clone)\)", client.console.decode())
    pc = client.ask(f"p{PC:x}")
    t.check(int(pc, 16) != 0, "the PC is known")
    t.match(f"^T02.*{PC:02x}:{pc};", stop, "expedited registers")
    t.match("^x+$", client.ask(f"p{OTHER:x}"), "a register that is not known")
    t.check(pc in client.ask("g"), "the PC is in g")
    t.match("^E.*does not stop", client.ask(f"P{PC:x}={pc}"), "P")
    t.match("^E.*does not stop", client.ask("G" + client.ask("g")), "G")
    t.match("asleep in the kernel", client.ask("qXfer:threads:read::0,1000"))
    go(client)
    client.interrupt()
    t.match("^T02", client.receive().decode(), "the second Ctrl-C")
    sleeper.must_sleep()
    go(client)
    sleeper.wake()
    t.match("^W00", client.receive().decode(), "its end")
    t.match("after\ndone", server.output())


def test_interrupt_wakes_between(t):
    """What woke up while its client was at work waits for that, as a stopped thread."""
    t.truehit_only("threads that are late")
    server, client, sleeper = started(t)
    client.interrupt()
    t.match("^T02", client.receive().decode())
    sleeper.wake()
    harness.wait_for(lambda: harness.process_state(sleeper.pid) == "t", "its stop")
    harness.wait_for(lambda: "x" not in client.ask(f"p{OTHER:x}"), "its registers")
    t.no_match("after$", server.output())
    go(client)
    t.match("^W00", client.receive().decode(), "its end")


def test_interrupt_before_resume(t):
    """The client's Ctrl-C comes while nothing runs: it is answered by the next resume."""
    t.truehit_only("threads that are late")
    _, client, sleeper = started(t)
    client.interrupt()
    t.match("^T02", client.receive().decode())
    client.interrupt()
    client.ask("qC")
    t.match("^T02", client.ask("vCont;c"))
    sleeper.must_sleep()


def test_interrupt_of_many(t):
    """Others answer, when they can."""
    t.truehit_only("threads that are late")
    _, client, sleeper = started(t, 3)
    for _ in range(3):
        client.interrupt()
        t.match("^T02", client.receive().decode())
        go(client)
    sleeper.must_sleep()


def test_interrupt_nonstop(t):
    t.truehit_only("threads that are late")
    sleeper = Sleeper.alone(t)
    client = session(t.server("--attach", "COMM", sleeper.pid))
    t.equal(client.ask("QNonStop:1"), "OK", "QNonStop")
    t.match("^T", client.ask("?"))
    t.equal(client.ask("vStopped"), "OK", "vStopped")
    t.equal(client.ask("vCont;c"), "OK", "vCont;c")
    client.interrupt()
    t.match("Stop:T02", client.notification())
    sleeper.must_sleep()
    t.equal(client.ask("vStopped"), "OK", "vStopped")
    t.equal(client.ask("D"), "OK", "D")
    sleeper.must_sleep()
    sleeper.must_end_well()


def test_gdb(t):
    """gdb shows where the thread sleeps, goes on, and ends with the program."""
    t.truehit_only("threads that are late")
    sleeper = Sleeper.alone(t, 2)
    gdb = t.gdb(t.server("--attach", "COMM", sleeper.pid), "info threads", "backtrace",
                "print turns > 0", f"shell kill -9 {sleeper.children[0]}",
                "break after", "continue", "print wakings", "continue",
                prog=t.prog("asleep"))
    t.match(r"asleep in the kernel.*vfork", gdb.output())
    t.match(r"#0 .*vfork", gdb.output())
    t.match(r"\$1 = 1", gdb.output())
    t.match(r"Breakpoint 1, after", gdb.output())
    t.match(r"\$2 = 0", gdb.output())
    t.match(r"exited normally", gdb.output())


# Traps

def test_lent_memory(t):
    """While a vfork child runs in the memory, no trap comes there, whatever the client
    does; afterwards they are there, and none is missed."""
    t.truehit_only("threads that are late")
    t.need_any_engine()
    server = t.server("COMM", t.prog("asleep"), 2)
    client = session(server)
    client.monitor("set engine ptrace")
    client.ask("?")
    address = addresses(t, server)
    t.equal(client.ask(f"Z0,{address['in_child']:x},1;X3,220027"), "OK", "Z0")
    go(client)
    sleeper = Sleeper(t, server, server.inferior())
    client.interrupt()
    t.match("^T02", client.receive().decode())
    for name in "after", "in_child":
        t.equal(client.ask(f"Z0,{address[name]:x},1"), "OK", "Z0")
    t.match("after|0x", client.monitor("breakpoints"))
    t.equal(first_byte(sleeper.pid, address["after"]),
            first_byte(sleeper.children[0], address["after"]), "one memory")
    t.equal(first_byte(sleeper.pid, address["after"]),
            file_byte(t.prog("asleep"), sleeper.pid, address["after"]), "no trap")
    go(client)
    sleeper.must_sleep()
    sleeper.wake()
    t.match("^T05.*swbreak", client.receive().decode(), "the breakpoint after it")
    t.match(f"{int.from_bytes(address['after'].to_bytes(8, 'little'), 'big'):016x}",
            client.ask(f"p{PC:x}"), "its PC")


def addresses(t, server):
    """Where the program's functions will be."""
    t.need_tool("nm")
    names = subprocess.run(["nm", t.prog("asleep")], check=True, capture_output=True,
                           text=True).stdout
    with open(f"/proc/{server.inferior()}/maps", encoding="latin1") as maps:
        base = int(maps.readline().split("-")[0], 16)
    return {name: base + int(value, 16)
            for value, name in re.findall(r"^(\w+) t (\w+)$", names, re.M)}


def first_byte(pid, address):
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(1)


def file_byte(path, pid, address):
    with open(f"/proc/{pid}/maps", encoding="latin1") as maps, open(path, "rb") as file:
        for line in maps:
            match = re.match(r"(\w+)-(\w+) \S+ (\w+)", line)
            begin, end, offset = (int(n, 16) for n in match.groups())
            if begin <= address < end:
                file.seek(address - begin + offset)
                return file.read(1)
    raise harness.Failure("not in a file")


def test_lenders(t):
    """Threads that have vfork children at the same time: no trap comes into the memory
    before the last one is done with it."""
    t.truehit_only("threads that are late")
    t.need_any_engine()
    server = t.server("COMM", t.prog("asleep"), 1, 3)
    client = session(server)
    client.monitor("set engine ptrace")
    client.ask("?")
    address = addresses(t, server)
    t.equal(client.ask(f"Z0,{address['in_child']:x},1;X3,220027"), "OK", "Z0")
    t.equal(client.ask(f"Z0,{address['after']:x},1"), "OK", "Z0")
    ended, stops = [], 0

    def children():
        return [int(pid) for pid in re.findall(r"^child (\d+)$", server.output(), re.M)
                if int(pid) not in ended]

    go(client)
    while True:
        harness.wait_for(lambda: children() or client.has_reply(), "a child or a stop")
        if client.has_reply():
            stop = client.receive().decode()
            if stop.startswith("W"):
                break
            t.match("^T05.*swbreak", stop)
            stops += 1
            t.equal(client.ask(f"z0,{address['after']:x},1"), "OK", "z0")
            step = f"vCont;s:{thread_of(t, stop)}"
            while not client.ask(step).startswith("T05"):
                pass  # SIGCHLD
            t.equal(client.ask(f"Z0,{address['after']:x},1"), "OK", "Z0")
            go(client)
        for child in children()[:1]:
            time.sleep(0.3)  # it looks around, and so do others
            must_live(t, child)
            os.kill(child, signal.SIGKILL)
            ended.append(child)
    t.equal((stop, stops, len(ended)), ("W00", 3, 3), "its end")


def test_watchpoint_in_debug_registers(t):
    """They are set in a thread that is late when it stops, before it runs."""
    t.truehit_only("threads that are late")
    t.need_any_engine()
    _, client, sleeper = attached(t)
    client.monitor("set engine ptrace")
    t.match("^T", client.ask("?"))
    wakings = sleeper.address("wakings")
    reply = client.ask(f"Z2,{wakings},8")
    if reply != "OK":
        t.skip(f"no watchpoint here: {reply}")
    go(client)
    sleeper.wake()
    t.match(f"^T05.*watch:{wakings}", client.receive().decode(), "the watchpoint")


def test_watchpoint_removed_from_debug_registers(t):
    t.truehit_only("threads that are late")
    t.need_any_engine()
    server = t.server("COMM", t.prog("asleep"))
    client = session(server)
    client.monitor("set engine ptrace")
    client.ask("?")
    address = addresses(t, server)
    if (reply := client.ask(f"Z1,{address['after']:x},1")) != "OK":
        t.skip(f"no hardware breakpoint here: {reply}")
    go(client)
    sleeper = Sleeper(t, server, server.inferior())
    client.interrupt()
    t.match("^T02", client.receive().decode())
    t.equal(client.ask(f"z1,{address['after']:x},1"), "OK", "z1")
    go(client)
    sleeper.wake()
    t.match("^W00", client.receive().decode(), "its end")


# Letting go

def test_detach_attached(t):
    t.truehit_only("threads that are late")
    server, client, sleeper = attached(t, 2)
    t.match("^T", client.ask("?"))
    t.equal(client.ask(f"Z0,{sleeper.address('after')},1"), "OK", "Z0")
    go(client)
    client.interrupt()
    t.match("^T02", client.receive().decode())
    t.equal(client.ask("D"), "OK", "D")
    server.wait()
    sleeper.must_sleep()
    harness.wait_for(sleeper.is_free, "no tracer")
    sleeper.must_end_well()


def test_detach_started(t):
    """The kernel would kill the program with the server, which therefore stays until the
    thread can be let go."""
    t.truehit_only("threads that are late")
    server, client, sleeper = started(t, 2)
    client.interrupt()
    t.match("^T02", client.receive().decode())
    t.equal(client.ask("D"), "OK", "D")
    sleeper.must_sleep()
    server.wait_output("goes on until thread")
    sleeper.must_end_well()
    t.equal(server.wait(), 0, "the server's exit status")
    t.check(not sleeper.pid in harness.descendants(os.getpid()) or sleeper.is_free(),
            "nobody traces it")


def test_detach_and_attach_again(t):
    t.truehit_only("threads that are late")
    sleeper = Sleeper.alone(t)
    client = rsp.Client(t.server("--multi", "COMM"))
    client.ask("!")
    for _ in range(3):
        t.match("^T", client.ask(f"vAttach;{sleeper.pid:x}"), "vAttach")
        t.equal(client.ask(f"D;{sleeper.pid:x}"), "OK", "D")
    sleeper.must_sleep()
    sleeper.must_end_well()
    harness.wait_for(lambda: "Process" not in client.ask("qfThreadInfo"), "no process")


def test_kill(t):
    t.truehit_only("threads that are late")
    server, client, sleeper = started(t, 2)
    client.interrupt()
    t.match("^T02", client.receive().decode())
    t.equal(client.ask(f"vKill;{sleeper.pid:x}"), "OK", "vKill")
    sleeper.must_sleep()
    t.check(harness.process_state(sleeper.pid) in (None, "Z"), "the program has ended")
    server.wait()


def test_monitor_exit(t):
    t.truehit_only("threads that are late")
    server, client, sleeper = attached(t, 2)
    t.match("^T", client.ask("?"))
    with contextlib.suppress(rsp.Closed):
        client.monitor("exit")
    server.wait()
    sleeper.must_sleep()
    harness.wait_for(sleeper.is_free, "no tracer")
    sleeper.must_end_well()


def must_leave(t, server, sleeper, signo):
    server.kill(signo)
    server.wait()
    harness.wait_for(sleeper.is_free, "no tracer")
    sleeper.must_sleep()
    harness.wait_for(lambda: not harness.descendants(server.pid), "the server's end")
    sleeper.must_end_well()


def test_terminated(t):
    t.truehit_only("threads that are late")
    server, _, sleeper = started(t, 2)
    server.kill(signal.SIGTERM)
    server.wait()
    sleeper.must_sleep()
    t.check(harness.process_state(sleeper.pid) in (None, "Z"), "the program has ended")


def test_terminated_attached(t):
    t.truehit_only("threads that are late")
    server, client, sleeper = attached(t, 2)
    t.match("^T", client.ask("?"))
    t.equal(client.ask(f"Z0,{sleeper.address('after')},1"), "OK", "Z0")
    go(client)
    must_leave(t, server, sleeper, signal.SIGTERM)


def test_killed_attached(t):
    t.truehit_only("threads that are late")
    server, client, sleeper = attached(t, 2)
    t.match("^T", client.ask("?"))
    t.equal(client.ask(f"Z0,{sleeper.address('after')},1"), "OK", "Z0")
    go(client)
    must_leave(t, server, sleeper, signal.SIGKILL)


def test_killed_without_client(t):
    t.truehit_only("threads that are late")
    sleeper = Sleeper.alone(t)
    must_leave(t, t.server("--attach", "COMM", sleeper.pid), sleeper, signal.SIGKILL)


# Other ways to sleep

@contextlib.contextmanager
def frozen(t, pid):
    """In a cgroup that is frozen until the end, or until it is called."""
    t.need_root("freeze a cgroup")
    top = pathlib.Path("/sys/fs/cgroup/freezer")
    if not (top / "cgroup.procs").exists():
        t.skip("no freezer of cgroups, version 1 (threads of version 2's can be stopped)")
    group = top / f"truehit-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        t.skip(f"no cgroup can be made: {error}")

    def thaw():
        (group / "freezer.state").write_text("THAWED")
    try:
        (group / "cgroup.procs").write_text(str(pid))
        (group / "freezer.state").write_text("FROZEN")
        harness.wait_for(lambda: (group / "freezer.state").read_text() == "FROZEN\n",
                         "a frozen cgroup")
        yield thaw
    finally:
        thaw()
        for tid in (group / "cgroup.procs").read_text().split():
            (top / "cgroup.procs").write_text(tid)
        group.rmdir()


def test_frozen_interrupt(t):
    t.truehit_only("threads that are late")
    server = t.server("COMM", t.prog("rounds"), 3, 10 ** 12)
    client = session(server)
    client.ask("?")
    go(client)
    server.wait_output("begun")
    pid = server.inferior()
    with frozen(t, pid) as thaw:
        client.interrupt()
        t.match("^T02", client.receive().decode())
        t.equal(harness.process_state(pid), "D", "state")
        thaw()
        harness.wait_for(lambda: harness.process_state(pid) == "t", "its stop")
        go(client)
        client.interrupt()
        t.match("^T02", client.receive().decode())


def test_frozen_terminated(t):
    t.truehit_only("threads that are late")
    program = harness.Process(t, [t.prog("rounds"), 3, 10 ** 12])
    program.wait_output("begun")
    with frozen(t, program.pid) as thaw:
        server = t.server("--attach", "COMM", program.pid)
        client = session(server)
        t.match("^T", client.ask("?"))
        server.kill(signal.SIGTERM)
        server.wait()
        t.equal(harness.process_state(program.pid), "D", "state")
        harness.wait_for(lambda: harness.tracer_of(program.pid) == 0, "no tracer")
        thaw()
        harness.wait_for(lambda: harness.process_state(program.pid) in "RS", "it runs")


def test_frozen_kill(t):
    t.truehit_only("threads that are late")
    server = t.server("COMM", t.prog("rounds"), 3, 10 ** 12)
    client = session(server)
    client.ask("?")
    go(client)
    server.wait_output("begun")
    pid = server.inferior()
    with frozen(t, pid):
        server.kill(signal.SIGTERM)
        server.wait()
    harness.wait_for(lambda: harness.process_state(pid) in (None, "Z"), "its end")


class SlowFiles:
    """A file system of its own: one file whose reads are never answered, or a @directory
    where no look-up of a name is."""
    INIT, LOOKUP, GETATTR, OPEN, READ = 26, 1, 3, 14, 15

    def __init__(self, t, directory=False):
        t.need_root("mount a file system")
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.path = str(t.dir / "slow")
        self.mode, self.last = (0o40755, self.LOOKUP) if directory else (0o100644, self.READ)
        if directory:
            os.mkdir(self.path)
        else:
            pathlib.Path(self.path).touch()
        try:
            self.fd = os.open("/dev/fuse", os.O_RDWR)
        except OSError as error:
            t.skip(f"no FUSE: {error}")
        options = f"fd={self.fd},rootmode={self.mode:o},user_id=0,group_id=0".encode()
        if self.libc.mount(b"slow", self.path.encode(), b"fuse", 6, options) < 0:
            os.close(self.fd)
            t.skip(f"no FUSE: {os.strerror(ctypes.get_errno())}")

    def serve(self):
        """Until somebody asks for what is never answered."""
        while True:
            request = os.read(self.fd, 1 << 17)
            _, opcode, unique = struct.unpack_from("<IIQ", request)
            if opcode == self.last:
                return
            body = b""
            if opcode == self.INIT:
                body = struct.pack("<IIIIHHIIHHIII", 7, 31, 0, 0, 0, 0, 4096, 1, 1, 0, 0, 0, 0)
                body += bytes(64 - len(body))
            elif opcode == self.GETATTR:
                body = struct.pack("<QII", 0, 0, 0)
                body += struct.pack("<QQQQQQIIIIIIIIII", 1, 4096, 8, 0, 0, 0, 0, 0, 0,
                                    self.mode, 1, 0, 0, 0, 4096, 0)
            elif opcode == self.OPEN:
                body = struct.pack("<QII", 1, 1, 0)  # direct I/O
            error = 0 if body else -38
            os.write(self.fd, struct.pack("<IiQ", 16 + len(body), error, unique) + body)

    def close(self):
        os.close(self.fd)  # ends all requests
        self.libc.umount2(self.path.encode(), 2)


def test_file_that_does_not_answer(t):
    """As with a network file system whose server is gone."""
    t.truehit_only("threads that are late")
    slow = SlowFiles(t)
    try:
        program = harness.Process(t, ["head", "-c1", slow.path])
        slow.serve()
        server = t.server("--attach", "COMM", program.pid)
        client = session(server)
        t.match("^T", client.ask("?"))
        t.equal(harness.process_state(program.pid), "D", "state")
        go(client)
        client.interrupt()
        t.match("^T02", client.receive().decode())
        server.kill()
        server.wait()
        harness.wait_for(lambda: harness.tracer_of(program.pid) == 0, "no tracer")
        t.equal(harness.process_state(program.pid), "D", "state")
    finally:
        slow.close()
    program.wait()


def test_core_dump_that_does_not_end(t):
    """The process, which the client has sent on with a signal, is killed already, and
    waits for the file system."""
    t.truehit_only("threads that are late")
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text()
    if pattern.startswith(("|", "/", "@")):
        t.skip(f"core files are not written to the current directory, but to {pattern}")
    slow = SlowFiles(t, directory=True)
    try:
        answers = threading.Thread(target=slow.serve, daemon=True)
        answers.start()
        program = harness.Process(t, ["sleep", "600"], cwd=slow.path, preexec=lambda:
                                  resource.setrlimit(resource.RLIMIT_CORE, (-1, -1)))
        server = t.server("--attach", "COMM", program.pid)
        client = session(server)
        t.match("^T", client.ask("?"))
        go(client, f"vCont;C06:p{program.pid:x}.-1")
        answers.join()
        for _ in range(2):
            client.interrupt()
            t.match("^T02", client.receive().decode())
            must_live(t, program.pid)
            go(client)
        server.kill(signal.SIGTERM)
        server.wait()
        harness.wait_for(lambda: harness.tracer_of(program.pid) == 0, "no tracer")
        must_live(t, program.pid)
    finally:
        slow.close()
    t.equal(program.wait(), -signal.SIGABRT, "its end")
