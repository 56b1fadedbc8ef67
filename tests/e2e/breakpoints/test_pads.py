# SPDX-License-Identifier: BSD-2-Clause
"""Uprobes in pads: code that a jump in the place of an instruction leads to. The program is
to see, and to do, what it would without them."""
import pathlib
import re
import sys

import harness
from attached import Rounds, Session, every

ROUNDS = 3000
NEVER = "if sum == -1"
PADS = '''
def pads():
    """Which locations are in a pad, by their address; of the others, why not."""
    found = {}
    for line in run("monitor breakpoints").splitlines()[1:]:
        words = line.split()
        if words and words[0].isdigit() and words[1] == "break":
            text = run(f"monitor explain {words[0]}")
            why = text.partition("No pad: ")[2].partition("\\n")[0]
            found[words[2]] = "in a pad" if "is in a pad" in text else why
    return found

def register(name):
    return int(run(f"print/d ${name}").split("=")[1])

def text():
    """Of both functions, as gdb reads it."""
    places = (int(gdb.parse_and_eval(f"(long){name}")) for name in ("turn", "twice"))
    return [bytes(gdb.selected_inferior().read_memory(at, 192)).hex() for at in places]
'''
# Where the place is free that a jump with given last bytes leads to depends on the addresses.
FIXED = ["setarch", "-R"]
# A filter of system calls that lets all of them pass, for the program that follows.
FILTER = """
import ctypes, os, struct, sys
allow = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0x7fff0000), 8)
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(allow)), 16)
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
    sys.exit(ctypes.get_errno())
os.execv(sys.argv[1], sys.argv[1:])
"""


def need_pads(t):
    t.need_kernel_conditions()
    t.need_x86()
    t.need_any_engine()


def lines_of(t):
    """Where turn() comes to once in each round, and where it comes to twice."""
    names = ("STORE", "CHANGE", "VARIABLE", "BRANCH", "CALL", "POINTER", "VECTOR", "BYTE",
             "COUNT")
    return [t.line("pads.c", name) for name in names], t.line("pads.c", "CALLED")


def sum_of(rounds):
    return sum(4 * i + i + 3 - (i % 3 == 1) for i in range(rounds))


def debug(t, arguments, commands, python):
    """A session with the program, and what it found: results and the program's output."""
    path = t.prog("pads")
    server = t.server(path, *map(str, arguments))
    gdb = t.gdb(server, "monitor set engine uprobe", "monitor set pads always",
                "handle SIGALRM nostop noprint pass", *commands, prog=path,
                python=PADS + python)
    return gdb.results[0], server.output()


def test_signals_see_no_pad(t):
    """A timer interrupts the program wherever it is: its handler never sees an address that
    is not of the text, and each hit is counted once."""
    need_pads(t)
    lines, called = lines_of(t)
    found, output = debug(t, [ROUNDS, "timer"], [f"break {line} {NEVER}" for line in [*lines, called]]
                          + [f"tbreak {t.line('pads.c', 'END')}"], '''
run("continue")
emit(table=run("monitor breakpoints"), pads=pads())
run("continue")
''')
    rows = [row for row in harness.breakpoint_rows(found["table"]) if "-1" in row["text"]]
    t.equal(sorted(row["false"] for row in rows), [ROUNDS] * len(lines) + [2 * ROUNDS],
            "false hits")
    t.equal([found["pads"][row["text"].split()[2]] for row in rows],
            ["in a pad"] * len(rows), "pads")
    t.match(f"^{ROUNDS} rounds, sum {sum_of(ROUNDS)}, ", output)
    t.match("^0 from elsewhere of many", output)


def test_steps_are_those_of_the_text(t):
    """Instruction by instruction, with a breakpoint at each line, and without."""
    need_pads(t)
    lines, called = lines_of(t)
    walk = '''
run("continue")
places = []
for _ in range(200):
    places.append([register(name) for name in ("pc", "sp", "rax", "eflags")])
    run("stepi")
emit(places=places, sum=int(gdb.parse_and_eval("sum")), pads=pads())
'''
    begin = f"tbreak {lines[0]}"
    plain, _ = debug(t, [30], [begin], walk)
    padded, _ = debug(t, [30], [begin, *(f"break {line} {NEVER}"
                                         for line in [*lines, called])], walk)
    t.check("in a pad" in padded["pads"].values(), f"pads: {padded['pads']}")
    t.equal(padded["places"], plain["places"], "places")
    t.equal(padded["sum"], plain["sum"], "sum")


def test_conditions_see_the_place(t):
    """A condition reads the registers, the PC among them, as they are at the instruction."""
    need_pads(t)
    found, _ = debug(t, [200], [f"tbreak {t.line('pads.c', 'VARIABLE')} if i == 123"], '''
run("continue")
pc, sp = register("pc"), register("sp")
run(f"break *{pc} if $rip == {pc} && $rsp == {sp} && i == 150")
run("continue")
emit(stop=[register("pc") - pc, register("sp") - sp, int(gdb.parse_and_eval("i"))],
     table=run("monitor breakpoints"), pads=pads())
''')
    t.equal(found["stop"], [0, 0, 150], "where it stopped")
    t.check("in a pad" in found["pads"].values(), f"pads: {found['pads']}")
    row = next(row for row in harness.breakpoint_rows(found["table"])
               if "== 150" in row["text"])
    t.equal((row["true"], row["maybe"]), (1, 0), "true hits, and maybes")


