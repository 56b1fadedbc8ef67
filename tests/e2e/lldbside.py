# SPDX-License-Identifier: BSD-2-Clause
"""Runs inside lldb: plays a scenario with one server or more, and prints what it checks.

The environment has LLDBSIDE, a JSON object: the scenario, the ports of its servers, the
program, and the lines of its source by their markers. Each check is a line "CHECK " and
[name, passed, what was found]. A scenario that ends early fails the checks that it has
not come to, which the other server has.
"""
import os
import sys
import time
import traceback

import lldb
from lldb_session import (CONFIG, FIRST_ARGUMENT, LINES, Session, X86, check, contains, equal,
                          functions, line, number, reason, register, tracer_of, value)


def begin(session):
    """What is there after connecting."""
    process, thread = session.process, session.stopped()
    equal("state", session.state(), "stopped")
    equal("threads at the start", process.GetNumThreads(), 1)
    equal("the first reason", reason(thread), "signal")
    equal("the first signal", thread.GetStopReasonDataAtIndex(0), 19)
    equal("the first thread's name", thread.GetName(), "crew")
    check("the process's number", process.GetProcessID() > 1, process.GetProcessID())
    equal("the first thread is the process", thread.GetThreadID(), process.GetProcessID())
    equal("addresses", process.GetAddressByteSize(), 8)
    equal("the byte order", process.GetByteOrder(), lldb.eByteOrderLittle)
    contains("the triple", f"^{os.uname().machine}-.*linux", session.target.GetTriple())
    contains("the dynamic linker is loaded", "ld-linux", session.run("image list"))
    contains("the vdso is known", "vdso", session.run("image list"))


def calls():
    session = Session().connect()
    begin(session)
    first = session.stop_at("FIRST")
    thread = session.go()
    equal("at the first line", line(thread.GetFrameAtIndex(0)), LINES["FIRST"])
    equal("the reason of a breakpoint", reason(thread), "breakpoint")
    equal("whose breakpoint", thread.GetStopReasonDataAtIndex(0), first.GetID())
    equal("it was hit", first.GetHitCount(), 1)
    frame = thread.GetFrameAtIndex(0)
    equal("the PC is the breakpoint's address", frame.GetPC(),
          first.GetLocationAtIndex(0).GetLoadAddress())
    stepping(session)
    callbacks(session)
    registers(session)
    expressions(session)
    memory(session)
    modules(session)
    finish(session)
    session.end()


def stepping(session):
    thread = session.stopped()
    thread.StepInto()
    equal("step in", thread.GetFrameAtIndex(0).GetFunctionName(), "add")
    equal("step in: the reason", reason(thread), "plancomplete")
    equal("step in: arguments", [v.GetValueAsSigned() for v in
                                 thread.GetFrameAtIndex(0).GetVariables(True, False, False, True)],
          [2, 3])
    thread.StepOver()
    thread.StepOut()
    equal("step out", thread.GetFrameAtIndex(0).GetFunctionName(), "calls")
    equal("step out: the value", thread.GetStopReturnValue().GetValueAsSigned(), 5)
    equal("step out: the line", line(thread.GetFrameAtIndex(0)), LINES["FIRST"])
    thread.StepOver()
    equal("step over", line(thread.GetFrameAtIndex(0)), LINES["SECOND"])
    equal("a local variable", number(thread.GetFrameAtIndex(0), "first"), 5)
    thread.StepOver()
    equal("step over a call", line(thread.GetFrameAtIndex(0)), LINES["SORT"])
    pc = thread.GetFrameAtIndex(0).GetPC()
    thread.StepInstruction(False)
    check("step an instruction", 0 < thread.GetFrameAtIndex(0).GetPC() - pc <= 15,
          thread.GetFrameAtIndex(0).GetPC() - pc)
    contains("a step's description", "instruction step", thread.GetStopDescription(100))


