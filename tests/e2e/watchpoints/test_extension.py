# SPDX-License-Identifier: BSD-2-Clause
"""gdb's extension, scripts/truehit-gdb.py, and the packet that it hands conditions of
watchpoints over by. What stops with it is what stops without."""
import os
import re
import subprocess

import dap
import harness
import mi
import rsp

SCRIPT = harness.ROOT / "scripts" / "truehit-gdb.py"
DECIDED = r"^truehit decides watchpoint"
# Conditions on local variables are left to gdb elsewhere.
LOCALS_ARE_DECIDED = os.uname().machine == "x86_64"


def both(t, commands, python, program="watched", arguments=(), decided=1):
    """The results of the same session with the extension and without. In the former
    decided() shows that truehit decides so many watchpoints."""
    results = []
    for extended in (True, False):
        server = t.server("COMM", t.prog(program), *arguments)
        gdb = t.gdb(server, *commands, prog=t.prog(program), python=python,
                    first=[f"source {SCRIPT}"] if extended else [])
        if extended:
            t.equal(len(re.findall(DECIDED, gdb.output(), re.M)), decided,
                    "number of watchpoints that truehit decides")
        results.append(gdb.results)
    t.equal(results[0], results[1], "results with the extension and without")
    return results[0]


STOPS = """
def story(limit=50):
    '''Every stop to the end: where, what gdb hit, and its variables' new values.'''
    found = []
    for _ in range(limit):
        text = run("continue")
        if not alive():
            break
        lines = [l for l in text.splitlines()
                 if l.startswith(("New value", "Hardware", "Value", "Watchpoint"))]
        hits = [(b.number, b.hit_count) for b in gdb.breakpoints() or ()]
        found.append([value("(unsigned long)$pc"), lines, hits])
    return found
def decided():
    try:
        gdb.execute("truehit breakpoints")
    except gdb.error:
        pass
"""


def simple(t, watch, stops, expression, decided=1):
    results = both(t, [f"break {t.line('watched.c', 'ROUND')}", "continue", "delete", watch],
                   STOPS + f"""
emit(before=value({expression!r}))
run("continue")
decided()
emit(stop=value({expression!r}))
emit(rest=story())
""", decided=decided)
    t.equal(results[1]["stop"], stops[0], f"{expression} at the stop")
    t.equal(len(results[2]["rest"]) >= len(stops) - 1, True, "the other stops")


def test_global(t):
    simple(t, "watch counter if counter == 70 || counter == 90", ["70", "90"], "counter")


def test_member(t):
    simple(t, "watch item.inner.depth if counter == '2'", ["100"], "item.inner.depth")


def test_element(t):
    simple(t, "watch array[2] if array[2] > 200 && array[2] < 207", ["201", "204"], "array[2]")


def test_location(t):
    simple(t, "watch -location item.inner.depth if item.inner.depth == 44", ["44"],
           "item.inner.depth")


def test_access(t):
    """gdb shows reads and writes in different ways."""
    simple(t, "awatch array[2] if array[2] == 30", ["30"], "array[2]", decided=0)


def test_read(t):
    """x86 has no watchpoints for reads alone: gdb leaves out accesses that change the
    value since the last one that it knows of."""
    t.need_x86()
    simple(t, "rwatch counter if counter == 10", ["10"], "counter", decided=0)


def test_filtered_in_the_kernel(t):
    """All that is false never reaches gdb."""
    t.need_kernel_conditions()
    server = t.server("COMM", t.prog("watched"), "10000")
    gdb = t.gdb(server, "break main", "continue", "delete",
                "watch counter if counter == 9999", "continue", "monitor breakpoints",
                prog=t.prog("watched"), first=[f"source {SCRIPT}"],
                python="emit(counter=value('counter'))")
    t.equal(gdb.results, [{"counter": "9999"}], "the stop")
    row = next(row for row in harness.breakpoint_rows(gdb.output())
               if row["text"].split()[1] == "watch")
    t.equal((row["hits"], row["true"]), (9999, 1), "hits and true ones")


def test_two_on_one_address(t):
    """gdb puts one in for both."""
    both(t, ["break main", "continue", "delete", "watch counter if counter == 20",
             "watch counter if counter % 40 == 1"],
         STOPS + "run('continue')\ndecided()\nemit(rest=story())", decided=2)


