# SPDX-License-Identifier: BSD-2-Clause
"""The server's end, at any moment, does no harm to a program that it has attached to."""
import array
import fcntl
import os
import pathlib
import re
import signal
import subprocess
import termios
import time
import types

import harness
import rsp
from attached import NEVER, Rounds, Session, byte_is_set, changed_text, every


def kill(program, server, changed=False):
    server.kill()
    server.wait()
    if changed:
        harness.wait_for(program.is_free, "nobody tracing, nothing stopped")
    else:
        program.must_be_free()
    harness.wait_for(lambda: not harness.descendants(server.pid), "the server's end")


def attach(t):
    t.truehit_only("guard")
    program = Rounds(t)
    return program, Session(t, program)


def test_killed_without_client(t):
    t.truehit_only("guard")
    program = Rounds(t)
    kill(program, t.server("--attach", "COMM", program.pid))


def test_killed_at_trap(t):
    program, session = attach(t)
    session.insert(0, 3)
    t.match("swbreak", session.client.ask("vCont;c"))
    kill(program, session.server)


def test_killed_at_hardware_hit(t):
    program, session = attach(t)
    session.insert(1, 3)
    t.match("hwbreak", session.client.ask("vCont;c"))
    kill(program, session.server)


def test_killed_at_step_end(t):
    program, session = attach(t)
    session.insert(0, 3)
    stop = session.client.ask("vCont;c")
    for _ in range(3):
        stop = session.client.ask(f"vCont;s:{session.thread_of(stop)}")
        t.match("^T05", stop)
    kill(program, session.server)


def test_killed_while_traps_are_hit(t):
    """False hits of traps: threads stop all the time."""
    program, session = attach(t)
    for part in range(8):
        session.insert(0, part, NEVER)
    session.go()
    harness.wait_for(lambda: any(n > 1 for n in program.cpu_times().values()), "it runs")
    kill(program, session.server)


def test_killed_in_range_step(t):
    program, session = attach(t)
    session.insert(0, 3)
    stop = session.client.ask("vCont;c")
    session.client.ask(f"z0,{program.parts[3]:x},1")
    session.go(f"vCont;r0,ffffffffffffffff:{session.thread_of(stop)};c")
    before = program.cpu_times()
    harness.wait_for(lambda: all(time > before[tid] for tid, time
                                 in program.cpu_times().items()), "it runs")
    kill(program, session.server)


def test_killed_with_client_that_does_not_read(t):
    """The server has more to say than the socket takes."""
    program, session = attach(t)
    session.insert(0, 3)
    session.client.ask("vCont;c")
    session.client.send_bytes(session.client.frame("g") * 20000)
    kill(program, session.server)


def test_killed_with_output_that_nobody_reads(t):
    """What the server writes is held up: it says more than the pipe takes."""
    t.truehit_only("guard")
    program = Rounds(t)
    with subprocess.Popen([t.config.server, "--debug=all", "unix:" + str(t.dir / "socket"),
                           "--attach", str(program.pid)],
                          stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as server:
        address = str(t.dir / "socket")
        client = None
        while not client:
            line = server.stderr.readline()
            t.check(line, "the server listens")
            if line.startswith(b"Listening"):
                client = rsp.Client(types.SimpleNamespace(address=address))
        client.ask("?")
        client.monitor("set engine ptrace")  # each hit is worth some lines,
        client.monitor("set pads off")       # if no filter drops it
        for part in program.parts[:8]:
            t.equal(client.ask(f"Z0,{part:x},1{NEVER}"), "OK", "Z0")
        client.send_bytes(client.frame("vCont;c"))
        try:
            harness.wait_for(lambda: is_full(server.stderr), "the pipe to be full")
        finally:
            server.kill()
        program.must_be_free()


def is_full(pipe):
    """Nobody has written to it for a while, and there is no room for a page."""
    def unread():
        room = array.array("i", [0])
        fcntl.ioctl(pipe, termios.FIONREAD, room)
        return room[0]
    before = unread()
    time.sleep(0.3)
    return unread() == before > fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ) * 3 // 4


def test_killed_in_nonstop_mode(t):
    program, session = attach(t)
    t.equal(session.client.ask("QNonStop:1"), "OK", "QNonStop")
    session.insert(0, 3)
    session.insert(0, 4, every(64))
    t.equal(session.client.ask("vCont;c"), "OK", "vCont")
    t.match("Stop:T05", session.client.notification())
    kill(program, session.server)


def test_killed_after_attach_of_the_client(t):
    t.truehit_only("guard")
    program = Rounds(t)
    server = t.server("--multi", "COMM")
    client = rsp.Client(server)
    client.ask("!")
    t.match("^E", client.ask(f"vAttach;{server.pid:x}"))
    t.match("^T", client.ask(f"vAttach;{program.pid:x}"))
    t.equal(client.ask(f"Z0,{program.parts[3]:x},1"), "OK", "Z0")
    t.match("^T05", client.ask("vCont;c"))
    kill(program, server)


