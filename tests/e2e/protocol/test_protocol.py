# SPDX-License-Identifier: BSD-2-Clause
"""The protocol, byte by byte, without gdb: what is malformed, split, or unknown."""
import os
import re
import signal
import time

import harness
import rsp


def start(t, program="calls", *arguments, once=False):
    server = t.server(*(["--once"] if once else []), "COMM", t.prog(program), *arguments)
    client = rsp.Client(server)
    client.ask("?")
    return server, client


def symbol(t, program, name):
    """A symbol's address in a running program without randomisation."""
    text = harness.subprocess.run(["nm", t.prog(program)], capture_output=True, text=True,
                                  check=True).stdout
    return harness.LOADED_AT + int(t.match(rf"^([0-9a-f]+) \w {name}$", text).group(1), 16)


def registers_pc(client):
    """PC, from g."""
    text = client.ask("g")
    at = 16 * {"x86_64": 16, "aarch64": 32}[os.uname().machine]
    return int.from_bytes(bytes.fromhex(text[at:at + 16]), "little")


def test_unknown_packets(t):
    _, client = start(t)
    for packet in ("vUnknown", "qUnknown:x", "QUnknown:1", "vMustReplyEmpty", "y", "~",
                   "vContinue", "qXfer:nothing:read::0,100"):
        reply = client.ask(packet)
        if packet.startswith("qXfer"):
            t.check(reply == "" or reply.startswith("E"), f"{packet} answered {reply!r}")
        else:
            t.equal(reply, "", f"reply to {packet}")
    t.match("^[TS]", client.ask("?"))


def test_supported(t):
    _, client = start(t)
    reply = client.ask("qSupported:multiprocess+;swbreak+;hwbreak+;vContSupported+")
    for feature in ("PacketSize=", "QStartNoAckMode+", "ConditionalBreakpoints+",
                    "qXfer:features:read+", "qXfer:libraries-svr4:read+", "multiprocess+",
                    "QPassSignals+", "swbreak+", "hwbreak+", "vContSupported+",
                    "qXfer:auxv:read+", "qXfer:exec-file:read+", "qXfer:threads:read+"):
        t.check(feature in reply, f"{feature} not in {reply}")
    actions = client.ask("vCont?").split(";")
    t.check(set("cCsStr") <= set(actions), f"actions: {actions}")


def test_pass_signals_by_the_name_that_is_reported(t):
    """SIGPOLL is SIGIO here: that the client wants one to pass says nothing of the
    other, by which it is reported."""
    for passed, reply in (("21", "^T17"), ("17", "^X17")):
        _, client = start(t, "target", "die", str(int(signal.SIGIO)))
        t.equal(client.ask(f"QPassSignals:{passed};e"), "OK", "reply")
        t.match(reply, client.ask("vCont;c"))


def test_disabled_packets(t):
    server = t.server("--disable-packet=vCont,qC,qfThreadInfo", "COMM", t.prog("calls"))
    client = rsp.Client(server)
    t.check("vContSupported" not in client.ask("qSupported:vContSupported+"), "feature")
    for packet in ("vCont?", "vCont;c", "qC", "qfThreadInfo"):
        t.equal(client.ask(packet), "", packet)
    t.match("^W2a", client.ask("c"))


def test_split_bytes(t):
    """Packets arrive in any pieces: one byte at a time, several in one piece."""
    _, client = start(t)
    for byte in client.frame("qSupported:swbreak+"):
        client.send_bytes(bytes([byte]))
    t.match("PacketSize", client.receive().decode())
    client.send_bytes(client.frame("?") + b"+" + client.frame("qC") + b"+" + client.frame("H"))
    t.match("^T05", client.receive().decode())
    t.match("^QC", client.receive().decode())
    client.receive()


def test_bad_checksum(t):
    """Asked for again, and then taken."""
    _, client = start(t)
    client.send_bytes(b"$?#00")
    while (byte := client.byte()) == b"+":
        pass
    t.equal(byte, b"-", "answer to a bad checksum")
    t.match("^T05", client.ask("?"))


def test_noise_between_packets(t):
    _, client = start(t)
    client.send_bytes(b"noise+++\0\xff" + client.frame("?"))
    t.match("^T05", client.receive().decode())


def test_no_ack_mode(t):
    _, client = start(t)
    t.equal(client.ask("QStartNoAckMode"), "OK", "reply")
    client.acks = False
    client.send_bytes(client.frame("qC"))
    t.match("^QC", client.receive().decode())
    client.send_bytes(client.frame("qC"))
    t.equal(client.byte(), b"$", "first byte of the reply, no acknowledgement before it")


