#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Random C conditions from the user's side: with conditions evaluated by the server,
breakpoints stop where they do with conditions evaluated by gdb.

The program is tests/progs/code/expressions.c. In each gdb a batch of conditions is tried:
first all of them by gdb, in one round of the program; then a few at a time by the
server, hbreak and break, also several at one address. A condition's list of stops is
the numbers of the iterations. gdb looks again at what the server reports, so hits
reported in vain are found by the server's own count of them.
"""
import argparse
import collections
import dataclasses
import multiprocessing
import os
import pathlib
import random
import re
import shutil
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import harness
import machine

BATCH = 100     # conditions in one gdb
PLACES = 8      # of the program
# Breakpoints that the processor has room for.
HARDWARE = 4 if machine.breakpoint_registers_fire() else 0
SOURCE = "expressions.c"

# ---- conditions ----

# How the names of the program's integers begin, and the scalar members of an item.
VARIABLES = """g_c g_sc g_uc g_s g_us g_i g_ui g_l g_ul g_ll g_ull p_sc p_us p_i p_ul s_i
    s_uc r_l r_ui l_i l_uc l_s l_ull iteration""".split()
MEMBERS = """sc uc s us i ui l ul low middle high one wide inner.depth""".split()
# gdb has no bytecode for arithmetic on these, and keeps the condition.
KEPT = """g_b g_colour g_level g_item->flag p_item->level l_item.flag RED FAR DEEP
    'a'""".split()
ITEMS = ["g_item->", "p_item->", "l_item.", "g_item->next->", "g_items[1].", "(*g_item)."]
ARRAYS = {"g_ints": 8, "g_bytes": 8, "g_shorts": 8, "g_longs": 8, "l_ints": 4,
          "g_table[2]": 8, "g_item->numbers": 4, "l_item.inner.bytes": 4}
LITERALS = ["0", "1", "2", "7", "10", "100", "127", "128", "255", "256", "65535",
            "2147483647", "2147483648", "4294967295", "0x123456789", "5u", "3ul"]
TYPES = ["char", "signed char", "unsigned char", "short", "unsigned short", "int",
         "unsigned int", "long", "unsigned long", "long long", "unsigned long long"]
COUNTS = ["g_i", "g_uc", "p_us", "l_s", "s_i", "p_sc"]
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]


class Generator:
    """What gdb cannot do right itself is left out, and why is said at the place."""

    def __init__(self, rng):
        self.rng = rng

    def condition(self):
        r = self.rng.random()
        if r < 0.6:
            return self.comparison(3)
        if r < 0.8:
            return self.logic(3)
        return self.integer(4)

    def comparison(self, depth):
        if self.rng.random() < 0.12:
            return self.pointer_comparison()
        operator = self.rng.choice(COMPARISONS)
        return f"{self.integer(depth)} {operator} {self.integer(depth - 1)}"

    def pointer_comparison(self):
        operator = self.rng.choice(COMPARISONS)
        return self.rng.choice([
            f"g_int_p {operator} &g_ints[{self.rng.randrange(8)}]",
            f"g_byte_p {operator} g_bytes + {self.rng.randrange(8)}",
            f"g_item {operator} g_item->next",
            f"g_int_p - g_ints {operator} {self.rng.randrange(8)}",
            f"g_item->next - g_items {operator} {self.rng.randrange(4)}",
            f"(long)g_int_p % {self.rng.choice([3, 5, 12])} {operator} 1",
            f"*g_int_pp {operator} g_int_p + {self.rng.randrange(-2, 3)}",
            f"(char *)g_item {operator} (char *)p_item + {self.rng.randrange(200)}",
            "!g_item->next", "g_int_p",
        ])

    def logic(self, depth):
        kind = self.rng.randrange(4)
        if depth <= 0 or kind == 0:
            return self.comparison(1)
        if kind == 1:
            return f"!({self.logic(depth - 1)})"
        operator = self.rng.choice(["&&", "||"])
        return f"({self.logic(depth - 1)}) {operator} ({self.logic(depth - 1)})"

    def integer(self, depth):
        if depth <= 0 or self.rng.random() < 0.15:
            return self.leaf()
        return self.rng.choice([self.unary, self.binary, self.binary, self.division,
                                self.shift, self.cast, self.cast, self.ternary,
                                self.truth])(depth - 1)

    def leaf(self):
        if self.rng.random() < 0.08:
            return f"(int){self.rng.choice(KEPT)}"
        if self.rng.random() < 0.004:
            return self.rng.choice(KEPT)
        return self.rng.choice([self.variable, self.variable, self.variable, self.member,
                                self.member, self.literal, self.element,
                                self.indirect])()

    def variable(self):
        return self.rng.choice(VARIABLES)

    def member(self):
        return self.rng.choice(ITEMS) + self.rng.choice(MEMBERS)

    def literal(self):
        return self.rng.choice(LITERALS)

    def element(self):
        array, length = self.rng.choice(list(ARRAYS.items()))
        index = self.rng.choice([str(self.rng.randrange(length)),
                                 f"({self.variable()} & {length - 1})",
                                 f"iteration % {length}"])
        return f"{array}[{index}]"

    def indirect(self):
        return self.rng.choice([
            "*g_int_p", "*g_byte_p", "**g_int_pp", "*&g_s", "*(short *)&g_i",
            "*(unsigned char *)&g_l", "*(long *)&g_ul", "*((char *)&g_ull + 3)",
            "*(unsigned int *)((char *)&g_l + 2)", "*(g_ints + (g_uc & 7))",
            "*(l_ints + 2)", "(&g_items[2])->us", "g_items[g_uc & 3].ui",
            "*(g_item->numbers + 1)", "g_table[g_us & 3][g_uc & 7]",
        ])

    def unary(self, depth):
        return f"{self.rng.choice('-~!+')}({self.integer(depth)})"

    def binary(self, depth):
        operator = self.rng.choice(["+", "-", "*", "&", "|", "^"])
        return f"({self.integer(depth)}) {operator} ({self.integer(depth)})"

    def division(self, depth):
        # Zero now and then: an error, which is a stop. Not where all is constant: gdb
        # makes the quotient 1 then.
        operator = self.rng.choice("/%")
        divisor = self.rng.choice([self.rng.choice(LITERALS[1:]), self.member(),
                                   f"({self.variable()} & 15)", self.variable()])
        return f"({self.integer(depth)}) {operator} ({divisor})"

    def shift(self, depth):
        # Counts that C defines: beyond them gdb and its bytecode differ. No counts that
        # are unsigned or long: in bytecode they make the result so.
        operator = self.rng.choice(["<<", ">>"])
        count = self.rng.choice([str(self.rng.randrange(16)),
                                 f"({self.rng.choice(COUNTS)} & 7)"])
        return f"({self.integer(depth)}) {operator} {count}"

    def cast(self, depth):
        return f"({self.rng.choice(TYPES)})({self.integer(depth)})"

    def ternary(self, depth):
        # Both results of one type: the bytecode has no conversion to the common one.
        to = self.rng.choice(TYPES)
        return (f"(({self.logic(1)}) ? ({to})({self.integer(depth)}) : "
                f"({to})({self.integer(depth)}))")

    def truth(self, depth):
        return f"({self.comparison(depth)})"


def conditions_of(seed, batch, count):
    generator = Generator(random.Random(f"{seed}/{batch}"))
    return [generator.condition() for _ in range(count)]


def groups_of(seed, batch, conditions):
    """What is tried together: lists of (condition, kind, place)."""
    rng = random.Random(f"groups {seed}/{batch}")
    todo, groups = list(range(len(conditions))), []
    while todo:
        size = rng.randrange(1, PLACES)
        group, hardware = [], 0
        places = rng.sample(range(PLACES), PLACES)
        for index in todo[:size]:
            kind = "hbreak" if hardware < HARDWARE and rng.random() < 0.7 else "break"
            place = places.pop()
            if group and rng.random() < 0.15:
                place = group[-1][2]
            hardware += kind == "hbreak"
            group.append((index, kind, place))
        groups.append(group)
        todo = todo[size:]
    return groups


# ---- inside gdb ----

GDB_SIDE = r'''
def insert(kind, where, condition):
    before = {b.number for b in gdb.breakpoints() or ()}
    text = run(f"{kind} {where} if {condition}")
    new = [b for b in gdb.breakpoints() or () if b.number not in before]
    if not new:
        raise RuntimeError(f"{condition}: {text}")
    return new[0].number


def one_round(numbers):
    """The iterations at which each breakpoint of these numbers stopped. (The stop
    event names all at the place; those that count it are those that stopped.)"""
    found = {number: [] for number in numbers}
    known = {b.number: b for b in gdb.breakpoints()}
    before = {number: known[number].hit_count for number in numbers + [end]}
    while True:
        text = run("continue")
        hit = [n for n, count in before.items() if known[n].hit_count > count]
        if not alive() or not hit:
            raise RuntimeError("no hit: " + text)
        if end in hit:
            return found
        now = int(gdb.parse_and_eval("iteration"))
        for number in hit:
            before[number] = known[number].hit_count
            found[number].append(now)


def delete(numbers):
    for number in numbers:
        run(f"delete {number}")


end = insert("break", END, "1")
run("continue")
run("set breakpoint condition-evaluation host")
numbers = [insert("break", PLACES[0], c) for c in CONDITIONS]
wanted = one_round(numbers)
delete(numbers)
emit(wanted=[wanted[n] for n in numbers])
run("set breakpoint condition-evaluation target")
for group in GROUPS:
    run("monitor reset")
    numbers = [insert(kind, PLACES[place], CONDITIONS[index])
               for index, kind, place in group]
    addresses = [int(gdb.decode_line(PLACES[place])[1][0].pc) for _, _, place in group]
    got = one_round(numbers)
    emit(group=group, got=[got[n] for n in numbers], addresses=addresses,
         table=run("monitor breakpoints"))
    delete(numbers)
run("kill")
'''


# ---- one batch ----

class Outcome:
    """What became of some conditions."""

    def __init__(self):
        self.conditions = 0
        self.stops = 0
        self.decided = collections.Counter()
        self.maybes = 0
        self.differences = []  # texts

    def add(self, other):
        self.conditions += other.conditions
        self.stops += other.stops
        self.decided += other.decided
        self.maybes += other.maybes
        self.differences += other.differences


def decided_by(row):
    if "gdb sent no condition" in row["text"]:
        return "kept by gdb"
    if "filter; " in row["text"]:
        return "a filter" + (", with maybes" if row["maybe"] else "")
    if "kernel" not in row["text"] or "refused" in row["text"]:
        return "the stub"
    return "the kernel, with maybes" if row["maybe"] else "the kernel"


def judge(group, conditions, wanted, outcome):
    """Compares what a group's breakpoints did with what they should have done."""
    rows = {}
    if group["table"].strip() and "Hits" in group["table"]:
        for row in harness.breakpoint_rows(group["table"]):
            address = int(re.search(r"0x([0-9a-f]+)", row["text"]).group(1), 16)
            rows.setdefault(address, []).append(row)
    places = collections.defaultdict(list)
    for (index, kind, _), got, address in zip(group["group"], group["got"],
                                              group["addresses"]):
        text = f"{kind} if {conditions[index]}"
        places[address].append((text, set(wanted[index])))
        outcome.conditions += 1
        outcome.stops += len(wanted[index])
        for row in rows.get(address, ())[:1]:
            outcome.decided[decided_by(row)] += 1
        if got != wanted[index]:
            outcome.differences.append(f"{text}\n  gdb    {wanted[index]}\n"
                                       f"  server {got}")
            places[address].clear()
            rows.pop(address, None)
    for address, here in rows.items():
        texts, stops = zip(*places[address]) if places[address] else ((), ())
        outcome.maybes += sum(row["maybe"] for row in here)
        if not texts or decided_by(here[0]) == "kept by gdb":
            continue
        # All at one place have the same conditions; a trap is hit where hardware is
        # false.
        reported, needed = max(row["true"] for row in here), len(set().union(*stops))
        if reported != needed:
            outcome.differences.append(f"{' and '.join(texts)}\n  {reported} hits "
                                       f"reported, {needed} stops")


