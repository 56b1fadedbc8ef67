# SPDX-License-Identifier: BSD-2-Clause
"""What the end-to-end tests are written with.

A test is a function that takes a Test. It starts servers and gdbs through it and
states what it expects; a Failure or any other exception fails the test, a Skip
skips it. Time limits are there to end a test that hangs, never to judge speed.
"""
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from machine import (NO_REGISTERS, Skip, breakpoint_registers_fire, has_capabilities, is_emulated_x86,
                     is_virtual, kernel_conditions, kernel_release, libc)

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SOURCES = ROOT / "tests" / "progs"
# Seconds until what hangs is ended, so many times more on a slow machine.
PATIENCE = int(os.environ.get("TRUEHIT_PATIENCE", "1"))
TEST_LIMIT = 600 * PATIENCE
GDB_LIMIT = 300
WAIT_LIMIT = 60
# Of every gdb. To read debug information of the C library, which a machine may have or not,
# takes most of the time of a session; no test needs it.
GDB_OPTIONS = ["-nx", "-q", "-iex", "set debuginfod enabled off", "-iex",
               "set debug-file-directory"]
NOBODY = 65534     # an ordinary user with no rights
# Where the kernel puts a program that is not randomised.
LOADED_AT = {"x86_64": 0x555555554000, "aarch64": 0xaaaaaaaa0000}[os.uname().machine]
CAPABILITIES = "cap_bpf,cap_perfmon+ep"

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
SANITIZER_REPORT = re.compile(
    r"(AddressSanitizer|LeakSanitizer|UndefinedBehaviorSanitizer|runtime error:)")


# Commands of gdb that breakpoint registers are needed for.
IN_REGISTERS = re.compile(
    r"(^|['\"(])\s*(hbreak|thbreak|watch|rwatch|awatch) ", re.M)


class Failure(Exception):
    """The server did not do what was expected."""


@dataclasses.dataclass
class Config:
    server: str          # the program under test
    gdb: str             # the gdb that talks to it
    progs: pathlib.Path  # the directory of the test programs
    reference: bool      # it is not truehit: gdbserver, to compare with
    sanitized: bool      # built with ASan
    engine: str          # what serves breakpoints, by `monitor set engine`; "": any
    pads: str            # the same of `monitor set pads`

    @staticmethod
    def find(build):
        candidates = [build, ".", ROOT / "build", ROOT]
        build = next((pathlib.Path(c).resolve() for c in candidates
                      if c and (pathlib.Path(c) / "truehit").is_file()), pathlib.Path.cwd())
        server = os.environ.get("TRUEHIT") or str(build / "truehit")
        server = shutil.which(server)
        if not server:
            sys.exit("run: no truehit here; build it, or name it in TRUEHIT")
        server = os.path.abspath(server)
        gdb = shutil.which(os.environ.get("GDB") or "gdb")
        if not gdb:
            sys.exit(f"run: no gdb: {os.environ.get('GDB') or 'it is not installed'}")
        gdb = os.path.abspath(gdb)
        progs = pathlib.Path(os.environ.get("TRUEHIT_PROGS") or build / "tests" / "progs")
        if not (progs / "loop").is_file():
            sys.exit(f"run: no test programs in {progs}; `make check TESTS=` builds them")
        version = subprocess.run([server, "--version"], stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True, check=False,
                                 env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
        with open(server, "rb") as file:
            sanitized = b"__asan_init" in file.read()
        return Config(server, gdb, progs, "truehit" not in version.stdout + version.stderr,
                      sanitized, os.environ.get("E2E_ENGINE", ""),
                      os.environ.get("E2E_PADS", ""))


# Processes

def descendants(pid):
    """All live descendants of a process, children first."""
    children = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="latin1") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            children.setdefault(int(fields[1]), []).append(int(entry))
    found, todo = [], [pid]
    while todo:
        for child in children.get(todo.pop(), []):
            found.append(child)
            todo.append(child)
    return found


def end_descendants():
    """Ends everything that this process started, however far removed: as the
    subreaper it inherits what its children leave behind."""
    for _ in range(100):
        left = descendants(os.getpid())
        if not left:
            break
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass


