# SPDX-License-Identifier: BSD-2-Clause
"""What names mean at the address of a breakpoint, and where the variables are that they name,
for truehit's extension for lldb.

lldb tells where a variable is at an address, as its compiler would find it there: `image lookup
-v -a` shows the location expression of each. Relative to what the function's variables are is in
the file (truehit_lldb_dwarf.py), and where the frame is at the address (the CFA) in the rows of
`image show-unwind`. All that is the same at each hit, as it depends on the address alone. What is
not understood is refused."""
import collections
import re

import lldb

from truehit_bytecode import Refused
from truehit_lldb_dwarf import frame_base, signed_leb128

VARIABLE = re.compile(r'Variable: id = \{[^}]*\}, name = "([^"]*)", type = "[^"]*",.*? '
                      r'location = (.*), decl = [^,]*?(?::(\d+))?(?::\d+)?$', re.M)
RANGE = re.compile(r"\[(0x[0-9a-f]+), (0x[0-9a-f]+)\) -> ")
FUNCTION = re.compile(r"Function: id = \{0x([0-9a-f]+)\}")
UNWIND_KIND = re.compile(r"^Asynchronous .*?UnwindPlan(?: is|:) '?([^'\n]+?)'?$", re.M)
UNWIND_START = re.compile(r"\(start addr (0x[0-9a-f]+)\)")
UNWIND_ROW = re.compile(r"^ *row\[\d+\]: +(-?\d+): CFA=(\w+) *([-+]\d+) *=>", re.M)

# x86_64's registers, by DWARF's numbers: those of agent expressions, which are gdb's.
DWARF_REGISTERS = [0, 3, 2, 1, 4, 5, 6, 7, *range(8, 16)]
CFA_REGISTERS = {"rsp": 7, "rbp": 6}
C_LANGUAGES = {getattr(lldb, name) for name in (
    "eLanguageTypeC", "eLanguageTypeC89", "eLanguageTypeC99", "eLanguageTypeC11",
    "eLanguageTypeC17") if hasattr(lldb, name)}
CPP_LANGUAGES = {getattr(lldb, name) for name in (
    "eLanguageTypeC_plus_plus", "eLanguageTypeC_plus_plus_03", "eLanguageTypeC_plus_plus_11",
    "eLanguageTypeC_plus_plus_14", "eLanguageTypeC_plus_plus_17",
    "eLanguageTypeC_plus_plus_20") if hasattr(lldb, name)}
BASIC = {"char": lldb.eBasicTypeChar, "signed char": lldb.eBasicTypeSignedChar,
         "unsigned char": lldb.eBasicTypeUnsignedChar, "short": lldb.eBasicTypeShort,
         "unsigned short": lldb.eBasicTypeUnsignedShort, "int": lldb.eBasicTypeInt,
         "unsigned int": lldb.eBasicTypeUnsignedInt, "long": lldb.eBasicTypeLong,
         "unsigned long": lldb.eBasicTypeUnsignedLong, "bool": lldb.eBasicTypeBool}

Local = collections.namedtuple("Local", "value location")


def ask(debugger, command):
    """What a command of lldb's prints."""
    result = lldb.SBCommandReturnObject()
    debugger.GetCommandInterpreter().HandleCommand(command, result)
    if not result.Succeeded():
        raise Refused(f"lldb: {(result.GetError() or command).strip()}")
    return result.GetOutput() or ""


def number_code(value):
    return ("const64", value & ((1 << 64) - 1))


def register_number(number):
    if not 0 <= number < len(DWARF_REGISTERS):
        raise Refused("it reads a variable in a register that is no general one")
    return DWARF_REGISTERS[number]


def relative(register, offset):
    """The code of an address."""
    if offset == 0:
        return [("reg", register)]
    return [("reg", register), number_code(offset), ("add", None)]


def location_at(text, address):
    """The location expression at an address of the file; a list has several."""
    ranges = list(RANGE.finditer(text))
    if not ranges:
        return text
    ends = [match.start() for match in ranges[1:]] + [len(text)]
    for match, end in zip(ranges, ends):
        if int(match[1], 16) <= address < int(match[2], 16):
            return text[match.end():end].rstrip(", ")
    raise Refused("no location")


