# SPDX-License-Identifier: BSD-2-Clause
"""What commands print, on its way to the client: all of it, in order, with a client
that reads slowly, not at all, or leaves."""
import os
import re
import socket

import harness
import rsp
import test_protocol

FIRST_ARGUMENT = {"x86_64": 5, "aarch64": 0}  # the register of line's number
ENDLESS = 10 ** 12


def printf(text):
    """A command that prints the number of a line: agent bytecode, as hex digits."""
    text = text.encode() + b"\0"
    code = b"\x26" + FIRST_ARGUMENT[os.uname().machine].to_bytes(2, "big")
    code += b"\x22\0\x22\0\x34\1" + len(text).to_bytes(2, "big") + text + b"\x27"
    return f"X{len(code):x},{code.hex()}"


class Lines:
    """The program `lines` under a server, and a client that prints its calls."""

    def __init__(self, t, count, padding=1000, persist=0, arguments=(), first=()):
        self.t = t
        self.server = t.server(*arguments, "COMM", t.prog("lines"), count)
        # With small buffers of the kernel's: what is in them cannot be taken back.
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        slow.connect(("127.0.0.1", self.server.port))
        self.client = rsp.Client(slow)
        for packet in (*first, "?", "vStopped"):
            self.client.ask(packet)
        self.text = "%ld " + "x" * padding + "\n"
        where = test_protocol.symbol(t, "lines", "line")
        t.equal(self.client.ask(f"Z0,{where:x},1;cmds:{persist},{printf(self.text)}"),
                "OK", "the reply to the command")

    def without_acknowledgements(self):
        self.t.equal(self.client.ask("QStartNoAckMode"), "OK", "reply")
        self.client.acks = False

    def go_on(self):
        self.client.send_bytes(self.client.frame("vCont;c"))

    def expect(self, text, begin=0, end=None):
        """Exactly the lines from begin to end, at least one."""
        lines = text.split("\n")
        if end is None:
            end = begin + len(lines) - 1
        whole = [self.text % number for number in range(begin, end)]
        if text != "".join(whole):
            wrong = next((n for n, line in enumerate(whole) if lines[n] + "\n" != line),
                         len(whole))
            raise harness.Failure(f"line {begin + wrong} of {begin}..{end}: "
                                  f"{lines[wrong:wrong + 1]!r:.80}")
        self.t.check(end > begin, "there are lines")
        return end

    def shown(self):
        return self.client.console.decode()

    def memory(self, key):
        """The server's, in KiB."""
        with open(f"/proc/{self.server.serving}/status", encoding="latin1") as file:
            return int(re.search(rf"{key}:\s*(\d+)", file.read()).group(1))

    def wait_for_memory(self, megabytes):
        """Until the server has grown by so much."""
        before = self.memory("VmRSS")
        harness.wait_for(lambda: self.memory("VmRSS") > before + 1024 * megabytes,
                         "the server's memory")

    def read_to_the_end(self):
        """Slowly; returns the last packet."""
        reply = self.client.receive()
        try:
            self.client.receive()
        except rsp.Closed:
            return reply
        raise harness.Failure("a packet after the last one")


def prepare(t):
    t.truehit_only("console of the client's")
    if os.uname().machine not in FIRST_ARGUMENT:
        t.skip("a register's number")


def test_lines_at_the_end_with_acknowledgements(t):
    prepare(t)
    lines = Lines(t, 3000)
    lines.go_on()
    t.equal(lines.read_to_the_end(), b"W07", "the last packet")
    lines.expect(lines.shown(), 0, 3000)
    t.equal(lines.server.wait(), 0, "exit status of the server")


def test_lines_at_the_end_of_a_client_that_did_not_read(t):
    """The program does not wait for it, and the end comes after all lines."""
    prepare(t)
    lines = Lines(t, 3000)
    lines.without_acknowledgements()
    lines.go_on()
    lines.server.wait_output("Child exited with status 7")
    t.equal(lines.read_to_the_end(), b"W07", "the last packet")
    lines.expect(lines.shown(), 0, 3000)
    t.equal(lines.server.wait(), 0, "exit status of the server")


