# SPDX-License-Identifier: BSD-2-Clause
"""What ordinary users must not get from a truehit that has file capabilities (README,
Rights), and what they do get.

All attempts are made with the capabilities of README, and with CAP_SYS_PTRACE as well,
which a file may still have; or with those that E2E_RIGHTS names, as setcap(8) takes them.
"""
import contextlib
import os
import pwd
import re
import shutil
import socket
import subprocess

import harness
import rsp

ALICE, BOB = 60001, 60002   # users that no system gives anybody
RIGHTS = os.environ.get("E2E_RIGHTS", harness.CAPABILITIES +
                        " cap_bpf,cap_perfmon,cap_sys_ptrace+ep").split()
NONE = "0" * 16             # no capabilities, as the kernel writes them
EPERM, ENOENT, EACCES, O_RDWR = 1, 2, 13, 2


def become(uid):
    """For preexec: this user, who still ends with us."""
    def preexec():
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        harness.die_with_parent()
    return preexec


def run_to_end(client):
    """An exec is a stop."""
    while client.ask("vCont;c").startswith("T"):
        pass


def told_by_monitor(client, line):
    """What a command that may fail prints."""
    client.console.clear()
    reply = client.ask("qRcmd," + line.encode().hex())
    return client.console.decode() + (
        "" if reply == "OK" or is_refusal(reply) else bytes.fromhex(reply).decode())


def is_refusal(text):
    return re.match(r"(E|F-1)", text) is not None


class Attempts:
    """A group of attempts, each of which has to be refused."""

    def __init__(self, t, rights):
        self.t = t
        self.rights = rights
        self.failed = []

    @contextlib.contextmanager
    def __call__(self, what):
        self.t.note(f"--- {what} ({self.rights})")
        try:
            yield
        except harness.Failure as failure:
            self.t.note(f"    NOT REFUSED: {failure}")
            self.failed.append(f"{what} ({self.rights}): {failure}")