def try_batch(t, conditions, groups):
    """One gdb. Returns the Outcome."""
    where = [t.line(SOURCE, f"PLACE {i}") for i in range(PLACES)]
    server = t.server("--once", "COMM", t.prog("expressions"))
    settings = {"END": t.line(SOURCE, "END"), "PLACES": where, "CONDITIONS": conditions,
                "GROUPS": groups}
    script = "".join(f"{name} = {value!r}\n" for name, value in settings.items())
    gdb = t.gdb(server, prog=t.prog("expressions"), python=script + GDB_SIDE)
    outcome = Outcome()
    if not gdb.results:
        raise harness.Failure(gdb.output()[-2000:])
    wanted = gdb.results[0]["wanted"]
    for group in gdb.results[1:]:
        judge(group, conditions, wanted, outcome)
    return outcome


def seeded_batch(t, seed, batch, count):
    conditions = conditions_of(seed, batch, count)
    return try_batch(t, conditions, groups_of(seed, batch, conditions))


# ---- the command ----

def in_a_process(work):
    config, conditions, groups = work
    harness.libc.prctl(harness.PR_SET_CHILD_SUBREAPER, 1)
    log = os.memfd_create("log")
    os.dup2(log, 1)
    test = harness.Test(config, "expressions")
    try:
        return try_batch(test, conditions, groups)
    finally:
        test.close()
        shutil.rmtree(test.dir, ignore_errors=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=500, help="of conditions")
    parser.add_argument("--jobs", type=int, default=2, help="gdbs at a time")
    parser.add_argument("--build", default=None, help="build directory")
    parser.add_argument("--engine", default="",
                        help="`monitor set engine`; all are software breakpoints then")
    parser.add_argument("--condition", action="append", help="try this one; may be repeated")
    return parser.parse_args()


