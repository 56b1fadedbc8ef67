# SPDX-License-Identifier: BSD-2-Clause
"""Traps in pads: code that a jump in the place of an instruction leads to. The program is
to see, and to do, what it would without them."""
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys

import harness
from attached import Rounds, Session, every

ROUNDS = 3000
NEVER = "if sum == -1"
X86 = os.uname().machine == "x86_64"
ENGINES = ("uprobe", "ptrace") if X86 else ("ptrace",)
ENGINE = ENGINES[0]
UNREAD = "$cs == 0" if X86 else "$fpsr == -1"  # a register that filters do not read
READS = ";X5,2600071727" if X86 else ";X5,26001f1727"  # a condition that reads by sp
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

def filters():
    """Which of them filter, by their address; of the others, why not."""
    found = {}
    for line in run("monitor breakpoints").splitlines()[1:]:
        words = line.split()
        if words and words[0].isdigit() and words[1] == "break":
            text = run(f"monitor explain {words[0]}")
            why = text.partition("No filter: ")[2] or text.partition("No pad: ")[2]
            found[words[2]] = ("filters" if "The filter, " in text
                               else why.partition("\\n")[0])
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


AT_HWCAP2, HWCAP2_FSGSBASE = 26, 2


def auxiliary(which):
    """A value of this process's auxiliary vector."""
    vector = struct.unpack("QQ" * 512, pathlib.Path("/proc/self/auxv").read_bytes()
                           .ljust(16 * 512, b"\0"))
    return dict(zip(vector[::2], vector[1::2])).get(which, 0)


def need_pads(t):
    if X86:
        t.need_kernel_conditions()
    t.need_any_engine()


def lines_of(t):
    """Where turn() comes to once in each round, and where it comes to twice."""
    names = ("STORE", "CHANGE", "VARIABLE", "BRANCH", "CALL", "POINTER", "VECTOR", "BYTE",
             "COUNT")
    return [t.line("pads.c", name) for name in names], t.line("pads.c", "CALLED")


def sum_of(rounds):
    return sum(4 * i + i + 3 - (i % 3 == 1) for i in range(rounds))


def debug(t, arguments, commands, python, choice="always", engine=ENGINE):
    """A session with the program, and what it found: results and the program's output."""
    path = t.prog("pads")
    server = t.server(path, *map(str, arguments))
    gdb = t.gdb(server, f"monitor set engine {engine}", f"monitor set pads {choice}",
                "handle SIGALRM nostop noprint pass", *commands, prog=path,
                python=PADS + python)
    return gdb.results[0], server.output()


def interrupt(t, rounds, never, engine=ENGINE):
    """A timer interrupts the program wherever it is: its handler never sees an address that
    is not of the text, and each hit is counted once."""
    lines, called = lines_of(t)
    found, output = debug(t, [rounds, "timer"], [f"break {line} {never}" for line in [*lines, called]]
                          + [f"tbreak {t.line('pads.c', 'END')}"], '''
run("continue")
emit(table=run("monitor breakpoints"), pads=pads(), filters=filters())
run("continue")
''', engine=engine)
    rows = [row for row in harness.breakpoint_rows(found["table"]) if " 0 " in row["text"]
            and row["false"]]
    t.equal(sorted(row["false"] for row in rows), [rounds] * len(lines) + [2 * rounds],
            "false hits")
    t.equal([found["pads"][row["text"].split()[2]] for row in rows],
            ["in a pad"] * len(rows), "pads")
    t.match(f"^{rounds} rounds, sum {sum_of(rounds)}, ", output)
    t.match("^0 from elsewhere of many", output)
    return [found["filters"][row["text"].split()[2]] for row in rows]


def test_signals_see_no_pad(t):
    need_pads(t)
    filters = interrupt(t, ROUNDS, f"if {UNREAD}")
    t.equal(set(filters), {"the condition needs a register that filters do not read"}, "filters")