class Place:
    """A truehit with file capabilities, and what Alice may write: a directory."""

    def __init__(self, t, rights):
        t.truehit_only("capabilities of its own")
        t.need_root()
        t.need_tool("setcap")
        self.t = t
        self.server, self.ids, self.intruder = t.public_copy(
            t.config.server, t.prog("ids"), t.prog("libintruder.so"))
        self.give(self.server, rights)
        self.directory = t.dir / "alice"
        self.directory.mkdir(exist_ok=True)
        os.chown(self.directory, ALICE, ALICE)

    def give(self, file, rights):
        if os.statvfs(self.t.dir).f_flag & os.ST_NOSUID:
            self.t.skip(f"no file capabilities in {self.t.dir}, which is mounted nosuid: "
                        "set TMPDIR")
        done = subprocess.run(["setcap", rights, file], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            self.t.skip("no file capabilities here: " + done.stderr.strip())
        try:
            subprocess.run([file, "--version"], check=False, stdout=subprocess.DEVNULL,
                           preexec_fn=become(ALICE))
        except PermissionError:
            self.t.skip(f"nobody can have {rights} here (a container's bounding set)")

    def variant(self, name, mode=0o755, owner=0, group=0, rights=None):
        """A copy of ids that has another owner, or capabilities."""
        copy = self.t.dir / "public" / name
        if not copy.exists():
            shutil.copy(self.ids, copy)
            os.chown(copy, owner, group)
            os.chmod(copy, mode)
            if rights:
                self.give(copy, rights)
        return str(copy)

    def file(self, name, text=""):
        """A file of Alice's."""
        path = self.directory / name
        path.write_text(text)
        os.chown(path, ALICE, ALICE)
        return path

    def start(self, *argv, uid=ALICE, **kwargs):
        kwargs.setdefault("cwd", "/")
        return harness.Process(self.t, argv, preexec=become(uid), **kwargs)

    def process(self, *words, uid=ALICE, program=None):
        """A process that has told who it is, and waits. root: uid 0."""
        process = self.start(program or self.ids, *words, "tell", "wait", uid=uid)
        process.wait_output(r"ids: .*")
        return process

    def serve(self, *argv, **kwargs):
        """A server of Alice's that is there for a client."""
        kwargs.setdefault("cwd", "/")
        return self.t.server(*argv, program=[self.server], preexec=become(ALICE), **kwargs)

    def refused(self, regex, *argv, **kwargs):
        """Alice's server does not start, and says why."""
        process = self.start(self.server, *argv, **kwargs)
        harness.wait_for(lambda: process.process.poll() is not None
                         or "Listening on" in process.output(), "the server's word")
        status = process.process.poll()
        if status is None:
            for pid in (*harness.descendants(process.pid), process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, 9)
        self.t.check(status is not None, "it went through")
        self.t.check(status > 0, f"exit status {status}")
        self.t.match(regex, process.output())

    def told(self, *words, options=(), program=None, **kwargs):
        """What ids tells of itself as a program that Alice starts."""
        server = self.serve(*options, "COMM", program or self.ids, *words, **kwargs)
        run_to_end(rsp.Client(server))
        server.wait()
        return self.t.match(r"^ids: .*", server.output()).group(0)

    def client(self):
        """Of a server that Alice has started with a program."""
        server = self.serve("COMM", self.ids, "wait")
        return server, rsp.Client(server)


def groups(t):
    """Each set of rights; what went through fails the test at its end."""
    t.need_any_engine("what users may do")
    failed = []
    for rights in RIGHTS:
        place = Place(t, rights)
        attempts = Attempts(t, rights)
        yield place, attempts
        failed += attempts.failed
    t.check(not failed, f"{len(failed)} attempts went through: " + "; ".join(failed))


# ---- attach ----

def need_attach(t):
    """Users may attach to processes that they have started elsewhere."""
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope", encoding="ascii") as file:
            scope = int(file.read())
    except FileNotFoundError:
        return
    if scope > 0:
        t.skip("kernel.yama.ptrace_scope keeps users from attaching")


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

def with_rights_of(uid, capabilities=NONE):
    ids = f"{uid} {uid} {uid}"
    return f"ids: uid {ids} gid {ids} capabilities {capabilities} dumpable 1"


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


def users_python(t, function):
    """That of the system: root's own may be out of reach."""
    python = shutil.which("python3", path="/usr/bin:/bin")
    if not python or subprocess.run([python, "-c", f"import os; {function}"], check=False,
                                    capture_output=True).returncode:
        t.skip(f"no python3 with {function} for ordinary users")
    return python


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


# ---- files ----

def vfile_open(client, path, flags=0):
    return client.ask(f"vFile:open:{os.fsencode(str(path)).hex()},{flags:x},0")


def must_fail(t, reply, *errnos):
    t.check(reply in [f"F-1,{errno:x}" for errno in errnos], f"the reply {reply!r}")


def test_files_of_processes(t):
    """vFile opens of /proc what the user can open."""
    for place, attempt in groups(t):
        server, client = place.client()
        root, bob = place.process(uid=0), place.process(uid=BOB)
        for flags in 0, O_RDWR:
            for whose, pid in (("self", "self"), ("server", server.serving), ("root", root.pid),
                               ("another user", bob.pid), ("guard", server.pid)):
                with attempt(f"vFile:open of the memory of {whose}, flags {flags}"):
                    must_fail(t, vfile_open(client, f"/proc/{pid}/mem", flags), EPERM, EACCES)
        for name in "maps", "environ", "auxv", "syscall", "stack", "root/etc/passwd", "fd/0", \
                "cwd/etc/passwd", "exe":
            with attempt(f"vFile:open of {name} of root's process"):
                # Those of mode 0444 open, and then say nothing.
                reply = vfile_open(client, f"/proc/{root.pid}/{name}")
                if not is_refusal(reply):
                    reply = client.ask(f"vFile:pread:{reply[1:]},100,0")
                t.check(reply == "F0;" or is_refusal(reply), f"the reply {reply!r}")
        with attempt("vFile:readlink of root's program"):
            path = f"/proc/{root.pid}/exe".encode().hex()
            must_fail(t, client.ask(f"vFile:readlink:{path}"), EPERM, EACCES)
        with attempt("vFile:setfs of root's process"):
            must_fail(t, client.ask(f"vFile:setfs:{root.pid:x}"), EPERM, EACCES)


def test_self_of_a_dumpable_server(t):
    """Where the kernel would leave it dumpable, as its user has the capabilities himself,
    it is not, either."""
    t.need_tool("setpriv")
    capable = ["setpriv", f"--reuid={ALICE}", f"--regid={ALICE}", "--clear-groups",
               "--inh-caps=+bpf,+perfmon,+sys_ptrace",
               "--ambient-caps=+bpf,+perfmon,+sys_ptrace"]
    if subprocess.run([*capable, "true"], check=False, capture_output=True).returncode:
        t.skip("setpriv cannot hand on these capabilities here")
    for place, attempt in groups(t):
        server = t.server("COMM", place.ids, "wait", cwd="/", program=[*capable, place.server])
        client = rsp.Client(server)
        for flags in 0, O_RDWR:
            with attempt(f"vFile:open of /proc/self/mem, flags {flags}"):
                must_fail(t, vfile_open(client, "/proc/self/mem", flags), EACCES)


def test_files_of_root(t):
    """Files by vFile, for debugging output, as sockets, and the working directory."""
    for place, attempt in groups(t):
        closed = t.dir / "closed"
        closed.mkdir(exist_ok=True)
        closed.chmod(0o700)
        precious = t.dir / "precious"
        precious.write_text("untouched")
        precious.chmod(0o600)
        root = place.process(uid=0)
        server, client = place.client()
        shadow = ["/etc/shadow"] if os.path.exists("/etc/shadow") else []
        for path in (*shadow, precious, closed / "any"):
            with attempt(f"vFile:open of {path}"):
                must_fail(t, vfile_open(client, path), EACCES)
        with attempt("vFile:unlink of root's file"):
            must_fail(t, client.ask(f"vFile:unlink:{str(precious).encode().hex()}"), EACCES)
        for path in precious, closed / "out", f"/proc/{root.pid}/mem", "/etc/truehit-e2e":
            with attempt(f"--debug-file={path}"):
                place.refused(f"Cannot open {path} for writing: Permission denied",
                              "--debug=all", f"--debug-file={path}", ":0", place.ids)
            with attempt(f"monitor set debug-file {path}"):
                t.match("Cannot open .*Permission denied",
                        told_by_monitor(client, f"set debug-file {path}"))
        for path in closed / "socket", t.dir / "socket", "/proc/self/socket":
            with attempt(f"unix:{path}"):
                place.refused(f"{path}.*", f"unix:{path}", place.ids)
        with attempt("the socket of somebody else"):
            held = t.dir / "held"
            held.unlink(missing_ok=True)
            with socket.socket(socket.AF_UNIX) as other:
                other.bind(str(held))
            place.refused("cannot replace .*Permission denied|in use", f"unix:{held}", place.ids)
            t.check(held.exists(), "the socket is gone")
        with attempt("root's directory as the working directory"):
            client.ask("!")
            client.ask(f"QSetWorkingDir:{str(closed).encode().hex()}")
            reply = client.ask(f"vRun;{place.ids.encode().hex()}")
            t.match("^E", reply, f"the reply {reply!r}")
        t.equal(precious.read_text(), "untouched", "root's file")
        t.equal(os.listdir(closed), [], "root's directory")


EXCHANGER = """
import os, sys
link, stop, *targets = sys.argv[1:]
while not os.path.exists(stop):
    for target in targets:
        os.symlink(target, link + ".new")
        os.rename(link + ".new", link)
"""


def test_symlinks_that_change(t):
    """A link of the user's leads to his own, and to root's, by turns."""
    python = users_python(t, "os.symlink")
    for place, attempt in groups(t):
        roots = t.dir / "roots"
        roots.mkdir(exist_ok=True)
        (roots / "file").write_text("untouched")
        own = place.directory / "own"
        own.mkdir(exist_ok=True)
        os.chown(own, ALICE, ALICE)
        place.file("own/file")
        link, stop = place.directory / "link", place.directory / "stop"
        stop.unlink(missing_ok=True)
        place.start(python, place.file("exchanger.py", EXCHANGER), link, stop, own, roots)
        harness.wait_for(lambda: os.path.lexists(link), "the link")
        _, client = place.client()
        with attempt("a link of debugging output's"):
            for _ in range(200):
                told_by_monitor(client, f"set debug-file {link}/file")
            client.monitor("set debug-file")
        with attempt("a link of vFile's"):
            for _ in range(200):
                reply = vfile_open(client, f"{link}/file", 1)
                if not is_refusal(reply):
                    client.ask(f"vFile:pwrite:{reply[1:]},0,mine")
                    client.ask(f"vFile:close:{reply[1:]}")
                client.ask(f"vFile:unlink:{f'{link}/other'.encode().hex()}")
        with attempt("a link of the socket's"):
            for _ in range(5):
                server = place.start(place.server, "--once", f"unix:{link}/socket", place.ids)
                harness.wait_for(lambda: server.process.poll() is not None
                                 or "Listening on" in server.output(), "its word")
                for pid in harness.descendants(server.pid):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, 15)
                server.wait()
        place.file("stop")
        t.equal(sorted(os.listdir(roots)), ["file"], "root's directory")
        t.equal((roots / "file").read_text(), "untouched", "root's file")


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


