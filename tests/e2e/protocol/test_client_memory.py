# SPDX-License-Identifier: BSD-2-Clause
"""_M and _m: memory that the program is made to map for a client."""
import os
import signal

from test_lldb_packets import KIND, go_to, start, symbol


def test_memory_of_its_own(t):
    client = start(t)
    go_to(client, symbol(t, "calls", "main"))
    address = int(client.ask("_M2000,rw"), 16)
    t.equal(client.keys(f"qMemoryRegionInfo:{address:x}")["permissions"], "rw", "permissions")
    t.equal(client.ask(f"M{address:x},2:a55a"), "OK", "written")
    t.equal(client.memory(address, 3), b"\xa5\x5a\0", "read")
    t.equal(client.ask(f"_m{address:x}"), "OK", "given back")
    t.check("permissions" not in client.keys(f"qMemoryRegionInfo:{address:x}"), "it is gone")
    client.refused(f"_m{address:x}", ".")
    for packet in ("_M", "_M0,rw", "_M1000", "_Mx,rw", "_M1000,q", "_M1000,wr", "_M1000,rwx;"):
        client.refused(packet, "not a length and permissions")
    for packet in ("_m", "_mx", f"_m{address:x},1"):
        client.refused(packet, "not an address")
    client.refused("_M7fffffffffffffff,rw", ".")
    t.match("^W2a", client.ask("c"))


def test_breakpoint_in_memory_of_its_own(t):
    """What a stop has shown of it holds no longer when the client gives the memory back, and
    gets the same place anew: what is there then is no trap's place, and stays as it is."""
    client = start(t)
    main = symbol(t, "calls", "main")
    go_to(client, main)
    address = int(client.ask("_M1000,rwx"), 16)
    code = bytes.fromhex("90909090" if KIND == 1 else "1f2003d5")
    place = f"0,{address:x},{KIND}"
    for then in "given back", "anew":
        t.equal(client.ask(f"M{address:x},4:{code.hex()}"), "OK", "code")
        t.equal(client.ask(f"Z{place}"), "OK", "Z0")
        t.equal(client.ask(f"Z0,{main:x},{KIND}"), "OK", "Z0 of another one")
        t.match("^T05", client.ask("s"))
        t.equal(client.ask(f"z0,{main:x},{KIND}"), "OK", "z0 of another one, all are looked at")
        t.equal(client.ask(f"_m{address:x}"), "OK", "given back")
        if then == "given back":
            client.refused(f"z{place}", "gone with its memory")
            t.match("^T05", client.ask("s"))
        again = int(client.ask("_M1000,rwx"), 16)
        t.equal(again, address, "the same place")
        if then == "anew":
            t.equal(client.ask(f"z{place}"), "OK", "z0")
            t.match("^T05", client.ask("s"))
        t.equal(client.memory(address, 4), bytes(4), f"what is there, {then}")
    t.match("^W2a", client.ask("c"))


def test_signals_that_come_before_the_call(t):
    """The program is stopped for them all the same, though they cannot be blocked while it is
    made to map memory."""
    client = start(t)
    pid = int(go_to(client, symbol(t, "calls", "main"))["thread"], 16)
    for which in signal.SIGSTOP, signal.SIGSEGV:
        os.kill(pid, which)
        address = int(client.ask("_M1000,rw"), 16)
        t.equal(client.ask(f"_m{address:x}"), "OK", "given back")
        t.match(f"^T{which:02x}", client.ask("c"), which.name)
    t.match("^W2a", client.ask("c"))
