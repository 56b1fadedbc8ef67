# SPDX-License-Identifier: BSD-2-Clause
"""Clients that ask for more and more and take or acknowledge nothing, or that go while
the server is at work for them: they are taken for gone, and cost nothing that lasts."""
import os
import select
import signal
import socket
import time

import harness
import rsp

def room(t):
    """KiB that a client may make the server need. AddressSanitizer's shadow and margins
    come on top, a quarter at most."""
    return 64 * 1024 * (5 if t.config.sanitized else 4) // 4


def measured_server(t, *argv):
    """A server whose memory is looked at, after it has tried its engines, for which it
    loads a library. AddressSanitizer keeps what was freed for a while, up to four times
    what a client may need; here it keeps less."""
    options = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"
    server = t.server("--multi", "COMM", *argv, env=dict(os.environ, ASAN_OPTIONS=options))
    client = rsp.Client(server)
    client.monitor("engines")
    client.close()
    return server


def memory(server):
    """What the server has in memory at most, in KiB."""
    with open(f"/proc/{server.serving}/status", encoding="ascii") as file:
        return int(next(l for l in file if l.startswith("VmHWM:")).split()[1])


class Flood:
    """A client that sends without an end, and reads what comes or does not."""

    def __init__(self, t, server, reads):
        self.t, self.server, self.reads = t, server, reads
        self.client = rsp.Client(server)
        self.client.socket.setblocking(False)
        self.unsent = b""
        self.sent = 0

    def take(self):
        """Reads. False: the server has closed the connection."""
        try:
            return self.client.socket.recv(1 << 20) != b""
        except BlockingIOError:
            return True
        except ConnectionError:
            return False

    def wait(self):
        """A moment, for what the server does next; it may need the processor for that."""
        readers = [self.client.socket] if self.reads else []
        select.select(readers, [self.client.socket], [], 0.1)

    def send(self, data, limit):
        """Sends that until so many bytes are sent. True: the server has had enough of it,
        or takes no more as long as nothing is read."""
        end = time.monotonic() + (60 if self.reads else 3) * harness.PATIENCE
        while self.sent < limit and time.monotonic() < end:
            if self.reads and not self.take():
                return True
            if not self.unsent:
                self.unsent = data
            try:
                count = self.client.socket.send(self.unsent)
            except BlockingIOError:
                self.wait()
                continue
            except ConnectionError:
                return True
            self.unsent = self.unsent[count:]
            self.sent += count
        return False


def still_serves(t, server, before):
    """The next client finds the program as the last one has left it."""
    t.check(memory(server) - before < room(t), f"{memory(server) - before} KiB more memory")
    client = rsp.Client(server)
    t.match("^T0", client.ask("?"))
    client.close()


def requests(command="help", count=500):
    return rsp.Client.frame(b"qRcmd," + command.encode().hex().encode()) * count


def test_client_that_acknowledges_nothing(t):
    """A command that fails is answered with two packets, the reason and E01, of which the
    next request acknowledges one."""
    t.truehit_only("limit of what waits for a client")
    server = measured_server(t, t.prog("calls"))
    before = memory(server)
    flood = Flood(t, server, reads=True)
    given_up = flood.send(requests("x" * 4000, 10), 400 << 20)
    t.check(given_up, f"the client is given up after {flood.sent} bytes")
    t.match("acknowledges nothing", server.output())
    still_serves(t, server, before)


def test_client_that_reads_nothing(t):
    """It is not listened to any longer, and the server needs no more memory."""
    server = measured_server(t, t.prog("calls"))
    before = memory(server)
    flood = Flood(t, server, reads=False)
    flood.send(requests(), 64 << 20)
    t.check(memory(server) - before < room(t), f"{memory(server) - before} KiB more memory")
    flood.client.close()
    still_serves(t, server, before)


def test_packet_without_an_end(t):
    server = measured_server(t, t.prog("calls"))
    before = memory(server)
    flood = Flood(t, server, reads=True)
    flood.client.send_bytes(b"$m")
    flood.send(b"0123456789" * 10000, 200 << 20)
    flood.client.close()
    still_serves(t, server, before)