def callbacks(session):
    """Out of libc, into the program, and back."""
    breakpoint = session.stop_at("COMPARE")
    thread = session.go()
    names = functions(thread)
    equal("a callback", names[0], "compare")
    check("backtrace into libc", any("sort" in name for name in names[1:]), names)
    equal("backtrace beyond libc", [n for n in names if n in ("calls", "main")],
          ["calls", "main"])
    check("backtrace to the start", any("libc_start" in name for name in names), names)
    modules_of = [frame.GetModule().GetFileSpec().GetFilename() for frame in thread]
    check("frames of libc", "libc.so.6" in modules_of, modules_of)
    hits = breakpoint.GetHitCount()
    session.go()
    equal("the callback again", breakpoint.GetHitCount(), hits + 1)
    breakpoint.SetEnabled(False)
    session.stop_at("FOLD")
    thread = session.go()
    equal("a disabled breakpoint", line(thread.GetFrameAtIndex(0)), LINES["FOLD"])
    deep = session.stop_at("DEEP")
    thread = session.go()
    equal("recursion", functions(thread)[:5], ["fold"] * 4 + ["calls"])
    equal("a frame's argument", number(thread.GetFrameAtIndex(2), "depth"), 2)
    session.target.BreakpointDelete(deep.GetID())
    session.run("thread step-out")
    equal("out of the recursion", functions(session.stopped())[:2], ["fold", "fold"])
    session.stop_at("LAST")
    thread = session.go()
    equal("a deleted breakpoint", line(thread.GetFrameAtIndex(0)), LINES["LAST"])
    conditional = session.stop_at("HALF", "value > 100")
    unconditional = session.stop_at("HALF", "value < 100")
    thread = session.go()
    equal("conditions", [conditional.GetHitCount(), unconditional.GetHitCount()], [0, 1])
    equal("a true condition", functions(thread)[0], "half")


def registers(session):
    frame = session.stopped().GetFrameAtIndex(0)
    equal("the PC by its generic name", register(frame, "pc"), frame.GetPC())
    equal("the stack pointer by its generic name", register(frame, "sp"), frame.GetSP())
    check("groups", frame.GetRegisters().GetSize() >= 2, frame.GetRegisters().GetSize())
    equal("the first group", frame.GetRegisters().GetValueAtIndex(0).GetName(),
          "General Purpose Registers")
    old = register(frame, FIRST_ARGUMENT)
    session.run(f"register write {FIRST_ARGUMENT} 0x1234567890")
    equal("a register written", register(session.stopped().GetFrameAtIndex(0), FIRST_ARGUMENT),
          0x1234567890)
    session.run(f"register write {FIRST_ARGUMENT} {old:#x}")
    equal("and back", register(session.stopped().GetFrameAtIndex(0), FIRST_ARGUMENT), old)
    if X86:
        contains("flags", r"rflags = 0x0+2?[0-9a-f]{2}", session.run("register read rflags"))
        contains("a part of a register", "eax = 0x", session.run("register read eax"))
        contains("a vector register", r"xmm0 = \{0x", session.run("register read xmm0"))
        session.run('register write xmm1 "{0x01 0x02 0x03 0x04 0x05 0x06 0x07 0x08 '
                    '0x09 0x0a 0x0b 0x0c 0x0d 0x0e 0x0f 0x10}"')
        contains("a vector register written", "0x0e 0x0f 0x10", session.run("register read xmm1"))
        contains("a register of the x87", "fctrl = 0x0*37f", session.run("register read fctrl"))
        contains("a segment", "cs = 0x0*33", session.run("register read cs"))
        contains("mxcsr", "mxcsr = 0x0*1f[0-9a-f]{2}", session.run("register read mxcsr"))
    contains("a callee's registers in a caller", r"(rip|pc) = 0x",
             session.run("frame select 1") + session.run("register read pc"))
    session.run("frame select 0")
    equal("a double in an argument", value(session.stopped().GetFrameAtIndex(0),
                                           "value * 2").GetValue(), "22")


