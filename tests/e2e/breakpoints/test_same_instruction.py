# SPDX-License-Identifier: BSD-2-Clause
"""A breakpoint in hardware and one in the text at the same instruction, as gdb has them when a
thread comes back from a signal's handler to where it was stopped."""
from attached import Rounds, Session, every

RDI = 5


def test_a_trap_that_is_taken_back_after_it_was_hit(t):
    """A thread that was told of a hit, and has executed a trap at the same instruction since,
    which nobody wants any more when it would be told, does not hit once more."""
    t.need_x86()
    t.need_kernel_conditions()
    program = Rounds(t, threads=2)
    session = Session(t, program)
    client, told, others = session.client, [], 0
    session.insert(1, 0, every(128))
    stop = client.ask("vCont;c")
    for _ in range(200):
        thread = session.thread_of(stop)
        client.ask(f"Hg{thread}")
        told.append((thread, client.ask(f"p{RDI:x}")))
        for part in 0, 5:
            session.insert(0, part)
        others += session.thread_of(client.ask("vCont;c")) != thread
        for part in 0, 5:
            session.remove(0, part)
        stop = client.ask("vCont;c")
    t.note(f"the other thread's trap was told {others} times")
    t.equal(len(told) - len(set(told)), 0, "hits that were told twice")
