# SPDX-License-Identifier: BSD-2-Clause
"""Writes by system calls into watched memory: the thread stops where the call returns."""
import re

import harness
import rsp
from test_protocol import symbol

PROG = "calls_write"

# One stop for the test: is it at the return of a call, made by which function?
FOLLOW = """
def place():
    call = "syscall" in run("x/i $pc - 2")
    frame = gdb.newest_frame()
    while frame and not str(frame.find_sal().symtab).endswith("calls_write.c"):
        frame = frame.older()
    return call, frame.name() if frame else None

def follow(command="continue", limit=40):
    found = []
    while len(found) < limit:
        events.stop = None
        run(command)
        if not alive():
            break
        if isinstance(events.stop, gdb.BreakpointEvent):
            found.append(place())
    return found
"""


def follow(t, start, *commands, python="emit(stops=follow())", args=()):
    """From START on, with the commands; what the Python has emitted, and the old and
    new values that gdb has shown."""
    t.need_x86()
    t.need_kernel_conditions()
    server = t.server("COMM", t.prog(PROG), *args)
    gdb = t.gdb(server, "handle SIGUSR1 nostop noprint pass", f"break {start}", "continue",
                "delete", *commands, prog=t.prog(PROG), python=FOLLOW + python)
    values = re.findall(r"Old value = (\S+).*\nNew value = (\S+)", gdb.output())
    return gdb.results[-1], values


def calls(stops):
    return [call for call, _ in stops]


INTS = [("0", "1111"), ("1111", "2222"), ("2222", "3333"), ("3333", "5"), ("5", "5555"),
        ("5555", "6666")]


def test_an_int(t):
    """read, readv, recv and ioctl; a call that writes what is there already is no stop."""
    got, values = follow(t, "fill_number", "watch number")
    t.equal(values, INTS, "old and new values")
    t.equal(calls(got["stops"]), [True] * 4 + [False] * 2, "at the return of a call?")


def test_parts(t):
    """The middle of a buffer, and fields of structs."""
    got, values = follow(t, t.line(f"{PROG}.c", "STRUCTS"), "watch buffer[30]",
                         "watch status.st_mode", "watch now.tv_nsec",
                         python="emit(stops=follow(limit=3))")
    t.equal(got["stops"], [[True, "fill_structs"]] * 3, "stops")
    t.equal(values[0], ("0", "69"), "the byte")


def test_switched_off(t):
    """gdb tells of what calls have written at the program's own next write."""
    got, values = follow(t, "fill_number", "watch number", python="""
off = run("monitor set watch-kernel off")
first = follow(limit=1)
engines, table = run("monitor engines"), run("monitor breakpoints")
emit(stops=first + follow(), off=off, engines=engines, table=table)
""")
    t.equal(values, [("0", "5555"), ("5555", "6666")], "old and new values")
    t.equal(calls(got["stops"]), [False, False], "at the return of a call?")
    t.match("are no hits of watchpoints: switched off", got["engines"], "monitor engines")
    t.match("no hits by writes of system calls: switched off", got["table"], "monitor breakpoints")


def test_switched_in_place(t):
    """Both ways, with a location that gdb never takes out; its counts stay."""
    got, values = follow(t, "fill_number", "set breakpoint always-inserted on",
                         "watch number", python="""
first = follow(limit=1)
run("monitor set watch-kernel off")
run("tbreak %s")
second = follow(limit=2)
run("monitor set watch-kernel on")
run("tbreak %s")
emit(stops=first + second + follow(limit=1), table=run("monitor breakpoints"))
""" % (t.line(f"{PROG}.c", "WAIT"), t.line(f"{PROG}.c", "WAIT")))
    t.note(got["table"])
    t.equal(values[:2], [("0", "1111"), ("1111", "5555")], "old and new values")
    t.equal(calls(got["stops"])[:2], [True, False], "at the return of a call?")


def wait_all(t, *args):
    got, values = follow(t, "receive_all", "watch buffer[0]",
                         python="""
stops = follow(limit=1)
run("delete")
run("tbreak %s")
run("continue")
emit(stops=stops, received=value("wide"))
""" % t.line(f"{PROG}.c", "RECEIVED"), args=args)
    t.equal(got["stops"], [[True, "receive_all"]], "stops")
    return int(got["received"])


def test_a_call_that_waits(t):
    """The hit does not cut it off: the program gets all that it asks for."""
    received = wait_all(t)
    if received == 4 and harness.kernel_release() < (6, 11):
        t.skip("before Linux 6.11, the SIGTRAP of an event is sent at once, which ends the call")
    t.equal(received, 8, "bytes received")