def test_repeat_request(t):
    """'-' asks for the last packet again."""
    _, client = start(t)
    client.acks = False
    first = client.ask("qC")
    client.send_bytes(b"-")
    t.equal(client.receive().decode(), first, "the reply once more")
    client.send_bytes(b"+")
    client.acks = True
    t.match("^T05", client.ask("?"))


def test_malformed_packets(t):
    """Each is refused, and the next one is answered."""
    t.truehit_only("good answer to all of these (it ends)")
    _, client = start(t)
    client.ask("qSupported:error-message+")
    for packet in ("m", "m,", "mxyz,4", "m0", "m1000,zz", "M", "M0,4", "M0,4:12", "X", "X0,4",
                   "p", "pzz", "pffff", "P", "P0", "Pffff=00", "Z", "Z0", "Z0,", "Z0,xyz,1",
                   "Z1,zz,1", "z0", "Hg", "Hgxyz", "Tzz", "T",
                   "vCont", "vCont;", "vCont;q", "vCont;c:zz", "vCont;s:p1.ffffff",
                   "qXfer:features:read:target.xml", "qXfer:features:read:target.xml:zz,10",
                   "qXfer:features:read:nothing.xml:0,100", "qXfer:auxv:read::", "vFile:open",
                   "vFile:open:zz,0,0", "vFile:pread:99,10,0", "vFile:nothing:",
                   "qRcmd,", "qRcmd,zz", "qRcmd,7", "vAttach;", "vAttach;zz", "vKill;zz",
                   "vRun;zz", "QPassSignals:zz", "C", "Czz", "G", "G00", "Gzz", "D;zz"):
        reply = client.ask(packet)
        t.check(reply == "" or reply == "OK" or reply[0] in "EF", f"{packet} answered {reply!r}")
        t.match("^QC", client.ask("qC"), f"reply after {packet}")


def test_malformed_conditions(t):
    """Z is refused with the reason; the session goes on."""
    t.truehit_only("check of conditions when they are set")
    _, client = start(t)
    client.ask("qSupported:error-message+")
    address = f"{symbol(t, 'calls', 'triple'):x}"
    for name, code in (("empty", ""), ("no end", "2201"), ("truncated operand", "2212"),
                       ("truncated 64", "25000000"), ("underflow", "0227"),
                       ("nothing on the stack", "27"), ("unknown operation", "ff27"),
                       ("jump out of range", "2200" "20ffff" "220027"),
                       ("jump into an operand", "2200" "200001" "220027"),
                       ("unequal depth", "2201" "20000a" "22012201" "220027" "27"),
                       ("reserved float", "0127"), ("overflow", "2201" * 20000 + "27")):
        for kind in "01":
            length = len(code) // 2
            reply = client.ask(f"Z{kind},{address},1;X{length:x},{code}")
            t.match(r"^E\.", reply, f"reply to Z{kind} with {name}")
            t.check(len(reply) > 10, f"a reason for {name}: {reply}")
    for text in ("X", "X5", "X5,", "X5,22", "X2,22zz", "Xzz,2227", "Q2,2227", "X2,2227junk"):
        reply = client.ask(f"Z1,{address},1;{text}")
        t.match(r"^E", reply, f"reply to Z1 with {text}")
    t.equal(client.ask(f"Z1,{address},1;X3,220127"), "OK", "a good one")
    t.match("hwbreak|^T05", client.ask("vCont;c"))
    t.equal(registers_pc(client), int(address, 16), "PC")


def test_constant_conditions(t):
    """True and false ones, as Z0 and Z1; an error is a hit."""
    address = symbol(t, "calls", "triple")
    for kind in "01":
        for code, stops in (("220127", True), ("220027", False),
                            ("2201220005" "27", True),   # 1 / 0
                            ("2200" "2201" "13" "27", False)):
            _, client = start(t)
            client.ask("qSupported:swbreak+;hwbreak+")
            reply = client.ask(f"Z{kind},{address:x},1;X{len(code) // 2:x},{code}")
            t.equal(reply, "OK", f"reply to Z{kind} {code}")
            reply = client.ask("vCont;c")
            t.match("^T05" if stops else "^W2a", reply, f"stop with {code}")
            if stops:
                t.equal(registers_pc(client), address, "PC")
                t.check(("swbreak" if kind == "0" else "hwbreak") in reply, f"reason: {reply}")
            client.close()


