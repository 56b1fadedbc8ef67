# SPDX-License-Identifier: BSD-2-Clause
"""The bytecode of conditions, for truehit's extension for gdb, truehit-gdb.py: gdb's own
compiler makes it, where the names in a condition mean what they are to mean."""
import re

import gdb

from truehit_bytecode import OPERATIONS, Refused, assemble, code_size

# ---- The listings of `maint agent-eval` ----

LINE = re.compile(r"^ *(\d+)  (\S+)(?: (-?\d+))?$")
RBP, RIP = 6, 16  # gdb's numbers of registers in agent expressions
THREAD = 0xffff   # the server's, for the number of the thread that hits

# What asking gdb may end in; UnicodeDecodeError is a ValueError.
FAILURES = (Refused, gdb.error, RuntimeError, ValueError)


def parse_listing(text):
    """The operations of a listing: pairs of name and operand (None: it has none)."""
    code = []
    for line in text.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        offset, name, operand = match.groups()
        if name not in OPERATIONS:
            raise Refused(f"the operation {name} is not for conditions")
        if int(offset) != code_size(code) or (operand is None) != (OPERATIONS[name][1] == 0):
            raise Refused("gdb's listing of the bytecode is not understood")
        code.append((name, None if operand is None else int(operand)))
    if not code or code[-1][0] != "end":
        raise Refused("gdb lists no bytecode")
    return code


# What gdb is to translate in the place of that number, as it knows none.
MARK_ADDRESS = 0x5eed7b1d
MARK = f"*(int *) {MARK_ADDRESS}"


def jumps_by_index(code):
    """The operations, with jumps to indexes instead of offsets."""
    offsets, at = {}, 0
    for index, (name, _) in enumerate(code):
        offsets[at] = index
        at += code_size([(name, None)])
    return [(name, offsets[operand] if name in ("goto", "if_goto") else operand)
            for name, operand in code]


def jumps_by_offset(code, starts):
    """The reverse; starts has the new index of each old one."""
    return [(name, code_size(code[:starts[operand]]) if name in ("goto", "if_goto")
             else operand) for name, operand in code]


def with_thread(code, count):
    """The operations, with the number of the thread where MARK was, so many times."""
    mark, found, starts = [("const32", MARK_ADDRESS), ("ref32", None), ("ext", 32)], [], {}
    code, index, left = jumps_by_index(code), 0, count
    while index < len(code):
        starts[index] = len(found)
        if code[index:index + len(mark)] == mark:
            found.append(("reg", THREAD))
            index, left = index + len(mark), left - 1
        else:
            found.append(code[index])
            index += 1
    if left:
        raise Refused("gdb has translated $_thread into something else")
    return jumps_by_offset(found, starts)


MI_RECORD = re.compile(r'^[~@&]"((?:[^"\\]|\\.)*)"$', re.M)
ESCAPED = re.compile(r"\\([0-7]{3}|.)")


def plain(text):
    """In MI, gdb 18 writes the text of gdb.execute() as records, also within others."""
    def unescape(match):
        code = match.group(1)
        return chr(int(code, 8)) if len(code) == 3 else {"n": "\n", "t": "\t"}.get(code, code)

    while MI_RECORD.match(text):
        text = ESCAPED.sub(unescape, "".join(MI_RECORD.findall(text)))
    return text


def capture(command):
    return plain(gdb.execute(command, to_string=True))


def ask(command):
    """What a command prints in the innermost frame of the selected thread, or its error.
    An exception from gdb.execute would have gdb forget that it waits for the program,
    when this happens on the way to a resume: `thread apply -c` raises none."""
    thread = gdb.selected_thread()
    if not thread:
        raise Refused("there is no process")
    number = f"{thread.inferior.num}.{thread.num}"
    return capture(f"thread apply {number} -q -c {command}")


def compile_expression(text):
    """What gdb's compiler makes of an expression at the innermost frame's PC."""
    listing = ask(f"maint agent-eval {text}")
    if not re.search("^ *0  ", listing, re.M):
        raise Refused(f"gdb cannot compile it: {listing.strip()}")
    return parse_listing(listing)


