# SPDX-License-Identifier: BSD-2-Clause
"""What a virtual machine is made of: a Debian root, a kernel, and the tree."""
import contextlib
import fcntl
import lzma
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gdb-testsuite"))
import suite
from apt import Apt, Unavailable

DEBIAN = "bookworm"
# Where each kernel is looked for; the newest of the first suite that has it is taken.
KERNELS = {
    "6.1": ["bookworm"],
    "6.12": ["trixie", "bookworm-backports"],
    "7.2": ["sid", "trixie-backports"],
}
MODULES = ["virtio_pci", "virtio_blk", "virtio_console", "virtio_net"]
# What truehit is built with, what its tests use, what makes it a system.
PACKAGES = """
    libc6-dev libbpf-dev libelf-dev libdw-dev libcapstone-dev libsmartcols-dev
    libiberty-dev libcriterion-dev
    gdb gdbserver python3 strace libcap2-bin libc-bin
    base-files bash binutils busybox-static coreutils dash diffutils findutils gawk grep gzip
    hostname iproute2 kmod login mount procps psmisc sed tar util-linux
""".split()
# What GDB's own test suite needs besides.
SUITE_PACKAGES = "dejagnu dpkg expect g++ gcc make".split()
ACCOUNTS = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/bash\n"
                  "user:x:1000:1000::/home/user:/bin/bash\n"
                  "nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n",
    "etc/group": "root:x:0:\ntty:x:5:\nuser:x:1000:\nnogroup:x:65534:\n",
    "etc/hosts": "127.0.0.1 localhost vm\n::1 localhost\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
# What maintainer scripts would have linked.
LINKS = {"usr/bin/awk": "gawk", "usr/bin/which": "which.debianutils"}


def note(text):
    print(f"vm: {text}", file=sys.stderr, flush=True)


def run(*command, **options):
    """A command that has to succeed; what it said is shown if it does not."""
    command = [str(word) for word in command]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode != 0:
        raise Unavailable(f"{shlex.join(command)[:200]}: status {done.returncode}\n"
                          + done.stdout[-4000:])
    return done.stdout


def unpack(packages, root):
    """As dpkg-deb -x does, but /bin and the like stay links into /usr."""
    for name in ("bin", "lib", "sbin"):
        (root / "usr" / name).mkdir(parents=True, exist_ok=True)
        if not (root / name).is_symlink():
            (root / name).symlink_to(f"usr/{name}")
    for package in packages:
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package],
                              stdout=subprocess.PIPE) as reader:
            run_tar = subprocess.run(["tar", "-x", "-p", "--keep-directory-symlink",
                                      "--no-same-owner", "-C", root],
                                     stdin=reader.stdout, check=False)
        if reader.returncode or run_tar.returncode:
            raise Unavailable(f"{package} cannot be unpacked")


def make_links_relative(root):
    """So that the cross linker, which is outside, finds what they lead to."""
    for directory, directories, files in os.walk(root):
        for name in directories + files:
            path = os.path.join(directory, name)
            if os.path.islink(path) and os.readlink(path).startswith("/"):
                target = os.path.relpath(f"{root}{os.readlink(path)}", directory)
                os.unlink(path)
                os.symlink(target, path)


def make_disk(directory, image, label, spare):
    """An ext4 image of a directory, whose files belong to root; spare: MiB to write."""
    used = int(run("du", "-sk", directory).split()[0]) // 1024
    image.unlink(missing_ok=True)
    as_root = [] if os.geteuid() == 0 else ["fakeroot"]
    run(*as_root, "mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-L", label,
        "-d", directory, image, f"{used + used // 4 + spare}M")