def test_several_conditions(t):
    """Any one that is true is a hit."""
    address = symbol(t, "calls", "triple")
    for conditions, stops in ((("220027", "220127"), True), (("220027", "220027"), False),
                              (("220127", "220027"), True)):
        _, client = start(t)
        text = "".join(f"X{len(c) // 2:x},{c}" for c in conditions)
        t.equal(client.ask(f"Z1,{address:x},1;{text}"), "OK", "reply")
        t.match("^T05" if stops else "^W2a", client.ask("vCont;c"), f"stop with {conditions}")
        client.close()


def test_breakpoint_again_replaces(t):
    """Z of what is there already is no error, and its condition counts; z of what
    is not there is no error either."""
    address = symbol(t, "calls", "triple")
    for kind in "01":
        _, client = start(t)
        place = f"{kind},{address:x},1"
        for text in (";X3,220127", ";X3,220127", ";X3,220027"):
            t.equal(client.ask(f"Z{place}{text}"), "OK", "reply")
        t.match("^W2a", client.ask("vCont;c"))
        client.close()
        _, client = start(t)
        t.equal(client.ask(f"Z{place}"), "OK", "reply")
        t.equal(client.ask(f"z{place}"), "OK", "reply")
        again = client.ask(f"z{place}")
        t.equal(again, "E01" if t.config.reference else "OK", "reply to a second removal")
        t.match("^W2a", client.ask("vCont;c"))
        client.close()


def test_bad_addresses(t):
    """Breakpoints where no memory is, or where no user can be."""
    _, client = start(t)
    client.ask("qSupported:error-message+")
    for kind in "0", "1":
        for address in ("0", "ffffffff81000000", "123456"):
            reply = client.ask(f"Z{kind},{address},1")
            if kind == "0" and not t.config.reference:
                t.match("^E", reply, f"reply to Z{kind} at {address}")
            client.ask(f"z{kind},{address},1")
            t.match("^QC", client.ask("qC"))


def test_one_hardware_breakpoint_too_many(t):
    """Refused, with the names of the others, which still work."""
    _, client = start(t)
    client.ask("qSupported:error-message+;hwbreak+")
    main, triple = symbol(t, "calls", "main"), symbol(t, "calls", "triple")
    served = [main, symbol(t, "calls", "inner"), symbol(t, "calls", "outer"), triple]
    for address in served:
        t.equal(client.ask(f"Z1,{address:x},1"), "OK", "reply")
    while True:  # aarch64 may have 16 slots
        address = triple + 8 * (len(served) - 3)
        reply = client.ask(f"Z1,{address:x},1")
        if reply != "OK":
            break
        served.append(address)
        t.check(len(served) <= 16, f"{len(served)} hardware breakpoints")
    t.match("^E", reply, f"reply to number {len(served) + 1}")
    if not t.config.reference:
        for address in served:
            t.check(f"{address:x}" in reply, f"{address:x} in {reply}")
    client.ask("vCont;c")
    t.equal(registers_pc(client), main, "PC at the first stop")
    t.equal(client.ask(f"z1,{main:x},1"), "OK", "reply")
    t.equal(client.ask(f"Z1,{address:x},1"), "OK", "reply once there is room")


def test_memory_packets(t):
    _, client = start(t)
    address = symbol(t, "calls", "global")
    t.equal(client.ask(f"m{address:x},4"), "07000000", "memory")
    t.equal(client.ask(f"M{address:x},4:23242a7d"), "OK", "reply to M")
    t.equal(client.ask(f"m{address:x},4"), "23242a7d", "memory, which has to be escaped")
    t.equal(client.ask(b"X%x,4:" % address + b"#$}*"), "OK", "reply to X")
    t.equal(client.ask(f"m{address:x},4"), "23247d2a", "memory")
    t.equal(client.ask(f"X{address:x},0:"), "OK", "reply to an empty X")
    t.match("^E", client.ask("m0,4"))
    t.match("^E", client.ask("M0,4:00000000"))


def test_single_register_packets(t):
    t.truehit_only("p and P")
    _, client = start(t)
    client.ask("g")
    t.equal(client.ask("P0=8877665544332211"), "OK", "reply to P")
    t.equal(client.ask("p0"), "8877665544332211", "rax")
    t.equal(client.ask("g")[:16], "8877665544332211", "rax in g")


