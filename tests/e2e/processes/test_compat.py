# SPDX-License-Identifier: BSD-2-Clause
"""Programs of 32 bits, which a 64-bit one may turn into (exec): nothing is planted in them
and no register is shown but the PC, and the session goes on."""
import errno
import os
import re
import struct
import subprocess

import harness
import rsp

BASE, DATA = 0x08048000, 0x400
READY, SLEEP, TEXT = DATA, DATA + 20, DATA + 64
ENTRY = 52 + 32  # after the headers
STATUS = 7

# What both do: fork, if FORKS, a child that exits with 5, and wait for it; execute PATH,
# if there is one; sleep until READY, 10 ms at a time; exit with 7.
#
# start: ebp = data                           start: r4 = data
#   4(ebp) == 0: to exec                        [r4, 4] == 0: to exec
#   eax = 2 (fork); int 0x80                    r7 = 2 (fork); svc 0
#   eax != 0: to wait                           r0 != 0: to wait
#   ebx = 5; eax = 1 (exit); int 0x80           r0 = 5; r7 = 1 (exit); svc 0
# wait: ebx = eax; ecx = edx = 0              wait: r1 = r2 = r3 = 0
#   eax = 7 (waitpid); int 0x80                 r7 = 114 (wait4); svc 0
# exec: ebx = 8(ebp); 0: to sleep             exec: r0 = [r4, 8]; 0: to sleep
#   ecx = ebp + 12; edx = 0                     r1 = r4 + 12; r2 = 0
#   eax = 11 (execve); int 0x80                 r7 = 11 (execve); svc 0
# sleep: (ebp) != 0: to end                   sleep: [r4] != 0: to end
#   ebx = ebp + 20; ecx = 0                     r0 = r4 + 20; r1 = 0
#   eax = 162 (nanosleep); int 0x80; to sleep   r7 = 162 (nanosleep); svc 0; to sleep
# end: ebx = 7; eax = 1 (exit); int 0x80      end: r0 = 7; r7 = 1 (exit); svc 0
MACHINES = {
    "x86_64": (3, 0, """
        bd00840408837d04007424b802000000cd8085c0750cbb05000000b801000000
        cd8089c3b80700000031c931d2cd808b5d0885db740cb80b0000008d4d0c31d2
        cd80837d0000750eb8a20000008d5d1431c9cd80ebecbb07000000b801000000
        cd80"""),
    "aarch64": (40, 0x05000200, """
        004408e3044840e3040094e5000050e30b00000a0270a0e3000000ef000050e3
        0200001a0500a0e30170a0e3000000ef0010a0e30020a0e30030a0e37270a0e3
        000000ef080094e5000050e30300000a0b70a0e30c1084e20020a0e3000000ef
        000094e5000050e30400001aa270a0e3140084e20010a0e3000000eff7ffffea
        0700a0e30170a0e3000000ef"""),
}


def write_program(file, ready=True, forks=False, path=""):
    machine, flags, code = MACHINES[os.uname().machine]
    code = bytes.fromhex(code)
    text = BASE + TEXT if path else 0
    image = bytearray(0x1000)
    struct.pack_into("<4s12B2H5I6H", image, 0, b"\x7fELF", 1, 1, 1, *[0] * 9, 2, machine, 1,
                     BASE + ENTRY, 52, 0, flags, 52, 32, 1, 40, 0, 0)
    struct.pack_into("<8I", image, 52, 1, 0, BASE, BASE, len(image), len(image), 7, 0x1000)
    struct.pack_into("<7I", image, DATA, ready, forks, text, text, 0, 0, 10_000_000)
    image[ENTRY:ENTRY + len(code)] = code
    image[TEXT:TEXT + len(path)] = path.encode()
    file.write_bytes(image)
    file.chmod(0o755)
    return str(file)


def compat(t, **kwargs):
    """Such a program. Skips the test where the kernel has none."""
    probe = write_program(t.dir / "probe")
    try:
        status = subprocess.run([probe], stdin=subprocess.DEVNULL, check=False).returncode
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        t.skip("this kernel runs no 32-bit programs")
    t.equal(status, STATUS, "the program's exit status without a debugger")
    return write_program(t.dir / "compat", **kwargs)


TOLD = r"^truehit: process \d+ runs a 32-bit program"


def told_once(t, output):
    t.equal(len(re.findall(TOLD, output, re.M)), 1, "times that the user is told")


def ends_with(t, gdb, status=STATUS):
    t.match(rf"exited with code {status:02o}\b", gdb.output())


def execs(t, *options, **kwargs):
    return t.server(*options, "COMM", t.prog("exec"), compat(t, **kwargs))


# ---- gdb ----

def test_gdb_goes_on(t):
    """With breakpoints, conditions, watchpoints and caught calls in the 64-bit program."""
    t.truehit_only("refusals")
    server = execs(t)
    gdb = t.gdb(server, "break main if argc == 2", "watch before", "catch syscall execve",
                "continue", "continue", "continue", "continue", prog=t.prog("exec"))
    t.match(r"is executing new program: .*/compat", gdb.output())
    ends_with(t, gdb)
    told_once(t, gdb.output())


