# SPDX-License-Identifier: BSD-2-Clause
"""`truehit accesses`: all accesses to a variable, counted without stopping."""
import re

import harness
from test_watch_filter import AHEAD

PROG = "touched"
EXTENSION = harness.ROOT / "scripts" / "truehit-gdb.py"
NONE = "^No accesses are counted"
VALUES = [("0", "-1"), ("-1", "0"), ("0", "1"), ("1", "-1")]


def debug(t, arguments, *commands, **kwargs):
    """What commands print in a program that waits to begin; whether it lives after that."""
    t.need_kernel_conditions()
    t.need_breakpoint_registers()
    server = t.server("--once", "COMM", t.prog(PROG), *arguments)
    return t.gdb(server, f"source {EXTENSION}", "tbreak begin", "continue", prog=t.prog(PROG),
                 python=f"emit(texts=[run(c) for c in {commands!r}], alive=alive())\n"
                 "run('kill') if alive() else None", **kwargs)


def refused(t, *commands):
    """What gdb shows of commands that fail, in a program that waits to begin."""
    t.need_kernel_conditions()
    t.need_breakpoint_registers()
    server = t.server("--once", "COMM", t.prog(PROG), "1", "1")
    return t.gdb(server, f"source {EXTENSION}", "tbreak begin", "continue", *commands, "kill",
                 prog=t.prog(PROG)).output()


def accesses(t, arguments, command):
    return debug(t, arguments, f"truehit accesses {command}").results[0]["texts"][0]


def rows(text):
    """Counts by line of the source and by thread, the most frequent first."""
    return [(int(count), thread, line) for count, thread, line in re.findall(
        r"^ *(\d+) +[\d.]+ %  (.*?) by 0x\w+ <touch\+\d+> at \S*?(touched\.c:\d+): \S", text, re.M)]


def changes(text):
    """Counts by before and after."""
    return {(before, after): int(count) for count, before, after in
            re.findall(r"^ *(\d+)  (\S+)(?: '.*?')? -> (\S+)(?: '.*?')?$", text, re.M)}


def in_sight(found):
    """What is told of changes, as this processor tells of it."""
    if not AHEAD:
        return found
    seen = {}
    for (before, _), count in found.items():
        seen[before, "?"] = seen.get((before, "?"), 0) + count
    return seen


@harness.machines()
def test_threads(t):
    text = accesses(t, ["3", "300"], "whole 60")
    t.match("^1800 accesses of whole, 8 bytes at 0x", text)
    found = rows(text)
    t.equal(sorted((count, line) for count, _, line in found),
            sorted([(300, t.line("touched.c", "WRITE"))] * 3
                   + [(300, t.line("touched.c", "READ"))] * 3), "rows")
    t.equal(len({thread for _, thread, _ in found}), 3, "threads")
    t.no_match("of them", text)


@harness.machines()
def test_values(t):
    """Of all sizes; the first three rounds begin with what was there."""
    for name, size in (("byte", "1 byte"), ("half", "2 bytes"), ("word", "4 bytes"),
                       ("whole", "8 bytes")):
        text = accesses(t, ["1", "300"], f"-w {name} 60")
        t.match(f"^300 writes of {name}, {size} at 0x", text)
        t.equal(changes(text), in_sight(dict(zip(VALUES, (1, 100, 100, 99)))), name)


def test_condition(t):
    """After the access, or before it."""
    text = accesses(t, ["2", "300"], "-w whole 60 if whole == 1")
    count = int(t.match(r"^(\d+) writes of whole", text).group(1))
    t.check(count == 200 or AHEAD and count == 199, f"{count} writes")
    t.equal(sum(count for count, _, _ in rows(text)), count, "in the table")
    t.equal({line for _, _, line in rows(text)}, {t.line("touched.c", "WRITE")}, "lines")


def test_parts(t):
    """Each part of a bigger object by itself."""
    text = accesses(t, ["1", "30"], "-w pair 60")
    t.match("^60 writes of pair, 16 bytes", text)
    t.equal([(count, thread.endswith(" at +8")) for count, thread, _ in rows(text)],
            [(30, False), (30, True)], "rows")


def test_the_time_is_over(t):
    """The program is stopped then, and it can be done again."""
    gdb = debug(t, ["2", "1", "forever"], "truehit accesses whole 0.3",
                "truehit accesses -w byte 0.3", "monitor accesses")
    first, second, after = gdb.results[0]["texts"]
    t.match(r"^[1-9]\d* accesses of whole", first)
    t.match(r"^[1-9]\d* writes of byte", second)
    t.equal(gdb.output().count("received signal SIGINT"), 2, "stops")
    for text in first, second:
        total = int(re.search(r"^(\d+) (acc|wri)", text, re.M)[1])
        lost = sum(int(n) for n in re.findall(r"^ *(\d+) of them were lost", text, re.M))
        t.equal(sum(count for count, _, _ in rows(text)), total - lost, "all are in the table")
        t.check(set(changes(text)) <= set(in_sight(dict.fromkeys(
            [*VALUES, ("-1", "-1"), ("0", "0"), ("1", "1"), ("-1", "1"), ("1", "0")], 0))),
            "values")
    t.match("^error: ", after)
    t.check(gdb.results[0]["alive"], "the program lives")


