# SPDX-License-Identifier: BSD-2-Clause
"""GDB's own test suite, from Debian's source package: the one of the installed gdb's
version, or of the gdb of another suite of the distribution, which is fetched, too."""
import dataclasses
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys

from apt import Apt, Unavailable

TOOLS = ("runtest", "expect", "gcc", "g++", "make")
GET_GDB = pathlib.Path(__file__).resolve().parents[2] / "scripts/get-gdb"
SOURCES = pathlib.Path("/usr/src")   # where the source may lie, as in scripts/vm's machines


@dataclasses.dataclass
class Debugger:
    """A gdb, the gdbserver of the same version, and the source package of both."""
    gdb: str
    gdbserver: str
    package: str
    version: str
    programs: tuple   # the files that have their code

    def digest(self):
        digest = hashlib.sha256()
        for path in self.programs:
            digest.update(pathlib.Path(path).read_bytes())
        return digest.hexdigest()[:12]


@dataclasses.dataclass
class Suite:
    debugger: Debugger
    source: pathlib.Path   # gdb/testsuite of the source
    site: str              # the text of the configured site.exp

    def has(self, name):
        return (self.source / name).is_file()

    def boards(self):
        return sorted(path.stem for path in self.source.glob("boards/*gdbserver.exp"))


def prepare(directory, release=None):
    """The suite, from this directory if it is there already. Raises Unavailable."""
    require(*TOOLS)
    debugger = fetched(directory / "programs", release) if release else installed()
    name = tree_name(debugger.package, debugger.version)
    tree = next(filter(pathlib.Path.is_dir, (place / name for place in (SOURCES, directory))),
                None)
    if not tree:
        get = fetch_packed if release else fetch
        tree = get(debugger.package, debugger.version, directory, release)
    source = tree / "gdb" / "testsuite"
    if not (source / "configure").is_file():
        raise Unavailable(f"{tree} has no test suite")
    return Suite(debugger, source, configure(source, tree / "build-testsuite"))


def installed():
    require("gdb", "gdbserver", "dpkg-query")
    query = subprocess.run(
        ["dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", "gdb"],
        capture_output=True, text=True, check=False)
    if query.returncode != 0:
        raise Unavailable("gdb is not from a package")
    paths = [str(pathlib.Path(shutil.which(name)).resolve()) for name in ("gdbserver", "gdb")]
    return Debugger(paths[1], paths[0], *query.stdout.split(), programs=tuple(paths))


def fetched(directory, release):
    """What scripts/get-gdb unpacks in this directory."""
    directory.mkdir(parents=True, exist_ok=True)
    gdb, gdbserver = directory / "gdb", directory / "gdbserver"
    if not (directory / "complete").exists():
        run([sys.executable, GET_GDB, release, directory], directory)
        (directory / "complete").touch()
    told = subprocess.run([gdbserver, "--version"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False).stdout
    match = re.match(r"GNU gdbserver \(Debian (\S+)\)", told)
    if not match:
        raise Unavailable(f"{gdbserver} does not tell its version in Debian")
    programs = tuple(directory / "root/usr/bin" / name for name in ("gdbserver", "gdb"))
    return Debugger(str(gdb), str(gdbserver), "gdb", match.group(1), programs)


def require(*tools):
    missing = [tool for tool in tools if not shutil.which(tool)]
    if missing:
        raise Unavailable(f"not installed: {', '.join(missing)}")


def tree_name(package, version):
    return f"{package}-{version}"


def fetch(package, version, directory, release=None):
    """Unpacks the source package in this directory; the tree's path. release: of the
    distribution, if it is not the one that runs here."""
    require("dpkg-source")
    tree = directory / tree_name(package, version)
    download = directory / "download"
    shutil.rmtree(download, ignore_errors=True)
    download.mkdir(parents=True)
    apt = Apt(download / "apt", sources=True, suite=release)
    description = apt.source(package, version, download)
    # Under another name until it is complete: a tree that is there is whole.
    run(["dpkg-source", "--no-check", "-x", description.name, "source"], download)
    (download / "source").rename(tree)
    shutil.rmtree(download)
    return tree


def fetch_packed(package, version, directory, release):
    """As fetch(), from the binary package that has the source: a mirror whose source
    packages are behind has it as new as gdb itself."""
    tree = directory / tree_name(package, version)
    download = directory / "download"
    shutil.rmtree(download, ignore_errors=True)
    download.mkdir(parents=True)
    name = f"{package}-source"
    for file in Apt(download / "apt", suite=release).download(f"{name}={version}"):
        run(["dpkg-deb", "-x", file, "unpacked"], download)
    for archive in (download / "unpacked/usr/src").glob(f"{package}.tar.*"):
        run(["tar", "-xf", archive], download)
    (download / package).rename(tree)
    shutil.rmtree(download)
    return tree


def configure(source, build, *arguments):
    """The text of build/site.exp."""
    site = build / "site.exp"
    # It holds the whole path, and the tree may have been moved.
    if not site.is_file() or f"set srcdir {source}\n" not in site.read_text():
        shutil.rmtree(build, ignore_errors=True)
        build.mkdir()
        run([source / "configure", *arguments], build)
        run(["make", "-s", "site.exp"], build)
    return site.read_text()


def run(command, directory):
    log = directory / "log"
    with open(log, "ab") as output:
        done = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL,
                              stdout=output, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise Unavailable(f"{pathlib.Path(command[0]).name} failed, see {log}")