def test_gdb_steps_over_exec(t):
    t.truehit_only("refusals")
    server = execs(t)
    gdb = t.gdb(server, f"break {t.line('exec.c', 'BEFORE')}", "continue", "next", "next",
                prog=t.prog("exec"))
    ends_with(t, gdb)
    told_once(t, gdb.output())


def test_gdb_catches_exec(t):
    """There all is refused but going on. (For ARM, gdb itself does without more registers
    none of what is refused.)"""
    t.truehit_only("refusals")
    t.need_x86()
    server = execs(t)
    gdb = t.gdb(server, "catch exec", "continue", f"p $pc == {BASE + ENTRY:#x}",
                f"x/1xw {BASE + SLEEP:#x}", "info threads", f"p $pc = {BASE:#x}",
                f"break *{BASE + ENTRY + 4:#x}", "continue", "delete",
                f"hbreak *{BASE + ENTRY + 4:#x}", "continue", "delete",
                f"watch *(int *){BASE + READY:#x}", "continue", "delete", "stepi",
                f"p $pc == {BASE + ENTRY:#x}", "continue", prog=t.prog("exec"))
    output = gdb.output()
    t.match(r"Catchpoint 1 \(exec'd .*/compat\)", output)
    t.match(r"\$1 = 1$", output)
    t.match(rf"^0x{BASE + SLEEP:x}:\s+0x00000000$", output)
    t.match(r"^Cannot insert breakpoint 2", output)
    t.match(r"^Cannot insert hardware breakpoint 3", output)
    t.match(r"Could not write register .*32-bit program", output)
    t.match(r"Remote failure reply: E?\.?process \d+ runs a 32-bit program", output)
    t.match(r"\$[23] = 1$", output)
    ends_with(t, gdb)
    told_once(t, output)


def test_gdb_has_no_file(t):
    """It takes the program for one of ours."""
    t.truehit_only("refusals")
    server = execs(t)
    gdb = t.gdb(server, "catch exec", "continue", f"p $pc == {BASE + ENTRY:#x}", "p $sp",
                f"x/1xw {BASE + SLEEP:#x}", "info threads", "continue", prog=t.prog("exec"),
                sysroot="/nowhere")
    t.match(r"\$1 = 1$", gdb.output())
    t.match(r"\$2 = <unavailable>", gdb.output())
    ends_with(t, gdb)


def test_gdb_leaves(t):
    """Detached from, killed."""
    t.truehit_only("refusals")
    for command, state in (("detach", "S"), ("kill", None)):
        server = execs(t, ready=False)
        gdb = t.gdb(server, "catch exec", "continue", command, prog=t.prog("exec"))
        t.match(r"Catchpoint 1", gdb.output())
        pid = server.inferior()
        if state:
            harness.wait_for(lambda: harness.process_state(pid) == state, "a program that sleeps")
            t.equal(harness.tracer_of(pid), 0, "its tracer")
            os.kill(pid, 9)
        t.equal(server.wait(), 0, "exit status of the server")
        harness.wait_for(lambda: harness.process_state(pid) in (None, "Z"), "its end")


def test_started_or_attached_to(t):
    """The same rules for a program that has been one of 32 bits from the start."""
    t.truehit_only("refusals")
    prog = compat(t)
    for file in (prog, None):
        server = t.server(prog)
        gdb = t.gdb(server, f"p $pc == {BASE + ENTRY:#x}", "continue", prog=file)
        t.match(r"\$1 = 1$", gdb.output())
        ends_with(t, gdb)
        told_once(t, server.output())
    prog = compat(t, ready=False)
    process = harness.Process(t, [prog])
    harness.wait_for(lambda: harness.process_state(process.pid) == "S", "a program that sleeps")
    server = t.server("--attach", "COMM", process.pid)
    told_once(t, server.output())
    # gdb for ARM evaluates no expression without a stack pointer.
    t.gdb(server, f"maint packet M{BASE + READY:x},4:01000000", "detach", prog=prog)
    t.equal(process.wait(), STATUS, "exit status")


# ---- a raw client ----

def client_at_exec(t, features="", **kwargs):
    server = execs(t, **kwargs)
    client = rsp.Client(server)
    client.ask(f"qSupported:swbreak+;hwbreak+;exec-events+{features}")
    reply = client.ask("vCont;c")
    t.match(r"^T05exec:", reply)
    told_once(t, client.console.decode())
    return server, client


