# SPDX-License-Identifier: BSD-2-Clause
"""Hits by thread, ignored hits, and locations that only count."""
import re

import harness
from test_fork import family
from test_rights import ordinary_user

CONDITION = "(i * 7 + id) % 500 == 3"  # as in threads.c

PYTHON = f"""
sys.path.append({str(harness.HERE)!r})
from machine import Witness
run("set breakpoint always-inserted on")

def threads():
    return [f"{{t.ptid[0]}}.{{t.ptid[1]}}" for t in gdb.selected_inferior().threads()]
"""


def true_hits(threads, iterations):
    return [sum((i * 7 + id) % 500 == 3 for i in range(iterations)) for id in range(threads)]


def tables(text):
    """`monitor breakpoints`: the rows of both tables, by their titles, and what is
    said in between."""
    rows, said, titles = [[], []], [], None
    for line in text.splitlines():
        words = line.replace(",", "").split()
        if words[:1] == ["Num"]:
            titles = words
        elif words and words[0].lstrip("-").isdigit() and titles:
            by_thread = titles[1] == "Thread"
            numbers = [int(w) for w in words[1:] if w.isdigit()]
            wanted = ["hits", "false", "true", "maybe"] + ([] if by_thread else ["ignored"])
            rows[by_thread].append(dict(zip(wanted, numbers), number=int(words[0]), line=line,
                                        name=words[1]))
        elif words:
            said.append(line)
    return rows[0], rows[1], said


def row_of(rows, symbol):
    return next(r for r in rows if f" {symbol}+" in r["line"])


def check_threads(t, table, nthreads, iterations):
    """Every hit of every thread, at the program's end."""
    locations, threads, _ = tables(table)
    body = row_of(locations, "body")
    threads = [r for r in threads if r["number"] == body["number"]]
    t.equal([r["hits"] for r in threads], [iterations] * nthreads, "hits of each thread")
    t.equal(sorted(r["true"] for r in threads), sorted(true_hits(nthreads, iterations)),
            "true hits of each thread")
    t.equal([r["false"] + r["true"] for r in threads], [iterations] * nthreads, "the rest")
    t.equal((body["hits"], body["true"]),
            (nthreads * iterations, sum(true_hits(nthreads, iterations))), "the sum")
    return body


def many_threads(t, server, prog, nthreads, iterations, kind="hbreak", condition=CONDITION):
    """All but a few true hits of all threads are ignored; the program counts them. A
    condition may read at {{trap}}. Returns the location's row."""
    told = 5
    ignored = sum(true_hits(nthreads, iterations)) - told
    gdb = t.gdb(server, prog=prog, python=PYTHON + f"""
run("break {t.line("threads.c", "DONE")}")
trap = gdb.breakpoints()[0].locations[0].address
run("monitor set pads off")  # whose filters do not tell threads apart
run(f"{kind} {t.line("threads.c", "BODY")} if {condition}")
body = gdb.breakpoints()[1].locations[0].address
witness = Witness(gdb.selected_inferior().pid, body)
said = run("monitor ignore body {ignored}")
stops = []
while True:
    run("continue")
    if gdb.selected_frame().name() == "main":
        break
    stops.append(int(value("({CONDITION})")))
emit(said=said, stops=stops, table=run("monitor breakpoints all"), seen=witness.count())
run("continue")
""")
    result = gdb.results[0]
    if result["seen"] is not None and result["seen"] < nthreads * iterations:
        t.skip(f"the breakpoint registers saw {result['seen']} of {nthreads * iterations} hits")
    t.match(rf"Will ignore next {ignored} hits of {kind} \d+ at body\+", result["said"])
    t.equal(result["stops"], [1] * told, "true hits that stopped the program")
    t.match(rf"expected {ignored + told} stops", server.output())
    body = check_threads(t, result["table"], nthreads, iterations)
    t.equal(body["ignored"], ignored, "ignored hits")
    return body


def test_ignored_among_many_threads(t):
    t.truehit_only("monitor ignore")
    iterations = t.quick(4000, 200)
    server = t.server("COMM", t.prog("threads"), "64", iterations)
    many_threads(t, server, t.prog("threads"), 64, iterations)


def test_ignored_where_the_kernel_leaves_true_hits_to_the_stub(t):
    """Its programs do not know the byte that lies under a trap."""
    t.need_kernel_conditions()
    server = t.server("COMM", t.prog("threads"), "8", "1000")
    body = many_threads(t, server, t.prog("threads"), 8, 1000,
                        condition=CONDITION + " && *(unsigned char *){trap} != 0xcc")
    t.equal(body["maybe"], sum(true_hits(8, 1000)), "hits that the stub decided")


