# SPDX-License-Identifier: BSD-2-Clause
"""What ordinary users must not get from a truehit that has file capabilities (README,
Rights), and what they do get.

All attempts are made with the capabilities of README, and with CAP_SYS_PTRACE as well,
which a file may still have; or with those that E2E_RIGHTS names, as setcap(8) takes them.
"""
import os
import re
import shutil
import subprocess

import harness
import rsp
from attempts import (ALICE, BOB, EACCES, O_RDWR, RIGHTS, Place, groups, must_fail, need_attach,
                      run_to_end, told_by_monitor, users_python, vfile_open, with_rights_of)


# ---- attach ----

def attach_word(process):
    return "--attach", ":0", str(process.pid)


def test_attach_to_what_is_not_his(t):
    for place, attempt in groups(t):
        setuid = place.variant("ids-setuid", 0o4755)
        capable = place.variant("ids-capable", rights="cap_net_raw+ep")
        alike = place.variant("ids-alike", rights="cap_bpf,cap_perfmon+ep")
        for what, process, reason in (
                ("root's process", place.process(uid=0), r"another user's \(needs root\)"),
                ("another user's process", place.process(uid=BOB),
                 r"another user's \(needs root\)"),
                ("an undumpable process", place.process("hide"), "which is protected"),
                ("a setuid process", place.process(program=setuid), "which is protected"),
                ("a setuid process that is dumpable", place.process("show", program=setuid),
                 "which is protected"),
                ("a process with a capability", place.process(program=capable),
                 "which is protected"),
                ("a dumpable one with truehit's", place.process("show", program=alike),
                 r"which has capabilities \(needs root\)")):
            with attempt(f"attach to {what}"):
                place.refused(rf"Cannot attach to process {process.pid}.*{reason}",
                              *attach_word(process))
                harness.wait_for(lambda: harness.tracer_of(process.pid) == 0, "no tracer")
        with attempt("attach to the first process"):
            place.refused("Cannot attach to process 1", "--attach", ":0", "1")


def test_attach_by_a_client(t):
    """vAttach is refused as --attach is, and so are servers."""
    for place, attempt in groups(t):
        other = place.serve("COMM", place.ids, "wait")
        root = place.process(uid=0)
        server = place.serve("--multi", "COMM")
        client = rsp.Client(server)
        client.ask("!")
        for what, pid in (("root's process", root.pid), ("his other server", other.serving),
                          ("the guard of his other server", other.pid),
                          ("the server itself", server.serving),
                          ("its guard", server.pid)):
            with attempt(f"vAttach to {what}"):
                reply = client.ask(f"vAttach;{pid:x}")
                t.match(rf"^E\.Cannot attach to process {pid}\b", reply, f"the reply {reply!r}")


def test_attach_to_ones_own(t):
    """What a user may do without truehit, he may do with it."""
    need_attach(t)
    for place, _ in groups(t):
        process = place.process()
        server = place.serve("--attach", "COMM", process.pid)
        client = rsp.Client(server)
        t.match("^T", client.ask("?"))
        t.equal(harness.tracer_of(process.pid), server.serving, "who traces it")
        t.equal(client.ask("D"), "OK", "detach")
        harness.wait_for(lambda: harness.tracer_of(process.pid) == 0, "no tracer")


# ---- start ----

def test_start_of_programs_with_rights(t):
    """They run with their user's ids only, as under any tracer without rights."""
    alice = with_rights_of(ALICE)
    for place, attempt in groups(t):
        programs = {
            "a setuid program": place.variant("ids-setuid", 0o4755),
            "another user's setuid program": place.variant("ids-bob", 0o4755, owner=BOB),
            "a setgid program": place.variant("ids-setgid", 0o2755, group=BOB),
            "a program with a capability": place.variant("ids-capable",
                                                         rights="cap_net_raw+ep"),
            "a program with truehit's": place.variant("ids-alike",
                                                      rights="cap_bpf,cap_perfmon+ep")}
        t.equal(place.told("tell"), alice, "an ordinary program")
        for what, program in programs.items():
            t.check(place.process(program=program).output() != alice + "\n",
                    f"{what} has no rights here without truehit")
            with attempt(f"start of {what}"):
                t.equal(place.told("tell", program=program), alice, what)
        setuid = programs["a setuid program"]
        for what, options, words in (
                ("without the shell", ("--no-startup-with-shell",), ("tell",)),
                ("by a wrapper", ("--wrapper", "/usr/bin/env", "A=b", "--"), ("tell",))):
            with attempt(f"start of a setuid program {what}"):
                t.equal(place.told(*words, options=options, program=setuid), alice, what)
        with attempt("a setuid program as the wrapper"):
            told = place.told("tell", options=("--wrapper", setuid, "tell", "exec", "--"))
            t.equal(told, alice, "the wrapper, and the program")
        with attempt("a program that executes a setuid program"):
            t.equal(place.told("exec", setuid, "tell"), alice, "what was executed")


