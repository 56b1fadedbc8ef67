# SPDX-License-Identifier: BSD-2-Clause
"""The packets that lldb sends and gdb does not, byte by byte: what they tell and do, and what
each of them refuses, with which words. test_lldb.py has lldb itself."""
import json
import os
import platform
import re
import time

import harness
import rsp
from harness import Process, tracer_of

ERROR = re.compile(r"E[0-9a-f]{2}(?:;((?:[0-9a-f]{2})+))?")
PC = {"x86_64": "10", "aarch64": "20"}[os.uname().machine]  # the number for p and P
KIND = {"x86_64": 1, "aarch64": 4}[os.uname().machine]      # of a software breakpoint


class Lldb(rsp.Client):
    """A client with lldb's forms: packets name their threads, errors have texts."""

    def __init__(self, t, server):
        t.truehit_only("lldb's packets")
        super().__init__(server)
        self.t = t
        for packet in ("QThreadSuffixSupported", "QListThreadsInStopReply",
                       "QEnableErrorStrings"):
            t.equal(self.ask(packet), "OK", packet)

    def refused(self, packet, regex):
        """The reply is an error whose text matches."""
        reply = self.ask(packet)
        match = ERROR.fullmatch(reply)
        packet = packet[:200]
        if not match or not match[1]:
            raise harness.Failure(f"{packet}: {reply[:200]!r} is no error with a text")
        self.t.match(regex, bytes.fromhex(match[1]).decode(), packet)

    def keys(self, packet):
        """The reply KEY:VALUE;... as a dictionary."""
        return pairs(self.ask(packet))

    def text(self, key, packet):
        """A value in hex digits."""
        return bytes.fromhex(self.keys(packet)[key]).decode()

    def pc(self):
        return int.from_bytes(bytes.fromhex(self.ask(f"p{PC}")), "little")

    def memory(self, address, length):
        return bytes.fromhex(self.ask(f"m{address:x},{length:x}"))


def pairs(text):
    return dict(pair.split(":", 1) for pair in text.rstrip(";").split(";"))


def coded(text):
    return text.encode().hex()


def start(t, program="calls", *arguments):
    """A program at its first instruction."""
    client = Lldb(t, t.server("COMM", t.prog(program), *arguments))
    t.match("^T", client.ask("?"))
    return client


def idle(t):
    """A server without a program."""
    return Lldb(t, t.server("--multi", "COMM"))


def symbol(t, program, name):
    text = harness.subprocess.run(["nm", t.prog(program)], capture_output=True, text=True,
                                  check=True).stdout
    return harness.LOADED_AT + int(t.match(rf"^([0-9a-f]+) \w {name}$", text).group(1), 16)


def go_to(client, address):
    """Continues to an address; the stop reply's keys."""
    client.t.equal(client.ask(f"Z0,{address:x},{KIND}"), "OK", "Z0")
    reply = client.ask("c")
    client.t.equal(client.ask(f"z0,{address:x},{KIND}"), "OK", "z0")
    client.t.match("^T05", reply)
    return pairs(reply[3:])


# ---- settings, and what the server is ----

def test_settings(t):
    client = start(t)
    supported = client.ask("qSupported:xmlRegisters=i386;multiprocess+").split(";")
    for feature in ("QThreadSuffixSupported+", "QListThreadsInStopReply+", "MultiMemRead+",
                    "QEnableErrorStrings+", "jMultiBreakpoint+", "qEcho+", "binary-upload+"):
        t.check(feature in supported, f"{feature} is not in {supported}")
    t.equal(client.ask("qEcho:any;thing:17"), "qEcho:any;thing:17", "qEcho")
    t.match("^name:truehit;version:[^;]+;$", client.ask("qGDBServerVersion"))
    for packet in ("QThreadSuffixSupported:1", "QListThreadsInStopReplyX",
                   "QEnableErrorStrings;", "qEcho", "qGDBServerVersion:"):
        t.equal(client.ask(packet), "", f"{packet} is no packet")