def test_ignored_by_the_stub(t):
    """The same with debug registers over ptrace."""
    t.truehit_only("monitor ignore")
    for kind in "hbreak", "break":
        server, prog = ordinary_user(t, program="threads", arguments=("8", "1000"))
        many_threads(t, server, prog, 8, 1000, kind)


def test_ignored_hits_of_a_plain_breakpoint(t):
    """It was to stop at each hit. Those that are ignored now end in the kernel."""
    t.need_kernel_conditions()
    t.need_x86()
    t.need_any_engine()
    server = t.server("COMM", t.prog("threads"), "8", "1000")
    gdb = t.gdb(server, "set breakpoint always-inserted on", prog=t.prog("threads"),
                python=PYTHON + f"""
run("break {t.line("threads.c", "DONE")}")
run("break {t.line("threads.c", "BODY")}")
begin = run("monitor breakpoints")
run("monitor ignore body 7999")
run("continue")
emit(begin=begin, name=gdb.selected_frame().name(), table=run("monitor breakpoints all"))
run("continue")
emit(name=gdb.selected_frame().name())
run("kill")
""")
    result, end = gdb.results
    t.match(r" body\S* +int3 ", result["begin"])
    t.match(r" body\S* +uprobe ", result["table"])
    body = row_of(tables(result["table"])[0], "body")
    t.equal((body["hits"], body["true"], body["ignored"]), (8000, 8000, 7999), "counts")
    t.equal((result["name"], end["name"]), ("body", "main"), "the stops")


def test_ignored_while_they_wait_to_be_told(t):
    """Hits of other threads that came with the one that was told are not hit again."""
    t.truehit_only("monitor ignore")
    t.need_kernel_conditions()
    for engine in "uprobe", "hardware", "ptrace":
        server = t.server("COMM", t.prog("threads"), "8", "60")
        gdb = t.gdb(server, prog=t.prog("threads"), python=PYTHON + f"""
run("monitor set engine {engine}")
run("break {t.line("threads.c", "DONE")}")
run("break {t.line("threads.c", "BODY")} if i >= 0")
for _ in range(40):
    run("continue")
    run("monitor ignore body 7")
run("monitor count body")
run("continue")
emit(name=gdb.selected_frame().name(), table=run("monitor breakpoints all"))
run("kill")
""")
        t.equal(gdb.results[0]["name"], "main", "the last stop")
        body = row_of(tables(gdb.results[0]["table"])[0], "body")
        t.equal((body["hits"], body["true"], body["ignored"]), (480, 480, 440), f"counts of {engine}")


def test_ignored_by_the_stub_at_traps(t):
    t.truehit_only("monitor ignore")
    t.need_any_engine("traps of the stub's")
    server = t.server("COMM", t.prog("threads"), "8", "50")
    gdb = t.gdb(server, prog=t.prog("threads"), python=PYTHON + f"""
run("monitor set engine ptrace")
run("break {t.line("threads.c", "BODY")}")
run("break {t.line("threads.c", "DONE")}")
run("monitor ignore body 390")
names = []
for _ in range(11):
    run("continue")
    names.append(gdb.selected_frame().name())
emit(names=names, table=run("monitor breakpoints all"))
run("kill")
""")
    t.equal(gdb.results[0]["names"], ["body"] * 10 + ["main"], "stops")
    locations, threads, _ = tables(gdb.results[0]["table"])
    body = row_of(locations, "body")
    t.match(r" int3 ", body["line"])
    t.equal((body["hits"], body["true"], body["ignored"]), (400, 400, 390), "counts")
    t.equal([r["hits"] for r in threads if r["number"] == body["number"]], [50] * 8,
            "hits of each thread")


def only_counts(t, server, prog, nthreads, iterations):
    """From a stop where other threads wait with a hit that nobody was told of."""
    gdb = t.gdb(server, prog=prog, python=PYTHON + f"""
run("hbreak {t.line("threads.c", "BODY")}")
run("break {t.line("threads.c", "DONE")}")
run("continue")
first = run("monitor count body on")
emit(first=first, at=gdb.selected_frame().name(), threads=threads(),
     table=run("monitor breakpoints all"))
run("continue")
emit(at=gdb.selected_frame().name(), table=run("monitor breakpoints all"),
     off=run("monitor count body off"), after=run("monitor breakpoints"))
run("kill")
""")
    first, last = gdb.results
    t.equal((first["at"], last["at"]), ("body", "main"), "stops")
    t.match(r"Will only count hits of hbreak \d+ at body\+", first["first"])
    _, threads, said = tables(first["table"])
    t.check(any("only counts" in line for line in said), "the table tells of it")
    t.check({r["name"] for r in threads} <= set(first["threads"]), "threads as gdb names them")
    locations, threads, _ = tables(last["table"])
    body = row_of(locations, "body")
    t.equal((body["hits"], body["true"], body["ignored"]),
            (nthreads * iterations,) * 2 + (nthreads * iterations - 1,), "counts")
    t.equal([r["hits"] for r in threads if r["number"] == body["number"]],
            [iterations] * nthreads, "hits of each thread")
    t.match(r"Will stop at hits", last["off"])
    t.check(not any("only counts" in line for line in tables(last["after"])[2]), "it is off")


