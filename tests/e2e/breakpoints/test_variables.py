# SPDX-License-Identifier: BSD-2-Clause
"""Trace state variables in conditions. gdb gives them numbers, and asks for their
values; it evaluates a condition that sets one by the server alone."""
import re

import harness
import rsp

N = "tvariable $n"


def test_a_condition_counts(t):
    t.truehit_only("trace state variables without tracepoints")
    path = t.prog("loop")
    gdb = t.gdb(t.server(path, "100"), N,
                f"break {t.line('loop.c', 'BODY')} if ($n = $n + 1) % 10 == 3",
                prog=path, python="emit(stops=stops(['i', '$n'], 20))")
    t.equal([row[1:3] for row in gdb.results[0]["stops"]],
            [[str(i), str(i + 1)] for i in range(2, 100, 10)], "i and $n at the stops")


def test_one_breakpoint_arms_another(t):
    """The first only sets the variable, and never stops. (Of a plain `i` gdb would have
    the address assigned.)"""
    t.truehit_only("trace state variables without tracepoints")
    path = t.prog("threads")
    where = t.line("threads.c", "BODY")
    gdb = t.gdb(t.server(path, "1", "100"), "tvariable $other", "tvariable $armed",
                f"break {t.line('threads.c', 'DONE')}",
                f"break {where} if i == 50 && ($armed = i + 0) == 0",
                "break *(&body + 0) if $armed > 0", prog=path, python='''
run("continue")
emit(i=value("$rsi") if "rsi" in run("info registers") else None, armed=value("$armed"),
     other=run("print $other"))
''')
    found = gdb.results[0]
    t.equal(found["armed"], "50", "$armed")
    t.check(found["i"] in (None, "51"), f"the stop is at i = 51, not {found['i']}")
    t.match("void", found["other"], "a variable that nothing mentions")


def test_threads_count_exactly(t):
    t.truehit_only("trace state variables without tracepoints")
    path = t.prog("threads")
    hits = t.quick(2000, 50)
    gdb = t.gdb(t.server(path, "8", str(hits)), N,
                f"break {t.line('threads.c', 'BODY')} if ($n = $n + 1) < 0",
                f"break {t.line('threads.c', 'DONE')}", "continue", prog=path,
                python="emit(n=value('$n'))")
    t.equal(gdb.results[0]["n"], str(8 * hits), "$n")


def test_processes_share_them(t):
    """Of 12 passes the child makes 10; the last one is the parent's second."""
    t.truehit_only("trace state variables without tracepoints")
    path = t.prog("fork")
    gdb = t.gdb(t.server(path), "set detach-on-fork off", "set schedule-multiple on", N,
                f"break {t.line('fork.c', 'BODY')} if ($n = $n + 1) == 12", prog=path,
                python="""
for _ in range(3):
    run("inferior 1")
    run("continue")
    if isinstance(events.stop, gdb.BreakpointEvent):
        break
emit(stopped=[gdb.selected_inferior().num, value("calls"), value("$n")])
""")
    t.equal(gdb.results[0]["stopped"], [1, "1", "12"], "inferior, calls and $n")


def test_more_than_a_program_takes(t):
    """The stub evaluates these, and the kernel others at the same time."""
    t.truehit_only("trace state variables without tracepoints")
    path = t.prog("loop")
    names = [f"$var{i}" for i in range(9)]
    many = " && ".join(f"({name} = {name} + 1) > 0" for name in names)
    gdb = t.gdb(t.server(path, "60"), *(f"tvariable {name}" for name in names),
                f"break {t.line('loop.c', 'BODY')} if {many} && $var0 == 50 + $var1 - $var8",
                "tbreak main", "continue", "continue", "print i", "print $var0", "print $var8",
                "monitor breakpoints", prog=path)
    output = gdb.output()
    for number, wanted in enumerate((49, 50, 50), 1):
        t.match(rf"^\${number} = {wanted}$", output)


def test_by_traps(t):
    """All hardware slots are taken."""
    t.truehit_only("trace state variables without tracepoints")
    path = t.prog("loop")
    gdb = t.gdb(t.server(path, "60"), N,
                *(f"hbreak {t.line('loop.c', f'NEVER{i}')}" for i in (1, 2, 3)),
                "watch other", f"break {t.line('loop.c', 'BODY')} if ($n = $n + 1) == 20",
                "continue", "print i", "print $n", "monitor breakpoints", prog=path)
    t.match(r"^\$1 = 19$", gdb.output())
    t.match(r"^\$2 = 20$", gdb.output())


def test_commands_see_what_the_condition_sets(t):
    t.truehit_only("trace state variables without tracepoints")
    server = t.server("COMM", t.prog("loop"), "50")
    gdb = t.gdb(server, N, f'dprintf {t.line("loop.c", "BODY")},"i=%ld n=%ld\\n", i, $n',
                "condition 1 ($n = $n + 1) % 10 == 0", "continue", prog=t.prog("loop"),
                first=("set dprintf-style agent",))
    t.equal(server.wait(), 0, "exit status of the server")
    t.equal(re.findall(r"^i=(\d+) n=(\d+)$", gdb.output(), re.M),
            [(str(n - 1), str(n)) for n in range(10, 51, 10)], "lines")


