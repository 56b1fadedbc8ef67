#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""alone.py --limit=SECONDS COMMAND...: runs a command so that it meets no other,
and nothing of it is left afterwards.

It has a session, a network name space (where the rights allow it: two tests never
meet at a TCP port) and a time limit. What it leaves behind, however far removed,
is found by descent and ended. Prints what happened as JSON."""
import argparse
import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time

GRACE = 0.3   # seconds that what is left behind has to end by itself
POLL = 0.02
SETTLE = 20   # seconds for what was killed to be gone
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 0x1, 0x40

libc = ctypes.CDLL(None, use_errno=True)


def leave_network():
    """A network name space with nothing but a loopback that works. Without the right
    to one, tests that meet at a port take the next."""
    if libc.unshare(CLONE_NEWNET) != 0:
        return
    request = struct.pack("16sH22x", b"lo", IFF_UP | IFF_RUNNING)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, SIOCSIFFLAGS, request)


def descendants():
    """The pids of all descendants, zombies included, with their names."""
    children, names = {}, {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="latin1") as file:
                head, _, tail = file.read().rpartition(")")
        except OSError:
            continue
        names[int(entry)] = head.partition("(")[2]
        children.setdefault(int(tail.split()[1]), []).append(int(entry))
    found, todo = {}, [os.getpid()]
    while todo:
        for pid in children.get(todo.pop(), []):
            found[pid] = names[pid]
            todo.append(pid)
    return found


def reap(wanted=None):
    """Reaps every child that has ended; the exit status of the one with this pid."""
    found = None
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return found
            if pid == wanted:
                found = os.waitstatus_to_exitcode(status)
    except ChildProcessError:
        return found


def end_descendants(grace):
    """Ends what is left. Returns the names of what did not go by itself, without
    DejaGnu's own timers, which are shells that sleep."""
    begin, ended = time.monotonic(), {}
    while time.monotonic() - begin < grace + SETTLE:
        reap()
        left = descendants()
        if not left:
            break
        if time.monotonic() - begin >= grace or set(left.values()) <= {"sh", "sleep"}:
            for pid, name in left.items():
                ended.setdefault(pid, name)
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        time.sleep(POLL)
    return sorted(name for name in ended.values() if name not in ("sh", "sleep"))


def become_the_root():
    """Of all that follows: it ends with us, and we with our parent."""
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    # The command gets the default actions, whatever the caller ignores (nohup, a job
    # in the background): a handler becomes the default when a program is started.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: (end_descendants(0), os._exit(130)))
    for number in (signal.SIGQUIT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    # The session has no terminal, and this process leads it, not runtest: a pseudo
    # terminal that a leader opens becomes the session's own, and closing it would
    # end runtest by SIGHUP.
    os.setsid()


def run(command, limit):
    """Returns the exit status, or None if the command had to be ended, and seconds."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr,
                               preexec_fn=lambda: os.setpgid(0, 0))
    while time.monotonic() - begin <= limit:
        status = reap(process.pid)
        if status is not None:
            break
        time.sleep(POLL)
    else:
        end_descendants(0)
        status = None
    return status, time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--limit", type=float, required=True)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    become_the_root()
    leave_network()
    status, seconds = run(options.command, options.limit)
    left = end_descendants(GRACE)
    print(json.dumps({"finished": status is not None, "status": status,
                      "seconds": round(seconds, 1), "left": left}))


main()
