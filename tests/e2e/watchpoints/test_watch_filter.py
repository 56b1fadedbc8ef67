# SPDX-License-Identifier: BSD-2-Clause
"""Watchpoints and writes that change nothing: gdb shows what it shows without the filter."""
import os
import random
import re

import harness
import rsp
from test_nonstop import NonStop
from test_protocol import symbol
from test_rights import ordinary_user

PROG = "rewrite"
VALUES = r"Old value = (\S+)\s+New value = (\S+)"
AHEAD = os.uname().machine == "aarch64"  # hits come before the access


def needs_values(t):
    if AHEAD:
        t.skip("hits come before the access: only a program knows what is stored")


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
        t.counted(counts, false=rounds)


def test_same_value_without_rights(t):
    """The stub compares."""
    needs_values(t)
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


def owned(t, writes, *commands, user=False):
    """The values shown of a local variable that another thread writes, too."""
    server, prog = start(t, "owned", *writes, user=user)
    gdb = t.gdb(server, f"break {t.line('rewrite.c', 'OWNED')}", "continue", "delete", *commands,
                "watch mine", *["continue"] * (len(writes) + 1), prog=prog)
    return values(gdb)


def test_local_of_another_thread(t):
    """gdb ignores what other threads write, and remembers what it was before."""
    for user in False, True:
        got = owned(t, ["+5", "5", "5", "+3", "5", "3", "+4", "+3", "3", "+6", "+6", "6"],
                    user=user)
        t.equal(got, [("7", "5"), ("5", "3"), ("3", "6")], f"without rights: {user}")


def test_local(t):
    """What gdb reads of the stack, it reads in larger pieces."""
    server, prog = start(t, "owned", *["5"] * 30, "6")
    gdb = t.gdb(server, f"break {t.line('rewrite.c', 'OWNED')}", "continue", "delete", "watch mine",
                "continue", "continue", "monitor breakpoints", prog=prog)
    t.equal(values(gdb), [("7", "5"), ("5", "6")], "old and new values")
    if not t.config.reference:
        row, = (r for r in harness.breakpoint_rows(gdb.output()) if " watch " in r["text"])
        t.equal(row["true"], 2, "hits that gdb was told of")


def test_random_local(t):
    """As without the filter."""
    t.truehit_only("a value filter")
    chance = random.Random(7)
    for _ in range(2):
        writes = [chance.choice(("", "+")) + str(chance.randrange(3)) for _ in range(30)]
        wanted = owned(t, writes, "monitor set watch-filter off")
        t.check(wanted, f"nothing is shown for {writes}")
        t.equal(owned(t, writes), wanted, f"values for {writes}")


def at_loop(t, line=None, packet=None, condition=""):
    """A client at the beginning of the loop, with a watchpoint; where its variable is."""
    server = t.server("COMM", t.prog(PROG), "loop", "20")
    client = rsp.Client(server)
    client.ask("qSupported:swbreak+;hwbreak+")
    begin, flag = (symbol(t, PROG, name) for name in ("begin", "flag"))
    if line:
        client.monitor(line)
    if packet:
        t.equal(client.ask(packet), "OK", packet)
    t.equal(client.ask(f"Z0,{begin:x},1"), "OK", "begin")
    t.match("^T05", client.ask("vCont;c"), "begin")
    t.equal(client.ask(f"z0,{begin:x},1"), "OK", "begin")
    t.equal(client.ask(f"Z2,{flag:x},4{condition}"), "OK", "flag")
    return server, client, flag


def check_what_was_shown(t, condition):
    server, client, flag = at_loop(t, condition=condition)

    def poke(value):
        with open(f"/proc/{server.inferior()}/mem", "r+b", buffering=0) as memory:
            memory.seek(flag)
            memory.write(value.to_bytes(4, "little"))

    def read():
        return int.from_bytes(bytes.fromhex(client.ask(f"m{flag:x},4")), "little")

    t.match("^T05.*watch:", client.ask("vCont;c"), "7 -> 8")
    poke(5)
    t.equal(read(), 5, "what is shown")
    poke(8)
    t.match("^T05.*watch:", client.ask("vCont;c"), "5 -> 8")
    t.equal(read(), 8, "what is shown")
    t.equal(client.ask("vCont;c"), "W00", "the end")


def test_what_the_client_was_shown(t):
    """Something changes memory without a hit, just while the client looks at it."""
    t.truehit_only("a value filter")
    needs_values(t)
    check_what_was_shown(t, "")
    check_what_was_shown(t, ";X3,220127")  # const8 1; end


def running_loop(t):
    """The loop runs in non-stop mode and has got a watchpoint meanwhile. The client
    hears of its first hit, as it may remember what was there before."""
    n = NonStop(t, "loop", str(10 ** 9), path=t.prog(PROG))
    flag = n.symbol("flag")
    n.fetch(n.ask("?"))
    n.expect("OK", "vCont;c")
    n.expect("OK", f"Z2,{flag:x},4")
    thread = n.notified()[0][1]
    n.expect("OK", f"Hg{thread}")
    if AHEAD:
        n.expect("OK", f"z2,{flag:x},4")
        n.expect("OK", f"vCont;s:{thread}")
        n.notified()
        n.expect("OK", f"Z2,{flag:x},4")
    n.expect("07000000", f"m{flag:x},4")
    n.expect("OK", f"vCont;c:{thread}")
    return n


def test_set_while_the_program_runs(t):
    if AHEAD:
        t.skip("hits come before the access: in non-stop mode, each is told")
    n = running_loop(t)
    if t.config.reference:
        return

    def counts():
        return t.counts(n.client.monitor("breakpoints"))
    harness.wait_for(lambda: counts()["hits"] > 100, "hits")
    t.equal(counts()["true"], 1, "hits that were told")


def test_counts_while_the_program_runs(t):
    """A hit that comes while they are read is none that was missed."""
    t.truehit_only("counts of hits")
    n = running_loop(t)
    for _ in range(200):
        t.no_match("missed", n.client.monitor("breakpoints"), "monitor breakpoints")


def count_stops(client, flag):
    """To the end of the program, looking at the variable as gdb does."""
    count = 0
    while True:
        stop = client.ask("vCont;c")
        if not stop.startswith("T05"):
            return count, stop
        if AHEAD:
            client.ask(f"z2,{flag:x},4")
            client.ask("vCont;s")
            client.ask(f"Z2,{flag:x},4")
        client.ask(f"m{flag:x},4")
        count += 1


def test_every_write(t):
    """For those who want it: by a switch, or as lldb."""
    t.truehit_only("a value filter")
    for line, packet, wanted in ((None, None, 1), ("set watch-filter off", None, 24),
                                 (None, "QThreadSuffixSupported", 24)):
        _, client, flag = at_loop(t, line, packet)
        t.equal(count_stops(client, flag), (wanted, "W00"), f"stops, {line or packet}")
        client.close()