def expressions(session):
    frame = session.stopped().GetFrameAtIndex(0)
    equal("a global variable", number(frame, "origin.y"), 4)
    equal("arithmetic", number(frame, "origin.x * 100 + origin.y"), 304)
    equal("a call", number(frame, "add(20, 22)"), 42)
    before = number(frame, "counter")
    number(frame, "add(1, 1)")
    equal("a call has effects", number(frame, "counter"), before + 2)
    equal("a call into libc", number(frame, '(int)strlen("four")'), 4)
    equal("getpid()", number(frame, "(int)getpid()"), session.process.GetProcessID())
    equal("a call that returns a double", value(frame, "half(9.0)").GetValue(), "4.5")
    equal("a variable of lldb's own", number(frame, "int $mine = 7; $mine + 1"), 8)
    equal("... keeps", number(frame, "$mine * 2"), 14)
    equal("an assignment", number(frame, "origin.x = 5"), 5)
    equal("... keeps, too", number(frame, "origin.x"), 5)
    equal("a loop in an expression",
          number(frame, "int $s = 0; for (int i = 0; i < 10; i++) $s += i; $s"), 45)
    contains("a string", '"hello crew"', value(frame, "greeting").GetSummary() or "")
    contains("an error", "undeclared", str(value(frame, "nowhere + 1").GetError()))
    contains("a fault in an expression", "SIGSEGV",
             str(value(frame, "(int)strlen((char *)8)").GetError()))
    equal("after the fault", number(session.stopped().GetFrameAtIndex(0), "origin.y"), 4)
    equal("the place is the same", functions(session.stopped())[0], "half")


def memory(session):
    process, error = session.process, lldb.SBError()
    frame = session.stopped().GetFrameAtIndex(0)
    address = value(frame, "&origin").GetValueAsUnsigned()
    equal("memory read", process.ReadMemory(address, 8, error), b"\5\0\0\0\4\0\0\0")
    process.WriteMemory(address + 4, b"\x2a\0\0\0", error)
    equal("memory written", number(frame, "origin.y"), 42)
    process.WriteMemory(address + 4, b"\4\0\0\0", error)
    text = value(frame, "greeting").GetValueAsUnsigned()
    equal("a string in memory", process.ReadCStringFromMemory(text, 99, error), "hello crew")
    equal("much memory", len(process.ReadMemory(frame.GetSP() & ~4095, 4096, error) or b""), 4096)
    process.ReadMemory(16, 8, error)
    check("memory that is not there", error.Fail(), error)
    code = process.ReadMemory(frame.GetFunction().GetStartAddress().GetLoadAddress(
        session.target), 64, error)
    check("no traps in the text", code and not (X86 and b"\xcc" in code), code)
    regions(session, frame)
    allocated = process.AllocateMemory(8192, 3, error) if hasattr(process, "AllocateMemory") else 1
    check("memory allocated", error.Success() or allocated, error)
    found = session.run(f"memory find -s crew {text:#x} {text + 32:#x}")
    contains("memory find", "data found", found)


def regions(session, frame):
    region = lldb.SBMemoryRegionInfo()

    def look(address):
        return session.process.GetMemoryRegionInfo(address, region).Success()
    check("the text's region", look(frame.GetPC()), frame.GetPC())
    equal("the text's permissions",
          [region.IsReadable(), region.IsWritable(), region.IsExecutable()], [True, False, True])
    contains("the text's file", "/crew$", region.GetName() or "")
    check("the text's bounds", region.GetRegionBase() <= frame.GetPC() < region.GetRegionEnd())
    check("the stack's region", look(frame.GetSP()), frame.GetSP())
    equal("the stack's permissions",
          [region.IsReadable(), region.IsWritable(), region.IsExecutable()], [True, True, False])
    contains("the stack's name", r"\[stack\]", region.GetName() or "")
    check("a region of nothing", look(0) and not region.IsMapped(), region.IsMapped())
    check("the size of nothing", region.GetRegionEnd() > 0x1000, region.GetRegionEnd())
    all_regions = session.process.GetMemoryRegions()
    check("all regions", all_regions.GetSize() > 10, all_regions.GetSize())
    contains("a region by the command", r"r-x .*crew",
             session.run(f"memory region {frame.GetPC():#x}"))


def modules(session):
    target = session.target
    names = [module.GetFileSpec().GetFilename() for module in target.module_iter()]
    for name in ("crew", "libc.so.6"):
        check(f"{name} is loaded", name in names, names)
    libc = target.FindModule(lldb.SBFileSpec("libc.so.6"))
    check("libc's address", target.ResolveSymbolContextForAddress(
        session.target.FindFunctions("qsort").GetContextAtIndex(0).GetSymbol().GetStartAddress(),
        lldb.eSymbolContextModule).GetModule() == libc)
    contains("libc's build ID", "^[0-9A-F-]{36,}$", libc.GetUUIDString() or "")
    contains("where an address is", "crew`half", session.run("image lookup -a $pc") +
             session.run(f"image lookup -a {session.stopped().GetFrameAtIndex(0).GetPC():#x}"))
    contains("disassembly", "->", session.run("disassemble --pc"))