def test_one_without_condition(t):
    """One of two wants every hit."""
    both(t, ["break main", "continue", "delete", "watch counter if counter == 3", "watch counter"],
         STOPS + "emit(stops=[value('counter') for _ in range(5) if run('continue')])\n"
                 "decided()\n", decided=1)


def test_ignore_count(t):
    both(t, ["break main", "continue", "delete", "watch counter if counter % 10 == 0",
             "ignore 2 3"],
         STOPS + "run('continue')\ndecided()\nemit(counter=value('counter'), rest=story())")


def test_changes(t):
    """Conditions that are replaced, taken away and come back; a watchpoint that is
    disabled, and deleted."""
    results = both(t, ["break main", "continue", "delete"], STOPS + """
def go(*commands):
    for command in commands:
        run(command)
    run("continue")
    return value("counter")
found = [go("watch counter if counter == 10"), go("condition 2 counter == 20"),
         go("condition 2"), go("condition 2 counter == 30"),
         go("disable 2", "watch array[2] if counter == 40"),
         go("enable 2", "condition 2 counter == 50"), go("delete 2", "condition 3 counter == 60")]
decided()
emit(found=found)
emit(rest=story())
""")
    t.equal(results[0]["found"], ["10", "20", "21", "30", "40", "50", "60"], "stops")


def test_always_inserted(t):
    """gdb has no reason to put a watchpoint in again when its condition changes."""
    both(t, ["set breakpoint always-inserted on", "break main", "continue", "delete",
             "watch counter if counter == 10", "continue", "condition 2 counter == 20"],
         STOPS + """
emit(first=value("counter"))
run("continue")
decided()
emit(second=value("counter"), rest=story())
""")


def test_local(t):
    """Also what a callee writes; then the scope ends."""
    both(t, [f"break {t.line('watched.c', 'SCOPED')}", "continue", "delete",
             "watch local if local == 30 || local > 100"],
         STOPS + "run('continue')\ndecided()\nemit(local=value('local'), rest=story())",
         decided=LOCALS_ARE_DECIDED)


def test_local_condition(t):
    """In the innermost frame of its block, whichever that is."""
    both(t, [f"break {t.line('watched.c', 'DESCEND')}", "continue", "delete",
             "watch counter if level == 1"],
         STOPS + "run('continue')\ndecided()\nemit(level=value('level'), rest=story())",
         decided=LOCALS_ARE_DECIDED)


def test_recursion(t):
    """A local of one of several frames of its function."""
    both(t, [f"break {t.line('watched.c', 'DESCEND')}", "continue", "continue", "delete",
             "watch level if level > 2", "watch counter if counter > 102"],
         STOPS + "decided()\nemit(rest=story())", decided=1 + LOCALS_ARE_DECIDED)


def test_longjmp(t):
    """The frame goes without a return; gdb sees it at the next hit."""
    both(t, [f"break {t.line('watched.c', 'LEAP')}", "continue", "delete",
             "watch left[32] if left[32] == 132 && i < 40"],
         STOPS + "run('continue')\ndecided()\nemit(left=value('left[32]'), rest=story())",
         decided=LOCALS_ARE_DECIDED)


def test_left_to_gdb(t):
    """What gdb may have to watch elsewhere, or cannot compile."""
    both(t, [f"break {t.line('watched.c', 'ROUND')}", "continue", "delete",
             "watch *pointer if *pointer > 5", "set $never = 0", "watch counter if $never",
             "watch counter if $rip == 0",
             "watch array[2] if (double) counter > 70.5 && counter < 73"],
         STOPS + "decided()\nemit(rest=story())", decided=0)


def test_frames(t):
    """Names are those of the frame that the user has selected, which stays selected;
    nothing is evaluated that has side effects."""
    results = both(t, [f"break {t.line('watched.c', 'DESCEND')}", "continue", "continue",
                       "delete", "up", "watch counter if counter == 104"], STOPS + """
frames = [gdb.selected_frame().level()]
run("condition 2 level == 2")
frames.append(gdb.selected_frame().level())
run("watch array[counter++ & 1] if counter > 200")
run("delete 3")
emit(frames=frames, counter=value("counter"))
run("continue")
decided()
emit(rest=story())
""", decided=0)
    t.equal(results[0]["frames"], [1, 1], "the selected frame")


