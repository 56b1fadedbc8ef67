# SPDX-License-Identifier: BSD-2-Clause
"""A breakpoint is at an address; its trap is in memory, or at a place in a file. How the two
part, with what happens then: doc/exactness/text.md names the test of each way."""
import contextlib
import os

import harness
import rsp
from uprobes import need_uprobes, text_session

ARGUMENT = {"x86_64": "$rdi", "aarch64": "$x0"}[os.uname().machine]
TRAP = {"x86_64": "cc", "aarch64": "000020d4"}[os.uname().machine]
ALWAYS = "set breakpoint always-inserted on"

# What gdb and the server say of the breakpoint at the function.
VIEWS = """
def code(at="(long)function_at"):
    data = gdb.selected_inferior().read_memory(gdb.parse_and_eval(at), 12).tobytes()
    return data.hex()


def told():
    table = run("monitor breakpoints")
    number = rows()[0].split()[0]
    return [line for line in table.splitlines() if line.startswith(f"break {number}:")] + [
        line for line in run(f"monitor explain {number}").splitlines() if "text:  " in line]


def counts():
    return [int(n) for n in re.search(r" (\\d+) +(\\d+) +(\\d+) +(\\d+) +(\\d+) ",
                                      rows()[0]).groups()][:3]


import re
"""


def need_uprobes_in_memory(t):
    """The program's file has no name."""
    t.need_root("have uprobes in a file without a name")
    need_uprobes(t)


# Then int3 does not plant the breakpoint instruction, which the kernel may take for its own.
AMONG_UPROBES = (
    "monitor set engine uprobe",
    'eval "maintenance packet Z0,%lx,1;X3,220027", (long) begin',
    'eval "maintenance packet z0,%lx,1", (long) begin',
    "monitor set engine ptrace",
    "monitor set pads off",
)


def engines_here(t):
    """By what software breakpoints are served: the name, and the commands for it."""
    t.truehit_only("engines")
    try:
        need_uprobes_in_memory(t)
    except harness.Skip:
        return [("int3", ["monitor set engine ptrace"])]
    return [("int3", ["monitor set engine ptrace"]), ("uprobe", ["monitor set engine uprobe"]),
            ("int3 among uprobes", AMONG_UPROBES)]


def each_session(t, kind, python, *commands, arguments=()):
    """Plays it with each engine; yields the engine, the server and the results."""
    for engine, settings in engines_here(t):
        server, results = text_session(t, kind, VIEWS + python, *commands, settings=settings,
                                       argument=ARGUMENT, arguments=arguments)
        yield engine, server, results


def test_copied_to_other_memory(t):
    """As programs do that want their text in huge pages: the trap goes along, and is no
    uprobe there. The breakpoint is met all the same."""
    for unheard in "", "run('delete 2')":  # is there a stop after it has moved?
        for engine, server, results in each_session(t, "copied", f"""
before = code()
{unheard}
run("set $was = function_at")
calls, codes = [], []
for _ in range({4 if unheard else 5}):
    run("continue")
    codes.append(code("(long)$was"))
    if gdb.selected_frame().name() != "middle":
        calls.append(int(value(ARGUMENT)))
run("continue")
emit(calls=calls, codes=set(codes) == {{before}})
"""):
            t.equal(results[0]["calls"], [3, 8, 13, 18], f"{engine}: stops")
            t.check(results[0]["codes"], f"{engine}: memory shows another code")
            server.wait_output("sum 210")


def test_copied_is_told(t):
    """Which engine serves it then, and why; hits are counted as ever."""
    need_uprobes_in_memory(t)
    t.need_probes_in_text()
    server, results = text_session(t, "copied", VIEWS + """
run("delete 2")
calls = []
for _ in range(4):
    run("continue")
    calls.append(int(value(ARGUMENT)))
emit(calls=calls, row=rows()[0], told=told(), counts=counts())
run("continue")
""", argument=ARGUMENT)
    result, = results
    t.equal(result["calls"], [3, 8, 13, 18], "stops")
    t.no_match(" uprobe ", result["row"], "the engine from then on")
    t.equal(len(result["told"]), 2, f"lines of {result['told']}")
    for line in result["told"]:
        t.match("moved its code", line, "what is told")
    t.equal(result["counts"], [19, 15, 4], "hits, false and true")
    server.wait_output("sum 210")


