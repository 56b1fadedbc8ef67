# SPDX-License-Identifier: BSD-2-Clause
"""SIGKILL hits the guard, the server, or both at random moments while all locations are in
pads; the attached program must come to its end with the right result. What it gets at most
is the signal of a hit that was just being told, as from any debugger that is killed: a
SIGTRAP, once a thread, also of the step after a hit, or at a uprobe a SIGSTOP, from which
SIGCONT wakes it. How many programs do is shown with -v. KILLS=300 makes so many kills of
each kind, with rights and without, KILL_SEED other ones. Kills come when all pads are made:
the making has a window (doc/exactness/pads.md)."""
import collections
import dataclasses
import os
import random
import re
import signal
import threading

import harness
import rsp
from attached import NEVER, Rounds, Session, byte_is_set, changed_text, every
from test_kill import ROUNDS, SEED, THREADS, TURN_LIMIT, text_changes

KILLS = int(os.environ.get("KILLS", max(1, 6 // harness.PATIENCE)))
X86 = os.uname().machine == "x86_64"
WHILE = 0.1         # seconds until the kill, at most
BREAKPOINTS = 8
# Of 0.5 million hits of each thread, one of so many is true.
TRUE = (1024, 16384, 2 ** 18, 2 ** 18)


@dataclasses.dataclass
class Turn:
    """One life of a program."""
    victim: str    # guard, server, both
    engine: str
    moment: str    # inserted: not yet resumed; running, stopped, stepping
    hits: bool     # true ones, now and then
    handled: bool  # the program handles SIGTRAP


def choose_turn(chance, victim, engine):
    hits = chance.random() < 0.7
    moments = ["running", "running", "stopped"] if hits else ["running", "running", "inserted"]
    # Elsewhere, most kills would come while somebody makes a step.
    if hits and victim == "guard":
        moments.append("stepping")
    # On aarch64 a thread whose handler returns executes the trap again.
    return Turn(victim, engine, chance.choice(moments), hits,
                hits and X86 and chance.random() < 0.7)


def insert(t, session, chance, turn):
    """One is hit at the end only; some conditions read memory. All are in pads."""
    program = session.program
    session.client.monitor(f"set engine {turn.engine}")
    session.client.monitor("set pads always")
    true = chance.sample(range(BREAKPOINTS), chance.choice((1, 1, 1, BREAKPOINTS)) * turn.hits)
    packets = [f"0,{program.handler:x},1"]
    for part in range(BREAKPOINTS):
        never = chance.choice((NEVER, byte_is_set(program.byte)))
        packets.append(f"0,{program.parts[part]:x},1"
                       + (every(chance.choice(TRUE)) if part in true else never))
    for packet in packets:
        t.equal(session.client.ask("Z" + packet), "OK", "Z0")
    for number in range(1, BREAKPOINTS + 2):
        t.match("The trap is in a pad", session.client.monitor(f"explain {number}"))
    return packets


def kill(pids):
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def step_off(session, stop, packets):
    """As gdb: everything out, the thread steps alone, everything in again."""
    for packet in packets:
        session.client.ask("z" + packet.partition(";")[0])
    session.client.ask(f"vCont;s:{session.thread_of(stop)}")
    for packet in packets:
        session.client.ask("Z" + packet)


def work(session, chance, turn, packets, timer):
    """Does what a client does until nobody answers any more, or for a few stops."""
    if not turn.hits:
        timer.start()
    stop = session.client.ask("vCont;c")
    if turn.hits and turn.moment != "stopped":
        timer.start()
    for _ in range(chance.randrange(4) if turn.moment == "stopped" else 10 ** 9):
        if stop[0] != "T":
            return
        if turn.moment == "stepping":
            stop = session.client.ask(f"vCont;s:{session.thread_of(stop)};c")
        else:
            step_off(session, stop, packets)
            stop = session.client.ask("vCont;c")


def attack(t, program, chance, turn):
    """One life of a server."""
    session = Session(t, program)
    packets = insert(t, session, chance, turn)
    pids = {"guard": [session.server.pid], "server": [session.server.serving],
            "both": [session.server.pid, session.server.serving]}[turn.victim]
    chance.shuffle(pids)
    timer = threading.Timer(chance.random() * WHILE, kill, [pids])
    try:
        session.client.socket.settimeout(TURN_LIMIT / 2)  # for a server that hangs
        if turn.moment != "inserted":
            work(session, chance, turn, packets, timer)
    except (rsp.Closed, OSError):
        pass
    if timer.ident:
        timer.join()
    else:
        kill(pids)
    session.server.wait()
    session.client.close()


def wake(program, turn):
    """Is it stopped by a hit that was being told? Then it goes on."""
    if not can_be_told(turn) or turn.engine != "uprobe":
        return False
    states = [harness.process_state(tid) for tid in program.tasks()]
    if "T" not in states or any(map(harness.tracer_of, program.tasks())):
        return False
    os.kill(program.pid, signal.SIGCONT)
    return True


def can_be_told(turn):
    """A server whose guard is killed takes the signals of hits back."""
    return turn.hits and turn.victim != "guard"


def may_be_dying(turn):
    return can_be_told(turn) and not turn.handled


def wait_awake(program, turn, condition, what):
    """Returns whether it was stopped by a hit meanwhile."""
    woken = []

    def look():
        try:
            woken.append(wake(program, turn))
        except (FileNotFoundError, ProcessLookupError):
            pass  # it, or a thread of it, has ended
        return condition()
    harness.wait_for(look, what, TURN_LIMIT)
    return any(woken)


def wait_free(program, turn):
    return wait_awake(program, turn, program.is_free, "nobody tracing, nothing stopped")


def must_find_jumps(t, program, turn):
    """The next server puts the text right."""
    server = Session(t, program).server
    t.match(r"had \d+ jumps to pads of a truehit that was killed", server.output())
    server.kill()
    server.wait()
    told = wait_free(program, turn)
    t.equal(changed_text(program.pid, program.path), [], "changes of the text")
    return told


def end(t, program, chance, turn):
    """Whether a hit that was being told has stopped it."""
    told = wait_free(program, turn)
    if program.alive():
        changed = text_changes(program)
        if turn.victim == "guard":
            t.equal(changed, [], "changes of the text")
        elif changed and chance.random() < 0.3 and not may_be_dying(turn):
            told |= must_find_jumps(t, program, turn)
        program.end()
        told |= wait_awake(program, turn, lambda: not program.alive(), "the program's end")
    return told


def fate(t, program, chance, turn, expected):
    """What became of the program: "" if nothing did, "hit" if a hit was being told."""
    try:
        told = end(t, program, chance, turn)
    except (harness.Failure, FileNotFoundError, ProcessLookupError) as failure:
        program.process.kill()
        program.process.wait()
        return str(failure)
    status, output = program.process.wait(), program.process.output()
    if status == -signal.SIGTRAP and can_be_told(turn) and not turn.handled:
        return "hit"
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    if status > 0 or expected not in output:
        return "wrong result"
    some, most = map(int, re.search("(.*) threads with traps, at most (.*) in one",
                                    output).groups()) if turn.handled else (0, 0)
    if most > 1 or (some and not can_be_told(turn)):
        return f"traps in {some} threads, {most} in one"
    return "hit" if some or told else ""


def sum_of_program(t):
    undisturbed = harness.Process(t, [t.prog("rounds"), THREADS, ROUNDS])
    t.equal(undisturbed.wait(), 0, "exit status of the program, left alone")
    return t.match("^sum .*$", undisturbed.output()).group(0)


def kill_many(t, victim, engine):
    t.truehit_only("pads")
    t.need_any_engine()
    if engine == "uprobe":
        t.need_x86()
        t.need_kernel_conditions()
    signal.alarm(0 if KILLS > 30 else harness.TEST_LIMIT)
    expected, chance = sum_of_program(t), random.Random(f"{SEED} {victim} {engine}")
    hurt, told = [], collections.Counter()
    for number in range(KILLS):
        turn = choose_turn(chance, victim, engine)
        # Not randomized: the places that jumps of few bytes lead to have to be free.
        program = Rounds(t, THREADS, ROUNDS, wrapper=["setarch", "-R"], again=True,
                         traps=turn.handled)
        attack(t, program, chance, turn)
        what = fate(t, program, chance, turn, expected)
        told[turn.moment] += turn.hits
        told["told " + turn.moment] += what == "hit"
        if what not in ("", "hit"):
            hurt.append(what)
            t.note(f"turn {number}, {turn}: {what}")
    t.note(f"{victim}, {engine}: {KILLS} kills, {len(hurt)} programs hurt; with true hits: "
           + ", ".join(f"{moment} {told[moment]}, being told {told['told ' + moment]}"
                       for moment in ("running", "stopped", "stepping") if told[moment]))
    t.equal(hurt, [], "what became of programs")


def test_guard_killed_with_rights(t):
    kill_many(t, "guard", "uprobe")


def test_guard_killed_without_rights(t):
    kill_many(t, "guard", "ptrace")


def test_server_killed_with_rights(t):
    kill_many(t, "server", "uprobe")


def test_server_killed_without_rights(t):
    kill_many(t, "server", "ptrace")


def test_both_killed_with_rights(t):
    kill_many(t, "both", "uprobe")


def test_both_killed_without_rights(t):
    kill_many(t, "both", "ptrace")