def finish(session):
    session.target.DisableAllBreakpoints()
    process = session.process
    process.Continue()
    equal("the end", session.state(), "exited")
    # second 9, half(11) 5, numbers[0] 1, origin.x 5
    equal("the exit status", process.GetExitStatus(), 20)


def threads():
    session = Session().connect()
    breakpoint = session.stop_at("MEET")
    seen, names, together = set(), set(), 0
    session.go()
    process = session.process
    equal("all threads", process.GetNumThreads(), 5)
    check("different threads", len({t.GetThreadID() for t in process}) == 5)
    main = process.GetThreadByID(process.GetProcessID())
    check("the main thread waits", any("barrier" in name or "futex" in name
                                       for name in functions(main)), functions(main))
    check("each has a PC", all(t.GetFrameAtIndex(0).GetPC() for t in process))
    contains("the list", r"(?s)thread #1.*thread #5", session.run("thread list"))
    at_it = [t for t in process if reason(t) == "breakpoint"]
    check("the selected thread is at it", session.stopped().GetThreadID() in
          [t.GetThreadID() for t in at_it])
    others = [reason(t) for t in process if reason(t) not in ("breakpoint", "none", "trace")]
    equal("the others have no reason", others, [])
    while session.state() == "stopped" and len(seen) < 9:
        at_it = [t for t in process if reason(t) == "breakpoint"]
        if not at_it:
            break
        together += len(at_it)
        for thread in at_it:
            seen.add(number(thread.GetFrameAtIndex(0), "id"))
            names.add(thread.GetName())
            if thread.GetFrameAtIndex(0).GetPC() != \
                    breakpoint.GetLocationAtIndex(0).GetLoadAddress():
                seen.add("a wrong PC")
        session.process.Continue()
    equal("each thread's hit", seen, {0, 1, 2, 3})
    equal("each hit once", together, 4)
    equal("the breakpoint's count", breakpoint.GetHitCount(), 4)
    equal("names", names, {"crew-0", "crew:1;x", "crew-2", "crew-3"})
    equal("the end", session.state(), "exited")
    check("the exit status", session.process.GetExitStatus() >= 0)
    session.end()
    threads_apart()


def threads_apart():
    """One thread's steps, another one's registers."""
    session = Session().connect()
    session.stop_at("MEET", "id == 2")
    session.go()
    thread = next(t for t in session.process if t.GetName() == "crew-2")
    session.run(f"thread select {thread.GetIndexID()}")
    equal("the thread of a condition", reason(thread), "breakpoint")
    equal("its argument", number(thread.GetFrameAtIndex(0), "id"), 2)
    thread.StepOver()
    equal("a step among threads", session.stopped().GetThreadID(), thread.GetThreadID())
    contains("a step's reason", "step over", thread.GetStopDescription(100))
    for other in session.process:
        if other.GetName() == "crew-0":
            frame = other.GetFrameAtIndex(0)
            check("registers of another thread", frame.GetSP() != thread.GetFrameAtIndex(0).GetSP())
            equal("a register of another thread", register(frame, "pc"), frame.GetPC())
    session.run(f"thread select {thread.GetIndexID()}")
    equal("an expression in a thread", number(thread.GetFrameAtIndex(0), "add(id, 1)"), 3)
    check("all backtraces", all(any("clone" in name or name == "main" for name in functions(t))
                                for t in session.process), [functions(t) for t in session.process])
    session.run("thread step-out")
    equal("out in a thread", functions(thread)[0], "member")
    pid = session.process.GetProcessID()
    session.run("process kill")
    check("killed", tracer_of(pid) is None, tracer_of(pid))
    session.end()