# ---- README ----

def recipe():
    """README's commands for an ordinary user."""
    text = (harness.ROOT / "README").read_text()
    rights = re.search(r"^Rights\n-+\n(.*?)^What it promises", text, re.S | re.M).group(1)
    return [re.split(r"\s{3,}", line)[0]
            for line in re.findall(r"^    # (.*)$", rights, re.M)]


INSTALL = """
set -e
directory=$1 server=$2
mkdir -p "$directory/etc"
mount -t tmpfs -o mode=755 none "$directory/etc"
cp -a /etc/. "$directory/etc"
mount --bind "$directory/etc" /etc
for file in /etc/group /etc/gshadow; do [ ! -e $file ] || sed -i /^truehit:/d $file; done
mount -t tmpfs -o mode=755 none /usr/local/bin
cp "$server" /usr/local/bin/truehit
chmod 755 /usr/local/bin/truehit
set -x
"""


def installed(t):
    """A script that installs truehit as README tells, in a mount name space of its own:
    nothing is left of it. What comes after it is run there."""
    t.need_any_engine("what README says")
    t.need_root()
    t.need_kernel_conditions()
    for tool in "setcap", "setpriv", "unshare", "groupadd", "usermod":
        t.need_tool(tool)
    try:
        subprocess.run(["unshare", "--mount", "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        t.skip("no mount name space can be made here")
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
        too_high = int(file.read()) > 2
    commands = recipe()
    t.check(any("setcap cap_bpf,cap_perfmon+ep " in c for c in commands), f"README: {commands}")
    script = INSTALL
    for command in commands:
        # Only where it is higher; and this is the whole machine's.
        if command.startswith("sysctl"):
            t.equal(command, "sysctl kernel.perf_event_paranoid=2", "README")
            continue
        script += command.replace("USER", "nobody") + "\n"
    return script, too_high


def run_installed(t, script, user, *argv):
    """argv is executed by this user, in its groups."""
    who = {"nobody": ["--reuid=nobody", f"--regid={pwd.getpwnam('nobody').pw_gid}",
                       "--init-groups"],
           "alice": [f"--reuid={ALICE}", f"--regid={ALICE}", "--clear-groups"]}[user]
    # setpriv itself has all capabilities until it executes something.
    return ["unshare", "--mount", "--propagation=private", "bash", "-c",
            script + 'set +x\nshift 2\nexec setpriv "$@"', "recipe", str(t.dir / user),
            t.config.server, *who, "/bin/sh", "-c", 'exec "$0" "$@"', *argv]


def test_readme(t):
    """What README tells, word by word: then it is as README says."""
    script, too_high = installed(t)
    (t.dir / "nobody").mkdir()
    prog, ids = t.public_copy(t.prog("conditions"), t.prog("ids"))
    for kind in "hbreak", "break":
        server = t.server("COMM", prog, cwd="/",
                          program=run_installed(t, script, "nobody", "/usr/local/bin/truehit"))
        gdb = t.gdb(server, f"{kind} {t.line('conditions.c', 'BODY')} if i % 20 == 7", prog=prog,
                    python="""
run("continue")
emit(i=value("i"), table=run("monitor breakpoints"), engines=run("monitor engines"))
run("kill")
""")
        result = gdb.results[0]
        t.equal(result["i"], "7", f"the true hit of {kind}")
        if too_high:
            t.match("needs root, or: sysctl kernel.perf_event_paranoid=2", server.output())
            continue
        t.no_match(r"perf_event .*(CAP_BPF|not permitted|[Pp]ermission)", result["engines"])
        t.no_match(r"needs root, or: .*setcap", server.output())
        if not re.search(r"^perf_event .*\n +not usable", result["engines"], re.M):
            t.match(r" (perf_event|uprobe) +kernel ", result["table"])
    need_attach(t)
    server = harness.Process(t, run_installed(t, script, "nobody", "/bin/bash", "-c", f"""
{ids} wait &
sleep 0.1
exec /usr/local/bin/truehit --attach :0 $!
"""), cwd="/")
    server.wait_output("Listening on port")
    t.match(r"Attached; pid = \d+", server.output())


def test_readme_other_users(t):
    """Who is not in the group cannot execute it."""
    script, _ = installed(t)
    (t.dir / "alice").mkdir()
    process = harness.Process(t, run_installed(t, script, "alice", "/usr/local/bin/truehit",
                                               "--version"), cwd="/")
    t.check(process.wait() > 0, "exit status")
    t.match("Permission denied", process.output())
