# SPDX-License-Identifier: BSD-2-Clause
"""Parts of a thread's state that the server does not know, the tiles of AMX here: a
write of other registers leaves them as they are."""
import subprocess

import harness
import rsp


def need_tiles(t):
    t.need_x86()
    status = subprocess.run([t.prog("tiles")], check=False).returncode
    if status == 77:
        raise harness.Skip("this processor or kernel has no AMX")
    t.equal(status, 0, "status without a debugger")


def test_written_by_gdb(t):
    """General, vector and floating-point registers."""
    need_tiles(t)
    gdb = t.gdb(t.server("COMM", t.prog("tiles")), "break stop", "continue",
                "set var $rbx = $rbx ^ 0", "set var $rax = 0x1234567",
                "set var $xmm0.uint128 = 5", "set var $ymm1.v4_int64[3] = 6",
                "set var $mxcsr = $mxcsr", "set var $st0 = 1",
                "print $rax", "print $xmm0.uint128", "print $ymm1.v4_int64[3]", "continue",
                prog=t.prog("tiles"))
    t.match(r"\$1 = 0x1234567|\$1 = 19088743", gdb.output())
    t.match(r"\$2 = 5$", gdb.output())
    t.match(r"\$3 = 6$", gdb.output())
    t.match(r"exited normally", gdb.output(), "the tiles after that")


def at_stop(t):
    need_tiles(t)
    names = subprocess.run(["nm", t.prog("tiles")], capture_output=True, text=True,
                           check=True).stdout
    address = harness.LOADED_AT + next(int(line.split()[0], 16) for line in names.splitlines()
                                       if line.endswith(" stop"))
    client = rsp.Client(t.server("COMM", t.prog("tiles")))
    client.ask("qSupported:xmlRegisters=i386")
    t.equal(client.ask(f"Z0,{address:x},1"), "OK", "Z0")
    t.match("^T05", client.ask("vCont;c"))
    t.equal(client.ask(f"z0,{address:x},1"), "OK", "z0")
    return client


def test_all_at_once(t):
    """G, with another value for each of the vector registers."""
    client = at_stop(t)
    values = client.ask("g")
    # xmm0 to xmm15 follow 24 general registers (164 bytes), and st0 to fop.
    start = 2 * (164 + 8 * 10 + 8 * 4)
    changed = values[:start] + "5a" * 256 + values[start + 512:]
    t.equal(client.ask(f"G{changed}"), "OK", "G")
    t.equal(client.ask("g"), changed, "the registers then")
    t.equal(client.ask("vCont;c")[:3], "W00", "the end")


def test_saved_and_restored(t):
    """As lldb does around a call."""
    t.truehit_only("QSaveRegisterState")
    client = at_stop(t)
    number = client.ask("QSaveRegisterState")
    t.equal(client.ask("P28=" + "11" * 16), "OK", "xmm0")
    t.equal(client.ask(f"QRestoreRegisterState:{number}"), "OK", "the reply")
    t.equal(client.ask("vCont;c")[:3], "W00", "the end")
