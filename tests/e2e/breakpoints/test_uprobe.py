# SPDX-License-Identifier: BSD-2-Clause
"""Software breakpoints by uprobes: how many, where, and who else sees them."""
import os
import random
import re
import resource
import signal
import time

import attached
import harness
from uprobes import ALWAYS, NEVER, PARTS, Many, engines, need_uprobes, text_session

EAX_IS_ODD = ";X7,26000022010f27"
THREADS, ROUNDS = 4, 40

# The half with even numbers at the functions' first instructions, which the kernel
# emulates, the others after the prologues.
SET_PARTS = f"""
for n in range({PARTS}):
    condition = f"if (int)$rdi == {{n * 7 % {ROUNDS}}} && (int)$rsi == {{n % {THREADS}}}"
    run(f"break {{'' if n % 2 else '*'}}part{{n:03}} {{condition}}")
"""


def test_two_hundred_at_once(t):
    """Each stops exactly where and as often as computed."""
    need_uprobes(t)
    server = t.server("COMM", t.prog("many"), THREADS, ROUNDS)
    gdb = t.gdb(server, "monitor set engine uprobe", "set breakpoint always-inserted on",
                "break main", "continue", prog=t.prog("many"), python=SET_PARTS + """
run("break done")
found = []
while True:
    run("continue")
    if not alive() or gdb.selected_frame().name() == "done":
        break
    at = int(gdb.parse_and_eval("(unsigned long)$pc"))
    start = gdb.selected_frame().function().value()
    found.append([gdb.selected_frame().name(), at - int(start.address),
                  *(int(gdb.parse_and_eval(f"(int){r}")) for r in ("$rdi", "$rsi"))])
emit(found=sorted(found), table=run("monitor breakpoints"))
run("delete")
run("continue")
emit(status=events.exit_code)
""")
    stops, end = gdb.results
    after = {row[1] for row in stops["found"] if int(row[0][4:]) % 2}
    t.equal(len(after), 1, "places after the prologues")
    t.equal(stops["found"],
            [[f"part{n:03}", n % 2 * min(after), n * 7 % ROUNDS, n % THREADS]
             for n in range(PARTS)], "stops")
    rows = [row for row in harness.breakpoint_rows(stops["table"]) if "part" in row["text"]]
    t.equal(len(rows), PARTS, "breakpoints")
    t.equal({(row["hits"], row["true"], row["maybe"]) for row in rows},
            {(THREADS * ROUNDS, 1, 0)}, "counts")
    t.check(all(" uprobe " in row["text"] for row in rows), "all are uprobes")
    t.equal(end["status"], 0, "the program's status")
    t.equal(server.wait(), 0, "the server's status")
    plain = harness.Process(t, [t.prog("many"), THREADS, ROUNDS])
    plain.wait()
    t.match(re.escape(plain.output().strip()), server.output(), "the program's result")


SAME = 50


def descriptors(t, server):
    """What /proc tells of each of the server's."""
    directory = f"/proc/{server}/fdinfo"
    try:
        return [open(os.path.join(directory, name)).read() for name in os.listdir(directory)]
    except PermissionError:
        t.skip("nobody may look into the server")


def loaded_programs(texts):
    """How many BPF programs the server holds."""
    return len(set(re.findall(r"^prog_id:\t(\d+)", "\n".join(
        text for text in texts if "prog_jited" in text), re.M)))


def test_the_same_condition_at_many(t):
    """One program serves them, and yet each has its counts, its own hits and is ignored
    by itself."""
    need_uprobes(t)
    server = t.server("COMM", t.prog("many"), THREADS, ROUNDS)
    gdb = t.gdb(server, "monitor set engine uprobe", "set breakpoint always-inserted on",
                "break main", "continue", prog=t.prog("many"), python=f"""
for n in range({SAME}):
    run(f"break *part{{n:03}} if (int)$rdi == 3 && (int)$rsi == 1")
run("monitor ignore part001 1")
run("break done")
found = []
while True:
    run("continue")
    if not alive() or gdb.selected_frame().name() == "done":
        break
    found.append([gdb.selected_frame().name(), *(int(gdb.parse_and_eval(f"(int){{r}}"))
                                                 for r in ("$rdi", "$rsi"))])
emit(found=found, table=run("monitor breakpoints"))
run("delete")
run("continue")
""")
    stops = gdb.results[-1]
    t.equal(stops["found"], [[f"part{n:03}", 3, 1] for n in range(SAME) if n != 1], "stops")
    rows = [row for row in harness.breakpoint_rows(stops["table"]) if "part" in row["text"]]
    t.equal(len(rows), SAME, "breakpoints")
    t.equal({(row["hits"], row["true"], row["maybe"]) for row in rows},
            {(THREADS * ROUNDS, 1, 0)}, "counts")
    t.check(all(" uprobe " in row["text"] for row in rows), "all are uprobes")


