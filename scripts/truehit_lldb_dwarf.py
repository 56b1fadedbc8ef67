# SPDX-License-Identifier: BSD-2-Clause
"""What lldb does not tell of a file's debug information: relative to what a function's
variables are (its frame base), for truehit's extension for lldb. Source of the facts: DWARF 5,
sections 7.5 and 7.7; elf(5)."""
import functools
import mmap
import os
import struct
import zlib

from truehit_bytecode import Refused

SUBPROGRAM = 0x2e                        # a tag
LOW_PC, FRAME_BASE = 0x11, 0x40          # attributes
DWO_NAMES = {0x76, 0x2130}
ADDRESS, BLOCK1, EXPRLOC, STRING, IMPLICIT = 0x01, 0x0a, 0x18, 0x08, 0x21  # forms
SHF_COMPRESSED, ELFCOMPRESS_ZLIB = 1 << 11, 1

# Forms with so many bytes; those that begin with a length of so many bytes (0: LEB128); and
# those that are one number in LEB128.
FIXED = {0x05: 2, 0x06: 4, 0x07: 8, 0x0b: 1, 0x0c: 1, 0x0e: 4, 0x10: 4, 0x11: 1, 0x12: 2,
         0x13: 4, 0x14: 8, 0x17: 4, 0x19: 0, 0x1c: 4, 0x1d: 4, 0x1e: 16, 0x1f: 4, 0x20: 8,
         0x24: 8, 0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4, 0x29: 1, 0x2a: 2, 0x2b: 3, 0x2c: 4,
         0x1f20: 4, 0x1f21: 4}
COUNTED = {0x03: 2, 0x04: 4, 0x09: 0, BLOCK1: 1, EXPRLOC: 0}
NUMBERS = {0x0d, 0x0f, 0x15, 0x1a, 0x1b, 0x22, 0x23, 0x1f01, 0x1f02}


class Reader:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, count):
        if self.at + count > len(self.data):
            raise Refused("the debug information ends too early")
        self.at += count
        return bytes(self.data[self.at - count:self.at])

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def leb128(self):
        value, shift = 0, 0
        while True:
            byte = self.number(1)
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value


def signed_leb128(data):
    reader = Reader(data)
    value = reader.leb128()
    if reader.at != len(data):
        raise Refused("a location is not understood")
    return value - (1 << 7 * len(data)) if data[-1] & 0x40 else value


class File:
    """An ELF file of 64 bits, little-endian."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        if self.data[:6] != b"\x7fELF\2\1":
            raise Refused(f"{path} is no ELF file of this processor")
        table, = struct.unpack_from("<Q", self.data, 0x28)
        size, count, names = struct.unpack_from("<HHH", self.data, 0x3a)
        rows = [struct.unpack_from("<IIQQQQIIQQ", self.data, table + i * size)
                for i in range(count)]
        self.rows = {self.text(rows[names][4] + row[0]): row for row in rows}

    def text(self, at):
        return self.data[at:self.data.find(b"\0", at)].decode(errors="replace")

    def section(self, name):
        if name not in self.rows:
            raise Refused(f"its debug information is not in its file (no {name})")
        _, _, flags, _, offset, size = self.rows[name][:6]
        data = self.data[offset:offset + size]
        if not flags & SHF_COMPRESSED:
            return data
        kind, = struct.unpack_from("<I", data)
        if kind != ELFCOMPRESS_ZLIB:
            raise Refused("its debug information is not compressed by zlib")
        return zlib.decompress(data[24:])

    def build_id(self):
        if ".note.gnu.build-id" not in self.rows:
            return ""
        return self.section(".note.gnu.build-id")[16:].hex().upper()


class Unit:
    """Of .debug_info, the one that has the offset."""

    def __init__(self, info, abbreviations, offset):
        at = 0
        while True:
            self.reader = Reader(info, at)
            length = self.reader.number(4)
            if length >= 0xfffffff0:
                raise Refused("its debug information is in DWARF of 64 bits")
            if offset < at + 4 + length:
                break
            at += 4 + length
        self.version = self.reader.number(2)
        self.kind = self.reader.number(1) if self.version >= 5 else 1
        if self.version >= 5:
            self.address_size, where = self.reader.number(1), self.reader.number(4)
        else:
            where, self.address_size = self.reader.number(4), self.reader.number(1)
        if not 2 <= self.version <= 5 or self.kind not in (1, 3) or self.address_size != 8:
            raise Refused("its debug information is of a kind that is not understood")
        self.abbreviations = self.read_abbreviations(Reader(abbreviations, where))
        first = self.reader.at
        if offset < first or DWO_NAMES & set(self.entry(first)[1]):
            raise Refused("its debug information is in other files")

    @staticmethod
    def head_end(info, at):
        """Where the first entry of the unit at this offset is."""
        version = int.from_bytes(info[at + 4:at + 6], "little")
        return at + (12 if version >= 5 else 11)

    @staticmethod
    def read_abbreviations(reader):
        found = {}
        while code := reader.leb128():
            tag, attributes = reader.leb128(), []
            has_children = reader.number(1) == 1
            while True:
                name, form = reader.leb128(), reader.leb128()
                if form == IMPLICIT:
                    reader.leb128()
                if name == form == 0:
                    break
                attributes.append((name, form))
            found[code] = tag, attributes, has_children
        return found

    def entry(self, offset):
        """The tag of the entry there, and its attributes: pairs of form and bytes."""
        reader = Reader(self.reader.data, offset)
        code = reader.leb128()
        if code not in self.abbreviations:
            raise Refused("there is no entry where lldb names one")
        tag, attributes, _ = self.abbreviations[code]
        return tag, {name: (form, self.value(reader, form)) for name, form in attributes}

    def value(self, reader, form):
        if form == ADDRESS:
            return reader.take(self.address_size)
        if form in FIXED:
            return reader.take(FIXED[form])
        if form in COUNTED:
            size = COUNTED[form]
            return reader.take(reader.number(size) if size else reader.leb128())
        if form in NUMBERS:
            reader.leb128()
            return None
        if form == STRING:
            while reader.number(1):
                pass
            return None
        if form == IMPLICIT:
            return None
        raise Refused(f"its debug information has a form that is not known ({form:#x})")


@functools.lru_cache(maxsize=8)
def sections(path, _identity):
    file = File(path)
    return file.build_id(), file.section(".debug_info"), file.section(".debug_abbrev")


def frame_base(path, build_id, offset, start):
    """The location expression of the function whose entry is at this offset of .debug_info, and
    that begins at this address of the file. build_id: that of the file that lldb has read, as
    hex digits; the file may have been replaced since."""
    status = os.stat(path)
    found, info, abbreviations = sections(path, (status.st_ino, status.st_mtime_ns))
    if not found or found != build_id:
        raise Refused(f"{path} has no build ID, or is not the file that lldb has read")
    tag, attributes = Unit(info, abbreviations, offset).entry(offset)
    form, low = attributes.get(LOW_PC, (None, None))
    if tag != SUBPROGRAM or (form == ADDRESS and int.from_bytes(low, "little") != start):
        raise Refused("there is another entry where lldb names the function's")
    form, expression = attributes.get(FRAME_BASE, (None, None))
    if form not in (EXPRLOC, BLOCK1) or not expression:
        raise Refused("the function's variables are relative to nothing that is understood")
    return expression