def test_copied_with_false_hits_only(t):
    """Nobody hears of them, and each instruction is executed once."""
    for engine, server, results in each_session(t, "copied", f"""
run("delete 2")
run("condition 3 {ARGUMENT} == 99")
run("continue")
emit(status=events.exit_code)
"""):
        t.equal(results, [{"status": 0}], f"{engine}: the end")
        server.wait_output("sum 210")


def test_copied_with_a_stop_at_each_hit(t):
    for engine, server, results in each_session(t, "copied", f"""
run("delete 2")
run("condition 3")
emit(calls=called())
"""):
        t.equal(results[0]["calls"], list(range(20)), f"{engine}: stops")
        server.wait_output("sum 210")


def test_copied_and_met_by_threads(t):
    """All at once; each stops as often as it is to, and executes each instruction once."""
    threads, calls = 4, 40
    for engine, server, results in each_session(t, "copied", """
run("delete 2")
run("continue")
run("continue")
found = []
while True:
    run("continue")
    if not alive():
        break
    found.append([gdb.selected_thread().num, int(value(ARGUMENT))])
emit(found=sorted(found))
""", arguments=[threads, calls]):
        t.equal(results[0]["found"],
                [[thread, call] for thread in range(2, 2 + threads)
                 for call in range(3, calls, 5)], f"{engine}: stops")
        server.wait_output(f"sum {55 + threads * sum(range(1, calls + 1))}")


def test_copied_and_let_go(t):
    """No trap stays in the copy."""
    for engine, server, results in each_session(t, "copied", """
called()
emit(name=gdb.selected_frame().name())
run("detach")
"""):
        t.equal(results, [{"name": "middle"}], f"{engine}: the stop")
        server.wait_output("sum 210")


def test_copy_of_a_trap_that_was_deleted(t):
    """In between, so that no breakpoint is there any more: the program goes on as if there
    never had been one."""
    for engine, server, results in each_session(t, "late", """
emit(calls=called())
run("delete 3")
run("continue")
emit(status=events.exit_code)
""", arguments=[4, 40]):
        t.equal(results, [{"calls": [3, 8]}, {"status": 0}], f"{engine}: stops")
        server.wait_output(f"sum {55 + 4 * sum(range(1, 41))}")


def test_copy_of_a_trap_that_became_a_slot(t):
    """In between: the trap in the copy is after a breakpoint in hardware, which is met
    once each time."""
    t.need_breakpoint_registers()
    t.need_x86()
    t.need_kernel_conditions()
    for engine, server, results in each_session(t, "late", """
calls = called()
run("monitor set engine hardware")
for _ in range(2):
    run("continue")
    calls.append(int(value(ARGUMENT)))
emit(calls=calls, row=rows()[0], counts=counts(), code=code())
run("continue")
emit(status=events.exit_code)
"""):
        t.equal(results[0]["calls"], [3, 8, 13, 18], f"{engine}: stops")
        t.match(" perf_event ", results[0]["row"], f"{engine}: the engine then")
        t.equal(results[0]["counts"], [19, 15, 4], f"{engine}: hits, false and true")
        t.check(TRAP not in results[0]["code"], f"{engine}: memory shows a trap")
        t.equal(results[1]["status"], 0, f"{engine}: the end")
        server.wait_output("sum 210")


def test_trap_that_vanishes(t):
    """It is found at the next stop, put back, and told; though gdb says nothing more of
    the breakpoint."""
    for kind in "restored", "dropped", "truncated", "anew":
        for engine, server, results in each_session(t, kind, """
calls = called()
emit(calls=calls, told=told(), code=code())
calls = called()
emit(calls=calls)
""", ALWAYS):
            what = f"{kind}, {engine}"
            t.equal([result["calls"] for result in results], [[3, 8], [13, 18]],
                    f"{what}: stops")
            t.check(TRAP not in results[0]["code"], f"{what}: memory shows a trap")
            # Where the file is mapped, the kernel plants its own again.
            if (kind, engine) != ("anew", "uprobe"):
                t.equal(len(results[0]["told"]), 2, f"{what}: lines of {results[0]['told']}")
                t.match("gone.*put back", results[0]["told"][0], f"{what}: monitor breakpoints")
            server.wait_output("sum 210")


