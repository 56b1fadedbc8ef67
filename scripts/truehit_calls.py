# SPDX-License-Identifier: BSD-2-Clause
"""`truehit calls`: which values expressions have at the hits of a place, counted."""
import collections
import re

import gdb

from truehit_conditions import capture
from truehit_running import Setting, go_on, need_truehit

MARK = "truehit-calls:"   # what its lines begin with, among all others of the console
ROWS = 20                 # more distinct values than that are shown as a histogram
BINS = 16
BAR = 40


class Format:
    """An expression, and how its values are printed."""
    KINDS = {"": ("%ld", "(long)(%s)"), "/x": ("%#lx", "(unsigned long)(%s)"), "/s": ("%s", "%s")}

    def __init__(self, text):
        self.text, _, kind = re.fullmatch(r"((.|\n)*?)(/[xs])?", text.strip()).groups()
        self.format, cast = self.KINDS[kind or ""]
        self.argument = cast % self.text


def expressions(text):
    """Those between commas that are not in parentheses, brackets or quotes."""
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        if letter == "," and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    return [Format(part) for part in parts if part.strip()]


# ---- what is shown ----

def bar(count, most):
    return "#" * max(1, round(BAR * count / most))


def table(counts, out):
    """The most frequent first."""
    total, most = sum(counts.values()), max(counts.values())
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    for values, count in ordered[:ROWS]:
        out(f"{count:>10} {100 * count / total:5.1f} %  {bar(count, most):<{BAR}}  {values}\n")


def histogram(counts, out):
    """Of whole numbers, in bins of the same width."""
    numbers = {int(values, 0): count for values, count in counts.items()}
    least, greatest = min(numbers), max(numbers)
    width = (greatest - least) // BINS + 1
    bins = collections.Counter()
    for number, count in numbers.items():
        bins[(number - least) // width] += count
    for index in range((greatest - least) // width + 1):
        first = least + index * width
        out(f"{bins[index]:>10} {100 * bins[index] / sum(bins.values()):5.1f} %  "
            f"{bar(bins[index], max(bins.values())) if bins[index] else '':<{BAR}}  "
            f"{first} to {min(first + width - 1, greatest)}\n")


def show(counts, formats, out):
    if len(counts) <= ROWS:
        table(counts, out)
    elif len(formats) == 1 and formats[0].format != "%s":
        out(f"{len(counts)} different values\n")
        histogram(counts, out)
    else:
        out(f"the {ROWS} most frequent of {len(counts)}\n")
        table(counts, out)


# ---- the command ----

class Calls(gdb.Command):
    """Count which values expressions have at a place, without stopping there.
Usage: truehit calls LOCATION [SECONDS] EXPRESSION[/x|/s], ... [if CONDITION]

The program goes on for so long (1 second), or until something else stops it; then there is
a table of the values, the most frequent first, or a histogram. Values are whole numbers;
/x shows them in hexadecimal, /s shows strings. Hits whose output would not find room go
through the server, more slowly: none is lost."""

    def __init__(self, servers):
        self.servers = servers
        super().__init__("truehit calls", gdb.COMMAND_RUNNING, gdb.COMPLETE_LOCATION)

    def parse(self, argument):
        match = re.fullmatch(r"(\S+)(?:\s+(\d+(?:\.\d+)?)(?=\s))?\s+(.+?)(?:\s+if\b\s*(.+))?",
                             argument.strip())
        if not match:
            raise gdb.GdbError("truehit calls: expected LOCATION [SECONDS] EXPRESSION, ...")
        location, seconds, text, condition = match.groups()
        return location, float(seconds or 1), expressions(text), condition

    def invoke(self, argument, from_tty):
        location, seconds, formats, condition = self.parse(argument)
        need_truehit(self.servers)
        try:
            text = self.run(location, formats, condition, seconds)
        except gdb.error as error:
            raise gdb.GdbError(f"truehit calls: {error} (Can gdb evaluate all of it at "
                               f"{location}?)") from None
        lines = re.findall(rf"^{MARK}(.*)$", text, re.M)
        gdb.write(re.sub(rf"^{MARK}.*\n", "", text, flags=re.M))
        gdb.write(f"{len(lines)} hits: {', '.join(f.text for f in formats)}\n")
        if lines:
            show(collections.Counter(lines), formats, gdb.write)

    def run(self, location, formats, condition, seconds):
        """What is printed meanwhile."""
        with Setting("dprintf-style", "agent"):
            number = self.insert(location, formats, condition)
            try:
                return go_on(seconds)
            finally:
                gdb.execute(f"delete {number}")

    @staticmethod
    def insert(location, formats, condition):
        """The dprintf's number."""
        text = capture(f'dprintf {location},"{MARK}' + ", ".join(f.format for f in formats)
                       + '\\n",' + ",".join(f.argument for f in formats))
        number = re.search(r"^Dprintf (\d+)", text, re.M)
        if not number:
            raise gdb.GdbError(text.strip() or f"There is no place {location}.")
        if condition:
            try:
                gdb.execute(f"condition {number[1]} {condition}")
            except gdb.error:
                gdb.execute(f"delete {number[1]}")
                raise
        return number[1]
