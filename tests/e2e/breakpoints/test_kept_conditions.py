# SPDX-License-Identifier: BSD-2-Clause
"""Conditions of breakpoints that gdb keeps to itself, of which its extension translates
some: character literals, $_inferior and $_thread. What stops with it is what stops
without."""
import re

import harness
from test_extension import SCRIPT
from test_protocol import start, symbol

DECIDED = r"^truehit decides breakpoint \d+, which gdb could not translate$"
HELPERS = """
import re
def story(command="continue", limit=70):
    '''Every stop to the end: where, in which thread, and the counts of gdb's.'''
    found = []
    for _ in range(limit):
        run(command)
        if not alive():
            break
        found.append([gdb.selected_frame().name(), gdb.find_pc_line(
                          gdb.selected_frame().pc()).line, gdb.selected_thread().num,
                      [b.hit_count for b in gdb.breakpoints()]])
    return found
def decided():
    '''What is said of conditions, where there is something to say.'''
    text = run("truehit breakpoints")
    if "Undefined" not in text:
        gdb.write("\\n" + text)
"""


def both(t, commands, python, program="conditions", arguments=(), decided=1):
    """The results of the same session with the extension and without. In the former,
    decided() shows that truehit decides so many conditions that gdb could not
    translate."""
    results = []
    for extended in (True, False):
        server = t.server("COMM", t.prog(program), *arguments)
        gdb = t.gdb(server, *commands, prog=t.prog(program), python=HELPERS + python,
                    first=[f"source {SCRIPT}"] if extended else [])
        if extended:
            t.equal(len(set(re.findall(DECIDED, gdb.output(), re.M))), decided,
                    "conditions that truehit decides")
        results.append(gdb.results)
    t.equal(results[0], results[1], "results with the extension and without")
    return results[0]


@harness.machines("main")
def test_characters(t):
    t.truehit_only("the extension")
    found = both(t, ["break main", "continue", "delete",
                     f"break {t.line('conditions.c', 'BODY')} if "
                     r"c == 'I' || c == '\\' || c == '\200' || uc == '\x31'",
                     "break body if g_text[0] == 'a' && bits % 3 == 0"],
                 "first = story(limit=5)\ndecided()\nemit(first=first, rest=story())",
                 decided=2)
    t.check(len(found[0]["first"]) == 5 and len(found[0]["rest"]) > 5, "stops")


def test_other_types(t):
    """Literals are of the types that they have in gdb."""
    t.truehit_only("the extension")
    both(t, ["break main", "continue", "delete", "break body if sizeof('a') == 1 && i == 3",
             "break body if L'I' == bits % 256", "break body if u'I' == 73 && i == 9",
             "break body if '\\377' == c - 16 || '\\377' < 0 && i == 20"],
         "run('continue')\ndecided()\nemit(rest=story())", decided=4)


def test_inferior(t):
    t.truehit_only("the extension")
    both(t, ["break main", "continue", "delete", "break body if $_inferior == 1 && i % 7 == 3",
             "break body if $_inferior == 2"],
         "run('continue')\ndecided()\nemit(rest=story())", decided=2)


def test_decided_in_the_kernel(t):
    """All that is false never reaches gdb, of several threads either."""
    t.truehit_only("the extension")
    t.need_any_engine("the kernel's counts")
    server = t.server("COMM", t.prog("threads"), "4", "300")
    gdb = t.gdb(server, f"break {t.line('threads.c', 'BODY')}", "continue", "delete",
                f"break {t.line('threads.c', 'BODY')} if $_thread == 3 && i == 299",
                "continue", "monitor breakpoints", "info threads", prog=t.prog("threads"),
                first=[f"source {SCRIPT}"],
                python="emit(thread=gdb.selected_thread().num, i=value('i'))\nrun('kill')")
    t.equal(gdb.results, [{"thread": 3, "i": "299"}], "the stop")
    row = next(row for row in harness.breakpoint_rows(gdb.output())
               if "$tid ==" in row["text"])
    t.equal(row["true"], 1, "true hits")
    t.check(row["false"] >= 299, f"false hits: {row}")


def test_thread(t):
    t.truehit_only("the extension")
    results = both(t, ["break worker", "continue", "delete", "set scheduler-locking off",
                       f"break {t.line('threads.c', 'BODY')} if "
                       "i % 100 == 7 && i < 300 && ($_thread == 3) && 1 == $_inferior",
                       f"break {t.line('threads.c', 'BODY')} if 2 == $_thread && i == 50"], """
stops = []
for i in range(4):
    run("continue")
    stops.append([gdb.selected_thread().num, value("i")])
decided()
emit(stops=sorted(stops))
run("kill")
""", program="threads", arguments=("3", "1000000000"), decided=2)  # which lasts
    t.equal(results[0]["stops"], [[2, "50"], [3, "107"], [3, "207"], [3, "7"]], "stops")


