# SPDX-License-Identifier: BSD-2-Clause
"""Programs that turn against the pads in their memory: they fool themselves, and the server
goes on."""
ROUNDS = 1000
SUM = ROUNDS * (ROUNDS - 1) // 2


def attack(t, way, engine):
    """Returns the signals that gdb was told of, and what the program has printed."""
    t.need_x86()
    t.need_any_engine()
    if engine == "uprobe":
        t.need_kernel_conditions()
    server = t.server("COMM", t.prog("against_pads"), way, ROUNDS)
    gdb = t.gdb(server, f"monitor set engine {engine}", "monitor set pads always",
                f"break {t.line('against_pads.c', 'WORK')} if i == -1",
                prog=t.prog("against_pads"), python="""
signals = []
def note(event):
    if isinstance(event, gdb.SignalEvent):
        signals.append(event.stop_signal)
gdb.events.stop.connect(note)
run("continue")
alive = gdb.selected_inferior().pid != 0
table = run("monitor breakpoints") if alive else ""
if alive:
    run("kill")
emit(signals=signals, alive=alive, table=table)
""")
    found = gdb.results[0]
    t.no_match("no pads", server.output())
    return found, server.output()


def each(t, way):
    return [attack(t, way, engine) for engine in ("uprobe", "ptrace")]


def check_end(t, way):
    for found, output in each(t, way):
        t.equal((found["alive"], found["signals"]), (False, []), "the end")
        t.match(f"^sum {SUM}$", output)


def test_code_that_is_unmapped(t):
    """The fault is told where the breakpoint is: gdb looks at the condition, and goes on."""
    check_end(t, "unmap")


def test_code_that_is_written_over(t):
    """The same, by a SIGTRAP."""
    check_end(t, "write")


def test_jump_into_a_filter(t):
    """In the middle of nowhere, with registers that nobody has saved."""
    for found, output in each(t, "jump"):
        t.check(found["signals"] or not found["alive"] or "sum" in output, "an end")


def test_forged_counters(t):
    """Nothing but what is shown depends on them."""
    check_end(t, "forge")


def test_file_that_shrinks(t):
    """The server would get a SIGBUS where it reads counters."""
    for found, output in each(t, "shrink"):
        t.equal((found["alive"], found["signals"]), (False, []), "the end")
        t.no_match("has shrunk", output)
        t.match(f"^sum {SUM}$", output)


def test_shared_memory_that_is_unmapped(t):
    """A filter that cannot read where traps are leaves all to the trap."""
    check_end(t, "forget")
