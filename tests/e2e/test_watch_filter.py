# SPDX-License-Identifier: BSD-2-Clause
"""Watchpoints and writes that change nothing: gdb shows what it shows without the filter."""
import re

import harness
import rsp
from test_protocol import symbol
from test_rights import ordinary_user

PROG = "rewrite"
VALUES = r"Old value = (\S+)\s+New value = (\S+)"


def start(t, *arguments, user=False):
    """A server, of a user without rights if need be, and the program."""
    if user:
        return ordinary_user(t, program=PROG, arguments=arguments)
    return t.server("COMM", t.prog(PROG), *arguments), t.prog(PROG)


def values(gdb):
    """The old and new values that gdb has shown."""
    return re.findall(VALUES, gdb.output())


def check_loop(t, rounds, user=False):
    server, prog = start(t, "loop", str(rounds), user=user)
    gdb = t.gdb(server, "break begin", "continue", "delete", "watch flag", "continue", prog=prog,
                python="""
flag = value("flag")
table, why = run("monitor breakpoints"), run("monitor explain flag")
run("continue")
emit(flag=flag, table=table, why=why, exit=events.exit_code)
""")
    got = gdb.results[0]
    t.equal(values(gdb), [("7", "8")], "old and new values")
    t.equal(got["exit"], 0, "the end, without another stop")
    if t.config.reference:
        return None
    t.match(r"(?m)^ +value filter:", got["why"])
    return next(r for r in harness.breakpoint_rows(got["table"]) if " watch " in r["text"])


def test_same_value(t):
    """A loop that writes the same, and then something else."""
    rounds = t.quick(100000, 10000)
    counts = check_loop(t, rounds)
    if counts:
        t.equal((counts["hits"], counts["true"]), (rounds + 1, 1), "hits and true ones")
        t.equal(counts["false"], rounds, "hits that change nothing")


def test_same_value_without_rights(t):
    """The stub compares."""
    counts = check_loop(t, 300, user=True)
    if counts:
        t.equal((counts["hits"], counts["false"], counts["true"]), (301, 300, 1), "counts")


def check_hidden(t, *commands, user=False):
    server, prog = start(t, "hidden", user=user)
    gdb = t.gdb(server, "break begin", "continue", "watch flag", *commands, prog=prog)
    return values(gdb)


def test_changes_without_a_hit(t):
    """Compared is with what gdb has seen last, whatever was there in between."""
    for user in False, True:
        got = check_hidden(t, *["continue"] * 6, user=user)
        t.equal(got, [("7", "1"), ("1", "5"), ("5", "9")], f"without rights: {user}")


def test_new_watchpoint(t):
    """Another one at the same place remembers what is there now."""
    for user in False, True:
        got = check_hidden(t, *["continue"] * 3, "watch flag", *["continue"] * 6, user=user)
        t.equal(got, [("7", "1"), ("1", "5"), ("6", "5"), ("5", "9"), ("5", "9")],
                f"without rights: {user}")


def test_gdb_writes(t):
    """What gdb has written is what it remembers."""
    for user in False, True:
        server, prog = start(t, "loop", "50", user=user)
        gdb = t.gdb(server, "break begin", "continue", "delete", "watch flag", "set var flag = 3",
                    "continue", "set var flag = 7", "continue", "set var flag = 9", "continue",
                    "continue", prog=prog)
        t.equal(values(gdb), [("3", "7"), ("7", "8"), ("9", "8")], f"without rights: {user}")


def count_stops(client):
    """To the end of the program."""
    count = 0
    while True:
        stop = client.ask("vCont;c")
        if not stop.startswith("T05"):
            return count, stop
        count += 1


def test_every_write(t):
    """For those who want it: by a switch, or as lldb."""
    t.truehit_only("a value filter")
    for line, packet, wanted in ((None, None, 1), ("set watch-filter off", None, 24),
                                 (None, "QThreadSuffixSupported", 24)):
        server = t.server("COMM", t.prog(PROG), "loop", "20")
        client = rsp.Client(server)
        client.ask("qSupported:swbreak+;hwbreak+")
        begin, flag = (symbol(t, PROG, name) for name in ("begin", "flag"))
        if line:
            client.monitor(line)
        if packet:
            t.equal(client.ask(packet), "", packet)
        t.equal(client.ask(f"Z0,{begin:x},1"), "OK", "begin")
        t.match("^T05", client.ask("vCont;c"), "begin")
        t.equal(client.ask(f"z0,{begin:x},1"), "OK", "begin")
        t.equal(client.ask(f"Z2,{flag:x},4"), "OK", "flag")
        t.equal(count_stops(client), (wanted, "W00"), f"stops, {line or packet}")
        client.close()