def test_threads_that_are_not_known(t):
    """One that is yet to come may be thread 9 one day."""
    t.truehit_only("the extension")
    line = t.line("threads.c", "BODY")
    server = t.server("COMM", t.prog("threads"), "4", "30")
    gdb = t.gdb(server, "break main", "continue",
                f"break {line} if $_thread == 3 && i == 7", f"break {line} if $_thread != 1 "
                "&& i == 900", f"break {line} if i == 901 || $_thread == 1",
                f"break {line} if $_thread", "truehit breakpoints", "disable 5", "continue",
                "truehit breakpoints", prog=t.prog("threads"), first=[f"source {SCRIPT}"],
                python="emit(thread=gdb.selected_thread().num, i=value('i'))\nrun('kill')")
    t.equal(gdb.results, [{"thread": 3, "i": "7"}], "the stop")
    t.match(r"^gdb decides breakpoint 2: there is no thread 3 yet$", gdb.output())
    t.match(r"^gdb decides breakpoint 3: \$_thread is translated as", gdb.output())


# ---- gdb's own breakpoints at the same address ----

# False where gdb's own breakpoint is, so that the program is not told of it.
FALSE = "g_text[0] == 'z'"


def test_step_into_a_function(t):
    """At its first line gdb has a breakpoint of its own."""
    t.truehit_only("the extension")
    both(t, ["break main", "continue", "delete",
             f"break {t.line('conditions.c', 'CALL')} if i == 3", "continue",
             f"break body if {FALSE}"],
         """
found = []
for step in "step", "step", "finish", "step", "step", "step":
    run(step)
    found.append([step, gdb.selected_frame().name(),
                  gdb.find_pc_line(gdb.selected_frame().pc()).line])
decided()
emit(found=found)
run("delete 2")
emit(rest=story())
""", decided=1)


def test_finish_and_others(t):
    """Where they end, gdb has a breakpoint of its own when the program is resumed, or puts
    it in on the way."""
    t.truehit_only("the extension")
    call = t.line("conditions.c", "CALL")
    results = both(t, ["break main", "continue", "delete", f"break {call} if i == 3",
                       "continue", "delete", "tbreak body", "continue",
                       "python RETURN = int(gdb.newest_frame().older().pc())"], f"""
def here():
    frame = gdb.selected_frame()
    return [frame.name(), gdb.find_pc_line(frame.pc()).line, frame.pc() - RETURN]
found = []
run("python gdb.Breakpoint('*%d' % RETURN)")
gdb.breakpoints()[-1].condition = "{FALSE}"
run("break {call} if {FALSE}")
for step in ("finish", "advance body", "up 1", "finish", "until {call}", "tbreak body",
             "continue", "until {call}", "next", "next", "next", "stepi 40", "tbreak body",
             "continue", "return", "next"):
    run(step)
    found.append([step, here()])
decided()
emit(found=found)
""", decided=2)
    t.check(len({str(row[1]) for row in results[0]["found"]}) > 4, "several places")


def test_next_over_a_function(t):
    """It returns to where a breakpoint is."""
    t.truehit_only("the extension")
    call = t.line("conditions.c", "CALL")
    both(t, ["break main", "continue", "delete", f"break {call} if i == 3", "continue",
             "delete", "tbreak body", "continue",
             "python RETURN = int(gdb.newest_frame().older().pc())", f"tbreak {call}",
             "continue"], f"""
run("python gdb.Breakpoint('*%d' % RETURN)")
gdb.breakpoints()[-1].condition = "{FALSE}"
found = []
for step in ["next"] * 3 + ["step"] * 3 + ["next"] * 4 + ["stepi", "nexti"] * 20:
    run(step)
    found.append([step, gdb.selected_frame().name(), gdb.selected_frame().pc() - RETURN])
decided()
emit(found=found)
""", decided=1)


def test_calls_of_functions(t):
    """A call by the user hits as the program does."""
    t.truehit_only("the extension")
    both(t, ["break main", "continue", "delete", "break body if c == 'I' || i == 5",
             f"break {t.line('conditions.c', 'BODY')} if n == 5 && '0' == 48", "continue"], """
found = []
for call in "print body(1, 2, 3)", "print body(5, 2, 3)", "print body(1, 2, 305)":
    text = run(call)
    found.append([call, "breakpoint" in text, gdb.selected_frame().name()])
    run("finish")
    found.append(gdb.selected_frame().name())
decided()
emit(found=found, rest=story())
""", decided=2)


# ---- changes ----