def test_step_and_range(t):
    _, client = start(t)
    t.equal(client.ask(f"Z0,{symbol(t, 'calls', 'triple'):x},1"), "OK", "reply")
    client.ask("vCont;c")
    first = registers_pc(client)
    # It is the client's to take the breakpoint out before it steps over it.
    t.equal(client.ask(f"z0,{symbol(t, 'calls', 'triple'):x},1"), "OK", "reply")
    t.match("^T05", client.ask("vCont;s"))
    second = registers_pc(client)
    t.check(first < second < first + 16, f"one instruction further: {first:#x} {second:#x}")
    t.match("^T05", client.ask(f"vCont;r{second:x},{second + 3:x}"))
    t.check(registers_pc(client) >= second + 3, "out of the range")


def test_interrupt_at_any_moment(t):
    """0x03 directly after vCont, also in the same piece; stops are SIGINT."""
    _, client = start(t, "loop", "100000000000")
    for _ in range(20):
        client.send_bytes(client.frame("vCont;c") + b"\x03")
        t.match("^T02", client.receive().decode())
    client.send_bytes(client.frame("vCont;c"))
    client.byte()
    client.interrupt()
    t.match("^T02", client.receive().decode())
    t.match("^QC", client.ask("qC"))


def test_cpu_of_a_stop(t):
    """Where the thread has run, whether the C library has told the kernel where to write
    that (rseq(2)) or not."""
    cpus = os.sched_getaffinity(0)
    for wrapper in (), ("--wrapper", "env", "GLIBC_TUNABLES=glibc.pthread.rseq=0", "--"):
        server = t.server(*wrapper, "COMM", t.prog("loop"), "100000000000")
        client = rsp.Client(server)
        for _ in range(3):
            for cpu in cpus:
                os.sched_setaffinity(server.inferior(), {cpu})
                client.send_bytes(client.frame("vCont;c"))
                time.sleep(0.01)
                client.interrupt()
                t.match(rf"^T02.*;core:{cpu:x};", client.receive().decode(), "the CPU")


def test_leader_that_has_ended(t):
    """It is no thread any longer, whoever asks, and `?` does not name it."""
    server, client = start(t, "target", "leader-leaves")
    leader = server.inferior()
    client.ask("qSupported:multiprocess+;no-resumed+")
    stop = client.ask("vCont;c")
    t.match("^T1e", stop)
    other = t.match(r"thread:(p[0-9a-f.]+);", stop).group(1)
    harness.wait_for(lambda: harness.process_state(leader) == "Z", "the leader's end")
    t.equal(client.ask("qfThreadInfo"), f"m{other}", "threads")
    threads = client.ask("qXfer:threads:read::0,1000")
    t.equal(threads.count("<thread "), 1, "threads in XML")
    t.match("^E", client.ask(f"Tp{leader:x}.{leader:x}"))
    t.match("^E", client.ask(f"Hgp{leader:x}.{leader:x}"))
    t.equal(client.ask("Hgp0.0"), "OK", "any thread")
    t.check(not client.ask("g").startswith("E"), "registers of any thread")
    t.match(f"thread:{other};", client.ask("?"))
    t.match("^l.{32}", client.ask("qXfer:auxv:read::0,1000").replace("\n", " "), "auxv")
    if not t.config.reference:
        t.equal(client.ask(f"qXfer:exec-file:read:{leader:x}:0,1000"), "l" + t.prog("target"),
                "the program's file")
        t.equal(client.ask(f"vFile:setfs:{leader:x}"), "F0", "its file system")


def test_kill_packet(t):
    server, client = start(t)
    inferior = server.inferior()
    client.send_bytes(client.frame("k"))
    server.wait()
    t.check(not os.path.exists(f"/proc/{inferior}"), "the program is gone")


def test_client_vanishes_once(t):
    """With --once the server ends, and the program it started with it; also while
    the program runs."""
    for running in (False, True):
        if running and t.config.reference:
            continue
        server, client = start(t, "attach", t.dir / "counts", once=True)
        inferior = server.inferior()
        client.ask("?")
        if running:
            client.send_bytes(client.frame("vCont;c"))
            client.byte()
            harness.wait_for(lambda: (t.dir / "counts").exists(), "the program to run")
        client.close()
        server.wait()
        harness.wait_for(lambda: not os.path.exists(f"/proc/{inferior}") or
                         harness.process_state(inferior) in "ZX", "end of the program")


