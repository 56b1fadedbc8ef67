# SPDX-License-Identifier: BSD-2-Clause
"""examples/regression.py, as its head says that it is used."""
import os
import subprocess

import harness

EXAMPLES = harness.ROOT / "examples"


def regression(t, program, **variables):
    done = subprocess.run(
        [t.config.gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-x",
         EXAMPLES / "regression.py", program],
        env=dict(os.environ, TRUEHIT=t.config.server, **variables), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=300)
    t.note(done.stdout)
    return done.returncode, done.stdout


def test_an_invariant_at_each_call(t):
    t.truehit_only("monitor breakpoints")
    t.need_kernel_conditions()
    program = f"{t.dir}/ring"
    subprocess.run(["cc", "-g", EXAMPLES / "ring.c", "-o", program], check=True)
    status, output = regression(t, program)
    t.equal(status, 0, "exit status")
    t.match("^push: 1000000 calls, the invariant did not hold in 0$", output)
    status, output = regression(t, program, ARGS="777777")
    t.equal(status, 1, "exit status, with the fault")
    t.match(r"^push: 777779 calls, the invariant did not hold in 1$", output)
    t.match(r"^#0 +push \(ring=0x[0-9a-f]+ <ring>, element=777778\)", output)
