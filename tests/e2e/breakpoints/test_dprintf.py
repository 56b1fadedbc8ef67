# SPDX-License-Identifier: BSD-2-Clause
"""Commands that run in the server at a breakpoint: dprintf in agent style."""
import os
import re
import signal

import harness
import rsp

AGENT = ("set dprintf-style agent",)
EXTENSION = f"source {harness.ROOT / 'scripts' / 'truehit-gdb.py'}"


def lines(output, regex):
    return re.findall(f"^{regex}$", output, re.M)


def line_after(t, file, mark):
    file, number = t.line(file, mark).split(":")
    return f"{file}:{int(number) + 1}"


def console(t, server, gdb):
    """What is printed while a client is there: in its console; gdbserver has its own."""
    return (server if t.config.reference else gdb).output()


@harness.machines("main", "small")
def test_every_hit_prints_and_none_stops(t):
    server = t.server("COMM", t.prog("loop"), "200")
    where = t.line("loop.c", "BODY")
    gdb = t.gdb(server, f'dprintf {where},"i=%ld of %ld\\n", i, iterations', "continue",
                prog=t.prog("loop"), first=AGENT)
    t.match(r"exited normally", gdb.output())
    t.equal(server.wait(), 0, "exit status of the server")
    t.equal(lines(console(t, server, gdb), r"i=(\d+) of 200"),
            [str(i) for i in range(200)], "lines")
    t.no_match(r"i=\d+ of", (gdb if t.config.reference else server).output(),
               "the other's output")


def test_no_line_is_lost(t):
    t.truehit_only("console of gdb's")
    count = t.quick(100000, 10000)
    server = t.server("COMM", t.prog("lines"), count)
    gdb = t.gdb(server, 'dprintf line,"line %ld\\n", number', "continue",
                prog=t.prog("lines"), first=AGENT)
    t.match(r"exited with code 07", gdb.output())
    t.equal(lines(gdb.output(), r"line (\d+)"), [str(i) for i in range(count)], "lines")


def test_a_million_lines(t):
    """The program does not stop for them: it is the kernel that runs the commands."""
    t.truehit_only("console of gdb's")
    t.need_kernel_conditions()
    count = t.quick(1000000, 10000)
    server = t.server("COMM", t.prog("loop"), str(count))
    gdb = t.gdb(server, f'dprintf {t.line("loop.c", "BODY")},"i=%ld\\n", i',
                f"tbreak {t.line('loop.c', 'AFTER')}", "continue",
                "monitor breakpoints", "continue", prog=t.prog("loop"), first=AGENT)
    t.equal(lines(gdb.output(), r"i=(\d+)"), [str(i) for i in range(count)], "lines")
    t.match(r"(perf_event|uprobe) +kernel(; commands of \d+ hits by the stub)? "
            rf"+{count:,} +0 +{count:,} ", gdb.output())


def test_threads_print_in_their_order(t):
    server = t.server("COMM", t.prog("threads"), "4", "20000")
    gdb = t.gdb(server, f'dprintf {t.line("threads.c", "BODY")},"<%d %d>\\n", id, i',
                "continue", prog=t.prog("threads"), first=AGENT)
    server.wait()
    found = [[] for _ in range(4)]
    for id_, i in re.findall(r"<(\d+) (\d+)>", console(t, server, gdb)):
        found[int(id_)].append(int(i))
    for thread in range(4):
        t.equal(found[thread], list(range(20000)), f"thread {thread}")


def test_lines_that_only_the_stub_can_print(t):
    """Long strings, between others that the kernel takes: one order."""
    long = "x" * 1000
    server = t.server("COMM", t.prog("loop"), "600", long)
    gdb = t.gdb(server, f'dprintf {t.line("loop.c", "BODY")},"i=%ld <%s>\\n", '
                "i, argv[1 + i / 7 % 2]", "continue", prog=t.prog("loop"), first=AGENT)
    server.wait()
    t.equal(lines(console(t, server, gdb), r"i=\d+ <(?:600|x+)>"),
            [f"i={i} <{long if i // 7 % 2 else 600}>" for i in range(600)], "lines")


def test_other_commands_for_the_same_place(t):
    server = t.server("COMM", t.prog("lines"), "20")
    gdb = t.gdb(server, 'dprintf line,"a=%ld\\n", number',
                f"tbreak {line_after(t, 'lines.c', 'LINE')} if number == 9", "continue",
                "delete", 'dprintf line,"b=%ld\\n", number + 1', "continue",
                prog=t.prog("lines"), first=AGENT)
    server.wait()
    t.equal(lines(console(t, server, gdb), r"([ab]=\d+)"),
            [f"a={i}" for i in range(10)] + [f"b={i + 1}" for i in range(10, 20)], "lines")


