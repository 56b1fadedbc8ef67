# SPDX-License-Identifier: BSD-2-Clause
"""Roots of other systems, in which a command is run as in a machine of its own: Debian's
releases, made by debootstrap once and copied for each use."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "vm"), str(HERE.parent / "gdb-testsuite")]
import image
from apt import Unavailable, codename, machine_entries
from needs import need

LIMIT = 3600  # seconds that a command may take
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
               "DEBIAN_FRONTEND": "noninteractive", "TERM": "dumb"}


def cache():
    default = HERE.parent.parent / "build" / "vm"
    return pathlib.Path(os.environ.get("TRUEHIT_VM_CACHE") or default).resolve()


def mirror():
    """Where the machine's own packages come from."""
    for entry in machine_entries():
        if codename() in entry.get("Suites", "").split():
            return entry["URIs"].split()[0]
    raise Unavailable(f"apt's sources name no archive for {codename()}")


def apt_settings():
    """What the machine's apt needs to reach the mirror, as it may be that of a network."""
    dump = subprocess.run(["apt-config", "dump"], stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, check=True).stdout
    return "".join(line + "\n" for line in dump.splitlines()
                   if line.startswith(("Acquire::http", "Acquire::Check-")))


def debian(suite):
    """The directory of a release's smallest root, which is not to be changed."""
    if os.geteuid() != 0:
        raise Unavailable("roots of other systems need root")
    need("debootstrap")
    kept = cache() / os.uname().machine / f"debian-{suite}"
    with image.alone_in(kept.parent):
        place = image.Place(kept, suite, mirror())
        if not place.current():
            image.note(f"making a root of Debian {suite}")
            with place as partial:
                image.run("debootstrap", "--variant=minbase", suite, partial / "root", mirror())
                (partial / "root/etc/apt/apt.conf.d/90mirror").write_text(apt_settings())
    return kept / "root"


class Root:
    """A root in a directory."""

    def __init__(self, path):
        self.path = pathlib.Path(path)

    def command(self, *command, user=None, environment=()):
        """How to run a command there; user: a name, or UID:GID."""
        variables = {**ENVIRONMENT, **dict(environment)}
        return ["env", "-i", *(f"{name}={value}" for name, value in variables.items()),
                str(HERE / "enter"), str(self.path), user or "", *map(str, command)]

    def run(self, *command, check=True, limit=LIMIT, **options):
        """What it has printed, and its status if that is not to be 0."""
        done = subprocess.run(self.command(*command, **options), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False, timeout=limit)
        if check and done.returncode != 0:
            raise Unavailable(f"{command[0]} in {self.path.name}: status {done.returncode}\n"
                              + done.stdout[-6000:])
        return done.stdout if check else (done.returncode, done.stdout)

    def apt(self, *arguments):
        return self.run("apt-get", "-q", "-y", "--no-install-recommends", *arguments)


@contextlib.contextmanager
def temporary(origin=None):
    """A copy of a root, or an empty one, that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="truehit-root-", dir=cache_directory()) as directory:
        path = pathlib.Path(directory) / "root"
        if origin:
            image.run("cp", "-a", "--reflink=auto", origin, path)
        else:
            path.mkdir()
        os.chmod(directory, 0o755)
        yield Root(path)


def cache_directory():
    cache().mkdir(parents=True, exist_ok=True)
    return cache()