def all_software(groups):
    return [[(index, "break", place) for index, _, place in group] for group in groups]


def work_of(options, config):
    if options.condition:
        groups = [[(i, kind, i % PLACES)] for i in range(len(options.condition))
                  for kind in ("hbreak", "break")]
        return [(config, options.condition, groups)]
    counts = [min(BATCH, options.count - start) for start in range(0, options.count, BATCH)]
    batches = [conditions_of(options.seed, n, count) for n, count in enumerate(counts)]
    return [(config, batch, groups_of(options.seed, n, batch))
            for n, batch in enumerate(batches)]


def main():
    options = arguments()
    config = dataclasses.replace(harness.Config.find(options.build), engine=options.engine)
    work = work_of(options, config)
    if options.engine:
        work = [(config, batch, all_software(groups)) for config, batch, groups in work]
    total = Outcome()
    with multiprocessing.Pool(options.jobs, maxtasksperchild=1) as pool:
        for outcome in pool.imap(in_a_process, work):
            for text in outcome.differences:
                print(text, flush=True)
            total.add(outcome)
    ways = ", ".join(f"{count} by {way}" if way != "kept by gdb" else f"{count} {way}"
                     for way, count in total.decided.most_common())
    if ways:
        print(f"decided: {ways}; {total.maybes} hits left open by the kernel")
    print(f"{total.conditions} conditions, {total.stops} stops, "
          f"{len(total.differences)} lists differ (seed {options.seed})")
    return 1 if total.differences else 0


if __name__ == "__main__":
    sys.exit(main())