def test_signals_see_no_filter(t):
    need_pads(t)
    for engine in ENGINES:
        t.equal(set(interrupt(t, 100 * ROUNDS, NEVER, engine)), {"filters"},
                f"filters with {engine}")


def test_a_filter_comes_when_signals_are_not_blocked(t):
    """A thread in pthread_create() blocks all of them, say."""
    need_pads(t)
    line = t.line("pads.c", "COUNT")
    found, _ = debug(t, [20], [f"tbreak {t.line('pads.c', 'STORE')} if i == 3"], f'''
run("continue")
run("call (int)sigblock({1 << signal.SIGBUS - 1})")
run("break {line} if i == 5")
run("continue")
before = filters()
run("call (int)sigsetmask(0)")
run("tbreak {t.line('pads.c', 'END')}")
run("continue")
emit(before=before, after=filters())
''')
    t.check("a thread blocks SIGSEGV or SIGBUS" in found["before"].values(), f"{found}")
    t.check("filters" in found["after"].values(), f"{found}")


def test_a_filter_reads_what_is_not_there(t):
    """What it cannot read is for the trap, and so for gdb; the program gets no signal."""
    need_pads(t)
    line = t.line("pads.c", "COUNT")
    found, output = debug(t, [20], [f"break {line} if *(i % 5 == 2 ? (long *)8 : &sum) == -1"], f'''
SIGSEGV = {signal.SIGSEGV:d}
''' + '''
told = []
run("continue")
for _ in range(4):
    told.append([int(gdb.parse_and_eval(text)) for text in
                 ("i", "rounds", f"$_siginfo.si_signo == {SIGSEGV}")])
    filtered = filters()
    run("continue")
emit(told=told, filters=filtered)
''')
    t.equal(found["told"], [[i, i, 0] for i in (2, 7, 12, 17)], "stops")
    t.check("filters" in found["filters"].values(), f"filters: {found['filters']}")
    t.match(f"^20 rounds, sum {sum_of(20)}, ", output)


def test_a_filter_reads_no_watched_memory(t):
    """Its reads would be hits: there is none while reads are watched."""
    need_pads(t)
    line = t.line("pads.c", "COUNT")
    found, _ = debug(t, [20], [f"tbreak {t.line('pads.c', 'STORE')} if i == 3",
                               f"break {line} if rounds == -1"], '''
run("continue")
before = filters()
run("rwatch rounds")
found = []
for _ in range(3):
    run("continue")
    found.append(int(gdb.parse_and_eval("rounds")))
emit(before=before, then=filters(), found=found)
''')
    t.check("filters" in found["before"].values(), f"filters: {found['before']}")
    t.check("reads of memory are watched" in found["then"].values(),
            f"filters: {found['then']}")
    t.equal(found["found"], [3, 4, 5], "values read")


def check_counts(t, engine, choice="always"):
    line = t.line("pads.c", "COUNT")
    found, _ = debug(t, [1000], [f"break {line} if i % 100 == 50"], '''
rows = []
for _ in range(10):
    run("continue")
    rows.append([int(gdb.parse_and_eval("i")), run("monitor breakpoints")])
emit(rows=rows, filters=filters())
''', engine=engine, choice=choice)
    for number, (i, table) in enumerate(found["rows"]):
        row, = (row for row in harness.breakpoint_rows(table) if "turn" in row["text"])
        t.equal(i, 100 * number + 50, "the stop")
        t.equal([row["hits"], row["true"], row["false"]], [i + 1, number + 1, i - number],
                "hits, true and false ones")
    t.check("filters" in found["filters"].values(), f"filters: {found['filters']}")


def test_counts_of_a_filter(t):
    """Of false hits that no trap has seen: added to those of the location; true ones are the
    trap's."""
    need_pads(t)
    check_counts(t, ENGINE)


@harness.machines("main", "as=root")
def test_filters_without_rights(t):
    """The trap of a debugger that may not have programs in the kernel is in the pad, too."""
    t.need_any_engine()
    for choice in "always", "auto":
        check_counts(t, "ptrace", choice)