def test_only_counts(t):
    t.truehit_only("monitor count")
    only_counts(t, t.server("COMM", t.prog("threads"), "16", "100"), t.prog("threads"), 16, 100)


def test_only_counts_without_rights(t):
    t.truehit_only("monitor count")
    server, prog = ordinary_user(t, program="threads", arguments=("8", "50"))
    only_counts(t, server, prog, 8, 50)


def test_only_counts_in_a_pid_name_space(t):
    """Threads are those that gdb knows."""
    t.need_root("make a name space")
    t.need_kernel_conditions()
    unshare = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if harness.Process(t, [*unshare, "true"]).wait():
        t.skip("no PID name space can be made here")
    server = harness.Server(t, ["COMM", t.prog("threads"), "8", "100"],
                            program=[*unshare, t.config.server])
    only_counts(t, server, t.prog("threads"), 8, 100)


def test_ignore_survives_what_gdb_does_at_stops(t):
    """At each stop gdb takes the location out and puts it in again, once with
    another condition; another stops the program in every round."""
    t.truehit_only("monitor ignore")
    where = t.line("threads.c", "BODY")
    for server, prog in ((t.server("COMM", t.prog("threads"), "1", "60"), t.prog("threads")),
                         ordinary_user(t, program="threads", arguments=("1", "60"))):
        gdb = t.gdb(server, prog=prog, python=f"""
run("break *body")
run("hbreak {where} if i % 10 == 3")
run("continue")
run("monitor ignore body+{{:#x}} 3".format(
    gdb.breakpoints()[1].locations[0].address - int(value("(long)&body"))))
run("monitor reset")
told, ignored = [], []
while True:
    run("continue")
    if not alive():
        break
    if gdb.selected_frame().pc() == int(value("(long)&body")):
        ignored.append(run("monitor breakpoints"))
        run("stepi")
    else:
        told.append(int(value("i")))
        run("next")
    if len(ignored) == 15:
        run("condition 2 i % 10 == 4")
emit(told=told, last=ignored[-1])
""")
        t.equal(gdb.results[0]["told"], [34, 44, 54], f"hits that are told ({server.argv[0]})")
        locations, _, said = tables(gdb.results[0]["last"])
        t.equal([r["ignored"] for r in locations if "hbreak" in r["line"]], [3], "ignored hits")
        t.check(not any("ignores" in line for line in said), "nothing is left to ignore")


def test_reset_and_replace(t):
    t.truehit_only("monitor ignore")
    server = t.server("COMM", t.prog("threads"), "1", "1000")
    gdb = t.gdb(server, prog=t.prog("threads"), python=PYTHON + f"""
run("hbreak {t.line("threads.c", "BODY")} if i % 10 == 0")
found = []
def go():
    run("continue")
    found.append(int(value("i")))
    return run("monitor breakpoints")
run("monitor ignore body 9")
first = go()
run("monitor ignore body 1000")
run("monitor reset")
second = run("monitor breakpoints")
run("monitor ignore body 4")
third = go()
run("monitor ignore body 5")
off = run("monitor ignore body 0")
go()
emit(found=found, tables=[first, second, third], off=off)
run("kill")
""")
    result = gdb.results[0]
    t.equal(result["found"], [90, 140, 150], "i at the stops")
    rows = [row_of(tables(text)[0], "body") for text in result["tables"]]
    t.equal([(r["hits"], r["true"], r["ignored"]) for r in rows],
            [(91, 10, 9), (0, 0, 0), (50, 5, 4)], "counts")
    t.check(any("ignores its next 1000 hits" in line
                for line in tables(result["tables"][1])[2]), "a setting is no count")
    t.match(r"Will ignore no hits", result["off"])


def test_ignored_changes_of_a_variable(t):
    t.truehit_only("monitor ignore")
    for server, prog in ((t.server("COMM", t.prog("watch")), t.prog("watch")),
                         ordinary_user(t, program="watch")):
        gdb = t.gdb(server, "break main", "continue", "delete",
                    "set breakpoint always-inserted on", "watch w4", "monitor ignore w4 2",
                    prog=prog, python='emit(stops=stops(["w4"]))')
        t.equal([row[1] for row in gdb.results[0]["stops"]], ["210000"], "w4 at the stops")


