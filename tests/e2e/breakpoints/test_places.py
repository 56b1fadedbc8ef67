# SPDX-License-Identifier: BSD-2-Clause
"""The numbers and symbols by which users name locations."""
import pathlib
import re

from test_protocol import start, symbol

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
    stays(t, {address: parent[address] for address in both}, child)


def test_gdbs_own_breakpoints_are_hidden(t):
    """That of the dynamic linker, which gdb puts in first, takes no number."""
    t.truehit_only("monitor breakpoints")
    path = t.prog("conditions")
    gdb = t.gdb(t.server(path), f"break {t.line('conditions.c', 'BODY')} if i == 3", "continue",
                prog=path, python=NUMBERS + '''
emit(numbers=list(numbers().values()), plain=run("monitor breakpoints"),
     whole=run("monitor breakpoints all"), own=run("monitor explain -1"))
run("kill")
''')
    result = gdb.results[0]
    t.equal(result["numbers"], [1], "numbers")
    t.no_match("_dl_debug_state", result["plain"])
    t.match(r"^ +-1 break 0x[0-9a-f]+ _dl_debug_state", result["whole"])
    t.match(r"^ +1 break ", result["whole"])
    t.match(r"^Location -1: break .*_dl_debug_state", result["own"])


def test_a_number_comes_back(t):
    """gdb takes a breakpoint out, and puts it in again, another one meanwhile."""
    t.truehit_only("monitor breakpoints")
    path = t.prog("conditions")
    gdb = t.gdb(t.server(path), f"break {t.line('conditions.c', 'BODY')} if i % 4 == 3",
                f"break {t.line('conditions.c', 'CALL')} if i % 4 == 1", "continue",
                prog=path, python=NUMBERS + '''
found = [numbers()]
for command in ("disable 1", "break body if i % 3 == 1", "enable 1", "delete 2"):
    run(command)
    run("continue")
    found.append(numbers())
emit(found=found)
run("kill")
''')
    found = gdb.results[0]["found"]
    first = [address for address, number in found[0].items() if number == 1]
    t.check(not set(first) & set(found[1]), "it is out meanwhile")
    t.equal([numbers.get(first[0]) for numbers in found], [1, None, None, 1, 1], "its number")
    t.equal(sorted(found[3].values()), [1, 2, 3], "all numbers")


def test_several_processes(t):
    """All are shown, whichever is selected; a number means one location."""
    t.truehit_only("monitor breakpoints")
    server = t.server("--multi", "COMM")
    body, other = t.line("conditions.c", "BODY"), t.prog("threads")
    gdb = t.gdb(server, f"set remote exec-file {t.prog('conditions')}",
                f"break {body} if i == 3", "run", f"add-inferior -exec {other}", "inferior 2",
                f"set remote exec-file {other}", "break worker if arg == 0", "run",
                prog=t.prog("conditions"), connect="target extended-remote", python=NUMBERS + '''
texts = [run("monitor breakpoints"), run("monitor explain 1"), run("monitor explain 2")]
run("inferior 1")
texts += [run("monitor breakpoints"), run("monitor ignore 2 5")]
emit(texts=texts, pids=[inferior.pid for inferior in gdb.inferiors()])
run("kill inferiors 1 2")
''')
    texts, pids = gdb.results[0]["texts"], gdb.results[0]["pids"]
    for text in texts[0], texts[3]:
        t.match(r"^Num Process What ", text)
        t.match(rf"^ +1 +{pids[0]} break .* body\+0x[0-9a-f]+ .* == 3$", text)
        t.match(rf"^ +2 +{pids[1]} break .* worker\+", text)
    t.match(rf"^Location 1: .*\(process {pids[0]}\)$", texts[1])
    t.match(rf"^Location 2: .*\(process {pids[1]}\)$", texts[2])
    t.match("^Will ignore next 5 hits of break 2 at worker", texts[4])


def test_many_threads_are_summed_up(t):
    t.truehit_only("monitor breakpoints")
    path = t.prog("threads")
    gdb = t.gdb(t.server(path, "40", "3"), f"break {t.line('threads.c', 'BODY')} if i == 900",
                f"break {t.line('threads.c', 'DONE')}", "continue", prog=path,
                python='emit(table=run("monitor breakpoints"))\nrun("kill")')
    rows = gdb.results[0]["table"].split("\n\n")[1].splitlines()
    t.equal(rows[0].split(), ["Num", "Thread", "Hits", "False", "True", "Maybe"], "titles")
    t.equal(len(rows), 1 + 10 + 1, "rows")
    t.match(r"^ *\d 30 other threads +90 +90 +0 ", rows[-1])


RUST = "<alloc::string::String as core::fmt::Write>::write_str"


def demangles(server):
    """Has it libiberty's demanglers, and so their texts?"""
    return b"{default arg#" in pathlib.Path(server).read_bytes()


def test_names_of_the_source(t):
    """C++ and Rust, in what people read and type; one that would be endless is as it is.
    (gdb tries to write that one down when it reads the program.)"""
    t.truehit_only("monitor breakpoints")
    if not demangles(t.config.server):
        t.skip("truehit was built without libiberty")
    _, client = start(t, "mangled")
    names = ("_ZN3foo3barEiPKc", r"_ZN58_\S*", "_RNvCs1234_7mycrate3foo", r"_Z1f1AIiiE\S*")
    for name in names:
        t.equal(client.ask(f"Z0,{symbol(t, 'mangled', name):x},1"), "OK", name)
    table = client.monitor("breakpoints")
    for number, place in enumerate(("foo::bar(int, char const*)", RUST, "mycrate::foo",
                                    "_Z1f1AIiiES_IS0_S0_E"), 1):
        t.match(rf"^ +{number} break 0x[0-9a-f]+ {re.escape(place)}", table)
    for number, place in ((1, "foo::bar"), (1, "foo::bar(int,char const*)"), (2, RUST),
                          (1, "_ZN3foo3barEiPKc"), (3, "mycrate::foo")):
        t.match(rf"^Location {number}: break ", client.monitor(f"explain {place}"))
    for line, words in (("count foo::bar(int, char const*)", "only count"),
                        ("count foo::bar on", "only count"),
                        ("count foo::bar(int, char const*)  off", "stop at"),
                        ("ignore foo::bar(int, char const*) 0", "ignore no")):
        t.match(rf"^Will {words} hits of break 1 at foo::bar\(int, char const\*\)\.$",
                client.monitor(line))
