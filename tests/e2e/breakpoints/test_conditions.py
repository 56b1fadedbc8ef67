# SPDX-License-Identifier: BSD-2-Clause
"""Conditions: the stops are those that gdb finds by evaluating them itself."""
import re

import harness

KINDS = {"break": "Z0", "hbreak": "Z1"}


def compare(t, program, where, conditions, show, arguments=(), kinds=("break", "hbreak")):
    """Each condition, as Z0 and Z1, against the same evaluated by gdb. All of them
    run in one gdb per kind and mode, one run of the program each."""
    wanted = many_stops(t, program, where, conditions, show, "break", "host", arguments)
    for kind in kinds:
        got = many_stops(t, program, where, conditions, show, kind, "target", arguments)
        for condition in conditions:
            t.note(f"{condition}: {len(wanted[condition])} stops")
            t.equal(got[condition], wanted[condition], f"stops of {kind} ... if {condition}")
    return wanted


def many_stops(t, program, where, conditions, show, kind, mode, arguments):
    server = t.server("--multi", "COMM")
    path = t.prog(program)
    gdb = t.gdb(server, f"set remote exec-file {path}", "set args " + " ".join(arguments),
                f"set breakpoint condition-evaluation {mode}",
                prog=path, connect="target extended-remote", python=f'''
found = {{}}
for condition in {list(conditions)!r}:
    run("delete")
    run("tbreak main")
    run("run")
    text = run("{kind} {where} if " + condition)
    if "reakpoint" not in text:
        raise RuntimeError(text)
    found[condition] = stops({show!r})
    found[condition].append(events.exit_code)
emit(found=found)
run("monitor exit")
''')
    return gdb.results[0]["found"]