def test_errors_have_texts_for_those_who_ask(t):
    t.truehit_only("lldb's packets")
    client = rsp.Client(t.server("COMM", t.prog("calls")))
    t.match(r"^E\.not a path", client.ask("QSetSTDIN:x"))
    t.equal(client.ask("QThreadSuffixSupported"), "OK", "the first of lldb's")
    t.equal(client.ask("QSetSTDIN:x"), "E16", "EINVAL")
    t.equal(client.ask("QEnableErrorStrings"), "OK", "reply")
    t.match("^E16;", client.ask("QSetSTDIN:x"))


def test_host(t):
    client = idle(t)
    found = client.keys("qHostInfo")
    t.match(f"^{platform.machine()}-.*linux", client.text("triple", "qHostInfo"))
    t.equal([found["ptrsize"], found["endian"]], ["8", "little"], "words")
    t.equal(int(found["vm-page-size"]), os.sysconf("SC_PAGESIZE"), "the size of a page")
    t.equal(client.text("hostname", "qHostInfo"), platform.node(), "the host's name")
    t.equal(client.text("os_build", "qHostInfo"), platform.release(), "the kernel")
    t.match(r"^num:\d+;$", client.ask("qWatchpointSupportInfo:"))
    t.equal(bytes.fromhex(client.ask("qGetWorkingDir")).decode(), os.getcwd(), "qGetWorkingDir")
    for packet in ("qProcessInfo", "qGetPid"):
        client.refused(packet, "no process")
    for packet in ("qHostInfo:", "qWatchpointSupportInfo", "qGetPid:1"):
        t.equal(client.ask(packet), "", f"{packet} is no packet")


def test_process(t):
    client = start(t)
    found, pid = client.keys("qProcessInfo"), int(client.ask("qGetPid"), 16)
    t.equal(int(found["pid"], 16), pid, "the process")
    t.equal([int(found[f"{kind}-{what}"], 16) for kind in ("real", "effective")
             for what in ("uid", "gid")],
            [os.getuid(), os.getgid(), os.geteuid(), os.getegid()], "user and group")
    with open(f"/proc/{pid}/status", encoding="latin1") as file:
        parent = int(t.match(r"^PPid:\s(\d+)", file.read()).group(1))
    t.equal(int(found["parent-pid"], 16), parent, "its parent")
    t.equal([found["ptrsize"], found["endian"], found["ostype"]], ["8", "little", "linux"],
            "what it is")


# ---- threads ----

def meet(t):
    """Several threads, at one place."""
    client = start(t, "crew", "threads", "3")
    stop = go_to(client, symbol(t, "crew", "meet"))
    return client, stop


def test_stop_replies(t):
    """The reason, all threads with their PCs, and why each has stopped."""
    client, stop = meet(t)
    t.equal(stop["reason"], "breakpoint", "the reason")
    threads = [int(thread, 16) for thread in stop["threads"].split(",")]
    t.equal(len(threads), 4, "threads")
    t.equal(len(stop["thread-pcs"].split(",")), 4, "PCs")
    t.check(int(stop["thread"], 16) in threads, "it is among them")
    told = json.loads(bytes.fromhex(stop["jstopinfo"]))
    t.check(all(thread["reason"] == "breakpoint" for thread in told), f"reasons: {told}")
    t.check(int(stop["thread"], 16) in [thread["tid"] for thread in told], "it is told of")
    listed = client.ask("qfThreadInfo")
    t.equal({int(thread, 16) for thread in listed[1:].split(",")}, set(threads), "the list")


def test_late_interrupt(t):
    """One that has crossed a stop is answered by that: the next resume does not stop."""
    client = start(t)
    place = f"0,{symbol(t, 'calls', 'triple'):x},{KIND}"
    t.equal(client.ask(f"Z{place}"), "OK", "Z0")
    t.match("^T05", client.ask("c"))
    client.interrupt()
    t.equal(client.ask(f"z{place}"), "OK", "z0")
    t.match("^W2a", client.ask("c"))


