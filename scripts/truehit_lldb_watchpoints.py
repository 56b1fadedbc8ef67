# SPDX-License-Identifier: BSD-2-Clause
"""Which conditions of watchpoints truehit's extension for lldb hands over. lldb reads such a
condition anew in the function that has made the access, whichever that is; so a name has to
mean a global variable in all functions of its file. Accesses by other files lldb decides."""
import re

import lldb

from truehit_bytecode import Refused
from truehit_lldb_compiler import Compiler
from truehit_lldb_places import BASIC, CPP_LANGUAGES, fixed_address, number_code, path_of
from truehit_lldb_names import other_meanings

WRITE = 2  # the packet's type
PC = 16    # gdb's number of the register, on x86_64


class FileScope:
    """In all functions of the file that has the variables."""

    def __init__(self, target):
        self.target, self.module, self.others = target, None, frozenset()

    @property
    def is_c(self):
        return not any(self.module.GetCompileUnitAtIndex(i).GetLanguage() in CPP_LANGUAGES
                       for i in range(self.module.GetNumCompileUnits()))

    def choose(self, module):
        if self.module is None:
            self.module = module
            members, others = other_meanings(
                path_of(module.GetSymbolFileSpec()) or path_of(module.GetFileSpec()),
                (module.GetUUIDString() or "").replace("-", ""))
            self.others = others if self.is_c else others | members
        elif self.module != module:
            raise Refused("its variables are in several files")

    def variable(self, name):
        found = [value for value in self.target.FindGlobalVariables(name, 100)
                 if value.GetName() in (name, "::" + name)]
        if not found:
            raise Refused(f"{name} is no global variable")
        if len(found) > 1:
            raise Refused(f"{name} is the name of several variables")
        address, module = fixed_address(self.target, found[0])
        self.choose(module)
        if name.encode() in self.others:
            raise Refused(f"{name} is something else in some functions")
        return found[0].GetType(), ("memory", [number_code(address)])

    def find_type(self, name):
        return self.target.GetBasicType(BASIC[name]) if name in BASIC else None

    def guard(self, labels):
        """The verdict is true where another file's code has made the access."""
        if self.module is None:
            raise Refused("it has no variables")
        code, inside = [], next(labels)
        for section in self.module.section_iter():
            if section.GetPermissions() & lldb.ePermissionsExecutable:
                code += [("reg", PC), number_code(section.GetLoadAddress(self.target)),
                         ("sub", None), number_code(section.GetByteSize()),
                         ("less_unsigned", None), ("if_goto", inside)]
        return code + [("const8", 1), ("end", None), ("label", inside)]


def check(watchpoint, all_of_them):
    begin, size = watchpoint.GetWatchAddress(), watchpoint.GetWatchSize()
    stream = lldb.SBStream()
    watchpoint.GetDescription(stream, lldb.eDescriptionLevelFull)
    if not re.search(r"type = [wm]\b", stream.GetData() or ""):
        raise Refused("it is not for writes alone")
    if watchpoint.GetIgnoreCount():
        raise Refused("it ignores some hits")
    if size not in (1, 2, 4, 8) or begin % size:
        raise Refused("it needs several breakpoint registers")
    for other in all_of_them:
        if other.GetID() != watchpoint.GetID() and \
                begin < other.GetWatchAddress() + other.GetWatchSize() and \
                other.GetWatchAddress() < begin + size:
            raise Refused(f"watchpoint {other.GetID()} is for the same memory")


def compiled(server, text):
    target = server.process.GetTarget()
    key = ("watchpoint", text, target.GetNumModules())
    if key not in server.cache:
        try:
            server.cache[key] = Compiler(FileScope(target)).whole(text)
        except Refused as error:
            server.cache[key] = str(error)
        except (OSError, RecursionError) as error:
            server.cache[key] = f"it cannot be translated: {error}"
    if isinstance(server.cache[key], str):
        raise Refused(server.cache[key])
    return server.cache[key]


def conditional(target):
    return [watchpoint for watchpoint in target.watchpoint_iter()
            if watchpoint.IsEnabled() and watchpoint.GetCondition()]


def decide(server):
    """Bytecodes by (type, address, length); and for each watchpoint with a condition, why lldb
    decides it, or None."""
    target, codes, verdicts = server.process.GetTarget(), {}, []
    enabled = [watchpoint for watchpoint in target.watchpoint_iter() if watchpoint.IsEnabled()]
    for watchpoint in conditional(target):
        reason = None
        try:
            check(watchpoint, enabled)
            codes[WRITE, watchpoint.GetWatchAddress(), watchpoint.GetWatchSize()] = [
                compiled(server, watchpoint.GetCondition())]
        except Refused as error:
            reason = str(error)
        verdicts.append((f"watchpoint {watchpoint.GetID()}", reason))
    return codes, verdicts
