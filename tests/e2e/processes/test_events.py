# SPDX-License-Identifier: BSD-2-Clause
"""What the client can ask to be told of: system calls, threads that come and go."""
import os
import platform
import re
import signal
import struct

import harness
import rsp
import test_protocol


def caught(gdb, call):
    """(entries, returns) of a call that gdb has told of."""
    text = gdb.output()
    return (len(re.findall(rf"\(call to syscall {call}\)", text)),
            len(re.findall(rf"\(returned from syscall {call}\)", text)))


def events(t, *args):
    return t.server("COMM", t.prog("events"), *args)


CONTINUE_ALL = 'while alive():\n    run("continue")\n'


def test_caught_calls_are_told_twice_each(t):
    for what in ("getppid", ""):
        server = events(t, "calls", 5)
        gdb = t.gdb(server, "break begin", "continue", f"catch syscall {what}",
                    prog=t.prog("events"), python=CONTINUE_ALL)
        t.equal(caught(gdb, "getppid"), (10, 10), "entries and returns")
        t.match("calls 5", server.output())


def test_trap_on_the_call_itself(t):
    server = events(t, "calls", 4)
    gdb = t.gdb(server, "break begin", "continue",
                prog=t.prog("events"), python="""
start = int(gdb.parse_and_eval("(long)&getppid"))
code = gdb.selected_inferior().read_memory(start, 32).tobytes()
call = code.find(gdb.selected_inferior().architecture().name().startswith("i386")
                 and b"\\x0f\\x05" or b"\\x01\\x00\\x00\\xd4")
run(f"break *{start + call} if ticks == 7")
run("catch syscall getppid")
""" + CONTINUE_ALL)
    t.equal(caught(gdb, "getppid"), (8, 8), "entries and returns")
    t.match("calls 4", server.output())


def test_blocked_call_is_told_once(t):
    """Stops of another thread interrupt the call, and nobody may notice."""
    server = events(t, "blocked", 20)
    gdb = t.gdb(server, "catch syscall read", "break tick", "tbreak begin",
                prog=t.prog("events"), python=CONTINUE_ALL)
    text = gdb.output()[gdb.output().index("BEGIN"):]
    t.equal(len(re.findall(r"hit Breakpoint 2, ", text)), 20, "ticks")
    t.equal(len(re.findall(r"\(call to syscall read\)", text)), 0, "calls")
    t.equal(len(re.findall(r"\(returned from syscall read\)", text)), 1, "returns")
    t.match("ticks 20 reads 1", server.output())


def start(t, *args):
    client = rsp.Client(events(t, *args))
    client.ask("qSupported:multiprocess+;no-resumed+;QThreadEvents+;QThreadOptions+")
    client.ask("?")
    return client


def until_end(client, packet="vCont;c"):
    """The stops until the process has ended."""
    stops = [client.ask(packet)]
    while not re.match("[WX]", stops[-1]):
        stops.append(client.ask(packet))
    return stops


def over_exclusives(client):
    """As gdb does on aarch64, where a step makes the store of a load-exclusive and
    store-exclusive fail: a breakpoint after both, and after the branch that tries again.
    False: the thread is not at such a load."""
    pc = struct.unpack("<Q", bytes.fromhex(client.ask("p20")))[0]
    code = struct.unpack("<16I", bytes.fromhex(client.ask(f"m{pc:x},40")))
    kinds = [insn & 0x3fc00000 for insn in code]
    if kinds[0] != 0x08400000:
        return False
    after = pc + 4 * kinds.index(0x08000000) + 8
    client.ask(f"Z0,{after:x},4")
    client.ask("vCont;c")
    client.ask(f"z0,{after:x},4")
    return True