def test_programs_are_few(t):
    """To verify a program takes the kernel most of a millisecond, which gdb would wait
    for at each of many breakpoints."""
    need_uprobes(t)
    t.need_probes_in_text()
    many = Many(t)
    many.client.monitor("set engine uprobe")
    many.insert(0, NEVER)
    before = descriptors(t, many.server.serving)
    if not any(re.search(r"^link_type:\tuprobe_multi", text, re.M) for text in before):
        t.skip("the kernel tells a program its place at multi links only, of which it has none")
    for part in range(1, SAME):
        many.insert(part, NEVER)
    t.equal(set(engines(many.table())), {"uprobe"}, "engines")
    after = descriptors(t, many.server.serving)
    many.client.close()
    t.equal(loaded_programs(after), loaded_programs(before), "programs")


def test_a_program_comes_back_elsewhere(t):
    """The same condition at another instruction, after the first place is gone."""
    need_uprobes(t)
    many = Many(t)
    many.client.monitor("set engine uprobe")
    many.insert(5, kind="Z1")
    move, load = many.parts[0] + 1, many.parts[0] + 10  # of 3 bytes both
    for place in (move, load):
        many.insert(place, NEVER)
        for _ in range(2):
            t.match("T05", many.client.ask("vCont;c"), "part005")
        rows = [row for row in harness.breakpoint_rows(many.table())
                if f"{place:#x}" in row["text"]]
        t.equal([(row["hits"], row["maybe"]) for row in rows], [(2, 0)], "counts")
        t.equal(many.client.ask(f"z0,{place:x},1"), "OK", "z0")
        t.match("T05", many.client.ask("vCont;c"), "part005")
        many.client.monitor("engines")
        time.sleep(0.3)  # the probe is closed in the background
    many.client.close()


def test_same_place_in_another_process(t):
    """The kernel finds uprobes by the place in the file: a trap of ours in a process
    with uprobes is taken for one if somebody has a uprobe there in another process."""
    need_uprobes(t)
    one, other = Many(t), Many(t)
    one.insert(7, NEVER)
    one.insert(9, NEVER)
    other.insert(7)
    other.insert(8, NEVER)
    other.insert(9)
    for part in (7, 9):
        t.match("swbreak", other.client.ask("vCont;c"), f"stop {part}")
        t.equal(other.pc(), other.parts[part], "PC")
        other.remove(part)


STORE_AT = 4  # a store to the frame of part000: no uprobe where there are more threads


def test_same_place_of_another_server(t):
    """Its uprobes would take the hits of a trap that the kernel could have made."""
    t.need_breakpoint_registers()
    need_uprobes(t)
    other, many = Many(t), Many(t, threads=2)
    many.insert(100, ALWAYS)
    t.match("^T05.*swbreak", many.client.ask("vCont;c"), "a stop with two threads")
    other.client.monitor("set engine uprobe")
    stores = {part + STORE_AT for part in other.parts[:3]}
    for store in stores:
        other.insert(store, NEVER)
        many.insert(store)
    many.remove(100)
    t.equal(engines(other.table()), ["uprobe"] * 3, "the other's engines")
    while stores:
        t.match("^T05.*swbreak", many.client.ask("vCont;c"), "a stop")
        t.check(many.pc() in stores, f"a stop at {many.pc():#x}, of {stores}")
        stores.remove(many.pc())
        many.client.ask(f"z0,{many.pc():x},1")