def test_killed_on_a_pipe(t):
    """gdb's `target remote |`: it sees the end of the file, and no process is left."""
    t.truehit_only("guard")
    program = Rounds(t)
    with subprocess.Popen([t.config.server, "-", "--attach", str(program.pid)],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as server:
        server.stdin.write(rsp.Client.frame("?"))
        server.stdin.flush()
        t.equal(server.stdout.read(1), b"+", "the server's answer")
        # Of a server with file capabilities, only root sees it.
        if os.access(f"/proc/{server.pid}/fd", os.R_OK):
            t.equal(os.listdir(f"/proc/{server.pid}/fd"), [], "what the guard keeps open")
        server.kill()
        server.stdout.read()
        program.must_be_free()


def test_end_of_a_pipe(t):
    """Nobody but the server has the pipe."""
    program = Rounds(t)
    with subprocess.Popen([t.config.server, "-", "--attach", str(program.pid)],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as server:
        server.stdin.close()
        server.stdout.read()
        t.equal(server.wait(harness.TEST_LIMIT), 0, "exit status")
    program.must_be_free()


def test_signals_end_the_server(t):
    """Its exit status is that of a server that has ended by itself."""
    t.truehit_only("detaching at a signal")
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)

    def heed():
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
    for number in numbers:
        program = Rounds(t)
        session = Session(t, program, preexec=heed)
        session.insert(0, 3)
        session.client.ask("vCont;c")
        session.server.kill(number)
        t.equal(session.server.wait(), 0, "exit status")
        t.match(r"Detaching process\(es\): %d" % program.pid, session.server.output())
        program.must_be_free()


def test_ignored_signals(t):
    t.truehit_only("guard")
    server = t.server("--multi", "COMM",
                      preexec=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    server.kill(signal.SIGHUP)
    t.equal(rsp.Client(server).ask("!"), "OK", "an answer")
    server.kill(signal.SIGTERM)
    t.equal(server.wait(), 0, "exit status")


def test_servers_that_end_at_once(t):
    """However quickly, their guards hear of it. (Many at a time, so that some end before
    their guards run again.)"""
    t.truehit_only("guard")
    for _ in range(40):
        ended = [harness.Process(t, [t.config.server, ":-1", t.prog("calls")])
                 for _ in range(8)]
        for process in ended:
            t.equal(process.wait(), 1, "exit status")


def test_end_of_the_server_itself(t):
    """Whoever waits for the process that he knows learns how the server has ended."""
    t.truehit_only("guard")
    server = t.server("--multi", "COMM")
    os.kill(server.serving, signal.SIGABRT)
    t.equal(server.wait(), -signal.SIGABRT, "status")


def status_number(pid, name):
    with open(f"/proc/{pid}/status", encoding="latin1") as file:
        return int(re.search(rf"^{name}:\s*(\d+)", file.read(), re.M).group(1))


def test_parent_of_programs(t):
    """It is whoever traces them, as with gdbserver. Programs look for that, and find out
    by it that their debugger has gone."""
    server = t.server("COMM", t.prog("calls"))
    client = rsp.Client(server)
    t.match("^T05", client.ask("?"))
    pid = server.inferior()
    t.equal(status_number(pid, "PPid"), status_number(pid, "TracerPid"), "the parent")


def test_what_is_left_of_programs(t):
    """Nothing, while the server goes on: killed, ended, let go, and not even started."""
    t.truehit_only("guard")
    server = t.server("--multi", "COMM")
    client = rsp.Client(server)
    client.ask("!")
    client.ask("qSupported:multiprocess+")

    def start(name, *arguments):
        words = [t.prog(name), *arguments]
        return client.ask("vRun;" + ";".join(word.encode().hex() for word in words))

    def pid_of(reply):
        return int(t.match(r"thread:p([0-9a-f]+)\.", reply).group(1), 16)

    def expect_gone(pid, how):
        harness.wait_for(lambda: not os.path.exists(f"/proc/{pid}"), how)

    pid = pid_of(start("calls"))
    t.equal(client.ask(f"vKill;{pid:x}"), "OK", "vKill")
    expect_gone(pid, "the killed one's end")
    pid = pid_of(start("calls"))
    t.match("^W", client.ask("vCont;c"))
    expect_gone(pid, "the end of one that has run")
    pid = pid_of(start("calls"))
    t.equal(client.ask(f"D;{pid:x}"), "OK", "D")
    expect_gone(pid, "the end of one that was let go")
    t.match("^E", start("calls/none"))
    harness.wait_for(lambda: harness.descendants(server.pid) == [server.serving],
                     "no other child")
    t.match("^T05", start("calls"), "the last one")


def attach_with_pads(t, engine="ptrace", pads="always", hardware=0):
    t.truehit_only("guard")
    # Not randomized: the places that jumps of few bytes lead to have to be free.
    program = Rounds(t, rounds=1000, again=True, wrapper=["setarch", "-R"])
    session = Session(t, program)
    session.client.monitor(f"set engine {engine}")
    session.client.monitor(f"set pads {pads}")
    session.insert(hardware, 0, byte_is_set(program.byte))
    return program, session


def set_server_word(program, value):
    maps = pathlib.Path(f"/proc/{program.pid}/maps").read_text(encoding="latin1")
    start = int(re.search(r"^(\w+)-\w+ rw-s .*truehit-pads", maps, re.M).group(1), 16)
    with open(f"/proc/{program.pid}/mem", "r+b", buffering=0) as memory:
        memory.seek(start + 64)  # struct native_shared
        memory.write(value.to_bytes(4, "little"))


def test_killed_with_pads(t):
    """The text is as it was, and no thread makes system calls for a server that may be killed
    next."""
    program, session = attach_with_pads(t)
    session.go()
    kill(program, session.server)
    t.match("pads, to which nothing leads, stay in process", session.server.output())
    program.end()
    t.equal(program.process.wait(), 0, "exit status")


def test_both_killed_with_pads(t):
    """Traps of the program's own text stay in pads, and nobody meets them."""
    program, session = attach_with_pads(t)
    session.insert(0, 1, NEVER)
    t.equal(session.client.ask(f"Z0,{program.handler:x},1"), "OK", "Z0")
    for number in 1, 2, 3:
        t.match("The trap is in a pad", session.client.monitor(f"explain {number}"))
    session.go()
    program.must_run()
    for pid in (session.server.serving, session.server.pid):
        os.kill(pid, signal.SIGKILL)
    session.server.wait()
    harness.wait_for(program.is_free, "nobody tracing, nothing stopped")
    # If another server lives, as the word says, the jumps are its own.
    set_server_word(program, 1)
    server = Session(t, program).server
    kill(program, server, changed=True)
    t.no_match("jumps to pads", server.output())
    set_server_word(program, 0)
    program.set_byte()
    program.must_run()
    t.check(changed_text(program.pid, program.path), "the text is as it was")
    # The next server puts that right.
    server = Session(t, program).server
    t.match("had 3 jumps to pads of a truehit that was killed", server.output())
    kill(program, server)
    program.end()
    t.equal(program.process.wait(), 0, "exit status")


def test_both_killed_when_pads_are_made(t):
    """The thread that has mapped the memory for them is stopped for no signal."""
    for engine in "ptrace", "auto":
        program, session = attach_with_pads(t, engine)
        for pid in (session.server.serving, session.server.pid):
            os.kill(pid, signal.SIGKILL)
        session.server.wait()
        harness.wait_for(program.is_free, "nobody tracing, nothing stopped")
        program.must_run()
        program.end()
        t.equal(program.process.wait(), 0, "exit status")


def hit_after_both_were_killed(t, *how):
    """All threads hit as soon as nobody traces them. The kernel may end other threads of
    the server after the one that traces, and probes with the last."""
    program, session = attach_with_pads(t, *how)
    for part in range(1, 10):
        session.insert(0, part, byte_is_set(program.byte))
    for part in range(1, 10):  # by another thread
        session.remove(0, part)
    session.go()
    program.must_run()
    for pid in (session.server.pid, session.server.serving):
        os.kill(pid, signal.SIGKILL)
    harness.wait_for(lambda: not any(map(harness.tracer_of, program.tasks())), "nobody tracing")
    program.set_byte()
    program.must_run()
    program.end()
    t.equal(program.process.wait(), 0, "exit status")


def test_hits_after_both_were_killed(t):
    """int3 in pads, and those of the kernel's: in pads, without, and in hardware."""
    kinds = [("ptrace", "always")]
    if not harness.kernel_conditions(t.config.server):
        kinds += [("auto", "always"), ("uprobe", "off"), ("auto", "off", 1)]
    for how in kinds:
        for _ in range(10):
            hit_after_both_were_killed(t, *how)


def test_job_control(t):
    """Ctrl-Z stops both processes, and fg wakes both."""
    t.truehit_only("guard")
    program = Rounds(t)
    session = Session(t, program, job=True)
    server, client = session.server, session.client
    both = [server.pid, server.serving]

    def become(states):
        harness.wait_for(lambda: all(harness.process_state(pid) in states for pid in both),
                         f"both in one of the states {states}")
    session.insert(0, 3)
    t.match("^T05", client.ask("vCont;c"))
    for stop, wake in ((os.killpg, os.killpg), (os.kill, os.kill)):
        stop(server.pid, signal.SIGTSTP)
        become("T")
        wake(server.pid, signal.SIGCONT)
        become("SR")
        t.match("^T05", client.ask("vCont;c"))
    kill(program, server)
