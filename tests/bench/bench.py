#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The cost of hits that do not stop, and of stops: table, JSON, and a plot by gnuplot.

Runs are interleaved, so that a machine that slows down slows all cases down; the
figures are medians, and ratios the medians of the rounds' ratios."""
import sys

sys.dont_write_bytecode = True
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess

import kinds
import library
import lldb_hits
import measure
import probes
import states

# What must hold: numerator, denominator, most (or least) that the ratio may be.
TARGETS = [
    ("truehit", "floor", "at most", 1.10),
    ("ops_50_reads_4", "floor", "at most", 1.15),
    ("dprintf", "floor", "at most", 1.30),
    ("z1_pinned", "truehit", "at least", 4.0),
    ("host", "truehit", "at least", 15.0),
    ("entry", "entry_floor", "at most", 1.15),
    ("body", "body_floor", "at most", 1.10),
    ("entry_gdbserver", "entry", "at least", 80.0),
    ("entry_gdbserver", "filter_entry", "at least", 2000.0),
    ("body_gdbserver", "filter_body", "at least", 2000.0),
    ("places_200", "places_200_floor", "at most", 1.25),
    ("threads_64", "threads_64_floor", "at most", 1.25),
    ("watch_same", "watch_floor", "at most", 1.10),
    ("watch_if", "watch_floor", "at most", 1.10),
    ("watch_same_gdbserver", "watch_same", "at least", 5.0),
    ("watch_if_gdbserver", "watch_if", "at least", 5.0),
]

# ns that a false hit in a pad may cost, at one place and at many, of one thread and of many.
FILTERS = ("filter_entry", "filter_body", "filter_places_200", "filter_threads_64")
FILTER_MOST = 12


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--truehit", default="build/truehit")
    parser.add_argument("--build", default="build", help="where the programs were built")
    parser.add_argument("--output", default="build/bench", help="directory of the results")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--check", action="store_true", help="missed targets are a failure")
    return parser.parse_args()


# Ratios that have to be sharp: these are measured in every round.
SHARP = ("floor", "truehit", "ops_50_reads_4", "dprintf", "watch_floor", "watch_same",
         "watch_if", "entry_floor", "entry", "body_floor", "body")


KIND_ROUNDS = 5  # of runs at each kind of instruction


def measure_hits(bench, cases, rounds):
    for number in range(rounds):
        for case in cases:
            if number < 3 or case.name in SHARP:
                bench.run(case)
        print(f"round {number + 1} of {rounds}", file=sys.stderr)


def measure_kinds(options):
    """None: other processors have other instructions."""
    if os.uname().machine != "x86_64":
        return None
    bench = kinds.Bench(options.truehit, options.build)
    for number in range(min(options.rounds, KIND_ROUNDS)):
        bench.run()
        print(f"kinds of instructions, round {number + 1}", file=sys.stderr)
    return bench


def measure_states(bench, rounds):
    looking = states.Bench(bench)
    for number in range(min(rounds, states.ROUNDS)):
        looking.run()
        print(f"states, round {number + 1}", file=sys.stderr)
    return looking


def measure_lldb(bench, rounds):
    hits = lldb_hits.Bench(bench)
    for number in range(min(rounds, lldb_hits.ROUNDS)):
        hits.run()
        print(f"lldb, round {number + 1}", file=sys.stderr)
    return hits


def measure_stops(bench, rounds=3):
    costs = {(name, count): [] for name in ("truehit", "gdbserver") for count in (1, 4)
             if name == "truehit" or bench.gdbserver}
    for _ in range(rounds):
        for (name, count), runs in costs.items():
            server = bench.truehit if name == "truehit" else bench.gdbserver
            runs.append(bench.stop_cost(server, count))
    return costs


def print_engines(engines):
    """Where a breakpoint stops at each hit: the kernel's traps against our own."""
    print("\nCost of gdb's commands: by uprobe, by ptrace's int3, ratio\n")
    for title, costs in engines.items():
        uprobe, ptrace = (costs[engine] for engine in probes.ENGINES)
        ratio = statistics.median(a / b for a, b in zip(uprobe, ptrace))
        print(f"  {title:<34} {measure.microseconds(statistics.median(uprobe)):>10} "
              f"{measure.microseconds(statistics.median(ptrace)):>10} {ratio:>8.2f}")


def ratio_of(case, other):
    """Round by round, as far as both were measured. What costs next to nothing may seem to
    cost less than that."""
    return statistics.median(a / max(b, 0.1) for a, b in zip(case.runs, other.runs))


def judge(cases):
    """The rows of the targets: text, ratio or ns, met."""
    named = {case.name: case for case in cases}
    rows = []
    for over, under, word, limit in TARGETS:
        if over not in named or under not in named:
            continue
        ratio = ratio_of(named[over], named[under])
        met = ratio <= limit if word == "at most" else ratio >= limit
        rows.append((f"{over} / {under}", ratio, word, limit, met))
    for name in FILTERS:
        if name in named:
            cost = named[name].median
            rows.append((f"{name}, ns", cost, "at most", FILTER_MOST, cost <= FILTER_MOST))
    return rows


