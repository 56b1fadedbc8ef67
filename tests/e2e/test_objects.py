# SPDX-License-Identifier: BSD-2-Clause
"""What gdb asks for apart from control: tables of the system, registers, memory, files."""
import os
import re

import rsp
import test_protocol


def test_info_os(t):
    """gdb lists the tables, and finds the program in that of the processes."""
    server = t.server("COMM", t.prog("loop"), "1")
    pid = server.inferior()
    gdb = t.gdb(server, "info os", "info os processes", "info os threads", "info os nonesuch",
                prog=t.prog("loop"))
    text = gdb.output()
    for table in ("processes", "procgroups", "threads", "files", "sockets", "shm",
                  "semaphores", "msg", "modules", "cpus"):
        t.match(rf"^{table} +Listing of", text)
    t.match(rf"^{pid} +\S+ +\S*/loop 1 +[0-9,]+ *$", text)
    t.match(rf"^{pid} +loop +{pid} +\d+ *$", text)
    t.match("Empty data returned by target", text)


def test_no_target_description(t):
    """A gdb that may not read target.xml expects its own, plain set of registers."""
    server = t.server("COMM", t.prog("registers"))
    gdb = t.gdb(server, "print $ymm0", "print $xmm0", "break main", "continue",
                "print $sp > 0", "print $sp -= 16", "print $orig_rax", prog=t.prog("registers"),
                first=("set remote target-features-packet off",))
    text = gdb.output()
    t.no_match("packet reply is too long", text)
    t.match(r"^Breakpoint 1, main", text)
    t.match(r"^\$\d+ = 1$", text)


def g_length(client):
    return len(client.ask("g")) // 2


def test_registers_by_what_the_client_reads(t):
    """g holds what the client knows: all there is once it has read target.xml."""
    _, client = test_protocol.start(t)
    plain = g_length(client)
    client.ask("qXfer:features:read:nonesuch.xml:0,1000")
    t.equal(g_length(client), plain, "size of g after reading nothing")
    client.ask("qXfer:features:read:target.xml:0,1000")
    full = g_length(client)
    t.check(full >= plain, f"{full} bytes, fewer than {plain}")
    values = client.ask("g")
    t.equal(client.ask("G" + values), "OK", "G")
    t.equal(client.ask("g"), values, "registers after G")
    client.close()
    _, client = test_protocol.start(t)
    client.ask("qSupported:xmlRegisters=i386,arm")
    t.equal(g_length(client), full, "size of g for a client that names xmlRegisters")


def test_binary_reads(t):
    """x replies the bytes as they are, the readable ones, and never a bare OK."""
    _, client = test_protocol.start(t)
    t.match("binary-upload[+]", client.ask("qSupported:binary-upload+"))
    main = test_protocol.symbol(t, "calls", "main")

    def binary(what):
        client.send_bytes(client.frame(what))
        return client.receive()

    wanted = bytes.fromhex(client.ask(f"m{main:x},800"))
    t.equal(binary(f"x{main:x},800"), b"b" + wanted, "bytes at main")
    t.equal(binary("x0,0"), b"b", "no bytes")
    t.match("^E", client.ask("x10,10"))
    t.match("^E", client.ask(f"x{main:x}"))
    t.match("^E", client.ask(f"x{main:x},10,"))
    t.match("^E", client.ask("xnonsense"))


def end_of_stack(client, pid):
    with open(f"/proc/{pid}/maps", encoding="latin1") as file:
        return int(re.search(r"-([0-9a-f]+) .*\[stack\]", file.read()).group(1), 16)


def test_partly_readable_memory(t):
    """A range that ends in nothing is read as far as it goes."""
    server, client = test_protocol.start(t)
    end = end_of_stack(client, server.inferior())
    whole = client.ask(f"m{end - 16:x},10")
    t.equal(len(whole), 32, "digits of 16 bytes")
    t.equal(client.ask(f"m{end - 16:x},1000"), whole, "m over the end of the stack")
    client.send_bytes(client.frame(f"x{end - 16:x},1000"))
    t.equal(client.receive(), b"b" + bytes.fromhex(whole), "x over the end of the stack")
    t.match("^E", client.ask(f"m{end:x},10"))
    t.match("^E", client.ask("mffffffffffffffff,10"))
    t.match("^E", client.ask("m7fffffffffffffff,ffffffffffffffff"))
    t.match("^E", client.ask("Mffffffffffffff00,1:00"))
