#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What else a session consists of, besides false hits: stops, steps, memory, threads, starts.

Each row is measured with truehit and with gdbserver in turns, in one run, with all that
takes part on one CPU, which is the quickest for all. The figures are medians; ratios, those
of the rounds' ratios (above 1: truehit is quicker), with the lowest and the highest of them.
A row whose lowest and highest lie on both sides of what it is to be is measured in more
rounds. Many rows have a floor: what the kernel or gdb takes with a server that costs nothing.
A row is as it is to be, too, if it is within 1.15 times its floor. The newer gdbserver judges
nothing: it is the measure of what its developers have done since."""
import sys

sys.dont_write_bytecode = True
import argparse
import json
import math
import os
import pathlib
import shutil
import statistics
import time

import measure
import session_rows

MORE_ROUNDS = 15
MORE_TIME = 300  # s: a row that has taken so long has no more rounds
NEAR_FLOOR = 1.15


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--truehit", default="build/truehit")
    parser.add_argument("--gdbserver", default=shutil.which("gdbserver"))
    parser.add_argument("--newer", metavar="GDBSERVER", help="another one, to be shown as well")
    parser.add_argument("--build", default="build", help="where the programs were built")
    parser.add_argument("--output", default="build/bench", help="directory of the results")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", action="append", metavar="TEXT", help="rows with it in their names")
    parser.add_argument("--quick", action="store_true", help="small sizes, one round, no judgement")
    parser.add_argument("--check", action="store_true", help="missed targets are a failure")
    return parser.parse_args()


class Result:
    """What one row has cost, by server: seconds, in the order of the rounds."""

    def __init__(self, row, servers):
        self.row = row
        self.runs = {name: [] for name in servers}

    def measure(self, servers):
        for name, path in servers.items():
            try:
                self.runs[name].append(self.row.run(path))
            except (measure.Broken, OSError) as error:
                raise measure.Broken(f"{self.row.title}, {name}: {error}") from error

    def median(self, name):
        return statistics.median(self.runs[name])

    def ratios(self, name="gdbserver"):
        return [other / max(own, 1e-9) for own, other in
                zip(self.runs["truehit"], self.runs[name])]

    @property
    def ratio(self):
        return statistics.median(self.ratios())

    @property
    def has_floor(self):
        return bool(self.runs.get("floor"))

    @property
    def above_floor(self):
        """How many times the floor: the median of the rounds'."""
        return statistics.median(own / floor for own, floor in
                                 zip(self.runs["truehit"], self.runs["floor"]))

    @property
    def met(self):
        return self.ratio >= self.row.least or \
            (self.has_floor and self.above_floor <= NEAR_FLOOR)

    def is_within_noise(self):
        return min(self.ratios()) < self.row.least <= max(self.ratios())

    def text(self):
        own, other = (session_rows.seconds(self.median(name)) for name in ("truehit", "gdbserver"))
        floor = f"{session_rows.seconds(self.median('floor')):>10} {self.above_floor:>5.2f}" \
            if self.has_floor else ""
        newer = f"{session_rows.seconds(self.median('newer')):>10} " \
                f"{statistics.median(self.ratios('newer')):>6.2f}" if "newer" in self.runs else ""
        spread = f"{min(self.ratios()):.2f} to {max(self.ratios()):.2f}"
        return f"  {self.row.title:<40} {own:>10} {other:>10} {self.ratio:>6.2f}  {spread:<15}" \
               f"{floor:<16} {newer}".rstrip()


def measure_all(place, servers, rows, rounds, judged):
    results = []
    for row in rows:
        floor = place.floor(row, servers["truehit"])
        contenders = servers | ({"floor": floor} if floor else {})
        result, end = Result(row, contenders), time.monotonic() + MORE_TIME
        for _ in range(rounds):
            result.measure(contenders)
        while judged and result.is_within_noise() and time.monotonic() < end and \
                len(result.runs["truehit"]) < MORE_ROUNDS:
            result.measure(contenders)
        print(result.text(), flush=True)
        yield result


def write(results, directory):
    """As far as it has come: a run takes half an hour."""
    (directory / "sessions.json").write_text(json.dumps({
        "machine": measure.machine(),
        "rows": [{"title": result.row.title, "seconds": result.runs, "ratio": result.ratio,
                  "least": result.row.least, "met": result.met} for result in results],
    }, indent=2) + "\n")
    plot(results, directory)


def plot(results, directory):
    """A bar for each row: how many times quicker than gdbserver."""
    step, left, width = 20, 330, 420
    top = max(4.0, max(result.ratio for result in results))
    height = step * (len(results) + 3)

    def x(ratio):
        return left + width * max(0.0, min(1.0, math.log(ratio * 4) / math.log(top * 4)))
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 90}" '
             f'height="{height}" font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>',
             f'<text x="10" y="{step}" font-weight="bold">Times as quick as gdbserver '
             '(logarithmic; the line: as quick)</text>']
    for number, result in enumerate(results, 2):
        y = step * number
        lines += [f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{result.row.title}</text>',
                  f'<rect x="{left}" y="{y + 2}" height="{step - 6}" fill="#3465a4" '
                  f'width="{max(1.0, x(result.ratio) - left):.0f}"/>',
                  f'<text x="{x(result.ratio) + 6:.0f}" y="{y + 12}">{result.ratio:.2f}</text>']
    lines += [f'<line x1="{x(1):.0f}" x2="{x(1):.0f}" y1="{step * 2 - 4}" y2="{height - step}" '
              'stroke="#cc0000"/>', "</svg>"]
    (directory / "sessions.svg").write_text("\n".join(lines) + "\n")


def main():
    options = arguments()
    if not options.gdbserver:
        sys.exit("bench: gdbserver is not installed")
    servers = {"truehit": options.truehit, "gdbserver": options.gdbserver}
    if options.newer:
        servers["newer"] = options.newer
    directory = pathlib.Path(options.output)
    directory.mkdir(parents=True, exist_ok=True)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    try:
        with session_rows.Place(options.build, options.quick) as place:
            rows = [row for row in place.rows()
                    if not options.only or any(text in row.title for text in options.only)]
            print(f"\nWhat a session consists of ({measure.machine()['cpu']}, "
                  f"Linux {measure.machine()['kernel']})\n")
            print(f"  {'':<40} {'truehit':>10} {'gdbserver':>10} {'ratio':>6}  {'spread':<15}"
                  f"{'floor':>10} times" + (f"      {'newer':>5}  ratio" if options.newer else ""))
            results = []
            for result in measure_all(place, servers, rows,
                                      1 if options.quick else options.rounds,
                                      not options.quick):
                results.append(result)
                write(results, directory)
    except measure.Broken as error:
        sys.exit(f"bench: {error}")
    print(f"\nWritten to {directory}: sessions.json, sessions.svg")
    if options.quick:
        return 0
    missed = [result for result in results if not result.met]
    print("\nTargets:", "met" if not missed else "MISSED by")
    for result in missed:
        print(f"{result.text()}, at least {result.row.least}")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
