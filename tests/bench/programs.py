#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Real programs at work: without a debugger, with one that has attached, and with breakpoints,
watchpoints and dprintfs that stop nobody.

    redis       redis-server under redis-benchmark                      requests a second
    nginx       one worker under ab                                     requests a second
    postgres    a backend in a query of 300,000 rows                    seconds
    python      a loop of 300,000 turns                                 seconds
    go          two goroutines that call each other 200,000 times       seconds
    threads     500 threads that call a function 100 times each         seconds

Each is measured with truehit and with gdbserver in turns; the figures are medians. Who is
slowed down a lot does a part of the work, and the figure is for the whole. It needs root: the packages are installed. Programs are these, or those that are named."""
import sys

sys.dont_write_bytecode = True
import argparse
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
import typing

import measure

PACKAGES = "redis-server redis-tools nginx-light apache2-utils postgresql golang-go".split()
NEVER = "$rdi == 0x123456789"  # the condition of what stops nobody
FEW, MANY = 2000, 100000       # requests: of those who are slowed down, and of others
PART = 20                      # ... who do so much less of other work

GO = """package main

import "fmt"

//go:noinline
func work(i int) int {
	sum := 0
	for j := 0; j < 10; j++ {
		sum += i ^ j
	}
	return sum
}

func main() {
	fmt.Println("ready")
	var count int
	fmt.Scanln(&count)
	in, out := make(chan int), make(chan int)
	go func() {
		for i := range in {
			out <- work(i)
		}
	}()
	sum := 0
	for i := 0; i < count; i++ {
		in <- i
		sum += <-out
	}
	fmt.Println(sum)
}
"""


@dataclasses.dataclass
class Case:
    """What gdb is told."""
    title: str
    commands: list


@dataclasses.dataclass
class Running:
    """A program that has been started: work() has it do its job, for about so many requests
    if it is asked for few, and tells what that took."""
    pid: int
    work: typing.Callable
    end: typing.Callable


def run(argv, **options):
    return subprocess.run(list(map(str, argv)), check=True, capture_output=True, text=True,
                          timeout=measure.LIMIT, **options).stdout


def until(found, what):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            result = found()
            if result:
                return result
        except (OSError, subprocess.CalledProcessError):
            pass
        time.sleep(0.05)
    raise measure.Broken(f"{what} does not come")


def end_process(process):
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


# ---- the programs ----

def redis(place):
    at = place / "redis"
    process = subprocess.Popen(
        ["redis-server", "--port", "0", "--unixsocket", at, "--dir", place, "--save", ""],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(at.exists, "redis")

    def work(few):
        text = run(["redis-benchmark", "-s", at, "-t", "get", "-n", FEW if few else MANY,
                    "-c", 20, "--csv"])
        return float(re.search(r'^"GET","([\d.]+)"', text, re.M).group(1))
    return Running(process.pid, work, lambda: end_process(process))


NGINX = """daemon off; worker_processes 2; pid {place}/nginx.pid; error_log {place}/error.log;
user root; events {{ worker_connections 100; }}
http {{ access_log off; server {{ listen 127.0.0.1:{port}; location / {{ return 200 "ok"; }} }} }}
"""


def nginx(place):
    port = 18080
    config = place / "nginx.conf"
    config.write_text(NGINX.format(place=place, port=port))
    process = subprocess.Popen(["nginx", "-c", config, "-p", place],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    workers = until(lambda: len(children.read_text().split()) == 2 and
                    children.read_text().split(), "nginx")
    until(lambda: run(["ab", "-q", "-n", 1, f"http://127.0.0.1:{port}/"]), "nginx")
    # All of the work is one worker's.
    os.kill(int(workers[1]), signal.SIGSTOP)

    def work(few):
        text = run(["ab", "-q", "-c", 4, "-n", FEW if few else MANY // 5,
                    f"http://127.0.0.1:{port}/"])
        return float(re.search(r"Requests per second: +([\d.]+)", text).group(1))

    def end():
        os.kill(int(workers[1]), signal.SIGCONT)
        end_process(process)
    return Running(int(workers[0]), work, end)


def postgres(place):
    binaries = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]
    shutil.chown(place, "postgres")
    place.chmod(0o755)

    def as_user(*argv):
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *argv]
    run(as_user(binaries / "initdb", "-D", place / "data", "-A", "trust"), cwd=place)
    process = subprocess.Popen(
        as_user(binaries / "postgres", "-D", place / "data", "-k", place,
                "-c", "listen_addresses="), cwd=place, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    until(lambda: run(["psql", "-h", place, "-U", "postgres", "-c", "select 1"]), "PostgreSQL")
    client = subprocess.Popen(["psql", "-h", place, "-U", "postgres", "-At"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(text):
        client.stdin.write(text + ";\n")
        client.stdin.flush()
        return client.stdout.readline().strip()

    def work(few):
        start, rows = time.monotonic(), 300000 // (PART if few else 1)
        if ask(f"select count(i + 1) from generate_series(1, {rows}) as s(i)") != str(rows):
            raise measure.Broken("PostgreSQL's query fails")
        return (time.monotonic() - start) * (PART if few else 1)

    def end():
        end_process(client)
        end_process(process)
    return Running(int(ask("select pg_backend_pid()")), work, end)


def by_lines(argv, count):
    """A program that says when it is ready, and does that much work when it is told how much."""
    process = subprocess.Popen(list(map(str, argv)), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    process.stdout.readline()

    def work(few):
        start = time.monotonic()
        process.stdin.write(f"{count // (PART if few else 1)}\n")
        process.stdin.flush()
        if not process.stdout.readline():
            raise measure.Broken(f"{argv[0]} has ended")
        return (time.monotonic() - start) * (PART if few else 1)
    return Running(process.pid, work, lambda: end_process(process))


def python(_):
    return by_lines(["/usr/bin/python3", "-c", """