def test_trap_beside_a_uprobe_of_another_server(t):
    """The kernel would take a breakpoint instruction for its own, and take it out with the
    other server's probe. This place has no slot, no pad and no uprobe."""
    need_uprobes(t)
    other, many = Many(t), Many(t, threads=2)
    for session in (other, many):
        session.client.monitor("set engine uprobe")
        session.client.monitor("set pads off")
    many.insert(100, ALWAYS)
    t.match("^T05.*swbreak", many.client.ask("vCont;c"), "a stop with two threads")
    t.equal(engines(many.table()), ["uprobe"], "the engine before")
    many.remove(100)
    many.client.monitor("set engine ptrace")
    store = many.parts[0] + STORE_AT
    shown = many.client.ask(f"m{store:x},4")
    many.insert(store)
    t.equal(engines(many.table())[-1], "int3", "the engine")
    for closed in (False, True, True):
        other.insert(other.parts[0] + STORE_AT, NEVER)
        t.equal(engines(other.table()), ["uprobe"], "the other's engine")
        if closed:
            t.equal(other.client.ask(f"z0,{other.parts[0] + STORE_AT:x},1"), "OK", "z0")
            other.client.monitor("set engine ptrace")
            other.insert(other.parts[0] + STORE_AT)  # ... which waits until it is closed
            t.equal(engines(other.table()), ["int3"], "the other's engine")
            t.equal(other.client.ask(f"z0,{other.parts[0] + STORE_AT:x},1"), "OK", "z0")
            other.client.monitor("set engine uprobe")
        t.match("^T05.*swbreak", many.client.ask("vCont;c"), "a stop")
        t.equal(many.pc(), store, "PC")
        t.equal(many.client.ask(f"m{store:x},4"), shown, "memory")


def test_loaded_anew_elsewhere(t):
    """A library that comes and goes, each time at another address."""
    need_uprobes(t)
    server = t.server("COMM", t.prog("reload"))
    gdb = t.gdb(server, "monitor set engine uprobe", "set breakpoint pending on", "break greet if x % 6 == 5",
                prog=t.prog("reload"), python="""
found = stops(["x"])
emit(found=[x for _, x in found], places=len({pc for pc, _ in found}))
""")
    t.equal(gdb.results, [{"found": ["5"] * 3, "places": 3}], "stops")
    server.wait_output("sum 3135")


def test_where_there_is_no_uprobe(t):
    """Other engines take over, and tell why."""
    t.need_breakpoint_registers()
    need_uprobes(t)
    # The file is deleted by then.
    unreachable = None if os.geteuid() == 0 else r"setcap \S+,cap_checkpoint_restore\+ep \S+"
    for kind, why in (("private", unreachable), ("anonymous", "in no file"),
                      ("shared", "mapped shared"), ("writable", "may write there")):
        server, results = text_session(t, kind, """
emit(calls=called(), rows=rows(), reason=reason(), more=called())
""")
        t.equal(results[0]["calls"] + results[0]["more"], [3, 8, 13, 18], kind)
        t.equal(len(results[0]["rows"]), 1, "breakpoints")
        t.equal(" uprobe " in results[0]["rows"][0], why is None, f"{kind}: a uprobe")
        if why:
            t.match(why, results[0]["reason"], f"{kind}: the reason")
        server.wait_output("sum 210")


def test_text_that_moves(t):
    """The location stays where it was, though other memory is there now."""
    need_uprobes(t)
    server, results = text_session(t, "moving", """
emit(calls=called(), was=run("x/8xb function_at").split(":")[1:])
run("delete 2")
emit(now=run("x/8xb function_at").split(":")[1:], calls=called())
""")
    t.equal(results[0]["calls"], [3, 8], "before it moves")
    t.equal(results[0]["was"], results[1]["now"], "the code")
    t.equal(results[1]["calls"], [], "after it has moved")
    server.wait_output("sum 210")


def test_text_that_changes(t):
    """The program changes its own instruction at the location, after the trap."""
    need_uprobes(t)
    server, results = text_session(t, "changing", """
run("delete 3")
run("break *(long)function_at + 3 if $rdi % 5 == 3")
emit(calls=[called(), called()])
""")
    t.equal(results, [{"calls": [[3, 8], [13, 18]]}], "stops")
    server.wait_output("sum 230")


