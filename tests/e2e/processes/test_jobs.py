# SPDX-License-Identifier: BSD-2-Clause
"""Job control by others: SIGSTOP and SIGCONT. What is expected is what gdbserver does
(TRUEHIT=gdbserver tests/e2e/run test_jobs), where a test does not say otherwise."""
import os
import re
import select
import signal

import harness
import rsp
from test_control import Ticker

# What gdb numbers them (include/gdb/signals.def).
SIGINT, SIGSTOP, SIGCONT = 2, 17, 19
RUNS = "runs"


class Session:
    """A client that plays gdb's part; @resume tells what became of a `continue`."""

    def __init__(self, t, server):
        self.t = t
        self.server = server
        self.client = rsp.Client(server)
        self.client.ask("qSupported:swbreak+;hwbreak+;vContSupported+;multiprocess+")
        self.thread = None

    def stop(self):
        """The number of the signal that the next stop tells, or how the program ended."""
        reply = self.client.receive().decode("latin1")
        if reply[0] != "T":
            return reply.partition(";")[0]
        self.thread = self.t.match(r"thread:(p?[0-9a-f.]+);", reply).group(1)
        return int(reply[1:3], 16)

    def send(self, signo=0):
        packet = f"vCont;C{signo:x}:{self.thread};c" if signo else "vCont;c"
        self.client.send_bytes(self.client.frame(packet))

    def stop_or_run(self, *tickers):
        """A stop, unless the programs go on counting."""
        counts = [ticker.counts()[0] for ticker in tickers]

        def look():
            if select.select([self.client.socket], [], [], 0)[0]:
                self.client.fill()
            if self.client.buffer.lstrip(b"+"):  # more than an acknowledgement
                return self.stop()
            return RUNS if all(ticker.counts()[0] > before + 20
                               for ticker, before in zip(tickers, counts)) else None
        return harness.wait_for(look, "a stop, or the program running")

    def resume(self, signo, *tickers):
        self.send(signo)
        return self.stop_or_run(*tickers)

    def leave(self, ticker):
        self.t.equal(self.client.ask(f"D;{ticker.pid:x}"), "OK", "detach")


def state_becomes(pid, letters):
    harness.wait_for(lambda: harness.process_state(pid) in letters, f"state {letters}")


def stopped(t, threads=1):
    ticker = Ticker(t, threads)
    os.kill(ticker.pid, signal.SIGSTOP)
    state_becomes(ticker.pid, "T")
    return ticker


def attach(t, ticker):
    session = Session(t, t.server("--attach", "COMM", ticker.pid))
    t.match("^T00", session.client.ask("?"))
    return session


def test_attach_to_a_stopped_process(t):
    """One more SIGSTOP is told, and then the program runs on; Ctrl-C works as ever."""
    ticker = stopped(t)
    session = attach(t, ticker)
    t.equal(session.resume(0, ticker), SIGSTOP, "the first continue")
    t.equal(session.resume(0, ticker), RUNS, "signal 0")
    session.client.interrupt()
    t.equal(session.stop(), SIGINT, "Ctrl-C")
    t.equal(session.resume(0, ticker), RUNS, "afterwards")


def test_attach_to_a_stopped_process_and_pass_the_signal(t):
    """As gdb does if its user only says `continue`. (gdbserver tells of a SIGSTOP of its
    own as well.)"""
    t.truehit_only("attach without a signal")
    ticker = stopped(t, 3)
    session = attach(t, ticker)
    t.equal(session.resume(0, ticker), SIGSTOP, "the first continue")
    t.equal(session.resume(SIGSTOP, ticker), RUNS, "the second one")


def test_stopped_process_that_is_left_stays_stopped(t):
    ticker = stopped(t)
    session = attach(t, ticker)
    session.leave(ticker)
    harness.wait_for(lambda: harness.tracer_of(ticker.pid) == 0, "no tracer")
    state_becomes(ticker.pid, "T")
    os.kill(ticker.pid, signal.SIGCONT)
    ticker.must_run()


def test_process_that_ran_on_and_is_left_stops(t):
    """It has not got a SIGCONT."""
    ticker = stopped(t)
    session = attach(t, ticker)
    session.resume(0, ticker)
    t.equal(session.resume(0, ticker), RUNS, "continue")
    session.client.interrupt()
    session.stop()
    session.leave(ticker)
    state_becomes(ticker.pid, "T")
    os.kill(ticker.pid, signal.SIGCONT)
    ticker.must_run()


def test_shell_stops_and_continues(t):
    """SIGCONT while it runs on, a second SIGSTOP, another SIGCONT."""
    ticker = stopped(t)
    session = attach(t, ticker)
    session.resume(0, ticker)
    t.equal(session.resume(0, ticker), RUNS, "continue")
    for _ in range(2):
        os.kill(ticker.pid, signal.SIGCONT)
        t.equal(session.stop(), SIGCONT, "continued by a shell")
        t.equal(session.resume(SIGCONT, ticker), RUNS, "continue")
        os.kill(ticker.pid, signal.SIGSTOP)
        t.equal(session.stop(), SIGSTOP, "stopped by a shell")
        t.equal(session.resume(SIGSTOP, ticker), SIGSTOP, "once more")
        t.equal(session.resume(SIGSTOP, ticker), RUNS, "continue")


