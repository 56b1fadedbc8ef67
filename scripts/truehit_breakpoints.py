# SPDX-License-Identifier: BSD-2-Clause
"""Conditions of breakpoints that gdb keeps to itself, for truehit's extension for gdb.

gdb sends the conditions of breakpoints to the server, but those that its compiler cannot
translate, and then none of those at the same address. Where the meaning is certain, this
has gdb translate another text, and the extension hands that over:

- a character literal is the number that gdb makes of it, of the same type;
- $_inferior is the number of the inferior;
- $_thread == N, alone or as an operand of the outermost &&, is whether the thread that
  hits has the number that thread N has in the system: for it to be true for another
  thread, too, whose number in the system is that of one that has ended, does no harm, as
  gdb looks once more.

A condition is handed over only if all breakpoints at its address have one that can be
translated, as gdb has, unknown to the server, breakpoints of its own: also where a step
or a `finish` ends. Of those that are not there yet when the program is resumed truehit
takes care (gdbstub/run/continuation.h)."""
import re

import gdb

from truehit_conditions import (FAILURES, MARK, Refused, ask, assemble, capture,
                                compile_expression, local_names, meaning, parse_listing,
                                with_thread)

KINDS = {gdb.BP_BREAKPOINT: 0}
if hasattr(gdb, "BP_HARDWARE_BREAKPOINT"):  # gdb 11
    KINDS[gdb.BP_HARDWARE_BREAKPOINT] = 1

# ---- texts ----

C_LIKE = {"c", "c++", "objective-c", "asm", "minimal"}
QUOTED = re.compile(r'"(?:\\.|[^"\\])*"|(?:\b(?:u8|[uUL]))?\'(?:\\.|[^\'\\])*\'')
LITERAL = re.compile(r"(?:u8|[uUL])?'(?:\\(?:[0-7]{1,3}|x[0-9a-fA-F]+|[^x0-7])|[^\\'])'")
THREAD = re.compile(r"\(*\s*(?:\$_thread\s*==\s*(\d+)|(\d+)\s*==\s*\$_thread)\s*\)*")


def language():
    """The one in which gdb reads expressions now."""
    match = re.search(r'"(?:auto; currently )?([^"]+)"', capture("show language"))
    return match[1] if match else "unknown"


def number_of(literal):
    """What gdb makes of a character literal, as an expression of its type."""
    value = gdb.parse_and_eval(literal)
    return f"(({value.type}) {int(value)})"


def outside_quotes(function, text):
    """The text, with the function applied to all that is in no quotes."""
    parts, end = [], 0
    for match in QUOTED.finditer(text):
        parts += [function(text[end:match.start()]), match[0]]
        end = match.end()
    return "".join(parts + [function(text[end:])])


def with_numbers(text):
    """The text without character literals."""
    if "'" not in text or language() not in C_LIKE:
        return text
    return QUOTED.sub(lambda match: number_of(match[0]) if LITERAL.fullmatch(match[0])
                      else match[0], text)


def masked(text):
    """The same length, without what quotes and brackets have in them."""
    text = QUOTED.sub(lambda match: "_" * len(match[0]), text)
    depth, found = 0, []
    for letter in text:
        depth -= letter in ")]}"
        found.append(letter if depth == 0 else "_")
        depth += letter in "([{"
    return "".join(found)


def conjuncts(text):
    """The operands of the outermost &&, as (begin, end)."""
    outline = masked(text)
    if re.search(r"\|\||[?,;]|(?<![=!<>])=(?!=)", outline):
        return [(0, len(text))]
    ends = [match.start() for match in re.finditer("&&", outline)]
    return list(zip([0] + [end + 2 for end in ends], ends + [len(text)]))


def system_number(inferior, number):
    """Of its thread; refuses one that may be there another time."""
    for thread in inferior.threads():
        if thread.num == number and thread.ptid[1]:
            return thread.ptid[1]
    raise Refused(f"there is no thread {number} yet")


def with_threads(text, inferior):
    """The text, with MARK for the number of the thread that hits, and how often."""
    if not re.search(r"\$_thread\b", text):
        return text, 0
    if language() not in C_LIKE:
        raise Refused(f"$_thread is translated in C, not in {language()}")
    count = 0
    for begin, end in reversed(conjuncts(text)):
        match = THREAD.fullmatch(text[begin:end].strip())
        if match and match[0].count("(") == match[0].count(")"):
            number = system_number(inferior, int(match[1] or match[2]))
            text = f"{text[:begin]} {MARK} == {number} {text[end:]}"
            count += 1
    if re.search(r"\$_thread\b", text):
        raise Refused("$_thread is translated as $_thread == N, alone or beside other "
                      "conditions (&&)")
    return text, count


