# SPDX-License-Identifier: BSD-2-Clause
"""Where the server listens, and what it says to a bad command line."""
import os
import signal
import socket

import harness
import rsp


def run(t, *arguments, **kwargs):
    """A command line that ends at once: status and output."""
    process = harness.Process(t, [t.config.server, *arguments], **kwargs)
    return process.wait(), process.output()


def fails(t, *arguments, regex, **kwargs):
    """One clear line, and a non-zero exit."""
    status, output = run(t, *arguments, **kwargs)
    t.check(status > 0, f"exit status {status} of {arguments}")
    t.match(regex, output, f"output of {arguments}")
    if not t.config.reference:
        # gdbserver's last line, and the hint at --help, are there too.
        lines = [l for l in output.splitlines() if l and l != "Exiting" and "--help" not in l]
        t.equal(len(lines), 1, f"lines printed by {arguments}: {output}")


def test_unix_socket(t):
    t.truehit_only("Unix socket")
    path = t.dir / "socket"
    server = t.server("COMM", t.prog("calls"), comm=f"unix:{path}")
    gdb = t.gdb(server, "break triple", "continue", "continue", prog=t.prog("calls"))
    t.match(r"Breakpoint 1, triple", gdb.output())
    t.match(r"exited with code 052", gdb.output())
    t.equal(server.wait(), 0, "exit status of the server")
    t.check(not path.exists(), "the socket's file is gone")


def test_unix_socket_is_private(t):
    t.truehit_only("Unix socket")
    path = t.dir / "socket"
    t.server("COMM", t.prog("calls"), comm=f"unix:{path}")
    t.equal(os.stat(path).st_mode & 0o077, 0, "rights of others to the socket")


def test_unix_socket_of_another(t):
    """At its end the server removes its own socket, and nothing that is there instead."""
    t.truehit_only("Unix socket")
    path = t.dir / "socket"
    for put in (lambda: path.write_text("mine"), path.mkdir,
                lambda: t.server("COMM", t.prog("calls"), comm=f"unix:{path}")):
        server = t.server("COMM", t.prog("calls"), comm=f"unix:{path}")
        server.wait_output("Listening on unix:")
        path.unlink()
        other = put()
        before = os.lstat(path)
        server.kill(signal.SIGTERM)
        t.equal(server.wait(), 0, "exit status of the server")
        after = os.lstat(path)
        t.equal((after.st_ino, after.st_mode), (before.st_ino, before.st_mode), "what is there")
        t.equal([p.name for p in t.dir.iterdir() if p.name.startswith("socket")], ["socket"], "files")
        if path.is_file():
            path.unlink()
        elif path.is_dir():
            path.rmdir()
        else:
            t.match("^T05", rsp.Client(other).ask("?"))


def test_unix_socket_of_a_killed_server(t):
    """It is replaced; one of a server that lives is not."""
    t.truehit_only("Unix socket")
    path = t.dir / "socket"
    server = t.server("COMM", t.prog("calls"), comm=f"unix:{path}")
    fails(t, f"unix:{path}", t.prog("calls"), regex="Address already in use")
    serving = server.serving
    server.kill()
    server.wait()
    harness.wait_for(lambda: harness.process_state(serving) in (None, "Z"), "the end of the server")
    path.unlink(missing_ok=True)  # a server whose guard is killed still tidies up
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    server = t.server("COMM", t.prog("calls"), comm=f"unix:{path}")
    server.wait_output("Listening on unix:")
    t.match("^T05", rsp.Client(server).ask("?"))


def stdio(t, comm):
    gdb = t.gdb(None, f"target remote | exec {t.config.server} --once {comm} {t.prog('calls')} x",
                "break triple", "continue", "bt", "continue", prog=t.prog("calls"))
    t.match(r"Breakpoint 1, triple", gdb.output())
    t.match(r"exited with code 052", gdb.output())
    t.match(r"argument 1: x", gdb.output())


def test_stdio_dash(t):
    stdio(t, "-")


def test_stdio_name(t):
    stdio(t, "stdio")


def test_loopback_only(t):
    """No host means this machine only."""
    t.truehit_only("default of listening on loopback only")
    server = t.server("COMM", t.prog("calls"))
    with open("/proc/net/tcp", encoding="ascii") as file:
        lines = [l.split()[1] for l in file if l.split()[3] == "0A"]
    listening = [l for l in lines if l.endswith(f":{server.port:04X}")]
    t.equal(listening, [f"0100007F:{server.port:04X}"], "addresses listened at")


def test_host_is_named(t):
    server = t.server("COMM", t.prog("calls"), comm="localhost:0")
    server.address = f":{server.port}"
    t.match("^T05", rsp.Client(server).ask("?"))


def test_one_client_at_a_time(t):
    """A second client waits or is refused; the first is not disturbed."""
    server = t.server("COMM", t.prog("calls"))
    first = rsp.Client(server)
    t.match("^T05", first.ask("?"))
    try:
        second = rsp.Client(server)
        second.send_bytes(second.frame("?"))
    except OSError:
        pass
    t.match("^QC", first.ask("qC"))


