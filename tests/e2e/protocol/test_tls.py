# SPDX-License-Identifier: BSD-2-Clause
"""Thread-local storage and thread handles."""
import os

import harness

VALUES = """
def each(expression):
    seen = []
    for thread in sorted(gdb.selected_inferior().threads(), key=lambda x: x.num):
        thread.switch()
        try:
            seen.append(value(expression))
        except gdb.error as e:
            seen.append(str(e).splitlines()[0])
    return seen

def address(expression):
    return int(gdb.parse_and_eval(f"(long){expression}"))

def start(thread):
    return run("maint packet qGetTLSAddr:p%x.%x,0,0" % thread.ptid[:2])

def handles():
    inferior = gdb.selected_inferior()
    gdb.execute("info threads", to_string=True)
    return [inferior.thread_from_handle(gdb.parse_and_eval(f"handles[{i}]")).num
            for i in range(3)]
"""

# What gdb says of a variable that a thread has not used yet.
NOT_THERE = "Cannot find thread-local storage|not yet allocated storage"

UNTIL_STOPPED = f"""
run("break {harness.Test.line('tls.c', 'STOPPED')}")
run("continue")
"""

PROGRAM = VALUES + UNTIL_STOPPED + """
emit(own=each("own"), last=each("last"), address=each("&own == addresses[own - 1000]"),
     handles=handles())
"""


def check_program(t, gdb):
    seen = gdb.results[0]
    t.equal(seen["own"], ["1000", "1001", "1002"], "own")
    t.equal(seen["last"], ["1", "2001", "2002"], "last")
    t.equal(seen["address"], ["1", "1", "1"], "address of own")
    t.equal(seen["handles"], [1, 2, 3], "threads by their handles")


def test_variables_of_each_thread(t):
    server = t.server("COMM", t.prog("tls"))
    check_program(t, t.gdb(server, prog=t.prog("tls"), python=PROGRAM))


def test_static_program(t):
    server = t.server("COMM", t.prog("tls-static"))
    check_program(t, t.gdb(server, prog=t.prog("tls-static"), python=PROGRAM))


def test_client_knows_what_was_stripped(t):
    server = t.server("COMM", t.prog("tls-stripped"))
    check_program(t, t.gdb(server, prog=t.prog("tls-static"), python=PROGRAM))


def test_attached(t):
    program = harness.Process(t, [t.prog("loop"), "1000000000"])
    server = t.server("--attach", "COMM", program.pid)
    gdb = t.gdb(server, "info threads", "print (int) errno", prog=t.prog("loop"))
    t.match(r"^\$1 = 0$", gdb.output())


def test_after_exec(t):
    # Nothing of the first program is where the second has it. gdb itself goes on
    # asking with the link map of the first, hence the packet.
    server = t.server("COMM", t.prog("exec"), t.prog("tls-static"))
    gdb = t.gdb(server, "break main", "continue", "print (int) errno", "delete",
                "catch exec", "continue", f"file {t.prog('tls-static')}",
                prog=t.prog("exec"), python=VALUES + UNTIL_STOPPED + """
starts = [start(thread) for thread in gdb.selected_inferior().threads()]
emit(handles=handles(), starts=len(set(starts)), start=starts[0])
""")
    t.match(r"^\$1 = 0$", gdb.output())
    seen = gdb.results[0]
    t.match(r'received: "[0-9a-f]+"', seen.pop("start"))
    t.equal(seen, {"handles": [1, 2, 3], "starts": 3}, "threads of the second program")


def test_two_processes(t):
    server = t.server("--multi", "COMM")
    gdb = t.gdb(server, f"set remote exec-file {t.prog('tls')}",
                f"break {t.line('tls.c', 'STOPPED')}", "run", "add-inferior",
                "inferior 2", f"file {t.prog('tls-static')}",
                f"set remote exec-file {t.prog('tls-static')}", "run",
                prog=t.prog("tls"), connect="target extended-remote", python=VALUES + """
emit(static=each("own"), handles=[n for n in handles()])
gdb.execute("inferior 1")
emit(dynamic=each("own"), handles=[n for n in handles()])
""")
    static, dynamic = gdb.results
    t.equal(static, {"static": ["1000", "1001", "1002"], "handles": [1, 2, 3]}, "static")
    t.equal(dynamic, {"dynamic": ["1000", "1001", "1002"], "handles": [1, 2, 3]},
            "dynamic")


def test_storage_that_only_one_thread_has(t):
    server = t.server("COMM", t.prog("tls"), t.prog("libtls.so"))
    gdb = t.gdb(server, prog=t.prog("tls"), python=VALUES + UNTIL_STOPPED + """
seen = each("tls_big[0]")
gdb.execute("thread 2")
gdb.execute("set var tls_big[0] = 42")
emit(seen=seen, changed=value("*touch(0)"))
""")
    seen = gdb.results[0]
    t.match(NOT_THERE, seen["seen"][0])
    t.equal(seen["seen"][1], "3001", "tls_big of the thread that uses it")
    t.match(NOT_THERE, seen["seen"][2])
    t.equal(seen["changed"], "42", "tls_big as the program sees it")


def test_reason_why_there_is_no_address(t):
    t.truehit_only("reasons")
    server = t.server("COMM", t.prog("tls"), t.prog("libtls.so"))
    gdb = t.gdb(server, prog=t.prog("tls"), python=UNTIL_STOPPED + """
import re
thread = "p%x.%x" % gdb.selected_thread().ptid[:2]
libraries = run("maint packet qXfer:libraries-svr4:read::0,ffff")
main, late = (re.search(regex + r'="0x([0-9a-f]+)', libraries.replace(chr(92), "")).group(1)
              for regex in ("main-lm", 'libtls.so" lm'))
def ask(args):
    return run(f"maint packet qGetTLSAddr:{args}")
emit(main=ask(f"{thread},0,{main}"), late=ask(f"{thread},0,{late}"),
     wrong=ask(f"{thread},0,1"), nobody=ask(f"p1.1,0,{main}"), parts=ask(thread))
""")
    seen = gdb.results[0]
    t.match(r'received: "[0-9a-f]+"', seen["main"])
    t.match(r'received: "E\.thread \d+ has not allocated', seen["late"])
    t.match(r'received: "E\.(libthread_db: td_thr_tls_get_addr|cannot read)', seen["wrong"])
    t.match(r'received: "E\.no such thread"', seen["nobody"])
    t.match(r'received: "E\.qGetTLSAddr: expected THREAD,OFFSET,MODULE"', seen["parts"])


def test_search_path_without_library(t):
    if os.geteuid() != 0 and harness.has_capabilities(t.config.server):
        t.skip("a truehit with file capabilities loads the system's library only")
    server = t.server("COMM", t.prog("tls"))
    nowhere = t.dir / "nowhere"
    gdb = t.gdb(server, f"monitor set libthread-db-search-path {nowhere}",
                prog=t.prog("tls"), python=VALUES + UNTIL_STOPPED + """
# By packets: a gdb that knows C libraries goes on by itself.
forbidden = [start(thread) for thread in gdb.selected_inferior().threads()]
emit(forbidden=forbidden, path=run("monitor set libthread-db-search-path"),
     allowed=each("own"))
""")
    t.match(rf"^libthread-db-search-path set to `{nowhere}'$", gdb.output())
    for text in gdb.results[0]["forbidden"]:
        t.match(r'received: "E', text)
    if not t.config.reference:
        t.equal(gdb.results[0]["path"],
                "libthread-db-search-path set to `$sdir'\n", "the default")
        t.equal(gdb.results[0]["allowed"], ["1000", "1001", "1002"], "by default")
