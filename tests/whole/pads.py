#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Pads in whole programs, by hand: it needs some minutes, and the network once.

places     which share of the places of real programs pads serve, by reasons, and whether
           the programs do with them what they do without: bash, python3, sqlite3 and its
           library, the C library, gdb, and redis-server under redis-benchmark at the
           entries of their functions, Lua at its lines and entries; or only programs with
           these names
counts     Lua, built from Debian's source with -O0 and -O2, with a pad that filters at each
           of its lines against a run by single steps: how often it comes to each line

Of `places`, PART are served at once, and all lines of `counts`. Exit status: 0 nothing differs, 1 something does."""
import sys

sys.dont_write_bytecode = True
import argparse
import collections
import dataclasses
import pathlib
import re
import shutil
import socket
import subprocess
import tarfile
import threading
import time
import urllib.request
from typing import Callable

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import rsp

LUA = "http://deb.debian.org/debian/pool/main/l/lua5.4/lua5.4_5.4.4.orig.tar.gz"
NEVER = ";X3,220027"   # a condition: const8 0, end
PART = 5000            # places: the map of the program's memory grows with them
BASE = 0x555555554000  # where the kernel loads what is position independent, not randomized
LIMIT = 600            # seconds
PASSED = "1;2;e;14;17;1c"  # signals that are not told: those of children, timers, windows
SQL = """create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c
where x < 2000) insert into t select x, hex(x) from c; select count(*), sum(a), max(b) from t;
select a from t where b like '%33' order by a desc limit 5;"""
PYTHON = """import json, re, collections
print(json.loads('[1, 2, {"a": 3}]'), sum(i * i for i in range(20000)))
print(re.sub("a", "b", "banana"), sorted(collections.Counter("abracadabra").items()))"""
SHELL = """for i in 1 2 3 4 5 6 7 8 9; do x=$((x + i)); y=$(echo $x); done; echo $x $y
declare -A a; a[k]=v; echo ${a[k]} | cat; printf '%05d %s\\n' 42 "${x//5/five}" """
GDB = ["-nx", "-q", "-batch", "-ex", "break puts", "-ex", "info functions ^f.*open",
       "-ex", "disassemble main", "-ex", "python print([x * x for x in range(9)])",
       "-ex", "ptype struct stat", "-ex", "print sizeof(long) * 7", "/usr/bin/bash"]
REDIS = """set a 1
incrby a 41
append a xyz
setrange a 2 !!
rpush l 1 2 3 4 5 6 7 8 9
lrange l 2 -2
lpos l 5
sort l by nosort get # limit 0 4
zadd z 1 one 2 two 3.5 three
zrangebyscore z (1 +inf withscores
hset h f 1 g 2
hincrbyfloat h f 0.25
hgetall h
sadd s 3 1 2
smembers s
setbit b 1000 1
bitcount b
bitfield b get u8 996
pfadd p a b c d e f g
pfcount p
geoadd g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
geodist g Palermo Catania km
xadd x 1-1 k v
xrange x - +
eval "local t = {} for i = 1, 2000 do t[#t + 1] = redis.call('incr', 'n') end return #t" 0
eval "return redis.sha1hex(cjson.encode({1, 2, {3, 'x'}}) .. cmsgpack.pack(7))" 0
object encoding l
multi
incr a2
get a2
exec
debug digest
"""


@dataclasses.dataclass
class Program:
    name: str
    argv: list
    file: str                # of it, or of a library, whose places are served
    lines: bool = False      # ... or entries of functions
    talk: Callable = None    # to a server, which it ends; returns what was replied


def run(argv):
    return subprocess.run([str(a) for a in argv], capture_output=True, text=True, check=True,
                          timeout=LIMIT).stdout


# ---- where ----

def symbols(path):
    """Entries of its functions, as symbols and call frame information have them."""
    frames = subprocess.run(["readelf", "--debug-dump=frames", path], capture_output=True,
                            text=True, check=False).stdout
    found = {int(number, 16) for number in re.findall(r" FDE .* pc=(\w+)\.\.", frames)}
    for how in ([], ["-D"]):
        text = subprocess.run(["nm", *how, "--defined-only", path], capture_output=True,
                              text=True, check=False).stdout
        for line in text.splitlines():
            words = line.split()
            if len(words) > 2 and words[1] in "tTwWi":
                found.add(int(words[0], 16))
    return sorted(found)


def in_text(path, addresses):
    """Those that are instructions of its text."""
    start, size = (int(number, 16) for number in re.search(
        r" \.text +PROGBITS +(\w+) \w+ (\w+)", run(["readelf", "-SW", path])).groups())
    insns = {int(number, 16) for number in re.findall(
        r"^ +([0-9a-f]+):\t", run(["objdump", "-d", "-j", ".text", path]), re.M)}
    return [a for a in addresses if start <= a < start + size and a in insns]


def lines(path):
    text = run(["objdump", "--dwarf=decodedline", path])
    return sorted({int(number, 16) for number in
                   re.findall(r"^\S+ +\d+ +(0x[0-9a-f]+) .*x$", text, re.M)})


def places(program):
    return in_text(program.file, lines(program.file) if program.lines
                   else symbols(program.file))


def parts(addresses):
    return [addresses[at:at + PART] for at in range(0, len(addresses), PART)]


# ---- one session ----

class Session:
    """A program that has come to its first instruction, its libraries loaded, with pads at
    places of a file."""

    def __init__(self, truehit, program, output):
        self.program = program
        self.output = open(output, "wb+")
        self.server = subprocess.Popen([truehit, ":0", *program.argv], stdin=subprocess.DEVNULL,
                                       stdout=self.output, stderr=subprocess.PIPE, text=True)

    address = "127.0.0.1"

    def base(self, path):
        header = run(["readelf", "-hW", path])
        if not re.search(r"Type: +DYN", header):
            return 0
        real = str(pathlib.Path(path).resolve())
        for line in pathlib.Path(f"/proc/{self.pid}/maps").read_text().splitlines():
            words = line.split()
            if words[5:] == [real] and int(words[2], 16) == 0:
                return int(words[0].split("-")[0], 16)
        raise ValueError(f"{path} is not there")

    def begin(self):
        told = {}
        for line in self.server.stderr:
            told.update(re.findall(r"(pid =|port) (\d+)", line))
            if "port" in told:
                break
        threading.Thread(target=self.server.stderr.read, daemon=True).start()
        if len(told) < 2:
            raise ValueError(f"{self.program.name} does not start")
        self.pid, self.port = int(told["pid ="]), int(told["port"])
        self.client = rsp.Client(self)
        self.client.monitor("set engine ptrace")
        self.client.monitor("set pads always")
        self.client.ask(f"QPassSignals:{PASSED}")
        path = self.program.argv[0]
        entry = int(re.search(r"Entry point address: +(0x\w+)",
                              run(["readelf", "-hW", path])).group(1), 16) + self.base(path)
        self.client.ask(f"Z0,{entry:x},1")
        reply = self.client.ask("c")
        if not reply.startswith("T05"):
            raise ValueError(f"{path} does not come to its entry: {reply}")
        self.client.ask(f"z0,{entry:x},1")

    def put(self, addresses):
        self.begin()
        base = self.base(self.program.file)
        for address in addresses:
            reply = self.client.ask(f"Z0,{base + address:x},1{NEVER}")
            if reply != "OK":
                raise ValueError(f"{address:#x}: {reply}")
        self.client.ask("QCatchSyscalls:1;e7")  # exit_group
        self.client.socket.settimeout(LIMIT)

    def take(self, addresses):
        base = self.base(self.program.file)
        for address in addresses:
            self.client.ask(f"z0,{base + address:x},1")

    def rows(self):
        """Of `monitor breakpoints`: number, address, whether it filters, hits."""
        base = self.base(self.program.file)
        for line in self.client.monitor("breakpoints").splitlines():
            found = re.match(r" *(\d+) break 0x(\w+) .*?(filter)?(?:; )?(?:stub|kernel) +"
                             r"([\d,]+) ", line)
            if found:
                number, address, filters, hits = found.groups()
                yield (number, int(address, 16) - base, bool(filters),
                       int(hits.replace(",", "")))

    def why_not(self, number):
        text = self.client.monitor(f"explain {number}")
        found = re.search(r"No (pad|filter): (.*)", text)
        return re.sub(r"0x\w+", "X", found.group(2)) if found else "?"

    def run(self):
        """To its end, before it has ended. Returns what it has replied."""
        self.client.send_bytes(self.client.frame("c"))
        said = self.program.talk() if self.program.talk else b""
        reply = self.client.receive().decode("latin1")
        if "syscall_entry" not in reply:
            raise ValueError(f"{self.program.name} stops: {reply}")
        return said

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        """The server ends what it has started."""
        self.server.terminate()
        self.server.wait(timeout=LIMIT)
        self.output.close()

    def end(self):
        """What it has printed."""
        self.client.ask("c")
        self.client.close()
        self.server.wait(timeout=LIMIT)
        self.output.seek(0)
        return self.output.read()


def undisturbed(program):
    """What it has printed, or replied."""
    with subprocess.Popen(["setarch", "-R", *program.argv], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            said = program.talk() if program.talk else b""
            return said or process.communicate(timeout=LIMIT)[0]
        finally:
            process.kill()


# ---- the programs ----

def fetch_lua(output):
    tree = output / "lua"
    if not tree.exists():
        with urllib.request.urlopen(LUA, timeout=60) as reply:
            with tarfile.open(fileobj=reply, mode="r|gz") as tar:
                tar.extractall(output / "unpacked")
        (found,) = (output / "unpacked").iterdir()
        found.rename(tree)
    return tree / "src"


def build_lua(output, level):
    """The interpreter; the seed of its hashes is fixed."""
    source, path = fetch_lua(output), output / f"lua{level}"
    run(["gcc", level, "-g", "-Dluai_makeseed(L)=1", "-DLUA_USE_POSIX", "-o", path,
         *sorted(p for p in source.glob("*.c") if p.name != "luac.c"), "-lm"])
    return Program(f"lua {level}", [str(path), str(HERE / "whole.lua")], str(path), True)


def tell(path, command):
    """It does not wait: the server is stopped before it ends."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(command)


def redis(output):
    """A server that saves, forks, executes scripts, and has threads of its own."""
    place = output / "redis"
    place.mkdir(exist_ok=True)
    at = place / "socket"
    argv = ["/usr/bin/redis-server", "--port", "0", "--unixsocket", at, "--dir", place,
            "--save", "", "--appendonly", "yes", "--io-threads", "2", "--io-threads-do-reads",
            "yes", "--enable-debug-command", "yes", "--latency-monitor-threshold", "0"]

    def ask(*command, text=None):
        return subprocess.run(["redis-cli", "-s", at, *command], input=text, check=True,
                              capture_output=True, text=True, timeout=LIMIT).stdout

    def talk():
        """It begins with whatever the last one has saved."""
        until(lambda: at.exists() and subprocess.run(
            ["redis-cli", "-s", at, "ping"], capture_output=True, check=False,
            timeout=LIMIT).stdout == b"PONG\n")
        done = run(["redis-benchmark", "-s", at, "-n", "5000", "-c", "20", "-P", "4", "-q"])
        ask("flushall")
        said = ask(text=REDIS) + str(done.count("requests per second"))
        for command in "bgsave", "bgrewriteaof":
            ask(command)
            until(lambda: not re.search(r"in_progress:1|scheduled:1", ask("info", "persistence")))
        said += "".join(re.findall(r"last_bg.*status:.*", ask("info", "persistence")))
        said += ask("debug", "reload") + ask("debug", "digest") + ask("dbsize")
        tell(at, b"shutdown nosave\r\n")
        return said.encode()
    return Program("redis-server", list(map(str, argv)),
                   str(pathlib.Path("/usr/bin/redis-server").resolve()), talk=talk)


def until(condition):
    for _ in range(LIMIT * 20):
        if condition():
            return
        time.sleep(0.05)
    raise TimeoutError("redis-server does not come to it")


def installed(output):
    """Of the machine's own programs, those that there are."""
    found = [Program("bash", ["/usr/bin/bash", "-c", SHELL], "/usr/bin/bash"),
             Program("python3", ["/usr/bin/python3", "-c", PYTHON],
                     str(pathlib.Path("/usr/bin/python3").resolve()))]
    libraries = pathlib.Path("/usr/lib/x86_64-linux-gnu")
    sqlite = ["/usr/bin/sqlite3", ":memory:", SQL]
    found += [Program("sqlite3", sqlite, "/usr/bin/sqlite3"),
              Program("libsqlite3", sqlite, str((libraries / "libsqlite3.so.0").resolve())),
              Program("libc", sqlite, str((libraries / "libc.so.6").resolve()))]
    found += [Program("gdb", ["/usr/bin/gdb", *GDB], "/usr/bin/gdb"), redis(output)]
    return [p for p in found if shutil.which(p.argv[0])]


# ---- what is asked ----

def look(session, reasons):
    """The addresses with filters, and those without."""
    with_filter, without = [], []
    for number, address, filters, _ in session.rows():
        (with_filter if filters else without).append(address)
        if not filters:
            reasons[session.why_not(number)] += 1
    return with_filter, without


def serve(truehit, program, output):
    """How many of its places have pads, why the others have none, and whether the output is
    the same. A server is let alone where it has none: there it would stop at each hit."""
    reasons, total, served, hits, same = collections.Counter(), 0, 0, 0, True
    expected = undisturbed(program)
    for part in parts(places(program)):
        with Session(truehit, program, output / "output") as session:
            session.put(part)
            if program.talk:
                served_now, others = look(session, reasons)
                session.take(others)
            said = session.run()
            if not program.talk:
                served_now, _ = look(session, reasons)
            total += len(part)
            served += len(served_now)
            hits += sum(row[3] for row in session.rows())
            printed = session.end()
            same &= (said or printed) == expected
    print(f"{program.name:14} {total:6} {'lines' if program.lines else 'entries':8} "
          f"{100 * served / max(total, 1):6.1f} %  {hits:11} hits  output "
          f"{'the same' if same else 'DIFFERS'}", flush=True)
    for reason, count in reasons.most_common():
        print(f"{'':14} {count:6} {reason}")
    return same


def report_places(options, output):
    programs = installed(output)
    for level in ("-O0", "-O2"):
        if not options.names or f"lua {level}" in options.names:
            lua = build_lua(output, level)
            programs += [lua, dataclasses.replace(lua, lines=False)]
    return all([serve(options.truehit, program, output) for program in programs
                if not options.names or program.name in options.names])


def count_by_steps(options, program, addresses, output):
    path = output / "places"
    path.write_text("".join(f"{address + BASE:x}\n" for address in addresses))
    done = subprocess.run([options.build / "tests" / "whole" / "steps", path, *program.argv],
                          capture_output=True, text=True, check=True, timeout=LIMIT)
    rows = [line.split() for line in done.stderr.splitlines()]
    return {int(address, 16) - BASE: int(count) for address, count in rows[:-1]}, rows[-1][1]


def compare_counts(options, program, output):
    addresses = places(program)
    expected, steps = count_by_steps(options, program, addresses, output)
    wanted = undisturbed(program)
    with Session(options.truehit, program, output / "output") as session:
        session.put(addresses)
        session.run()
        rows = {row[1]: row for row in session.rows()}
        filters = sum(row[2] for row in rows.values())
        different = [(hex(a), expected[a], rows[a][3] if a in rows else None)
                     for a in addresses if a not in rows or rows[a][3] != expected[a]]
        if session.end() != wanted:
            different.append("the output")
    print(f"{program.name}: {len(addresses)} lines, {filters} with filters; {steps} steps, "
          f"{sum(expected.values())} hits; {len(different)} lines differ {different[:5]}",
          flush=True)
    return not different


def report_counts(options, output):
    run(["make", "-s", "-C", options.build, "tests/whole/steps"])
    return all([compare_counts(options, build_lua(output, level), output)
                for level in ("-O0", "-O2")])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("what", choices=("places", "counts"))
    parser.add_argument("names", nargs="*", metavar="PROGRAM", help="of places")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--truehit", type=pathlib.Path, help="default: BUILD/truehit")
    options = parser.parse_args()
    options.truehit = (options.truehit or options.build / "truehit").resolve()
    output = (options.build / "whole").resolve()
    output.mkdir(parents=True, exist_ok=True)
    fine = {"places": report_places, "counts": report_counts}[options.what](options, output)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
