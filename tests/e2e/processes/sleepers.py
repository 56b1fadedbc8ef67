# SPDX-License-Identifier: BSD-2-Clause
"""Programs whose threads sleep in the kernel, and clients of their servers."""
import os
import re
import signal

import harness
import rsp

PC = {"x86_64": 16, "aarch64": 32}[os.uname().machine]


def must_live(t, pid):
    t.check(harness.process_state(pid) in ("S", "R", "D"), f"process {pid} lives")


class Sleeper:
    """The program `asleep`, asleep. @process prints what it does."""

    def __init__(self, t, process, pid, children=1):
        self.t, self.process, self.pid = t, process, pid
        harness.wait_for(lambda: len(self.children) == children, "the vfork children")
        harness.wait_for(lambda: self.state() == "D", "the main thread asleep")

    @classmethod
    def alone(cls, t, *args, children=1):
        process = harness.Process(t, [t.prog("asleep"), *args])
        return cls(t, process, process.pid, children)

    @property
    def children(self):
        return [int(pid) for pid in re.findall(r"^child (\d+)$", self.process.output(), re.M)]

    def address(self, name):
        return self.process.wait_output(rf"\b{name} 0x(\w+)").group(1)

    def state(self):
        return harness.process_state(self.pid)

    def must_sleep(self):
        for child in self.children:
            must_live(self.t, child)

    def wake(self, count=None):
        for child in self.children[:count]:
            os.kill(child, signal.SIGKILL)

    def must_end_well(self):
        self.wake()
        self.process.wait_output("done")

    def is_free(self):
        return all(harness.tracer_of(tid) == 0
                   for tid in os.listdir(f"/proc/{self.pid}/task"))


def session(server):
    client = rsp.Client(server)
    client.ask("qSupported:swbreak+;hwbreak+;vContSupported+")
    client.ask("QPassSignals:14")  # SIGCHLD
    client.ask("QStartNoAckMode")
    client.acks = False
    return client


def go(client, packet="vCont;c"):
    client.send_bytes(client.frame(packet))


def started(t, *args, children=1, before=()):
    """A server that has started the program, and its client, which waits. @before:
    packets ahead of that."""
    server = t.server("COMM", t.prog("asleep"), *args)
    client = session(server)
    client.ask("?")
    for packet in before:
        t.equal(client.ask(packet), "OK", packet)
    go(client)
    return server, client, Sleeper(t, server, server.inferior(), children)


def attached(t, *args, children=1):
    sleeper = Sleeper.alone(t, *args, children=children)
    server = t.server("--attach", "COMM", sleeper.pid)
    return server, session(server), sleeper


def thread_of(t, stop):
    return t.match(r"thread:([0-9a-f.p]+);", stop).group(1)
