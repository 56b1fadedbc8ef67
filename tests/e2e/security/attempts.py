# SPDX-License-Identifier: BSD-2-Clause
"""Ordinary users, and a truehit with file capabilities from which they try to get what they
should not."""
import contextlib
import os
import re
import shutil
import subprocess

import harness
import rsp

ALICE, BOB = 60001, 60002   # users that no system gives anybody
RIGHTS = os.environ.get("E2E_RIGHTS", harness.CAPABILITIES +
                        " cap_bpf,cap_perfmon,cap_sys_ptrace+ep").split()
NONE = "0" * 16             # no capabilities, as the kernel writes them
EPERM, EACCES, O_RDWR = 1, 13, 2


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


def need_attach(t):
    """Users may attach to processes that they have started elsewhere."""
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope", encoding="ascii") as file:
            scope = int(file.read())
    except FileNotFoundError:
        return
    if scope > 0:
        t.skip("kernel.yama.ptrace_scope keeps users from attaching")


def with_rights_of(uid, capabilities=NONE):
    ids = f"{uid} {uid} {uid}"
    return f"ids: uid {ids} gid {ids} capabilities {capabilities} dumpable 1"


def users_python(t, function):
    """That of the system: root's own may be out of reach."""
    python = shutil.which("python3", path="/usr/bin:/bin")
    if not python or subprocess.run([python, "-c", f"import os; {function}"], check=False,
                                    capture_output=True).returncode:
        t.skip(f"no python3 with {function} for ordinary users")
    return python


def vfile_open(client, path, flags=0):
    return client.ask(f"vFile:open:{os.fsencode(str(path)).hex()},{flags:x},0")


def must_fail(t, reply, *errnos):
    t.check(reply in [f"F-1,{errno:x}" for errno in errnos], f"the reply {reply!r}")