def test_threads_info(t):
    client, stop = meet(t)
    threads = json.loads(client.ask("jThreadsInfo"))
    t.equal(len(threads), 4, "threads")
    it, = (thread for thread in threads if thread["tid"] == int(stop["thread"], 16))
    t.equal([it["reason"], it["signal"]], ["breakpoint", 5], "why")
    pc = bytes.fromhex(it["registers"][str(int(PC, 16))])
    t.equal(int.from_bytes(pc, "little"), symbol(t, "crew", "meet"), "its PC")
    t.check("crew:1;x" in [thread["name"] for thread in threads], "names")
    for thread in threads:
        told = pairs(client.ask(f"qThreadStopInfo{thread['tid']:x}")[3:])
        t.equal(told.get("reason"), thread.get("reason"), "the reason of each alone")
        name = bytes.fromhex(told["hexname"]).decode() if "hexname" in told else told["name"]
        t.equal(name, thread["name"], "its name")
    t.equal(client.ask("jThreadsInfo:"), "", "no packet")
    client.refused("qThreadStopInfo1", "thread 1")
    for thread in ("", "x", "0", "-1", f"{threads[0]['tid']:x};"):
        client.refused(f"qThreadStopInfo{thread}", "not a thread id")
    idle(t).refused("jThreadsInfo", "no process")


def test_packets_of_a_thread(t):
    """;thread:ID; at their end, whichever is chosen."""
    client, stop = meet(t)
    here = int(stop["thread"], 16)
    main = int(client.ask("qGetPid"), 16)
    for choice in (here, main):
        t.equal(client.ask(f"Hg{choice:x}"), "OK", "Hg")
        of_here = client.ask(f"p{PC};thread:{here:x};")
        t.equal(int.from_bytes(bytes.fromhex(of_here), "little"), symbol(t, "crew", "meet"),
                "p of the one")
        t.equal(client.ask(f"p{PC};thread:{here:x}"), of_here, "without the last ;")
        t.check(client.ask(f"g;thread:{main:x};") != client.ask(f"g;thread:{here:x};"),
                "g of the other")
        t.equal(client.ask("qC"), f"QC{choice:x}", "the choice stays")
    value = client.ask(f"p{PC};thread:{main:x};")
    t.equal(client.ask(f"P{PC}={value};thread:{main:x};"), "OK", "P")
    client.refused(f"p{PC};thread:1;", "thread 1")
    client.refused("QSaveRegisterState;thread:1;", "thread 1")
    for thread in ("x", "", "1;thread:"):
        client.refused(f"p{PC};thread:{thread};", "more than a register number")


def test_saved_registers(t):
    client = start(t)
    go_to(client, symbol(t, "calls", "triple"))
    thread = client.ask("qC")[2:]
    before = client.ask("g")
    numbers = [client.ask(f"QSaveRegisterState;thread:{thread};") for _ in range(2)]
    t.equal(len(set(numbers)), 2, "two numbers")
    t.equal(client.ask(f"P0={'11' * 8}"), "OK", "a register written")
    t.check(client.ask("g") != before, "it is another one")
    t.equal(client.ask(f"QRestoreRegisterState:{numbers[0]};thread:{thread};"), "OK", "reply")
    t.equal(client.ask("g"), before, "as they were")
    client.refused(f"QRestoreRegisterState:{numbers[0]}", "no registers of thread")
    t.equal(client.ask(f"QRestoreRegisterState:{numbers[1]}"), "OK", "the other one")
    for number in ("", "x", "1x", "999999999999999999999999"):
        client.refused(f"QRestoreRegisterState:{number}", "not a number|no registers")
    first = client.ask("QSaveRegisterState")
    for _ in range(64):
        client.ask("QSaveRegisterState")
    client.refused(f"QRestoreRegisterState:{first}", "no registers of thread")
    idle(t).refused("QSaveRegisterState", "no (process|thread)")


# ---- memory ----