def test_commands_read_more_variables(t):
    """One that no condition uses: the kernel captures it, too."""
    t.need_kernel_conditions()
    path = t.prog("threads")
    gdb = t.gdb(t.server(path, "4", "100"), "tvariable $n", "tvariable $m",
                "monitor set variable 2 7",
                f'dprintf {t.line("threads.c", "BODY")},"%ld of %ld\\n", $n, $m',
                "condition 1 ($n = $n + 1) % 100 == 0",
                f"break {t.line('threads.c', 'DONE')}", "continue",
                "monitor breakpoints", prog=path, first=("set dprintf-style agent",))
    t.equal(re.findall(r"^(\d+) of 7$", gdb.output(), re.M), ["100", "200", "300", "400"],
            "lines")
    row = next(row for row in harness.breakpoint_rows(gdb.output())
               if "of %ld" in row["text"])
    t.equal((row["hits"], row["true"]), (400, 4), "hits")
    t.no_match("trace state variables", row["text"])


def test_commands_set_variables(t):
    t.truehit_only("trace state variables without tracepoints")
    server = t.server("COMM", t.prog("loop"), "5")
    gdb = t.gdb(server, N, f'dprintf {t.line("loop.c", "BODY")},"n=%ld\\n", ($n = $n + 2)',
                "continue", prog=t.prog("loop"), first=("set dprintf-style agent",))
    t.equal(server.wait(), 0, "exit status of the server")
    t.equal(re.findall(r"^n=(\d+)$", gdb.output(), re.M), ["2", "4", "6", "8", "10"],
            "lines")


def value_of(client, number):
    reply = client.ask(f"qTV:{number:x}")
    return int(reply[1:], 16) if reply.startswith("V") else reply


def refused(t, client, packet):
    t.match(r"^E", client.ask(packet), f"reply to {packet}")


def test_packets(t):
    t.truehit_only("trace state variables without tracepoints")
    client = rsp.Client(t.server(t.prog("loop"), "10"))
    t.equal(value_of(client, 1), "U", "a variable that does not exist")
    t.equal(client.ask("QTDV:1:fffffffffffffffe:0:" + b"n".hex()), "OK", "QTDV")
    t.equal(value_of(client, 1), 2 ** 64 - 2, "its value")
    t.equal(client.ask("QTDV:ffff:7"), "OK", "QTDV as it was once")
    t.equal(value_of(client, 0xffff), 7, "its value")
    for packet in ("QTDV:", "QTDV:1", "QTDV:10000:0:0:61", "QTDV:1:2:", "QTDV:1:2:0",
                   "QTDV:1:2:0:6", "QTDV:1:2:0:zz", "QTDV:1:2:0:6100", "QTDV:-1:2:0:61",
                   "QTDV:1:10000000000000000:0:61", "qTV:", "qTV:10000", "qTV:1x"):
        refused(t, client, packet)
    t.equal(value_of(client, 1), 2 ** 64 - 2, "the value after what was refused")
    for packet in ("QTDP:1:1000:E:0:0", "qTStatus", "QTinit", "QTStart"):
        t.equal(client.ask(packet), "", f"reply to {packet}: tracepoints")


def test_too_many(t):
    t.truehit_only("trace state variables without tracepoints")
    client = rsp.Client(t.server(t.prog("loop"), "10"))
    for number in range(256):
        t.equal(client.ask(f"QTDV:{number:x}:0:0:61"), "OK", "QTDV")
    refused(t, client, "QTDV:100:0:0:61")
    t.match("^E.*256 trace state variables", client.ask("Z0,1000,1;X4,2c010027"),
            "a condition that uses one more")


def test_the_next_client_finds_none(t):
    t.truehit_only("trace state variables without tracepoints")
    server = t.server("--multi", "COMM", t.prog("loop"), "10")
    client = rsp.Client(server)
    t.equal(client.ask("QTDV:1:5:0:61"), "OK", "QTDV")
    client.close()
    client = rsp.Client(server)
    t.equal(value_of(client, 1), "U", "the variable of the client that has gone")


def test_monitor(t):
    t.truehit_only("monitor variables")
    path = t.prog("loop")
    gdb = t.gdb(t.server(path, "100"), N, "monitor variables",
                f"break {t.line('loop.c', 'BODY')} if ($n = $n + 1) == 50",
                "tbreak main", "continue", "monitor set variable 1 40", "continue",
                "print i", "print $n", "monitor variables", "monitor set variable 1 x",
                "monitor set variable 70000 1", prog=path)
    output = gdb.output()
    t.match("^No trace state variables", output)
    t.match(r"^\$1 = 9$", output)
    t.match(r"^\$2 = 50$", output)
    t.match(r"^1 +0 +50", output)
    t.equal(len(re.findall("set variable takes two numbers", output)), 2, "refusals")