def test_what_is_ignored_is_ignored_in_a_forked_child(t):
    t.truehit_only("monitor count")
    server = family(t, "fork", 6)
    gdb = t.gdb(server, "set detach-on-fork off", "set schedule-multiple on",
                prog=t.prog("family"), python=PYTHON + """
run("break work if round % 2 == 0")
said = run("monitor count work")
places = []
while any(inferior.pid for inferior in gdb.inferiors()):
    run("continue")
    if alive():
        places.append(gdb.selected_frame().name())
    else:
        run(f"inferior {next((i.num for i in gdb.inferiors() if i.pid), 1)}")
emit(said=said, places=places)
""")
    t.match(r"Will only count hits of break", gdb.results[0]["said"])
    t.check("work" not in gdb.results[0]["places"], "no stop in either process")
    t.match(r"worked 6 failures 0", server.output())


def test_a_change_of_engine_loses_nothing(t):
    """A software breakpoint gives its hardware slot away while it is ignored."""
    t.truehit_only("monitor ignore")
    t.need_kernel_conditions()
    server = t.server("COMM", t.prog("threads"), "1", "400")
    gdb = t.gdb(server, prog=t.prog("threads"), python=PYTHON + f"""
run("monitor set engine hardware")
run("break {t.line("threads.c", "BODY")} if i % 10 == 0")
run("monitor ignore body 9")
run("continue")
run("monitor ignore body 20")
before = between = run("monitor breakpoints")
for offset in range(4, 4 * 17, 4):
    if "break 1 is served by int3" not in between:
        run(f"hbreak *((char *)main + {{offset}})")
        between = run("monitor breakpoints")
run("continue")
emit(tables=[before, between, run("monitor breakpoints")], i=value("i"))
run("kill")
""")
    rows = [row_of(tables(text)[0], "body") for text in gdb.results[0]["tables"]]
    t.equal(["int3" in r["line"] for r in rows], [False, True, True], "served by int3")
    t.equal([(r["hits"], r["true"], r["ignored"]) for r in rows],
            [(91, 10, 9), (91, 10, 9), (301, 31, 29)], "counts")
    t.equal(gdb.results[0]["i"], "300", "i at the stop")


def test_commands_of_ignored_hits_do_not_run(t):
    t.truehit_only("monitor ignore")
    server = t.server("COMM", t.prog("threads"), "4", "500")
    gdb = t.gdb(server, "set breakpoint always-inserted on", "set dprintf-style agent",
                f'dprintf {t.line("threads.c", "BODY")},"<round %d>\\n",i',
                f"break {t.line('threads.c', 'DONE')}", "monitor ignore body 1700", "continue",
                "monitor breakpoints", "continue", prog=t.prog("threads"))
    table = gdb.output()[gdb.output().index("Num What"):]
    body = row_of(tables(table)[0], "body")
    t.equal((body["hits"], body["true"], body["ignored"]), (2000, 2000, 1700), "counts")
    printed = re.findall(r"^<round \d+>$", gdb.output() + server.output(), re.M)
    t.equal(len(printed), 300, "lines")


def test_program_goes_on_after_detach(t):
    t.truehit_only("monitor count")
    server = t.server("COMM", t.prog("threads"), "4", "2000")
    gdb = t.gdb(server, prog=t.prog("threads"), python=PYTHON + f"""
run("hbreak {t.line("threads.c", "BODY")} if {CONDITION}")
run("continue")
run("monitor count body")
run("detach")
""")
    t.match(r"", gdb.output())
    server.wait_output(rf"expected {sum(true_hits(4, 2000))} stops")


def test_what_is_refused_is_explained(t):
    t.truehit_only("monitor ignore")
    server = t.server("COMM", t.prog("threads"), "1", "1")
    refused = ["ignore", "ignore body", "ignore body x", "ignore body -1",
               "ignore body 9999999999", "ignore body 5 6", "ignore nothing 5", "count",
               "count body maybe", "count 99"]
    gdb = t.gdb(server, "set breakpoint always-inserted on",
                f"hbreak {t.line('threads.c', 'BODY')}",
                *[f"monitor {line}" for line in refused], prog=t.prog("threads"),
                python='emit(table=run("monitor breakpoints all"))\nrun("kill")')
    t.equal(tables(gdb.results[0]["table"])[2], [], "nothing is set")
    output = gdb.output()
    t.match(r"Usage: monitor ignore <LOCATION> <N>", output)
    t.equal(len(re.findall(r"how many of its hits to ignore", output)), 4, "counts refused")
    t.match(r"Usage: monitor count <LOCATION>", output)
    t.match(r"no location nothing", output)
    t.match(r"no location body 5", output)
    t.match(r"no location body maybe", output)
    t.match(r"no location 99", output)