def test_text_that_changes_between_false_hits(t):
    """... and nothing stops the program before it runs there again."""
    need_uprobes(t)
    for condition, calls in (("$rdi == 18", [18]), ("$rdi == 99", [])):
        server, results = text_session(t, "changing", f"""
run("delete 2")
run("delete 3")
run("break *(long)function_at + 3 if {condition}")
emit(calls=called())
run("continue")
""")
        t.equal(results[0]["calls"], calls, "stops")
        server.wait_output("sum 230")


def test_text_that_changes_under_steps(t):
    """... while the location is switched off, as steps alone follow."""
    need_uprobes(t)
    server, results = text_session(t, "changing", """
run("delete 3")
run("break *(long)function_at + 3 if $rdi % 5 == 3")
run("continue")
run("disable")
for _ in range(5000):
    run("stepi")
    if gdb.selected_frame().name() == "middle":
        break
run("enable 4")
emit(calls=called())
""")
    t.equal(results, [{"calls": [13, 18]}], "stops")
    server.wait_output("sum 230")


def test_forked_children_leave_traps_in_place(t):
    """Of one that the kernel has for a child, it would take the parent's along. (Slots,
    which a trap of ours would not need, are taken.)"""
    need_uprobes(t)
    rounds = 12
    gdb = t.gdb(t.server("COMM", t.prog("family"), "threads", rounds),
                "monitor set engine uprobe", "set breakpoint always-inserted on",
                *(f"hbreak *((char *)expect + {at}) if $rsp == 0" for at in (0, 1, 4, 8)),
                "break *((char *)work + 4)", prog=t.prog("family"),
                first=["maintenance set target-non-stop on"], python="""
found = set()
table = ""
while True:
    run("continue")
    if not alive():
        break
    found.add((gdb.selected_thread().num, int(gdb.parse_and_eval("(int)$rdi"))))
    table = run("monitor breakpoints")
emit(count=len(found), table=table, status=events.exit_code)
""")
    t.equal((gdb.results[0]["count"], gdb.results[0]["status"]), (4 * rounds, 0), "stops")
    t.check("int3" in engines(gdb.results[0]["table"]), "a trap of ours")


@harness.machines("main", "on=x86_64")
def test_resumed_where_it_stopped(t):
    """With the breakpoint still there, it stops again, whatever serves it: gdb relies on
    that. The registers are the same, too."""
    need_uprobes(t)
    seen = []
    for engine, pads in (("ptrace", "off"), ("uprobe", "off"), ("hardware", "off"),
                         ("ptrace", "always"), ("uprobe", "always")):
        many = Many(t, rounds=1)
        many.client.monitor(f"set engine {engine}")
        many.client.monitor(f"set pads {pads}")
        many.insert(7, ALWAYS)
        for _ in range(3):
            t.match("^T05.*swbreak", many.client.ask("vCont;c"), "a stop")
            t.equal(many.pc(), many.parts[7], "PC")
            seen.append(many.client.ask("g")[:2 * (17 * 8 + 4)])
        many.remove(7)
        t.equal(many.client.ask("vCont;c")[:3], "W00", "the end")
    t.equal(len(set(seen)), 1, f"registers: {seen}")


# Memory

def test_memory_shows_no_trap(t):
    """Whatever part of an instruction is read; and what is written is there, at once."""
    need_uprobes(t)
    many = Many(t, rounds=3)
    with open(t.prog("many"), "rb") as file:
        text = file.read()
    start = many.parts[0]
    offset = start - many.base()
    for part in range(0, 20, 2):
        many.insert(part, NEVER)
    for begin in range(start - 8, start + 24):
        for length in (1, 2, 3, 7, 64):
            at = offset + begin - start
            t.equal(many.client.ask(f"m{begin:x},{length:x}"), text[at:at + length].hex(),
                    f"{length} bytes at {begin:#x}")
    at = offset + 3
    t.equal(many.client.ask(f"x{start + 3:x},10"), "b" + text[at:at + 16].decode("latin1"),
            "in binary")


