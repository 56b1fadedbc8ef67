# SPDX-License-Identifier: BSD-2-Clause
"""SIGKILL hits the guard, the server, or both at once, at random moments while the attached
program has pads, with rights and without; it must come to its end with the right result.
KILLS=300 makes a longer run, of so many kills of each, KILL_SEED another one (-v shows the
figures)."""
import collections
import os
import random
import signal
import threading
import time

import harness
import rsp
from attached import NEVER, Rounds, Session, every
from test_kill import BREAKPOINTS, KILLS, ROUNDS, SEED, THREADS, TURN_LIMIT, WHILE, fate
from test_pads import ENGINES, need_pads

VICTIMS = ("guard", "server", "both")
TIMES = KILLS if KILLS > 30 else KILLS // 5   # of each victim
TOLD = ("killed by SIGTRAP", "stopped")       # as a hit was being told


def insert(session, engine, telling):
    """Filters that are busy; with @telling, one hit in 128 of a place is true."""
    session.client.monitor(f"set engine {engine}")
    session.client.monitor("set pads always")
    for part in range(BREAKPOINTS):
        session.insert(0, part, every(128) if telling and part == 0 else NEVER)


def kill(server, victim):
    victims = {"guard": [server.pid], "server": [server.serving],
               "both": [server.serving, server.pid]}[victim]
    for pid in victims:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # the other one's end was first


def be_told(client):
    """Of hits, as long as somebody tells."""
    stop = "T"
    try:
        client.socket.settimeout(TURN_LIMIT / 2)  # for a server that hangs
        while stop[0] == "T":
            stop = client.ask("vCont;c")
    except (rsp.Closed, OSError):
        pass


def attack(program, session, chance, victim, telling):
    """Where nothing is told, all pads are there by then: while the program makes a system
    call for the server, it cannot be left alone (doc/exactness/pads.md)."""
    moment = chance.random() * WHILE
    if telling:
        timer = threading.Timer(moment, kill, [session.server, victim])
        timer.start()
        be_told(session.client)
        timer.join()
    else:
        session.go()
        program.must_run()
        time.sleep(moment)
        kill(session.server, victim)
    session.server.wait()
    harness.wait_for(lambda: not harness.descendants(session.server.pid), "the server's end")
    session.client.close()


def go_on(program):
    """The signal that was to stop a thread for the server stops the program. Was it so?"""
    stopped = program.alive() and harness.process_state(program.pid) == "T"
    if stopped:
        os.kill(program.pid, signal.SIGCONT)
    return stopped


def turn(t, chance, expected, victim, engine, telling):
    """What became of the program: "" if nothing did."""
    program = Rounds(t, THREADS, ROUNDS, wrapper=["setarch", "-R"], again=True)
    session = Session(t, program)
    insert(session, engine, telling)
    attack(program, session, chance, victim, telling)
    harness.wait_for(lambda: not program.alive() or
                     all(harness.tracer_of(tid) in (0, None) for tid in program.tasks()),
                     "nobody tracing", TURN_LIMIT)
    stopped = go_on(program)
    what = fate(t, program, expected)
    if what.startswith("traps at "):
        what = ""  # the text has jumps to pads that are inert
    return what or ("stopped" if stopped else "")


@harness.machines("main", "as=root")
def test_kill_with_pads(t):
    t.truehit_only("guard")
    need_pads(t)
    signal.alarm(0 if KILLS > 30 else harness.TEST_LIMIT)
    undisturbed = harness.Process(t, [t.prog("rounds"), THREADS, ROUNDS])
    t.equal(undisturbed.wait(), 0, "exit status of the program, left alone")
    expected = t.match("^sum .*$", undisturbed.output()).group(0)
    chance = random.Random(SEED)
    casualties, told = [], collections.Counter()
    for number in range(TIMES):
        for victim in VICTIMS:
            engine, telling = ENGINES[number % len(ENGINES)], number % 3 == 2
            what = turn(t, chance, expected, victim, engine, telling)
            if telling and what in TOLD:
                told[victim, engine, what] += 1
            elif what:
                casualties.append((victim, engine, what))
                t.note(f"turn {number}, {victim}, {engine}, {telling}: {what}")
    t.note(f"{TIMES} kills of each, {len(casualties)} programs hurt; by hits that were being "
           f"told: {dict(told)}")
    t.equal(casualties, [], "what became of programs")