def test_stop_signal_that_is_kept_from_the_program(t):
    ticker = Ticker(t)
    session = attach(t, ticker)
    t.equal(session.resume(0, ticker), RUNS, "continue")
    os.kill(ticker.pid, signal.SIGSTOP)
    t.equal(session.stop(), SIGSTOP, "stop")
    t.equal(session.resume(0, ticker), RUNS, "signal 0")


def test_raise(t):
    """With gdb's defaults, each SIGSTOP is told twice."""
    gdb = t.gdb(t.server("COMM", t.prog("jobs"), 2), *["continue"] * 5,
                prog=t.prog("jobs"))
    t.equal(len(re.findall("Program received signal SIGSTOP", gdb.output())), 4, "stops")
    t.match(r"exited with code 07", gdb.output())


def test_raise_in_one_of_several_threads(t):
    """One tells for all. (With gdbserver each does.)"""
    t.truehit_only("one stop for all")
    gdb = t.gdb(t.server("COMM", t.prog("jobs"), 2, 4), *["continue"] * 5,
                prog=t.prog("jobs"))
    t.equal(len(re.findall("received signal SIGSTOP", gdb.output())), 4, "stops")
    t.match(r"exited with code 07", gdb.output())


def test_raise_that_is_passed(t):
    for threads in 1, 4:
        gdb = t.gdb(t.server("COMM", t.prog("jobs"), 3, threads),
                    "handle SIGSTOP nostop noprint pass", "continue",
                    prog=t.prog("jobs"))
        t.no_match("SIGSTOP,", gdb.output())
        t.match(r"exited with code 07", gdb.output())


def test_steps_across_a_raise(t):
    """A step that the SIGSTOP comes in the way of, and what follows."""
    gdb = t.gdb(t.server("COMM", t.prog("jobs"), 1),
                "break raise", "continue", "finish", "signal 0", prog=t.prog("jobs"))
    t.equal(len(re.findall("received signal SIGSTOP", gdb.output())), 1, "stops")
    t.match(r"exited with code 07", gdb.output())


def test_one_of_several_processes(t):
    """The group stop of one is none of the other, which is halted for it all the same."""
    tickers = Ticker(t), Ticker(t)
    session = Session(t, t.server("--multi", "COMM"))
    session.client.ask("!")
    for ticker in tickers:
        t.match("^T", session.client.ask(f"vAttach;{ticker.pid:x}"))
    t.equal(session.resume(0, *tickers), RUNS, "continue")
    os.kill(tickers[0].pid, signal.SIGSTOP)
    for _ in range(2):
        t.equal(session.stop(), SIGSTOP, "stop")
        t.match(f"^p{tickers[0].pid:x}\\.", session.thread)
        session.send(SIGSTOP)
    t.equal(session.stop_or_run(*tickers), RUNS, "continue")
    session.client.interrupt()
    session.stop()
    for ticker in tickers:
        session.leave(ticker)
    state_becomes(tickers[0].pid, "T")
    tickers[1].must_run()


def test_non_stop(t):
    """There, each thread tells, as each is resumed by itself."""
    t.truehit_only("defined order of such stops")
    ticker = Ticker(t, 3)
    session = Session(t, t.server("--attach", "COMM", ticker.pid))
    client = session.client
    t.equal(client.ask("QNonStop:1"), "OK", "QNonStop")
    client.ask("?")
    while client.ask("vStopped") != "OK":
        pass
    t.equal(client.ask("vCont;c"), "OK", "vCont")
    ticker.must_run()
    os.kill(ticker.pid, signal.SIGSTOP)
    stop = t.match(r"Stop:T11.*thread:(p[0-9a-f.]+);", client.notification())
    t.equal(client.ask("vStopped"), "OK", "one thread has got the signal")
    t.equal(client.ask(f"vCont;C11:{stop.group(1)}"), "OK", "vCont")
    told = [client.notification()]
    while len(told) < 3:
        more = client.ask("vStopped")
        told.append(client.notification() if more == "OK" else more)
    t.equal(len({t.match(r"T11.*thread:(p[0-9a-f.]+);", text).group(1) for text in told}), 3,
            "threads in a group stop")
    t.equal(client.ask("vStopped"), "OK", "no more")
    t.equal(client.ask("vCont;c"), "OK", "vCont")
    ticker.must_run()


def test_program_that_nobody_watches_stays_stopped(t):
    """Its client has gone, and its dprintfs go on: for others it is a process as any."""
    t.truehit_only("dprintfs of disconnected programs")
    ticker = Ticker(t)
    server = t.server("--attach", "COMM", ticker.pid)
    t.gdb(server, "set dprintf-style agent", "set disconnected-dprintf on",
          "set breakpoint always-inserted on", 'dprintf tick,"tick %d\\n", (int)id',
          "continue&", "disconnect", prog=t.prog("attach"), first=("set non-stop off",))
    server.wait_output("tick 0")
    for _ in range(3):
        os.kill(ticker.pid, signal.SIGSTOP)
        state_becomes(ticker.pid, "Tt")
        before = ticker.counts()
        t.equal(before, ticker.counts(), "counts of a stopped program")
        os.kill(ticker.pid, signal.SIGCONT)
        ticker.must_run()