def test_what_is_refused(t):
    t.truehit_only("refusals")
    server, client = client_at_exec(t)
    tid = server.inferior()
    hands_over = "WatchCondition+" in client.ask("qSupported:exec-events+")
    entry = f"{BASE + ENTRY:x}"
    for packet in (f"Z0,{entry},1", f"Z0,{entry},1;X3,220127", f"Z1,{entry},1",
                   f"Z2,{BASE + READY:x},4", f"Z3,{BASE + READY:x},4", f"Z4,{BASE + READY:x},4",
                   *[f"QTruehit.WatchCondition:{process}2,{BASE + READY:x},4;X3,220127"
                     for process in ("", f"p{tid:x};") if hands_over],
                   "QCatchSyscalls:1", "G" + "0" * 16, "P0=0000000000000000", "P8=00000000",
                   "s", "S05", "vCont;s", f"vCont;s:{tid:x};c", f"vCont;r{entry},{BASE + 0x200:x}",
                   f"qGetTLSAddr:{tid:x},0,0", "qXfer:siginfo:read::0,1000",
                   "qXfer:libraries-svr4:read::0,1000"):
        t.match(r"^E\..*32-bit program", client.ask(packet), packet)
    t.match(r"^E\.", client.ask(f"c{entry}"), "c ADDRESS")
    t.equal(client.ask(f"z0,{entry},1"), "OK", "z")
    t.equal(client.ask("qSymbol::"), "OK", "qSymbol")
    t.equal(client.ask("vCont;c"), f"W{STATUS:02x}", "the end")


def test_memory(t):
    """Is read and written; it holds what the file has, and no trap."""
    t.truehit_only("refusals")
    server, client = client_at_exec(t, ready=False)
    code = MACHINES[os.uname().machine][2].split()[0]
    t.equal(client.ask(f"m{BASE + ENTRY:x},{len(code) // 2:x}"), code, "its code")
    t.match(r"^[0-9a-f]{8}.*", client.ask("qXfer:auxv:read::0,8").encode("latin1").hex())
    t.equal(client.ask(f"M{BASE + READY:x},4:01000000"), "OK", "M")
    t.equal(client.ask("vCont;c"), f"W{STATUS:02x}", "the end")


def test_interrupt(t):
    t.truehit_only("refusals")
    server, client = client_at_exec(t, ready=False)
    pid = server.inferior()
    for _ in range(3):
        client.send_bytes(client.frame("vCont;c"))
        harness.wait_for(lambda: harness.process_state(pid) == "S", "a program that sleeps")
        client.interrupt()
        t.match(r"^T02", client.receive().decode(), "the answer to Ctrl-C")
    t.equal(client.ask("vCont;C0f"), f"X{15:02x}", "the end by a signal")


def test_nonstop(t):
    t.truehit_only("refusals")
    server = execs(t, ready=False)
    client = rsp.Client(server)
    client.ask("qSupported:swbreak+;exec-events+")
    t.equal(client.ask("QNonStop:1"), "OK", "QNonStop")
    client.ask("?")
    t.equal(client.ask("vStopped"), "OK", "vStopped")
    t.equal(client.ask("vCont;c"), "OK", "vCont")
    t.match(r"^Stop:T05exec:", client.notification())
    t.equal(client.ask("vStopped"), "OK", "vStopped")
    server.wait_output(TOLD[1:])
    t.match(r"^E\..*32-bit program", client.ask("vCont;s"), "a step")
    t.equal(client.ask("vCont;c"), "OK", "vCont")
    t.equal(client.ask("vCont;t"), "OK", "vCont;t")
    t.match(r"^Stop:T00", client.notification())
    t.equal(client.ask("vStopped"), "OK", "vStopped")
    t.equal(client.ask(f"M{BASE + READY:x},4:01000000"), "OK", "M")
    t.equal(client.ask("vCont;c"), "OK", "vCont")
    t.match(rf"^Stop:W{STATUS:02x}", client.notification())


def test_fork(t):
    """A child is one, too."""
    t.truehit_only("refusals")
    server, client = client_at_exec(t, ";multiprocess+;fork-events+", forks=True)
    reply = client.ask("vCont;c")
    child = t.match(r"fork:p([0-9a-f]+)\.", reply).group(1)
    t.equal(client.ask(f"Hgp{child}.{child}"), "OK", "Hg")
    t.match(r"^E\..*32-bit program", client.ask(f"Z0,{BASE + ENTRY:x},1"), "Z0")
    ends = [client.ask("vCont;c"), client.ask("vCont;c")]
    while not ends[-1].startswith(f"W{STATUS:02x}") and len(ends) < 5:
        ends.append(client.ask("vCont;c"))
    t.equal([e[:3] for e in ends if e[0] == "W"], ["W05", f"W{STATUS:02x}"], "ends")


def test_64_bits_again(t):
    """What it executes is served as ever."""
    t.truehit_only("refusals")
    server = execs(t, path=t.prog("exec"))
    gdb = t.gdb(server, "catch exec", "continue", "continue", "break main if argc == 1",
                "continue", "p argc", "stepi", "p $_siginfo.si_signo", "continue",
                prog=t.prog("exec"))
    t.equal(len(re.findall(r"^Catchpoint 1 \(exec'd", gdb.output(), re.M)), 2, "execs")
    t.match(r"^Breakpoint 2, main \(argc=1,", gdb.output())
    t.match(r"^\$1 = 1$", gdb.output())
    t.match(r"^\$2 = 5$", gdb.output())
    ends_with(t, gdb, 1)
    told_once(t, gdb.output())