def test_trap_that_vanishes_is_told_later(t):
    """How often it was put back; and no count is lost with it."""
    for engine, server, results in each_session(t, "dropped", """
called()
run("continue")
emit(told=told(), counts=counts())
"""):
        t.match("put back", results[0]["told"][0], f"{engine}: monitor breakpoints")
        t.equal(results[0]["counts"], [14, 11, 3], f"{engine}: hits, false and true")


def test_trap_that_vanishes_during_next(t):
    """The stop at which it is found is the end of steps."""
    for engine, server, results in each_session(t, "dropped", """
run("continue")
run("tbreak drop")
run("continue")
run("continue")
steps = 0
while gdb.selected_frame().name() == "drop" and steps < 20:
    run("next")
    steps += 1
run("delete 2")
emit(steps=steps, calls=called())
""", ALWAYS):
        t.equal(results[0]["calls"], [13, 18], f"{engine}: stops")
        server.wait_output("sum 210")


def test_other_code_in_its_place(t):
    """The breakpoint is at the address: gdb sends it again at a stop, and it is put into
    the code that is there. Unless it is sent, no code is changed that it was not set in."""
    for always, calls in (False, [13, 18]), (True, []):
        for engine, server, results in each_session(t, "exchanged", """
called()
emit(told=told(), code=code())
emit(calls=called())
""", *([ALWAYS] if always else [])):
            what = f"{engine}, {'always' if always else 'not always'} inserted"
            t.check(TRAP not in results[0]["code"], f"{what}: memory shows a trap")
            t.match("not in memory", results[0]["told"][0], f"{what}: monitor breakpoints")
            t.equal(results[1]["calls"], calls, f"{what}: stops")
            server.wait_output("sum 270")


def test_traps_of_the_program_in_its_place(t):
    """They are shown, and stay."""
    need_uprobes_in_memory(t)
    for commands in [ALWAYS], []:
        server, results = text_session(t, "filled", VIEWS + """
run("set $was = function_at")
called()
emit(code=code("(long)$was"))
run("stepi")
emit(code=code("(long)$was"))
run("delete 3")
run("stepi")
emit(code=code("(long)$was"))
run("continue")
""", *commands, argument=ARGUMENT)
        t.equal(results, [{"code": "cc" * 12}] * 3, f"memory, {commands}")
        server.wait_output("sum 210")


