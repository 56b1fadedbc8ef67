# SPDX-License-Identifier: BSD-2-Clause
"""GDB's own test suite: the one of the installed gdb's version, from Debian's source
package, configured to run against the installed gdb."""
import dataclasses
import pathlib
import shutil
import subprocess

from apt import Apt, Unavailable

TOOLS = ("gdb", "gdbserver", "runtest", "expect", "gcc", "g++", "make", "dpkg-query")
SOURCES = pathlib.Path("/usr/src")   # where the source may lie, as in scripts/vm's machines


@dataclasses.dataclass
class Suite:
    version: str           # of Debian's source package
    source: pathlib.Path   # gdb/testsuite of the source
    site: str              # the text of the configured site.exp

    def has(self, name):
        return (self.source / name).is_file()

    def boards(self):
        return sorted(path.stem for path in self.source.glob("boards/*gdbserver.exp"))


def prepare(directory):
    """The suite, from this directory if it is there already. Raises Unavailable."""
    require(*TOOLS)
    package, version = package_of_gdb()
    tree = next(filter(pathlib.Path.is_dir, (place / tree_name(package, version)
                                             for place in (SOURCES, directory))), None)
    if not tree:
        tree = fetch(package, version, directory)
    source = tree / "gdb" / "testsuite"
    if not (source / "configure").is_file():
        raise Unavailable(f"{tree} has no test suite")
    return Suite(version, source, configure(source, tree / "build-testsuite"))


def require(*tools):
    missing = [tool for tool in tools if not shutil.which(tool)]
    if missing:
        raise Unavailable(f"not installed: {', '.join(missing)}")


def tree_name(package, version):
    return f"{package}-{version}"


def package_of_gdb():
    query = subprocess.run(
        ["dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", "gdb"],
        capture_output=True, text=True, check=False)
    if query.returncode != 0:
        raise Unavailable("gdb is not from a package")
    return query.stdout.split()


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
