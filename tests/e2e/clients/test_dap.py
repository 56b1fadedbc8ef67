# SPDX-License-Identifier: BSD-2-Clause
"""What an editor does, by gdb's own debug adapter and by that of VS Code's extension "CDT GDB
Debug Adapter"."""
import os

import dap
import harness
from test_counts import CONDITION, true_hits

EXTENSION = harness.ROOT / "scripts" / "truehit-gdb.py"
CREW = harness.SOURCES / "processes" / "crew.c"
LOOP = harness.SOURCES / "code" / "loop.c"
SERIAL = harness.SOURCES / "processes" / "serial.c"
THREADS = harness.SOURCES / "processes" / "threads.c"


def line(t, source, marker):
    return int(t.line(source.name, marker).split(":")[1])


class Gdb:
    """Its stop at the connection is one for the editor. While a program on a server runs, it
    can neither detach from it nor kill it."""
    paused = "pause"
    leaves_what_runs = False

    @staticmethod
    def start(t, server, program, breakpoints, functions, first):
        editor = dap.Gdb(t, *first)
        editor.begin("attach", {"target": server.address, "program": program}, breakpoints,
                     functions)
        t.equal(editor.event("stopped")["reason"], "attach", "the first stop")
        return editor, editor.go_on()


class Cdt:
    """It has the program go on when it is connected."""
    paused = "SIGINT"
    leaves_what_runs = True

    @staticmethod
    def start(t, server, program, breakpoints, functions, first):
        editor = dap.Cdt(t)
        target = {"type": "remote", "host": "localhost", "port": str(server.port)}
        editor.begin("attach", dap.Cdt.arguments(t, program, target, *first), breakpoints,
                     functions)
        return editor, editor.event("stopped")


def start(t, kind, program, arguments, breakpoints, functions=(), attach=False, first=()):
    """An editor, the event of the first stop, and the server."""
    if attach:
        server = t.server("--once", "--attach", "COMM", *arguments)
    else:
        server = t.server("--once", "COMM", t.prog(program), *arguments)
    editor, stop = kind.start(t, server, t.prog(program), breakpoints, functions, first)
    return editor, stop, server


def end(t, editor, server):
    """The program ends with the session."""
    editor.ask("terminate")
    editor.event("terminated")
    editor.close()
    server.wait()


# ---- conditions ----

def conditions(t, kind):
    """Of several threads; only true hits are stops, and truehit decides the others."""
    breakpoints = [(THREADS, [{"line": line(t, THREADS, "BODY"), "condition": CONDITION},
                              {"line": line(t, THREADS, "DONE")}])]
    editor, stop, server = start(t, kind, "threads", ("3", "1000"), breakpoints)
    wanted = sum(true_hits(3, 1000))
    for number in range(wanted):
        t.equal(stop["reason"], "breakpoint", "reason of the stop")
        t.equal(editor.value(CONDITION, stop["threadId"]), "1", "the condition at the stop")
        if number < wanted - 1:
            stop = editor.go_on(stop["threadId"])
    if not t.config.reference:
        row = editor.breakpoint_row("body")
        t.equal((row["true"], row["hits"]), (wanted, row["false"] + wanted), "hits")
        if not harness.kernel_conditions(t.config.server):
            t.match(r"\s(kernel|pad)", row["text"])
    stop = editor.go_on(stop["threadId"])
    t.equal(editor.frames(stop["threadId"])[0]["line"], line(t, THREADS, "DONE"), "the last stop")
    t.match(f"already hit {wanted} times", editor.command("info breakpoints"))
    editor.ask("continue", threadId=stop["threadId"])
    editor.event("terminated")
    editor.close()
    t.match(rf"expected {wanted} stops", server.output())


def test_conditions_gdb(t):
    conditions(t, Gdb)


def test_conditions_cdt(t):
    conditions(t, Cdt)


# ---- hit counts and log messages ----

def hit_conditions(t, kind, text, expected):
    """expected: i at the first stops."""
    wanted = {"line": line(t, LOOP, "BODY"), "condition": "i % 3 == 0", "hitCondition": text}
    editor, _, server = start(t, kind, "loop", ("40",), [
        (LOOP, [wanted, {"line": line(t, LOOP, "AFTER")}])])
    found = [editor.value("i")]
    while len(found) < len(expected):
        editor.go_on()
        found.append(editor.value("i"))
    t.equal(found, [str(i) for i in expected], f"i at the stops of hit condition {text}")
    return editor, server


def test_hit_condition_gdb(t):
    """So many hits are no stops."""
    editor, server = hit_conditions(t, Gdb, "5", [15, 18])
    end(t, editor, server)


def test_hit_condition_cdt(t):
    """The Nth hit, and no other; or all those after it."""
    editor, server = hit_conditions(t, Cdt, "5", [12])
    editor.go_on()
    t.equal(editor.frames()[0]["line"], line(t, LOOP, "AFTER"), "the next stop")
    end(t, editor, server)
    editor, server = hit_conditions(t, Cdt, "> 5", [15, 18])
    end(t, editor, server)