def test_exec_in_attached(t):
    """A process that was attached to executes a setuid program."""
    need_attach(t)
    for place, attempt in groups(t):
        go = place.directory / "go"
        go.unlink(missing_ok=True)
        setuid = place.variant("ids-setuid", 0o4755)
        process = place.start(place.ids, "tell", "await", str(go), "exec", setuid, "tell")
        process.wait_output("ids:")
        client = rsp.Client(place.serve("--attach", "COMM", process.pid))
        place.file("go")
        with attempt("exec of a setuid program in an attached process"):
            run_to_end(client)
            process.wait()
            t.equal(set(process.output().splitlines()), {with_rights_of(ALICE)},
                    "what it told")


def test_start_by_a_client(t):
    """vRun is as the command line; what it starts is nobody's to look into."""
    for place, attempt in groups(t):
        server = place.serve("--multi", "COMM")
        client = rsp.Client(server)
        client.ask("!")
        for program in place.ids, place.variant("ids-setuid", 0o4755):
            with attempt(f"vRun of {os.path.basename(program)}"):
                reply = client.ask(f"vRun;{program.encode().hex()};{b'tell'.hex()}")
                t.match("^T", reply, f"vRun: {reply}")
                client.ask("vCont;c")
        t.equal(re.findall(r"^ids: .*", server.output(), re.M), [with_rights_of(ALICE)] * 2,
                "what they told")


THIEF = """
import ctypes, os, sys
server, stop = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
seen, taken = set(), set()
while not os.path.exists(stop):
    try:
        with open(f"/proc/{server}/task/{server}/children") as file:
            children = file.read().split()
    except OSError:
        continue
    for child in children:
        try:
            pidfd = os.pidfd_open(int(child))
        except OSError:
            continue
        for fd in range(3, 40):
            copy = libc.syscall(438, pidfd, fd, 0)
            if copy >= 0:
                seen.add(child)
                taken.add(os.readlink(f"/proc/self/fd/{copy}"))
                os.close(copy)
        os.close(pidfd)
print("seen", len(seen), "taken", *sorted(taken), flush=True)
"""


def test_thief_of_descriptors(t):
    """Another process of the user looks into those that become programs."""
    python = users_python(t, "os.pidfd_open")
    for place, attempt in groups(t):
        server = place.serve("--multi", "COMM")
        client = rsp.Client(server)
        client.ask("!")
        stop = place.directory / "stop"
        stop.unlink(missing_ok=True)
        thief = place.start(python, place.file("thief.py", THIEF), server.serving, stop)
        for _ in range(20):
            client.ask(f"vRun;{place.ids.encode().hex()};{b'tell'.hex()}")
            client.ask("vCont;c")
        place.file("stop")
        with attempt("descriptors of a program that is being started"):
            t.equal(thief.wait(), 0, "the thief's end")
            t.no_match(r"bpf|perf|socket", thief.output())


# ---- libraries, and what else is code ----

def words_of(place):
    return list(place.directory.rglob("*.was-here"))


def servers_words(place):
    """What a library left that a server has loaded."""
    return [path for path in words_of(place)
            if re.search(r"^Name:\ttruehit", path.read_text(), re.M)]


def forget_words(place):
    for path in words_of(place):
        path.unlink()


def lay_out(place, *names):
    directory = place.directory / "lib"
    directory.mkdir(exist_ok=True)
    for name in names:
        shutil.copy(place.intruder, directory / name)
        os.chown(directory / name, ALICE, ALICE)
    os.chown(directory, ALICE, ALICE)
    forget_words(place)
    return directory


def test_libraries(t):
    for place, attempt in groups(t):
        directory = lay_out(place, "libthread_db.so.1", "libpthread.so.0")
        _, client = place.client()
        default = client.monitor("set libthread-db-search-path")
        for path in directory, f"$sdir:{directory}", "$pdir", "$pdir/../lib", "lib":
            forget_words(place)
            with attempt(f"monitor set libthread-db-search-path {path}"):
                text = told_by_monitor(client, f"set libthread-db-search-path {path}")
                client.ask("qSymbol::")
                t.equal(servers_words(place), [], "code of the user's in the server")
                t.match("libthread-db-search-path: .*no library but the system's", text)
                t.equal(client.monitor("set libthread-db-search-path"), default,
                        "what it is set to")
        forget_words(place)
        with attempt("a program that says where its C library is"):
            server = place.serve("COMM", place.ids, "map", directory / "libpthread.so.0",
                                 "tell", "wait")
            client = rsp.Client(server)
            client.send_bytes(client.frame("vCont;c"))
            server.wait_output("ids:")
            client.interrupt()
            client.receive()
            client.ask("qSymbol::")
            t.equal(servers_words(place), [], "code of the user's in the server")


