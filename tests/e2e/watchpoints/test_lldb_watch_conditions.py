# SPDX-License-Identifier: BSD-2-Clause
"""Conditions of watchpoints that truehit's extension for lldb hands over. What stops with it is
what stops without."""
import re

from lldb_conditions import Story, both


def watch(variable, condition, *options):
    """The Python that sets the next watchpoint."""
    return f"""
run("watchpoint set variable {' '.join(options)} {variable}")
watchpoint = session.target.GetWatchpointAtIndex(session.target.GetNumWatchpoints() - 1)
watchpoint.SetCondition({condition!r})
"""


# Every stop to the end, with what lldb shows of the values. (lldb 14 counts hits, too, at which
# the condition is false: that it cannot, if it does not hear of them.)
STOPS = """
import re
found = []
for _ in range(12):
    text = run("continue")
    found.append([where(), number(frame(), "counter") if alive() else 0,
                  re.findall("(?:old|new) value: .*", text)])
    if not alive():
        break
decided()
emit(found=found)
"""


def test_conditions(t):
    t.need_breakpoint_registers()
    t.need_steps_over_watched()
    found = both(t, watch("counter", "counter == 50 || counter % 77 == 3 && flag == 0") + STOPS,
                 program="loop", arguments=("300",))
    t.equal([stop[1] for stop in found[0]["found"]], [3, 50, 80, 157, 234, 0], "stops")


def test_decided_in_the_kernel(t):
    t.need_any_engine("the kernel's counts")
    t.need_x86()
    t.need_breakpoint_registers()
    story = Story(t, watch("counter", "counter == 40000") + """
run("continue")
emit(counter=number(frame(), "counter"))
run("truehit breakpoints")
watchpoint.SetCondition("counter == 40003")
run("continue")
emit(counter=number(frame(), "counter"))
""", "loop", ("50000",), True)
    t.equal(story.results, [{"counter": 40000}, {"counter": 40003}], "stops")
    t.match(r"^truehit decides watchpoint 1$", story.output)


def test_reasons(t):
    """Which stay with lldb, and why."""
    t.truehit_only("the extension")
    t.need_x86()
    t.need_breakpoint_registers()
    table = [("i == 3", "i is no global variable"), ("start == 3", "start is no global variable"),
             ("counter == getpid()", "it calls a function"), ("1 == 2", "it has no variables"),
             ("(unknown)counter == 3", "counter is not translated")]
    python = watch("counter", "counter == 3")
    for condition, _ in table:
        python += f"watchpoint.SetCondition({condition!r})\ndecided()\n"
    python += """
watchpoint.SetCondition("counter == 3")
decided()
run("watchpoint ignore -i 3 1")
decided()
run("watchpoint ignore -i 0 1")
run("watchpoint command add -o 'watchpoint list' 1")
decided()
run("watchpoint delete 1")
run("watchpoint set variable -w read_write counter")
session.target.GetWatchpointAtIndex(0).SetCondition("counter == 3")
decided()
emit(done=1)
"""
    story = Story(t, python, "loop", ("50",), True)
    said = re.findall(r"^(?:truehit|lldb) decides watchpoint \d+(?:: (.*))?$", story.output, re.M)
    wanted = [reason for _, reason in table] + [
        "", "it ignores some hits",
        "the commands of watchpoint 1 may change all", "it is not for writes alone"]
    t.equal(len(said), len(wanted), f"reasons: {said}")
    for found, reason in zip(said, wanted):
        t.match(f"^{re.escape(reason)}", found)


def test_names_of_local_variables(t):
    """A name that is a local variable's in another function may be that one's there."""
    t.need_breakpoint_registers()
    both(t, watch("global", "global == 8 && local == 1") + """
decided()
emit(done=1)
""", program="calls")
    story = Story(t, watch("global", "text[0] == 111 && result == 3") + "decided()\nemit(done=1)",
                  "calls", (), True)
    t.match("lldb decides watchpoint 1: result is no global variable", story.output)


def test_steps_see_all(t):
    """While lldb steps, and when a script resumes the program, nothing that was handed over
    holds."""
    t.need_breakpoint_registers()
    t.need_steps_over_watched()
    both(t, watch("counter", "counter == 5") + f'''
stop_at({t.line("loop.c", "BODY")!r}, "i == 7")
run("continue")
found = [[where(), number(frame(), "counter")]]
watchpoint.SetCondition("counter == 6 || counter == 9")
session.process.Continue()
found.append([where(), number(frame(), "counter")])
run("continue")
found.append([where(), number(frame(), "counter")])
watchpoint.SetCondition("counter == 8")
for step in ("next", "next", "next"):
    run(step)
    found.append([where(), number(frame(), "counter")])
emit(found=found)
''', program="loop", arguments=("50",))