def counted(t, kind, text, stops, first):
    """Hit counts with truehit's extension: it has ignored what comes before each stop."""
    t.truehit_only("counts handed over")
    wanted = {"line": line(t, LOOP, "BODY"), "condition": "i % 3 == 0", "hitCondition": text}
    editor, _, server = start(t, kind, "loop", ("1000",), [(LOOP, [wanted])],
                              first=[f"source {EXTENSION}", *first])
    for number, (i, ignored) in enumerate(stops):
        if number > 0:
            editor.go_on()
        t.equal(editor.value("i"), str(i), f"i at the stop of hit condition {text}")
        row = editor.breakpoint_row("main")["text"].split()
        t.equal(int(row[row.index(str(i + 1)) + 4]), ignored, "hits that truehit has ignored")
    return editor, server


def test_hit_condition_extension_gdb(t):
    """In gdb's own adapter, the extension has truehit count."""
    end(t, *counted(t, Gdb, "200", [(600, 200), (603, 200)], []))


def test_hit_condition_extension_cdt(t):
    """Elsewhere, if it is asked to."""
    on = ["set truehit ignore-counts on"]
    end(t, *counted(t, Cdt, "200", [(597, 199)], on))
    end(t, *counted(t, Cdt, "> 200", [(600, 200), (603, 200)], on))


def log_points(t, kind, message, expected):
    """Lines at true hits, and no stop."""
    editor, _, server = start(t, kind, "loop", ("40",), [
        (LOOP, [{"line": line(t, LOOP, "BODY"), "condition": "i % 10 == 7", "logMessage": message},
                {"line": line(t, LOOP, "AFTER")}])])
    t.equal(editor.frames()[0]["line"], line(t, LOOP, "AFTER"), "the only stop")
    shown = [body["output"] for body in editor.events("output") if "seven" in body["output"]]
    t.equal([text.strip() for text in shown], expected, "messages")
    if not t.config.reference:
        row = editor.breakpoint_row("main")
        t.equal((row["false"], row["true"]), (36, 4), "false and true hits")
    end(t, editor, server)


def test_log_message_gdb(t):
    log_points(t, Gdb, "seven: {i} {count + 1}", [f"seven: {i} {i + 1}" for i in (7, 17, 27, 37)])


def test_log_message_cdt(t):
    """It shows the text as it is."""
    log_points(t, Cdt, "seven: {i}", ["seven: {i}"] * 4)


def test_data_breakpoints_cdt(t):
    """Each change is a stop, and all accesses are, if they are asked for."""
    t.need_breakpoint_registers()
    breakpoints = [(CREW, [{"line": line(t, CREW, "WRITE")}])]
    editor, _, server = start(t, Cdt, "crew", ("watch",), breakpoints)
    info = editor.ask("dataBreakpointInfo", name="watched")
    editor.set(CREW, [{"line": line(t, CREW, "WRITTEN")}])
    editor.ask("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"],
                                                   "accessType": "write"}])
    found = []
    while not found or editor.frames()[0]["line"] != line(t, CREW, "WRITTEN"):
        editor.go_on()
        found.append(editor.value("watched"))
    t.equal(found, ["1", "2", "2"], "values at the stops")
    end(t, editor, server)


# ---- looking and moving ----

def moves(t, kind):
    """Steps, the stack, and variables."""
    breakpoints = [(CREW, [{"line": line(t, CREW, "FIRST")}])]
    editor, _, server = start(t, kind, "crew", ("calls",), breakpoints,
                              functions=[{"name": "half"}])
    t.equal(editor.frames()[0]["line"], line(t, CREW, "FIRST"), "the first stop")
    t.equal(editor.move("stepIn")["reason"], "step", "reason of a step's stop")
    frames = editor.frames()
    t.equal([frame["name"] for frame in frames[:3]], ["add", "calls", "main"], "the stack")
    t.equal(frames[0]["line"], line(t, CREW, "ADD"), "the line")
    variables = editor.variables(frames[0])
    t.equal((variables["a"], variables["b"]), ("2", "3"), "arguments")
    editor.move("next")
    t.equal(editor.variables(editor.frames()[0])["sum"], "5", "a local variable")
    editor.move("stepOut")
    t.equal(editor.frames()[0]["name"], "calls", "the function after a step out")
    editor.move("next")
    t.equal(editor.frames()[0]["line"], line(t, CREW, "SECOND"), "the line after a step")
    t.equal(editor.value("first + 1"), "6", "an expression")
    t.match("breakpoint", editor.go_on()["reason"])
    t.equal([frame["name"] for frame in editor.frames()[:2]], ["half", "calls"], "the stack")
    end(t, editor, server)


def test_moves_gdb(t):
    moves(t, Gdb)


def test_moves_cdt(t):
    moves(t, Cdt)