def test_single_steps_do_not_miss_calls(t):
    client = start(t, "calls", 3)
    getppid = {"x86_64": 110, "aarch64": 173}[platform.machine()]
    begin = test_protocol.symbol(t, "events", "begin")
    client.ask(f"Z0,{begin:x},{1 if getppid == 110 else 4}")
    client.ask("vCont;c")
    client.ask(f"z0,{begin:x},{1 if getppid == 110 else 4}")
    t.equal(client.ask(f"QCatchSyscalls:1;{getppid:x}"), "OK", "reply")
    leader = client.ask("qC")[2:]
    stops = []
    while not stops or not re.match("[WX]", stops[-1]):
        stops.append(client.ask(f"vCont;r0,ffffffffffffffff:{leader}"))
        if getppid == 173 and re.match("T05(?!syscall)", stops[-1]) and over_exclusives(client):
            del stops[-1]
    for kind in ("entry", "return"):
        told = [s for s in stops if s.startswith(f"T05syscall_{kind}:{getppid:x};")]
        t.equal(len(told), 6, kind)
    t.equal(len(stops), 13, "stops")


def test_thread_events(t):
    client = start(t, "threads", 4)
    t.equal(client.ask("QThreadEvents:1"), "OK", "reply")
    stops = until_end(client)
    made = [m.group(1) for s in stops if (m := re.match("T05create:;.*thread:([^;]*);", s))]
    ended = [m.group(1) for s in stops if (m := re.match("w00;(.*)$", s))]
    t.equal(len(set(made)), 4, "threads made")
    t.equal(ended, made, "threads ended")
    t.match("^W00", stops[-1], "last stop")
    t.equal(len(stops), 9, "stops")


def test_thread_events_off(t):
    client = start(t, "threads", 2)
    t.equal(client.ask("QThreadEvents:1"), "OK", "reply")
    t.match("^T05create:;", client.ask("vCont;c"))
    t.equal(client.ask("QThreadEvents:0"), "OK", "reply")
    t.match("^E", client.ask("QThreadEvents:2"))
    t.match("^W00", client.ask("vCont;c"))


def test_thread_options(t):
    """The client hears of a clone before it sees the thread, which has no options."""
    client = start(t, "threads", 2)
    leader = client.ask("qC")[2:]
    t.equal(client.ask(f"QThreadOptions;0;3:{leader}"), "OK", "reply")
    for _ in range(2):
        stop = client.ask("vCont;c")
        child = t.match(r"^T05clone:(p[0-9a-f]+\.[0-9a-f]+);.*thread:"
                        + re.escape(leader) + ";", stop).group(1)
        t.check(child in client.ask("qfThreadInfo"), f"{child} is not shown")
    for bad in ("QThreadOptions;", "QThreadOptions;4", "QThreadOptions;1:x"):
        t.match("^E", client.ask(bad), bad)
    t.match("^W00", client.ask("vCont;c"))


def test_exit_option(t):
    client = start(t, "threads", 1)
    leader = client.ask("qC")[2:]
    client.ask(f"QThreadOptions;1:{leader}")
    child = re.match("T05clone:([^;]*);", client.ask("vCont;c")).group(1)
    t.equal(client.ask(f"QThreadOptions;2:{child}"), "OK", "reply")
    t.equal(client.ask("vCont;c"), f"w00;{child}", "end of the thread")
    t.match("^W00", client.ask("vCont;c"))


def test_end_of_the_only_thread_resumed(t):
    client = start(t, "threads", 1)
    client.ask("QThreadEvents:1")
    child = re.search("thread:([^;]*);", client.ask("vCont;c")).group(1)
    t.equal(client.ask(f"vCont;c:{child}"), f"w00;{child}", "end of the thread")
    client.ask("QThreadEvents:0")
    t.match("^W00", client.ask("vCont;c"))


def test_nothing_is_left_that_the_client_resumed(t):
    """In non-stop mode the client is told so after the end of the thread: it awaits that
    when its user has let only this thread run."""
    client = rsp.Client(events(t, "threads", 1))
    client.ask("qSupported:multiprocess+;no-resumed+;QThreadEvents+")
    client.ask("QNonStop:1")
    leader = re.search("thread:([^;]*);", client.ask("?")).group(1)

    def notified(count):
        stops = []
        while len(stops) < count:
            stop = client.notification().removeprefix("Stop:")
            while stop != "OK":
                stops.append(stop)
                stop = client.ask("vStopped")
        return stops

    t.equal(client.ask("vStopped"), "OK", "further stops")
    client.ask("QThreadEvents:1")
    client.ask("vCont;c")
    child = re.search("^T05create.*thread:([^;]*);", notified(1)[0]).group(1)
    client.ask(f"vCont;t:{leader}")
    t.match("^T00", notified(1)[0], "the leader")
    client.ask(f"vCont;c:{child}")
    t.equal(notified(2), [f"w00;{child}", "N"], "stops")
    t.match("^OK$", client.ask(f"vCont;c:{leader}"))
    t.match(f"^w00;{leader}|^W00", notified(1)[0], "at last")