def test_forked_children(t):
    """A child that gdb follows prints from its first instruction on; one that is let go
    does not."""
    where = t.line("fork.c", "BODY")
    for follow, wanted in ("child", range(11)), ("parent", (0, 1)):
        server = t.server("COMM", t.prog("fork"))
        gdb = t.gdb(server, f'dprintf {where},"calls=%d\\n", calls',
                    f"set follow-fork-mode {follow}", "continue", prog=t.prog("fork"),
                    first=AGENT)
        server.wait()
        t.equal(lines(console(t, server, gdb), r"calls=(\d+)"), [str(i) for i in wanted],
                f"lines of the {follow}")


def test_ctrl_c(t):
    """All lines until the stop, and then the others."""
    t.truehit_only("console of gdb's")
    server = t.server("COMM", t.prog("lines"), "1000000000")
    gdb = t.gdb(server, 'dprintf line,"line %ld\\n", number', prog=t.prog("lines"),
                first=AGENT, python=f"""
for _ in range(2):
    interrupt_after({0.5 * harness.PATIENCE})
    print(run("continue"))
    emit(signal=getattr(events.stop, "stop_signal", None))
run("kill")
""")
    t.equal([r["signal"] for r in gdb.results], ["SIGINT"] * 2, "stops")
    found = lines(gdb.output(), r"line (\d+)")
    t.check(len(found) > 2, "there are lines")
    t.equal(found, [str(i) for i in range(len(found))], "lines")


def test_two_programs(t):
    t.truehit_only("console of gdb's")
    server = t.server("--multi", "COMM")
    lines_, loop = t.prog("lines"), t.prog("loop")
    gdb = t.gdb(server, f"set remote exec-file {lines_}", "set args 200", "break main",
                "run", "add-inferior", "inferior 2", f"file {loop}",
                f"set remote exec-file {loop}", "set args 300", "run", "delete",
                'dprintf line,"line %ld\\n", number',
                f'dprintf {t.line("loop.c", "BODY")},"loop %ld\\n", i',
                "set schedule-multiple on", "continue", "inferior 1", "continue",
                "inferior 2", "continue",
                prog=lines_, connect="target extended-remote", first=AGENT)
    t.equal(lines(gdb.output(), r"line (\d+)"), [str(i) for i in range(200)], "lines")
    t.equal(lines(gdb.output(), r"loop (\d+)"), [str(i) for i in range(300)], "loops")


def test_non_stop(t):
    """There is no way to gdb's console then."""
    server = t.server("COMM", t.prog("lines"), "1000")
    gdb = t.gdb(server, 'dprintf line,"line %ld\\n", number', "continue",
                prog=t.prog("lines"), first=(*AGENT, "set non-stop on"))
    t.match(r"exited with code 07", gdb.output())
    t.equal(lines(server.output(), r"line (\d+)"), [str(i) for i in range(1000)], "lines")
    t.equal(lines(gdb.output(), r"line (\d+)"), [], "lines in gdb's console")


def test_values_are_those_of_gdb(t):
    """The same dprintf twice: in gdb's own style, and by the server."""
    where = t.line("conditions.c", "BODY")
    command = (f'dprintf {where},"got %d %hd %5u %#lx %lld %-6x| %c %03o %p %%\\n", '
               "g_s8, g_s16, g_u32, g_u64, g_s64, g_u16, n + 48, g_u8, &g_u8")
    outputs = []
    for style in "gdb", "agent":
        server = t.server("COMM", t.prog("conditions"))
        gdb = t.gdb(server, command, "continue", prog=t.prog("conditions"),
                    first=(f"set dprintf-style {style}",))
        t.equal(server.wait(), 0, "exit status of the server")
        shown = gdb.output() if style == "gdb" else console(t, server, gdb)
        outputs.append(lines(shown, r"got .*"))
    t.check(len(outputs[0]) > 50, "there is something to compare")
    t.equal(outputs[1], outputs[0], "lines by the server")


def test_strings(t):
    server = t.server("COMM", t.prog("loop"), "3")
    where = t.line("loop.c", "BODY")
    gdb = t.gdb(server, f'dprintf {where},"<%s> <%4s> <%-3s> <%.1s> <%s>\\n", '
                "argv[0], argv[1], argv[1], argv[0], argv[2]", "continue",
                prog=t.prog("loop"), first=AGENT)
    t.equal(server.wait(), 0, "exit status of the server")
    t.equal(lines(console(t, server, gdb), "<.*>"),
            [f"<{t.prog('loop')}> <   3> <3  > </> <(null)>"] * 3, "lines")