def watch():
    session = Session().connect()
    session.stop_at("MAIN")
    session.go()
    variable = session.target.FindFirstGlobalVariable("watched")
    error = lldb.SBError()
    watchpoint = variable.Watch(True, False, True, error)
    check("set", error.Success() and watchpoint.IsValid(), error)
    thread = session.go()
    equal("the reason", reason(thread), "watchpoint")
    equal("where", functions(thread)[:2] + [line(thread.GetFrameAtIndex(0))] if
          session.state() == "stopped" else [], ["watch", "main", LINES["WRITE"] - 1])
    equal("its number", thread.GetStopReasonDataAtIndex(0), watchpoint.GetID())
    hits = 1
    while session.state() == "stopped" and hits < 20:
        thread = session.go()
        if session.state() != "stopped" or reason(thread) != "watchpoint":
            break
        hits += 1
    check("hits", hits >= 2, hits)
    equal("the end", session.state(), "exited")
    equal("the exit status", session.process.GetExitStatus(), 2)
    session.end()


def signals():
    session = Session().connect()
    thread = session.go()
    equal("a signal", reason(thread), "signal")
    equal("its number", thread.GetStopReasonDataAtIndex(0), 10)
    contains("its name", "SIGUSR1", thread.GetStopDescription(100))
    check("raised", any("raise" in name or "kill" in name for name in functions(thread)),
          functions(thread))
    session.run("process handle SIGUSR2 --stop false --notify false --pass true")
    breakpoint = session.stop_at("HANDLER")
    thread = session.go()
    equal("in the handler", functions(thread)[0], "on_signal")
    equal("of the first", number(thread.GetFrameAtIndex(0), "signal"), 10)
    check("out of the handler", "signals" in functions(thread), functions(thread))
    thread = session.go()
    equal("a signal that does not stop", reason(thread), "breakpoint")
    equal("... is delivered", number(thread.GetFrameAtIndex(0), "signal"), 12)
    breakpoint.SetEnabled(False)
    session.stop_at("HANDLED")
    thread = session.go()
    equal("both were handled", number(thread.GetFrameAtIndex(0), "handled"), 22)
    session.process.Continue()
    equal("the end", [session.state(), session.process.GetExitStatus()], ["exited", 22])
    session.end()


def launch():
    echo()
    console()
    exits()
    attach_by_number()


def launch_with(session, arguments, files=(None, None, None), directory=None,
                environment=None, stop=True):
    error = lldb.SBError()
    process = session.connect_plainly()
    equal("connected", session.state(), "connected")
    done = process.RemoteLaunch(arguments, environment, *files, directory, 0, stop, error)
    check("launched", done and error.Success(), error)
    return process


def echo():
    session = Session()
    place = CONFIG["directory"]
    names = [os.path.join(place, name) for name in ("in", "out", "err")]
    with open(names[0], "w", encoding="ascii") as file:
        file.write("a line\n")
    process = launch_with(session, ["echo"], names, place, ["CREW=mate"])
    equal("stopped at the start", session.state(), "stopped")
    session.stop_at("ECHOED")
    session.go()
    with open(names[1], encoding="ascii") as file:
        equal("standard output", file.read(), f"out a line\nmate {place}\n")
    with open(names[2], encoding="ascii") as file:
        equal("standard error", file.read(), "err a line\n")
    check("libraries of a launched program", session.target.FindModule(
        lldb.SBFileSpec("libc.so.6")).IsValid())
    process.Continue()
    equal("the exit status 0", [session.state(), process.GetExitStatus()], ["exited", 0])
    session.end()


def console():
    """Without files, the streams are lldb's."""
    session = Session()
    process = launch_with(session, ["echo"])
    session.stop_at("ECHOED")
    process.PutSTDIN("typed\n")
    session.go()
    text = ""
    for _ in range(100):
        text += process.GetSTDOUT(4096) or ""
        if "none" in text:
            break
        time.sleep(0.1)
    contains("what the program prints", r"out typed\r?\n(?s:.*)err typed", text)
    process.Continue()
    equal("the exit status after that", [session.state(), process.GetExitStatus()],
          ["exited", 0])
    session.end()


def exits():
    session = Session()
    process = launch_with(session, ["exit", "7"])
    process.Continue()
    equal("the exit status 7", [session.state(), process.GetExitStatus()], ["exited", 7])
    session.end()
    session = Session()
    process = launch_with(session, ["abort"])
    process.Continue()
    contains("an abort", "SIGABRT", session.stopped().GetStopDescription(100) or "")
    check("the abort's place", any("abort" in name for name in functions(session.stopped())),
          functions(session.stopped()))
    process.Continue()
    equal("the abort's status", [session.state(), process.GetExitStatus()], ["exited", 6])
    session.end()