def test_no_resumed(t):
    client = start(t, "threads", 1)
    client.ask("QThreadEvents:1")
    child = re.search("thread:([^;]*);", client.ask("vCont;c")).group(1)
    client.ask("QThreadEvents:0")
    t.equal(client.ask(f"vCont;c:{child}"), "N", "stop")
    t.match("^W00", client.ask("vCont;c"))


def test_leader_that_ends_first(t):
    client = start(t, "leader", 3)
    leader = client.ask("qC")[2:]
    client.ask("QThreadEvents:1")
    stops = until_end(client)
    t.equal([s[:9] for s in stops[:1]], ["T05create"], "first stop")
    t.equal(stops[1], f"w00;{leader}", "end of the leader")
    t.match("^w03;", stops[2], "end of the thread")
    t.match("^W03", stops[-1], "last stop")


def pc_of(registers):
    """Of a reply to `g`."""
    return registers[rsp.PC * 16:(rsp.PC + 1) * 16]


def test_killed_before_its_registers_were_read(t):
    """gdb resumes no thread without a PC, and would never hear of the end."""
    server = events(t, "calls", 1)
    client = rsp.Client(server)
    os.kill(server.inferior(), signal.SIGKILL)
    harness.wait_for(lambda: harness.process_state(server.inferior()) in ("Z", None),
                     "the end")
    t.equal(pc_of(client.ask("g")), "0" * 16, "the PC")
    t.match("^X09", client.ask("vCont;c"))


def test_killed_while_stopped(t):
    """What the client has seen of a thread is there until it hears of the end."""
    server = events(t, "calls", 1)
    client = rsp.Client(server)
    client.ask("?")
    before = client.ask("g")
    os.kill(server.inferior(), signal.SIGKILL)
    harness.wait_for(lambda: harness.process_state(server.inferior()) in ("Z", None),
                     "the end")
    after = client.ask("g")
    t.equal(len(after), len(before), "length")
    t.equal(pc_of(after), pc_of(before), "the PC")
    t.match("^X09", client.ask("vCont;c"))


def test_leader_that_does_not_end_by_itself(t):
    """It is a zombie before the others are when the process ends, or runs another program."""
    for words in ("exit", 100), ("exec", 100):
        for _ in range(5):
            client = start(t, *words)
            leader = client.ask("qC")[2:]
            client.ask("QThreadEvents:1")
            stops = until_end(client)
            t.check(f"w00;{leader}" not in stops, f"{words}: an end of the leader")
            t.match("^W00", stops[-1], "last stop")


def test_attach_without_leader(t):
    """To the threads that live; the end of the last one is the end of the process."""
    program = harness.Process(t, [t.prog("events"), "leader", 50 * harness.PATIENCE])
    harness.wait_for(lambda: harness.process_state(program.pid) == "Z", "the leader's end")
    server = t.server("--attach", "COMM", program.pid)
    client = rsp.Client(server)
    client.ask("qSupported:multiprocess+")
    thread = t.match(r"^T00.*thread:(p[0-9a-f]+\.[0-9a-f]+);", client.ask("?")).group(1)
    t.equal(client.ask("qfThreadInfo"), "m" + thread, "threads")
    t.check(thread != f"p{program.pid:x}.{program.pid:x}", "the leader is shown")
    t.match("^l.{32}", client.ask("qXfer:auxv:read::0,1000").replace("\n", " "), "auxv")
    pc = test_protocol.registers_pc(client)
    t.match("^[0-9a-f]{4}$", client.ask(f"m{pc:x},2"))
    t.match("^W03", client.ask("vCont;c"))