def reworded(text, inferior):
    """What gdb can translate perhaps, and how often it has MARK in it."""
    text, count = with_threads(text, inferior)
    text = outside_quotes(lambda part: re.sub(r"\$_inferior\b", str(inferior.num), part), text)
    return with_numbers(text), count


REASONS = (
    (r"\b(?!sizeof\b|alignof\b|if\b)[A-Za-z_]\w*\s*\((?!\s*\*)", "it calls a function"),
    (r'"', "gdb cannot translate strings"),
    (r"\b\d+\.\d*|\.\d+\b|\b(double|float)\b", "gdb cannot translate floating point"),
    (r"'", "gdb cannot translate character literals"),
)


def reason(text, error):
    """In words, why gdb could not translate it."""
    variable = re.search(r"(\$\w+) is not a trace state variable", error)
    if variable:
        return f"gdb cannot translate {variable[1]}"
    if "tls_address" in error:
        return "gdb cannot translate thread-local variables"
    if "Cannot translate" in error or "Casts" in error or "loating" in error:
        bare = QUOTED.sub(lambda match: match[0][0], text)
        for pattern, found in REASONS:
            if re.search(pattern, bare):
                return found
    return f"gdb cannot translate it: {error.strip().splitlines()[0] if error.strip() else ''}"


# ---- bytecode at an address ----

def lines_of(address):
    """FILE:LINE, as gdb may find the address by it; none."""
    found = gdb.find_pc_line(address)
    if not found.symtab or not found.line or re.search(r"[\s,]", found.symtab.filename):
        return []
    return [f"{found.symtab.filename}:{found.line}"]


def scopes(listing):
    """Pairs of an address and the listing for it."""
    parts = re.split(r"^Scope: (0x[0-9a-f]+)$", listing, flags=re.M)
    return [(int(at, 16), text) for at, text in zip(parts[1::2], parts[2::2])]


def compile_at(text, address, location):
    """What gdb's compiler makes of it at this address. It is told places by lines and
    functions only; where nothing depends on the place, any other does."""
    block, error = gdb.block_for_pc(address), ""
    places = [location] if location and not re.search(r"^[*-]|,", location) else []
    for place in places + lines_of(address):
        listing = ask(f"maint agent-eval -at {place}, {text}")
        codes = [parse_listing(found) for at, found in scopes(listing) if at == address]
        if codes and all(code == codes[0] for code in codes):
            return codes[0]
        error = error or listing
    if local_names(text, block):
        raise Refused(reason(text, error) if error and not scopes(error) else
                      "it reads local variables where no line begins")
    if meaning(text, block) != meaning(text, thread_block()):
        raise Refused("its names mean something else in the frame that is selected")
    try:
        return compile_expression(text)
    except Refused as refused:
        raise Refused(reason(text, str(refused))) from None


def thread_block():
    try:
        return gdb.newest_frame().block()
    except (gdb.error, RuntimeError):
        return None


# ---- breakpoints ----

def is_plain(breakpoint):
    return breakpoint.type in KINDS and hasattr(breakpoint, "locations")


def rows():
    """All breakpoints of gdb, also its own: pairs of number and address."""
    return [(int(number), int(address, 16)) for number, address in
            re.findall(r"^(-?\d+)(?:\.\d+)? .*?\s(0x[0-9a-f]+)\s",
                       capture("maint info breakpoints"), re.M)]


def is_at(location, inferior):
    return (location.enabled and location.address is not None
            and (not location.thread_groups or inferior.num in location.thread_groups))