def test_regions(t):
    client = start(t)
    t.equal(client.ask("qMemoryRegionInfo"), "OK", "the packet is known")
    pc = client.pc()
    found = client.keys(f"qMemoryRegionInfo:{pc:x}")
    begin, size = int(found["start"], 16), int(found["size"], 16)
    t.check(begin <= pc < begin + size, "the PC is in it")
    t.equal(found["permissions"], "rx", "of a text")
    t.match("ld-linux|ld\\.so|ld-[0-9]", bytes.fromhex(found["name"]).decode())
    at, count, holes = 0, 0, 0
    while at < 1 << 64 and count < 1000:  # all of the address space, with no gap
        found = client.keys(f"qMemoryRegionInfo:{at:x}")
        t.check(int(found["start"], 16) <= at, f"what is at {at:x}")
        at = int(found["start"], 16) + int(found["size"], 16)
        count, holes = count + 1, holes + ("permissions" not in found)
        if at >= (1 << 64) - 1:
            break
    t.check(count > 10 and holes > 2, f"{count} regions, {holes} of them holes")
    for address in (":", ":x", "x", ":1,2", ": 1"):
        client.refused(f"qMemoryRegionInfo{address}", "not an address")
    idle(t).refused("qMemoryRegionInfo:0", "no process")


def test_reading_at_several_places(t):
    client = start(t)
    pc = client.pc()
    whole = client.memory(pc, 32)

    def read(text):
        lengths, _, data = client.ask(f"MultiMemRead:{text}").encode("latin1").partition(b";")
        return [int(length, 16) for length in lengths.decode().split(",")], data
    t.equal(read(f"ranges:{pc:x},8;"), ([8], whole[:8]), "one")
    t.equal(read(f"ranges:{pc:x},8,{pc + 16:x},10,{pc:x},0;"), ([8, 16, 0],
                                                             whole[:8] + whole[16:32]), "three")
    t.equal(read(f"ranges:10,8,{pc:x},4;"), ([0, 4], whole[:4]), "one that cannot be read")
    t.equal(read(f"ranges:{pc:x},4;options:;"), ([4], whole[:4]), "options")
    t.equal(read(f"ranges:{pc:x},1000000,{pc:x},4;")[0], [0, 4], "one too long for a reply")
    client.refused("MultiMemRead:", "no ranges")
    client.refused("MultiMemRead:ranges:", "not RANGES;")
    client.refused("MultiMemRead:ranges:;", "range 1 is not an address and a length")
    client.refused("MultiMemRead:ranges:10;", "range 1 is not an address and a length")
    client.refused("MultiMemRead:ranges:10,8", "not RANGES;")
    client.refused("MultiMemRead:ranges:10,8,;", "range 2 is not an address and a length")
    client.refused("MultiMemRead:ranges:10,8x;", "no ',' after range 1")
    client.refused("MultiMemRead:ranges:10,8;options:", "not RANGES;")
    client.refused("MultiMemRead:ranges:10,8;more", "not RANGES;")
    client.refused(f"MultiMemRead:ranges:{','.join(['10,8'] * 4097)};", "over 4096 ranges")
    idle(t).refused("MultiMemRead:ranges:10,8;", "no process")


# ---- modules ----

def test_modules(t):
    client = start(t)
    path = t.prog("calls")
    triple = client.text("triple", "qHostInfo")
    found = client.keys(f"qModuleInfo:{coded(path)};{coded(triple)}")
    t.equal([bytes.fromhex(found["file_path"]).decode(), int(found["file_size"], 16),
             found["file_offset"]], [path, os.path.getsize(path), "0"], "the file")
    uuid = bytes.fromhex(found["uuid"]).decode()
    t.match("^([0-9A-F]{2})*$", uuid)
    told = json.loads(client.ask(f"jModulesInfo:{modules(path, '/none', path)}"))
    t.equal([module["file_path"] for module in told], [path] * 2, "without what is not there")
    t.equal([told[0]["uuid"], told[0]["file_size"]], [uuid, os.path.getsize(path)], "the same")
    t.equal(json.loads(client.ask("jModulesInfo:[]")), [], "of none")
    client.refused(f"qModuleInfo:{coded('/none')};", "/none: No such file")
    client.refused(f"qModuleInfo:{coded('/etc/passwd')};", "no ELF file")
    client.refused(f"qModuleInfo:{coded('calls')};", ".")
    for bad in ("", ";", "x", "2f2", coded("/a") + "00"):
        client.refused(f"qModuleInfo:{bad}", "not a path in hex digits")
    for bad in ("", "{}", '{"file":"/a"}'):
        client.refused(f"jModulesInfo:{bad}", "not an array")
    for bad in ("[1]", "[{}]", '[{"triple":"x"}]', '[{"file":1}]', '[{"file"}]', "[["):
        client.refused(f"jModulesInfo:{bad}", 'module 1 has no "file"')
    client.refused('jModulesInfo:[{"file":"/a"}', r"no \]")
    client.refused('jModulesInfo:[{"file":"/a"}]]', "more than an array")
    client.refused('jModulesInfo:[{"file":"/a"},]', "module 2")
    many = json.dumps([{"file": "/"}] * 4097)
    client.refused(f"jModulesInfo:{many}", "over 4096 modules")


