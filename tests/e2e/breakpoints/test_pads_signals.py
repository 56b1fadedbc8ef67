# SPDX-License-Identifier: BSD-2-Clause
"""Signals of a thread in the middle of a pad: at an instruction that has begun, and been
counted, and is not done."""
import os
import signal

import harness
import rsp
from storms import NEVER

SIGNALS = 12
RIP = 16
UNREAD = ";X7,26001222001327"  # $cs == 0, which filters do not read


def symbol(t, name):
    text = harness.subprocess.run(["nm", t.prog("strings")], capture_output=True, text=True,
                                  check=True).stdout
    return harness.LOADED_AT + int(t.match(rf"^([0-9a-f]+) \w {name}$", text).group(1), 16)


def pc_of(client):
    return int.from_bytes(bytes.fromhex(client.ask(f"p{RIP:x}")), "little")


def number_at(pid, address):
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        return int.from_bytes(memory.read(4), "little")


def start(t, engine):
    """A server and its client; nobody has resumed the program yet."""
    t.need_x86()
    t.truehit_only("pads")
    t.need_any_engine()
    if engine == "uprobe":
        t.need_kernel_conditions()
    server = t.server("--once", "COMM", t.prog("strings"), 10 ** 9)
    client = rsp.Client(server)
    client.ask("qSupported:swbreak+;hwbreak+;vContSupported+")
    client.monitor(f"set engine {engine}")
    client.monitor("set pads always")
    return server, client


def give_signals(t, engine, never=NEVER):
    """Each of the rounds is one hit, and no handler sees the pad."""
    server, client = start(t, engine)
    filling, end, signals, rounds, wanted = (
        symbol(t, name) for name in ("filling", "main_end", "signals", "rounds", "wanted"))
    for packet in f"Z0,{filling:x},1{never}", f"Z0,{end:x},1":
        t.equal(client.ask(packet), "OK", packet)
    thread, inside, packet = client.ask("qC")[2:], 0, "vCont;c"
    pid = server.inferior()
    for given in range(SIGNALS):
        client.send_bytes(client.frame(packet))
        # One that is sent while another waits would be lost, as ever.
        harness.wait_for(lambda: number_at(pid, rounds) and number_at(pid, signals) == given,
                         "the handler")
        client.interrupt()
        stop = client.receive().decode("latin1")
        t.match("^T02", stop, f"the stop {stop}")
        inside += pc_of(client) == filling
        packet = f"vCont;C1e:{thread};c"
    t.check(inside > SIGNALS // 2, f"{inside} of {SIGNALS} stops are in the instruction")
    explained = client.monitor(f"explain *{filling:#x}")
    t.match("The trap is in a pad", explained)
    t.equal(client.ask(f"M{wanted:x},8:" + "00" * 8), "OK", "the last round")
    t.match("^T05.*swbreak", client.ask(packet), "the end")
    made = number_at(pid, rounds)
    table = client.monitor("breakpoints")
    t.no_match("18,446,744", table, "less than no hits")
    row, = (row for row in harness.breakpoint_rows(table)
            if f"{filling:#x}" in row["text"])
    t.equal((row["hits"], row["false"]), (made, made), "hits")
    client.ask(f"z0,{end:x},1")
    t.equal(client.ask("vCont;c"), "W00", "the end")
    client.close()
    t.match(f"^{SIGNALS} signals, 0 elsewhere$", server.output())


def test_signals_in_a_pad(t):
    give_signals(t, "uprobe")


def test_signals_in_a_pad_without_rights(t):
    give_signals(t, "ptrace")


def test_signals_in_a_pad_without_a_filter(t):
    """The program in the kernel has counted the hit."""
    give_signals(t, "uprobe", UNREAD)


def send_two(t, engine):
    """While the instruction is made to end, as the first one has come in the middle of it,
    the second one cannot be blocked."""
    server, client = start(t, engine)
    filling = symbol(t, "filling")
    t.equal(client.ask(f"Z0,{filling:x},1{NEVER}"), "OK", "Z0")
    pid, rounds = server.inferior(), symbol(t, "rounds")
    for turn in range(SIGNALS):
        client.send_bytes(client.frame("vCont;c"))
        harness.wait_for(lambda: number_at(pid, rounds), "the program")
        os.kill(pid, signal.SIGUSR1)
        os.kill(pid, signal.SIGSTOP)
        told = [client.receive().decode("latin1")[:3], client.ask("vCont;c")[:3]]
        t.equal(sorted(told), ["T11", "T1e"], f"what is told, {turn}")


def test_stop_signal_in_a_pad(t):
    send_two(t, "uprobe")


def test_stop_signal_in_a_pad_without_rights(t):
    send_two(t, "ptrace")