def test_condition_and_command(t):
    server = t.server("COMM", t.prog("loop"), "1000")
    where = t.line("loop.c", "BODY")
    gdb = t.gdb(server, f'dprintf {where},"i=%ld\\n", i', "condition 1 i % 100 == 7",
                "tbreak main", "continue", "continue", "monitor breakpoints",
                prog=t.prog("loop"), first=AGENT)
    t.match(r"exited normally", gdb.output())
    t.equal(lines(console(t, server, gdb), r"i=(\d+)"),
            [str(i) for i in range(7, 1000, 100)], "lines")


def test_several_dprintfs_at_one_place(t):
    server = t.server("COMM", t.prog("loop"), "5")
    where = t.line("loop.c", "BODY")
    gdb = t.gdb(server, f'dprintf {where},"a=%ld\\n", i',
                f'dprintf {where},"b=%ld\\n", count', "continue", prog=t.prog("loop"),
                first=AGENT)
    t.equal(server.wait(), 0, "exit status of the server")
    t.equal(lines(console(t, server, gdb), r"([ab]=\d)"),
            [f"{name}={i}" for i in range(5) for name in "ab"], "lines in order")


def test_a_breakpoint_at_the_same_place_stops(t):
    server = t.server("COMM", t.prog("loop"), "20")
    where = t.line("loop.c", "BODY")
    gdb = t.gdb(server, f'dprintf {where},"i=%ld\\n", i', f"break {where} if i == 10",
                "continue", "print i", prog=t.prog("loop"), first=AGENT)
    t.match(r"^\$1 = 10$", gdb.output())


def test_threads(t):
    server = t.server("COMM", t.prog("threads"), "8", "100")
    where = t.line("threads.c", "BODY")
    gdb = t.gdb(server, f'dprintf {where},"<%d %d>\\n", id, i', "continue",
                prog=t.prog("threads"), first=AGENT)
    t.equal(server.wait(), 0, "exit status of the server")
    found = re.findall(r"<(\d+) (\d+)>", console(t, server, gdb))
    for thread in range(8):
        t.equal([int(i) for id_, i in found if int(id_) == thread], list(range(100)),
                f"thread {thread}, in its order")


def test_unreadable_argument(t):
    """It is told, and the program goes on."""
    server = t.server("COMM", t.prog("loop"), "2")
    where = t.line("loop.c", "BODY")
    gdb = t.gdb(server, f'dprintf {where},"%d\\n", *(int *)i', "continue",
                prog=t.prog("loop"), first=AGENT)
    t.match(r"exited normally", gdb.output())
    t.match(r"command 1 of break \*0x[0-9a-f]+ failed: .*cannot read 4 bytes at 0x1",
            server.output(), "the server's output")


def test_what_is_refused_is_explained(t):
    t.truehit_only("words for it")
    client = rsp.Client(t.server("COMM", t.prog("loop")))
    for text, why in {
            b"%ls": "command 1: offset 6: printf: format, byte 0: 's' with a size is not supported",
            b"a%n": "command 1: offset 6: printf: format, byte 1: storing is not supported",
            b"a": "command 1: offset 6: printf: 1 arguments for 0 directives"}.items():
        code = (b"\x22\1\x22\0\x22\0\x34\1" + bytes([0, len(text) + 1]) + text + b"\0\x27")
        t.equal(client.ask(f"Z0,1000,1;cmds:0,X{len(code):x},{code.hex()}"),
                f"E.{why}", f"reply for {text}")


def test_stepping_onto_the_place(t):
    server = t.server("COMM", t.prog("loop"), "4")
    where = t.line("loop.c", "BODY")
    gdb = t.gdb(server, f'dprintf {where},"i=%ld\\n", i', "break main", "continue",
                python='''
for _ in range(400):
    text = run("next")
    print(text)
    if "count++" in text:
        break
print(run("next"))
print(run("continue"))
''', prog=t.prog("loop"), first=AGENT)
    t.equal(server.wait(), 0, "exit status of the server")
    t.equal(lines(console(t, server, gdb), r"i=(\d)"), list("0123"), "lines")


def test_table_shows_commands(t):
    t.truehit_only("monitor breakpoints")
    server = t.server("COMM", t.prog("loop"), "3")
    where = t.line("loop.c", "BODY")
    gdb = t.gdb(server, "set breakpoint always-inserted on",
                f'dprintf {where},"i=%ld\\n", i', "monitor breakpoints",
                prog=t.prog("loop"), first=AGENT)
    t.match(r'printf "i=%ld\\n", \(s64\)\$\w+\[', gdb.output())


