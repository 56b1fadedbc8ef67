# SPDX-License-Identifier: BSD-2-Clause
"""gdb's machine interface, which IDEs speak. Its records, in their order, are those that it
has with gdbserver, where that is installed."""
import re
import shutil

import harness
import mi

EXTENSION = harness.ROOT / "scripts" / "truehit-gdb.py"
# What is another one in each process.
VOLATILE = re.compile(r"^(0x[0-9a-f]+|\d{2,}(\.\d+)?|Thread \d+\.\d+)$")


def plain(value):
    """Without addresses and numbers of processes."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()
                if key not in ("pid", "core", "cores", "target-id", "original-location", "fullname")}
    if isinstance(value, list):
        return [plain(part) for part in value]
    return "*" if VOLATILE.match(value) else value


def records(gdb):
    """But for trace state variables, of which gdbserver has one from the start."""
    return [(record.name, plain(record.results)) for _, record in gdb.records()
            if record.name != "=tsv-created"]


def play(t, scenario, program, *arguments, first=()):
    """With truehit, and with gdbserver: what scenario() returns, and all records."""
    found = []
    servers = [[t.config.server]] + ([["gdbserver"]] if shutil.which("gdbserver") else [])
    for program_of_server in servers:
        server = t.server("--once", "COMM", t.prog(program), *arguments, program=program_of_server)
        gdb = mi.Mi(t, *first, prog=t.prog(program))
        gdb.ask("-gdb-set mi-async on")
        gdb.connect(server)
        result = scenario(gdb, program_of_server == [t.config.server])
        gdb.close()
        found.append((result, records(gdb)))
    for other in found[1:]:
        t.equal(found[0][0], other[0], "results with truehit and with gdbserver")
        for number, pair in enumerate(zip(found[0][1], other[1])):
            t.equal(pair[0], pair[1], f"record {number} with truehit and with gdbserver")
        t.equal(len(found[0][1]), len(other[1]), "records with truehit and with gdbserver")
    return found[0][0]


def times(gdb):
    """How often gdb has hit each of its breakpoints."""
    rows = gdb.ask("-break-list")["BreakpointTable"]["body"]
    return {row["number"]: int(row["times"]) for row in rows}


def test_conditions(t):
    """Only true hits are told, and truehit decides the others."""
    def scenario(gdb, is_truehit):
        gdb.ask(f'-break-insert -c "i % 10 == 3" {t.line("loop.c", "BODY")}')
        gdb.ask(f'-break-insert {t.line("loop.c", "AFTER")}')
        stops = []
        while not stops or stops[-1][0] == "1":
            stop = gdb.go()
            stops.append((stop["bkptno"], gdb.value("i") if stop["bkptno"] == "1" else ""))
        if is_truehit and not t.config.reference:
            row = next(row for row in harness.breakpoint_rows(gdb.command("monitor breakpoints"))
                       if "main" in row["text"] and row["false"])
            t.equal((row["false"], row["true"]), (27, 3), "false and true hits")
        else:
            gdb.command("echo")
        return stops, times(gdb), gdb.go()["reason"]
    stops, hits, reason = play(t, scenario, "loop", "30")
    t.equal(stops, [("1", "3"), ("1", "13"), ("1", "23"), ("2", "")], "stops")
    t.equal((hits, reason), ({"1": 3, "2": 1}, "exited-normally"), "counts, and the end")


def test_ignore_counts(t):
    """Also one that is set later."""
    def scenario(gdb, _):
        gdb.ask(f'-break-insert -i 5 {t.line("loop.c", "BODY")}')
        gdb.go()
        found = [gdb.value("i")]
        gdb.ask("-break-after 1 7")
        gdb.go()
        found.append(gdb.value("i"))
        gdb.ask('-break-condition 1 "i % 2 == 0"')
        gdb.ask("-break-after 1 2")
        gdb.go()
        return [*found, gdb.value("i"), times(gdb)]
    t.equal(play(t, scenario, "loop", "30"), ["5", "13", "18", {"1": 17}], "i, and hits")


def test_ignore_counts_extension(t):
    """truehit counts, if it is asked to; the stops are the same, and so is what is left."""
    t.truehit_only("counts handed over")
    server = t.server("--once", "COMM", t.prog("loop"), "1000")
    gdb = mi.Mi(t, f"source {EXTENSION}", "set truehit ignore-counts on", prog=t.prog("loop"))
    gdb.connect(server)
    gdb.ask(f'-break-insert -i 500 {t.line("loop.c", "BODY")}')
    gdb.ask(f'-break-insert -t -c "i == 100" {t.line("loop.c", "BODY")[:-2]}36')
    t.equal((gdb.go()["bkptno"], gdb.value("i")), ("2", "100"), "the first stop")
    rows = gdb.ask("-break-list")["BreakpointTable"]["body"]
    t.equal([row.get("ignore") for row in rows], ["399"], "what is left")
    t.equal([gdb.go("-exec-next")["reason"] for _ in range(2)], ["end-stepping-range"] * 2, "steps")
    gdb.go()
    t.equal(gdb.value("i"), "500", "i at the last stop")
    t.equal(sum(int(row["text"].split()[10]) for row in harness.breakpoint_rows(
        gdb.command("monitor breakpoints"))), 499, "hits that truehit has ignored")
    gdb.close()


def test_watch(t):
    t.need_breakpoint_registers()

    def scenario(gdb, _):
        gdb.ask("-break-insert main")
        gdb.go()
        gdb.ask("-break-watch watched")
        gdb.ask("-break-watch -a counter")
        found = []
        while (stop := gdb.go())["reason"] in ("watchpoint-trigger", "access-watchpoint-trigger"):
            found.append((stop["reason"], stop["value"]["new"]))
        return found
    found = play(t, scenario, "crew", "watch")
    t.equal(found, [("watchpoint-trigger", "1"), ("watchpoint-trigger", "2")], "changes")


def test_interrupt(t):
    """A program that runs, in all-stop mode and in non-stop mode: in its loop, so that the
    frames are the same."""
    for non_stop in "off", "on":
        def scenario(gdb, _):
            gdb.ask(f'-break-insert -t {t.line("loop.c", "BODY")}')
            gdb.go()
            found = []
            for _ in range(2):
                gdb.ask("-exec-continue", "running")
                gdb.ask("-exec-interrupt")
                found.append(gdb.next("*stopped")["signal-name"])
            gdb.ask("-target-detach")
            return found
        wanted = ["SIGINT" if non_stop == "off" else "0"] * 2
        t.equal(play(t, scenario, "loop", "3000000000", first=[f"set non-stop {non_stop}"]), wanted,
                f"signals with non-stop {non_stop}")


def test_dprintf(t):
    """By gdb, at each hit."""
    def scenario(gdb, _):
        gdb.ask(f'-dprintf-insert {t.line("loop.c", "BODY")} "i is %ld" i')
        gdb.ask(f'-break-insert {t.line("loop.c", "AFTER")}')
        stop = gdb.go()
        return stop["bkptno"], re.findall(r"i is \d+", gdb.printed()), times(gdb)
    t.equal(play(t, scenario, "loop", "7"),
            ("2", [f"i is {i}" for i in range(7)], {"1": 7, "2": 1}), "stop, lines and hits")


def test_dprintf_agent(t):
    """By truehit, in the records for what a target prints."""
    t.truehit_only("lines in gdb's console")
    server = t.server("--once", "COMM", t.prog("loop"), "7")
    gdb = mi.Mi(t, "set dprintf-style agent", prog=t.prog("loop"))
    gdb.connect(server)
    gdb.ask(f'-dprintf-insert {t.line("loop.c", "BODY")} "i is %ld" i')
    gdb.ask(f'-break-insert {t.line("loop.c", "AFTER")}')
    t.equal(gdb.go()["bkptno"], "2", "the stop")
    t.equal(re.findall(r"i is \d+", gdb.printed()), [f"i is {i}" for i in range(7)], "lines")
    gdb.close()


def test_steps(t):
    """Steps, the stack and variables."""
    def scenario(gdb, _):
        gdb.ask(f'-break-insert {t.line("crew.c", "FIRST")}')
        gdb.go()
        gdb.go("-exec-step")
        frames = [frame["func"] for frame in gdb.ask("-stack-list-frames")["stack"]]
        arguments = gdb.ask("-stack-list-variables --simple-values")["variables"]
        result = gdb.go("-exec-finish")
        gdb.go("-exec-next")
        gdb.go("-exec-next-instruction")
        gdb.ask("-var-create sum * second")
        gdb.go("-exec-next")
        changed = gdb.ask("-var-update --all-values sum")["changelist"]
        return frames, arguments, result["return-value"], changed
    frames, arguments, result, _ = play(t, scenario, "crew", "calls")
    t.equal((frames, result), (["add", "calls", "main"], "5"), "frames, and what add() returns")
    t.equal([argument["value"] for argument in arguments][:2], ["2", "3"], "arguments")


def test_fork(t):
    """Process groups come and go."""
    def scenario(gdb, _):
        gdb.ask("-gdb-set detach-on-fork off")
        gdb.ask("-gdb-set follow-fork-mode child")
        gdb.ask(f'-break-insert {t.line("crew.c", "ADD")}')
        stop = gdb.go()
        groups = gdb.ask("-list-thread-groups")["groups"]
        return stop["frame"]["func"], sorted(group["id"] for group in groups)
    t.equal(play(t, scenario, "crew", "fork"), ("add", ["i1", "i2"]), "stop, and groups")