# What the plot shows.
PLOTTED = ("floor", "truehit", "z1_pinned", "z0_pinned", "z1", "z0", "host", "entry", "body")


def plot(cases, directory):
    """A bar for each case on a logarithmic axis."""
    if not shutil.which("gnuplot"):
        print("gnuplot is not installed: no plot")
        return
    data = directory / "bench.dat"
    rows = sorted((case for case in cases if case.name in PLOTTED),
                  key=lambda case: case.median)
    data.write_text("".join(f'"{case.title}"\t{case.median / 1000:.3f}\n' for case in rows))
    script = f"""
set terminal svg size 760,{60 + 44 * len(rows)} font 'sans,13' background 'white'
set output 'bench.svg'
set datafile separator '\\t'
set title 'Cost of a false hit (microseconds, logarithmic)'
set logscale x
set xrange [{rows[0].median / 4000:.3f}:{rows[-1].median / 300:.3f}]
set yrange [{len(rows) - 0.5}:-0.5]
set style fill solid
set boxwidth 0.6
set grid xtics
set border 3
set tics nomirror
unset key
left = {rows[0].median / 4000:.3f}
plot '{data.name}' using 2:0:(left):2:($0-0.32):($0+0.32):ytic(1) with boxxyerrorbars lc rgb '#3465a4', \\
     '' using ($2*1.1):0:(sprintf('%.1f', $2)) with labels left
"""
    # Names alone: gnuplot writes them into the picture.
    subprocess.run(["gnuplot"], input=script, text=True, check=True, cwd=directory)


def main():
    options = arguments()
    bench = probes.Bench(options.truehit, options.build)
    directory = pathlib.Path(options.output)
    directory.mkdir(parents=True, exist_ok=True)
    try:
        bench.calibrate()
        cases = bench.possible(
            bench.cases() + bench.size_cases(60000) + bench.dprintf_cases(60000, 3000) +
            bench.probe_cases(320000, 60000, 3000) + bench.watch_cases(60000, 3000))
        measure_hits(bench, cases, options.rounds)
        stops = measure_stops(bench) if bench.fires else {}
        engines = bench.engine_costs(20)
        pads = measure_kinds(options)
        looking = measure_states(bench, options.rounds)
        in_lldb = measure_lldb(bench, options.rounds)
        library_costs = library.measure_library(options.build) if bench.fires else {}
    except measure.Broken as error:
        sys.exit(f"bench: {error}")
    floors = {case.name: case for case in cases}
    print(f"\nCost of a hit that does not stop ({measure.machine()['cpu']}, "
          f"Linux {measure.machine()['kernel']})\n")
    print(f"  {'':<36} {'median':>10} {'lowest':>10} {'x floor':>8} {'hits':>8}  runs")
    for case in cases:
        print(f"  {case.title:<36} {measure.microseconds(case.median):>10} "
              f"{measure.microseconds(min(case.runs)):>10} "
              f"{ratio_of(case, floors[case.floor]):>8.2f} "
              f"{case.iterations:>8}  {len(case.runs)}")
    print("\nCost of a stop and continue, by gdb\n")
    for (name, count), runs in stops.items():
        print(f"  {name:<10} {count} conditional breakpoint{'s' if count > 1 else ' '} "
              f"{measure.microseconds(statistics.median(runs)):>10}")
    print_engines(engines)
    if pads:
        pads.print()
    looking.show()
    in_lldb.show()
    if library_costs:
        library.show(library_costs)
    if not bench.fires:
        print("\nBreakpoint registers do not fire on this machine: what needs them is left out.")
    print("\nTargets\n")
    targets = judge(cases)
    complete = (bench.fires and len(targets) == len(TARGETS) + len(FILTERS) and
                (not pads or pads.is_complete()))
    targets += pads.judge() if pads else []
    targets += looking.judge()
    targets += in_lldb.judge()
    targets += library.judge(library_costs) if library_costs else []
    for text, ratio, word, limit, met in targets:
        print(f"  {text:<34} {ratio:>9.2f}  {word} {limit:<5}  {'met' if met else 'MISSED'}")
    (directory / "bench.json").write_text(json.dumps({
        "machine": measure.machine(),
        "loop_ns": bench.base,
        "false_hit_ns": {c.name: {"title": c.title, "median": c.median, "runs": c.runs,
                                  "hits": c.iterations} for c in cases},
        "stop_and_continue_ns": {f"{name}_{count}": {"median": statistics.median(runs),
                                                     "runs": runs}
                                 for (name, count), runs in stops.items()},
        "engines_ns": engines,
        "library_ns": library_costs,
        "states_ns": looking.runs,
        "lldb_ns": in_lldb.runs,
        "pads_ns": pads.results() if pads else {},
        "targets": [dict(zip(("ratio", "value", "word", "limit", "met"), row))
                    for row in targets],
    }, indent=2) + "\n")
    plot(cases, directory)
    print(f"\nWritten to {directory}: bench.json, bench.svg")
    missed = not complete or not all(row[-1] for row in targets)
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