def modules(*paths):
    return json.dumps([{"file": path, "triple": "any"} for path in paths])


def test_where_files_are(t):
    client = start(t)
    path = t.prog("calls")
    t.equal(int(client.ask(f"qFileLoadAddress:{coded(path)}"), 16), harness.LOADED_AT, "calls")
    link = t.dir / "link"
    link.symlink_to(path)
    t.equal(int(client.ask(f"qFileLoadAddress:{coded(str(link))}"), 16), harness.LOADED_AT,
            "by another name")
    client.refused(f"qFileLoadAddress:{coded('/etc/passwd')}", "is not loaded")
    for bad in ("", "x", "2f2"):
        client.refused(f"qFileLoadAddress:{bad}", "not a path in hex digits")
    slot = int(client.ask("qShlibInfoAddr"), 16)
    go_to(client, symbol(t, "calls", "main"))
    t.check(int.from_bytes(client.memory(slot, 8), "little") > 0, "the linker has filled it in")
    for packet in ("qShlibInfoAddr", f"qFileLoadAddress:{coded('/a')}",
                   f"qModuleInfo:{coded('/a')};", "jModulesInfo:[]"):
        idle(t).refused(packet, "no process")


# ---- launching ----

def launch(words):
    return "A" + ",".join(f"{len(coded(word))},{number},{coded(word)}"
                          for number, word in enumerate(words))


def test_launch(t):
    client = idle(t)
    place = t.dir / "streams"
    place.mkdir()
    (place / "in").write_text("a line\n")
    for stream, name in (("IN", "in"), ("OUT", "out"), ("ERR", "err")):
        t.equal(client.ask(f"QSetSTD{stream}:{coded(str(place / name))}"), "OK", "a stream")
    t.equal(client.ask("QEnvironment:CREW=mate"), "OK", "QEnvironment")
    t.equal(client.ask("QSetDisableASLR:1"), "OK", "QSetDisableASLR")
    t.equal(client.ask(launch([t.prog("crew"), "echo"])), "OK", "A")
    t.equal(client.ask("qLaunchSuccess"), "OK", "qLaunchSuccess")
    t.match("^T", client.ask("?"))
    t.equal(int(client.ask(f"qFileLoadAddress:{coded(t.prog('crew'))}"), 16),
            harness.LOADED_AT, "not randomised")
    t.match("^W00", client.ask("c"))
    t.match("^out a line\nmate ", (place / "out").read_text())
    t.equal((place / "err").read_text(), "err a line\n", "standard error")


def test_what_launches_refuse(t):
    client = idle(t)
    for packet, text in (("A", "word 0 has no length"), ("A2", "word 0 has no length"),
                         ("A2,0", "word 0 has no length"), ("Ax,0,2f", "word 0 has no length"),
                         ("A2,1,2f", "word 0 has no length"), ("A4,0,2f", "shorter than it says"),
                         ("A2,0,2x", "not hexadecimal"), ("A3,0,2f2", "not hexadecimal"),
                         ("A4,0,2f00", "not hexadecimal"), ("A2,0,2f2f", "no ',' after word 0"),
                         ("A2,0,2f,", "word 1 has no length"),
                         ("A2,0,2f,2,2,2f", "word 1 has no length")):
        client.refused(packet, text)
        t.match(f"^E.*{text}", client.ask("qLaunchSuccess"))
    client.refused(launch(["/none/such"]), ".")
    t.match("^E", client.ask("qLaunchSuccess"))
    for packet in ("QSetSTDIN:", "QSetSTDOUT:x", "QSetSTDERR:2f0", "QSetSTDIN:2f00"):
        client.refused(packet, "not a path in hex digits")
    for packet in ("QSetDisableASLR:", "QSetDisableASLR:2", "QSetDisableASLR:11",
                   "QEnvironment:", "QEnvironment:=x"):
        client.refused(packet, ".")
    client = start(t)
    client.refused("I41", "no terminal")
    client.refused("Ix", "not a text in hex digits")
    client.refused(launch([t.prog("calls")]), ".")
    t.match("^T", client.ask("?"))


