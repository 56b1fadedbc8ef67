# SPDX-License-Identifier: BSD-2-Clause
"""More breakpoints than there are descriptors for: the kernel decides as many as it can,
the server the others, and what needs a descriptor besides still works."""
import os
import re
import resource

import rsp

LIMIT = 200
PLACES = 300
RESERVE = LIMIT // 4


def limits(soft, hard):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def slide(t, limit=LIMIT, rounds=4):
    """A server with so many descriptors at most."""
    t.truehit_only("limit of descriptors")
    t.need_kernel_conditions()
    # A file of its own: the uprobes of another test's server would take the hits of the
    # traps that this one has beside its own (README, Limits).
    program, = t.public_copy(t.prog("slide"))
    # Half of them at first: the server has to raise its own limit.
    return t.server("COMM", program, str(rounds), preexec=limits(limit // 2, limit))


# At place N, `rounds` is what is asked for: true once, or never.
PLANT = """
import re
start, end = (int(gdb.parse_and_eval(f"(long)&{name}")) for name in ("slide_start", "slide_end"))
size = (end - start) // 4096

def plant(places, first=0):
    for i in range(first, first + places):
        wanted = 2 if i %% 149 == 148 else -1 - i
        gdb.execute(f"break *{start + i * size} if rounds == {wanted}", to_string=True)

def emit_rows(name, places, first=0):
    text = gdb.execute("monitor breakpoints", to_string=True)
    wanted = {start + i * size for i in range(first, first + places)}
    rows = re.findall(r"^ *\\d+ break +0x([0-9a-f]+) +\\S+ +([a-z]\\w+) ", text, re.M)
    engines = [engine for address, engine in rows if int(address, 16) in wanted]
    emit(what=name, all=len(engines), kernel=engines.count("uprobe"))

def emit_place():
    emit(what="stop", place=(int(gdb.parse_and_eval("(long)$pc")) - start) // size)

gdb.execute("set breakpoint always-inserted on")
places = %d
plant(places)
emit_rows("planted", places)
"""


def need_uprobes(t, server):
    client = rsp.Client(server)
    text = client.monitor("engines")
    client.close()
    if not re.search(r"^uprobe .*\n +usable", text, re.M):
        t.skip("no uprobes here")


def stops(places):
    return list(range(148, places, 149))


def places_of(gdb):
    return [r["place"] for r in gdb.results if r["what"] == "stop"]


def run_to_end(t, server, limit, places, more="", patience=120):
    gdb = t.gdb(server, prog=t.prog("slide"), limit=patience, python=PLANT % places + more + """
for _ in range(%d):
    gdb.execute("continue")
    emit_place()
emit_rows("stopped", places)
gdb.execute("info auxv")
gdb.execute("info threads")
gdb.execute("info proc")
gdb.execute("remote get /proc/self/limits %s")
gdb.execute("continue")
""" % (len(stops(places)), t.dir / "limits"))
    t.match(r"exited normally", gdb.output())
    t.match(r"AT_PHDR", gdb.output())
    t.match(rf"Max open files +{limit} +{limit} ", (t.dir / "limits").read_text())
    return gdb


def resource_limit(server):
    with open(f"/proc/{server.serving}/limits", encoding="ascii") as file:
        return re.search(r"Max open files +(\d+)", file.read()).group(1)


def test_more_breakpoints_than_descriptors(t):
    """Some are the kernel's, the others the server's; each stops where it should."""
    server = slide(t)
    need_uprobes(t, server)
    gdb = run_to_end(t, server, LIMIT, PLACES, more="""
gdb.execute("monitor explain 290")
""")
    t.equal(places_of(gdb), stops(PLACES), "stops")
    rows = [r for r in gdb.results if r["what"] != "stop"]
    t.equal(len(rows), 2, "tables")
    for row in rows:
        t.equal(row["all"], PLACES, "locations")
        t.check(20 < row["kernel"] < LIMIT / 2, f"some of them in the kernel: {row}")
    if not t.config.engine:
        t.match(rf"{LIMIT - RESERVE} of {LIMIT} descriptors are in use.*raise ulimit -n", gdb.output())
    t.equal(server.wait(), 0, "exit status of the server")


def test_descriptors_of_removed(t):
    """What was removed makes room for what comes, with no resume between them."""
    server = slide(t)
    need_uprobes(t, server)
    gdb = t.gdb(server, prog=t.prog("slide"), python=PLANT % PLACES + """
for _ in range(3):
    gdb.execute("delete")
    plant(40, 300)
    emit_rows("again", 40, 300)
    plant(40, 400)
    gdb.execute("delete")
    plant(40, 500)
    emit_rows("again", 40, 500)
""")
    again = [r["kernel"] for r in gdb.results if r["what"] == "again"]
    t.equal(again, 6 * [40], "how many of those that are wanted are the kernel's")


def test_programs_have_their_own_limit(t):
    """What the server starts gets the limits that the server was given: shell, wrapper,
    program."""
    t.truehit_only("limit of descriptors")
    log = t.dir / "seen"
    wrapper = t.dir / "wrapper"
    wrapper.write_text(f'#!/bin/sh\nulimit -Sn >>{log}\nulimit -Hn >>{log}\nexec "$@"\n')
    wrapper.chmod(0o755)
    server = t.server("--wrapper", wrapper, "--", "COMM", "/bin/sh", "-c",
                      "ulimit -Sn; ulimit -Hn", preexec=limits(150, 400))
    t.equal(resource_limit(server), "400", "the server's own limit")
    gdb = t.gdb(server, "continue")
    t.match("exited normally", gdb.output())
    t.match(r"\n150\n400\n", server.output())
    t.equal(log.read_text(), "150\n400\n", "what the wrapper saw")


def test_many_breakpoints(t):
    """As many as somebody may want: BREAKPOINTS=4000 takes minutes."""
    count = int(os.environ.get("BREAKPOINTS", "600"))
    for limit in (1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1]):
        server = slide(t, limit=limit)
        need_uprobes(t, server)
        gdb = run_to_end(t, server, limit, count, patience=600)
        t.equal(places_of(gdb), stops(count), "stops")
        rows = [r for r in gdb.results if r["what"] != "stop"]
        t.equal(rows[-1]["all"], count, "locations")
        t.note(f"limit {limit}: {rows}")
        server.wait()