def test_a_call_that_waits_with_sigtrap_blocked(t):
    """The SIGSTOP does, as every signal would."""
    t.check(wait_all(t, "blocked") in (4, 8), "bytes received")


def test_sigtrap_blocked(t):
    got, values = follow(t, "fill_number", "watch number", args=["blocked"],
                         python="emit(stops=follow(limit=6))")
    t.equal(values, INTS, "old and new values")
    t.equal(calls(got["stops"]), [True] * 4 + [False] * 2, "at the return of a call?")


def test_steps(t):
    """A step over a call ends as the hit."""
    got, values = follow(t, "fill_number", "watch number",
                         python="emit(stops=follow('stepi', limit=4))")
    t.equal(values, INTS[:4], "old and new values")
    t.equal(calls(got["stops"]), [True] * 4, "at the return of a call?")


def test_catchpoints(t):
    """A call's return is told first, then what the call has written."""
    got, values = follow(t, "fill_number", "watch number", "catch syscall read", python="""
found = []
for _ in range(3):
    run("continue")
    found.append([b.number for b in events.stop.breakpoints] + [value("number")])
emit(stops=found)
""")
    t.equal(got["stops"], [[3, "0"], [3, "1111"], [2, "1111"]], "stops")
    t.equal(values, INTS[:1], "old and new values")


def test_signal_frames(t):
    """The frame of a handler is written by the kernel: the thread is about to run it."""
    got, values = follow(t, t.line(f"{PROG}.c", "SIGNAL"), "watch *below", python="""
run("continue")
emit(function=gdb.newest_frame().name(), first=value("$pc == (long)&on_signal"))
""")
    t.equal(got, {"function": "on_signal", "first": "1"}, "the stop")
    t.equal(len(values), 1, "values shown")


# $rax == 4; and the int at %x == 2222, in gdb's bytecode
RAX_IS_4, NUMBER_IS_2222 = "26000022041327", "25%016x192308ae1327"


def raw_condition(t, bytecode):
    """gdb sends no condition of a watchpoint by itself. The numbers at the stops,
    the row of `monitor breakpoints`, and `monitor last-hit`."""
    t.need_x86()
    t.need_kernel_conditions()
    address = symbol(t, PROG, "number")
    code = bytecode % address if "%" in bytecode else bytecode
    client = rsp.Client(t.server("COMM", t.prog(PROG)))
    t.equal(client.ask(f"Z1,{symbol(t, PROG, 'fill_number'):x},1"), "OK", "Z1")
    t.match("^T05", client.ask("vCont;c"), "the stop in fill_number")
    t.equal(client.ask(f"Z2,{address:x},4;X{len(code) // 2:x},{code}"), "OK", "Z2")
    values = []
    while "watch:" in client.ask("vCont;c") and len(values) < 2:
        values.append(int.from_bytes(bytes.fromhex(client.ask(f"m{address:x},4")), "little"))
        rows = harness.breakpoint_rows(client.monitor("breakpoints"))
        last = client.monitor("last-hit")
    client.close()
    return values, next(row for row in rows if " watch " in row["text"]), last


def test_condition_on_a_register(t):
    """It sees the thread's own at the return of the call: what the call returns."""
    values, row, _ = raw_condition(t, RAX_IS_4)
    t.equal(values, [1111, 3333], "the number at the stops")
    t.check(row["maybe"] >= 4, f"hits left to the stub: {row['maybe']}")


def test_values_in_between(t):
    """The pieces that a call copies make one hit, with the values before and after it."""
    values, row, last = raw_condition(t, NUMBER_IS_2222)
    t.equal(values, [2222], "the number at the stops")
    t.equal(row["true"], 1, "true hits")
    t.match(r"old +0x00000457 = 1111$", last, "monitor last-hit")
    t.match(r"new +0x000008ae = 2222$", last, "monitor last-hit")


def test_workers_of_io_uring(t):
    """They are threads that nobody can stop: a signal to one would stop the process for
    good. What they write is told at the next write."""
    t.need_kernel_conditions()
    server = t.server("COMM", t.prog("uring"))
    gdb = t.gdb(server, f"break {t.line('uring.c', 'START')}", "continue", "delete",
                "watch number", prog=t.prog("uring"), python="""
run("continue")
written = value("number") if alive() else None
run("continue")
emit(written=written, code=events.exit_code)
""")
    got = gdb.results[0]
    if got["code"] == 77 or "exited with code 0115" in gdb.output():
        t.skip("no io_uring")
    t.equal(got, {"written": "4321", "code": 0}, "the stop and the end")