class Scope:
    """At an address of a process."""

    def __init__(self, target, address):
        self.target, self.debugger = target, target.GetDebugger()
        self.address, self.load = address, address.GetLoadAddress(target)
        self.module, self.function = address.GetModule(), address.GetFunction()
        if not self.function.IsValid():
            raise Refused("the place is in no function with debug information")
        language = address.GetCompileUnit().GetLanguage()
        if language not in C_LANGUAGES | CPP_LANGUAGES:
            raise Refused("the program is neither in C nor in C++ here")
        self.is_c = language in C_LANGUAGES
        self.blocks = self.visible_blocks()
        self.text = ask(self.debugger, f"target modules lookup -v -a {self.load:#x}")
        self.locals = self.find_locals()
        self.base = None

    def visible_blocks(self):
        """The innermost block and those around it, to its function's, inlined or not."""
        block, found = self.address.GetBlock(), []
        while block.IsValid():
            found.append(block)
            if block.IsInlined():
                self.check_inlined(block)
                break
            block = block.GetParent()
        return found

    def check_inlined(self, block):
        """Where an inlined function begins, lldb may show its caller."""
        while block.IsValid():
            if block.IsInlined() and any(
                    block.GetRangeStartAddress(i).GetLoadAddress(self.target) == self.load
                    for i in range(block.GetNumRanges())):
                raise Refused("an inlined function begins here")
            block = block.GetParent()

    def find_locals(self):
        """By name: lists of variables, each with its location."""
        located, found = {}, {}
        for match in VARIABLE.finditer(self.text):
            located.setdefault((match[1], int(match[3] or 0)), []).append(match[2])
        for block in self.blocks:
            for value in block.GetVariables(self.target, True, True, True):
                key = value.GetName(), value.GetDeclaration().GetLine()
                found.setdefault(value.GetName(), []).append(
                    Local(value, located.get(key, [])))
        return found

    # ---- what names mean ----

    def variable(self, name):
        """The SBType, and ("register", NUMBER) or ("memory", CODE)."""
        if name not in self.locals:
            return self.global_variable(name)
        if len(self.locals[name]) > 1:
            raise Refused(f"{name} is the name of several variables here")
        local, = self.locals[name]
        if len(local.location) != 1:
            raise Refused(f"lldb does not tell where {name} is")
        try:
            text = location_at(local.location[0], self.address.GetFileAddress())
            return local.value.GetType(), self.place(text, local.value)
        except Refused as error:
            raise Refused(f"{name}: {error}") from None

    def place(self, text, value):
        if text == "<empty>":
            raise Refused("it is nowhere here")
        if re.fullmatch(r"DW_OP_addrx? 0x[0-9a-f]+", text):
            return self.fixed(value)
        for pattern, place in self.LOCATIONS:
            if match := re.fullmatch(pattern, text):
                return place(self, *(int(group, 0) for group in match.groups()))
        raise Refused(f"its location, {text}, is not translated")

    def relative_to_base(self, offset):
        expression = self.frame_base()
        if expression == b"\x9c":  # DW_OP_call_frame_cfa
            register, distance = self.frame_address()
        elif len(expression) == 1 and 0x50 <= expression[0] < 0x70:  # DW_OP_regN
            register, distance = register_number(expression[0] - 0x50), 0
        elif 0x70 <= expression[0] < 0x90:  # DW_OP_bregN
            register = register_number(expression[0] - 0x70)
            distance = signed_leb128(expression[1:])
        else:
            raise Refused("the function's variables are relative to what is not translated")
        return "memory", relative(register, distance + offset)

    def fixed(self, value):
        """Of a static or global variable: no thread has its own."""
        return "memory", [number_code(fixed_address(self.target, value)[0])]

    LOCATIONS = [
        (r"DW_OP_fbreg ([-+]?\d+)", relative_to_base),
        (r"DW_OP_reg(\d+)(?: \w+)?", lambda self, number: ("register", register_number(number))),
        (r"DW_OP_breg(\d+)(?: \w+)?([-+]\d+)", lambda self, number, offset: (
            "memory", relative(register_number(number), offset))),
    ]

    def global_variable(self, name):
        """The only one of that name in all modules, and in this one: lldb finds no other."""
        if "this" in self.locals:
            raise Refused(f"{name} may be a member of this object")
        found = [value for value in self.target.FindGlobalVariables(name, 100)
                 if value.GetName() in (name, "::" + name)]
        if not found:
            raise Refused(f"{name} is no variable that is known here")
        if len(found) > 1:
            raise Refused(f"{name} is the name of several variables")
        address, module = fixed_address(self.target, found[0])
        if module != self.module:
            raise Refused(f"{name} is a variable of another file")
        return found[0].GetType(), ("memory", [number_code(address)])

    def find_type(self, name):
        """Of a name that is no variable's; None: there is none, or there are different ones."""
        if name in BASIC:
            return self.target.GetBasicType(BASIC[name])
        if name in self.locals:
            return None
        found = [sbtype for sbtype in self.target.FindTypes(name)
                 if sbtype.GetTypeClass() == lldb.eTypeClassTypedef]
        names = {sbtype.GetCanonicalType().GetName() for sbtype in found}
        return found[0] if len(names) == 1 else None

    @staticmethod
    def guard(_labels):
        """A breakpoint is hit at its own address only."""
        return []

    # ---- the frame ----

    def frame_base(self):
        if self.base is None:
            number = FUNCTION.search(self.text)
            start = self.function.GetStartAddress()
            if not number or start.GetModule() != self.module:
                raise Refused("lldb does not name the function")
            self.base = frame_base(
                path_of(self.module.GetSymbolFileSpec()) or path_of(self.module.GetFileSpec()),
                (self.module.GetUUIDString() or "").replace("-", ""), int(number[1], 16),
                start.GetFileAddress())
        return self.base

    def frame_address(self):
        """The CFA: a register, and the distance from it."""
        text = ask(self.debugger, f"target modules show-unwind -a {self.load:#x}")
        kind, start = UNWIND_KIND.search(text), UNWIND_START.search(text)
        if not kind or not start:
            raise Refused("lldb does not tell where the frame is")
        offset, rows = self.load - int(start[1], 16), set()
        for plan in text.split("\n\n"):
            if f"originally sourced from {kind[1]}\n" in plan:
                fits = [row for row in UNWIND_ROW.finditer(plan) if int(row[1]) <= offset]
                rows.add((fits[-1][2], int(fits[-1][3])) if fits else None)
        if len(rows) != 1 or None in rows:
            raise Refused("lldb has several opinions of where the frame is")
        register, distance = rows.pop()
        if register not in CFA_REGISTERS:
            raise Refused(f"the frame is relative to {register}")
        return CFA_REGISTERS[register], distance


def fixed_address(target, value):
    """Of a static or global variable, and the module that has it."""
    address = value.GetLoadAddress()
    for module in target.module_iter():
        if any(is_loaded(section, address, target) for section in module.section_iter()):
            return address, module
    raise Refused(f"{value.GetName()} is at no fixed address")


def is_loaded(section, address, target):
    start = section.GetLoadAddress(target)
    return start != lldb.LLDB_INVALID_ADDRESS and start <= address < start + section.GetByteSize()


def path_of(spec):
    return spec.fullpath if spec.IsValid() else None