def test_interrupts_without_an_end(t):
    """Each is at most one stop; they are answered in order with the rest."""
    server = measured_server(t, t.prog("loop"), "1000000000")
    before = memory(server)
    client = rsp.Client(server)
    client.ask("QStartNoAckMode")
    client.acks = False
    for _ in range(20 // harness.PATIENCE):
        client.send_bytes(client.frame("vCont;c") + b"\x03" * 20000)
        t.match("^T02", client.receive().decode("latin1"))
    client.close()
    still_serves(t, server, before)


def test_notifications_that_nobody_takes(t):
    """In non-stop mode the client learns of one stop, and of no other until it has asked:
    whatever else it asks for, it is told once."""
    server = measured_server(t, t.prog("threads"))
    before = memory(server)
    client = rsp.Client(server)
    client.ask("QNonStop:1")
    client.ask("?")
    for _ in range(2000):
        client.send_bytes(client.frame("vCont;c") + client.frame("vCont;t"))
    for _ in range(4000):
        client.receive()
    t.check(len(client.notifications) <= 1, f"{len(client.notifications)} notifications")
    client.close()
    still_serves(t, server, before)


def test_end_is_heeded_among_requests(t):
    """SIGTERM comes while a lot of requests wait to be served."""
    server = t.server("--multi", "COMM", t.prog("calls"))
    flood = Flood(t, server, reads=False)
    flood.send(requests(), 1 << 20)
    server.kill(signal.SIGTERM)
    t.equal(server.wait(), 0, "exit status of the server")


# ---- a start that takes its time ----

def script(t, text):
    path = t.dir / "script"
    path.write_text(f"#!/bin/sh\ncd {t.dir}\necho $$ >pid\n{text}\n")
    path.chmod(0o755)
    return path


def shell(t, text):
    return dict(os.environ, SHELL=str(script(t, text)))


def starting(t):
    path = t.dir / "pid"
    return int(harness.wait_for(lambda: path.exists() and path.read_text().strip(),
                                "the shell to be started"))


def gone(t, pid):
    harness.wait_for(lambda: harness.process_state(pid) in (None, "Z", "X"), f"the end of {pid}")


# What a shell does instead of executing the program.
SLEEPERS = {
    "child": "sleep 1000; exit 1",
    "pipe": "mkfifo pipe; read line <pipe",
    "deaf": "trap '' HUP INT TERM; while :; do sleep 1; done",
}


def vrun(t, server):
    client = rsp.Client(server)
    client.ask("!")
    client.send_bytes(client.frame("vRun;" + t.prog("calls").encode().hex()))
    return client


def test_start_is_given_up_with_the_client(t):
    """A shell never comes to execute the program, and the client goes."""
    t.truehit_only("a start that is given up")
    for name, text in SLEEPERS.items():
        t.note(name)
        server = t.server("--multi", "COMM", env=shell(t, text))
        client = vrun(t, server)
        pid = starting(t)
        client.close()
        gone(t, pid)
        (t.dir / "pid").unlink()
        client = rsp.Client(server)
        t.match("qXfer:features", client.ask("qSupported"))
        client.close()


def test_start_is_given_up_at_the_end(t):
    t.truehit_only("a start that is given up")
    server = t.server("--multi", "COMM", env=shell(t, SLEEPERS["deaf"]))
    client = vrun(t, server)
    pid = starting(t)
    server.kill(signal.SIGTERM)
    gone(t, pid)
    t.equal(server.wait(), 0, "exit status of the server")
    client.close()


def test_wrapper_that_sleeps(t):
    t.truehit_only("a start that is given up")
    server = t.server("--multi", "--wrapper", script(t, "sleep 1000; exit 1"), "--", "COMM")
    client = vrun(t, server)
    pid = starting(t)
    client.close()
    gone(t, pid)
    client = rsp.Client(server)
    t.match("qXfer:features", client.ask("qSupported"))


def test_start_for_a_client_that_has_sent_all(t):
    """Scripts hang up their side when they have sent everything, and still want it."""
    server = t.server("--multi", "COMM")
    client = vrun(t, server)
    client.socket.shutdown(socket.SHUT_WR)
    client.acks = False
    t.match("^T05", client.receive().decode("latin1"))
