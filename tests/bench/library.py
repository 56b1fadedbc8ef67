# SPDX-License-Identifier: BSD-2-Clause
"""What libtruehit's calls and filters cost, by the threads of a process (library.c)."""
import collections
import statistics
import subprocess

import measure

THREADS = (1, 64, 1000)
IDLE_MOST = 0.1  # ns that a filter may cost that is armed and never hit


def measure_library(build):
    """The figures by the number of threads and by name: lists of nanoseconds."""
    costs = {}
    for threads in THREADS:
        run = subprocess.run([f"{build}/tests/bench/library", str(threads)], text=True,
                             capture_output=True, timeout=300, check=False)
        if run.returncode != 0:
            raise measure.Broken(f"library {threads}: {run.stderr.strip()}")
        costs[threads] = collections.defaultdict(list)
        for name, figure in map(str.split, run.stdout.splitlines()):
            costs[threads][name].append(float(figure))
    return costs


def idle(costs):
    """What one costs that is never hit: pairs of one process each."""
    return statistics.median(idle - loop for of in costs.values()
                             for idle, loop in zip(of["idle"], of["loop"]))


def show(costs):
    print("\nCost of libtruehit, in a process that filters itself\n")
    print(f"  {'threads':>8} {'an aim':>12} {'arming':>12} {'a false hit':>12} "
          f"{'by a counter':>12}")
    for threads, of in costs.items():
        figures = (measure.microseconds(statistics.median(of[name]))
                   for name in ("aim", "arm", "false", "count"))
        print(f"  {threads:>8} " + " ".join(f"{figure:>12}" for figure in figures))


def judge(costs):
    return [("library, never hit, ns", idle(costs), "at most", IDLE_MOST,
             idle(costs) <= IDLE_MOST)]
