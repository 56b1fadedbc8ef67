# SPDX-License-Identifier: BSD-2-Clause
"""A dprintf in agent style beside an ordinary breakpoint, for truehit's extension for gdb.

gdb sends the commands of such a dprintf to the server, but not while it has a breakpoint at
the same address, as it would not hear of a hit then. It neither prints the lines itself
nor tells: they are lost. If that breakpoint is disabled, gdb goes on at the address without
a step past the dprintf's trap, so that the program does not come any further. As gdb's Python
has neither dprintfs nor events of theirs, this reads what `info breakpoints` shows."""
import collections
import re

import gdb

from truehit_conditions import capture

HEAD = re.compile(r"(\d+) +(\S.*?) +(?:keep|del|dis|dstp) +([yn])\S* +(\S+)(.*)")
PART = re.compile(r"\d+\.\d+ +([yn])\S* +(\S+)(.*)")
INFERIORS = re.compile(r" inf (\d+(?:, \d+)*)$")
ORDINARY = ("breakpoint", "hw breakpoint")

Place = collections.namedtuple("Place", "number kind enabled address inferiors")


def inferiors_of(text):
    """Those that `info breakpoints` names at the end of a line; it names none if there is
    only one."""
    match = INFERIORS.search(text)
    return set(match[1].split(", ")) if match else set()


def places(text):
    """Of all breakpoints that have an address, as `info breakpoints` shows them."""
    number = kind = enabled = None
    for line in text.splitlines():
        head, part = HEAD.fullmatch(line), PART.fullmatch(line)
        if head:
            number, kind, enabled = int(head[1]), head[2], head[3] == "y"
            address, rest, here = head[4], head[5], enabled
        elif part:
            address, rest, here = part[2], part[3], enabled and part[1] == "y"
        else:
            continue
        if address.startswith("0x"):
            yield Place(number, kind, here, int(address, 16), inferiors_of(rest))


def is_beside(other, place):
    return (other.kind in ORDINARY and other.address == place.address
            and (other.inferiors == place.inferiors or other.inferiors & place.inferiors))


def sentence(place, others):
    enabled = [other for other in others if other.enabled]
    if enabled:
        return (f"dprintf {place.number} is at the address of breakpoint {enabled[0].number}: "
                "gdb sends its commands to no server then; its lines are lost")
    return (f"dprintf {place.number} is at the address of breakpoint {others[0].number}, which "
            "is disabled: gdb sends its commands to no server then, and the program does not "
            "get past it; delete the breakpoint")


def sentences():
    """What there is to tell, by the numbers of dprintfs."""
    if gdb.parameter("dprintf-style") != "agent":
        return {}
    found = list(places(capture("info breakpoints")))
    told = {}
    for place in found:
        if place.kind == "dprintf" and place.enabled:
            others = [other for other in found if is_beside(other, place)]
            if others:
                told.setdefault(place.number, sentence(place, others))
    return told


class Dprintfs:
    """Tells of each once, while it lasts."""

    def __init__(self, servers):
        self.servers = servers
        self.told = {}

    def is_served(self):
        return any(self.servers.is_truehit(inferior) for inferior in gdb.inferiors())

    def update(self):
        """Something about breakpoints may have changed."""
        found = sentences()
        if found and not self.is_served():
            return
        for number, text in found.items():
            if self.told.get(number) != text:
                gdb.write(f"truehit: {text}\n")
        self.told = found

    @staticmethod
    def describe():
        """Lines for people."""
        return "".join(f"{text}\n" for text in sentences().values())
