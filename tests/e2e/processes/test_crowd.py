# SPDX-License-Identifier: BSD-2-Clause
"""Steps of one thread while many others are to continue: they wait until a step lasts, but
none is starved, and no stop of theirs is lost."""
import random
import re

import rsp
from storms import SCALE, SEED, Session, Storm, condition
from test_protocol import symbol

THREADS = 24


def test_next_over_a_loop_that_waits(t):
    """The thread that lets it go needs time of its own, more than one step's."""
    server = t.server("COMM", t.prog("crowd"), THREADS, 3000000)
    gdb = t.gdb(server, f"break {t.line('crowd.c', 'WAIT')}", "continue", "next", "bt 1",
                prog=t.prog("crowd"), python="emit(calls=value('calls'))\nrun('kill')")
    t.equal(gdb.results[0]["calls"], "1500000", "calls when the loop has ended")


def test_single_steps_in_a_loop_that_waits(t):
    """Each step ends at once, and still the other thread gets on."""
    server = t.server("COMM", t.prog("crowd"), THREADS, 10000000)
    client = rsp.Client(server)
    client.ask("qSupported:multiprocess+;swbreak+;hwbreak+")
    client.ask("QStartNoAckMode")
    client.acks = False
    at, released = (symbol(t, "crowd", name) for name in ("wait_for_it", "released"))
    t.equal(client.ask(f"Z0,{at:x},1"), "OK", "Z0")
    stop = t.match("^T05.*swbreak:;.*thread:([^;]+);", client.ask("vCont;c"), "the loop")
    t.equal(client.ask(f"z0,{at:x},1"), "OK", "z0")
    steps = 0
    while client.ask(f"m{released:x},4") == "00000000":
        reply = client.ask(f"vCont;s:{stop.group(1)};c")
        t.match(f"^T05.*thread:{stop.group(1)};", reply, "the end of a step")
        steps += 1
        t.check(steps < 200000, "the other thread does not get on")
    t.note(f"{steps} steps")
    t.check(steps > 0, "it was not waited for: no test")


class Stepper(Session):
    """Steps a thread, in two of three resumes, and has all others continue."""

    def pick(self):
        tids = self.client.ask("qfThreadInfo")[1:].split(",")
        return self.random.choice(tids)

    def run_stepping(self, rounds):
        for _ in range(rounds):
            tid = self.pick() if self.random.random() < 0.7 else None
            stop = self.resume(f"vCont;s:{tid};c" if tid else "vCont;c")
            if stop[0] != "T":
                return stop
            if "swbreak" in stop or "hwbreak" in stop:
                end = self.step_off(self.on_hit(stop))
                if end:
                    return end
                continue
            self.t.equal(stop[1:3], "05", f"the signal of {stop}")
            self.t.equal(self.thread(stop), tid, f"who has stepped: {stop}")
        return self.run()


def test_hits_of_those_that_wait(t):
    """Every true hit of theirs is told, once, whoever steps meanwhile."""
    t.truehit_only("a choice of engines")
    for engine in "uprobe", "ptrace":
        if engine == "uprobe":
            t.need_kernel_conditions()
        program = Storm(t, THREADS, max(64, int(1500 * SCALE)))
        session = Stepper(t, program, 0, condition(), seed=SEED, engine=engine)
        program.go()
        session.must_agree(session.run_stepping(1500))
        t.check(session.hits > 0, "hits")


def test_the_stepped_thread_ends(t):
    """While the others wait: they go on, and the client hears of no end of all."""
    server = t.server("COMM", t.prog("crowd"), THREADS, 20)
    client = rsp.Client(server)
    client.ask("qSupported:multiprocess+;swbreak+;hwbreak+;no-resumed+")
    call = symbol(t, "crowd", "call")
    t.equal(client.ask(f"Z0,{call:x},1"), "OK", "Z0")
    stop = t.match("^T05.*swbreak:;.*thread:([^;]+);", client.ask("vCont;c"), "a call")
    t.equal(client.ask(f"z0,{call:x},1"), "OK", "z0")
    reply = ""
    for _ in range(200000):
        reply = client.ask(f"vCont;s:{stop.group(1)};c")
        if not reply.startswith("T05") or f"thread:{stop.group(1)};" not in reply:
            break
    t.check(re.match("W00", reply), f"the end: {reply}")


def test_the_end_of_all_by_the_only_one_resumed(t):
    """The leader is a zombie before those that it takes with it are: that nothing is
    left that was resumed is not told, the end of the process is."""
    call, released = (symbol(t, "crowd", name) for name in ("wait_for_it", "released"))
    for _ in range(10):
        client = rsp.Client(t.server("COMM", t.prog("crowd"), 300, 1))
        client.ask("qSupported:multiprocess+;swbreak+;hwbreak+;no-resumed+")
        t.equal(client.ask(f"Z0,{call:x},1"), "OK", "Z0")
        leader = t.match("^T05.*swbreak:;.*thread:([^;]+);", client.ask("vCont;c")).group(1)
        t.equal(client.ask(f"z0,{call:x},1"), "OK", "z0")
        t.equal(client.ask(f"M{released:x},1:01"), "OK", "M")
        reply = client.ask(f"vCont;c:{leader}")
        t.check(reply.startswith("W00"), f"the end: {reply}")
