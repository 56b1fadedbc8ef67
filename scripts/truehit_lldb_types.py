# SPDX-License-Identifier: BSD-2-Clause
"""What truehit's extension for lldb knows of types: those whose values conditions may have."""
import collections

import lldb

from truehit_bytecode import Refused

# kind: "integer", "bool", "enum", "pointer", "array" or "record". to: what a pointer points
# to, what an array has, the record itself: an SBType.
Type = collections.namedtuple("Type", "kind size signed to", defaults=(None,))

# bit: the first one; width: how many bits, of a bit field, else 0.
Member = collections.namedtuple("Member", "bit sbtype width")

BOOL = Type("bool", 1, False)
CHAR = Type("integer", 1, True)  # of x86_64
INT, UNSIGNED = Type("integer", 4, True), Type("integer", 4, False)
LONG, UNSIGNED_LONG = Type("integer", 8, True), Type("integer", 8, False)
BY_NAME = {
    "bool": BOOL, "char": CHAR, "signed char": CHAR, "unsigned char": Type("integer", 1, False),
    "short": Type("integer", 2, True), "unsigned short": Type("integer", 2, False),
    "int": INT, "unsigned int": UNSIGNED, "long": LONG, "unsigned long": UNSIGNED_LONG,
}
SIGNED = {lldb.eBasicTypeChar, lldb.eBasicTypeSignedChar, lldb.eBasicTypeWChar,
          lldb.eBasicTypeSignedWChar, lldb.eBasicTypeShort, lldb.eBasicTypeInt,
          lldb.eBasicTypeLong, lldb.eBasicTypeLongLong}
WITHOUT_SIGN = {lldb.eBasicTypeUnsignedChar, lldb.eBasicTypeUnsignedWChar,
                lldb.eBasicTypeChar16, lldb.eBasicTypeChar32, lldb.eBasicTypeUnsignedShort,
                lldb.eBasicTypeUnsignedInt, lldb.eBasicTypeUnsignedLong,
                lldb.eBasicTypeUnsignedLongLong}
RECORDS = {lldb.eTypeClassStruct, lldb.eTypeClassUnion, lldb.eTypeClassClass}


def plain(sbtype):
    """Without typedefs and qualifiers."""
    return sbtype.GetUnqualifiedType().GetCanonicalType().GetUnqualifiedType()


def type_of(sbtype, is_c):
    """Refuses what has no place here. is_c: the program is in C, without operators of its own."""
    sbtype = plain(sbtype)
    kind, size, basic = sbtype.GetTypeClass(), sbtype.GetByteSize(), sbtype.GetBasicType()
    if kind == lldb.eTypeClassPointer:
        return pointer_to(sbtype.GetPointeeType())
    if kind == lldb.eTypeClassArray and size > 0:
        return Type("array", size, False, sbtype.GetArrayElementType())
    if kind in RECORDS and size > 0:
        return Type("record", size, False, sbtype)
    if kind == lldb.eTypeClassEnumeration and size in (1, 2, 4):
        if not is_c:
            raise Refused("an enum may have operators of its own in C++")
        return Type("enum", size, False, sbtype)
    if basic == lldb.eBasicTypeBool:
        return BOOL
    if kind == lldb.eTypeClassBuiltin and size in (1, 2, 4, 8) and basic in SIGNED | WITHOUT_SIGN:
        return Type("integer", size, basic in SIGNED)
    raise Refused(f"the type {sbtype.GetName()} is not translated")


def pointer_to(sbtype):
    return Type("pointer", 8, False, sbtype)


def same_pointers(one, other):
    """May pointers of these types be compared?"""
    names = [plain(one.to).GetName(), plain(other.to).GetName()]
    return names[0] == names[1] or "void" in names


def element_size(pointer):
    size = plain(pointer.to).GetByteSize()
    if size == 0 or plain(pointer.to).GetName() == "void":
        raise Refused("the size of what a pointer points to is not known")
    return size


def find_member(sbtype, name):
    """A member, also of unnamed structs and unions in it."""
    for i in range(sbtype.GetNumberOfFields()):
        field = sbtype.GetFieldAtIndex(i)
        if field.GetName() == name:
            return Member(field.GetOffsetInBits(), field.GetType(),
                          field.GetBitfieldSizeInBits() if field.IsBitfield() else 0)
        if not field.GetName() and plain(field.GetType()).GetTypeClass() in RECORDS:
            inner = find_member(plain(field.GetType()), name)
            if inner:
                return inner._replace(bit=field.GetOffsetInBits() + inner.bit)
    return None