@contextlib.contextmanager
def alone_in(directory):
    """One process at a time prepares what is kept there."""
    directory.mkdir(parents=True, exist_ok=True)
    with open(directory / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Place:
    """A directory that appears when it is complete, and is out of date when what it is
    made from has changed."""

    def __init__(self, path, *recipe):
        self.path = path
        self.partial = path.with_name(path.name + ".partial")
        self.recipe = repr(recipe)

    def current(self):
        recipe = self.path / "recipe"
        return recipe.exists() and recipe.read_text() == self.recipe

    def __enter__(self):
        shutil.rmtree(self.partial, ignore_errors=True)
        self.partial.mkdir(parents=True)
        return self.partial

    def __exit__(self, kind, *_):
        if kind is None:
            (self.partial / "recipe").write_text(self.recipe)
            shutil.rmtree(self.path, ignore_errors=True)
            self.partial.rename(self.path)


def install_debian(arch, packages, partial):
    """partial/tree: a Debian of this architecture with these packages, and those that
    they need; the files of all of them."""
    apt = Apt(partial / "apt", suite=DEBIAN, architecture=arch.debian)
    tree = partial / "tree"
    files = apt.packages(*packages)
    unpack(files, tree)
    for name in ("dev", "proc", "sys", "run", "tmp", "mnt", "home/user"):
        (tree / name).mkdir(parents=True, exist_ok=True)
    for name, text in ACCOUNTS.items():
        (tree / name).write_text(text)
    for name, target in LINKS.items():
        if not (tree / name).exists():
            (tree / name).symlink_to(target)
    make_links_relative(tree)
    return files


def make_root(arch, path, again):
    """path/tree, which is also the sysroot, and path/disk."""
    place = Place(path, PACKAGES, ACCOUNTS, LINKS)
    if place.current() and not again:
        return
    note(f"making a Debian root for {arch.name}")
    with place as partial:
        install_debian(arch, PACKAGES, partial)
        shutil.rmtree(partial / "apt")
        make_disk(partial / "tree", partial / "disk", "root", 256)


def make_suite_root(arch, path, again):
    """path/disk, in which scripts/gdb-testsuite finds all it needs."""
    packages = [*PACKAGES, *SUITE_PACKAGES]
    place = Place(path, packages, ACCOUNTS, LINKS)
    if place.current() and not again:
        return
    note(f"making a Debian root with GDB's test suite for {arch.name}")
    with place as partial:
        files, tree = install_debian(arch, packages, partial), partial / "tree"
        write_status(files, tree / "var/lib/dpkg/status")
        version = next(file.name.split("_")[1] for file in files
                       if file.name.startswith("gdb_"))
        source = suite.fetch("gdb", version, tree / "usr/src", DEBIAN)
        configure_suite(source, tree, arch.triple)
        make_disk(tree, partial / "disk", "root", 1024)
        for name in ("apt", "tree"):
            shutil.rmtree(partial / name)


def write_status(packages, path):
    """By this dpkg-query knows which gdb is installed."""
    fields = [run("dpkg-deb", "--field", package).rstrip() for package in packages]
    path.write_text("".join(f"{text}\nStatus: install ok installed\n\n" for text in fields))


def configure_suite(source, tree, triple):
    """Here, as it takes minutes in an emulated machine."""
    build = source / "build-testsuite"
    site = suite.configure(source / "gdb/testsuite", build, f"--build={triple}")
    (build / "site.exp").write_text(site.replace(str(tree), ""))


def needed_modules(directory):
    """The files of MODULES and of what they depend on, in the order of loading. What is
    not there is built in."""
    depends = {}
    for line in (directory / "modules.dep").read_text().splitlines():
        module, _, needs = line.partition(":")
        depends[module] = needs.split()
    files = []
    for name in MODULES:
        for module in depends:
            if re.sub(r"\.ko.*", "", os.path.basename(module)).replace("-", "_") == name:
                files += [f for f in [*reversed(depends[module]), module] if f not in files]
    return files


def make_initramfs(root, release, path):
    """A shell, the modules for the disks, tests/vm/initramfs."""
    modules = path.parent / "unpacked" / "lib" / "modules" / release
    run("depmod", "-b", path.parent / "unpacked", release)
    tree = path.parent / "initramfs.tree"
    for name in ("bin", "modules"):
        (tree / name).mkdir(parents=True)
    shutil.copy(root / "tree" / "bin" / "busybox", tree / "bin")
    (tree / "bin" / "sh").symlink_to("busybox")
    shutil.copy(HERE / "initramfs", tree / "init")
    (tree / "init").chmod(0o755)
    order = []
    for module in needed_modules(modules):
        contents = (modules / module).read_bytes()
        if module.endswith(".xz"):
            contents = lzma.decompress(contents)
        order.append(re.sub(r"\.ko.*", ".ko", os.path.basename(module)))
        (tree / "modules" / order[-1]).write_bytes(contents)
    (tree / "modules" / "order").write_text("".join(f"{name}\n" for name in order))
    run("sh", "-c", 'cd "$1" && find . | cpio --quiet -o -H newc -R 0:0 >"$2"', "sh",
        tree, path)


def find_kernel(arch, kernel, directory):
    """Downloads the packages of the newest such kernel; its release and their files."""
    regex = rf"linux-(?:image|binary)-({re.escape(kernel)}\..*-cloud-{arch.debian})"
    for suite in KERNELS[kernel]:
        apt = Apt(directory, suite=suite, architecture=arch.debian)
        releases = {re.fullmatch(regex, name).group(1) for name in apt.names(regex)}
        if releases:
            def newer(release):
                return [int(number) for number in re.findall(r"\d+", release)]
            release = max(releases, key=newer)
            return release, apt.download(*apt.names(
                rf"linux-(?:base|binary|image|modules)-{re.escape(release)}"))
    raise Unavailable(f"no package of Linux {kernel} for {arch.name} in {KERNELS[kernel]}")


def make_kernel(arch, kernel, root, path, again):
    """path/vmlinuz, path/initramfs; path/release is the version, for people."""
    place = Place(path, MODULES, (HERE / "initramfs").read_text())
    if place.current() and not again:
        return
    note(f"fetching Linux {kernel} for {arch.name}")
    with place as partial:
        release, packages = find_kernel(arch, kernel, partial / "apt")
        unpack(packages, partial / "unpacked")
        images = [*partial.glob("unpacked/boot/vmlinu*"),
                  *partial.glob("unpacked/lib/modules/*/vmlinu*")]
        shutil.copy(images[0], partial / "vmlinuz")
        make_initramfs(root, release, partial / "initramfs")
        version = packages[0].name.split("_")[1]
        (partial / "release").write_text(f"Linux {release} ({version})\n")
        for name in ("apt", "unpacked", "initramfs.tree"):
            shutil.rmtree(partial / name)


def build(arch, sysroot, source, directory):
    """Builds truehit and its tests for this architecture."""
    triple = arch.triple
    if not (source / "configure").exists():
        run("./autogen.sh", cwd=source)
    pkgconfig = [sysroot / "usr/lib" / triple / "pkgconfig", sysroot / "usr/share/pkgconfig"]
    environment = dict(os.environ, PKG_CONFIG="/usr/bin/pkg-config",
                       PKG_CONFIG_SYSROOT_DIR=str(sysroot),
                       PKG_CONFIG_LIBDIR=":".join(map(str, pkgconfig)))
    arguments = ["-q", f"--host={triple}", "--enable-werror",
                 f"CC={triple}-gcc --sysroot={sysroot}"]
    stamp = directory / ".arguments"
    configure = source / "configure"
    if not stamp.exists() or stamp.read_text() != repr(arguments) \
            or stamp.stat().st_mtime < configure.stat().st_mtime:
        note(f"configuring in {directory}")
        directory.mkdir(parents=True, exist_ok=True)
        run(configure, *arguments, cwd=directory, env=environment)
        stamp.write_text(repr(arguments))
    note(f"building in {directory}")
    for goals in (["all"], ["check", "TESTS="]):
        run("make", "-s", "-j", os.cpu_count(), *goals, cwd=directory, env=environment)


def make_tree(source, built, job, scratch, image):
    """The disk with the tree: the tests and what was built, at their places."""
    def link(start, to, unwanted):
        shutil.copytree(start, to, copy_function=os.link, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns(*unwanted))
    for name in ("tests", "scripts"):
        link(source / name, scratch / name, ["__pycache__"])
    inside = scratch / built.relative_to(source)
    link(built / "tests", inside / "tests", ["*.o", "*.log", "*.trs", ".deps", ".dirstamp"])
    os.link(built / "truehit", inside / "truehit")
    (scratch / ".job").write_text(job)
    make_disk(scratch, image, "tree", 64)


def unpack_results(archive, directory):
    """What the command has left, in the place of what the last one has."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    run("tar", "-x", "--no-same-owner", "-f", archive, "-C", directory)