def guarded(code, low, high):
    """The bytecode of a condition that holds wherever the PC is not in low..high."""
    head = [("reg", RIP), ("const64", low), ("sub", None), ("const64", high - low + 1),
            ("less_unsigned", None), ("if_goto", 0), ("const8", 1), ("end", None)]
    size = code_size(head)
    head[5] = ("if_goto", size)
    return assemble(head) + assemble(code, size)


# ---- What the names in an expression mean ----

def identifiers(text):
    """All words that may be names of variables; those after a $ are not."""
    text = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])*\'', " ", text)
    return sorted(set(re.findall(r"(?<![\w$])[A-Za-z_]\w*", text)))


def lookup(name, block):
    """The symbol, and whether it depends on the frame."""
    symbol, is_member_of_this = gdb.lookup_symbol(name, block) if block else (None, False)
    if symbol is None and not block:
        symbol = gdb.lookup_global_symbol(name) or gdb.lookup_static_symbol(name)
    return symbol, is_member_of_this or (symbol is not None and symbol.needs_frame)


def meaning(text, block):
    """What to compare in order to see whether names mean the same elsewhere."""
    found = []
    for name in identifiers(text):
        symbol, _ = lookup(name, block)
        where = symbol and (symbol.symtab.filename if symbol.symtab else "", symbol.line,
                            symbol.addr_class, symbol.needs_frame)
        found.append((name, where))
    return found


def block_key(block):
    return block.start, block.end, str(block.function)


def block_chain(block):
    """The keys of a block and of those around it, up to its function's."""
    keys = []
    while block and not block.is_static and not block.is_global:
        keys.append(block_key(block))
        if block.function:
            break
        block = block.superblock
    return keys


def local_names(text, block):
    return [name for name in identifiers(text) if lookup(name, block)[1]]


def innermost_block(names, block):
    """The key of the innermost block that has one of these variables."""
    while block and not block.is_static and not block.is_global:
        if any(symbol.name in names for symbol in block):
            return block_key(block)
        if block.function:
            break
        block = block.superblock
    raise Refused("it reads what is not a plain local variable")


# ---- Frames with a frame pointer ----

PROLOGUE = re.compile(rb"(\xf3\x0f\x1e\xfa)?\x55\x48(\x89\xe5|\x8b\xec)")
FRAME_POINTER = re.compile(r"\b[re]?bpl?\b|^(leave|enter)", re.I)


def framed_run(frame, block):
    """The first and the last PC around the frame's, in the block with this key, at
    which the frame pointer is the one of the function's frame."""
    start, end = block_chain(frame.block())[-1][:2]
    head = gdb.selected_inferior().read_memory(start, min(16, end - start)).tobytes()
    prologue = PROLOGUE.match(head)
    if not prologue:
        raise Refused("the function keeps no frame pointer")
    pcs = []
    for insn in frame.architecture().disassemble(start + prologue.end(), end - 1):
        if block in block_chain(gdb.block_for_pc(insn["addr"])):
            pcs.append(insn["addr"])
        elif frame.pc() in pcs:
            break
        else:
            pcs = []
        # A variable relative to the frame pointer does not change it.
        if FRAME_POINTER.search(re.sub(r"[([][^)\]]*[)\]]", "", insn["asm"])):
            break
    if frame.pc() not in pcs:
        raise Refused("the frame pointer is not set up here")
    return pcs[0], pcs[-1]


def compile_local(text, names):
    """The bytecode of a condition that reads these local variables."""
    frame = gdb.selected_frame()
    if frame.architecture().name() != "i386:x86-64":
        raise Refused("it reads local variables")
    if frame != gdb.newest_frame() or frame.type() != gdb.NORMAL_FRAME:
        raise Refused("it reads variables of an outer frame")
    for name in names:
        if "multi-location" in ask(f"info address {name}"):
            raise Refused(f"{name} changes its home")
    code = compile_expression(text)
    if any(name == "reg" and operand != RBP for name, operand in code):
        raise Refused("it reads local variables that live in registers")
    return guarded(code, *framed_run(frame, innermost_block(names, frame.block())))
