# SPDX-License-Identifier: BSD-2-Clause
"""Sessions of lldb with truehit's extension for it, and without."""
import json
import re

import harness
from harness import Process
from test_lldb import LLDB_LIMIT, find_lldb

SCRIPT = harness.ROOT / "scripts" / "truehit_lldb.py"


class Story:
    """One lldb, which has played; results are what its Python emitted."""

    def __init__(self, t, python, program, arguments, extended, port=None):
        """port: of a server with the program, which is not truehit."""
        lldb, environment = find_lldb(t)
        port = port or t.server("COMM", t.prog(program), *arguments).port
        config = {"scenario": "story", "program": t.prog(program), "lines": {},
                  "ports": [port], "script": str(SCRIPT) if extended else None,
                  "python": python}
        run = Process(t, [lldb, "--batch", "--no-lldbinit", "-o",
                          f"command script import {harness.HERE / 'lldb_story.py'}"],
                      env=dict(environment, LLDBSIDE=json.dumps(config)))
        run.wait(LLDB_LIMIT)
        self.output = run.output()
        self.results = [json.loads(line[len("RESULT "):]) for line in self.output.splitlines()
                        if line.startswith("RESULT ")]
        if "Traceback" in self.output or not self.results:
            raise harness.Failure(f"the story has failed: {self.output[-1500:]}")

    def verdicts(self):
        """The last of each location: None, or why lldb decides it."""
        found = re.findall(r"^(?:truehit|lldb) decides breakpoint ([\d.]+)(?:: (.*))?$",
                           self.output, re.M)
        return {name: reason or None for name, reason in found}


def both(t, python, program="conditions", arguments=(), decided=None):
    """The results of the same session with the extension and without. decided: of so many
    locations truehit decides the condition, in the former."""
    t.truehit_only("the extension")
    t.need_x86()
    with_it = Story(t, python, program, arguments, True)
    without = Story(t, python, program, arguments, False)
    if "Reached timeout while interpreting" in without.output:
        t.skip("lldb had no time to evaluate a condition, and has stopped for that")
    t.equal(with_it.results, without.results, "results with the extension and without")
    if decided is not None:
        verdicts = with_it.verdicts()
        t.equal(sum(not reason for reason in verdicts.values()), decided,
                f"conditions that truehit decides ({verdicts})")
    return with_it.results