def test_output_stays_out_of_a_stdio_connection(t):
    where = t.line("loop.c", "BODY")
    gdb = t.gdb(None, f"target remote | exec {t.config.server} --once - {t.prog('loop')} 3",
                f'dprintf {where},"i=%ld\\n", i', "continue",
                prog=t.prog("loop"), first=AGENT)
    t.match(r"exited normally", gdb.output())
    t.equal(lines(gdb.output(), r"i=(\d)"), list("012"), "lines on stderr")


PERSISTENT = (*AGENT, "set disconnected-dprintf on", "set breakpoint always-inserted on")


def test_goes_on_after_detach(t):
    server = t.server("COMM", t.prog("loop"), "300")
    where = t.line("loop.c", "BODY")
    gdb = t.gdb(server, "tbreak main", "continue", f'dprintf {where},"i=%ld\\n", i',
                "detach", prog=t.prog("loop"), first=PERSISTENT)
    t.match(r"Inferior 1 .* detached", gdb.output())
    t.equal(server.wait(), 0, "exit status of the server")
    t.match(r"Persistent commands are present, leaving \w+ attached", server.output())
    t.equal(lines(server.output(), r"i=(\d+)"), [str(i) for i in range(300)],
            "lines in the server's output")


def test_ends_with_detach_if_told(t):
    server = t.server("COMM", t.prog("loop"), "300")
    where = t.line("loop.c", "BODY")
    t.gdb(server, "tbreak main", "continue", f'dprintf {where},"i=%ld\\n", i', "detach",
          prog=t.prog("loop"), first=(*PERSISTENT, "set disconnected-dprintf off"))
    t.equal(server.wait(), 0, "exit status of the server")
    t.equal(lines(server.output(), r"i=(\d+)"), [], "lines in the server's output")
    server.wait_output(r"300 iterations")


TICK = 'dprintf tick,"tick of %ld\\n", id'


def start_ticking(t):
    counts = t.dir / "counts"
    program = harness.Process(t, [t.prog("attach"), counts, "2"])
    harness.wait_for(lambda: counts.exists() and counts.stat().st_size > 0, "the program")
    return program, t.server("--multi", "COMM")


def ticks(process):
    return len(lines(process.output(), r"tick of [01]"))


def leave_attached(t):
    """A program that runs on with its dprintf, and no client."""
    program, server = start_ticking(t)
    t.gdb(server, f"attach {program.pid}", TICK, "detach", prog=t.prog("attach"), connect="target extended-remote",
          first=PERSISTENT)
    harness.wait_for(lambda: ticks(server) > 10, "lines without a client")
    return program, server


def test_signals_are_delivered_without_a_client(t):
    program, server = leave_attached(t)
    os.kill(program.pid, signal.SIGTERM)
    t.equal(program.wait(), -signal.SIGTERM, "how the program ended")
    t.check(server.process.poll() is None, "the server goes on")


def test_a_new_client_takes_over(t):
    program, server = leave_attached(t)
    gdb = t.gdb(server, "break tick", "continue", "info threads", "delete", "detach",
                prog=t.prog("attach"), connect="target extended-remote")
    t.match(r"Breakpoint 1, ", gdb.output())
    t.equal(harness.tracer_of(program.pid), 0, "tracer after the last detach")


def test_goes_on_when_the_client_dies(t):
    program, server = start_ticking(t)
    gdb = t.gdb(server, f"attach {program.pid}", TICK, "continue", prog=t.prog("attach"),
                connect="target extended-remote", first=PERSISTENT, wait=False)
    shown = server if t.config.reference else gdb
    harness.wait_for(lambda: ticks(shown) > 10, "lines with a client")
    gdb.process.kill()
    server.wait_output(r"reopen the connection")
    before = ticks(server)
    harness.wait_for(lambda: ticks(server) > before + 10, "lines without a client")


def test_the_same_client_debugs_another_program(t):
    """What was left runs on at every stop of the other program."""
    program, server = start_ticking(t)
    loop, where = t.prog("loop"), t.line("loop.c", "BODY")
    gdb = t.gdb(server, f"attach {program.pid}", TICK, "detach", "delete",
                f"set remote exec-file {loop}", f"file {loop}", f"break {where} if i == 3",
                "run 20", python=f'''
def ticks():
    return open({str(server.log)!r}).read().count("tick of")
def see_ticks():
    wanted = ticks() + 50
    while ticks() < wanted:
        time.sleep(0.01)
see_ticks()
run("stepi")
see_ticks()
run("break {where} if i == 7")
run("continue")
see_ticks()
emit(i=value("i"))
run("delete")
run("continue")
emit(exit_code=events.exit_code)
''', prog=t.prog("attach"), connect="target extended-remote", first=PERSISTENT)
    t.equal(gdb.results, [{"i": "7"}, {"exit_code": 0}], "what gdb saw")
    before = ticks(server)
    harness.wait_for(lambda: ticks(server) > before + 10, "lines without a client")