def test_typing(t):
    client = idle(t)
    t.equal(client.ask(launch([t.prog("crew"), "echo"])), "OK", "A")
    t.match("^T", client.ask("?"))
    t.equal(client.ask(f"I{coded('typed')}"), "OK", "I")
    t.equal(client.ask(f"I{coded(chr(10))}"), "OK", "the end of the line")
    t.match("^W00", client.ask("c"))
    t.match(r"out typed\r?\n", client.console.decode())


# ---- attaching by name ----

def sleeper(t, name):
    """A program of that name, asleep."""
    copy = t.dir / name
    if not copy.exists():
        harness.shutil.copy(t.prog("crew"), copy)
    program = Process(t, [copy, "sleep"])
    program.wait_output("asleep")
    return program


def test_attach_by_name(t):
    client = idle(t)
    name = f"crew-{os.getpid()}"
    client.refused(f"vAttachName;{coded(name)}", f"no process runs a program named {name}")
    for bad in ("", "x", "4", "4100"):
        for packet in ("vAttachName", "vAttachWait", "vAttachOrWait"):
            client.refused(f"{packet};{bad}", "not the name of a program")
    t.equal(client.ask("qVAttachOrWaitSupported"), "OK", "qVAttachOrWaitSupported")
    first = sleeper(t, name)
    t.match(f"thread:{first.pid:x};", client.ask(f"vAttachName;{coded(name)}"))
    t.equal(int(client.ask("qGetPid"), 16), first.pid, "that one")
    for packet in ("vAttachName", "vAttachWait", "vAttachOrWait"):
        client.refused(f"{packet};{coded(name)}", "Already debugging")
    t.equal(client.ask("D"), "OK", "D")
    t.equal(tracer_of(first.pid), 0, "let go")
    t.match(f"thread:{first.pid:x};", client.ask(f"vAttachOrWait;{coded(str(t.dir / name))}"))
    t.equal(client.ask("D"), "OK", "D")
    sleeper(t, name)
    for packet in ("vAttachName", "vAttachOrWait"):
        client.refused(f"{packet};{coded(name)}", "several processes run a program named")


def begin_one(t, client, name):
    """Starts programs until the client has one of them: the first may have been there when
    the server looked which are there already."""
    for _ in range(20):
        program = Process(t, [t.dir / name, "sleep"])
        for _ in range(100):
            if client.has_reply():
                t.match(f"thread:{program.pid:x};", client.receive().decode())
                return program
            time.sleep(0.01)
        program.kill()
        program.wait()
    raise harness.Failure("none of the programs is attached to")


def test_waiting_for_a_program(t):
    """One that is there already is not waited for; another packet ends the wait, also one
    that has come together with it."""
    client = idle(t)
    name = f"crew-{os.getpid()}"
    old = sleeper(t, name)
    client.send_bytes(client.frame(f"vAttachWait;{coded(name)}"))
    t.equal(client.byte(), b"+", "the packet is taken")
    new = begin_one(t, client, name)
    t.equal([tracer_of(old.pid) != 0, tracer_of(new.pid) != 0], [False, True], "the new one")
    t.equal(client.ask("D"), "OK", "D")
    client.send_bytes(client.frame(f"vAttachWait;{coded(name)}") + client.frame("qGetPid"))
    text = bytes.fromhex(client.receive().decode().partition(";")[2]).decode()
    t.match(f"^no program named {name} was started", text)
    t.match("^E", client.receive().decode())


# ---- breakpoints ----

def requests(*texts):
    return "jMultiBreakpoint:" + json.dumps({"breakpoint_requests": texts})