def test_what_is_refused(t):
    wrong = {"": "expected .*EXPRESSION", "-w": "expected .*EXPRESSION", "(1 + 1)": "not in memory",
             "nonsense": "No symbol", "big": "are too many", "$pc": "not in memory",
             "whole if nonsense": "The condition", "whole if whole == 1.5": "The condition"}
    monitor = {"": NONE, " write 1": "expected write or access", " write 1 2 3": "hex digits",
               " write 16 8 ff": "the condition", " write 1 0": "There are no",
               " write 18446744073709551615 8": "There are no"}
    text = refused(t, *[f"truehit accesses {argument}".strip() for argument in wrong],
                   *[f"monitor accesses{arguments}" for arguments in monitor])
    for argument, reason in [*wrong.items(), *monitor.items()]:
        t.match(reason, text, argument)
    t.equal(text.count("There are no "), 2, "impossible lengths")
    t.no_match(r"0x\w+ are counted|writes? of|accesses of", text)


def test_locals_in_conditions(t):
    """They are others in each thread."""
    t.need_kernel_conditions()
    t.need_breakpoint_registers()
    server = t.server("--once", "COMM", t.prog(PROG), "1", "1")
    gdb = t.gdb(server, f"source {EXTENSION}", "tbreak touch", "continue",
                "truehit accesses whole if value == 1", "kill", prog=t.prog(PROG))
    t.match("value is another one in each thread", gdb.output())


def test_no_register_is_free(t):
    """Four parts, where a watchpoint has one register of four, or none of many is left."""
    text = refused(t, "watch big.of[6]", "stepi", "truehit accesses *(long (*)[4])&big.of[0]")
    if AHEAD and "too few" not in text:
        t.skip("this processor has more of them")
    t.match("too few are free", text)


def test_no_rights(t):
    t.truehit_only("accesses")
    t.need_root()
    prog, = t.public_copy(t.prog(PROG))
    server = t.server("--once", "COMM", prog, "1", "1", **t.without_rights())
    gdb = t.gdb(server, f"source {EXTENSION}", "tbreak begin", "continue",
                "truehit accesses whole", "kill", prog=prog)
    t.match("^Accesses cannot be logged: .*(CAP_|root)", gdb.output())


# ---- how it ends ----

def test_the_process_ends(t):
    """The server shows what it has, by itself."""
    t.need_kernel_conditions()
    t.need_breakpoint_registers()
    server = t.server("--once", "COMM", t.prog(PROG), "1", "30")
    gdb = t.gdb(server, "tbreak begin", "continue", 'eval "monitor accesses write %#lx 1", &byte',
                "continue", prog=t.prog(PROG))
    text = gdb.output()
    t.match(r"^Writes of 1 byte at 0x\w+ are counted", text)
    t.match(r"^30 writes of 1 byte at 0x\w+ in process \d+, which has ended$", text)
    t.match(r"exited normally", text)


def test_another_program(t):
    """It has none of the former one's accesses, and its symbols are not shown for them."""
    t.need_kernel_conditions()
    t.need_breakpoint_registers()
    server = t.server("--once", "COMM", t.prog("exec"), t.prog(PROG), "1", "30")
    gdb = t.gdb(server, f"source {EXTENSION}", "tbreak main", "continue",
                "truehit accesses -w before 60", prog=t.prog("exec"))
    text = gdb.output()
    t.match(r"^1 writes of before, 4 bytes at 0x\w+, in a process which has executed another "
            "program$", text)
    t.match(r"^ *1 100.0 %  LWP \d+ \(which has ended\) (after|by) 0x\w+$", text)


def test_what_ends_it(t):
    """Nothing is left of it after a kill, a detach, or another start."""
    t.need_kernel_conditions()
    t.need_breakpoint_registers()
    server = t.server("--multi", "COMM")
    gdb = t.gdb(server, f"set remote exec-file {t.prog(PROG)}", connect="target extended-remote",
                prog=t.prog(PROG), python=f"""
def events():
    import os
    names = [os.path.join("/proc/{server.serving}/fd", n)
             for n in os.listdir("/proc/{server.serving}/fd")]
    return sum("perf_event" in os.readlink(n) for n in names if os.path.islink(n))
for command in "kill", "detach", "run":
    run("tbreak begin")
    run("run 1 30")
    before = events()
    text = run('eval "monitor accesses write %#lx 1", &byte')
    meanwhile = events()
    if command == "run":
        run("tbreak begin")
    run(command)
    emit(command=command, text=text, counted=run("monitor accesses"), before=before,
         meanwhile=meanwhile, after=events())
run("kill")
""")
    t.equal([result["command"] for result in gdb.results], ["kill", "detach", "run"], "results")
    for result in gdb.results:
        t.match("are counted", result["text"], result["command"])
        t.equal(result["counted"], "error: Protocol error with Rcmd", result["command"])
        t.check(result["meanwhile"] > result["before"], "it has events")
        t.check(result["after"] <= result["before"], f"none are left after {result['command']}")
    server.kill(15)
    server.wait()


def test_another_client(t):
    t.need_kernel_conditions()
    t.need_breakpoint_registers()
    server = t.server("COMM", t.prog(PROG), "1", "30")
    begin = ("tbreak begin", "continue", 'eval "monitor accesses write %#lx 1", &byte')
    t.match("are counted", t.gdb(server, *begin, "disconnect", prog=t.prog(PROG)).output())
    gdb = t.gdb(server, "monitor accesses", 'eval "monitor accesses write %#lx 1", &byte',
                "monitor exit", prog=t.prog(PROG))
    t.match(NONE, gdb.output())
    t.match("are counted", gdb.output())
    t.equal(server.wait(), 0, "the server's exit status")