def test_moved_elsewhere(t):
    """Page tables and all. Uprobes belong to the file: nobody stops at the new place, and
    no trap is seen. An int3 goes along, and is nobody's, as with gdbserver: the thread
    gets its signal."""
    t.need_probes_in_text()
    for engine, server, results in each_session(t, "shifted", """
called()
emit(code=code(), told=told())
run("continue")
emit(alive=alive(), after=alive() and value("(long)$pc - (long)function_at"),
     signal=alive() and value("$_siginfo.si_signo"))
""", ALWAYS):
        t.match("not in memory", results[0]["told"][0], f"{engine}: monitor breakpoints")
        if engine == "uprobe":
            t.check(TRAP not in results[0]["code"], "memory shows a trap")
            t.equal(results[1]["alive"], False, "the program has ended")
            server.wait_output("sum 210")
        elif engine == "int3":
            t.equal((results[1]["signal"], results[1]["after"]),
                    ("5", str(len(TRAP) // 2 if TRAP == "cc" else 0)), "int3: the stop")
        else:
            t.equal((results[1]["signal"], results[1]["after"]), ("4", "0"), engine)


def test_file_with_other_content(t):
    """Written in place: a page with a trap is the program's own, and keeps what it had."""
    for engine, server, results in each_session(t, "refilled", """
calls = called()
emit(calls=[calls, called()])
"""):
        t.equal(results, [{"calls": [[3, 8], [13, 18]]}], f"{engine}: stops")
        server.wait_output("sum 210")


@contextlib.contextmanager
def setting(t, path, number):
    """A number of the kernel's, for as long as it is needed."""
    try:
        with open(path, "r+", encoding="ascii") as file:
            before = file.read()
            file.seek(0)
            file.write(str(number))
    except OSError as error:
        t.skip(f"{path}: {error.strerror}")
    try:
        yield
    finally:
        with open(path, "w", encoding="ascii") as file:
            file.write(before)


def test_merged_pages(t):
    """By the kernel, with one of the same content (ksm): the trap is in it."""
    t.need_root("have pages merged")
    with setting(t, "/sys/kernel/mm/ksm/run", 1):
        for engine, server, results in each_session(t, "merged", """
calls = called()
emit(calls=[calls, called()])
"""):
            merged = int(server.wait_output(r"(-?\d+) pages merged").group(1))
            t.equal(results[0]["calls"], [[3, 8], [13, 18]], f"{engine}: stops")
            server.wait_output("sum 210")
            if merged < 2:
                t.skip("the kernel has merged nothing")


def test_shared_mapping(t):
    """What is written to it is in the file: neither the kernel nor ptrace has a trap there,
    but there are slots of the processor, also for breakpoints that stop at each hit."""
    t.need_breakpoint_registers()
    t.need_kernel_conditions()
    for setting in "auto", "uprobe":
        server, results = text_session(t, "shared", VIEWS + """
calls = called()
row = rows()[0]
run("condition 3")
emit(calls=[calls, called()], row=row)
""", settings=[f"monitor set engine {setting}"], argument=ARGUMENT)
        t.equal(results[0]["calls"], [[3, 8], list(range(10, 20))], f"{setting}: stops")
        t.match(" perf_event ", results[0]["row"], f"{setting}: the engine")
        server.wait_output("sum 210")


def test_huge_pages(t):
    """Of hugetlbfs: there are no uprobes."""
    t.truehit_only("engines")
    t.need_root("have huge pages made")
    t.need_probes_in_text()
    with setting(t, "/proc/sys/vm/nr_overcommit_hugepages", 4):
        if harness.Process(t, [t.prog("text"), "huge"]).wait() != 0:
            t.skip("no huge pages")
        for name in "auto", "ptrace", "uprobe":
            server, results = text_session(t, "huge", """
calls = called()
row = (rows() or [""])[0]
run("condition 3")
emit(calls=[calls, called()], row=row)
""", settings=[f"monitor set engine {name}"], argument=ARGUMENT)
            # Some kernels (6.12) let not even a tracer write there.
            if name == "ptrace" and results[0] == {"calls": [[], []], "row": ""}:
                continue
            t.equal(results[0]["calls"], [[3, 8], list(range(10, 20))], f"{name}: stops")
            t.no_match(" uprobe ", results[0]["row"], "the engine")
            server.wait_output("sum 210")


def test_asked_for_again(t):
    """gdb takes its breakpoints out at each stop, and puts them in again before it has the
    program go on: those that were switched off for a step are in the text again by then."""
    client = rsp.Client(t.server("COMM", t.prog("loop"), 10))
    pid = int(client.ask("qC").removeprefix("QC"), 16)
    pc = int.from_bytes(bytes.fromhex(client.ask(f"p{rsp.PC:x}")), "little")
    place = f"0,{pc:x},{1 if len(TRAP) == 2 else 4}"

    def in_text():
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            memory.seek(pc)
            return memory.read(len(TRAP) // 2).hex() == TRAP
    t.equal(client.ask("Z" + place), "OK", "insert it")
    t.check(in_text(), "it is not in the text")
    t.equal(client.ask("z" + place), "OK", "remove it")
    client.ask("s")
    t.check(not in_text(), "it is in the text of a step that it is not wanted for")
    t.equal(client.ask("Z" + place), "OK", "insert it again")
    t.check(in_text(), "it is not in the text again")
