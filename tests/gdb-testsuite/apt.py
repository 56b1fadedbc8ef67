# SPDX-License-Identifier: BSD-2-Clause
"""apt with a state of its own: it reads where the machine gets its packages from,
and changes nothing outside one directory."""
import pathlib
import re
import shutil
import subprocess

OPTION_FIELDS = {"arch": "Architectures", "lang": "Languages", "target": "Targets"}
CONFIGURATION = """\
APT::Architecture "{architecture}";
APT::Architectures {{ "{architecture}"; }};
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "{directory}/sources.d";
Dir::State "{directory}";
Dir::State::status "{status}";
Dir::Cache "{directory}";
APT::Sandbox::User "root";
APT::Install-Recommends "false";
Acquire::Languages "none";
Acquire::Retries "3";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
"""


class Unavailable(Exception):
    """This machine cannot provide what is asked for; the text says why."""


def codename():
    """The name of the release that runs here, such as bookworm."""
    with open("/etc/os-release", encoding="utf-8") as file:
        match = re.search(r'^VERSION_CODENAME="?([^"\n]+)', file.read(), re.M)
    if not match:
        raise Unavailable("/etc/os-release names no release")
    return match.group(1)


def machine_architecture():
    """What Debian calls this machine's processor."""
    return subprocess.run(["dpkg", "--print-architecture"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=True).stdout.strip()


def one_line_entry(line):
    """`deb [option=value ...] URI SUITE COMPONENT...` as the fields of deb822."""
    match = re.match(r"deb\s+(?:\[(.*?)\]\s+)?(\S+)\s+(\S+)\s*(.*)", line)
    if not match:
        return None
    options, uri, suite, components = match.groups()
    entry = {"Types": "deb", "URIs": uri, "Suites": suite, "Components": components}
    for option in (options or "").split():
        name, _, value = option.partition("=")
        entry[OPTION_FIELDS.get(name, name.title())] = value.replace(",", " ")
    return entry


def deb822_entries(text):
    """The paragraphs of a .sources file; a value keeps its further lines."""
    text = re.sub(r"^#.*\n?", "", text, flags=re.M)
    for paragraph in re.split(r"\n\s*\n", text):
        fields = re.findall(r"^([\w-]+):[ \t]*(.*(?:\n[ \t].*)*)", paragraph, re.M)
        entry = dict(fields)
        if "deb" in entry.get("Types", "").split() and entry.get("Enabled", "yes") != "no":
            yield entry


def machine_entries():
    """Where the machine's packages come from, one dictionary of fields each."""
    etc = pathlib.Path("/etc/apt")
    for path in [etc / "sources.list", *sorted(etc.glob("sources.list.d/*.list"))]:
        if path.is_file():
            entries = map(one_line_entry, path.read_text(encoding="utf-8").splitlines())
            yield from filter(None, entries)
    for path in sorted(etc.glob("sources.list.d/*.sources")):
        yield from deb822_entries(path.read_text(encoding="utf-8"))


class Apt:
    """sources: packages come as sources (deb-src). suite, architecture: take another
    suite of the distribution's archive, or another processor's packages, and forget
    which packages are installed."""

    def __init__(self, directory, sources=False, suite=None, architecture=None):
        if not shutil.which("apt-get"):
            raise Unavailable("apt-get is not installed")
        self.directory = pathlib.Path(directory).resolve()
        shutil.rmtree(self.directory, ignore_errors=True)
        for name in ("lists/partial", "archives/partial", "sources.d"):
            (self.directory / name).mkdir(parents=True)
        status = "/var/lib/dpkg/status"
        if suite or architecture:
            status = self.directory / "status"
            status.touch()
        self.configuration = self.directory / "apt.conf"
        self.configuration.write_text(
            CONFIGURATION.format(directory=self.directory, status=status,
                                 architecture=architecture or machine_architecture()))
        self._write_sources("deb-src" if sources else "deb", suite, architecture)
        self._run("update")

    def _write_sources(self, kind, suite, architecture):
        release = codename()
        paragraphs = []
        for entry in machine_entries():
            # Other people's archives, and those of other releases, are left out.
            suites = [s for s in entry.get("Suites", "").split()
                      if s == release or not suite and s.startswith((release + "-",
                                                                     release + "/"))]
            if suites:
                entry = dict(entry, Types=kind, Suites=suite or " ".join(suites))
                if architecture:
                    entry.pop("Architectures", None)
                paragraphs.append("\n".join(f"{k}: {v}" for k, v in entry.items()))
        if not paragraphs:
            raise Unavailable(f"apt's sources name no archive for {release}")
        path = self.directory / "sources.d" / "archive.sources"
        path.write_text("\n\n".join(paragraphs) + "\n")

    def _run(self, *arguments, cwd=None):
        command = ["apt-get", "-c", str(self.configuration), "-q", "-y", *arguments]
        done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        errors = re.findall(r"^[EW]: (.*)", done.stdout, re.M)
        # apt-get update is content with the lists of yesterday; here there are none.
        if done.returncode != 0 or arguments[0] == "update" and errors:
            reason = errors[0] if errors else f"status {done.returncode}"
            raise Unavailable(f"apt-get {arguments[0]}: {reason}")

    def source(self, package, version, directory):
        """Downloads a source package, of the newest version if none is given; the path of
        its .dsc file."""
        which = f"{package}={version}" if version else package
        self._run("source", "--download-only", which, cwd=directory)
        return max(pathlib.Path(directory).glob(f"{package}_*.dsc"),
                   key=lambda path: path.stat().st_mtime)

    def packages(self, *names):
        """Downloads binary packages and all that they depend on; their files."""
        self._run("install", "--download-only", *names)
        return sorted((self.directory / "archives").glob("*.deb"))

    def names(self, regex):
        """The names of all packages that this matches as a whole."""
        done = subprocess.run(["apt-cache", "-c", str(self.configuration), "pkgnames"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=True)
        return [name for name in done.stdout.split() if re.fullmatch(regex, name)]

    def download(self, *names):
        """Downloads these binary packages and nothing else; their files."""
        archives = self.directory / "archives"
        self._run("download", *names, cwd=archives)
        return sorted(archives.glob("*.deb"))
