#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""truehit-static, as scripts/static has built it, where there is nothing else: a gdb of this
machine debugs a program (tests/whole/job.py) with a server that runs

    empty      in a root with nothing but the server and the program, static, and /proc
    sys        the same with /sys
    bullseye, bookworm, trixie
               in roots of Debian 11, 12 and 13
    musl       in a root with musl and busybox, with a program that musl has loaded: as in
               Alpine Linux
    alpine     in a root of Alpine Linux, if one is given
    initramfs  in a virtual machine that has started from an initramfs, over a serial line

For another processor than this machine's, only the last. The places are all of these, or
those that are named. It needs root, and the network once. The last line is `N passed, N
failed, N skipped`, which are the lines of job.py. Exit status: 0 nothing failed, 1
something did, 77 nothing could be run."""
import sys

sys.dont_write_bytecode = True
import argparse
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
sys.path.insert(0, str(HERE))
import roots
from roots import Root, Unavailable, image, need

sys.path.insert(0, str(HERE.parent / "vm"))
from apt import Apt
from machines import ARCHS

LIMIT = 600        # seconds that a gdb may take
BOOT_LIMIT = 300   # ... and a machine until its initramfs is at work
KERNEL = "6.12"
ALONE = ("--no-startup-with-shell",)  # where there is no shell
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev
exec </dev/null
/bin/busybox stty -F /dev/{tty} raw -echo
echo ready >/dev/{tty}
/truehit-static --once --no-startup-with-shell /dev/{tty} /job
/bin/busybox poweroff -f
"""


class Tally:
    """What the lines of job.py say, of all places."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, place, text, status):
        lines = re.findall(r"^(ok|not ok) - (.*)", text, re.M)
        for verdict, what in lines:
            if verdict == "ok" and "skipped" in what:
                self.skipped += 1
            elif verdict == "ok":
                self.passed += 1
            else:
                self.failed += 1
            print(f"{place:10} {verdict:6} {what}", flush=True)
        broken = status != 0 and not any(verdict == "not ok" for verdict, _ in lines)
        if broken or not lines:
            self.failed += 1
            print(f"{place:10} not ok gdb has ended with status {status}")
        if status != 0 or not lines:
            print(text[-3000:], flush=True)

    def skip(self, place, why):
        self.skipped += 1
        print(f"{place:10} skipped: {why}", flush=True)


# ---- what is put into the roots ----

def sysroot(arch):
    """The C library that the server was built with."""
    return roots.cache() / arch / "static-root" / "tree"


def compile_job(arch, job, *how):
    """The program that is debugged, for Debian 12 and later, or static."""
    image.run(f"{arch.triple}-gcc", f"--sysroot={sysroot(arch.name)}", "-g", "-O0", *how, "-o",
              job, HERE / "job.c")
    return job


def debug(gdb, job, target, libraries="/"):
    """What gdb says, and its status."""
    try:
        done = subprocess.run([gdb, "-nx", "-q", "-batch", "-x", HERE / "job.py", job],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace",
                              check=False, timeout=LIMIT,
                              env=dict(os.environ, LC_ALL="C", JOB_SYSROOT=str(libraries),
                                       JOB_TARGET=f"remote {target}"))
    except subprocess.TimeoutExpired as error:
        return (error.stdout or b"").decode(errors="replace"), f"none within {LIMIT} s"
    return done.stdout, done.returncode


def in_root(options, root, job, *arguments):
    """With the server in the root, at the end of a pipe."""
    for file, name in ((options.file, "truehit-static"), (job, "job")):
        shutil.copy(file, root.path / name)
    command = root.command("/truehit-static", *arguments, "-", "/job")
    return debug("gdb", job, f"| {shlex.join(command)}", root.path)


# ---- the places ----

def try_empty(options, job):
    with roots.temporary() as root:
        (root.path / "proc").mkdir()
        return in_root(options, root, job, *ALONE)


def try_sys(options, job):
    with roots.temporary() as root:
        for name in ("proc", "sys"):
            (root.path / name).mkdir()
        return in_root(options, root, job, *ALONE)


def try_debian(options, job):
    """With a program that needs the C library there, unless it is too old."""
    if options.place != "bullseye":
        job = compile_job(options.arch, job.with_name("job-dynamic"))
    with roots.temporary(roots.debian(options.place)) as root:
        return in_root(options, root, job)


def try_musl(options, job):
    """musl's loader and its program are where Debian has them."""
    need("musl-tools")
    with roots.temporary() as root:
        for name in ("proc", "sys", "dev", "tmp"):
            (root.path / name).mkdir()
        apt = Apt(root.path.parent / "apt", suite=image.DEBIAN,
                  architecture=options.arch.debian)
        image.unpack(apt.packages("musl", "busybox-static"), root.path)
        (root.path / "usr/bin/sh").symlink_to("busybox")
        job = job.with_name("job-musl")
        image.run("musl-gcc", "-g", "-O0", "-o", job, HERE / "job.c")
        return in_root(options, root, job)


def try_alpine(options, job):
    if not options.alpine:
        raise Unavailable("Alpine's packages are not where Debian's are: unpack its minimal "
                          "root and name the directory (--alpine); musl stands for it")
    with roots.temporary(options.alpine) as root:
        return in_root(options, root, job)


