# SPDX-License-Identifier: BSD-2-Clause
"""The numbers by which users name locations."""

NUMBERS = '''
import re
def numbers():
    """Address -> number, as the table shows them."""
    lines = run("monitor breakpoints").splitlines()
    if lines[0].split()[0] != "Num":
        raise RuntimeError(lines[0])
    rows = [line.split() for line in lines[1:] if re.match(r"\\s*\\d+ ", line)]
    return {row[2]: int(row[0]) for row in rows}
'''


def stays(t, before, after):
    """No location of before has another number after."""
    t.equal({address: after.get(address) for address in before}, before, "numbers")


def test_numbers_stay_over_stops(t):
    """gdb takes everything out at each stop, and puts it in again."""
    t.truehit_only("monitor breakpoints")
    path = t.prog("loop")
    gdb = t.gdb(t.server(path, "1000"),
                f"hbreak {t.line('loop.c', 'BODY')} if count % 10 == 0",
                f"break {t.line('loop.c', 'NEVER1')}", "watch other", prog=path,
                python=NUMBERS + f'''
found = []
for command in "continue", "continue", "next", "stepi", "continue":
    run(command)
    found.append(numbers())
run("break {t.line("loop.c", "NEVER2")}")
run("continue")
emit(found=found, more=numbers())
''')
    found, more = gdb.results[0]["found"], gdb.results[0]["more"]
    t.check(len(found[0]) >= 3, "a row for each location")
    for later in found[1:] + [more]:
        stays(t, found[0], later)
    new = set(more) - set(found[-1])
    t.equal(len(new), 1, "new locations")
    t.check(more[new.pop()] > max(found[-1].values()), "a new location has a new number")


def test_numbers_stay_when_slots_are_freed(t):
    """The new breakpoint, which gdb puts in first, needs a slot of the old ones."""
    t.truehit_only("monitor breakpoints")
    path = t.prog("loop")
    lines = [t.line("loop.c", name) for name in ("NEVER2", "NEVER3", "BODY")]
    gdb = t.gdb(t.server(path, "1000"), *(f"hbreak {line}" for line in lines),
                "watch other", prog=path, python=NUMBERS + f'''
run("continue")
before = numbers()
run("delete 4")
run("hbreak {t.line("loop.c", "NEVER1")}")
run("continue")
emit(before=before, after=numbers())
''')
    before, after = gdb.results[0]["before"], gdb.results[0]["after"]
    t.check(len(set(after) - set(before)) == 1, "one location is new")
    stays(t, {address: before[address] for address in before if address in after}, after)


def test_a_forked_child_has_the_numbers_of_its_parent(t):
    t.truehit_only("monitor breakpoints")
    path = t.prog("fork")
    gdb = t.gdb(t.server(path), "set detach-on-fork off",
                "set follow-fork-mode child", "tbreak main", "continue",
                f"break {t.line('fork.c', 'BODY')} if calls == 5", "catch fork",
                prog=path, connect="target extended-remote", python=NUMBERS + '''
run("continue")
parent = numbers()
run("continue")
emit(parent=parent, child=numbers())
''')
    parent, child = gdb.results[0]["parent"], gdb.results[0]["child"]
    both = set(parent) & set(child)
    t.check(both, f"no location of both: {parent}, {child}")
    t.check(min(parent[address] for address in both) > 1, "numbers that could not be first")
    stays(t, {address: parent[address] for address in both}, child)