def test_no_filter_on_small_stacks(t):
    """A filter saves registers below the stack pointer, where threads of Go and OCaml may have
    something else: this is told by a section that every executable of Go has."""
    need_pads(t)
    if not shutil.which("objcopy"):
        t.skip("no objcopy")
    marked = t.dir / "marked"
    subprocess.run(["objcopy", "--add-section", ".go.buildinfo=/dev/null", t.prog("pads"), marked],
                   check=True)
    whys = []
    for path in t.prog("pads"), marked:
        gdb = t.gdb(t.server(path, ROUNDS), f"monitor set engine {ENGINE}", "monitor set pads always",
                    f"break {t.line('pads.c', 'COUNT')} {NEVER}",
                    f"tbreak {t.line('pads.c', 'END')}", prog=path, python=PADS + '''
run("continue")
emit(filters=filters(), table=run("monitor breakpoints"))
''')
        row = harness.breakpoint_rows(gdb.results[0]["table"])[0]
        t.equal(row["false"], ROUNDS, "false hits")
        whys.append(gdb.results[0]["filters"][row["text"].split()[2]])
    t.equal(whys, ["filters", "the stacks of its language may be small"], "why")


def test_where_no_instruction_begins(t):
    """A trap changes one byte there, and a jump would change what comes after."""
    t.need_x86()
    t.need_any_engine()
    found, output = debug(t, [10], ["break *gap", f"tbreak {t.line('pads.c', 'END')}"], '''
run("continue")
emit(pads=pads())
run("continue")
''', engine="ptrace")
    t.check("nothing says that an instruction begins there" in found["pads"].values(),
            f"reasons: {found['pads']}")
    t.match(f"^10 rounds, sum {sum_of(10)}, ", output)


def test_signal_for_who_made_a_call(t):
    """A thread in pthread_create(), where it blocks all signals, maps the first pad's memory.
    The signal that its user gives it reaches it all the same."""
    t.need_any_engine()
    server = t.server(t.prog("rounds"), 1, 1000)
    gdb = t.gdb(server, "monitor set engine ptrace", "monitor set pads off", "break work",
                "continue", prog=t.prog("rounds"), python=PADS + '''
run("monitor set pads always")
run("break on_signal")
run("thread 1")
run("signal SIGUSR1")
emit(pads=pads(), name=gdb.selected_frame().name())
''')
    found = gdb.results[0]
    t.equal(found["name"], "on_signal", "where it stopped")
    t.check("in a pad" in found["pads"].values(), f"pads: {found['pads']}")


def test_the_same_place_again(t):
    """Where an instruction of one byte leaves one place for a pad: with another condition,
    after a first pad that could stay."""
    t.need_x86()
    need_pads(t)
    found, output = debug(t, [100], [f"tbreak {t.line('pads.c', 'STORE')}"], '''
def pad_after(command):
    run(command)
    run("tbreak LINE")
    run("continue")
    return pads().get(hex(int(gdb.parse_and_eval("(long)twice"))))

run("continue")
before = pad_after("break *twice if sum == -1")
number = gdb.breakpoints()[0].number
emit(before=before, after=pad_after(f"condition {number} sum == -2"))
run("delete")
run("continue")
'''.replace("LINE", t.line("pads.c", "COUNT")))
    if found["before"] != "in a pad":
        t.skip(f"the place is not free here: {found['before']}")
    t.equal(found["after"], "in a pad", "the second pad")
    t.match(f"^100 rounds, sum {sum_of(100)}, ", output)