def attach_by_number():
    session = Session()
    error = lldb.SBError()
    process = session.connect_plainly()
    session.debugger.SetAsync(True)
    done = process.RemoteAttachToProcessWithID(CONFIG["pid"], error)
    session.wait(lldb.eStateStopped)
    check("attached by number", done and error.Success(), error)
    equal("that process", process.GetProcessID(), CONFIG["pid"])
    equal("its threads", process.GetNumThreads(), 3)
    session.debugger.SetAsync(False)
    session.run("process detach")
    equal("lives on", tracer_of(CONFIG["pid"]), 0)
    session.end()


def attach():
    session = Session().connect()
    process = session.process
    equal("the process", process.GetProcessID(), CONFIG["pid"])
    equal("state", session.state(), "stopped")
    equal("threads", process.GetNumThreads(), 3)
    equal("reasons", [reason(t) for t in process], ["signal"] * 3)
    names = functions(process.GetThreadAtIndex(0))
    check("backtrace out of a system call", "sleep_all" in names and "main" in names, names)
    frame = process.GetThreadAtIndex(0).GetFrameAtIndex(0)
    equal("a call out of a system call", number(frame, "add(40, 2)"), 42)
    equal("getpid() out of a system call", number(frame, "(int)getpid()"), CONFIG["pid"])
    equal("the same place", functions(process.GetThreadAtIndex(0)), names)
    other = process.GetThreadAtIndex(1)
    equal("a call in another thread", number(other.GetFrameAtIndex(0), "add(1, 2)"), 3)
    interrupts(session)
    while_running(session)
    check("has a tracer", tracer_of(CONFIG["pid"]))
    session.run("process detach")
    equal("lives on without a tracer", tracer_of(CONFIG["pid"]), 0)
    session.end()


def interrupts(session):
    process = session.process
    session.debugger.SetAsync(True)
    process.Continue()
    session.wait(lldb.eStateRunning)
    equal("running", session.state(), "running")
    error = session.interrupt()
    check("interrupted", error.Success(), error)
    stopped = [t for t in process if reason(t) == "signal"]
    check("one thread tells of it", len(stopped) >= 1, [reason(t) for t in process])
    check("by a debugger's signal", stopped and stopped[0].GetStopReasonDataAtIndex(0) in (2, 19))
    equal("threads after it", process.GetNumThreads(), 3)
    session.debugger.SetAsync(False)


def while_running(session):
    """lldb interrupts for a moment what it changes something of."""
    session.debugger.SetAsync(True)
    session.process.Continue()
    session.wait(lldb.eStateRunning)
    breakpoint = session.stop_at("ADD")
    equal("a breakpoint while it runs", breakpoint.GetNumLocations(), 1)
    equal("it still runs", session.state(), "running")
    session.target.BreakpointDelete(breakpoint.GetID())
    session.interrupt()
    session.debugger.SetAsync(False)


def children():
    session = Session().connect()
    session.stop_at("REAPED")
    thread = session.go()
    equal("the parent goes on", line(thread.GetFrameAtIndex(0)), LINES["REAPED"])
    session.process.Continue()
    equal("the child's status", [session.state(), session.process.GetExitStatus()],
          ["exited", 41])
    session.end()
    session = Session().connect()
    session.run("settings set target.process.stop-on-exec true")
    session.stop_at("MAIN")
    session.go()
    thread = session.go()
    equal("exec", reason(thread), "exec")
    equal("one thread", session.process.GetNumThreads(), 1)
    thread = session.go()
    equal("the new program's breakpoint", [reason(thread), functions(thread)[:1]],
          ["breakpoint", ["main"]])
    contains("the new program's libraries", "libc.so.6", session.run("image list"))
    session.process.Continue()
    equal("the new program's status", session.process.GetExitStatus(), 9)
    session.end()


SCENARIOS = {f.__name__: f for f in (calls, threads, watch, signals, launch, attach, children)}


def main():
    try:
        SCENARIOS[CONFIG["scenario"]]()
    except Exception as error:  # noqa: a scenario that breaks has failed
        traceback.print_exc(file=sys.stdout)
        check("goes to its end", False, f"{type(error).__name__}: {error}")
    else:
        check("goes to its end", True)
    sys.stdout.flush()
    os._exit(0)


main()