def test_set_before_connecting(t):
    both(t, [], STOPS + """
run("break main")
run("continue")
run("delete")
decided()
emit(rest=story())
""", decided=0)
    server = t.server("COMM", t.prog("watched"))
    gdb = t.gdb(server, "continue", "truehit breakpoints", prog=t.prog("watched"),
                first=[f"source {SCRIPT}", "watch counter if counter == 30"],
                python="emit(counter=value('counter'))")
    t.equal(gdb.results, [{"counter": "30"}], "the stop")
    t.match(DECIDED, gdb.output())


def test_sourced_late(t):
    """In which frame gdb read the condition cannot be known then."""
    server = t.server("COMM", t.prog("watched"))
    gdb = t.gdb(server, "break main", "continue", "watch counter if counter == 30",
                f"source {SCRIPT}", "continue", "truehit breakpoints",
                "condition 2 counter == 40", "continue", "truehit breakpoints",
                prog=t.prog("watched"), python="emit(counter=value('counter'))")
    t.equal(gdb.results, [{"counter": "40"}], "the stop")
    t.match(r"^gdb decides watchpoint 2", gdb.output())
    t.match(DECIDED, gdb.output())


def test_started_again(t):
    """In another process addresses may be others."""
    server = t.server("--multi", "COMM")
    gdb = t.gdb(server, f"set remote exec-file {t.prog('watched')}",
                "watch counter if counter == 30", "run", "truehit breakpoints",
                "set disable-randomization off", "run", "truehit breakpoints",
                prog=t.prog("watched"), first=[f"source {SCRIPT}"],
                connect="target extended-remote", python="emit(counter=value('counter'))")
    t.equal(gdb.results, [{"counter": "30"}], "the stop")
    t.equal(len(re.findall(DECIDED, gdb.output(), re.M)), 2, "decided")


def test_changes_while_running(t):
    """In all-stop mode no packet can be sent then: the user hears of it."""
    server = t.server("COMM", t.prog("watched"), "2000000000")
    gdb = t.gdb(server, "break main", "continue", "delete",
                "watch counter if counter == -1", "continue &", prog=t.prog("watched"),
                first=[f"source {SCRIPT}"], python="""
changed = run("condition 2 counter > 0")
emit(changed=changed, told=[len(told) for told in EXTENSION.servers.told.values()])
""")
    t.match(r"until the next stop", gdb.results[0]["changed"])
    t.equal(gdb.results[0]["told"], [1], "what truehit still has")


def test_forked_child(t):
    """It has its parent's conditions, which can be changed there alone."""
    server = t.server("COMM", t.prog("family"), "fork", "1")
    gdb = t.gdb(server, "break main", "continue", "delete", "set follow-fork-mode child",
                "watch worked if worked == 7", "catch fork", "continue",
                "break work", "continue", prog=t.prog("family"), first=[f"source {SCRIPT}"],
                python="""
emit(child=value("is_child"), table=run("truehit breakpoints"))
run("condition 2")
run("continue")
emit(worked=value("worked"))
""")
    t.equal(gdb.results[0]["child"], "1", "in the child")
    t.match(DECIDED, gdb.results[0]["table"])
    t.match(r"watch .*worked.* == 7", gdb.results[0]["table"])
    t.equal(gdb.results[1], {"worked": "1"}, "without a condition")


def test_mi(t):
    t.need_breakpoint_registers()
    server = t.server("COMM", t.prog("watched"))
    gdb = mi.Mi(t, f"source {SCRIPT}", prog=t.prog("watched"))
    gdb.connect(server)
    gdb.ask("-break-insert main")
    gdb.go()
    gdb.ask("-break-watch counter")
    gdb.ask("-break-condition 2 \"counter == 44\"")
    stop = gdb.go()
    t.equal((stop["reason"], stop["value"]["new"]), ("watchpoint-trigger", "44"), "the stop")
    t.match(r"^truehit decides watchpoint 2", gdb.command("truehit breakpoints"))
    gdb.close()