def test_functions_in_a_row(t):
    """Each begins with an instruction of one byte, and the only places that jumps there can
    lead to are as far from each other as the functions are."""
    need_pads(t)
    count, path = 200, t.prog("hits")
    gdb = t.gdb(t.server(path, str(10 * count), str(count), "1"),
                f"monitor set engine {ENGINE}", "monitor set pads always", "tbreak main",
                prog=path, python=PADS + f"""
run("continue")
for number in range({count}):
    run(f"break *f{{number:03}} if last == -1")
run("tbreak write")
run("continue")
emit(filters=list(filters().values()), table=run("monitor breakpoints"))
run("continue")
""")
    found = gdb.results[0]
    t.equal(found["filters"].count("filters"), count, "filters")
    rows = harness.breakpoint_rows(found["table"])
    t.equal([row["false"] for row in rows if row["false"]], [10] * count, "false hits")


@harness.machines("main", "as=root")
def test_hot_locations_move(t):
    """While the program runs: no hit is lost, and none is counted twice. Others stay."""
    need_pads(t)
    rounds = 1000 * ROUNDS
    hot, cold = t.line("pads.c", "COUNT"), t.line("pads.c", "BEGIN")
    found, output = debug(t, [rounds], [f"break {cold} if wanted == -1", f"break {hot} {NEVER}",
                                        f"tbreak {t.line('pads.c', 'END')}"], '''
run("continue")
emit(table=run("monitor breakpoints"), pads=pads())
run("continue")
''', choice="auto")
    rows = [row for row in harness.breakpoint_rows(found["table"]) if row["false"]]
    t.equal([row["false"] for row in rows], [rounds, 1], "false hits")
    t.equal([found["pads"][row["text"].split()[2]] for row in rows],
            ["in a pad", "it is not hit often"], "pads")
    t.match(f"^{rounds} rounds, ", output)


def test_steps_are_those_of_the_text(t):
    """Instruction by instruction, with a breakpoint at each line, and without."""
    need_pads(t)
    lines, called = lines_of(t)
    walk = '''
run("continue")
places = []
for _ in range(200):
    places.append([register(name) for name in NAMES])
    places[-1][-1] &= MASK  # without aarch64's flag of the step
    run("stepi")
emit(places=places, sum=int(gdb.parse_and_eval("sum")), pads=pads())
'''.replace("NAMES", str(("pc", "sp", *(("rax", "eflags") if X86 else ("x0", "cpsr")))))
    walk = walk.replace("MASK", "-1" if X86 else "0xf0000000")
    begin = f"tbreak {lines[0]}"
    plain, _ = debug(t, [30], [begin], walk)
    padded, _ = debug(t, [30], [begin, *(f"break {line} {NEVER}"
                                         for line in [*lines, called])], walk)
    t.check("in a pad" in padded["pads"].values(), f"pads: {padded['pads']}")
    t.equal(padded["places"], plain["places"], "places")
    t.equal(padded["sum"], plain["sum"], "sum")


@harness.machines("main", "as=root")
def test_conditions_see_the_place(t):
    """A condition reads the registers, the PC among them, as they are at the instruction."""
    need_pads(t)
    found, _ = debug(t, [200], [f"tbreak {t.line('pads.c', 'VARIABLE')} if i == 123"], '''
run("continue")
pc, sp = register("pc"), register("sp")
run(f"break *{pc} if PC == {pc} && SP == {sp} && i == 150")
run("continue")
emit(stop=[register("pc") - pc, register("sp") - sp, int(gdb.parse_and_eval("i"))],
     table=run("monitor breakpoints"), pads=pads())
'''.replace("PC", "$rip" if X86 else "$pc").replace("SP", "$rsp" if X86 else "$sp"))
    t.equal(found["stop"], [0, 0, 150], "where it stopped")
    t.check("in a pad" in found["pads"].values(), f"pads: {found['pads']}")
    row = next(row for row in harness.breakpoint_rows(found["table"])
               if "== 150" in row["text"])
    t.equal((row["true"], row["maybe"]), (1, 0), "true hits, and maybes")