class Places:
    """A client at main, and places in calls."""

    def __init__(self, t):
        self.client, self.t = start(t), t
        self.inner, self.triple = symbol(t, "calls", "inner"), symbol(t, "calls", "triple")
        go_to(self.client, symbol(t, "calls", "main"))

    def results(self, *texts):
        reply = json.loads(self.client.ask(requests(*texts)))
        self.t.equal(list(reply), ["results"], "its only member")
        return reply["results"]

    def next(self):
        """Where the next stop is."""
        reply = self.client.ask("c")
        return self.client.pc() if reply[0] == "T" else reply


def test_several_breakpoints_at_once(t):
    places = Places(t)
    inner, triple = f"0,{places.inner:x},{KIND}", f"0,{places.triple:x},{KIND}"
    t.equal(places.results(f"Z{inner}", f"Z{triple}"), ["OK"] * 2, "two")
    t.equal(places.next(), places.inner, "the first")
    t.equal(places.results(f"z{inner}"), ["OK"], "one taken away")
    t.equal(places.next(), places.triple, "the second")
    t.equal(places.results(f"Z{inner}", f"z{triple}", f"z{inner}"), ["OK"] * 3, "in order")
    t.match("^W2a", places.next())


def test_requests_are_not_counted(t):
    """As with Z and z alone: one z takes away what two Z have asked for."""
    places = Places(t)
    inner = f"0,{places.inner:x},{KIND}"
    t.equal(places.results(f"Z{inner}", f"Z{inner}"), ["OK"] * 2, "twice")
    t.equal(places.results(f"z{inner}"), ["OK"], "once")
    t.match("^W2a", places.next())


def test_one_request_that_fails(t):
    """The others are served."""
    places = Places(t)
    triple = f"0,{places.triple:x},{KIND}"
    found = places.results("Z0,10,1", f"Z{triple}", "Z0", "m0,1", "", "Z9,10,1", "Z0,1,1;Y")
    t.equal([result if result == "OK" else result[:1] for result in found],
            ["E", "OK", "E", "E", "E", "E", "E"], "results")
    t.check(all(re.fullmatch("OK|E[0-9a-f]{2}", result) for result in found), f"{found}")
    t.equal([found[3], found[5]], ["E16", "E5f"], "EINVAL, and EOPNOTSUPP")
    t.equal(places.next(), places.triple, "the one that was well")


def test_requests_with_conditions(t):
    """What a Z packet can have, a request can."""
    places = Places(t)
    inner = f"0,{places.inner:x},{KIND}"
    first = {"x86_64": "260005", "aarch64": "260000"}[os.uname().machine]  # argument
    t.equal(places.results(f"Z{inner};X7,{first}22011327"), ["OK"], "depth == 1")
    t.equal(places.next(), places.inner, "it has stopped")
    value = places.client.ask("p5" if os.uname().machine == "x86_64" else "p0")
    t.equal(int.from_bytes(bytes.fromhex(value)[:4], "little"), 1, "depth")


def test_malformed_requests(t):
    """Nothing is done of these."""
    places = Places(t)
    triple = f"Z0,{places.triple:x},{KIND}"
    for text in ("", "[]", "{}", '{"requests":[]}', '{"breakpoint_requests":{}}',
                 '{"breakpoint_requests":1}', f'{{"breakpoint_requests":"{triple}"}}'):
        places.client.refused(f"jMultiBreakpoint:{text}", "not an object with an array")
    begin = '{"breakpoint_requests":["' + triple + '"'
    for text, error in ((",1]}", "request 2 is no string"), (",]}", "request 2 is no string"),
                        ("", "no ]} after request 1"), ("]", "no ]} after request 1"),
                        ("]}}", "no ]} after request 1"), ("]},", "no ]} after request 1")):
        places.client.refused(f"jMultiBreakpoint:{begin}{text}", re.escape(error))
    places.client.refused('jMultiBreakpoint:{"breakpoint_requests":[]', "no } after the array")
    t.equal(places.results(), [], "no request")
    t.equal(places.client.ask("jMultiBreakpoint"), "", "no packet")
    t.match("^W2a", places.next())
    t.equal(idle(t).ask(requests(triple)), '{"results":["E01"]}', "no process")
