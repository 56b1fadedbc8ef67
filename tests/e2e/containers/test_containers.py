# SPDX-License-Identifier: BSD-2-Clause
"""Programs in containers, made of name spaces as container engines make them: the server
inside or outside, with few rights or none. doc/containers.md shows the same with docker,
podman and Kubernetes."""
import os
import re
import shlex
import subprocess

import harness

ISOLATED = ("--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
# Of any engine: what the user sees.
SESSION = """
run("break tick if id == 2")
found = []
for _ in range(3):
    run("continue")
    found.append([gdb.selected_frame().name(), value("id"), gdb.selected_frame().older().name()])
emit(found=found, threads=len(gdb.selected_inferior().threads()),
     table=run("monitor breakpoints"))
run("detach")
"""
STOPS = [["tick", "2", "worker"]] * 3


def need_name_spaces(t, *options, preexec=None):
    t.need_tool("unshare")
    done = subprocess.run(["unshare", *options, "true"], capture_output=True, text=True,
                          check=False, preexec_fn=preexec)
    if done.returncode:
        t.skip("no such name spaces here: " + done.stderr.strip())


def process_of(t, parent, name):
    """The one, of a process and its descendants, that executes a file of this name."""
    def find():
        for pid in [parent.pid, *harness.descendants(parent.pid)]:
            try:
                if os.path.basename(os.readlink(f"/proc/{pid}/exe")) == name:
                    return pid
            except OSError:
                continue
        t.check(parent.process.poll() is None, f"it has ended: {parent.output()}")
        return None
    return harness.wait_for(find, name)


class Container:
    """A program with three threads, first process of its name spaces, in a file that only
    those have."""

    def __init__(self, t, *options):
        t.need_root("make such name spaces")
        need_name_spaces(t, *options)
        self.app = t.dir / "app"
        self.app.mkdir()
        script = (f"mount -t tmpfs none {self.app} && cp {t.prog('attach')} {self.app} && "
                  f"exec {self.app}/attach {self.app}/counts 3")
        self.unshare = harness.Process(t, ["unshare", *options, "sh", "-c", script])
        self.pid = process_of(t, self.unshare, "attach")
        t.check(not (self.app / "attach").exists(), "the file is here, too: no test")

    def must_run(self, t):
        """Nobody traces it, and it goes on."""
        harness.wait_for(lambda: harness.tracer_of(self.pid) == 0, "no tracer")
        counts = f"/proc/{self.pid}/root{self.app}/counts"

        def ticks():
            with open(counts, "rb") as file:
                return file.read(24)
        before = ticks()
        harness.wait_for(lambda: ticks() != before, "the program going on")
        t.equal(self.unshare.process.poll(), None, "status of the program")


def pipe_to(t, *words):
    """`target remote | ...`, as with docker exec -i and kubectl exec -i. The commands that
    all tests begin with come after it."""
    command = "target remote | " + " ".join(shlex.quote(str(word)) for word in words)
    choices = [f"monitor set {what} {choice}" for what, choice in
               (("engine", t.config.engine), ("pads", t.config.pads)) if choice]
    return [command, *choices]


def expect_session(t, gdb):
    result = gdb.results[0]
    t.note(result["table"])
    t.equal(result["found"], STOPS, "stops")
    t.equal(result["threads"], 3, "threads")
    return result["table"]


def test_attached_from_the_host(t):
    """All name spaces are others; gdb gets the program's file through the server."""
    t.truehit_only("breakpoints in other name spaces")
    container = Container(t, *ISOLATED, "--net", "--ipc", "--uts", "--user", "--map-root-user")
    server = t.server("--attach", "COMM", container.pid)
    gdb = t.gdb(server, python=SESSION, sysroot="target:")
    table = expect_session(t, gdb)
    t.match(rf"Reading {container.app}/attach from remote target", gdb.output())
    if not t.config.engine:
        t.match(r" (uprobe|perf_event) +kernel | int3 +filter", table)
    container.must_run(t)


def test_executed_in_the_container(t):
    """As by docker exec -i: there the program is process 1, and its file is at hand."""
    t.truehit_only("breakpoints in other name spaces")
    t.need_tool("nsenter")
    container = Container(t, *ISOLATED, "--net", "--ipc")
    gdb = t.gdb(None, *pipe_to(t, "nsenter", "-t", container.pid, "-m", "-p", "-n", "-i",
                               t.config.server, "--once", "--attach", "-", 1),
                python=SESSION, sysroot="target:")
    expect_session(t, gdb)
    t.match(r"^Attached; pid = 1$", gdb.output())
    container.must_run(t)


def test_beside_the_container(t):
    """As an ephemeral container of Kubernetes: it shares the PID name space only, and has
    no capability but one."""
    t.truehit_only("breakpoints in other name spaces")
    t.need_tool("setpriv")
    container = Container(t, "--mount", "--net", "--ipc")
    words = ["unshare", "--mount", "setpriv", "--bounding-set=-all,+sys_ptrace",
             "--inh-caps=-all", t.config.server]
    gdb = t.gdb(None, *pipe_to(t, *words, "--once", "--attach", "-", container.pid),
                python=SESSION, sysroot="target:")
    table = expect_session(t, gdb)
    t.no_match(" kernel ", table)
    container.must_run(t)


def run_inside(t, program, preexec=None):
    """The server starts the program; gdb is outside, at the port that they share."""
    prog = t.prog("conditions")
    server = harness.Server(t, ["COMM", prog], program=program, preexec=preexec)
    gdb = t.gdb(server, f"break {t.line('conditions.c', 'BODY')} if i % 20 == 7", prog=prog,
                python="""
found = []
for _ in range(3):
    run("continue")
    found.append([value("i"), gdb.selected_frame().older().name()])
emit(found=found, table=run("monitor breakpoints"))
run("kill")
""")
    t.equal(gdb.results[0]["found"], [["7", "main"], ["27", "main"], ["47", "main"]], "stops")
    t.equal(server.wait(), 0, "status of the server")
    return gdb.results[0]["table"]


def test_inside_without_rights(t):
    """As rootless podman: root in there is nobody outside."""
    t.truehit_only("a table of breakpoints")
    start = t.without_rights()
    t.public_copy(t.prog("conditions"))
    options = ("--user", "--map-root-user", *ISOLATED)
    need_name_spaces(t, *options, preexec=start["preexec"])
    table = run_inside(t, ["unshare", *options, *start["program"]], start["preexec"])
    t.no_match(" kernel ", table)


def without(t, script):
    """The server where the script has changed the files of a mount name space."""
    t.need_root("mount")
    need_name_spaces(t, *ISOLATED)
    inside = f'{script} && exec "$0" "$@"'
    done = subprocess.run(["unshare", *ISOLATED, "sh", "-c", inside, "true"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        t.skip("such a container cannot be made: " + done.stderr.strip())
    return ["unshare", *ISOLATED, "sh", "-c", inside, t.config.server]


def read_only(but):
    """A script: no file can be made anywhere, not in /tmp either."""
    return ("awk '{ print $2 }' /proc/self/mounts | while read -r place; do "
            f"case $place in {but}) ;; *) mount -o remount,bind,ro \"$place\" 2>/dev/null ;; "
            "esac; done; ! touch /tmp/truehit-touched 2>/dev/null")


def test_read_only_root(t):
    t.truehit_only("a table of breakpoints")
    run_inside(t, without(t, read_only("/proc")))


def test_read_only_proc(t):
    """The program's memory can be written to through its threads only."""
    t.truehit_only("a table of breakpoints")
    run_inside(t, without(t, read_only("none") + " && ! echo 0 2>/dev/null >/proc/self/clear_refs"))


def test_no_proc_sys(t):
    """What the kernel's settings are cannot be read."""
    t.truehit_only("a table of breakpoints")
    program = without(t, "mount -t tmpfs -o ro none /proc/sys && "
                         "! cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null")
    run_inside(t, program)
    done = subprocess.run([*program, "--check"], capture_output=True, text=True, check=False)
    t.check(re.search(r"perf_event_paranoid +", done.stdout), f"--check: {done.stdout}")
    t.equal(done.stderr, "", "errors of --check")
