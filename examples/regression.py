# SPDX-License-Identifier: BSD-2-Clause
"""A regression test in gdb: an invariant holds at every call of a hot function.

    cc -g ring.c -o ring
    gdb -nx -batch -x regression.py ./ring          all is well: exit status 0
    ARGS=777777 gdb -nx -batch -x regression.py ./ring     it is not: 1, and where

The breakpoint's condition is that the invariant does not hold. With truehit, the million
calls for which it does stop nothing. TRUEHIT names the server."""
import os
import re

import gdb

FUNCTION = "push"
INVARIANT = "ring->pushed - ring->popped == ring->used && ring->used < 64"


def counts():
    """Hits and true hits of the breakpoint, of its row in truehit's table."""
    table = gdb.execute("monitor breakpoints", to_string=True)
    row = re.search(rf" {FUNCTION}\+.*?((?: +[\d,]+){{5}})", table)
    hits, _, true, *_ = (int(number.replace(",", "")) for number in row.group(1).split())
    return hits, true


gdb.execute("set pagination off")
gdb.execute("set sysroot /")
gdb.execute("set remotetimeout 30")  # the machine may be busy with other tests
program = gdb.objfiles()[0].filename
gdb.execute(f"target remote | {os.environ.get('TRUEHIT', 'truehit')} - {program} "
            + os.environ.get("ARGS", ""))
wrong = gdb.Breakpoint(FUNCTION)
wrong.condition = f"!({INVARIANT})"
gdb.execute("set breakpoint pending on")
gdb.Breakpoint("exit")
gdb.execute("continue")
hits, true = counts()
if wrong.hit_count:
    gdb.execute("backtrace")
    gdb.execute("print *ring")
print(f"{FUNCTION}: {hits} calls, the invariant did not hold in {true}")
gdb.execute("kill")
gdb.execute(f"quit {int(true > 0)}")
