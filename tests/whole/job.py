# SPDX-License-Identifier: BSD-2-Clause
"""The main job of truehit, for one gdb and one server, wherever they have been installed:

    JOB_TARGET='remote | truehit - ./job' gdb -nx -q -batch -x tests/whole/job.py ./job

./job is tests/whole/job.c, built with -g -O0; $JOB_SYSROOT is where its libraries are, if it is
not /. A breakpoint whose condition is hot and true
once, a backtrace, a watchpoint, the program's end. Prints a line for each; the exit status
is 1 if one is not ok. What the machine has no debug registers for is skipped."""
import os
import re
import traceback

import gdb

TRUE = 200000  # the only true hit
failed = False


def tell(good, what, detail=""):
    global failed
    failed = failed or not good
    print(f"{'ok' if good else 'not ok'} - {what}{': ' + str(detail) if detail else ''}",
          flush=True)


def run(command):
    return gdb.execute(command, to_string=True)


def hot_breakpoint():
    run(f"break add if i == {TRUE}")
    run("continue")
    name, i = gdb.selected_frame().name(), int(gdb.parse_and_eval("i"))
    tell((name, i) == ("add", TRUE), "conditional breakpoint", f"{name}, i is {i}")
    frames = re.findall(r"^#\d+ .*?(\w+) \(", run("backtrace"), re.M)
    tell(frames[:2] == ["add", "main"], "backtrace", " ".join(frames))
    total = int(gdb.parse_and_eval("total"))
    tell(total == TRUE * (TRUE - 1) // 2, "every hit before it has been executed", total)
    # Of a static program, gdb asks no server where its storage is; musl tells nobody.
    libraries = run("info sharedlibrary")
    if "ld-linux" in libraries:
        calls = int(gdb.parse_and_eval("calls"))
        tell(calls == TRUE, "thread-local variable", calls)


def counts():
    text = run("monitor breakpoints")
    row = re.search(r"^ +1 break \S+ +\S+ +(\w+) +((?:filter; )?\w+) +([\d,]+) +([\d,]+) +(\d+) ",
                    text, re.M)
    numbers = [int(n.replace(",", "")) for n in row.groups()[2:]] if row else text
    tell(numbers == [TRUE + 1, TRUE, 1], "counts of hits, false ones, true ones",
         f"{numbers}, {row[1]}, decided by {row[2]}" if row else text)
    text = run("monitor explain 1")
    why = re.search(r"^No (?:pad|filter).*", text, re.M)
    if row and row[1] == "perf_event":
        tell(True, "the hot condition is in the program",
             "skipped, the server has found hardware quicker than a trap in the program")
    else:
        tell("The filter, native code" in text, "the hot condition is in the program",
             why[0] if why else "")
    run("delete")


def watchpoint():
    before = int(gdb.parse_and_eval("total"))
    gdb.execute("watch total", to_string=True)
    try:
        run("continue")
    except gdb.error as error:
        engines = run("monitor engines")
        refused = "insert hardware" in str(error) and "never fire" in engines
        tell(refused, "watchpoint", f"skipped, debug registers never fire here ({error})"
             if refused else error)
        run("delete")
        return
    after = int(gdb.parse_and_eval("total"))
    tell(after == before + TRUE, "watchpoint", f"{before} -> {after}")
    run("delete")


def end():
    run("continue")
    threads = gdb.selected_inferior().threads()
    status = gdb.convenience_variable("_exitcode")
    tell(not threads and status == 0, "the program comes to its end", f"status {status}")


def main():
    sysroot = os.environ.get("JOB_SYSROOT", "/")
    for command in ("set confirm off", f"set sysroot {sysroot}", "set remotetimeout 60", "set width 0",
                    "set height 0", "set debuginfod enabled off"):
        try:
            run(command)
        except gdb.error:
            pass  # of another version
    try:
        gdb.execute("target " + os.environ["JOB_TARGET"])
        for step in (hot_breakpoint, counts, watchpoint, end):
            step()
    except Exception:  # whatever it is, it is told
        tell(False, "the job", traceback.format_exc())
    gdb.execute(f"quit {int(failed)}")


main()
