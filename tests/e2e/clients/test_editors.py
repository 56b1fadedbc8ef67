# SPDX-License-Identifier: BSD-2-Clause
"""examples/vscode: each configuration does what its README says, played by the extension's
adapter, or, for an extension that cannot be had alone, by what it has gdb do."""
import json
import os
import re
import shutil
import socket

import dap
import harness
import mi

EXAMPLES = harness.ROOT / "examples"
VSCODE = EXAMPLES / "vscode"
CONDITION = "ring->pushed == 777"


def read(name):
    """JSON with comments in lines of their own."""
    text = (VSCODE / name).read_text(encoding="utf-8")
    return json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.M))


def filled_in(value, variables):
    """With the values of VS Code's variables, and another port than the examples have."""
    if isinstance(value, dict):
        return {key: filled_in(part, variables) for key, part in value.items()}
    if isinstance(value, list):
        return [filled_in(part, variables) for part in value]
    if isinstance(value, str):
        value = re.sub(r":1234\b", f":{variables['port']}", value)
        return re.sub(r"\$\{([^}]+)\}", lambda match: variables[match[1]], value)
    return value


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Project:
    """A directory with an open file, and what VS Code makes of the examples there."""

    def __init__(self, t, **inputs):
        t.truehit_only("examples")
        self.t = t
        self.source, self.program = t.dir / "ring.c", t.dir / "ring"
        shutil.copy(EXAMPLES / "ring.c", self.source)
        self.variables = {"file": str(self.source), "fileDirname": str(t.dir),
                          "fileBasenameNoExtension": "ring", "port": str(free_port()),
                          **{f"input:{name}": str(value) for name, value in inputs.items()}}
        tools = t.dir / "tools"
        tools.mkdir()
        (tools / "truehit").symlink_to(t.config.server)
        (tools / "gdb").symlink_to(t.config.gdb)
        self.environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}",
                                HOME=str(t.dir), DEBUGINFOD_URLS="")

    def configuration(self, name):
        """Its tasks have been run."""
        found = next(c for c in read("launch.json")["configurations"] if c["name"] == name)
        if "preLaunchTask" in found:
            self.run_task(found["preLaunchTask"])
        return filled_in(found, self.variables)

    def run_task(self, label):
        task = next(task for task in read("tasks.json")["tasks"] if task["label"] == label)
        if "dependsOn" in task:
            self.run_task(task["dependsOn"])
        task = filled_in(task, self.variables)
        process = harness.Process(self.t, [task["command"], *task["args"]],
                                  env=self.environment)
        if task.get("isBackground"):
            background = task["problemMatcher"]["background"]
            process.wait_output("(?m)" + background["endsPattern"])
        else:
            self.t.equal(process.wait(), 0, f"status of the task {label}")

    def line(self, text):
        lines = self.source.read_text(encoding="utf-8").splitlines()
        return next(number for number, line in enumerate(lines, 1) if text in line)

    def begin(self, editor, configuration, line, condition):
        arguments = {key: value for key, value in configuration.items()
                     if key not in ("name", "type", "request", "preLaunchTask")}
        editor.begin(configuration["request"], arguments,
                     [(self.source, [{"line": line, "condition": condition}])])

    def play(self, editor, configuration):
        """A breakpoint with a condition stops the program once, and is decided by truehit."""
        self.begin(editor, configuration, self.line("ring->pushed++"), CONDITION)
        stop = editor.event("stopped")
        if stop["reason"] == "attach":
            stop = editor.go_on()
        self.t.equal(stop["reason"], "breakpoint", "reason of the stop")
        self.t.equal(editor.value("ring->pushed"), "777", "value at the stop")
        self.check(editor.command("monitor breakpoints"))

    def check(self, table):
        row = next(row for row in harness.breakpoint_rows(table) if " push+" in row["text"])
        self.t.equal((row["false"], row["true"]), (777, 1), "false and true hits")


def is_free(process):
    """It runs, and nobody traces it."""
    return (process.process.poll() is None and harness.tracer_of(process.pid) == 0
            and harness.process_state(process.pid) in "RSD")


def test_launch(t):
    project, editor = Project(t), None
    configuration = project.configuration("truehit: launch")
    editor = dap.Cdt(t, project.environment)
    project.play(editor, configuration)
    editor.ask("disconnect")
    editor.close()


def test_attach(t):
    """The process lives on."""
    program = harness.Process(t, [t.prog("serial"), "3", "1000000000000"])
    project = Project(t, pid=program.pid)
    project.source = harness.SOURCES / "processes" / "serial.c"
    editor = dap.Cdt(t, project.environment)
    project.begin(editor, project.configuration("truehit: attach to a process"),
                  project.line("/* TURN */"), "turns % 100000 == 77777")
    stop = editor.event("stopped")
    t.equal(int(editor.value("turns", stop["threadId"])) % 100000, 77777, "turns at the stop")
    t.check(harness.tracer_of(program.pid) != 0, "it has a tracer")
    editor.ask("disconnect")
    editor.close()
    harness.wait_for(lambda: is_free(program), "the process lives on")


def connected(t, name):
    """A server that somebody has started, and the configuration."""
    project = Project(t, address="")
    project.run_task("build the open file")
    server = t.server("--once", "COMM", project.program)
    project.variables["input:address"] = f"localhost:{server.port}"
    return project, project.configuration(name), server


