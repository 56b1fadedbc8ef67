# SPDX-License-Identifier: BSD-2-Clause
"""Which names mean something else than a global variable in some function of a file, for
truehit's extension for lldb: the condition of a watchpoint is evaluated wherever the access is.
Source of the facts: DWARF 5, sections 7.5.5 and 7.26."""
import functools
import os

from truehit_bytecode import Refused
from truehit_lldb_dwarf import (ADDRESS, COUNTED, FIXED, IMPLICIT, NUMBERS, STRING, File, Reader,
                                Unit)

NAME, STR_OFFSETS_BASE = 0x03, 0x72                # attributes
PARAMETER, MEMBER, ENUMERATOR, VARIABLE = 0x05, 0x0d, 0x28, 0x34  # tags
SUBPROGRAM = 0x2e
STRP, LINE_STRP = 0x0e, 0x1f                       # forms
INDEXES = {0x1a: 0, 0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4}  # those of strings, by their bytes
SIZE_MAX = 4 << 20  # of .debug_info: some seconds


def leb128(data, at):
    """The number, and where it ends."""
    byte = data[at]
    if byte < 0x80:
        return byte, at + 1
    value, shift = byte & 0x7f, 7
    while byte >= 0x80:
        at += 1
        byte = data[at]
        value |= (byte & 0x7f) << shift
        shift += 7
    return value, at + 1


def skips_of(attributes):
    """How to skip an entry: pairs of so many bytes, and the form after them, or None."""
    found, fixed = [], 0
    for _, form in attributes:
        if form == ADDRESS or form in FIXED:
            fixed += 8 if form == ADDRESS else FIXED[form]
        elif form != IMPLICIT:
            found.append((fixed, form))
            fixed = 0
    return found + [(fixed, None)]


def skip(data, at, skips):
    for fixed, form in skips:
        at += fixed
        if form in NUMBERS:
            at = leb128(data, at)[1]
        elif form == STRING:
            at = data.index(b"\0", at) + 1
        elif form in COUNTED:
            size = COUNTED[form]
            count, start = (int.from_bytes(data[at:at + size], "little"), at + size) if size \
                else leb128(data, at)
            at = start + count
        elif form is not None:
            raise Refused(f"its debug information has a form that is not known ({form:#x})")
    return at


class Names:
    """Of local variables, parameters, members and enumerators of one file."""

    def __init__(self, file):
        self.file, self.members, self.found = file, set(), set()
        if ".gnu_debugaltlink" in file.rows:
            raise Refused("some debug information of its file is in another one")
        self.info, self.abbreviations = file.section(".debug_info"), file.section(".debug_abbrev")
        if len(self.info) > SIZE_MAX:
            raise Refused(f"there are over {SIZE_MAX >> 20} MiB of debug information")
        self.strings = {STRP: self.optional(".debug_str"),
                        LINE_STRP: self.optional(".debug_line_str")}
        self.offsets = self.optional(".debug_str_offsets")
        at = 0
        while at < len(self.info):
            at = self.read_unit(at)

    def optional(self, name):
        return self.file.section(name) if name in self.file.rows else b""

    def read_unit(self, at):
        """Returns where the next one begins."""
        info, end = self.info, at + 4 + int.from_bytes(self.info[at:at + 4], "little")
        unit = Unit(info, self.abbreviations, Unit.head_end(info, at))
        at = unit.reader.at
        base = unit.entry(at)[1].get(STR_OFFSETS_BASE, (None, b"\x08"))[1]
        skips = {code: skips_of(attributes)
                 for code, (_, attributes, _) in unit.abbreviations.items()}
        functions, depth = [], 0  # how deep in the tree, and the functions around
        while at < end:
            code, at = leb128(info, at)
            if code == 0:
                depth -= 1
                if functions and functions[-1] == depth:
                    functions.pop()
                continue
            tag, attributes, has_children = unit.abbreviations[code]
            if tag in (MEMBER, ENUMERATOR) or functions and tag in (VARIABLE, PARAMETER):
                reader = Reader(info, at)
                self.note(unit, reader, attributes, int.from_bytes(base, "little"),
                          self.members if tag == MEMBER else self.found)
                at = reader.at
            else:
                at = skip(info, at, skips[code])
            if has_children:
                if tag == SUBPROGRAM:
                    functions.append(depth)
                depth += 1
        return end

    def note(self, unit, reader, attributes, base, found):
        for name, form in attributes:
            start = reader.at
            value = unit.value(reader, form)
            if name == NAME:
                found.add(self.text(form, reader, start, value, base))

    def text(self, form, reader, start, value, base):
        if form == STRING:
            return bytes(reader.data[start:reader.at - 1])
        if form in INDEXES:
            at = base + 4 * Reader(reader.data, start).leb128() if INDEXES[form] == 0 else \
                base + 4 * int.from_bytes(value, "little")
            form, value = STRP, self.offsets[at:at + 4]
        if form not in self.strings or len(value) != 4:
            raise Refused("its debug information has names that are not understood")
        at = int.from_bytes(value, "little")
        return bytes(self.strings[form][at:self.strings[form].find(b"\0", at)])


@functools.lru_cache(maxsize=4)
def names(path, _identity):
    file = File(path)
    found = Names(file)
    return file.build_id(), frozenset(found.members), frozenset(found.found)


def other_meanings(path, build_id):
    """The names of members, and the others, as bytes. build_id: of the file that lldb has
    read."""
    status = os.stat(path)
    found, *result = names(path, (status.st_ino, status.st_mtime_ns))
    if not found or found != build_id:
        raise Refused(f"{path} has no build ID, or is not the file that lldb has read")
    return result
