# SPDX-License-Identifier: BSD-2-Clause
"""A program that is at work while a server comes and goes."""
import os
import re
import signal

import harness
import rsp

ARGUMENT = {"x86_64": 5, "aarch64": 0}  # register of the first argument
NEVER = ";X3,220027"


def every(period):
    """(first argument & period - 1) == 0, for a power of two."""
    mask = [0x22, period - 1] if period <= 256 else [0x24, *(period - 1).to_bytes(4, "big")]
    code = bytes([0x26, 0, ARGUMENT[os.uname().machine], *mask, 0x0f, 0x22, 0, 0x13, 0x27])
    return f";X{len(code):x},{code.hex()}"


def byte_is_set(addr):
    """*(char *)addr != 0"""
    code = bytes([0x25, *addr.to_bytes(8, "big"), 0x17, 0x27])
    return f";X{len(code):x},{code.hex()}"


def changed_text(pid, path):
    """Addresses where the program's text is not what the file says: its own, or the one
    that it was a copy of."""
    with open(path, "rb") as file:
        content = file.read()
    changed = []
    with open(f"/proc/{pid}/maps", encoding="latin1") as maps, \
            open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        own = next(line for line in maps if "/memfd:" not in line)  # the executable is first
        own = own.partition("/")[2].rstrip("\n")
        maps.seek(0)
        for line in maps:
            match = re.match(rf"(\w+)-(\w+) r-x\S* (\w+) .* /{re.escape(own)}$", line)
            if match:
                begin, end, offset = (int(n, 16) for n in match.groups())
                memory.seek(begin)
                text = memory.read(end - begin)
                changed += [begin + i for i, (a, b) in
                            enumerate(zip(text, content[offset:])) if a != b]
    return changed


class Rounds:
    """The program `rounds`, or a copy; @rounds of each of @threads, @again and again until
    end(). @traps: it handles SIGTRAP. @wrapper: what starts it, in the same process."""

    def __init__(self, t, threads=3, rounds=10 ** 12, path=None, wrapper=(), again=False,
                 traps=False):
        self.t, self.path = t, t.prog("rounds")
        self.process = harness.Process(t, [*wrapper, path or self.path, threads, rounds,
                                           *(["again"] if again or traps else []),
                                           *(["traps"] if traps else [])])
        self.pid = self.process.pid
        self.process.wait_output("begun")
        harness.wait_for(self.is_ready, "no thread that blocks signals as it begins")
        output = self.process.output()
        self.byte, self.handler = (int(t.match(rf"{what} 0x(\w+)", output).group(1), 16)
                                   for what in ("byte", "handler"))
        self.parts = [int(a, 16) for a in re.findall("part 0x(\\w+)", output)]

    def set_byte(self):
        with open(f"/proc/{self.pid}/mem", "r+b", buffering=0) as memory:
            memory.seek(self.byte)
            memory.write(b"\1")

    def end(self):
        os.kill(self.pid, signal.SIGUSR1)

    def is_ready(self):
        blocked = []
        for tid in self.tasks():
            with open(f"/proc/{tid}/status", encoding="latin1") as file:
                blocked.append(int(re.search(r"SigBlk:\t(\w+)", file.read()).group(1), 16))
        return len(blocked) > 1 and all(mask == blocked[0] for mask in blocked)

    def tasks(self):
        return [int(tid) for tid in os.listdir(f"/proc/{self.pid}/task")]

    def cpu_times(self):
        times = {}
        for tid in self.tasks():
            with open(f"/proc/{tid}/stat", encoding="latin1") as file:
                times[tid] = int(file.read().rpartition(")")[2].split()[11])
        del times[self.pid]  # it waits for the others
        return times

    def alive(self):
        return self.process.process.poll() is None

    def is_free(self):
        """No thread has a tracer or is stopped. Of a program that has ended, none."""
        try:
            return all(harness.tracer_of(tid) == 0 and harness.process_state(tid) not in "Tt"
                       for tid in self.tasks())
        except (FileNotFoundError, ProcessLookupError, TypeError):
            return not self.alive()

    def must_be_free(self):
        """It runs on as if nobody had ever been there."""
        harness.wait_for(self.is_free, "nobody tracing, nothing stopped")
        self.t.equal(changed_text(self.pid, self.path), [], "changes of the text")
        self.must_run()

    def must_run(self):
        before = self.cpu_times()
        harness.wait_for(lambda: all(time > before[tid] + 1
                                     for tid, time in self.cpu_times().items()),
                         "every thread running on")
        self.t.equal(self.process.process.poll(), None, "status of the program")


class Session:
    """A server that has attached to the program, and its client."""

    def __init__(self, t, program, command=None, **kwargs):
        self.t, self.program = t, program
        self.server = harness.Server(t, ["--attach", "COMM", str(program.pid)],
                                     program=command, **kwargs)
        self.client = rsp.Client(self.server)
        self.client.ask("qSupported:swbreak+;hwbreak+;vContSupported+")
        self.client.ask("QStartNoAckMode")
        self.client.acks = False
        self.client.ask("?")

    def insert(self, kind, part, conditions=""):
        self.t.equal(self.client.ask(f"Z{kind},{self.program.parts[part]:x},1{conditions}"),
                     "OK", f"Z{kind}")

    def remove(self, kind, part):
        self.t.equal(self.client.ask(f"z{kind},{self.program.parts[part]:x},1"), "OK", "z")

    def go(self, packet="vCont;c"):
        """Lets the program run, without waiting for a stop."""
        self.client.send_bytes(self.client.frame(packet))

    def thread_of(self, stop):
        return self.t.match(r"thread:([0-9a-f.p]+);", stop).group(1)
