# SPDX-License-Identifier: BSD-2-Clause
"""Debug exceptions that say wrongly what they are about (gdbstub/hits/unexplained.h), as some
virtual machines have them once in millions of hits: the program sends itself the signal by
which the kernel tells of one. No stop is missed, and none comes for no reason."""
import re

import harness
import rsp

PASSES = 24
RBX, RIP = 1, 16
TRAP_BRKPT, TRAP_TRACE, TRAP_HWBKPT = CODES = 1, 2, 4


def start(t, way, choice, code=0):
    t.truehit_only("what is told wrongly")
    t.need_x86()
    server = t.server("COMM", t.prog("unexplained"), way, PASSES, code)
    client = rsp.Client(server)
    client.ask("qSupported:swbreak+;hwbreak+;vContSupported+")
    client.ask("QPassSignals:1f")  # SIGUSR2
    client.ask("?")
    if choice:
        client.monitor(f"set engine {choice}")
    return client


def symbol(t, name):
    text = harness.subprocess.run(["nm", t.prog("unexplained")], capture_output=True,
                                  text=True, check=True).stdout
    return harness.LOADED_AT + int(t.match(rf"^([0-9a-f]+) \w {name}$", text).group(1), 16)


def register(client, number):
    return int.from_bytes(bytes.fromhex(client.ask(f"p{number:x}")), "little")


def insert(t, client, packet):
    t.equal(client.ask(packet), "OK", packet)


def step_off(t, client, packet):
    """As gdb does from a breakpoint in the text."""
    insert(t, client, packet.replace("Z", "z").partition(";")[0])
    t.match("^T05", client.ask("vCont;s"), "the step")
    insert(t, client, packet)


def condition(mask):
    """(rbx & mask) == 0"""
    return f";Xb,26000122{mask:02x}0f2200132727"


def run(t, client, packet=""):
    """Each stop by what it is and the number of the pass, and the places."""
    stops, places, watched = [], set(), symbol(t, "watched")
    while (stop := client.ask("vCont;c"))[0] == "T":
        kind = re.search(r"[a-z]*(break|watch)\b", stop)
        stops.append((kind.group(0) if kind else stop[:3], register(client, RBX)))
        places.add(register(client, RIP))
        t.check(len(stops) <= 16 * PASSES, "no end")
        if stops[-1][0] == "swbreak":
            step_off(t, client, packet)
        if stops[-1][0] == "watch":  # the value is new to a client that looks
            client.ask(f"m{watched:x},40")
    t.equal(stop, "W00", "the end")
    return stops, places


def every(step, kind):
    return [(kind, i) for i in range(1, PASSES + 1) if i % step == 0]


def at_breakpoint(t, choice, kind):
    """Told where it is true, once."""
    for code in CODES:
        client = start(t, "breakpoint", choice, code)
        place = symbol(t, "place_reached")
        packet = f"Z{kind},{place:x},1{condition(3)}"
        insert(t, client, packet)
        rows = client.monitor("breakpoints")
        t.equal(run(t, client, packet), (every(4, "hwbreak" if kind else "swbreak"), {place}),
                f"si_code {code}, {rows}")


def test_breakpoint(t):
    at_breakpoint(t, "", 1)


def test_breakpoint_debug_registers(t):
    at_breakpoint(t, "ptrace", 1)


def test_breakpoint_software_in_hardware(t):
    t.need_breakpoint_registers()
    t.need_kernel_conditions()
    at_breakpoint(t, "hardware", 0)


def at_store(t, choice, regions=((0, 8),)):
    """The value has changed, or it was no hit."""
    for code in CODES:
        client = start(t, "store", choice, code)
        for offset, size in regions:
            insert(t, client, f"Z2,{symbol(t, 'watched') + offset:x},{size}")
        rows = client.monitor("breakpoints")
        t.equal(run(t, client), (every(4, "watch"), {symbol(t, "place_stored")}),
                f"si_code {code}, {rows}")


def test_store(t):
    at_store(t, "")


def test_store_debug_registers(t):
    at_store(t, "ptrace")


def test_store_shared_slots(t):
    """More watchpoints than slots."""
    at_store(t, "", [(offset, 4) for offset in (48, 32, 0, 8, 12)])


def at_load(t, choice):
    for code in CODES:
        client = start(t, "load", choice, code)
        insert(t, client, f"Z4,{symbol(t, 'watched'):x},8")
        rows = client.monitor("breakpoints")
        t.equal(run(t, client), (every(1, "awatch"), {symbol(t, "place_loaded")}),
                f"si_code {code}, {rows}")


def test_load(t):
    at_load(t, "")


def test_load_debug_registers(t):
    at_load(t, "ptrace")


def test_store_step(t):
    """The step to the place that the store leads to ends there by a hit. (It is that of
    the return from the handler, and no single step for the processor.)"""
    client = start(t, "store", "", TRAP_BRKPT)
    watched, handler = symbol(t, "watched"), symbol(t, "on_signal")
    place = symbol(t, "place_stored")
    insert(t, client, f"Z2,{watched:x},8")
    told = []
    for i in range(1, 9):
        insert(t, client, f"Z1,{handler:x},1")
        t.match("hwbreak", client.ask("vCont;c"), "the handler")
        insert(t, client, f"z1,{handler:x},1")
        for _ in range(10000):
            stop = client.ask("vCont;s")
            t.match("^T05", stop, "a step")
            if register(client, RIP) == place:
                break
        if "watch:" in stop:
            told.append(i)
            client.ask(f"m{watched:x},8")
    t.equal(told, [4, 8], "hits")


def test_elsewhere(t):
    """What is in place has nothing to do with it: it is the program's signal."""
    for code in CODES:
        client = start(t, "breakpoint", "", code)
        insert(t, client, f"Z1,{symbol(t, 'place_single'):x},1")
        insert(t, client, f"Z2,{symbol(t, 'watched'):x},8")
        t.equal(run(t, client), (every(1, "T05"), {symbol(t, "place_reached")}),
                f"si_code {code}")


def test_int1(t):
    """The program's own is told, and the breakpoint after it, too."""
    client = start(t, "int1", "")
    place = symbol(t, "place_int1")
    client.ask("vCont;c")
    if register(client, RIP) == place - 1:  # so do some virtual machines on AMD's
        t.skip("this processor leaves the PC at int1, which never ends")
    client = start(t, "int1", "")
    insert(t, client, f"Z1,{place:x},1")
    wanted = [(kind, i) for i in range(1, PASSES + 1) for kind in ("T05", "hwbreak")]
    t.equal(run(t, client), (wanted, {place}), "stops")


def test_own_steps(t):
    """Those of a program that steps itself are told, also right at a breakpoint."""
    client = start(t, "step", "")
    insert(t, client, f"Z1,{symbol(t, 'place_stepped'):x},1")
    stops, _ = run(t, client)
    t.equal([s for s in stops if s[0] == "hwbreak"], every(1, "hwbreak"), "hits")
    t.equal(sorted(s for s in stops if s[0] == "T05"), sorted(5 * every(1, "T05")), "steps")


def test_after_a_trap(t):
    """A planted trap that the thread has not executed is not hit."""
    client = start(t, "after", "ptrace", TRAP_BRKPT)
    insert(t, client, f"Z0,{symbol(t, 'place_single'):x},1")
    t.equal(run(t, client), (every(1, "T05"), {symbol(t, "place_after")}), "stops")