def test_changes(t):
    """Conditions that are replaced, taken away and come back; others at the address."""
    t.truehit_only("the extension")
    results = both(t, ["break main", "continue", "delete"], """
def go(*commands):
    for command in commands:
        run(command)
    run("continue")
    return [value("i"), [b.number for b in gdb.breakpoints() if b.hit_count]]
found = [go("break body if g_text[0] == 'a' && i == 2"),
         go("condition 2 g_text[0] == 'a' && i == 4"),
         go("condition 2"), go("condition 2 g_text[1] == 'b' && i % 9 == 0"),
         go("break body if g_text[0] == 'z'"), go("tbreak body"),
         go("break body", "disable 2"), go("disable 5", "enable 2", "ignore 2 1"),
         go("hbreak body if 'a' == 'b'", "delete 6"), go("delete 2", "break body if i == 55")]
decided()
emit(found=found, rest=story())
""", decided=2)
    t.equal([row[0] for row in results[0]["found"]],
            ["2", "4", "5", "9", "18", "19", "20", "36", "45", "55"], "stops")


def test_always_inserted(t):
    """gdb has no reason to put a breakpoint in again when its condition changes."""
    t.truehit_only("the extension")
    both(t, ["set breakpoint always-inserted on", "break main", "continue", "delete",
             "break body if g_text[0] == 'a' && i == 3", "continue",
             "condition 2 g_text[0] == 'a' && i == 9"], """
emit(first=value("i"))
run("continue")
decided()
emit(second=value("i"))
run("next")
emit(rest=story())
""")


def test_fork(t):
    """What is thread 1 in the child is another thread of the system's."""
    t.truehit_only("the extension")
    for mode in "child", "parent":
        both(t, ["break main", "continue", "delete", f"set follow-fork-mode {mode}",
                 "break body if $_thread == 1 && calls % 3 == 1", "tbreak fork", "continue"], """
stops = []
for _ in range(9):
    run("continue")
    if not alive():
        break
    stops.append([gdb.selected_frame().name(), value("calls")])
emit(stops=stops)
""", program="fork", decided=0)


# ---- what is told ----

def test_reasons(t):
    t.truehit_only("the extension")
    reasons = {
        "(double) i > 2.5": "gdb cannot translate floating point",
        "body(1, 2, 3) == 5": "it calls a function",
        "$_streq(g_text, \"x\")": "it calls a function",
        "g_text == \"x\"": "gdb cannot translate strings",
        "$_exitcode == 1": r"gdb cannot translate \$_exitcode",
        "$_thread > 2": r"\$_thread is translated as",
        "$_thread == 7": "there is no thread 7 yet",
    }
    server = t.server("COMM", t.prog("conditions"))
    gdb = t.gdb(server, "break main", "continue",
                *(command for number, text in enumerate(reasons, 2) for command in (
                    f"break {t.line('conditions.c', 'BYTE')} if {text}",
                    "truehit breakpoints", f"delete {number}")),
                "set breakpoint condition-evaluation host", "break body if i == 3",
                "truehit breakpoints", "set breakpoint condition-evaluation auto",
                "break body", "break *body if c == 'x'", "delete 9",
                "truehit breakpoints", "kill", prog=t.prog("conditions"),
                first=[f"source {SCRIPT}"])
    for number, (text, why) in enumerate(reasons.items(), 2):
        t.match(rf"^gdb decides breakpoint {number}: {why}", gdb.output(), text)
    t.match("^gdb decides breakpoint 9: breakpoint condition-evaluation is host$", gdb.output())
    t.match("^gdb decides breakpoint 11: it reads local variables where no line begins$",
            gdb.output())


def test_where_it_is_not_certain(t):
    """Another breakpoint at the address has no condition, or one that stays with gdb."""
    t.truehit_only("the extension")
    server = t.server("COMM", t.prog("conditions"))
    gdb = t.gdb(server, "break main", "continue", "break body if g_text[0] == 'a' && i == 5",
                "break body if (double) i == 3", "continue", "truehit breakpoints",
                "delete 3", "dprintf body,\"%d\\n\", i", "continue", "truehit breakpoints",
                prog=t.prog("conditions"), first=[f"source {SCRIPT}"],
                python="emit(i=value('i'))\nrun('kill')")
    t.equal(gdb.results, [{"i": "5"}], "the stop")
    t.match("^gdb decides breakpoint 2: gdb cannot translate floating point$", gdb.output())
    t.match("^gdb decides breakpoint 2: gdb has another breakpoint at the same address$",
            gdb.output())


def test_registers_in_raw_packets(t):
    """The number of the thread, and conditions that hold only when they are announced."""
    _, client = start(t, "conditions")
    body = symbol(t, "conditions", "body")
    tid = int(client.ask("qC").split(".")[-1].replace("QC", ""), 16)
    code = f"26ffff24{tid + 1:08x}1327"
    t.equal(client.ask(f"QTruehit.WatchCondition:0,{body:x},1;X{len(code) // 2:x},{code}"),
            "OK", "the condition")
    client.ask(f"Z0,{body:x},1")
    t.match(r"^Condition: gdb sent no condition$", client.monitor("explain body"))
    t.equal(client.ask("QTruehit.WatchCondition:resume"), "OK", "the announcement")
    t.match(rf"^Condition: \$tid == {tid + 1}$", client.monitor("explain body"))
    t.match("^[WX]00", client.ask("vCont;c"), "no hit is true")
