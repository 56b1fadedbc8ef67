# SPDX-License-Identifier: BSD-2-Clause
"""The bytecode of agent expressions, for truehit's extensions for gdb and for lldb."""

# Name: code, bytes of the operand. Source: gdbsupport/ax.def, "The GDB Agent
# Expression Mechanism". What is not here is not for conditions.
OPERATIONS = {
    "add": (0x02, 0), "sub": (0x03, 0), "mul": (0x04, 0),
    "div_signed": (0x05, 0), "div_unsigned": (0x06, 0),
    "rem_signed": (0x07, 0), "rem_unsigned": (0x08, 0),
    "lsh": (0x09, 0), "rsh_signed": (0x0a, 0), "rsh_unsigned": (0x0b, 0),
    "log_not": (0x0e, 0), "bit_and": (0x0f, 0), "bit_or": (0x10, 0),
    "bit_xor": (0x11, 0), "bit_not": (0x12, 0),
    "equal": (0x13, 0), "less_signed": (0x14, 0), "less_unsigned": (0x15, 0),
    "ext": (0x16, 1), "ref8": (0x17, 0), "ref16": (0x18, 0), "ref32": (0x19, 0),
    "ref64": (0x1a, 0), "if_goto": (0x20, 2), "goto": (0x21, 2),
    "const8": (0x22, 1), "const16": (0x23, 2), "const32": (0x24, 4),
    "const64": (0x25, 8), "reg": (0x26, 2), "end": (0x27, 0), "dup": (0x28, 0),
    "pop": (0x29, 0), "zero_ext": (0x2a, 1), "swap": (0x2b, 0), "pick": (0x32, 1),
    "rot": (0x33, 0),
}


class Refused(Exception):
    """Why a condition is left to the debugger."""


def code_size(code):
    return sum(1 + OPERATIONS[name][1] for name, _ in code)


def assemble(code, base=0):
    """The bytes of operations that begin at the offset base."""
    data = bytearray()
    for name, operand in code:
        opcode, size = OPERATIONS[name]
        if name in ("goto", "if_goto"):
            operand += base
        data.append(opcode)
        if size:
            data += (operand & ((1 << 8 * size) - 1)).to_bytes(size, "big")
    return bytes(data)
