# SPDX-License-Identifier: BSD-2-Clause
"""SIGKILL hits the server at random moments; the attached program must come to its end
with the right result. KILLS=300 makes a longer run, KILL_SEED another one (-v shows the
figures); with TRUEHIT naming a gdbserver, its casualties are counted, too. There are fewer
kills where tests take longer (TRUEHIT_PATIENCE)."""
import os
import random
import signal
import threading

import harness
import rsp
from attached import Rounds, Session, changed_text, every

KILLS = int(os.environ.get("KILLS", 30 // harness.PATIENCE))
SEED = int(os.environ.get("KILL_SEED", "1"))
THREADS, ROUNDS = 4, 500000
WHILE = 0.05        # seconds until the server is killed, at most
TURN_LIMIT = int(os.environ.get("KILL_LIMIT", "60"))  # seconds until a hang is ended
BREAKPOINTS = 10


def insert(session, chance):
    """Hit in each round, in every 16th, or in every 128th of 0.5 million."""
    hardware = chance.sample(range(BREAKPOINTS), chance.randrange(4))
    plain = chance.sample(range(BREAKPOINTS), chance.randrange(4))
    for part in range(BREAKPOINTS):
        period = chance.choice((16, 128))
        session.insert(int(part in hardware), part, "" if part in plain else every(period))


def work(session, chance, moment):
    """Does what a client does until nobody answers any more, or for a few stops."""
    stop = session.client.ask("vCont;c")
    for _ in range(chance.randrange(4) if moment == "stopped" else 10 ** 9):
        if stop[0] != "T":
            return
        thread = session.thread_of(stop)
        step = moment == "stepping" or (moment == "stopped" and chance.random() < 0.5)
        packet = chance.choice(("s", "r0,7fffffffffff")) if moment == "stepping" else "s"
        stop = session.client.ask(f"vCont;{packet}:{thread};c" if step else "vCont;c")


def attack(t, program, chance, moment):
    """One life of a server."""
    session = Session(t, program)
    insert(session, chance)
    timer = threading.Timer(chance.random() * WHILE, session.server.kill)
    if moment != "stopped":
        timer.start()
    try:
        session.client.socket.settimeout(TURN_LIMIT / 2)  # for a server that hangs
        work(session, chance, moment)
    except (rsp.Closed, OSError):
        pass
    if moment == "stopped":
        session.server.kill()
    else:
        timer.join()
    session.server.wait()
    session.client.close()


def text_changes(program):
    try:
        return changed_text(program.pid, program.path)
    except (FileNotFoundError, ProcessLookupError):
        return []  # it has died


def end(program):
    try:
        program.end()
    except ProcessLookupError:
        pass  # it has died


def fate(t, program, expected):
    """What became of the program: "" if nothing did."""
    try:
        harness.wait_for(program.is_free, "nobody tracing, nothing stopped", TURN_LIMIT)
        changed = text_changes(program)
        end(program)
        status = program.process.wait(TURN_LIMIT)
    except harness.Failure as failure:
        program.process.kill()
        program.process.wait()
        return str(failure)
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    if status > 0 or expected not in program.process.output():
        return "wrong result"
    return f"traps at {[hex(a) for a in changed]}" if changed else ""


def turn(t, chance, expected):
    moment = chance.choice(("stopped", "running", "stepping"))
    program = Rounds(t, THREADS, ROUNDS, again=True)
    attack(t, program, chance, moment)
    return moment, fate(t, program, expected)


@harness.machines("main", "as=root")
def test_kill(t):
    signal.alarm(0 if KILLS > 30 or t.config.reference else harness.TEST_LIMIT)
    undisturbed = harness.Process(t, [t.prog("rounds"), THREADS, ROUNDS])
    t.equal(undisturbed.wait(), 0, "exit status of the program, left alone")
    expected = t.match("^sum .*$", undisturbed.output()).group(0)
    chance = random.Random(SEED)
    casualties = []
    for number in range(KILLS):
        moment, what = turn(t, chance, expected)
        if what:
            casualties.append(what)
            t.note(f"turn {number}, {moment}: {what}")
    t.note(f"{KILLS} kills, {len(casualties)} programs hurt")
    if not t.config.reference:
        t.equal(casualties, [], "what became of programs")