@harness.machines("main")
def test_server_killed_leaves_attached_program(t):
    """SIGKILL while breakpoints are in place in an attached program: no trap is
    left in it by a hardware breakpoint, and it runs on."""
    t.truehit_only("default engine that leaves nothing behind")
    counts = t.dir / "counts"
    program = harness.Process(t, [t.prog("attach"), counts, "3"])
    harness.wait_for(lambda: counts.exists() and counts.read_bytes()[:1] != b"\0", "counting")
    server = t.server("--attach", "COMM", program.pid)
    gdb = t.gdb(server, "hbreak tick if counts[id] == -1", prog=t.prog("attach"), wait=False,
                python='emit(ready=1); run("continue")')
    gdb.wait_output("RESULT")
    harness.wait_for(lambda: harness.process_state(program.pid) in "RS", "the program to run")
    server.kill(signal.SIGKILL)
    server.wait()
    gdb.wait()
    harness.wait_for(lambda: harness.tracer_of(program.pid) == 0, "no tracer")
    before = counts.read_bytes()[:24]
    harness.wait_for(lambda: all(a != b for a, b in zip(
        [counts.read_bytes()[i:i + 8] for i in (0, 8, 16)],
        [before[i:i + 8] for i in (0, 8, 16)])), "every thread counting on")
    t.equal(program.process.poll(), None, "status of the program")


def test_server_killed_ends_started_program(t):
    server, client = start(t, "attach", t.dir / "counts")
    inferior = server.inferior()
    client.send_bytes(client.frame("vCont;c"))
    harness.wait_for(lambda: (t.dir / "counts").exists(), "the program to run")
    server.kill(signal.SIGKILL)
    harness.wait_for(lambda: (harness.process_state(inferior) or "X") in "ZX",
                     "end of the program")


def test_big_memory_read(t):
    """More than one packet holds: shortened, or an error, and still in step."""
    _, client = start(t)
    text = client.ask("qSupported")
    size = int(re.search(r"PacketSize=([0-9a-f]+)", text).group(1), 16)
    address = symbol(t, "calls", "main") & ~0xfff
    reply = client.ask(f"m{address:x},{size * 4:x}")
    t.check(len(reply) <= size, f"a reply of {len(reply)} for {size}")
    t.match("^QC", client.ask("qC"))


def test_oversized_packet(t):
    """Ten times what the server said it takes. It may refuse or hang up; it must
    still serve the next client."""
    t.truehit_only("limit on a packet's size")
    server = t.server("--multi", "COMM", t.prog("calls"))
    client = rsp.Client(server)
    try:
        client.send_bytes(b"$" + b"A" * 3000000)
        client.send_bytes(b"#00")
        client.send_bytes(client.frame("qC"))
        client.receive()
    except (rsp.Closed, OSError):
        pass
    client.close()
    t.equal(server.process.poll(), None, "status of the server")
    client = rsp.Client(server)
    t.match("^QC", client.ask("qC"))


def crc32(data):
    """As the client computes it: the highest bit first, nothing inverted."""
    crc = 0xffffffff
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04c11db7 if crc & 0x80000000 else 0)) & 0xffffffff
    return crc


def test_memory_checksum(t):
    _, client = start(t)
    main = symbol(t, "calls", "main")
    memory = bytes.fromhex(client.ask(f"m{main:x},40"))
    t.equal(client.ask(f"qCRC:{main:x},40"), f"C{crc32(memory):x}", "checksum")
    t.match("^E", client.ask("qCRC:10,40"))
    t.match("^E", client.ask("qCRC:10"))


def test_memory_search(t):
    """The pattern may hold any byte and may end at the end of the range only."""
    _, client = start(t)
    main = symbol(t, "calls", "main")
    memory = bytes.fromhex(client.ask(f"m{main:x},40"))

    def search(length, pattern):
        client.send_bytes(client.frame(f"qSearch:memory:{main:x};{length:x};".encode() + pattern))
        return client.receive().decode()

    tail = memory[0x30:0x40]
    where = main + memory.index(tail)
    t.equal(search(0x40, tail), f"1,{where:x}", "search up to the end")
    t.equal(search(0x3f, tail), "0", "search that ends one byte too early")
    t.equal(search(0x40, b"no such #text$"), "0", "search in vain")
    t.equal(search(4, memory[:5]), "0", "a pattern longer than the range")
    t.match("^E", client.ask("qSearch:memory:10;40;x"))
    t.match("^E", client.ask("qSearch:memory:10;40"))