ADD, ADD_AT = bytes.fromhex("83c001"), 13  # add $1,%eax of part000


def test_writes_over_an_instruction(t):
    """The location moves to an engine that executes what is there now."""
    need_uprobes(t)
    many = Many(t, rounds=10)
    many.client.monitor("set engine uprobe")
    add = many.parts[0] + ADD_AT
    t.equal(many.client.ask(f"m{add:x},3"), ADD.hex(), "the instruction")
    many.insert(add, EAX_IS_ODD)
    sums = []
    for data, at in ((None, 0), ("02", 2), ("83c004", 0), ("01", 2)):
        if data:
            t.equal(many.client.ask(f"M{add + at:x},{len(data) // 2:x}:{data}"), "OK", "M")
            t.equal(many.client.ask(f"m{add + at:x},{len(data) // 2:x}"), data, "m")
        t.match("swbreak|hwbreak", many.client.ask("vCont;c"), "the stop")
        t.equal(many.pc(), add, "PC")
        before = many.register(0)
        many.client.ask(f"z0,{add:x},1")
        many.client.ask("vCont;s")
        sums.append(many.register(0) - before)
        many.insert(add, EAX_IS_ODD)
    t.equal(sums, [1, 2, 4, 1], "what the instruction adds")
    t.match(" uprobe ", many.table(), "the engine in the end")


# Families. Breakpoints are true at every fifth call.

KIN = """
def calls():
    "All stops, in whatever process: [child, round]."
    found = []
    while any(inferior.pid for inferior in gdb.inferiors()):
        run("continue")
        thread = gdb.selected_thread()
        if thread and thread.is_valid() and gdb.selected_frame().name() == "work":
            found.append([int(gdb.parse_and_eval(name)) for name in ("child", "round")])
        elif not gdb.selected_inferior().pid:
            left = [i.num for i in gdb.inferiors() if i.pid]
            if left:
                run(f"inferior {left[0]}")
    return sorted(found)
emit(calls=calls())
"""
FIFTH = [3, 8, 13, 18]


def kin(t, kind, *settings, rounds=20):
    server = t.server("COMM", t.prog("kin"), kind, rounds)
    gdb = t.gdb(server, *settings, "monitor set engine uprobe", "set schedule-multiple on",
                "break work if round % 5 == 3", prog=t.prog("kin"), python=KIN, limit=30)
    return server, [result["calls"] for result in gdb.results]


def both(rounds):
    return [[[child, round] for child in (0, 1) for round in rounds]]


def test_children_that_are_kept(t):
    need_uprobes(t)
    server, calls = kin(t, "exec", "set detach-on-fork off")
    t.equal(calls, both(FIFTH), "calls that stop")
    server.wait_output("status 7")


def test_children_that_are_let_go(t):
    """They have no trap in their text, and run through the places of the breakpoints."""
    need_uprobes(t)
    server = t.server("COMM", t.prog("kin"), "fork", 20)
    gdb = t.gdb(server, "monitor set engine uprobe", "break work if round % 5 == 3",
                prog=t.prog("kin"), python=KIN, wait=False)
    child = int(server.wait_output(r"child (\d+)").group(1))
    harness.wait_for(lambda: harness.process_state(child) == "T", "the child stopping")
    t.equal(attached.changed_text(child, t.prog("kin")), [], "changes of the child's text")
    os.kill(child, signal.SIGCONT)
    gdb.wait(60)
    t.equal([r["calls"] for r in gdb.results], [[[0, round] for round in FIFTH]], "calls")
    server.wait_output("status 7")
    for kind in ("vfork", "exec"):
        server, calls = kin(t, kind)
        t.equal(calls, [[[0, round] for round in FIFTH]], f"{kind}: calls that stop")
        server.wait_output("status 7")


def test_a_task_with_the_same_memory(t):
    """It is a process for the kernel, and has the traps all the same."""
    need_uprobes(t)
    server, calls = kin(t, "memory")
    t.equal(calls, both(FIFTH), "calls that stop")
    server.wait_output("status 7")


