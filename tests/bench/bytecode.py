# SPDX-License-Identifier: BSD-2-Clause
"""Conditions of a given size and a dprintf, as agent bytecode in the manner of gdb's, and
a client that sets them. gdb itself writes what a C expression needs, never a round
number."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import rsp

ADD, SUB, MUL, XOR, EQUAL = b"\x02", b"\x03", b"\x04", b"\x11", b"\x13"
REF64, END, PRINTF = b"\x1a", b"\x27", b"\x34"
FRAME_POINTER = {"x86_64": 6, "aarch64": 29}[os.uname().machine]
OPERANDS = {0x16: 1, 0x22: 1, 0x23: 2, 0x24: 4, 0x25: 8, 0x26: 2}  # bytes that follow


def ext(bits):
    return bytes([0x16, bits])


def const8(value):
    return bytes([0x22, value])


def const32(value):
    return b"\x24" + value.to_bytes(4, "big")


def const64(value):
    return b"\x25" + value.to_bytes(8, "big")


def register(number):
    return b"\x26" + number.to_bytes(2, "big")


def count(code):
    """Operations in bytecode, without the end, and how many of them read memory."""
    operations = reads = at = 0
    while code[at:at + 1] != END:
        operations += 1
        reads += code[at:at + 1] == REF64
        at += 1 + OPERANDS.get(code[at], 0)
    return operations, reads


def condition(operations, reads, addresses):
    """Never true, which only its evaluation shows: arithmetic on a register and on the
    words at these addresses, compared with a constant."""
    if operations == 1:
        return const8(0) + END
    code = [register(FRAME_POINTER)]
    for address in addresses[:reads]:
        code += [const64(address), REF64, XOR]
    left = operations - len(code) - 2
    for i in range(left // 3):
        code += [const8(3 + i % 50), (ADD, SUB, XOR, MUL)[i % 4], ext(64)]
    code += [ext(64)] * (left % 3)
    code += [const32(0x12345678), EQUAL]
    return b"".join(code) + END


def printf(text, address):
    """A command that prints the word at an address by a format."""
    text = text.encode() + b"\0"
    channel = function = const8(0)
    return (const64(address) + REF64 + channel + function +
            PRINTF + b"\x01" + len(text).to_bytes(2, "big") + text + END)


def run_with(server, address, condition=b"", command=b""):
    """The program runs to its end with a hardware breakpoint that has these; returns
    the last packet, and the console's text."""
    client = rsp.Client(server)
    client.ask("QStartNoAckMode")
    client.acks = False
    packet = f"Z1,{address:x},1"
    if condition:
        packet += f";X{len(condition):x},{condition.hex()}"
    if command:
        packet += f";cmds:0,X{len(command):x},{command.hex()}"
    reply = client.ask(packet)
    if reply == "OK":
        reply = client.ask("vCont;c")
    client.close()
    return reply, client.console.decode()