class Breaks:
    """Conditions of breakpoints."""

    def __init__(self):
        self.languages = {}  # number: the condition and the language that it was read in
        self.found = {}      # (inferior, address, text): bytecode, or why there is none
        for breakpoint in gdb.breakpoints():
            self.note(breakpoint)

    def note(self, breakpoint):
        """It is new, or something about it has changed."""
        known = self.languages.get(breakpoint.number)
        if is_plain(breakpoint) and (not known or known[0] != breakpoint.condition):
            self.languages[breakpoint.number] = (breakpoint.condition, language())

    def forget(self, breakpoint):
        self.languages.pop(breakpoint.number, None)

    def invalidate(self):
        """Addresses may have changed."""
        self.found = {}

    def compiled(self, text, location, address, inferior):
        key = (inferior.num, address, location, text)
        if key not in self.found:
            try:
                self.found[key] = compile_at(text, address, location)
            except FAILURES as error:
                self.found[key] = str(error)
        if isinstance(self.found[key], str):
            raise Refused(self.found[key])
        return self.found[key]

    def bytecode(self, breakpoint, address, inferior):
        """Of its condition, and whether gdb has it itself."""
        text = breakpoint.condition
        if not text:
            raise Refused(f"breakpoint {breakpoint.number}, at the same address, has no "
                          "condition")
        if self.languages.get(breakpoint.number, (None, None))[1] != language():
            raise Refused("the language is not that in which it was set")
        try:
            return assemble(self.compiled(text, breakpoint.location, address, inferior)), True
        except Refused as refused:
            other, count = reworded(text, inferior)
            if other == text:
                raise refused from None
        code = self.compiled(other, breakpoint.location, address, inferior)
        return assemble(with_thread(code, count)), False

    @staticmethod
    def places(inferior):
        """The breakpoints at each address, whatever their types; and the addresses at
        which gdb has others, which are unknown here."""
        known, found = {b.number: b for b in gdb.breakpoints() if is_plain(b)}, {}
        for breakpoint in known.values():
            if breakpoint.enabled:
                for location in breakpoint.locations:
                    if is_at(location, inferior):
                        found.setdefault(location.address, []).append(breakpoint)
        return found, {address for number, address in rows() if number not in known}

    @staticmethod
    def by_gdb_alone():
        return gdb.parameter("breakpoint condition-evaluation") == "host"

    @staticmethod
    def why_none(inferior):
        """Why nothing is handed over; None: it is."""
        if gdb.parameter("non-stop"):
            return "in non-stop mode only gdb knows when a step ends at a breakpoint"
        if inferior != gdb.selected_inferior():
            return f"it is in inferior {inferior.num}, which is not selected"
        return None

    def handed(self, breakpoints, address, inferior):
        """What is to be handed over for those at an address: bytecodes by type; {}: gdb
        has translated all of them."""
        codes, all_by_gdb = {}, True
        for breakpoint in breakpoints:
            code, by_gdb = self.bytecode(breakpoint, address, inferior)
            codes.setdefault(KINDS[breakpoint.type], []).append(code)
            all_by_gdb &= by_gdb
        return {} if all_by_gdb else codes

    def wanted(self, inferior):
        """What truehit has to know: (type, address, length): list of bytecodes."""
        if not any(b.condition and ("'" in b.condition or "$_" in b.condition)
                   for b in gdb.breakpoints() if is_plain(b)):
            return {}
        if self.by_gdb_alone() or self.why_none(inferior):
            return {}
        found, unknown = self.places(inferior)
        wanted = {}
        for address, breakpoints in found.items():
            if address in unknown:
                continue
            try:
                codes = self.handed(breakpoints, address, inferior)
            except FAILURES:
                continue
            wanted.update({(kind, address, 1): code for kind, code in codes.items()})
        return wanted

    def verdict(self, breakpoint, inferior):
        """Who decides its condition: "truehit" or "gdb", and why; None: truehit, as gdb
        has sent the condition."""
        if self.by_gdb_alone():
            return "gdb", "breakpoint condition-evaluation is host"
        found, unknown = self.places(inferior)
        translated = False
        for address in [l.address for l in breakpoint.locations if is_at(l, inferior)]:
            try:
                codes = self.handed(found.get(address, [breakpoint]), address, inferior)
            except FAILURES as error:
                return "gdb", str(error)
            if codes and address in unknown:
                return "gdb", "gdb has another breakpoint at the same address"
            translated |= bool(codes)
        if translated and self.why_none(inferior):
            return "gdb", self.why_none(inferior)
        return ("truehit", "which gdb could not translate") if translated else None

    def describe(self, breakpoint, inferior):
        """A line for people; None: there is nothing to tell."""
        if not is_plain(breakpoint) or not breakpoint.condition or not breakpoint.enabled:
            return None
        verdict = self.verdict(breakpoint, inferior)
        if not verdict:
            return None
        if verdict[0] == "gdb":
            return f"gdb decides breakpoint {breakpoint.number}: {verdict[1]}\n"
        return f"truehit decides breakpoint {breakpoint.number}, {verdict[1]}\n"
