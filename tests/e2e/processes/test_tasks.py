# SPDX-License-Identifier: BSD-2-Clause
"""Tasks that share a program's memory but are no threads of its process, made by
clone(2): for gdb they are threads, and breakpoints are theirs, too."""
import harness

TASKS, ROUNDS = 6, 40  # of tasks.c: three tasks, with a thread each


def hits(t, kind, condition, holds, *arguments):
    """Each task stops where the condition holds: every time, and once."""
    server = t.server("COMM", t.prog("tasks"), *arguments)
    gdb = t.gdb(server, f"{kind} {t.line('tasks.c', 'BODY')}{condition}",
                prog=t.prog("tasks"), python="""
rows = []
table = ""
while True:
    run("continue")
    if not alive():
        break
    rows.append([int(value("id")), int(value("i"))])
    table = run("monitor breakpoints")
emit(rows=rows, table=table, code=events.exit_code)
""")
    got = gdb.results[0]
    t.equal(sorted(map(tuple, got["rows"])),
            [(task, i) for task in range(TASKS) for i in range(ROUNDS) if holds(i)],
            f"stops of {kind}{condition}")
    t.equal(got["code"], 0, "exit code")
    if "leave" not in arguments:
        t.match(rf"^{TASKS * ROUNDS} calls", server.output())
    return got["table"]


def test_conditional_hardware(t):
    table = hits(t, "hbreak", " if i % 10 == 9", lambda i: i % 10 == 9)
    if not t.config.reference:
        row = t.counts(table)
        t.equal(row["true"], TASKS * ROUNDS // 10, "true hits that were counted")
        t.equal(row["hits"], TASKS * ROUNDS, "hits that were counted")


def test_unconditional(t):
    for kind in "break", "hbreak":
        hits(t, kind, "", lambda i: True)


def test_children_with_the_same_memory(t):
    """The kernel tells of them as of fork(2)'s."""
    t.truehit_only("stops of children that share memory")
    for kind in "break", "hbreak":
        hits(t, kind, "", lambda i: True, "child")
        hits(t, kind, " if i % 10 == 9", lambda i: i % 10 == 9, "child")


def test_the_program_ends_before_them(t):
    hits(t, "hbreak", " if i % 10 == 9", lambda i: i % 10 == 9, "leave")


def test_they_run_another_program(t):
    """Which makes them processes that nobody has asked to debug."""
    t.truehit_only("patience with such a task that calls exec")
    hits(t, "hbreak", " if i % 10 == 9", lambda i: i % 10 == 9, "exec")


def test_signal(t):
    """A signal that the user sends to such a task reaches it."""
    server = t.server("COMM", t.prog("tasks"), "wait")
    t.gdb(server, f"break {t.line('tasks.c', 'BODY')} if id == 0 && i == 39", "continue",
          "delete", "handle SIGUSR1 nostop noprint pass", f"tbreak {t.line('tasks.c', 'WAIT')}",
          "continue", "signal SIGUSR1", prog=t.prog("tasks"), limit=60)
    t.match(rf"^{TASKS * ROUNDS} calls", server.output())


def test_names(t):
    """They have none: gdb's user knows them by their numbers, as without a server."""
    gdb = t.gdb(t.server("COMM", t.prog("tasks")),
                f"break {t.line('tasks.c', 'BODY')} if id == 0", "continue",
                prog=t.prog("tasks"), python="""
threads = gdb.selected_inferior().threads()
emit(named=[thread.name for thread in threads if thread.name], count=len(threads))
""")
    result = gdb.results[0]
    t.check(result["count"] > 1, "there is a task")
    t.equal(result["named"], ["tasks"], "named threads")


def test_kill(t):
    """Nothing is left behind."""
    server = t.server("--once", "COMM", t.prog("tasks"), "wait")
    t.gdb(server, f"break {t.line('tasks.c', 'BODY')} if id == 0 && i == 39", "continue",
          "kill", prog=t.prog("tasks"), limit=60)
    server.wait()
    t.equal(harness.descendants(server.pid), [], "what is left")


def test_a_leader_that_has_ended(t):
    """A uprobe needs the leader: what it serves is moved to another engine."""
    server = t.server("COMM", t.prog("leaderless"))
    gdb = t.gdb(server, f"break {t.line('leaderless.c', 'BODY')} if i % 25 == 3",
                prog=t.prog("leaderless"), python="""
stops = []
tables = []
while True:
    run("continue")
    if not alive():
        break
    stops.append(int(value("i")))
    tables.append(run("monitor breakpoints"))
emit(stops=stops, tables=tables)
""")
    t.equal(gdb.results[0]["stops"], [3, 28, 53, 78], "stops")
    t.match(r"^sum 4950", server.output())
    if not t.config.reference:
        t.no_match(r" uprobe +kernel", gdb.results[0]["tables"][1])