def test_dap(t):
    server = t.server("COMM", t.prog("watched"))
    editor = dap.Gdb(t, f"source {SCRIPT}")
    editor.begin("attach", {"target": server.address, "program": t.prog("watched")},
                 functions=[{"name": "main"}])
    editor.event("stopped")
    editor.go_on()
    editor.command("watch counter if counter == 44")
    editor.go_on()
    t.equal(editor.value("counter"), "44", "the stop")
    t.match(DECIDED, editor.command("truehit breakpoints"))


def test_other_server(t):
    """Another server is asked once, and all is as without the extension."""
    t.need_tool("gdbserver")
    outputs = []
    for first in ([f"source {SCRIPT}"], []):
        server = t.server("COMM", t.prog("watched"), program=["gdbserver"])
        log = t.dir / f"remote-{len(first)}"
        gdb = t.gdb(server, "break main", "continue", "delete",
                    "watch counter if counter == 10", "continue", "condition 2 counter == 20",
                    "continue", "delete", f"break {t.line('watched.c', 'SCOPED')}", "continue",
                    "watch local if local == 5", "continue", "info breakpoints",
                    prog=t.prog("watched"), first=[f"set remotelogfile {log}", *first],
                    python="emit(local=value('local'), counter=value('counter'))")
        lines = [line for line in gdb.output().splitlines() if "pid" not in line.lower()]
        outputs.append((gdb.results, lines))
        t.equal(log.read_text(errors="replace").count("QTruehit"), len(first), "packets to it")
    t.equal(outputs[0], outputs[1], "sessions with the extension and without")


# The assembler

EXPRESSIONS = """i == 5; i != -1; i > 3 && wide < 100; i < 2 || n > 50 || c == 7
    g_s8 < 0; g_u8 > 200; g_s16 == -5; g_u16 == 65535; g_s32 > 2147483647
    g_u32 >= 4294967295; g_s64 < -1; g_u64 > 0x123456789abc; s * 3 == 12; s / 3 == 1
    (unsigned short) n % 7 == 2; bits / 5 == 3; bits % 5 == 3; l % 9 == 4; i << 3 == 8
    bits >> 2 == 1; i >> 1 == -1; (i & 6) == 2; (i | 1) == 3; (i ^ 5) == 1; ~i == -3
    -i == -4; !i; g_array[3] == -1; g_array[i & 7] > 2; *g_pointer == 4
    g_pointer == &g_array[2]; g_text[1] == 98; g_bits.low == 3; g_bits.high < 0
    g_bits.middle + 1 == 4; i == 2 ? c > 0 : s > 0; (char) n == 3
    (unsigned long) l == 18446744073709551615; $rip == 0; $rax + 1 == 5; i, n == 3
    wide - 5 == 0; uc + c == 9; -2147483649 < i; i < 70000 && 255 > uc"""


def test_assembler(t):
    """The bytes are those that gdb sends for the condition of a breakpoint."""
    t.need_x86()
    server = t.server("COMM", t.prog("conditions"))
    log = t.dir / "remote"
    expressions = [e.strip() for e in EXPRESSIONS.replace("\n", ";").split(";")]
    gdb = t.gdb(server, f"break {t.line('conditions.c', 'BODY')}", "continue", "delete",
                "set breakpoint always-inserted on", prog=t.prog("conditions"),
                first=[f"source {SCRIPT}", f"set remotelogfile {log}"], python=f"""
codes = []
for expression in {expressions!r}:
    text = run("hbreak *$pc if " + expression)
    codes.append(assemble(compile_expression(expression)).hex())
    run("delete")
emit(codes=codes)
""")
    sent = re.findall(r"\$Z1,[0-9a-f]+,\d+;X[0-9a-f]+,([0-9a-f]+)",
                              log.read_text(errors="replace"))
    codes = gdb.results[0]["codes"]
    t.check(len(codes) >= 40, f"{len(codes)} expressions")
    for expression, ours, theirs in zip(expressions, codes, sent):
        t.equal(ours, theirs, expression)
    t.equal(len(sent), len(codes), "conditions in packets")


# The commands

