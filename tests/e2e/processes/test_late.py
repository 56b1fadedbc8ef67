# SPDX-License-Identifier: BSD-2-Clause
"""Threads that sleep in the kernel, where nothing wakes them, keep nobody waiting: not
Ctrl-C, not the end of the server, not a detach. Each answer comes while they sleep: who
wakes them is ended later, by the test."""
import contextlib
import os
import re
import signal
import subprocess
import time

import harness
import rsp
from sleepers import PC, Sleeper, attached, go, must_live, session, started, thread_of

OTHER = {"x86_64": 1, "aarch64": 19}[os.uname().machine]  # not known: rbx, x19


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

def lent(t):
    """A program whose memory a vfork child has, with a breakpoint in what that executes;
    Ctrl-C has stopped it."""
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
    return server, client, sleeper, address


def test_lent_memory(t):
    """While a vfork child runs in the memory, no trap comes there, whatever the client
    does; afterwards they are there, and none is missed."""
    t.truehit_only("threads that are late")
    t.need_any_engine()
    server, client, sleeper, address = lent(t)
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


def test_step_while_memory_is_lent(t):
    """Who is stepped waits until the vfork child is done: somebody is resumed."""
    t.truehit_only("threads that are late")
    t.need_any_engine()
    _, client, sleeper, _ = lent(t)
    client.ask("qSupported:swbreak+;hwbreak+;vContSupported+;no-resumed+")
    other = next(tid for tid in client.ask("qfThreadInfo")[1:].split(",")
                 if int(tid, 16) != sleeper.pid)
    go(client, f"vCont;s:{other}")
    time.sleep(0.3)
    t.check(not client.has_reply(), "nothing is told yet")
    sleeper.wake()
    stop = client.receive().decode()
    while not stop.startswith("T05"):  # SIGCHLD
        t.match("^T14", stop)
        go(client, f"vCont;s:{other}")
        stop = client.receive().decode()
    t.equal(thread_of(t, stop), other, "who has made a step")


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