def runs_itself_anew(t, kind):
    """Memory shows no trap that the kernel has for what ran before."""
    need_uprobes(t)
    server = t.server("COMM", t.prog("kin"), kind, 10)
    gdb = t.gdb(server, "monitor set engine uprobe", "catch exec",
                "break work if round >= 0", prog=t.prog("kin"), python="""
found = []
run("continue")
code = run("x/16xb work")
while alive():
    if run("x/16xb work") != code:
        found.append(run("x/16xb work"))
    if gdb.selected_frame().name() == "work":
        found.append(int(gdb.parse_and_eval("round")))
    run("continue")
emit(found=found, engines=run("monitor breakpoints"))
""")
    t.equal(gdb.results[0]["found"], list(range(10, -1, -1)), "stops, or changed text")


def test_the_program_runs_itself_anew(t):
    runs_itself_anew(t, "execs")


def test_another_thread_runs_it_anew(t):
    """The first thread, which tells of its end, ends before the call does."""
    runs_itself_anew(t, "relay")


def test_killed(t):
    """No thread that is to tell of its end waits for anybody then."""
    need_uprobes(t)
    for how in "while it runs", "while it is stopped", "by the client":
        many = Many(t, threads=4, rounds=100000000)
        many.client.monitor("set engine uprobe")
        many.insert(7, NEVER)
        many.client.send_bytes(many.client.frame("vCont;c"))
        harness.wait_for(lambda: len(os.listdir(f"/proc/{many.pid}/task")) == 4, "threads")
        if how != "while it runs":
            many.client.interrupt()
            t.match("^T02", many.client.receive().decode(), "a stop")
        if how == "by the client":
            t.equal(many.client.ask(f"vKill;{many.pid:x}"), "OK", "vKill")
            # The guard, whose child it is, hears of it as soon as the server does.
            harness.wait_for(lambda: harness.process_state(many.pid) is None,
                             "that nothing is left of the program")
            continue
        os.kill(many.pid, signal.SIGKILL)
        if how == "while it is stopped":
            harness.wait_for(lambda: harness.process_state(many.pid) in ("Z", None), "its end")
            many.client.send_bytes(many.client.frame("vCont;c"))
        t.match("^X09", many.client.receive().decode(), f"its end, killed {how}")


def test_killed_while_threads_are_made(t):
    """Each is new to the server, and in the text there is a pad to make."""
    need_uprobes(t)
    moments = random.Random(1)
    for _ in range(t.quick(20, 5)):
        many = Many(t, threads=4, rounds=100000000)
        many.client.monitor("set engine uprobe")
        many.insert(7, NEVER)
        many.client.send_bytes(many.client.frame("vCont;c"))
        threads = moments.choice((2, 3, 4))
        while len(os.listdir(f"/proc/{many.pid}/task")) < threads:
            pass
        time.sleep(moments.random() * 0.003)
        os.kill(many.pid, signal.SIGKILL)
        t.match("^X09", many.client.receive().decode(), "its end")


def cpu_time(t, rounds):
    """Seconds that the whole program has used, and changes of its text meanwhile."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    program = attached.Rounds(t, 2, rounds)
    changed = attached.changed_text(program.pid, program.path)
    t.equal(program.process.wait(), 0, "exit status")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, changed


def test_a_second_process_of_the_same_program(t):
    """It has no traps, and pays for none: a false hit is some hundred nanoseconds, a
    round of the program but a few."""
    need_uprobes(t)
    rounds = 5000000
    alone, _ = cpu_time(t, rounds)
    program = attached.Rounds(t, 2)
    session = attached.Session(t, program)
    session.client.monitor("set engine uprobe")
    for part in range(10):
        session.insert(0, part, NEVER)
    t.equal(set(engines(session.client.monitor("breakpoints"))), {"uprobe"}, "engines")
    session.go()
    beside, changed = cpu_time(t, rounds)
    t.equal(changed, [], "changes of the second process's text")
    harness.wait_for(lambda: len(attached.changed_text(program.pid, program.path)) >= 10,
                     "traps of the first")
    t.check(beside < 2 * alone, f"CPU time: {beside:.2f} s, alone {alone:.2f} s")
    t.note(f"CPU time: {beside:.2f} s, alone {alone:.2f} s")
