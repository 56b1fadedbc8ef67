# SPDX-License-Identifier: BSD-2-Clause
"""The rows of sessions.py: by a client that speaks the protocol itself, which shows the
server's share, and by gdb."""
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import typing

import growth
import measure
import recording
import rsp

GDB_HEAD = """
import gdb, json, time

def run(command):
    return gdb.execute(command, to_string=True)

def timed(action, count):
    start = time.monotonic()
    for _ in range(count):
        action()
    print("seconds", json.dumps((time.monotonic() - start) / count))

def begin(*commands):
    for command in ("target remote " + ADDRESS, *commands):
        run(command)
"""


@dataclasses.dataclass
class Row:
    """run() takes a server, and returns the seconds of one of what it is about. The floor
    is a server that does nothing but what the kernel makes it do (session_floor.c), or one
    that repeats to gdb what truehit has said (replay.c)."""
    title: str
    least: float  # times as quick as gdbserver
    run: typing.Callable
    floor: str = ""  # "kernel", "replay", or none


def seconds(value):
    if value >= 1:
        return f"{value:.2f} s"
    if value >= 1e-3:
        return f"{value * 1e3:.2f} ms"
    return f"{value * 1e6:.1f} us"


class Client(rsp.Client):
    """A client of a server with a program that has been let go to turn(). What is timed is
    left to raw_client, which is quicker."""

    def __init__(self, server, features=""):
        super().__init__(server)
        self.ask("qSupported:multiprocess+;swbreak+;hwbreak+;vContSupported+;" + features)
        self.ask("QStartNoAckMode")
        self.ask("QPassSignals:14")  # SIGCHLD
        self.acks = False

    def go_to(self, address):
        """The thread that is there."""
        self.expect("OK", f"Z0,{address:x},1")
        stop = self.ask("vCont;c")
        self.expect("OK", f"z0,{address:x},1")
        found = re.search(r"thread:([^;]+);", stop)
        if not found:
            raise measure.Broken(f"no stop at {address:#x}: {stop}")
        return found.group(1)

    def expect(self, wanted, packet):
        reply = self.ask(packet)
        if reply != wanted:
            raise measure.Broken(f"{packet[:40]}: {reply}")

    def stop(self, packet):
        reply = self.ask(packet)
        if not reply.startswith("T"):
            raise measure.Broken(f"{packet}: {reply}")
        return reply

    def timed(self, program, count, *packets):
        """The seconds of those packets that begin with +."""
        fd = self.socket.fileno()
        self.socket.settimeout(None)  # the program gets a socket that waits
        done = subprocess.run([program, str(fd), str(count), *packets], pass_fds=[fd],
                              capture_output=True, text=True, timeout=measure.LIMIT, check=False)
        if done.returncode:
            raise measure.Broken(done.stderr.strip())
        return float(done.stdout)


def symbols(program):
    text = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    return {name: int(value, 16) + measure.PIE_BASE for value, name in
            re.findall(r"^([0-9a-f]+) . (\w+)$", text, re.M)}


