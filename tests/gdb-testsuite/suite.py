# SPDX-License-Identifier: BSD-2-Clause
"""GDB's own test suite: the one of the installed gdb's version, from Debian's source
package, configured to run against the installed gdb."""
import dataclasses
import pathlib
import shutil
import subprocess

from apt import Apt, Unavailable

TOOLS = ("gdb", "gdbserver", "runtest", "expect", "gcc", "g++", "make", "dpkg-source",
         "dpkg-query")


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
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        raise Unavailable(f"not installed: {', '.join(missing)}")
    package, version = package_of_gdb()
    tree = directory / f"{package}-{version}"
    if not tree.is_dir():
        fetch(directory, package, version, tree)
    source = tree / "gdb" / "testsuite"
    if not (source / "configure").is_file():
        raise Unavailable(f"{tree} has no test suite")
    return Suite(version, source, configure(source, tree / "build-testsuite"))


def package_of_gdb():
    query = subprocess.run(
        ["dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", "gdb"],
        capture_output=True, text=True, check=False)
    if query.returncode != 0:
        raise Unavailable("gdb is not from a package")
    return query.stdout.split()


def fetch(directory, package, version, tree):
    download = directory / "download"
    shutil.rmtree(download, ignore_errors=True)
    download.mkdir(parents=True)
    description = Apt(download / "apt", sources=True).source(package, version, download)
    # Under another name until it is complete: a tree that is there is whole.
    run(["dpkg-source", "--no-check", "-x", description.name, "source"], download)
    (download / "source").rename(tree)
    shutil.rmtree(download)


def configure(source, build):
    site = build / "site.exp"
    # It holds the whole path, and the tree may have been moved.
    if not site.is_file() or f"set srcdir {source}\n" not in site.read_text():
        shutil.rmtree(build, ignore_errors=True)
        build.mkdir()
        run([source / "configure"], build)
        run(["make", "-s", "site.exp"], build)
    return site.read_text()


def run(command, directory):
    log = directory / "log"
    with open(log, "ab") as output:
        done = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL,
                              stdout=output, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise Unavailable(f"{pathlib.Path(command[0]).name} failed, see {log}")