def test_commands(t):
    server = t.server("COMM", t.prog("watched"))
    gdb = t.gdb(server, "break main", "continue", "delete", "break scoped if count == 3",
                "watch counter if counter % 10 == 0", prog=t.prog("watched"),
                first=[f"source {SCRIPT}"], python="""
run("continue")
emit(table=run("truehit breakpoints"), explained=run("truehit explain 3"),
     by_part=run("truehit explain 3.1"), by_symbol=run("truehit explain counter"),
     ignored=run("truehit ignore 3 2"), none=run("truehit explain 77"),
     bare=run("truehit count"), help=run("help truehit explain"),
     prefix=run("help truehit"), complete=run("complete truehit explain 3"),
     subcommands=[run("complete truehit " + c) for c in ("a", "b", "co", "ca", "e", "i")])
run("continue")
emit(counter=value("counter"), counted=run("truehit count 3"))
run("truehit count 3 off")
run("continue")
emit(counter=value("counter"))
""")
    first, second, third = gdb.results
    for key in ("explained", "by_part", "by_symbol"):
        t.match(r"watch .*counter", first[key], key)
    t.match(r"watch .*counter", first["table"])
    t.match(r"2 hits", first["ignored"])
    t.match(r"^error: .*77", first["none"])
    t.match(r"^error: ", first["bare"])
    t.match(r"^Usage: truehit explain LOCATION", first["help"])
    t.match(r"LOCATION", first["prefix"])
    t.equal(first["complete"], "truehit explain 3\n", "completion")
    t.equal(first["subcommands"], [f"truehit {c}\n" for c in
                                   ("accesses", "breakpoints", "count", "calls", "explain",
                                    "ignore")],
            "subcommands")
    t.equal(second["counter"], "40", "counter after what was ignored")
    t.equal(third["counter"], "50", "counter at the next stop")


def test_commands_without_truehit(t):
    gdb = t.gdb(None, first=[f"source {SCRIPT}", f"source {SCRIPT}"],
                python='emit(texts=[run(f"truehit {c}") for c in '
                       '("breakpoints", "explain main", "ignore main 3", "count main")])')
    for text in gdb.results[0]["texts"]:
        t.match(r"^error: .*no process", text)


# The packet

PACKET = "QTruehit.WatchCondition:"
NONE = "gdb sent no condition"
NEVER, ALWAYS = "X3,220027", "X3,220127"


def connect(t, program="watched", variable="counter"):
    """Server, client, and the variable's address in hex."""
    t.truehit_only("conditions handed over")
    server = t.server("COMM", t.prog(program))
    client = rsp.Client(server)
    t.match(r"QTruehit\.WatchCondition\+", client.ask("qSupported:multiprocess+"))
    client.ask("?")
    text = subprocess.run(["nm", t.prog(program)], capture_output=True, text=True,
                          check=True).stdout
    base = int(t.match(rf"^([0-9a-f]+) . {variable}$", text).group(1), 16)
    return server, client, f"{base + harness.LOADED_AT:x}"


def test_packet_errors(t):
    _, client, counter = connect(t)
    for arguments, reason in (
            (f"5,{counter},4;{NEVER}", "type 5"), ("2", "address"), (f"2,{counter}", "kind"),
            (f"2,{counter},4;X3,2200", "fewer"), (f"2,{counter},4;X1,ff", "condition 1"),
            (f"2,{counter},4;Y", "expected"), (f"2,{counter},4;cmds:0,{NEVER}", "command"),
            ("p;", "p"), ("pffff", "p"), (f"p7fffffff;2,{counter},4;{NEVER}", "")):
        t.match(rf"^E\..*{reason}", client.ask(PACKET + arguments), arguments)
    t.equal(client.ask(PACKET), "OK", "withdrawing what is not there")
    t.equal(client.ask(f"{PACKET}2,{counter},4"), "OK", "withdrawing one that is not there")
    t.equal(client.ask("QTruehit.Watch:"), "", "an unknown packet")


def condition(client, process=""):
    """That of the one location, as `monitor breakpoints` shows it: after the counts."""
    row, = (row for row in harness.breakpoint_rows(client.monitor("breakpoints"))
            if str(process) in row["text"].split(" watch ")[0])
    return re.search(r"(?:[\d,]+ +){5}(.*)$", row["text"] + " ").group(1).strip()