def some_hold(t, conditions):
    """Compares, and sees to it that the conditions are worth comparing."""
    wanted = compare(t, "conditions", t.line("conditions.c", "BODY"), conditions, ["i"])
    some = [c for c in conditions if 1 < len(wanted[c]) < 61]
    t.check(len(some) > len(conditions) // 2, "most conditions must hold now and then")


def test_signed_and_unsigned_globals(t):
    some_hold(t, [
        "g_s8 < 0", "g_u8 > 200", "g_s16 < -1000", "g_u16 > 60000", "g_s32 < 0",
        "g_u32 > 3000000000", "g_s64 < 0", "g_u64 > 0x8000000000000000",
        "g_s8 == g_u8", "g_s16 > g_s8", "g_s32 < g_u32", "g_u8 - 300 < 0",
    ])


def test_signed_and_unsigned_locals(t):
    some_hold(t, [
        "c < 0", "c == 'A' || c == -3", "s > 100", "n == 17 || n > 50", "uc > 127",
        "l > 300000000000", "wide % 7 < 2", "bits & 4", "(bits >> 5) % 7 == 2", "~i == -6",
    ])


def test_bits_enums_and_casts(t):
    # No cast of a negative number that is too large: gdb 16 itself gets it wrong.
    some_hold(t, [
        "!(g_u8 & 1)", "g_colour == BLUE", "g_bool", "g_bits.low == 5", "g_bits.high < 0",
        "g_bits.middle > 100", "(char)g_u32 > g_s8", "(short)bits < 0",
        "(unsigned char)n > 50",
    ])


def test_arithmetic(t):
    some_hold(t, [
        "g_s8 * g_s16 > 1000", "g_u32 * 3 > 2000000000", "-g_s8 > 50",
        "g_s64 / 7 > 100000000000000000", "g_s64 % 1000 < -500",
        "g_u64 / 3 > 4000000000000000000", "g_u64 % 10 == 3", "g_s32 / n > 1000000",
        "g_s8 >> 2 < -10", "g_u32 << 3 > 4000000000",
    ])


def test_logic(t):
    conditions = [
        "i == 7 && wide > 0", "i == 7 || i == 50", "(i > 10 && i < 13) || !(i < 58)",
        "i > 30 ? g_s8 > 0 : g_s8 < 0", "(i % 2 ? n : uc) > 60",
        "i == 3 && n != 1000 && l != 1 && uc < 300", "i % 10 == 4 || g_bool && i % 5 == 0",
        "(i & 1) ^ (n & 1)", "(i > 5) == (n > 5)", "i >= 58", "i <= 1", "i != i + 0",
        "1", "0", "1 == 1", "i",
    ]
    compare(t, "conditions", t.line("conditions.c", "BODY"), conditions, ["i"])


def test_registers_globals_pointers(t):
    conditions = [
        "$rdi != 0 && i == 4", "(int)$rax < 0 || i == 2", "$rsp % 16 == 0 && i < 3",
        "$rip == &body || i == 12", "(int)$eflags & 0x44", "*g_pointer < 0",
        "g_array[i % 8] > 4", "*(g_array + (n & 7)) == -1", "g_text[i % 16] == 'd'",
        "(long)&g_s32 % 4 == 0 && i == 9", "*(short *)&g_s32 < 0", "*(char *)&g_u64 == g_s8",
        "g_pointer - g_array == 3", "g_pointer == &g_array[5]",
        "*(unsigned int *)((char *)&g_s64 + 2) > 2000000000",
    ]
    compare(t, "conditions", t.line("conditions.c", "BODY"), conditions, ["i"])


def test_vector_and_segment_registers(t):
    """Registers that the kernel program cannot see."""
    compare(t, "conditions", t.line("conditions.c", "BODY"),
            ["$fs_base != 0 && i == 5", "$cs == 0x33 && i == 6", "$orig_rax == -1 && i == 7",
             "$mxcsr && i == 8"], ["i"])


def test_pointer_chains(t):
    conditions = ["n->key == 33", "i % 10 != 4 && n->next->key == 33", "n->next == 0",
                  "i % 10 < 3 && n->next->next->key > 27", "n->next && n->next->key == 22",
                  "n->next != 0 ? n->next->key < 12 : 0"]
    compare(t, "pointers", t.line("pointers.c", "BODY"), conditions, ["i"])


def test_division_by_zero(t):
    """An error is a hit, and gdb reports it with its reason."""
    wanted = compare(t, "pointers", t.line("pointers.c", "BODY"),
                     ["i / divisor == 1", "i % divisor == 1", "divisor && 12 / divisor == 6",
                      "(unsigned)i / (unsigned)divisor == 1", "i == 3 && 7 % (divisor - 3)"],
                     ["i"])
    t.check("zero" in str(wanted["i / divisor == 1"]), "gdb must show its error")
    t.equal(sum("zero" in str(row) for row in wanted["i / divisor == 1"]), 10, "errors")


def test_unreadable_memory(t):
    """So is a page that is not there."""
    t.truehit_only("error for a condition that reads bad memory (it reads junk)")
    wanted = compare(t, "pointers", t.line("pointers.c", "BODY"),
                     ["n->next->key == 55", "*unmapped == 1", "i == 3 && *unmapped == 1",
                      "*(int *)0 == 1", "i == 5 || *(char *)-1 == 3", "n->next->next->key > 77",
                      "i == 6 && *(int *)0xffff800000000000 == 0"], ["i"])
    t.equal(sum("Cannot access" in str(row) for row in wanted["*unmapped == 1"]), 40, "errors")
    t.equal(sum("Cannot access" in str(row) for row in wanted["n->next->key == 55"]), 4,
            "errors")


def test_untouched_page(t):
    """A page that is mapped but was never touched reads as zeros, not as an error."""
    where = t.line("pointers.c", "BODY")
    wanted = compare(t, "pointers", where,
                     ["*untouched == 0 && i % 10 == 4", "*untouched == 1", "untouched[100] == 0"],
                     ["i"])
    t.equal(len(wanted["*untouched == 0 && i % 10 == 4"]), 5, "stops and the exit code")


def test_million_iterations_hardware(t):
    """The main promise: one stop in a million iterations, the rest unseen."""
    iterations = t.quick(1000000, 3000)
    true_hit = iterations * 777777 // 1000000
    body = t.line("loop.c", "BODY")
    server = t.server("COMM", t.prog("loop"), iterations)
    gdb = t.gdb(server, f"hbreak {body} if i == {true_hit}", "info breakpoints",
                prog=t.prog("loop"), python="""
run("continue")
frame = gdb.selected_frame()
emit(i=value("i"), pc=frame.pc(), at=gdb.breakpoints()[0].locations[0].address,
     reason=type(events.stop).__name__, table=run("monitor breakpoints"))
run("continue")
emit(alive=alive(), code=events.exit_code)
""", limit=200)
    stop, end = gdb.results
    t.equal(stop["i"], str(true_hit), "i at the stop")
    t.equal(stop["pc"], stop["at"], "PC at the stop")
    t.equal(stop["reason"], "BreakpointEvent", "what gdb makes of the stop")
    t.equal((end["alive"], end["code"]), (False, 0), "the end: exactly one stop")
    t.match(rf"^{iterations} iterations", server.output())
    if t.config.reference:
        return
    t.counted(t.counts(stop["table"]), false=true_hit)


def test_conditional_software_breakpoint(t):
    iterations = t.quick(20000, 2000)
    true_hit = iterations - 10
    server = t.server("COMM", t.prog("loop"), iterations)
    gdb = t.gdb(server, f"break {t.line('loop.c', 'BODY')} if i == {true_hit}",
                prog=t.prog("loop"), python='emit(stops=stops(["i"]))')
    t.equal([row[1] for row in gdb.results[0]["stops"]], [str(true_hit)], "stops")
    t.match(rf"^{iterations} iterations", server.output())


def threads_stops(t, kind, threads, iterations):
    server = t.server("COMM", t.prog("threads"), threads, iterations)
    gdb = t.gdb(server, f"{kind} {t.line('threads.c', 'BODY')} if (i * 7 + id) % 500 == 3",
                prog=t.prog("threads"), python='emit(stops=stops(["id", "i", "$_thread"]))')
    stops = [tuple(map(int, row[1:4])) for row in gdb.results[0]["stops"]]
    expected = int(t.match(r"expected (\d+) stops", server.output()).group(1))
    t.equal(len(stops), expected, "number of stops")
    for number, i, _ in stops:
        t.equal((i * 7 + number) % 500, 3, f"condition at the stop id {number}, i {i}")
    t.equal(len({s[:2] for s in stops}), expected, "distinct stops")
    t.equal(len({(s[0], s[2]) for s in stops}), len({s[0] for s in stops}),
            "each id in a thread of its own")


@harness.machines("main")
def test_threads_hardware(t):
    threads_stops(t, "hbreak", 32, t.quick(2000, 50))


@harness.machines("main")
def test_threads_software(t):
    threads_stops(t, "break", t.quick(32, 8), t.quick(100, 50))


@harness.machines("main")
def test_two_conditions_at_one_place(t):
    """gdb sends both in one packet; either one stops, and both count."""
    where = t.line("conditions.c", "BODY")
    for kind in KINDS:
        server = t.server("COMM", t.prog("conditions"))
        gdb = t.gdb(server, f"{kind} {where} if i == 5", f"{kind} {where} if i % 25 == 0",
                    prog=t.prog("conditions"),
                    python='emit(stops=stops(["i"]))')
        t.equal([row[1] for row in gdb.results[0]["stops"]], ["0", "5", "25", "50"],
                f"stops of {kind}")


@harness.machines("main")
def test_four_conditional_breakpoints(t):
    """All debug registers, each with a condition of its own."""
    server = t.server("COMM", t.prog("calls"))
    loop = t.line("calls.c", "LOOP")
    gdb = t.gdb(server, "hbreak inner if depth == 1", "hbreak outer if x == 3",
                "hbreak triple if x > 10", f"hbreak {loop} if x == 2",
                prog=t.prog("calls"), python="""
names = []
while True:
    run("continue")
    if not alive():
        break
    names.append(gdb.selected_frame().name())
emit(names=names)
""")
    t.equal(gdb.results[0]["names"], ["outer", "inner", "triple"], "stops")


@harness.machines("main")
def test_more_hardware_breakpoints_than_slots(t):
    """An error, and the session goes on. (No processor has more than 16.)"""
    server = t.server("COMM", t.prog("calls"))
    gdb = t.gdb(server, "hbreak inner", "hbreak outer", "hbreak triple", "hbreak main",
                *[f"hbreak *((char *) &global + {4 * i})" for i in range(13)], "continue",
                "delete 5-17", "continue", "continue", prog=t.prog("calls"))
    output = gdb.output()
    t.match(r"Could not insert hardware breakpoint|Cannot insert hardware breakpoint|Warning:", output)
    t.match(r"Breakpoint 4, main", output)
    t.match(r"Breakpoint 2, outer", output)
    if not t.config.reference:
        t.note(output)


@harness.machines("main")
def test_condition_is_changed(t):
    """gdb sends the breakpoint again with another condition, or none."""
    server = t.server("COMM", t.prog("conditions"))
    where = t.line("conditions.c", "BODY")
    gdb = t.gdb(server, f"hbreak {where} if i == 10", prog=t.prog("conditions"), python="""
seen = []
for condition in ("i == 20", "i > 21", ""):
    run("continue")
    seen.append(value("i"))
    run("condition 1 " + condition)
run("continue")
seen.append(value("i"))
run("disable 1")
run("continue")
emit(seen=seen, alive=alive())
""")
    t.equal(gdb.results[0]["seen"], ["10", "20", "22", "23"], "i at each stop")
    t.equal(gdb.results[0]["alive"], False, "the program ends")


def test_ignore_count_and_commands(t):
    """What stays with gdb: ignore counts on top of the condition."""
    server = t.server("COMM", t.prog("conditions"))
    gdb = t.gdb(server, f"hbreak {t.line('conditions.c', 'BODY')} if i % 10 == 3", "ignore 1 2",
                prog=t.prog("conditions"),
                python='emit(stops=stops(["i"]))')
    t.equal([row[1] for row in gdb.results[0]["stops"]], ["23", "33", "43", "53"], "stops")


def test_step_across_conditional_breakpoints(t):
    """Stepping over a place with a false condition neither stops nor gets lost."""
    server = t.server("COMM", t.prog("calls"))
    line = int(t.line("calls.c", "LOOP").partition(":")[2]) + 1
    gdb = t.gdb(server, "break outer", f"hbreak calls.c:{line} if i == 3", "continue",
                prog=t.prog("calls"), python="""
lines = []
for _ in range(12):
    run("next")
    lines.append(gdb.selected_frame().find_sal().line)
emit(lines=lines, hits=gdb.breakpoints()[1].hit_count)
""")
    got = gdb.results[0]
    t.equal(got["lines"], [line - 1] + [line, line - 1] * 5 + [line + 1], "lines")
    t.equal(got["hits"], 1, "hits that gdb counted")


def test_blocked_sigtrap(t):
    """The program blocks every signal: stops are still exact, and nothing is left
    pending in it."""
    for kind, condition in (("hbreak", " if i % 100 == 7"), ("break", " if i % 100 == 7"),
                            ("hbreak", "")):
        if kind == "hbreak" and t.config.reference:
            continue
        server = t.server("COMM", t.prog("blocked"))
        gdb = t.gdb(server, f"{kind} {t.line('blocked.c', 'BODY')}{condition}",
                    prog=t.prog("blocked"), python='emit(stops=stops(["i"], 1100))')
        stops = gdb.results[0]["stops"]
        wanted = [str(i) for i in range(1000) if not condition or i % 100 == 7]
        t.equal([row[1] for row in stops], wanted, f"stops of {kind}{condition}")
        t.equal(len({row[0] for row in stops}), 1, "different PCs")
        t.match(r"SIGTRAP clean", server.output())
        t.match(r"SIGSTOP clean", server.output())


@harness.machines("main")
def test_attach_conditional(t):
    """A condition in threads that were there before the server."""
    counts = t.dir / "counts"
    program = harness.Process(t, [t.prog("attach"), counts, "6"])
    harness.wait_for(counts.exists, "the program")
    server = t.server("--attach", "COMM", program.pid)
    gdb = t.gdb(server, "hbreak tick if id >= 2 && counts[id] % 16 == 0",
                prog=t.prog("attach"), python="""
rows = []
for _ in range(60):
    run("continue")
    rows.append([int(value("id")), int(value("counts[id]"))])
emit(rows=rows)
run("detach")
""")
    rows = gdb.results[0]["rows"]
    t.equal([r for r in rows if r[0] < 2 or r[1] % 16], [], "stops with a false condition")
    if t.config.reference:
        return  # it loses hits of threads that stop at the same time
    for number in {r[0] for r in rows}:
        seen = [r[1] for r in rows if r[0] == number]
        t.equal(seen, list(range(seen[0], seen[0] + 16 * len(seen), 16)),
                f"stops of thread {number}")


def test_library_function(t):
    """A condition in a shared library, set before it is loaded."""
    for kind in KINDS:
        server = t.server("COMM", t.prog("solib"))
        gdb = t.gdb(server, "break main", "continue",
                    f"{kind} {t.line('libgreet.c', 'GREET')} if x == 3 || x == 8",
                    prog=t.prog("solib"), python='emit(stops=stops(["x"]))')
        t.equal([row[1] for row in gdb.results[0]["stops"]], ["3", "8"], f"stops of {kind}")


@harness.machines("main", "small")
def test_monitor_breakpoints_table(t):
    t.truehit_only("monitor breakpoints")
    server = t.server("COMM", t.prog("conditions"))
    gdb = t.gdb(server, f"hbreak {t.line('conditions.c', 'BODY')} if i == 40", "break main",
                "continue", "continue", prog=t.prog("conditions"), python="""
emit(table=run("monitor breakpoints"))
emit(reset=run("monitor reset"), table=run("monitor breakpoints"))
emit(engines=run("monitor engines"), help=run("monitor help"))
""")
    table, reset, other = gdb.results
    rows = harness.breakpoint_rows(table["table"])
    row = next(r for r in rows if r["false"])
    t.equal((row["hits"], row["false"], row["true"]), (41, 40, 1), "counts")
    t.match(r"body\+", table["table"])
    t.match(r"40", table["table"])
    for row in harness.breakpoint_rows(reset["table"]):
        t.equal((row["hits"], row["false"]), (0, 0), "counts after reset")
    t.match(r"perf_event", other["engines"])
    t.match(r"breakpoints", other["help"])
    t.check(not re.search("error", table["table"]), "no error")


def test_trace_state_variables(t):
    """One that nothing sets: only gdb knows its value, and is told of each hit."""
    where = t.line("loop.c", "BODY")
    found = []
    for mode in "host", "target":
        server = t.server("COMM", t.prog("loop"), "30")
        gdb = t.gdb(server, "tvariable $limit = 7",
                    f"set breakpoint condition-evaluation {mode}",
                    f"break {where} if i < $limit", prog=t.prog("loop"),
                    python='emit(found=stops(["i"]))')
        found.append(gdb.results[0]["found"])
    t.check(len(found[0]) > 0, "gdb stops")
    t.equal(found[1], found[0], "stops of the same condition by the server")