def test_a_million_lines(t):
    """In the kernel; far fewer where every hit stops the program."""
    prepare(t)
    count = t.quick(1000000, 10000)
    lines = Lines(t, count, padding=1)
    lines.without_acknowledgements()
    lines.go_on()
    t.equal(lines.read_to_the_end(), b"W07", "the last packet")
    lines.expect(lines.shown(), 0, count)


def test_memory_is_bounded(t):
    """A client that does not read: the program waits for it. What the kernel keeps
    may come on top."""
    prepare(t)
    if t.config.sanitized:
        t.skip("a sanitizer keeps memory that is freed")
    lines = Lines(t, ENDLESS, padding=100)
    lines.without_acknowledgements()
    seen = [lines.memory("RssAnon")]
    lines.go_on()

    def waits():
        seen.append(lines.memory("RssAnon"))
        return seen[-1] > seen[0] + (14 << 10) and len(set(seen[-20:])) == 1
    harness.wait_for(waits, "an end of the growth")
    grown = (seen[-1] - seen[0]) >> 10
    t.check(grown < 24, f"{grown} MiB are too much")


def interrupted(t, lines):
    """What is shown before the stop; and the number in the line that tells of more."""
    lines.client.interrupt()
    t.match("^T02", lines.client.receive().decode(), "the stop")
    match = re.match(r"(.*?\n)(?:\[truehit: (\d+) bytes of output follow when the program "
                     r"goes on\]\n)?$", lines.shown(), re.S)
    t.check(match, f"the end of the text: {lines.shown()[-200:]!r}")
    lines.client.console.clear()
    return match.group(1), int(match.group(2) or 0)


def test_ctrl_c_with_much_text(t):
    """The stop comes soon, a line tells of the rest, which follows."""
    prepare(t)
    lines = Lines(t, ENDLESS)
    lines.without_acknowledgements()
    lines.go_on()
    lines.wait_for_memory(8)
    text, left = interrupted(t, lines)
    t.check(len(text) < 2 << 20, f"{len(text)} bytes are few")
    t.check(left > 1 << 20, f"{left} bytes are many")
    number = lines.expect(text)
    lines.go_on()
    while len(lines.client.console) < left:
        lines.client.take_console()
    text, _ = interrupted(t, lines)
    lines.expect(text, number)
    lines.client.close()


def test_what_a_client_leaves_unread(t):
    """It is in the server's own output, after what the client has read."""
    prepare(t)
    lines = Lines(t, ENDLESS, arguments=["--multi"])
    lines.without_acknowledgements()
    lines.go_on()
    lines.wait_for_memory(2)
    text, left = interrupted(t, lines)
    t.check(left > 0, "there is more")
    number = lines.expect(text)
    lines.client.close()
    lines.server.wait_output("terminated connection")
    text = "".join(re.findall(r"^\d+ x+\n", lines.server.output(), re.M))
    lines.expect(text, number)


def test_no_o_packets_in_non_stop_mode(t):
    """gdb would take one for a reply."""
    prepare(t)
    lines = Lines(t, 1000, padding=0, first=["QNonStop:1"])
    t.equal(lines.client.ask("vCont;c"), "OK", "reply")
    t.match(r"^Stop:W07", lines.client.notification())
    t.equal(lines.shown(), "", "console")
    lines.expect("".join(re.findall(r"^\d+ \n", lines.server.output(), re.M)), 0, 1000)


def test_lines_without_a_client_and_with_the_next_one(t):
    prepare(t)
    lines = Lines(t, ENDLESS, padding=1, persist=1)
    lines.go_on()
    while len(lines.client.console) < 1000:
        lines.client.take_console()
    lines.client.close()
    lines.server.wait_output(r"(?m)reopen the connection\.[^$]*^\d+ x$")
    client = rsp.Client(lines.server)
    t.match("^T", client.ask("?"), "a stop")
    before = lines.server.output()
    where = test_protocol.symbol(t, "lines", "line")
    t.equal(client.ask(f"Z0,{where:x},1;cmds:1,{printf(lines.text)}"), "OK", "reply")
    client.send_bytes(client.frame("vCont;c"))
    while len(client.console) < 100:
        client.take_console()
    last = int(re.findall(r"^(\d+) x$", before, re.M)[-1])
    t.match(rf"^{last + 1} x\n", client.console.decode(), "the new client's console")
    t.equal(lines.server.output(), before, "the server's output")
    client.close()