print("ready", flush=True)
total = 0
for i in range(int(input())):
    total += len([i])
print(total, flush=True)
"""], 300000)


def go(place):
    (place / "work.go").write_text(GO)
    environment = os.environ | {"HOME": str(place), "GOFLAGS": "-mod=mod",
                                "GOCACHE": str(place / "cache")}
    run(["go", "build", "-o", place / "work", place / "work.go"], env=environment, cwd=place)
    return by_lines([place / "work"], 200000)


class Programs:
    def __init__(self, build):
        self.session = pathlib.Path(build, "tests", "bench", "session").resolve()

    def threads(self, _):
        return by_lines([self.session, "crowd", 500], 100)

    def all(self):
        """Who starts it, and what is asked of it."""
        return {
            "redis": (redis, [*breakpoints("processCommand", "lookupCommand", "addReply",
                                           "call"),
                              Case("watch", [f"watch *(long *)&server if {NEVER}"]),
                              printing("processCommand")]),
            "nginx": (nginx, [*breakpoints("ngx_http_process_request",
                                           "ngx_http_send_header",
                                           "ngx_http_finalize_request",
                                           "ngx_http_handler"),
                              printing("ngx_http_handler")]),
            "postgres": (postgres, [*breakpoints("tuplestore_gettupleslot", "int4pl",
                                                 "ExecScan", "ExecAgg"),
                                    printing("ExecScan")]),
            "python": (python, [*breakpoints("PyList_New", "PyLong_FromLong", "PyObject_Size",
                                             "PyObject_GC_Del")]),
            "go": (go, [*breakpoints("main.work", "runtime.gopark", "runtime.goready",
                                     "runtime.chansend1", register="$rax")]),
            "threads": (self.threads, [*breakpoints("turn")]),
        }


def breakpoints(*functions, register="$rdi"):
    condition = NEVER.replace("$rdi", register)
    commands = [f"break *{quoted(function)} if {condition}" for function in functions]
    cases = [Case("attached", []), Case("1 breakpoint", commands[:1])]
    return [*cases, Case(f"{len(commands)} breakpoints", commands)] if functions[1:] else cases


def quoted(function):
    return f"'{function}'" if "." in function else function


def printing(function):
    return Case("dprintf", [
        "set dprintf-style agent", f'dprintf *{function},"%lx\\n",$rdi'])


# ---- measuring ----

class Attached:
    """A server that has attached, and gdb, which has told the program to go on."""

    def __init__(self, server, pid, commands):
        self.output = tempfile.TemporaryFile("w+")
        self.server = subprocess.Popen(
            [str(server), "--once", "--attach", ":0", str(pid)], stdin=subprocess.DEVNULL,
            stdout=self.output, stderr=subprocess.STDOUT, start_new_session=True)
        port = until(self.port, server)
        self.log = tempfile.TemporaryFile("w+")
        self.gdb = subprocess.Popen(
            measure.gdb_argv(f"/proc/{pid}/exe", [
                "set auto-solib-add off", f"target remote :{port}", *commands, "info breakpoints",
                "echo going\\n", "continue"]),
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT,
            start_new_session=True)
        until(lambda: "going" in self.text(self.log), "gdb")
        time.sleep(0.5)  # until the program runs

    @staticmethod
    def text(file):
        file.flush()
        with open(f"/proc/self/fd/{file.fileno()}", encoding="utf-8", errors="replace") as again:
            return again.read()

    def port(self):
        found = re.search(r"Listening on port (\d+)", self.text(self.output))
        return found and int(found.group(1))

    def check(self):
        if self.gdb.poll() is not None:
            raise measure.Broken(f"gdb has ended:\n{self.text(self.log)[-2000:]}")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        """gdbserver cannot interrupt a process that leads no group: nobody is to go on."""
        for process in (self.gdb, self.server):
            process.kill()
            process.wait()
        self.output.close()
        self.log.close()


def measure_case(start, server, case):
    """In a program of its own, which is of no use after that."""
    with tempfile.TemporaryDirectory(prefix="truehit-bench.", ignore_cleanup_errors=True) as place:
        running = start(pathlib.Path(place))
        try:
            if not server:
                return running.work(False)
            with Attached(server, running.pid, case.commands) as attached:
                result = running.work("truehit" not in str(server) and bool(case.commands))
                attached.check()
                return result
        finally:
            running.end()


def measure_program(start, cases, servers, rounds):
    """By the titles of cases and the names of servers: the figures of the rounds."""
    results = {}
    for _ in range(rounds):
        results.setdefault(("alone", ""), []).append(measure_case(start, None, None))
        for case in cases:
            for name, server in servers.items():
                results.setdefault((case.title, name), []).append(
                    measure_case(start, server, case))
    return results


def show(name, results, servers):
    def figure(key):
        value = statistics.median(results[key])
        return f"{value:,.0f}/s" if value > 1000 or name in ("redis", "nginx") else f"{value:.2f} s"
    print(f"  {name:<10} {'alone':<15} {figure(('alone', '')):>12}")
    for title in dict.fromkeys(key[0] for key in results if key[1]):
        print(f"  {'':<10} {title:<15}", *(f"{figure((title, server)):>12}" for server in servers))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--truehit", default="build/truehit")
    parser.add_argument("--gdbserver", default=shutil.which("gdbserver"))
    parser.add_argument("--build", default="build", help="where the programs were built")
    parser.add_argument("--output", default="build/bench", help="directory of the results")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    return parser.parse_args()


def main():
    options = arguments()
    programs = Programs(options.build).all()
    unknown = set(options.programs) - set(programs)
    if unknown:
        sys.exit(f"programs: there is no {', '.join(sorted(unknown))}")
    subprocess.run(["apt-get", "install", "-y", "-q", "--no-install-recommends", *PACKAGES],
                   check=True, stdout=subprocess.DEVNULL,
                   env=os.environ | {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"})
    servers = {"truehit": pathlib.Path(options.truehit).resolve(), "gdbserver": options.gdbserver}
    written = {}
    print(f"  {'':<26}", *(f"{name:>12}" for name in servers))
    for name in options.programs or programs:
        start, cases = programs[name]
        try:
            results = measure_program(start, cases, servers, options.rounds)
        except (measure.Broken, OSError, subprocess.SubprocessError) as error:
            sys.exit(f"programs: {name}: {error}")
        show(name, results, servers)
        written[name] = {" ".join(key).strip(): values for key, values in results.items()}
    directory = pathlib.Path(options.output)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "programs.json").write_text(json.dumps(
        {"machine": measure.machine(), "programs": written}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
