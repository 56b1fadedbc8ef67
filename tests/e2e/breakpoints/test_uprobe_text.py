# SPDX-License-Identifier: BSD-2-Clause
"""Uprobes are at places in files: files that are deleted, replaced, or of other mounts,
are mapped twice, come and go, or whose text the program changes."""
import os
import shutil
import subprocess

import attached
from storms import SCALE
from uprobes import are_usable, engines, need_uprobes, text_session

PERIOD = 256
RDI, RIP = 5, 16
NO_FILE_RIGHTS = ["setpriv", "--bounding-set", "-sys_admin,-checkpoint_restore"]


class Session(attached.Session):
    """Of a program with uprobes, if possible; by a server with fewer rights, if wanted."""

    def __init__(self, t, program, rights=True):
        wrapper = [] if rights else NO_FILE_RIGHTS
        super().__init__(t, program, command=[*wrapper, t.config.server])
        if not rights and not are_usable(self.client.monitor("engines")):
            t.skip("uprobes take CAP_SYS_ADMIN here")
        self.client.monitor("set engine uprobe")

    def register(self, number):
        return int.from_bytes(bytes.fromhex(self.client.ask(f"p{number:x}")), "little")

    def follow(self, part, stops=20):
        """Each thread stops there at each 256th round, and none is missing. Returns the
        engine."""
        condition = attached.every(PERIOD)
        self.insert(0, part, condition)
        last = {}
        for _ in range(stops):
            stop = self.client.ask("vCont;c")
            self.t.match("swbreak", stop, "a stop")
            tid = self.thread_of(stop)
            round = self.register(RDI)
            self.t.equal(self.register(RIP), self.program.parts[part], "PC")
            self.t.equal(round % PERIOD, 0, "the round")
            self.t.equal(round, last.get(tid, round - PERIOD) + PERIOD, "the next round")
            last[tid] = round
            engine, = engines(self.client.monitor("breakpoints"))
            self.remove(0, part)
            self.t.match("^T05", self.client.ask(f"vCont;s:{tid}"), "a step")
            self.insert(0, part, condition)
        self.remove(0, part)
        return engine

    def detach(self):
        self.t.equal(self.client.ask("D"), "OK", "detach")
        self.program.must_be_free()


def test_files_that_are_gone(t):
    """Deleted, and another one in its place, while the program runs. By the mapping, which
    takes rights, it can be found all the same."""
    need_uprobes(t)
    t.need_root("give up rights")
    t.need_tool("setpriv")
    for rights in True, False:
        path, = t.public_copy(t.prog("rounds"))
        program = attached.Rounds(t, 2, path=path)
        session = Session(t, program, rights)
        found = [session.follow(0)]
        os.unlink(path)
        found.append(session.follow(1))
        shutil.copy(t.prog("loop"), path)
        found.append(session.follow(2))
        t.equal([name == "uprobe" for name in found], [True, rights, rights], "uprobes")
        session.detach()
        os.unlink(path)


def test_a_file_of_other_mounts(t):
    """The program's name is another file's for everybody else."""
    need_uprobes(t)
    t.need_root("make a name space")
    t.need_tool("setpriv")
    if subprocess.run(["unshare", "-m", "true"], check=False).returncode:
        t.skip("no mount name spaces")
    path, = t.public_copy(t.prog("loop"))
    mount = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" "$1" && exec "$@"',
             t.prog("rounds")]
    for rights in True, False:
        program = attached.Rounds(t, 2, path=path, wrapper=mount)
        session = Session(t, program, rights)
        t.equal([session.follow(part) for part in (0, 1)], ["uprobe"] * 2, "engines")
        session.detach()


def test_a_file_mapped_twice(t):
    """Only one of the places is a breakpoint; memory shows no trap at any."""
    need_uprobes(t)
    for more, calls in ("", []), ("run('break *(long)function_at if $rdi % 5 == 3')", [13, 18]):
        server, results = text_session(t, "twice", f"""
first = called()
emit(first=first, views=[run(f"x/7xb {{at}}").split(":")[1] for at in
                         ("(long)function_at", "(long)readable")])
{more}
emit(second=called(), rows=rows())
""")
        t.equal(results[0]["first"], [3, 8], "calls at the first place")
        for view in results[0]["views"]:
            t.equal(view.split(), "0x90 0x89 0xf8 0x83 0xc0 0x01 0xc3".split(), "memory")
        t.equal(results[1]["second"], calls, "calls at the second")
        t.check(all(" uprobe " in row for row in results[1]["rows"]), "uprobes")
        server.wait_output("sum 210")


def test_text_that_is_rewritten(t):
    """The trap and all, by the program: the location goes on with what is there then."""
    need_uprobes(t)
    server, results = text_session(t, "rewritten", """
emit(calls=[called(), called()])
""")
    t.equal(results, [{"calls": [[3, 8], [13, 18]]}], "stops")
    server.wait_output("sum 270")


def test_a_library_comes_and_goes(t):
    """Often, each time at another address, and no location of it is left behind."""
    need_uprobes(t)
    loads = int(25 * SCALE)
    server = t.server("COMM", t.prog("reload"), loads)
    gdb = t.gdb(server, "monitor set engine uprobe", "set breakpoint pending on",
                "break greet if x % 6 == 5", prog=t.prog("reload"), python="""
found = []
while True:
    run("continue")
    if not alive():
        break
    found.append([value("x"), value("(long)$pc"),
                  run("monitor breakpoints").count("break 0x")])
emit(found=found)
""")
    found = gdb.results[0]["found"]
    t.equal([x for x, _, _ in found], ["5"] * loads, "stops")
    t.equal(len({pc for _, pc, _ in found}), loads, "places")
    t.equal({rows for _, _, rows in found}, {1}, "locations")
    server.wait_output(f"sum {1045 * loads}")
