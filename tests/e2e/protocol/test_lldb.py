# SPDX-License-Identifier: BSD-2-Clause
"""lldb as the client. Each scenario of lldbside.py is played with lldb-server and with
truehit, which has to pass what lldb-server passes."""
import json
import os
import re
import shutil
import subprocess

import harness
from harness import Process, wait_for

SOURCE = harness.SOURCES / "processes" / "crew.c"
LLDB_LIMIT = 240
# Of programs that the scenario does not begin with.
NO_PROGRAM = None


def find_tool(variable, *names):
    """Named by the environment, or the first that is installed."""
    for name in [os.environ.get(variable), *names]:
        if name and shutil.which(name):
            return os.path.abspath(shutil.which(name))
    return None


def versions(name):
    return [name, *(f"{name}-{number}" for number in range(30, 12, -1))]


def find_lldb(t):
    lldb = find_tool("LLDB", *versions("lldb"))
    if not lldb:
        t.skip("lldb is not installed")
    environment = python_of(lldb)
    probe = subprocess.run([lldb, "--batch", "--no-lldbinit", "-o", "script print(6 * 7)"],
                           capture_output=True, text=True, stdin=subprocess.DEVNULL,
                           env=environment, check=False)
    if not re.search(r"^42$", probe.stdout, re.M):
        t.skip("this lldb has no Python")
    return lldb, environment


def python_of(lldb):
    """Debian 12 keeps the modules of lldb's Python elsewhere than lldb looks; and Python
    looks for its own where the first python3 of PATH is."""
    root = os.path.dirname(os.path.dirname(os.path.realpath(lldb)))
    places = [os.path.join(root, "lib", name, "dist-packages")
              for name in sorted(os.listdir(os.path.join(root, "lib")))
              if re.fullmatch(r"python3\.\d+", name)] if os.path.isdir(f"{root}/lib") else []
    places = [place for place in places if os.path.exists(f"{place}/lldb/embedded_interpreter.py")]
    return dict(os.environ, LC_ALL="C", TERM="dumb", PATH=f"/usr/bin:{os.environ['PATH']}",
                PYTHONPATH=":".join([*places, os.environ.get("PYTHONPATH", "")]).rstrip(":"))


def find_lldb_server(lldb):
    beside = os.path.join(os.path.dirname(os.path.realpath(lldb)), "lldb-server")
    return find_tool("LLDB_SERVER", beside, *versions("lldb-server"))


class LldbServer(Process):
    """lldb-server's gdbserver, which tells its port by a FIFO."""

    def __init__(self, test, path, arguments):
        fifo = test.dir / f"port-{len(test.processes)}"
        os.mkfifo(fifo)
        fd = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        super().__init__(test, [path, "gdbserver", "--named-pipe", fifo, "127.0.0.1:0",
                                *arguments])
        text = b""

        def read():
            nonlocal text
            try:
                text += os.read(fd, 16)
            except BlockingIOError:
                pass
            return re.fullmatch(rb"\d+\0", text)
        wait_for(read, "lldb-server's port")
        os.close(fd)
        self.port = int(text[:-1])


class Player:
    """Plays scenarios with one kind of server."""

    def __init__(self, t, lldb_server):
        self.t, self.lldb_server = t, lldb_server

    def serve(self, what, pid):
        """what: the arguments of crew; "attach", to pid; or None."""
        t = self.t
        if self.lldb_server:
            arguments = {None: [], "attach": ["--attach", str(pid)]}.get(
                what, ["--", t.prog("crew"), *(what or "").split()])
            return LldbServer(t, self.lldb_server, arguments).port
        if what is None:
            return t.server("--multi", "COMM").port
        if what == "attach":
            return t.server("--attach", "COMM", pid).port
        return t.server("COMM", t.prog("crew"), *what.split()).port

    def play(self, lldb, environment, scenario, serves, sleeper):
        """The checks by name: whether they passed, and what was found."""
        t = self.t
        pid = 0
        if sleeper:
            program = Process(t, [t.prog("crew"), "sleep"])
            program.wait_output("asleep")
            pid = program.pid
        directory = t.dir / f"place-{len(t.processes)}"
        directory.mkdir()
        config = {"scenario": scenario, "program": t.prog("crew"), "lines": lines(), "pid": pid,
                  "directory": str(directory),
                  "ports": [self.serve(what, pid) for what in serves]}
        run = Process(t, [lldb, "--batch", "--no-lldbinit", "-o",
                          f"command script import {harness.HERE / 'lldbside.py'}"],
                      env=dict(environment, LLDBSIDE=json.dumps(config)))
        run.wait(LLDB_LIMIT)
        checks = [json.loads(line[len("CHECK "):]) for line in run.output().splitlines()
                  if line.startswith("CHECK ")]
        return {name: (passed, found) for name, passed, found in checks}


def lines():
    return {match.group(1): number for number, text in enumerate(
        SOURCE.read_text(encoding="utf-8").splitlines(), 1)
        if (match := re.search(r"/\* ([A-Z0-9]+) \*/", text))}


def compare(t, scenario, *serves, sleeper=False, needed=None):
    """What lldb-server passes, truehit passes; without lldb-server, all has to pass.
    needed: a check that lldb-server passes where the machine has what the scenario is about."""
    t.truehit_only("lldb's packets")
    lldb, environment = find_lldb(t)
    lldb_server = find_lldb_server(lldb)
    arguments = (lldb, environment, scenario, serves, sleeper)
    wanted = Player(t, lldb_server).play(*arguments) if lldb_server else None
    checks = Player(t, None).play(*arguments)
    if wanted is None:
        wanted = checks
        missed = [name for name, (passed, _) in checks.items() if not passed]
    else:
        if needed and not wanted.get(f"{scenario}: {needed}", (False,))[0]:
            t.skip(f"lldb-server does not pass '{needed}' on this machine")
        missed = [name for name, (passed, _) in wanted.items()
                  if passed and not checks.get(name, (False,))[0]]
    for name, (passed, found) in wanted.items():
        if not passed:
            t.note(f"lldb-server does not pass: {name}: {found}")
    for name in missed:
        t.note(f"truehit does not pass: {name}: {checks.get(name, ('', 'not reached'))[1]}")
    passed = sum(1 for passed, _ in checks.values() if passed)
    t.note(f"{scenario}: truehit passes {passed} of {len(checks)} checks, lldb-server "
           f"{sum(1 for passed, _ in wanted.values() if passed)} of {len(wanted)}")
    t.check(len(checks) > 2, "the scenario was not played")
    t.equal(missed, [], "checks that truehit does not pass")


def test_calls(t):
    """Breakpoints, steps, backtraces, registers, expressions, memory, libraries."""
    compare(t, "calls", "calls")


def test_threads(t):
    """Several threads at one breakpoint at once; one of them alone."""
    compare(t, "threads", "threads 4", "threads 4")


def test_watch(t):
    compare(t, "watch", "watch", needed="the reason")


def test_signals(t):
    compare(t, "signals", "signals")


def test_launch(t):
    """Programs that lldb starts: streams, environment, ends; attaching by number."""
    compare(t, "launch", *[NO_PROGRAM] * 5, sleeper=True)


def test_attach(t):
    """To threads that sleep in the kernel: calls, interrupts, detaching."""
    compare(t, "attach", "attach", sleeper=True)


def test_children(t):
    """fork and exec."""
    compare(t, "children", "fork", "exec")
