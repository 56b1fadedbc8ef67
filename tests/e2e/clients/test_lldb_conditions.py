# SPDX-License-Identifier: BSD-2-Clause
"""Conditions that truehit's extension for lldb hands over. What stops with it is what stops
without."""
import re
import sys

import harness
from lldb_conditions import Story, both
from test_lldb import LldbServer, find_lldb, find_lldb_server

sys.path.append(str(harness.ROOT / "tests" / "fuzz"))
import lldb_expressions
from expressions import conditions_of


def breakpoints(t, *pairs):
    """The Python that sets breakpoints: pairs of SOURCE/MARKER and condition."""
    return "".join("stop_at({!r}, {!r})\n".format(t.line(*place.split("/")), condition)
                   for place, condition in pairs)


def test_types(t):
    found = both(t, breakpoints(
        t, ("conditions.c/BODY", r"c == 73 || uc == '\x31'"),
        ("conditions.c/CALL", "g_s8 < -100 && g_u8 > 0x80"),
        ("conditions.c/CALL", "g_s16 % 7 == -3 || g_u64 >> 60 == 15u"),
        ("conditions.c/CALL", "g_bits.low == 5 && g_bits.high < 0 && g_bits.middle / 3 > 30"),
        ("conditions.c/CALL", "g_colour == 2 && g_bool && *g_pointer == -1"),
        ("conditions.c/CALL", "g_pointer == &g_array[3] && g_text[i % 16] != 98"),
        ("conditions.c/CALL", "(unsigned char)g_s32 == 7 || "
                              "(i ? g_s64 : 1) < -9000000000000000000"),
    ) + "decided()\nemit(stops=story())", decided=7)
    t.check(len(found[0]["stops"]) > 20, "stops")