def test_filters_read_segment_bases(t):
    """Which programs in the kernel cannot read: no false hit is a maybe."""
    need_pads(t)
    if not X86:
        t.skip("aarch64 has no segments")
    if not auxiliary(AT_HWCAP2) & HWCAP2_FSGSBASE:
        t.skip("this processor does not let programs read the base of fs")
    found, _ = debug(t, [200], [f"tbreak {t.line('pads.c', 'VARIABLE')} if i == 123"], '''
run("continue")
pc, fs, gs = register("pc"), register("fs_base"), register("gs_base")
run(f"break *{pc} if $fs_base != {fs} || $gs_base != {gs} || i == 150")
run("continue")
emit(i=int(gdb.parse_and_eval("i")), table=run("monitor breakpoints"), filters=filters())
''')
    row = next(row for row in harness.breakpoint_rows(found["table"])
               if "== 150" in row["text"])
    t.equal(found["i"], 150, "where it stopped")
    t.check("filters" in found["filters"].values(), f"filters: {found['filters']}")
    t.equal((row["false"], row["true"], row["maybe"]), (26, 1, 1), "hits")


def test_neighbours(t):
    """Where another breakpoint comes into the bytes of a jump, the jump ends with its bytes."""
    t.need_x86()
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
    t.equal(found["after"].get(found["place"]), "in a pad", f"{found['after']}")
    t.equal(found["after"].get(hex(found["beside"])), "in a pad", f"{found['after']}")
    t.equal((found["pc"], found["i"]), (found["beside"], 50), "the stop")
    t.match(f"^100 rounds, sum {sum_of(100)}, ", output)


def write_after_jump(t, engine):
    found, output = debug(t, [100], [f"break twice {NEVER}",
                                     f"tbreak {t.line('pads.c', 'STORE')}"], '''
run("continue")
place = next(int(line.split()[2], 16) for line in run("monitor breakpoints").splitlines()[1:]
             if "twice" in line)
before = pads()[hex(place)]
inferior = gdb.selected_inferior()
code = bytes(inferior.read_memory(place, 16))
at = code.find(bytes.fromhex("4801c0"))            # add %rax, %rax
other = code.replace(bytes.fromhex("4801c0"), bytes.fromhex("4829c0"))  # sub %rax, %rax
inferior.write_memory(place + 1, other[1:])
emit(pad=before, at=at, same=bytes(inferior.read_memory(place, 16)) == other)
run("continue")
''', engine=engine)
    t.equal((found["pad"], found["same"]), ("in a pad", True), "the pad, and what is read")
    t.note(f"what is written differs from byte {found['at']} on")
    t.match(f"^100 rounds, sum {sum_of(100) - sum(4 * i for i in range(100))}, ", output)


def test_the_client_writes_after_a_jump(t):
    """gdb writes where the jump's last bytes are: what is executed is what it has written.
    """
    t.need_x86()
    need_pads(t)
    for engine in "uprobe", "ptrace":
        write_after_jump(t, engine)


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
    session.client.monitor(f"set engine {ENGINE}")
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


def test_no_filter_where_faults_are_blocked_or_ignored(t):
    """A fault of a filter's would change what the program does about the signal."""
    need_pads(t)
    for what in ("signal.signal(signal.SIGSEGV, signal.SIG_IGN)",
                 "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGBUS])"):
        program = Rounds(t, wrapper=[*FIXED, sys.executable, "-c",
                                     f"import os, signal, sys; {what}; "
                                     "os.execv(sys.argv[1], sys.argv[1:])"])
        session = Session(t, program)
        session.client.monitor(f"set engine {ENGINE}")
        session.client.monitor("set pads always")
        for address, condition in ((program.parts[0], every(128)), (program.parts[1], READS)):
            t.equal(session.client.ask(f"Z0,{address:x},1{condition}"), "OK", "inserted")
        t.match("The filter, ", session.client.monitor("explain 1"), "it reads registers")
        t.match("No filter: (the program ignores|a thread blocks) SIGSEGV or SIGBUS",
                session.client.monitor("explain 2"))


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
