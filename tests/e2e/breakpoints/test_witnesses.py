# SPDX-License-Identifier: BSD-2-Clause
"""Stores that somebody else sees are made once: a variable that is only incremented is
never seen to decrease, though each hit at its store is left to the stub."""
import harness
import uprobes

PROG = "observed"
ROUNDS = 2000


def need_undoing(t):
    """Uprobes; do threads stop after the instruction, at which they are undone?"""
    return "after the instruction" in uprobes.need_uprobes(t)


def play(t, how, place, when, rounds=ROUNDS):
    """What `monitor breakpoints` says of the place, and the stops that are no
    breakpoint's."""
    undone = need_undoing(t)
    t.need_probes_in_text()
    server = t.server("COMM", t.prog(PROG), how, rounds)
    gdb = t.gdb(server, "monitor set engine uprobe", f"break {when}", "continue",
                f"break *&{place} if $fs_base == 0", "delete 1", "break done", "continue",
                prog=t.prog(PROG), python="""
traps = 0
while gdb.selected_frame().name() != "done":
    traps += 1
    run("continue")
emit(traps=traps, table=run("monitor breakpoints"))
run("delete")
run("continue")
""")
    t.match("^decreases: 0$", server.output(), "what was seen")
    row = next(row for row in harness.breakpoint_rows(gdb.results[0]["table"])
               if f" {place} " in row["text"])
    t.equal(row["hits"], rounds, "hits")
    t.equal(" uprobe " in row["text"], not undone, "it is a uprobe")
    return gdb.results[0]["traps"], undone


def test_shared_memory(t):
    """Another process has it mapped, too."""
    t.need_breakpoint_registers()
    traps, _ = play(t, "shared", "store", "mapped")
    t.equal(traps, 0, "stops")


def test_memory_that_is_shared_later(t):
    """The first hit after that shows it: told where the thread is, as what it has stored
    may have been seen."""
    t.need_breakpoint_registers()
    traps, undone = play(t, "shared", "store", "begin")
    t.equal(traps, int(undone), "stops")


def test_shared_stack(t):
    """The same."""
    t.need_breakpoint_registers()
    traps, undone = play(t, "stack", "frame_store", "begin")
    t.equal(traps, int(undone), "stops")


def test_parent_of_a_vfork_child(t):
    """Its other threads run, in the memory that the child stores to."""
    need_undoing(t)
    server = t.server("COMM", t.prog(PROG), "vfork", ROUNDS)
    t.gdb(server, "monitor set engine uprobe", "set detach-on-fork off",
          "set follow-fork-mode child", "set schedule-multiple on",
          "handle SIGCHLD nostop noprint pass", "break with_vfork", "continue",
          "break *&store if $fs_base == 0", "delete 1", "continue", "inferior 1", "continue",
          prog=t.prog(PROG))
    t.match("^decreases: 0$", server.output(), "what was seen")