def die_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def wait_for(condition, what, limit=WAIT_LIMIT):
    """Polls until the condition is true; the limit only ends a hang."""
    limit *= PATIENCE
    end = time.monotonic() + limit
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise Failure(f"{what}: not within {limit} s")


def process_state(pid):
    """The state letter of /proc/PID/stat, or None if there is no process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="latin1") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return None


def tracer_of(pid):
    with open(f"/proc/{pid}/status", encoding="latin1") as file:
        return int(re.search(r"TracerPid:\s*(\d+)", file.read()).group(1))


class Process:
    """A process with its output in a file, so that it never blocks on us."""

    def __init__(self, test, argv, env=None, cwd=None, preexec=None, stdin=None, job=False):
        """job: as a shell with job control starts it."""
        self.argv = [str(a) for a in argv]
        self.test = test
        self.log = test.dir / f"output-{len(test.processes)}"
        test.processes.append(self)
        test.note("$ " + " ".join(self.argv))

        def before():
            die_with_parent()
            if job:
                os.setpgid(0, 0)
            if preexec:
                preexec()
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen(
                self.argv, stdin=stdin or subprocess.DEVNULL, stdout=out,
                stderr=subprocess.STDOUT, env=env, cwd=cwd, preexec_fn=before,
                start_new_session=not job)
        self.pid = self.process.pid

    def output(self):
        return self.log.read_text(errors="replace")

    def wait_output(self, regex):
        def look():
            # The state is read first: what was written before the end is seen.
            ended = self.process.poll() is not None
            match = re.search(regex, self.output())
            if not match and ended:
                raise Failure(f"{self.argv[0]} ended with {self.process.returncode} "
                              f"before it printed /{regex}/")
            return match
        return wait_for(look, f"/{regex}/ in the output of {self.argv[0]}")

    def wait(self, limit=WAIT_LIMIT):
        limit *= PATIENCE
        try:
            return self.process.wait(limit)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.argv[0]} has not ended within {limit} s") from None

    def kill(self, signo=signal.SIGKILL):
        os.kill(self.pid, signo)


class Server(Process):
    """The server under test; address is what gdb's `target remote` takes."""

    def __init__(self, test, argv, comm=":0", program=None, **kwargs):
        program = program or [test.config.server]
        super().__init__(test, [*program, *argv[:argv.index("COMM")], comm,
                                *argv[argv.index("COMM") + 1:]], **kwargs)
        self.address = comm
        if comm.endswith(":0"):
            self.address = ":" + self.wait_output(r"Listening on port (\d+)").group(1)
        elif comm.startswith("unix:"):
            path = comm[len("unix:"):]
            wait_for(lambda: os.path.exists(path) or self.process.poll() is not None,
                     "the socket")
            self.address = path

    @property
    def port(self):
        return int(self.address.rpartition(":")[2])

    @property
    def serving(self):
        """The pid of the process that serves: truehit's own is only its guard."""
        for pid in descendants(self.pid):
            with open(f"/proc/{pid}/comm", encoding="latin1") as file:
                if file.read() == "truehit-server\n":
                    return pid
        return self.pid

    def inferior(self):
        """The pid of the program that the server started."""
        return int(self.wait_output(r"Process .* created; pid = (\d+)").group(1))


class Gdb(Process):
    """gdb with a list of commands; results are what its Python emitted."""

    @property
    def results(self):
        return [json.loads(line[len("RESULT "):])
                for line in self.output().splitlines() if line.startswith("RESULT ")]


