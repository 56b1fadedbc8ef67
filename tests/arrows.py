#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks that an include leads into the same room or one below it, and that no folder and
no file has grown too much: arrows.py

The rooms are the directories with a sources.am; Makefile.am includes these from the bottom
up. The two processors' directories belong to arch/, and only arch/ may include what is in
them. capstone's header is included by arch/capstone.h only. No two files of the same name
are in rooms that may include one another, nor two test programs. A folder of the server, the
tests or the scripts has at most 30 source files, each of at most 600 lines. If something is
not so, the exit status is 1.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES_MAX, LINES_MAX = 30, 600
CAPSTONE = pathlib.PurePath("arch/capstone.h")
TOPS = ("gdbstub", "bpf", "arch")
SOURCES = (".c", ".h", ".py", ".S")


def rooms():
    """The rooms, the lowest first."""
    text = (ROOT / "Makefile.am").read_text(encoding="utf-8")
    return [name for name in re.findall(r"^include (\S+)/sources\.am$", text, re.M)]


def room_of(path, order):
    """The room that a file is in; a processor's directory is of arch/."""
    folder = path.parent
    while str(folder) not in order:
        if folder == folder.parent:
            return None
        folder = folder.parent
    return str(folder)


def includes(path):
    """What a file includes of the tree, with the numbers of the lines."""
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        found = re.match(r'#include "([^"]+)"', line)
        if found:
            yield number, pathlib.PurePath(found[1])


def is_processors(path):
    return len(path.parts) == 3 and path.parts[0] == "arch"


def includes_capstone(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    return path != CAPSTONE and re.search(r"^#include <capstone/", text, re.M)


def complaints_of(path, order):
    """What is wrong with the includes of a file, a line each."""
    own = room_of(path, order)
    if own is None:
        yield f"{path}: is in no room that Makefile.am has"
        return
    if includes_capstone(path):
        yield f"{path}: includes capstone's header, but not by {CAPSTONE}"
    for number, included in includes(path):
        room = room_of(included, order)
        where = f"{path}:{number}: includes {included}"
        if room is None:
            if (ROOT / included).exists():
                yield f"{where}, which is in no room"
        elif order.index(room) > order.index(own):
            yield f"{where}, but {room}/ is above {own}/"
        elif is_processors(included) and path.parent != included.parent:
            yield f"{where}, which is a processor's own"


def files_below(tops, suffixes):
    return sorted(path.relative_to(ROOT) for top in tops for path in (ROOT / top).rglob("*")
                  if path.suffix in suffixes)


def too_large(paths):
    """Folders and files that have grown too much."""
    for folder, count in collections.Counter(path.parent for path in paths).items():
        if count > FILES_MAX:
            yield f"{folder}/: {count} files, at most {FILES_MAX}"
    for path in paths:
        lines = (ROOT / path).read_text(encoding="utf-8").count("\n")
        if lines > LINES_MAX:
            yield f"{path}: {lines} lines, at most {LINES_MAX}"


def same_names(paths):
    """Files that have one name; nobody includes those of a processor."""
    by_name = collections.defaultdict(list)
    for path in paths:
        if not is_processors(path):
            by_name[path.name].append(str(path))
    for name, found in by_name.items():
        if len(found) > 1:
            yield f"{name}: {', '.join(found)}"


def main():
    order = rooms()
    paths = files_below(TOPS, (".c", ".h"))
    found = [line for path in paths for line in complaints_of(path, order)]
    found += [*same_names(paths), *same_names(files_below(("tests/progs",), (".c",))),
              *too_large(files_below((*TOPS, "tests", "scripts"), SOURCES))]
    for line in found:
        print(line)
    return 1 if found or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