def test_packet(t):
    """Ahead of the watchpoint, and after it; a condition of its own goes before."""
    _, client, counter = connect(t)

    def send(packet, wanted):
        t.equal(client.ask(packet), "OK", packet)
        t.equal(condition(client), wanted, f"condition after {packet}")
    t.equal(client.ask(f"{PACKET}2,{counter},4;{NEVER}"), "OK", "handed over")
    send(f"Z2,{counter},4", "0")
    send(f"{PACKET}2,{counter},4;{ALWAYS}", "1")
    send(f"{PACKET}2,{counter},4;{ALWAYS}{NEVER}", "1 || 0")
    send(f"{PACKET}2,{counter},4", NONE)
    send(f"{PACKET}2,{counter},2;{NEVER}", NONE)
    send(f"{PACKET}4,{counter},4;{NEVER}", NONE)
    send(f"Z2,{counter},4;{ALWAYS}", "1")
    send(f"{PACKET}2,{counter},4;{NEVER}", "1")
    send(PACKET, "1")
    send(f"Z2,{counter},4", NONE)
    t.match("^T05.*watch:", client.ask("vCont;c"))


def test_packet_inherited(t):
    """By a forked child, of which the packet can name the process."""
    server, client, calls = connect(t, "fork", "calls")
    key = f"2,{calls},4"
    client.ask("qSupported:multiprocess+;fork-events+")
    t.equal(client.ask(f"{PACKET}p{server.inferior():x};{key};{NEVER}"), "OK", "handed over")
    stop = client.ask("vCont;c")
    child = t.match(r"^T05.*fork:(p([0-9a-f]+)\.[0-9a-f]+);", stop)
    t.equal(client.ask(f"Hg{child.group(1)}"), "OK", "the child")
    t.equal(client.ask(f"Z2,{key[2:]}"), "OK", "Z2 in the child")
    t.equal(condition(client), "0", "condition in the child")
    t.equal(client.ask(f"{PACKET}p{child.group(2)};"), "OK", "withdrawn in the child")
    t.equal(condition(client), NONE, "condition in the child")
    t.equal(client.ask(f"Hgp{server.inferior():x}.{server.inferior():x}"), "OK", "the parent")
    t.equal(client.ask(f"Z2,{key[2:]}"), "OK", "Z2 in the parent")
    t.equal(condition(client, server.inferior()), "0", "condition in the parent")


def test_packet_forgotten(t):
    """With the client."""
    server, client, counter = connect(t)
    t.equal(client.ask(f"{PACKET}2,{counter},4;{NEVER}"), "OK", "handed over")
    client.close()
    client = rsp.Client(server)
    client.ask("?")
    t.equal(client.ask(f"Z2,{counter},4"), "OK", "Z2")
    t.match("^T05.*watch:", client.ask("vCont;c"))


def test_dprintf_by_number(t):
    """gdb's Python does not list dprintfs; their numbers are taken all the same."""
    t.truehit_only("commands of the extension")
    where = t.line("loop.c", "BODY")
    for style in ("gdb", "agent"):
        server = t.server("COMM", t.prog("loop"), "6")
        gdb = t.gdb(server, f"set dprintf-style {style}", "set breakpoint always-inserted on",
                    "break main", "continue", f'dprintf {where},"i is 0x10 %d\\n", i',
                    prog=t.prog("loop"), first=[f"source {SCRIPT}"], python="""
emit(explained=run("truehit explain 2"), part=run("truehit explain 2.1"), none=run("truehit explain 77"),
     complete=run("complete truehit explain 2"))
emit(ignored=run("truehit ignore 2 2"))
gdb.execute("continue")
""")
        first, second = gdb.results
        t.match(r"^Location \d+: break \*0x", first["explained"])
        t.equal(len(re.findall("^Location ", first["explained"], re.M)), 1, "locations")
        t.equal(first["part"], first["explained"], "what is said of its only location")
        t.match(r"No breakpoint number 77\.", first["none"])
        t.match(r"^truehit explain 2$", first["complete"])
        t.match(r"2 hits", second["ignored"])
        t.equal(re.findall(r"^i is 0x10 (\d+)", gdb.output(), re.M), ["2", "3", "4", "5"],
                f"lines of a dprintf in {style} style")
