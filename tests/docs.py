#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks that what the documentation names exists: docs.py [PAGE...]

In backquotes, a page may name a file or a directory, by its path or by the end of it
(`commit.c`, `scripts/lint`, `tests/progs/`), a function (`halt_all()`), an end-to-end test
(`test_copied_is_told`), and a unit test as Criterion's --filter takes it
(`run/exit_status`). Functions that follow a file and a colon have to be defined there. What
has three capitals in a row (`test_SUBJECT.c`) stands for any name. In brackets a page may
link to another page, and to a heading of it. By default all pages are checked, and whether
the manual pages have each option, each monitor command and each command of gdb's extension,
and the shells' completions each option. If something is missing, the exit status is 1.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ("HACKING", "CONTRIBUTING", "doc/*.md", "doc/exactness/*.md")
PLACES = ("gdbstub/", "bpf/", "arch/", "tests/", "scripts/", "doc/")
SUFFIXES = r"(?:c|h|py|md|txt|svg|list|ac|am|1|7)"
FENCE = re.compile(r"^```.*?^```", re.M | re.S)
SPAN = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\[[^\]]+\]\(([^)#\s]*)(#[^)\s]+)?\)")
# Where functions are: `file.c`: `one()`, `other()`; `file.c` of something: `one()`;
# `one()` and `other()` in `file.c`; `one()` (`file.c`).
PLACED = (
    re.compile(r"`(?P<file>[\w./]+\.(?:c|h|py))`(?: of [^`:;.]*)?:"
               r"(?P<functions>(?:[,\s]+`\w+\(\)`)+)"),
    re.compile(r"(?P<functions>`\w+\(\)`(?:(?:,|\sand)\s`\w+\(\)`)*)\s(?:in\s|\()"
               r"`(?P<file>[\w./]+\.(?:c|h|py))`"))
PLACEHOLDER = re.compile(r"[A-Z]{3}")
HEADING = re.compile(r"^#+ +(.*)$", re.M)


def all_files():
    """The files of the tree, as paths below it."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others",
                             "--exclude-standard"], capture_output=True, text=True,
                            check=False)
    if listed.returncode == 0 and listed.stdout:
        return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    return [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()]


class Tree:
    """What there is to be named."""

    def __init__(self):
        self.files = all_files()
        self.directories = {str(parent) + "/" for name in self.files
                            for parent in pathlib.PurePath(name).parents}
        code = "\n".join(self.text(name) for name in self.files
                         if name.endswith((".c", ".h", ".py")))
        self.functions = set(re.findall(r"\b(\w+)\(", code))
        self.e2e = set(re.findall(r"^def (test_\w+)\(", code, re.M))
        self.units = {f"{suite}/{test}" for suite, test in
                      re.findall(r"^Test\((\w+),\s*(\w+)", code, re.M)}
        self.suites = {name.partition("/")[0] for name in self.units}

    @staticmethod
    def text(name):
        return (ROOT / name).read_text(encoding="utf-8", errors="replace")

    def has_path(self, path):
        if path.endswith("/"):
            return any(("/" + name).endswith("/" + path) for name in self.directories)
        return any(("/" + name).endswith("/" + path) for name in self.files)

    def path_of(self, end):
        found = [name for name in self.files if ("/" + name).endswith("/" + end)]
        if not found:
            sys.exit(f"docs.py: there is no {end} any more, which it reads")
        return found[0]

    def lacks(self, span):
        """What kind of thing a word in backquotes names that is not there, or None."""
        if PLACEHOLDER.search(span):
            return None
        function = re.fullmatch(r"(\w+)\(\)", span)
        if function:
            return None if function[1] in self.functions else "function"
        if re.fullmatch(rf"[\w.+-]+(/[\w.+-]+)*\.{SUFFIXES}", span):
            return None if self.has_path(span) else "file"
        if re.fullmatch(r"test_\w+", span):
            return None if span in self.e2e or self.has_path(span + ".c") else "test"
        if span.startswith(PLACES):
            return None if self.has_path(span) else "file or directory"
        unit = re.fullmatch(r"(\w+)/\w+", span)
        if unit and unit[1] in self.suites:
            return None if span in self.units else "unit test"
        return None

    def misplaced(self, end, functions):
        """Those that no file of this name defines or declares."""
        code = "\n".join(self.text(name) for name in self.files
                         if ("/" + name).endswith("/" + end))
        return [function for function in re.findall(r"\w+(?=\(\))", functions)
                if code and not re.search(rf"^\w.*\b{function}\(", code, re.M)]


def anchors(text):
    """The names of a page's headings, as links to them are written."""
    return {"#" + re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
            for heading in HEADING.findall(text)}


def broken_link(page, target, anchor):
    if re.match(r"\w+:", target):
        return False
    path = page.parent / target if target else page
    if not path.exists():
        return True
    return bool(anchor) and anchor not in anchors(path.read_text(encoding="utf-8"))


def check(tree, page):
    """Prints what the page names in vain. Returns how much of it there is."""
    text = page.read_text(encoding="utf-8")
    text = FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
    count = 0

    def complain(match, what):
        line = text.count("\n", 0, match.start()) + 1
        print(f"{page.relative_to(ROOT)}:{line}: {what}")

    for match in SPAN.finditer(text):
        # Of a command, what names a part of the tree.
        words = match[1].split()
        for word in words if len(words) == 1 else [w for w in words if w.startswith(PLACES)]:
            kind = tree.lacks(word)
            if kind:
                complain(match, f"there is no {kind} {word}")
                count += 1
    for match in (found for kind in PLACED for found in kind.finditer(text)):
        for function in tree.misplaced(match["file"], match["functions"]):
            complain(match, f"{function}() is not in {match['file']}")
            count += 1
    for match in LINK.finditer(text):
        if broken_link(page, match[1], match[2]):
            complain(match, f"the link {match[1]}{match[2] or ''} leads nowhere")
            count += 1
    return count


def check_manual(tree):
    """Of what users can type, prints what the manual pages and the shells' completions lack.
    Returns how much."""
    options = re.findall(r'"--([a-z-]+)"', tree.text(tree.path_of("gdbstub/options.c")))
    table = tree.text(tree.path_of("monitor_commands.c")).partition(" commands[] = {")[2]
    monitor = re.findall(r'^\t\{"([a-z -]+)",', table.partition("\n};")[0], re.M)
    extension = re.findall(r'\([A-Z]\w+, "([a-z-]+)"\)|"truehit ([a-z-]+)"|\bNAME(?:, \w+)? = "([a-z-]+)"',
                           "".join(tree.text(tree.path_of(f"scripts/truehit_{name}.py"))
                                   for name in ("commands", "calls", "accesses", "monitor")))
    wanted = [("truehit.1", options, r"(?:Fl| ,) -%s\b", "--"),
              ("truehit.1", monitor, r"(?m)^\.It Ic %s\b", "monitor "),
              ("truehit-gdb.7", ["".join(names) for names in extension],
               r"(?m)^\.It Ic truehit %s\b", "truehit "),
              ("scripts/completions/truehit", options, r"\s--%s\b", "--"),
              ("scripts/completions/_truehit", options, r"--%s(?:=-)?\[", "--")]
    count = 0
    for end, names, regex, prefix in wanted:
        page = tree.path_of(end)
        lacks = [name for name in names if not re.search(regex % name, tree.text(page))]
        if len(names) < 5:
            lacks.append("anything: its names were not found")
        for name in lacks:
            print(f"{page}: it lacks {prefix}{name}")
        count += len(lacks)
    return count


def main():
    tree = Tree()
    pages = [pathlib.Path(name).resolve() for name in sys.argv[1:]]
    count = 0 if pages else check_manual(tree)
    if not pages:
        pages = [page for pattern in PAGES for page in sorted(ROOT.glob(pattern))]
    count += sum(check(tree, page) for page in pages)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