# ---- beside an ordinary breakpoint, where gdb sends no commands ----

LOST = (r"dprintf {} is at the address of breakpoint {}: gdb sends its commands to no server "
        "then; its lines are lost")
STUCK = (r"dprintf {} is at the address of breakpoint {}, which is disabled: gdb sends its "
         "commands to no server then, and the program does not get past it; delete the "
         "breakpoint")


def test_beside_a_breakpoint(t):
    """The extension tells when it comes about: here the breakpoint is the later one; and
    what gdb does is what it tells."""
    t.truehit_only("the extension")
    where = t.line("loop.c", "BODY")
    server = t.server("COMM", t.prog("loop"), "10")
    gdb = t.gdb(server, f'dprintf {where},"i=%ld\\n", i', prog=t.prog("loop"),
                first=[*AGENT, EXTENSION], python=f"""
emit(none=run("truehit breakpoints"))
emit(made=run("break {where} if i == 4"), shown=run("truehit breakpoints"))
emit(first=run("continue"), again=run("truehit breakpoints"))
emit(disabled=run("disable 2"), shown=run("truehit breakpoints"))
emit(enabled=run("enable 2"), deleted=run("delete 2"), shown=run("truehit breakpoints"))
gdb.execute("continue")
""")
    none, made, first, disabled, deleted = gdb.results
    t.no_match("^dprintf ", none["none"], "before there is a breakpoint")
    t.match(f"^truehit: {LOST.format(1, 2)}$", made["made"], "what is told of it")
    t.match(f"^{LOST.format(1, 2)}$", made["shown"], "what is shown of it")
    t.no_match("^truehit: ", first["first"], "the same again")
    t.match(f"^{LOST.format(1, 2)}$", first["again"], "what is shown after the stop")
    t.match(f"^truehit: {STUCK.format(1, 2)}$", disabled["disabled"], "disabled")
    t.match(f"^{STUCK.format(1, 2)}$", disabled["shown"], "disabled, shown")
    t.match(f"^truehit: {LOST.format(1, 2)}$", deleted["enabled"], "enabled again")
    t.no_match("^dprintf ", deleted["shown"], "once it is deleted")
    t.equal(lines(gdb.output(), r"i=(\d+)"), ["5", "6", "7", "8", "9"], "lines")


def test_a_dprintf_at_a_breakpoint(t):
    """gdb has no event for a new dprintf: it is told when the program is resumed. In gdb
    style, nothing is lost."""
    t.truehit_only("the extension")
    where = t.line("loop.c", "BODY")
    server = t.server("COMM", t.prog("loop"), "10")
    gdb = t.gdb(server, f"hbreak {where} if i == 4", f'dprintf {where},"i=%ld\\n", i',
                prog=t.prog("loop"), first=[*AGENT, EXTENSION], python="""
emit(told=run("continue"))
emit(gdb=run("set dprintf-style gdb"), shown=run("truehit breakpoints"), rest=run("continue"))
""")
    t.match(f"^truehit: {LOST.format(2, 1)}$", gdb.results[0]["told"], "told")
    t.no_match("^dprintf ", gdb.results[1]["shown"], "in gdb style")
    t.equal(lines(gdb.results[1]["rest"], r"i=(\d+)"), ["5", "6", "7", "8", "9"], "lines")


def test_beside_no_breakpoint(t):
    """Breakpoints elsewhere, other dprintfs, and a disabled dprintf are no reason."""
    t.truehit_only("the extension")
    where = t.line("loop.c", "BODY")
    server = t.server("COMM", t.prog("loop"), "3")
    gdb = t.gdb(server, "break main", f'dprintf {where},"i=%ld\\n", i',
                f'dprintf {where},"again\\n"', f'dprintf main,"main\\n"', "disable 4",
                "continue", "truehit breakpoints", "delete 1", "continue", prog=t.prog("loop"),
                first=[*AGENT, EXTENSION])
    t.no_match("^(truehit: )?dprintf .* is at", gdb.output(), "told")
    t.equal(lines(gdb.output(), "(i=.*|again)"), ["i=0", "again", "i=1", "again", "i=2", "again"],
            "lines")