def threads(t, kind):
    """Each has its own stack."""
    breakpoints = [(CREW, [{"line": line(t, CREW, "MEET"), "condition": "id == 2"}])]
    editor, stop, server = start(t, kind, "crew", ("threads", "4"), breakpoints)
    found = editor.threads()
    t.equal(len(found), 5, "threads")
    t.equal(editor.value("id", stop["threadId"]), "2", "id of the thread that has stopped")
    names = {thread["id"]: [frame["name"] for frame in editor.frames(thread["id"])]
             for thread in found}
    t.equal(names[stop["threadId"]][:2], ["meet", "member"], "its stack")
    t.check("main" in names[1], f"the first thread's stack: {names[1]}")
    end(t, editor, server)


def test_threads_gdb(t):
    threads(t, Gdb)


def test_threads_cdt(t):
    threads(t, Cdt)


# ---- pausing, leaving, ending ----

class Counting:
    """A program that somebody else has started, with several threads."""

    def __init__(self, t):
        self.program = harness.Process(t, [t.prog("serial"), "3", "1000000000000"])
        self.pid = self.program.pid

    def is_free(self):
        return (self.program.process.poll() is None and harness.tracer_of(self.pid) == 0
                and harness.process_state(self.pid) in "RSD")


def leaves(t, kind):
    """Pause; then the session ends, from a stop and, if that can be, while it runs."""
    wanted = [{"line": line(t, SERIAL, "TURN"), "condition": "turns % 1000 == 77"}]
    for running in (False, True) if kind.leaves_what_runs else (False,):
        counting = Counting(t)
        editor, stop, server = start(t, kind, "serial", (counting.pid,), [(SERIAL, wanted)],
                                     attach=True)
        t.equal(int(editor.value("turns", stop["threadId"])) % 1000, 77, "turns at the stop")
        editor.set(SERIAL, [])
        editor.ask("continue", threadId=stop["threadId"])
        t.equal(editor.pause(stop["threadId"])["reason"], kind.paused, "reason of a pause")
        t.equal(len(editor.threads()), 3, "threads")
        if running:
            editor.ask("continue", threadId=stop["threadId"])
        editor.ask("disconnect")
        editor.close()
        server.wait()
        harness.wait_for(counting.is_free, "the program lives on")


def test_leaves_gdb(t):
    leaves(t, Gdb)


def test_leaves_cdt(t):
    leaves(t, Cdt)


def test_changes_while_running_cdt(t):
    """A breakpoint that is set while the program runs."""
    counting = Counting(t)
    place = line(t, SERIAL, "TURN")
    editor, stop, server = start(t, Cdt, "serial", (counting.pid,), [(SERIAL, [{"line": place}])],
                                 attach=True)
    editor.set(SERIAL, [])
    editor.ask("continue", threadId=stop["threadId"])
    editor.set(SERIAL, [{"line": place, "condition": "turns % 1000 == 88"}])
    stop = editor.event("stopped")
    t.equal(int(editor.value("turns", stop["threadId"])) % 1000, 88, "turns at the stop")
    editor.ask("disconnect")
    editor.close()
    server.wait()
    harness.wait_for(counting.is_free, "the program lives on")


def test_launch_cdt(t):
    """A server that the adapter starts, and ends with the program, whose output it shows."""
    editor = dap.Cdt(t)
    target = {"server": t.config.server, "serverParameters": ["--once", ":0", t.prog("loop"), "3"]}
    editor.begin("launch", dap.Cdt.arguments(t, t.prog("loop"), target),
                 [(LOOP, [{"line": line(t, LOOP, "BODY"), "condition": "i == 2"}])])
    editor.event("stopped")
    t.equal(editor.value("i"), "2", "i at the stop")
    editor.ask("continue", threadId=1)
    editor.event("terminated")
    t.match(r"^3 iterations", editor.output())
    editor.ask("disconnect")
    editor.close()


def test_terminate_ends_it_cdt(t):
    """As does the end of a session that was launched."""
    for command in "terminate", "disconnect":
        editor = dap.Cdt(t)
        target = {"server": t.config.server,
                  "serverParameters": ["--once", ":0", t.prog("loop"), "1000000000"]}
        editor.begin("launch", dap.Cdt.arguments(t, t.prog("loop"), target),
                     [(LOOP, [{"line": line(t, LOOP, "BODY"), "condition": "i == 77"}])])
        editor.event("stopped")
        pid = int(t.match(r"created; pid = (\d+)", editor.output()).group(1))
        editor.ask("continue", threadId=1)
        editor.ask(command)
        editor.close()
        harness.wait_for(lambda pid=pid: not os.path.exists(f"/proc/{pid}"), "the program's end")


def test_terminate_ends_it_gdb(t):
    editor, _, server = start(t, Gdb, "loop", ("1000000000",), [
        (LOOP, [{"line": line(t, LOOP, "BODY"), "condition": "i == 77"}])])
    pid = server.inferior()
    editor.ask("continue", threadId=1)
    editor.pause()
    end(t, editor, server)
    t.check(not os.path.exists(f"/proc/{pid}"), "the program is gone")