def test_connect(t):
    project, configuration, server = connected(t, "truehit: connect to a server")
    editor = dap.Cdt(t, project.environment)
    project.play(editor, configuration)
    editor.ask("disconnect")
    editor.close()
    server.wait()


# ---- C/C++ ("cppdbg") ----

def play_cppdbg(project, configuration):
    """What the extension has gdb do with such a configuration."""
    gdb = mi.Mi(project.t, prog=configuration["program"])
    extended = configuration.get("useExtendedRemote")
    gdb.ask(f"-target-select {'extended-remote' if extended else 'remote'} "
            + configuration["miDebuggerServerAddress"], "connected")
    return gdb


def stop_cppdbg(project, gdb):
    line = project.line("ring->pushed++")
    gdb.ask(f'-break-insert -c "{CONDITION}" ring.c:{line}')
    stop = gdb.go()
    while stop.get("reason") != "breakpoint-hit":  # that of having connected came first
        stop = gdb.next("*stopped")
    project.t.equal(gdb.value("ring->pushed"), "777", "value at the stop")
    project.check(gdb.command("monitor breakpoints"))
    gdb.ask("-target-disconnect")
    gdb.close()


def test_launch_cppdbg(t):
    project = Project(t)
    configuration = project.configuration("truehit: launch (cppdbg)")
    stop_cppdbg(project, play_cppdbg(project, configuration))


def test_connect_cppdbg(t):
    project, configuration, server = connected(t, "truehit: connect to a server (cppdbg)")
    stop_cppdbg(project, play_cppdbg(project, configuration))
    server.wait()


def test_attach_cppdbg(t):
    """A process that is chosen from a list, and lives on."""
    program = harness.Process(t, [t.prog("serial"), "3", "1000000000000"])
    project = Project(t, program=t.prog("serial"))
    gdb = play_cppdbg(project, project.configuration("truehit: attach to a process (cppdbg)"))
    rows = gdb.ask("-info-os processes")["OSDataTable"]["body"]
    t.equal([row["col2"].split()[0] for row in rows if row["col0"] == str(program.pid)],
            [t.prog("serial")], "the command of the process in the list")
    gdb.ask(f"-target-attach {program.pid}")
    gdb.next("*stopped")
    gdb.ask('-break-insert -c "turns % 100000 == 77777" serial.c:'
            + t.line("serial.c", "TURN").split(":")[1])
    t.equal(gdb.go()["reason"], "breakpoint-hit", "reason of the stop")
    t.equal(int(gdb.value("turns")) % 100000, 77777, "turns at the stop")
    gdb.ask("-target-detach")
    gdb.close()
    harness.wait_for(lambda: is_free(program), "the process lives on")


# ---- gdb's own adapter ----

def readme_targets():
    """The requests that README.md shows for gdb's own adapter."""
    text = (VSCODE / "README.md").read_text(encoding="utf-8")
    return [json.loads(line) for line in re.findall(r'^ +(\{ "request": .*\})$', text, re.M)]


def fit(project, request, **names):
    """One of them, for this program."""
    text = json.dumps(request)
    for name, value in {"/path/prog": project.program, "| truehit": f"| {project.t.config.server}",
                        **names}.items():
        text = text.replace(name, str(value))
    return json.loads(text)


def test_gdb_connects(t):
    project = Project(t)
    editor = dap.Gdb(t)
    project.run_task("build the open file")
    server = t.server("--once", "COMM", project.program)
    request = fit(project, readme_targets()[0], **{":1234": server.address})
    project.play(editor, request)
    editor.ask("disconnect", terminateDebuggee=True)
    editor.close()
    server.wait()


def test_gdb_starts_a_server(t):
    project = Project(t)
    editor = dap.Gdb(t)
    project.run_task("build the open file")
    project.play(editor, fit(project, readme_targets()[1]))
    editor.ask("disconnect", terminateDebuggee=True)
    editor.close()


def test_gdb_attaches(t):
    program = harness.Process(t, [t.prog("serial"), "3", "1000000000000"])
    project = Project(t)
    project.source = harness.SOURCES / "processes" / "serial.c"
    editor = dap.Gdb(t)
    request = fit(project, readme_targets()[2], **{"4711": program.pid})
    project.begin(editor, request, project.line("/* TURN */"), "turns % 100000 == 77777")
    t.equal(editor.event("stopped")["reason"], "attach", "the first stop")
    stop = editor.go_on()
    t.equal(int(editor.value("turns", stop["threadId"])) % 100000, 77777, "turns at the stop")
    editor.ask("disconnect")
    editor.close()
    harness.wait_for(lambda: is_free(program), "the process lives on")


# ---- the files ----

def test_files(t):
    """Tasks and inputs that are named are there, and README.md tells of each configuration."""
    launch, tasks = read("launch.json"), read("tasks.json")
    labels = [task["label"] for task in tasks["tasks"]]
    readme = (VSCODE / "README.md").read_text(encoding="utf-8")
    for configuration in launch["configurations"]:
        t.check(f"| {configuration['name']} |" in readme, f"README.md: {configuration['name']}")
        t.check(configuration.get("preLaunchTask", labels[0]) in labels, "its task")
    t.check(all(task.get("dependsOn", labels[0]) in labels for task in tasks["tasks"]), "tasks")
    t.equal(set(re.findall(r"\$\{input:(\w+)\}", json.dumps(launch))),
            {given["id"] for given in launch["inputs"]}, "inputs")
