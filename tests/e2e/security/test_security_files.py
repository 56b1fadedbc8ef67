# SPDX-License-Identifier: BSD-2-Clause
"""Files that ordinary users must not reach by a truehit that has file capabilities: those of
other users' processes, root's, and what their own links lead to."""
import contextlib
import os
import socket
import subprocess

import harness
import rsp
from attempts import (ALICE, BOB, EACCES, EPERM, O_RDWR, groups, is_refusal, must_fail,
                      told_by_monitor, users_python, vfile_open)


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