def test_random_conditions(t):
    """As scripts/fuzz does at length."""
    t.truehit_only("the extension")
    t.need_x86()
    count = max(8, 16 // harness.PATIENCE)
    differences, ways, stops = lldb_expressions.try_batch(t, conditions_of("e2e", 0, count))
    t.note(f"{stops} stops; {dict(ways)}")
    t.equal(differences, [], "lists of stops that differ")
    t.check(ways["truehit"] > count // 2, "most are decided by truehit")


@harness.machines("main")
def test_decided_in_the_kernel(t):
    """All that is false never reaches lldb."""
    t.need_any_engine("the kernel's counts")
    t.need_x86()
    story = Story(t, f"stop_at('{t.line('loop.c', 'BODY')}', 'i == 1777 || i == 5000')\n"
                  "run('continue')\nemit(first=where())\nrun('continue')\nemit(second=where())\n"
                  "run('truehit breakpoints')\nrun('kill')", "loop", ("6000",), True)
    row, = harness.breakpoint_rows(story.output)
    t.counted(row, 4999, true=2)
    t.equal(story.verdicts(), {"1.1": None}, "who decides")


def test_optimised(t):
    """In registers, relative to the stack pointer, in an inlined function; and what is
    nowhere, or is calculated, lldb decides."""
    found = both(t, breakpoints(
        t, ("optimised.c/OUTER", "byte > 200 && node->key != 6 || local[2] == 13"),
        ("optimised.c/OUTER", "i % 9 == 4 && narrow < 0 && wide > -2000000000"),
        ("optimised.c/INLINED", "sum % 5 == 2"),
        ("optimised.c/MANY", "h < 50000000 && (unsigned int)g % 3 == 1"),
        ("optimised.c/OUTER", "twice == 24"),
        ("optimised.c/END OF OUTER", "node->next->flags == 252 && narrow % 4 == 1"),
    ) + "decided()\nemit(stops=story())", program="optimised", decided=3)
    t.check(len(found[0]["stops"]) > 10, "stops")


def test_at_a_branch(t):
    """The location that the program goes on from is at a call: what is handed over still
    holds after it."""
    t.need_x86()
    story = Story(t, r'''
run("breakpoint set -n main")
run("continue")
call = next(insn for insn in frame().GetFunction().GetInstructions(session.target)
            if insn.GetMnemonic(session.target).startswith("call")
            and "body" in insn.GetComment(session.target))
run("breakpoint delete 1")
address = call.GetAddress().GetLoadAddress(session.target)
run(f"breakpoint set -a {address:#x} -c 'i == 7 || i == 40'")
for _ in range(2):
    run("continue")
    emit(i=number(frame(), "i"))
run("truehit monitor breakpoints")
run("kill")
''', "conditions", (), True)
    t.equal([found["i"] for found in story.results], [7, 40], "stops")
    row = next(row for row in harness.breakpoint_rows(story.output) if row["hits"] > 2)
    t.equal([row["false"], row["true"]], [39, 2], "hits")


# ---- why lldb decides ----

def test_reasons(t):
    t.truehit_only("the extension")
    t.need_x86()
    line = t.line("conditions.c", "BODY")
    table = [
        ("next(3) == 1", "it calls a function"), ("i = 3", "= is not translated"),
        ("i++ == 3", r"\+\+ is not translated"), ("i == 1.5", "there is no name of a member"),
        ("i == 3 &&", "it ends too early"), ("(i == 3", r"there is no \)"),
        ("nowhere == 3", "nowhere is no variable that is known here"),
        ("$rax == 3", r"\$ is not translated"), ("g_bits", "a whole struct or union"),
        ("g_bits.none == 1", "there is no member none"), ("i->low", "what is no pointer"),
        ("g_pointer == 5", "a pointer is compared with a number"),
        ("g_pointer == &wide", "pointers of different types"), ("new == 3", "new is a word of C"),
        ("g_colour + 1 == 2", "an enum, which may have a sign or not"),
        ("sizeof(i) == 4", "sizeof is a word of C"), ("i / 0", "it divides by zero"),
        ("i == 99999999999999999999", "is too big"), ("i == 09", "09 is no integer"),
        ("i == 3 /* three */", "it has a comment"), ("stdout->_fileno == 1", "stdout"),
    ]
    story = Story(t, "".join(f"stop_at('{line}', {condition!r})\n" for condition, _ in table)
                  + "run('settings set target.expr-prefix /dev/null')\ndecided()\nemit(done=1)",
                  "conditions", (), True)
    t.equal(set(story.verdicts().values()), {"target.expr-prefix may give words another meaning"},
            "all")
    story = Story(t, "".join(f"stop_at('{line}', {condition!r})\ndecided()\n"
                             f"run('breakpoint delete {number}')\n"
                             for number, (condition, _) in enumerate(table, 1)) + "emit(done=1)",
                  "conditions", (), True)
    verdicts = story.verdicts()
    for number, (condition, reason) in enumerate(table, 1):
        t.match(reason, verdicts[f"{number}.1"] or "none", condition)


def test_said_at_the_first_continue(t):
    """Once, why lldb decides a condition."""
    t.need_x86()
    line = t.line("conditions.c", "BODY")
    story = Story(t, f"stop_at('{line}', 'i > 2 && (int)getpid() > 1')\nrun('continue')\n"
                  "run('continue')\nemit(i=number(frame(), 'i'))", "conditions", (), True)
    t.equal(story.results, [{"i": 4}], "the second stop")
    t.equal(len(re.findall(r"^lldb decides breakpoint 1\.1: it calls a function$", story.output,
                           re.M)), 1, "how often it is said")


# ---- what else lldb wants to stop for ----

# False where lldb has breakpoints of its own, so that the program would not be told of these.
FALSE = "g_text[0] == 122"


def test_step_into_a_function(t):
    """At its first line lldb may have a breakpoint of its own."""
    both(t, breakpoints(t, ("conditions.c/CALL", "i == 3")) + f'''
run("continue")
stop_at("body", {FALSE!r})
decided()
found = []
for step in ("step", "next", "finish", "step", "step", "next", "next", "next"):
    run(step)
    found.append([step, where(), hits()])
emit(found=found)
run("breakpoint delete 1")
emit(rest=story(3))
''', decided=2)


def test_step_out_to_a_place(t):
    """Where a function returns to, a step out has a breakpoint of its own."""
    both(t, breakpoints(t, ("conditions.c/BYTE", "i == 3")) + f'''
run("continue")
caller = session.stopped().GetFrameAtIndex(1).GetPC()
run(f"breakpoint set -a {{caller:#x}} -c {FALSE!r}")
found = []
for _ in range(3):
    run("thread step-out")
    found.append([where(), number(frame(), "i"), hits()])
    run("breakpoint modify 1 -c 'i % 5 == 4'")
    run("continue")
    found.append([where(), number(frame(), "i"), hits()])
decided()
emit(found=found)
''')


def test_step_that_is_not_finished(t):
    """A step over a function meets a breakpoint in there: `continue` goes on with it. So no
    condition holds meanwhile, also not where the step ends."""
    found = both(t, breakpoints(t, ("conditions.c/CALL", "i == 3"),
                                ("conditions.c/BODY", "i == 3 || i == 7")) + f'''
run("continue")
pc = frame().GetPC()
run("next")
emit(inside=where(), hits=hits())
text = run("continue")
emit(said="a step is not finished" in text or not CONFIG["script"], after=where(), hits=hits())
run("continue")
emit(after=where(), hits=hits(), i=number(frame(), "i"))
''')
    t.check(found[1]["said"], "the reason is told")


def test_until(t):
    both(t, breakpoints(t, ("conditions.c/BYTE", "i == 5"), ("conditions.c/BODY", FALSE)) + f'''
run("continue")
run("thread until {t.line('conditions.c', 'BODY').partition(':')[2]}")
emit(where=where(), hits=hits())
emit(rest=story(3))
''')


def test_calls_of_functions(t):
    """A function that an expression calls passes the place: lldb ignores that."""
    both(t, breakpoints(t, ("conditions.c/CALL", "i == 3 || i == 9"),
                        ("conditions.c/BODY", "i == 4 || i == 77")) + '''
found = []
for _ in range(4):
    run("continue")
    found.append([where(), number(frame(), "body(77, 2, 3)"), number(frame(), "i"), hits()])
emit(found=found)
''', decided=None)


# ---- breakpoints that change ----

def test_others_at_the_address(t):
    found = both(t, breakpoints(t, ("conditions.c/BODY", "i == 3")) + f'''
run("continue")
first = [where(), hits()]
place = {t.line("conditions.c", "BODY")!r}
stop_at(place, "i % 10 == 2")
decided()
run("continue")
second = [where(), hits(), number(frame(), "i")]
stop_at(place)
decided()
run("continue")
third = [where(), hits(), number(frame(), "i")]
run("breakpoint disable 3")
run("continue")
fourth = [where(), hits(), number(frame(), "i")]
run("breakpoint enable 3")
run("breakpoint delete 2")
run("continue")
fifth = [where(), hits(), number(frame(), "i")]
run("breakpoint delete 3")
emit(first=first, second=second, third=third, fourth=fourth, fifth=fifth, rest=story(5))
''')
    t.equal([found[0][name][2] for name in ("second", "third", "fourth", "fifth")],
            [12, 13, 22, 23], "where it stops")


def test_changed_conditions(t):
    """By commands and by scripts, between a stop and the next continue. (From 21 on lldb goes on
    with the former condition.)"""
    both(t, breakpoints(t, ("conditions.c/BODY", "i == 3")) + '''
run("continue")
found = [hits()]
run("breakpoint modify 1 -c 'i == 6'")
story_of = [story(2)]
breakpoint = session.target.GetBreakpointAtIndex(0)
breakpoint.SetCondition("i == 31 || i == 9")
story_of.append(story(2))
emit(found=found, story_of=story_of)
''')


def test_scripts_that_resume(t):
    """SBProcess.Continue() and `process continue` do not hand anything over; nor does what was
    handed over hold."""
    line = t.line("conditions.c", "BODY").partition(":")[2]
    both(t, breakpoints(t, ("conditions.c/BODY", "i == 3 || i == 8")) + f'''
run("continue")
found = [[where(), number(frame(), "i")]]
session.target.GetBreakpointAtIndex(0).SetEnabled(False)
second = session.target.BreakpointCreateByLocation("conditions.c", {line})
second.SetCondition("i == 5 || i == 7 || i == 10")
session.process.Continue()
found.append([where(), number(frame(), "i"), hits()])
run("process continue")
found.append([where(), number(frame(), "i"), hits()])
run("continue")
found.append([where(), number(frame(), "i"), hits()])
emit(found=found)
''')


def test_commands_of_breakpoints(t):
    """They may change conditions, and resume the program: with them nothing is handed over."""
    found = both(t, breakpoints(t, ("conditions.c/BODY", "i == 6 || i == 20"),
                                ("conditions.c/CALL", "i == 4")) + '''
run("breakpoint command add 2 -o 'breakpoint modify 1 -c \\"i == 11\\"' -o 'thread step-out'")
text = run("continue")
emit(said="the commands of breakpoint 2.1 may change all" in text or not CONFIG["script"],
     where=where(), hits=hits())
run("breakpoint command delete 2")
run("breakpoint delete 2")
emit(rest=story(3))
''')
    t.check(found[0]["said"], "the reason is told")


def test_one_shot_and_ignored(t):
    both(t, breakpoints(t, ("conditions.c/BODY", "i == 6 || i == 20")) + f'''
stop_at({t.line("conditions.c", "CALL")!r}, "i > 10", "-o true")
run("breakpoint modify 1 -i 1")
decided()
emit(stops=story(4))
''', decided=0)


def test_changes_while_it_runs(t):
    """In asynchronous mode the user can change breakpoints of a running program; what was handed
    over holds no longer then."""
    t.truehit_only("the extension")
    t.need_x86()
    line = t.line("threads.c", "BODY")
    story = Story(t, f'''
first = stop_at({line!r}, "i < 0")
session.debugger.SetAsync(True)
run("continue")
session.wait(lldb.eStateRunning)
emit(state=session.state())
second = stop_at({line!r}, "i >= 0")
session.wait(lldb.eStateStopped)
emit(at=[line(thread.GetFrameAtIndex(0)) for thread in at_breakpoints()][:1])
run("breakpoint delete 2")
run("continue")
session.wait(lldb.eStateRunning)
session.target.GetBreakpointAtIndex(0).SetEnabled(False)
third = stop_at({line!r})
# A hit that lldb is about to decide itself, while its breakpoint goes, stops for no reason.
for _ in range(5):
    session.wait(lldb.eStateStopped)
    if at_breakpoints():
        break
    run("continue")
    session.wait(lldb.eStateRunning)
emit(at=[line(thread.GetFrameAtIndex(0)) for thread in at_breakpoints()][:1])
session.debugger.SetAsync(False)
run("kill")
''', "threads", ("2", "1000000000"), True)
    at = [int(line.partition(":")[2])]
    t.equal(story.results, [{"state": "running"}, {"at": at}, {"at": at}], "stops")


# ---- programs ----

def test_threads(t):
    results = both(t, f'''
stop_at({t.line("threads.c", "BODY")!r}, "i % 1000 == 7 && i < 3000")
decided()
found = []
for _ in range(6):
    run("continue")
    # lldb calls it a breakpoint, too, where another thread's condition is false.
    found += [i for thread in at_breakpoints()
              if (i := number(thread.GetFrameAtIndex(0), "i")) % 1000 == 7]
    if len(found) == 6:
        break
emit(found=sorted(found), hits=hits())
run("kill")
''', program="threads", arguments=("2", "1000000000"), decided=1)
    t.equal(results[0]["found"], [7, 7, 1007, 1007, 2007, 2007], "stops")


def test_memory_that_is_not_there(t):
    """An error is a stop. (lldb 14 has another one at the next hit after it, which it could
    evaluate.)"""
    t.need_x86()
    story = Story(t, breakpoints(t, ("conditions.c/CALL", "*(int *)(i == 5 ? 16l : "
                                     "(long)g_pointer) == 77"))
                  + "decided()\nrun('continue')\nemit(i=number(frame(), 'i'))\n"
                  "run('continue')\nemit(state=session.state())", "conditions", (), True)
    t.equal(story.results, [{"i": 5}, {"state": "exited"}], "stops")
    t.match("rror evaluating condition", story.output)
    t.equal(story.verdicts(), {"1.1": None}, "who decides")


def test_fork(t):
    both(t, breakpoints(t, ("crew.c/REAPED", "status != 0")) + "decided()\nemit(stops=story(3))",
         program="crew", arguments=("fork",), decided=1)


def test_exec(t):
    """What was handed over is forgotten, and handed over anew. (lldb 14 breaks down if it has
    evaluated a condition before an exec, and does it once more after that.)"""
    t.need_x86()
    story = Story(t, breakpoints(t, ("crew.c/MAIN", "argc == 3"))
                  + "emit(stops=[stop[0] for stop in story(4)])", "crew", ("exec",), True)
    line = int(t.line("crew.c", "MAIN").partition(":")[2])
    t.equal([stop if stop == "exited" else stop[2] for stop in story.results[0]["stops"]],
            ["exec", "breakpoint", "exited"], "stops")
    t.equal(story.results[0]["stops"][1][:2], ["main", line], "where")


def test_other_servers(t):
    """They see one packet that they do not know."""
    t.truehit_only("the extension")
    lldb_server = find_lldb_server(find_lldb(t)[0])
    if not lldb_server:
        t.skip("lldb-server is not installed")
    port = LldbServer(t, lldb_server, ["--", t.prog("conditions")]).port
    story = Story(t, breakpoints(t, ("conditions.c/BODY", "i == 3"))
                  + "run('continue')\nemit(i=number(frame(), 'i'))\nrun('truehit breakpoints')\n"
                  "run('kill')", "conditions", (), True, port)
    t.equal(story.results, [{"i": 3}], "the stop")
    t.match("there is no process that truehit serves", story.output)
