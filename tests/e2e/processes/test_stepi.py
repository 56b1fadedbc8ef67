# SPDX-License-Identifier: BSD-2-Clause
"""Many single steps with one stop: they end where as many steps of gdb's do."""
import harness
import rsp

EXTENSION = harness.ROOT / "scripts" / "truehit-gdb.py"
PLACES = """
def place():
    return [int(gdb.parse_and_eval("(long)$pc")), int(gdb.parse_and_eval("(long)$sp"))]

def places(command, counts):
    found = []
    for count in counts:
        text = run(f"{command} {count}")
        found.append(place() if alive() else text)
    return found
"""


def session(t, command, counts, *before, program=("threads", "1", "50")):
    """Where it is after so many steps, one command after the other."""
    server = t.server("--once", "COMM", t.prog(program[0]), *program[1:])
    gdb = t.gdb(server, f"source {EXTENSION}", "tbreak main", "continue", *before,
                prog=t.prog(program[0]),
                python=PLACES + f"emit(places=places({command!r}, {counts}))\n"
                "run('kill') if alive() else None")
    return gdb.results[0]["places"]


def test_where_gdb_steps_to(t):
    """Through calls, system calls and the making of a thread."""
    t.truehit_only("monitor stepi")
    counts = [1, 2, 3, 10, 100, 1000, 777]
    t.equal(session(t, "truehit stepi", counts), session(t, "stepi", counts), "places")


def test_breakpoints_on_the_way(t):
    """They stop it, also those that it begins at, and comes to again; false ones do not."""
    t.truehit_only("monitor stepi")
    where = t.line("loop.c", "BODY")
    before = (f"break {where} if count % 3 == 2",)
    program, counts = ("loop", "20"), [1] + [100000] * 4 + [30, 30]
    for extra in (), (f"tbreak {where}", "continue"):
        ours = session(t, "truehit stepi", counts[:5], *before, *extra, program=program)
        t.equal(len({tuple(place) for place in ours[1:]}), 1, f"stops at the breakpoint: {ours}")
    t.equal(session(t, "truehit stepi", counts[5:], *before, program=program),
            session(t, "stepi", counts[5:], *before, program=program), "places")


def test_one_stop(t):
    """The client hears of the last one only."""
    t.truehit_only("monitor stepi")
    server = t.server("--once", "COMM", t.prog("threads"), "1", "50")
    client = rsp.Client(server)
    client.ask("qSupported:multiprocess+")
    thread = client.ask("qC")[2:]
    pcs = []
    for _ in range(2):
        t.match("The next single step makes 5000", client.monitor("stepi 5000"))
        t.match("^T05", client.ask(f"vCont;s:{thread}"))
        pcs.append(client.ask("g"))
    t.check(pcs[0] != pcs[1], "it has gone on")
    t.match("^T05", client.ask(f"vCont;s:{thread}"))
    client.close()


def test_the_end_on_the_way(t):
    t.truehit_only("monitor stepi")
    found = session(t, "truehit stepi", [10000000], program=("loop", "2"))
    t.check(isinstance(found[0], str), f"it has ended: {found}")


def test_what_is_refused(t):
    t.truehit_only("monitor stepi")
    server = t.server("--once", "COMM", t.prog("loop"), "2")
    lines = ["stepi 0", "stepi x", "stepi -3", "stepi 99999999999999999999"]
    gdb = t.gdb(server, *[f"monitor {line}" for line in ["stepi", *lines]],
                prog=t.prog("loop"), python="run('stepi')\nrun('kill')")
    t.match("^0 steps are left", gdb.output())
    t.equal(gdb.output().count("expected how many steps, not"), len(lines), "refused")