class Test:
    """One running test."""

    def __init__(self, config, name):
        self.config = config
        self.name = name
        self.processes = []
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="truehit-e2e."))
        self.dir.chmod(0o755)

    # What the test states

    @staticmethod
    def note(text):
        print(text, flush=True)

    @staticmethod
    def skip(reason):
        raise Skip(reason)

    @staticmethod
    def check(condition, text):
        if not condition:
            raise Failure(text)

    @staticmethod
    def equal(got, wanted, what):
        if got != wanted:
            raise Failure(f"{what}: got {got!r}, wanted {wanted!r}")

    @staticmethod
    def match(regex, text, what="output"):
        match = re.search(regex, text, re.M)
        if not match:
            raise Failure(f"{what}: nothing matches /{regex}/")
        return match

    @staticmethod
    def no_match(regex, text, what="output"):
        match = re.search(regex, text, re.M)
        if match:
            raise Failure(f"{what}: {match.group(0)!r} should not be there")

    def counted(self, row, false, true=1):
        """A row of `monitor breakpoints` counts these hits. Hypervisors lose one false hit
        of debug registers in some hundred thousand (README, Limits)."""
        lost = false - row["false"]
        most = false // 10000 if is_virtual() and " perf_event " in row["text"] else 0
        self.note(f"{lost} of {false} false hits are lost")
        self.check(0 <= lost <= most, f"false hits: got {row['false']}, wanted {false}")
        self.equal(row["true"], true, "true hits")
        self.equal(row["hits"], row["false"] + true, "hits")

    # What it needs

    def truehit_only(self, what):
        if self.config.reference:
            raise Skip(f"{os.path.basename(self.config.server)} has no {what}")

    def need_any_engine(self, why="what engines are chosen"):
        """The test is about more than the engine that all tests are to be run with."""
        if self.config.engine:
            raise Skip(f"about {why}, and {self.config.engine} is the one")

    def need_probes_in_text(self):
        """The test is about uprobes at the instruction itself."""
        if self.config.pads:
            raise Skip("about uprobes in the text itself, and they are put into pads")

    def need_root(self, what="become another user"):
        if os.geteuid() != 0:
            raise Skip(f"only root can {what}")

    @staticmethod
    def need_x86():
        if os.uname().machine != "x86_64":
            raise Skip("register numbers of x86_64")

    @staticmethod
    def need_breakpoint_registers():
        if not breakpoint_registers_fire():
            raise Skip(NO_REGISTERS)

    @staticmethod
    def need_steps_over_watched():
        """A step that hits a watchpoint hangs QEMU 7.2, where it emulates x86_64, and the
        machine with it."""
        if is_emulated_x86():
            raise Skip("QEMU hangs at a step that hits a watchpoint")

    @staticmethod
    def need_all_slots_told():
        """Of several slots that an access hits, QEMU tells of one (cpu_check_watchpoint in
        its softmmu/physmem.c leaves at the first)."""
        if is_emulated_x86():
            raise Skip("QEMU tells of one slot only that an access has hit")

    def need_tool(self, name):
        if not shutil.which(name):
            raise Skip(f"{name} is not installed")

    def need_kernel_conditions(self):
        """The kernel filters hits for this user. Asked of the kernel itself."""
        self.truehit_only("conditions in the kernel")
        reason = kernel_conditions(self.config.server)
        if reason:
            raise Skip(reason)

    def quick(self, many, few):
        """A count of hits: many if the kernel filters, few if the stub has to, and in
        between where everything takes longer."""
        if self.config.reference or kernel_conditions(self.config.server):
            return few
        return max(few, many // PATIENCE)

    # What it uses

    def prog(self, name):
        return str(self.config.progs / name)

    @staticmethod
    def line(source, marker):
        """FILE:LINE of the line with the comment /* MARKER */; the file is in one room."""
        path, = SOURCES.glob(f"*/{source}")
        for number, text in enumerate(path.read_text().splitlines(), 1):
            if f"/* {marker} */" in text:
                return f"{source}:{number}"
        raise KeyError(f"{source} has no {marker}")

    def public_copy(self, *paths):
        """A directory that every user can read, with copies of these files."""
        directory = self.dir / "public"
        directory.mkdir(exist_ok=True)
        directory.chmod(0o755)
        copies = []
        for path in paths:
            copy = os.path.join(directory, os.path.basename(path))
            if not os.path.exists(copy):  # else it may be running
                shutil.copy(path, copy)
            copies.append(copy)
            os.chmod(copies[-1], 0o755)
        return copies

    @staticmethod
    def become_nobody():
        """For preexec: an ordinary user, who still ends with us."""
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            die_with_parent()

    def without_rights(self):
        """How an ordinary user starts the server, for server(): a copy has no file
        capabilities."""
        return {"program": self.public_copy(self.config.server),
                "preexec": self.become_nobody}

    def server(self, *argv, comm=":0", **kwargs):
        """server("COMM", "prog", ...): COMM stands for the place to listen at."""
        argv = [str(a) for a in argv]
        if "COMM" not in argv:
            argv = ["COMM", *argv]
        return Server(self, argv, comm, **kwargs)

    def gdb(self, server, *commands, prog=None, python=None, connect="target remote",
            sysroot="", limit=GDB_LIMIT, expect_status=None, wait=True, first=()):
        """Runs gdb in batch mode: connects, then the commands, then the Python
        text. Returns the Gdb, ended unless wait is false."""
        if IN_REGISTERS.search("\n".join([*first, *commands, python or ""])):
            self.need_breakpoint_registers()
        argv = [self.config.gdb, *GDB_OPTIONS, "-batch",
                "-iex", "set width 0", "-iex", "set height 0", "-iex", "set confirm off",
                "-iex", "set remotetimeout 60"]
        if sysroot is not None:
            argv += ["-iex", f"set sysroot {sysroot}"]
        if prog:
            argv += [prog]
        for command in first:
            argv += ["-ex", command]
        if server:
            argv += ["-ex", f"{connect} {server.address}"]
            if self.config.engine and self.config.server in server.argv:
                argv += ["-ex", f"monitor set engine {self.config.engine}"]
            if self.config.pads and self.config.server in server.argv:
                argv += ["-ex", f"monitor set pads {self.config.pads}"]
        for command in commands:
            argv += ["-ex", command]
        if python:
            script = self.dir / f"script-{len(self.processes)}.py"
            prelude = (HERE / "gdbside.py").read_text()
            script.write_text(prelude + "\n" + python)
            argv += ["-x", str(script)]
        gdb = Gdb(self, argv, env=dict(os.environ, LC_ALL="C", TERM="dumb"))
        if wait:
            status = gdb.wait(limit)
            if expect_status is not None:
                self.equal(status, expect_status, "gdb's exit status")
            self.no_match(r"^Python Exception|^Error while executing Python|Traceback|internal-error",
                          gdb.output(), "gdb")
        return gdb

    def counts(self, text):
        """The numbers of the first location of `monitor breakpoints`."""
        return breakpoint_rows(text)[0]

    # Its end

    def close(self):
        end_descendants()
        reports = [p for p in self.processes if SANITIZER_REPORT.search(p.output())]
        return [f"{p.argv[0]} printed a sanitizer's report" for p in reports]

    def show_logs(self):
        for process in self.processes:
            text = process.output()
            if len(text) > 20000:
                text = text[:10000] + "\n[...]\n" + text[-10000:]
            print(f"--- output of {' '.join(process.argv)[:200]} "
                  f"(status {process.process.poll()})")
            print(text, flush=True)


def breakpoint_rows(text):
    """The rows of `monitor breakpoints`: the four counts, keyed by their titles."""
    lines = text.splitlines()
    for index, line in enumerate(lines):
        titles = line.split()
        lowered = [t.lower() for t in titles]
        if "hits" in lowered and "false" in lowered:
            break
    else:
        raise Failure(f"no table of breakpoints in: {text}")
    numbers = [t for t in lowered if t in ("hits", "false", "true", "maybe")]
    cells = re.compile(r"\s" + r"\s+".join([r"([\d,]+)"] * len(numbers)) + r"(?=\s|$)")
    rows = []
    for line in lines[index + 1:]:
        if not line:
            break
        match = cells.search(line)
        if match:
            counts = [int(n.replace(",", "")) for n in match.groups()]
            rows.append(dict(zip(numbers, counts), text=line))
    if not rows:
        raise Failure(f"no row in the table of breakpoints: {text}")
    return rows


# Virtual machines

def machines(*marks):
    """Of a test: scripts/check --vm-all runs it in each machine, as each user. The marks are
    those of tests/vm/tests."""
    def mark(function):
        function.machines = marks
        return function
    return mark