class Place:
    """The programs, and where their functions are."""

    def __init__(self, build, quick):
        self.quick = quick
        self.session = pathlib.Path(build, "tests", "bench", "session").resolve()
        self.crowd = pathlib.Path(build, "tests", "bench", "growth").resolve()
        self.raw_client = pathlib.Path(build, "tests", "bench", "raw_client").resolve()
        self.kernel_floor = pathlib.Path(build, "tests", "bench", "session_floor").resolve()
        self.replay = pathlib.Path(build, "tests", "bench", "replay").resolve()
        self.record_to = None  # a file, while a session is recorded
        self.directory = None

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="truehit-bench.")
        self.at = symbols(self.session)
        self.crowd_at = symbols(self.crowd)
        return self

    def __exit__(self, *exception):
        self.directory.cleanup()

    def floor(self, row, server):
        """A server to compare with, or None. @server says what is to be repeated."""
        if row.floor == "kernel":
            return self.kernel_floor
        if row.floor != "replay":
            return None
        self.record_to = pathlib.Path(self.directory.name, "recording")
        try:
            row.run(server)
            return [self.replay, self.record_to]
        finally:
            self.record_to = None

    def rows(self):
        many, crowds = (20, (1, 30)) if self.quick else (1000, (1, 100, 1000))
        return [*self.raw_rows(many), *self.crowd_rows(crowds), *self.stop_rows(many),
                *self.memory_rows(many), *self.life_rows(many)]

    def raw_rows(self, many):
        count = 20 if self.quick else 500
        return [
            Row("stop at a breakpoint, raw client", 1.5, lambda s: self.raw_stops(s, many),
                "kernel"),
            Row("step, raw client", 1.0, lambda s: self.raw_steps(s, many), "kernel"),
            Row("read 8 bytes, raw client", 1.0,
                lambda s: self.raw_packets(s, lambda c: f"m{c:x},8", 5 * many), "kernel"),
            Row("read 1,000 bytes, raw client", 1.0,
                lambda s: self.raw_packets(s, lambda c: f"m{c:x},3e8", 5 * many), "kernel"),
            Row(f"{count} breakpoints in and out, raw client", 1.0,
                lambda s: self.raw_breakpoints(s, count), "kernel"),
        ]

    def crowd_rows(self, crowds):
        return [
            *(Row(f"step beside {crowd} threads, raw client", 10.0 if crowd >= 1000 else 1.0,
                  lambda s, n=crowd: self.crowd_steps(s, n, 50)) for crowd in crowds),
            *(Row(f"Ctrl-C and on, {crowd} threads, raw client", 1.0,
                  lambda s, n=crowd: self.crowd_halts(s, n, 20)) for crowd in crowds),
            *(Row(f"attach to {crowd} threads", 1.5 if crowd >= 1000 else 1.0,
                  lambda s, n=crowd: self.attach(s, n), "kernel" if crowd == 1 else "")
              for crowd in crowds),
        ]

    def stop_rows(self, many):
        return [
            Row("stop that gdb sees", 1.0, lambda s: self.gdb(
                s, "loop", 10 ** 6, 'begin("break turn", "continue")\n'
                f'timed(lambda: run("continue"), {many // 4})'), "replay"),
            Row("stepi", 1.0, lambda s: self.gdb(
                s, "loop", 10 ** 6, 'begin("break turn", "continue")\n'
                f'timed(lambda: run("stepi"), {many // 4})'), "replay"),
            Row("next over a function", 1.0, lambda s: self.gdb(
                s, "loop", 10 ** 6, f'begin("break {self.line("LOOP")}", "continue", "delete")\n'
                f'timed(lambda: run("next"), {many // 8})'), "replay"),
            Row("software watchpoint, a step", 2.0, lambda s: self.gdb(
                s, "loop", 10 ** 6, 'begin("break turn", "continue", "delete", '
                '"set can-use-hw-watchpoints 0", "watch turned")\n'
                f'timed(lambda: run("continue"), {max(1, many // 50)})'), "replay"),
            Row("backtrace of 40 frames", 1.3, lambda s: self.gdb_crowd(s, 1, f'''
def backtrace():
    run("maintenance flush register-cache")
    run("backtrace")
timed(backtrace, {max(2, many // 50)})'''), "replay"),
            Row("script with 100 stops", 1.0, lambda s: self.gdb(
                s, "loop", 10 ** 6, '''begin("break turn", "continue")
def stop():
    run("continue")
    run("backtrace")
    run("info locals")
    run("print turned")
timed(stop, 100)'''), "replay"),
        ]

    def memory_rows(self, many):
        mib = 4 if self.quick else 64
        return [
            Row(f"dump of {mib} MiB", 1.3, lambda s: self.gdb_crowd(s, mib, f'''
start = int(gdb.parse_and_eval("(unsigned long)memory"))
timed(lambda: run("dump binary memory /dev/null %d %d" % (start, start + ({mib} << 20))), 1)'''),
                "replay"),
            Row("restore of 8 MiB", 1.0, lambda s: self.gdb_crowd(s, 8, f'''
start = int(gdb.parse_and_eval("(unsigned long)memory"))
run("dump binary memory {self.directory.name}/saved %d %d" % (start, start + (8 << 20)))
timed(lambda: run("restore {self.directory.name}/saved binary %d" % start), 1)'''), "replay"),
            Row(f"find in {mib} MiB", 1.0, lambda s: self.gdb_crowd(s, mib, f'''
start = int(gdb.parse_and_eval("(unsigned long)memory"))
timed(lambda: run("find %d, +%d, (long)0x0123456789abcdef" % (start, {mib} << 20)), 1)''')),
            Row("small reads", 1.3, lambda s: self.gdb_crowd(s, 1, f'''
run("set stack-cache off")
run("set code-cache off")
start = int(gdb.parse_and_eval("(unsigned long)memory"))
at = iter(range(start, start + 64 * 10 ** 5, 64))
timed(lambda: gdb.selected_inferior().read_memory(next(at), 8), {many})'''), "replay"),
            Row("list of nodes, by gdb's Python", 1.3, lambda s: self.gdb(
                s, "list", many * 10, f'''begin("break turn", "continue", "continue")
def walk():
    node = gdb.parse_and_eval("first")
    while int(node):
        node = node["next"]
timed(walk, 1)'''), "replay"),
        ]

    def life_rows(self, many):
        size, libraries = (4, 10) if self.quick else (500, 300)
        return [
            Row("threads made", 1.0, lambda s: self.run_to_end(s, "threads", many)),
            Row("forks that the client is told of", 1.0,
                lambda s: self.raw_forks(s, many // 2)),
            Row("forks that it does not ask for", 1.0,
                lambda s: self.run_to_end(s, "forks", many // 2), "kernel"),
            Row("start, to main", 1.0, lambda s: self.gdb_start(s, self.session), "replay"),
            Row(f"start with {libraries} libraries, to main", 1.0,
                lambda s: self.gdb_start(s, self.with_libraries(libraries)), "replay"),
            Row(f"remote get of {size} MiB", 1.0, lambda s: self.get_file(s, size), "replay"),
        ]

    @staticmethod
    def line(marker):
        return measure.line(marker, measure.ROOT / "tests" / "bench" / "session.c")

    # ---- by a raw client ----

    def raw(self, server, what, count, action, features=""):
        """@action takes the client and the thread that is at turn()."""
        with measure.Server(server, self.session, what, count) as running:
            client = Client(running, features)
            client.ask("?")
            result = action(client, client.go_to(self.at["turn"]))
            client.close()
            return result

    def raw_stops(self, server, count):
        place = f"0,{self.at['turn']:x},1"
        return self.raw(server, "loop", 10 ** 9, lambda client, thread: client.timed(
            self.raw_client, count, f"vCont;s:{thread}", "Z" + place, "+vCont;c", "z" + place))

    def raw_steps(self, server, count):
        return self.raw(server, "loop", 10 ** 9, lambda client, thread: client.timed(
            self.raw_client, count, f"+vCont;s:{thread}"))

    def raw_packets(self, server, packet, count):
        text = packet(self.at["turned"] & ~0xfff)
        return self.raw(server, "loop", 10 ** 9, lambda client, _: client.timed(
            self.raw_client, count, "+" + text))

    def raw_breakpoints(self, server, count):
        places = [self.crowd_at[f"place{number:04d}"] for number in range(count)]

        def packets(thread, slide):
            for letter in "Zz":
                yield from (f"+{letter}0,{place + slide:x},1" for place in places)
                yield f"+vCont;s:{thread}"
        return self.crowd_client(server, 0, lambda client, thread, slide: client.timed(
            self.raw_client, 10, *packets(thread, slide)))

    def raw_forks(self, server, count):
        """The children are let go, as gdb does."""
        return self.raw(server, "forks", 2 * count, lambda client, _: client.timed(
            self.raw_client, count, "+vCont;c", "+D;@"), features="fork-events+;vfork-events+")

    def crowd_client(self, server, threads, action):
        """All threads have been made, and the first one is at turn()."""
        with growth.Server(server, self.crowd, threads=threads, attach=True) as running:
            running.address = f":{running.port}"
            client = Client(running)
            client.stop("?")
            with open(f"/proc/{running.program.pid}/maps", encoding="ascii") as maps:
                slide = int(maps.read().partition("-")[0], 16) - measure.PIE_BASE
            client.expect("OK", f"M{self.crowd_at['go'] + slide:x},4:01000000")
            thread = client.go_to(self.crowd_at["turn"] + slide)
            result = action(client, thread, slide)
            client.close()
            return result

    @staticmethod
    def leave_cpu(thread):
        """The thread is busy: it goes where it takes no time from those who are measured."""
        others = set(range(os.cpu_count() or 1)) - os.sched_getaffinity(0)
        if others:
            os.sched_setaffinity(int(thread.rpartition(".")[2], 16), others)

    def crowd_steps(self, server, threads, count):
        return self.crowd_client(server, threads, lambda client, thread, _: client.timed(
            self.raw_client, count, f"+vCont;s:{thread};c"))

    def crowd_halts(self, server, threads, count):
        def halts(client, thread, _):
            self.leave_cpu(thread)
            return client.timed(self.raw_client, count, "+vCont;c^C")
        return self.crowd_client(server, threads, halts)

    def attach(self, server, threads):
        """Until the client has the stop, and away again."""
        with growth.Server(server, self.crowd, threads=threads, attach=True) as running:
            running.address = f":{running.port}"
            start = time.monotonic()
            client = Client(running)
            client.stop("?")
            took = time.monotonic() - start
            client.ask("D")
            client.close()
            return running.ms / 1000 + took

    # ---- by gdb ----

    def gdb_at(self, running, program, script):
        if not self.record_to:
            return self.run_gdb(f":{running.port}", program, script)
        with recording.Recorder(running.port, self.record_to) as recorder:
            return self.run_gdb(recorder.address, program, script)

    @staticmethod
    def run_gdb(address, program, script):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(f'ADDRESS = "{address}"\n{GDB_HEAD}{script}\n')
            file.flush()
            done = subprocess.run(measure.gdb_argv(program, [f"source {file.name}"]),
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False,
                                  timeout=measure.LIMIT)
        found = re.search(r"^seconds (.*)$", done.stdout, re.M)
        if not found:
            raise measure.Broken(f"gdb said\n{done.stdout[-2000:]}")
        return json.loads(found.group(1))

    def gdb(self, server, what, count, script):
        with measure.Server(server, self.session, what, count) as running:
            return self.gdb_at(running, self.session, script)

    def gdb_crowd(self, server, mib, script):
        starts = measure.Server(server, self.crowd) if isinstance(server, list) else \
            growth.Server(server, self.crowd, mib=mib)
        with starts as running:
            return self.gdb_at(running, self.crowd,
                               'begin("break main", "continue", "set var go = 1", "break turn", '
                               '"continue")\n' + script)

    def get_file(self, server, mib):
        """By gdb, which asks for it piece by piece (vFile:pread)."""
        source = pathlib.Path(self.directory.name, f"file-{mib}")
        if not source.exists():
            piece = os.urandom(1 << 20)
            with source.open("wb") as file:
                for _ in range(mib):
                    file.write(piece)
        with measure.Server(server, self.session, "loop", 10) as running:
            return self.gdb_at(running, self.session, f'''
begin()
timed(lambda: run("remote get {source} /dev/null"), 1)''')

    def with_libraries(self, count):
        """A program that needs so many."""
        place = pathlib.Path(self.directory.name, f"libraries-{count}")
        program = place / "main"
        if not program.exists():
            place.mkdir()
            build = [os.environ.get("CC", "cc"), "-g", "-O1"]
            for number in range(count):
                source = place / f"{number}.c"
                source.write_text(f"int number{number}(void) {{ return {number}; }}\n")
                subprocess.run([*build, "-shared", "-fPIC", source, "-o",
                                place / f"libnumber{number}.so"], check=True)
            source = place / "main.c"
            source.write_text("int main(void) { return 0; }\n")
            subprocess.run([*build, source, "-o", program, f"-L{place}", f"-Wl,-rpath,{place}",
                            "-Wl,--no-as-needed",
                            *(f"-lnumber{number}" for number in range(count))], check=True)
        return program

    def gdb_start(self, server, program):
        with measure.Server(server, program, "loop", 10) as running:
            return self.gdb_at(running, program, '''
def start():
    begin("tbreak main", "continue")
timed(start, 1)''')

    def run_to_end(self, server, what, count):
        def to_end(client, _):
            start = time.monotonic()
            reply = client.ask("vCont;c")
            if not re.match("W00?(;|$)", reply):
                raise measure.Broken(f"{what}: {reply}")
            return (time.monotonic() - start) / count
        return self.raw(server, what, count, to_end)