def wait_until_ready(path, machine):
    """The initramfs says so on the line that gdb has afterwards."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(BOOT_LIMIT)
        line.connect(str(path))
        text = b""
        while b"ready" not in text:
            got = line.recv(4096)
            if not got:
                raise Unavailable(f"the machine has ended with status {machine.wait()}")
            text += got


def fetch_kernel(arch):
    """The directory of a kernel and a busybox."""
    kept = roots.cache() / arch.name / f"initramfs-{KERNEL}"
    with image.alone_in(kept.parent):
        place = image.Place(kept, KERNEL, INIT)
        if not place.current():
            image.note(f"fetching Linux {KERNEL} for {arch.name}")
            with place as partial:
                _, packages = image.find_kernel(arch, KERNEL, partial / "apt")
                apt = Apt(partial / "more", suite=image.DEBIAN, architecture=arch.debian)
                image.unpack(packages + apt.packages("busybox-static"), partial / "tree")
                images = [*partial.glob("tree/boot/vmlinu*"),
                          *partial.glob("tree/lib/modules/*/vmlinu*")]
                shutil.copy(images[0], partial / "vmlinuz")
                shutil.copy(partial / "tree/usr/bin/busybox", partial / "busybox")
                for name in ("apt", "more", "tree"):
                    shutil.rmtree(partial / name)
    return kept


def make_initramfs(options, job, kernel, directory):
    tree = directory / "tree"
    (tree / "bin").mkdir(parents=True)
    for file, name in ((kernel / "busybox", "bin/busybox"), (options.file, "truehit-static"),
                       (job, "job")):
        shutil.copy(file, tree / name)
    (tree / "init").write_text(INIT.format(tty=options.arch.console))
    (tree / "init").chmod(0o755)
    image.run("sh", "-c", 'cd "$1" && find . | cpio --quiet -o -H newc -R 0:0 >"$2"', "sh",
              tree, directory / "initramfs")


def try_initramfs(options, job):
    """The kernel has no console: the only serial line is gdb's."""
    arch = options.arch
    need("cpio", {"x86_64": "qemu-system-x86", "aarch64": "qemu-system-arm"}[arch.name],
         "gdb-multiarch")
    kernel = fetch_kernel(arch)
    machine, processor, accelerator = arch.emulated
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        make_initramfs(options, job, kernel, directory)
        line = directory / "line"
        with subprocess.Popen(
                [f"qemu-system-{arch.name}", "-M", machine, "-cpu", processor, "-accel",
                 accelerator, "-m", "512", "-smp", "2", "-nodefaults", "-no-user-config",
                 "-display", "none", "-no-reboot", "-kernel", kernel / "vmlinuz", "-initrd",
                 directory / "initramfs", "-append", "console=tty0 panic=-1 rdinit=/init",
                 "-chardev", f"socket,id=line,path={line},server=on,wait=off", "-serial",
                 "chardev:line"], stdin=subprocess.DEVNULL) as qemu:
            try:
                while not line.exists() and qemu.poll() is None:
                    time.sleep(0.05)
                wait_until_ready(line, qemu)
                return debug("gdb-multiarch", job, line)
            except TimeoutError:
                raise Unavailable(f"the machine has not started in {BOOT_LIMIT} s") from None
            finally:
                qemu.kill()


PLACES = {"empty": try_empty, "sys": try_sys, "bullseye": try_debian, "bookworm": try_debian,
          "trixie": try_debian, "musl": try_musl, "alpine": try_alpine,
          "initramfs": try_initramfs}


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", metavar="PLACE", nargs="*", help="all if none is given")
    parser.add_argument("--arch", choices=ARCHS, default=os.uname().machine)
    parser.add_argument("--file", type=pathlib.Path,
                        help="default: build/static/ARCH/truehit-static")
    parser.add_argument("--alpine", metavar="DIR", type=pathlib.Path)
    options = parser.parse_args()
    if not set(options.places) <= set(PLACES):
        parser.error(f"places are {', '.join(PLACES)}")
    options.file = (options.file or TOP / "build/static" / options.arch / "truehit-static"
                    ).resolve()
    if not options.file.exists() or not sysroot(options.arch).exists():
        parser.error(f"there is no {options.file}; scripts/static {options.arch} builds it")
    if not options.places:
        options.places = PLACES if options.arch == os.uname().machine else ["initramfs"]
    options.arch = ARCHS[options.arch]
    return options


def main():
    options, tally = arguments(), Tally()
    if os.geteuid() != 0:
        print("static.py: only root can run something in another root", file=sys.stderr)
        return 77
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory() as directory:
        job = compile_job(options.arch, pathlib.Path(directory) / "job", "-static")
        for options.place in options.places:
            try:
                tally.add(options.place, *PLACES[options.place](options, job))
            except Unavailable as error:
                tally.skip(options.place, error)
    print(f"{tally.passed} passed, {tally.failed} failed, {tally.skipped} skipped")
    return 1 if tally.failed else 0 if tally.passed else 77


if __name__ == "__main__":
    sys.exit(main())