def test_environment(t):
    """What names code or files in the environment."""
    for place, attempt in groups(t):
        directory = lay_out(place, "libthread_db.so.1", "libbpf.so.1", "libdw.so.1",
                            "libc.so.6", "gconv.so", "libdebuginfod.so.1")
        library = directory / "libthread_db.so.1"
        for name, value in (("LD_PRELOAD", library), ("LD_LIBRARY_PATH", directory),
                            ("LD_AUDIT", library), ("GCONV_PATH", directory),
                            ("LD_DEBUG_OUTPUT", directory / "ld"),
                            ("LIBTHREAD_DB", library), ("TMPDIR", directory)):
            forget_words(place)
            with attempt(f"{name} in the environment"):
                environment = {**os.environ, name: str(value), "LD_DEBUG": "files"}
                server = place.serve("COMM", place.ids, "tell", env=environment)
                client = rsp.Client(server)
                client.ask("qSymbol::")
                client.ask("vCont;c")
                server.wait()
                t.equal(server.output().count(with_rights_of(ALICE)), 1, "the program")
                t.equal(servers_words(place), [], "code of the user's in the server")
        with attempt("a shell of the user's"):
            shell = place.variant("ids-shell")
            server = place.start(place.server, ":0", place.ids, "tell",
                                 env={**os.environ, "SHELL": shell})
            t.check(server.wait() > 0, "it is no shell")
        with attempt("a wrapper that tells of its rights"):
            told = place.told("tell", options=("--wrapper", place.ids, "tell", "exec", "--"))
            t.equal(told, with_rights_of(ALICE), "the wrapper")


# ---- the kernel's memory ----

KERNEL = {"x86_64": 0xffffffff81000000, "aarch64": 0xffff800080000000}[os.uname().machine]


def test_memory_of_the_kernel(t):
    """No condition reads it, no watchpoint is in it."""
    for place, attempt in groups(t):
        _, client = place.client()
        with attempt("m of the kernel's memory"):
            reply = client.ask(f"m{KERNEL:x},8")
            t.match("^E", reply, f"the reply {reply!r}")
        for kind in 1, 2, 3, 4:
            with attempt(f"Z{kind} in the kernel's memory"):
                client.ask(f"Z{kind},{KERNEL:x},1")
                reply = client.ask("vCont;s")
                t.match("^[ET]", reply, f"the reply {reply!r}")
                t.no_match(" perf_event | uprobe ", client.monitor("breakpoints"))
                client.ask(f"z{kind},{KERNEL:x},1")
        with attempt("a condition on the kernel's memory"):
            for kind in "break", "hbreak":
                server = place.serve("COMM", place.ids, "tell")
                gdb = t.gdb(server, f"{kind} main if *(long *) {KERNEL:#x} == 0", "continue",
                            "kill", prog=place.ids)
                t.match(f"Cannot access memory at address {KERNEL:#x}", gdb.output())


# ---- the server ----

def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="latin1") as file:
        return dict(re.findall(r"^(\w+):\t(.*)$", file.read(), re.M))


def test_rights_of_the_server(t):
    """It keeps what BPF and perf events need, and that is not in effect."""
    t.need_any_engine()
    bits = {"cap_perfmon": 1 << 38, "cap_bpf": 1 << 39, "cap_checkpoint_restore": 1 << 40}
    many = ("cap_bpf,cap_perfmon,cap_checkpoint_restore,cap_sys_ptrace,cap_sys_admin,"
            "cap_dac_override,cap_setuid,cap_kill+eip")
    for rights in *RIGHTS, many:
        place = Place(t, rights)
        kept = sum(bit for name, bit in bits.items() if name in rights)
        server, client = place.client()
        client.ask("?")  # it has tried the engines by now
        for who, pid, permitted in (("server", server.serving, kept), ("guard", server.pid, 0)):
            status = status_of(pid)
            for line, wanted in (("CapPrm", permitted), ("CapEff", 0), ("CapInh", 0),
                                 ("CapAmb", 0)):
                t.equal(int(status[line], 16), wanted, f"{line} of the {who} ({rights})")
            t.equal(os.stat(f"/proc/{pid}/mem").st_uid, 0, f"whose the {who}'s memory is")


def test_setuid_server(t):
    """A truehit that is setuid is its user's, too."""
    place = Place(t, RIGHTS[0])
    subprocess.run(["setcap", "-r", place.server], check=True)
    os.chmod(place.server, 0o6755)
    precious = t.dir / "precious"
    precious.touch(mode=0o600)
    server, client = place.client()
    for line in "Uid", "Gid":
        t.equal(status_of(server.serving)[line].split(), [str(ALICE)] * 4, line)
    must_fail(t, vfile_open(client, precious), EACCES)
    must_fail(t, vfile_open(client, "/proc/self/mem", O_RDWR), EACCES)
    t.equal(place.told("tell"), with_rights_of(ALICE), "a program")
    setuid = place.variant("ids-setuid", 0o4755)
    t.equal(place.told("tell", program=setuid), with_rights_of(ALICE), "a setuid program")