def test_neighbours(t):
    """Where another breakpoint comes into the bytes of a jump, the jump goes."""
    need_pads(t)
    found, output = debug(t, [100], [f"tbreak {t.line('pads.c', 'STORE')}"], '''
def insns(address, count):
    lines = run(f"x/{count}i {address}").replace("=>", "").splitlines()
    return [int(line.split()[0], 16) for line in lines]

run("continue")
place = next(at for at, after in zip(insns("turn", 20), insns("turn", 21)[1:])
             if after - at < 4 and at > register("pc"))
beside = insns(place, 2)[1]
run(f"break *{place} if i < 0")
run("stepi")
before = pads()
run(f"break *{beside} if i == 50")
run("continue")
emit(before=before, after=pads(), place=hex(place), beside=beside, pc=register("pc"),
     i=int(gdb.parse_and_eval("i")), table=run("monitor breakpoints"))
run("delete")
run("continue")
''')
    t.equal(found["before"].get(found["place"]), "in a pad", f"{found['before']}")
    t.match("^another breakpoint is or was in the bytes", found["after"][found["place"]])
    t.equal((found["pc"], found["i"]), (found["beside"], 50), "the stop")
    t.match(f"^100 rounds, sum {sum_of(100)}, ", output)


def test_the_client_writes_after_a_jump(t):
    """gdb writes where the jump's last bytes are: what is executed is what it has written.
    """
    need_pads(t)
    found, output = debug(t, [100], [f"break twice {NEVER}",
                                     f"tbreak {t.line('pads.c', 'STORE')}"], '''
run("continue")
place = next(int(line.split()[2], 16) for line in run("monitor breakpoints").splitlines()[1:]
             if "twice" in line)
before = pads()[hex(place)]
inferior = gdb.selected_inferior()
code = bytes(inferior.read_memory(place, 16))
at = code.find(bytes.fromhex("4801c0"))            # add %rax, %rax
other = code.replace(bytes.fromhex("4801c0"), bytes.fromhex("9001c0"))  # nop; add %eax, %eax
inferior.write_memory(place + 1, other[1:])
emit(pad=before, at=at, same=bytes(inferior.read_memory(place, 16)) == other)
run("delete")
run("continue")
''')
    t.equal((found["pad"], found["same"]), ("in a pad", True), "the pad, and what is read")
    t.note(f"what is written differs from byte {found['at']} on")
    t.match(f"^100 rounds, sum {sum_of(100)}, ", output)


def test_memory_has_the_text(t):
    """gdb sees no jump."""
    need_pads(t)
    lines, called = lines_of(t)
    found, _ = debug(t, [10], [f"tbreak {lines[0]}"], f'''
run("continue")
before = text()
for line in {[*lines, called]}:
    run(f"break {{line}} {NEVER}")
run("stepi")
emit(before=before, after=text(), pads=pads())
''')
    t.check("in a pad" in found["pads"].values(), f"pads: {found['pads']}")
    t.equal(found["after"], found["before"], "text")


# ---- attached ----

def maps_of(program):
    """The map of its memory, without what the kernel lets grow."""
    text = pathlib.Path(f"/proc/{program.pid}/maps").read_text(encoding="latin1")
    return [line for line in text.splitlines()
            if not re.search(r"\[(heap|stack|uprobes)\]$", line)]


def attach(t, program):
    """Breakpoints in pads, hit while the program runs."""
    session = Session(t, program)
    session.client.monitor("set engine uprobe")
    session.client.monitor("set pads always")
    for part in range(4):
        session.insert(0, part, every(128))
    return session


def test_detach_leaves_nothing(t):
    """The map of the program's memory, and its text, are as they were."""
    need_pads(t)
    program = Rounds(t, wrapper=FIXED)
    before = maps_of(program)
    session = attach(t, program)
    t.match("^T", session.client.ask("vCont;c"))
    t.match("truehit-pads", "\n".join(maps_of(program)))
    t.equal(session.client.ask("D"), "OK", "detached")
    session.server.wait()
    program.must_be_free()
    t.equal(maps_of(program), before, "the map of its memory")


def test_a_killed_server_harms_nobody(t):
    """The jumps stay, and lead to nops."""
    need_pads(t)
    program = Rounds(t, wrapper=FIXED, rounds=200000, again=True)
    session = attach(t, program)
    t.match("^T", session.client.ask("vCont;c"))
    session.server.kill()
    session.server.wait()
    harness.wait_for(program.is_free, "nobody tracing, nothing stopped")
    program.end()
    t.equal(program.process.wait(), 0, "the program's status")


def test_filtered_programs_have_no_pads(t):
    """A filter of system calls may kill who maps memory."""
    need_pads(t)
    program = Rounds(t, wrapper=[*FIXED, sys.executable, "-c", FILTER])
    before = maps_of(program)
    session = attach(t, program)
    t.match("No pad: the program's system calls are filtered",
            session.client.monitor("explain 1"))
    t.match("^T", session.client.ask("vCont;c"))
    t.equal(maps_of(program), before, "the map of its memory")
