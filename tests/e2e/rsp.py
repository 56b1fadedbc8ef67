# SPDX-License-Identifier: BSD-2-Clause
"""A client that speaks the remote serial protocol byte by byte."""
import os
import re
import select
import socket

from machine import NO_REGISTERS, Skip, breakpoint_registers_fire

# The PC's number; each register before it has 8 bytes in `g`.
PC = {"x86_64": 16, "aarch64": 32}[os.uname().machine]
LIMIT = 60 * int(os.environ.get("TRUEHIT_PATIENCE", "1"))


class Closed(Exception):
    """The server has closed the connection."""


class Client:
    def __init__(self, server):
        self.buffer = b""
        self.notifications = []
        self.console = bytearray()  # what O packets have shown
        if isinstance(server, socket.socket):
            self.socket = server
        elif server.address.startswith("/"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(server.address)
        else:
            self.socket = socket.create_connection(("127.0.0.1", server.port))
            # An acknowledgement must not wait for the packet that follows it.
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(LIMIT)
        if engine := os.environ.get("E2E_ENGINE"):
            self.monitor(f"set engine {engine}")
        if pads := os.environ.get("E2E_PADS"):
            self.monitor(f"set pads {pads}")

    @staticmethod
    def frame(payload):
        if isinstance(payload, str):
            payload = payload.encode()
        if re.match(b"Z[1-4],", payload) and not breakpoint_registers_fire():
            raise Skip(NO_REGISTERS)
        payload = re.sub(rb"[#$}*]", lambda m: b"}" + bytes([m.group(0)[0] ^ 0x20]), payload)
        return b"$" + payload + b"#%02x" % (sum(payload) & 0xff)

    def send_bytes(self, data):
        self.socket.sendall(data)

    def fill(self):
        try:
            data = self.socket.recv(65536)
        except ConnectionError:
            data = b""
        if not data:
            raise Closed
        self.buffer += data

    def byte(self):
        if not self.buffer:
            self.fill()
        first, self.buffer = self.buffer[:1], self.buffer[1:]
        return first

    FRAME = re.compile(rb"([$%])([^#]*)#(..)", re.S)

    def frame_text(self):
        """What kind of frame comes next, $ or %, and its text; packets are
        acknowledged."""
        while not (match := self.FRAME.search(self.buffer)):
            self.fill()
        self.buffer = self.buffer[match.end():]
        kind, raw, wanted = match.groups()
        if sum(raw) & 0xff != int(wanted, 16):
            raise ValueError(f"bad checksum of {raw!r}")
        if self.acks and kind == b"$":
            self.send_bytes(b"+")
        return kind, self.decode(raw)

    def receive(self):
        """The next packet's text; console output and notifications are kept."""
        while True:
            kind, text = self.frame_text()
            if kind == b"%":
                self.notifications.append(text.decode("latin1"))
            elif not self.is_console(text):
                return text

    def is_console(self, text):
        if text[:1] != b"O" or text == b"OK":
            return False
        self.console += bytes.fromhex(text[1:].decode())
        return True

    def has_reply(self):
        """Is there a packet to receive? What it finds of console output is kept."""
        while self.has_more():
            while not (match := self.FRAME.search(self.buffer)):
                self.fill()
            if match.group(1) != b"$" or not self.is_console(self.decode(match.group(2))):
                return True
            self.buffer = self.buffer[match.end():]
            if self.acks:
                self.send_bytes(b"+")
        return False

    def take_console(self):
        """The next packet is console output."""
        _, text = self.frame_text()
        if not self.is_console(text):
            raise ValueError(f"no console output: {text!r}")

    def notification(self):
        """The next notification's text."""
        if not self.notifications:
            kind, text = self.frame_text()
            if kind != b"%":
                raise ValueError(f"a packet, not a notification: {text!r}")
            return text.decode("latin1")
        return self.notifications.pop(0)

    acks = True

    CODED = re.compile(rb"\}(.)|(.)\*(.)", re.S)

    @classmethod
    def decode(cls, raw):
        def plain(match):
            if match.group(1):
                return bytes([match.group(1)[0] ^ 0x20])
            return match.group(2) * (match.group(3)[0] - 28)
        return cls.CODED.sub(plain, raw)

    def ask(self, payload):
        self.send_bytes(self.frame(payload))
        return self.receive().decode("latin1")

    def monitor(self, line):
        """What a monitor command prints, in its reply or before it."""
        self.send_bytes(self.frame(b"qRcmd," + line.encode().hex().encode()))
        text = b""
        while True:
            kind, packet = self.frame_text()
            if kind == b"$" and packet == b"OK":
                return text.decode()
            if kind == b"$" and re.match(rb"O?([0-9a-f][0-9a-f])+$", packet):
                text += bytes.fromhex(packet.lstrip(b"O").decode())
                if packet[:1] != b"O":
                    return text.decode()
            elif kind == b"%":
                self.notifications.append(packet.decode("latin1"))
            else:
                raise ValueError(f"monitor {line}: {packet!r} after {text!r}")

    def has_more(self):
        """Is there something to receive?"""
        return bool(self.buffer or select.select([self.socket], [], [], 0)[0])

    def interrupt(self):
        self.send_bytes(b"\x03")

    def close(self):
        self.socket.close()