def test_bad_options(t):
    fails(t, "--no-such-option", ":0", "prog", regex=r"no-such-option")
    fails(t, regex=r"[Uu]sage|--help")
    if t.config.reference:
        return
    fails(t, ":0", regex=r".")
    fails(t, "--debug=nonsense", ":0", t.prog("calls"), regex=r"nonsense")


def test_bad_addresses(t):
    if t.config.reference:
        return t.skip("gdbserver's own messages")
    for comm in (":notaport", ":99999", ":-1", "nonsense", "no.such.host.invalid:0",
                 "unix:/no/such/directory/socket"):
        fails(t, comm, t.prog("calls"), regex=r".")


def test_no_such_program(t):
    """The shell says why, or we do; then gdbserver's last words."""
    for option in ("--startup-with-shell", "--no-startup-with-shell"):
        for program, code in (("/no/such/program", 127), ("/etc/passwd", "12[67]"),
                              ("no-such-program", 127)):
            status, output = run(t, "--once", option, ":0", program)
            t.equal(status, 1, "exit status")
            t.match(rf"{program}.*\n?.*([Nn]o such file|not found|[Pp]ermission denied)", output)
            t.match(rf"\nDuring startup program exited with code {code}\.\nExiting\n\Z",
                    output)
            t.no_match("Listening", output)


def test_udp(t):
    t.truehit_only("clear word on UDP")
    fails(t, "udp:localhost:2345", t.prog("calls"), regex="no UDP")


def test_selftest(t):
    status, output = run(t, "--selftest")
    t.equal(status, 0, "exit status")
    t.match(r"^(Selftests have been disabled for this build\.|Ran \d+ unit tests, 0 failed)$",
            output)


def test_debug_file(t):
    path = t.dir / "log"
    server = t.server("--remote-debug", "--debug", f"--debug-file={path}", "COMM",
                      t.prog("calls"))
    t.gdb(server, "continue", prog=t.prog("calls"))
    t.check(path.stat().st_size > 1000, "debugging output in the file")
    t.no_match(r"qSupported", server.output())


class Terminal(socket.socket):
    """A terminal as rsp.Client takes it."""

    def __init__(self, fd):
        super().__init__(socket.AF_UNIX)
        self.terminal = fd

    def sendall(self, data):
        os.write(self.terminal, data)

    def recv(self, size):
        return os.read(self.terminal, size)


def test_serial_line(t):
    """A session over a pair of terminals; gdb hangs up by closing its end."""
    controller, line = os.openpty()
    device = os.ttyname(line)
    server = t.server("--once", "COMM", t.prog("calls"), "x", comm=device)
    server.wait_output("Remote debugging using " + device)
    os.close(line)
    client = rsp.Client(Terminal(controller))
    if not t.config.reference:
        t.no_match("QStartNoAckMode", client.ask("qSupported:multiprocess+"))
    t.match("^T05", client.ask("?"))
    t.match("^W2a", client.ask("vCont;c"))
    os.close(controller)
    status = server.wait()
    if not t.config.reference:
        t.equal(status, 0, "exit status")
    t.match(r"^argument 1: x$", server.output())


def test_port_in_use(t):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        status, output = run(t, f":{port}", t.prog("calls"))
        t.check(status > 0, f"exit status {status}")
        t.match(r"in use", output)


def test_attach_nobody(t):
    fails(t, "--attach", ":0", "4194999", regex=r"4194999")
    if not t.config.reference:
        fails(t, "--attach", ":0", "notapid", regex=r"notapid")
        fails(t, "--attach", ":0", "0", regex=r"0")
        fails(t, "--attach", ":0", regex=r".")


def test_attach_twice(t):
    """A process that is traced already: who traces it is said."""
    counts = t.dir / "counts"
    program = harness.Process(t, [t.prog("attach"), counts])
    harness.wait_for(counts.exists, "the program")
    t.server("--attach", "COMM", program.pid)
    fails(t, "--attach", ":0", str(program.pid), regex=rf"{program.pid}|traced")


def test_attach_without_permission(t):
    t.need_root()
    counts = t.dir / "counts"
    program = harness.Process(t, [t.prog("attach"), counts])
    harness.wait_for(counts.exists, "the program")
    server, = t.public_copy(t.config.server)
    process = harness.Process(t, [server, "--attach", ":0", str(program.pid)],
                              preexec=t.become_nobody)
    t.check(process.wait() > 0, "exit status")
    t.match(r"[Pp]ermi|not permitted", process.output())
    if not t.config.reference:
        t.match(str(program.pid), process.output())
        t.match(r"another user's \(needs root\)", process.output())
        t.no_match("setcap", process.output())


def test_version_and_help(t):
    for option, regex in (("--version", r"\d+\.\d+"), ("--help", r"--attach")):
        status, output = run(t, option)
        t.equal(status, 0, f"exit status of {option}")
        t.match(regex, output)


def test_debug_output(t):
    t.truehit_only("--debug=CATEGORIES")
    server = t.server("--debug=rsp,stops", "COMM", t.prog("calls"))
    t.gdb(server, "break main", "continue", "kill", prog=t.prog("calls"))
    t.match(r"truehit: rsp: ", server.output())
    t.match(r"truehit: stops: ", server.output())
