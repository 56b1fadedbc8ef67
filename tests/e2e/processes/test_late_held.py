# SPDX-License-Identifier: BSD-2-Clause
"""Threads that do not stop because others hold them in the kernel: who has frozen their
cgroup, or a file system that does not answer. They keep nobody waiting, either."""
import contextlib
import ctypes
import errno
import os
import pathlib
import resource
import signal
import struct
import threading

import harness
from sleepers import go, must_live, session


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
        remove_group(group)


def remove_group(group):
    """A process that was killed may be in it until it has gone."""
    def removed():
        try:
            group.rmdir()
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            return False
        return True
    harness.wait_for(removed, "an empty cgroup")


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
