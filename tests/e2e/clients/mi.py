# SPDX-License-Identifier: BSD-2-Clause
"""A client of gdb's machine interface, as many editors are one."""
import os
import re
import subprocess

import harness

RECORD = re.compile(r"^(\d*)([\^*+=])([\w-]+)(?:,(.*))?$")
STREAM = re.compile(r'^[~@&]"((?:[^"\\]|\\.)*)"$')
ESCAPE = re.compile(r"\\([0-7]{3}|.)")


def unescape(text):
    def plain(match):
        code = match.group(1)
        return chr(int(code, 8)) if len(code) == 3 else {"n": "\n", "t": "\t"}.get(code, code)
    return ESCAPE.sub(plain, text)


class Results:
    """Reads `name=value,...`: dictionaries, lists (their elements without their names) and
    texts."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def skip(self, letter):
        """Is it next? Then it is passed."""
        found = self.text.startswith(letter, self.at)
        self.at += len(letter) if found else 0
        return found

    def name(self):
        match = re.compile(r"([\w-]+)=").match(self.text, self.at)
        if not match:
            return None
        self.at = match.end()
        return match.group(1)

    def pairs(self, end):
        found = []
        while self.at < len(self.text) and not self.skip(end):
            found.append((self.name(), self.value()))
            self.skip(",")
        return found

    def value(self):
        if self.skip("{"):
            return dict(self.pairs("}"))
        if self.skip("["):
            return [value for _, value in self.pairs("]")]
        match = re.compile(r'"((?:[^"\\]|\\.)*)"').match(self.text, self.at)
        self.at = match.end()
        return unescape(match.group(1))


class Record:
    """One line: `^done`, `*stopped`, `=breakpoint-modified` and so on."""

    def __init__(self, match):
        self.token = int(match.group(1)) if match.group(1) else None
        self.name = match.group(2) + match.group(3)
        self.results = dict(Results(match.group(4) or "").pairs("\n"))


class Mi:
    """A gdb."""

    def __init__(self, t, *first, prog=None):
        self.t = t
        argv = [t.config.gdb, *harness.GDB_OPTIONS, "-i=mi"]
        for command in ["set sysroot", *first]:
            argv += ["-iex", command]
        self.gdb = harness.Process(t, [*argv, *([prog] if prog else [])], stdin=subprocess.PIPE,
                                   env=dict(os.environ, LC_ALL="C"))
        self.token = 0
        self.taken = {}  # name of a record: how many lines there were when one was taken

    def lines(self):
        lines = self.gdb.output().split("\n")
        return lines[:-1]  # the last one has not ended

    def records(self):
        """All so far, with the numbers of their lines."""
        for number, line in enumerate(self.lines()):
            match = RECORD.match(line)
            if match:
                yield number, Record(match)

    def wait(self, look, what):
        def look_again():
            ended = self.gdb.process.poll() is not None
            found = look()
            if found is None and ended:
                raise harness.Failure(f"gdb has ended before {what}")
            return found
        return harness.wait_for(look_again, what)

    def send(self, command):
        """Returns its token."""
        self.token += 1
        self.gdb.process.stdin.write(f"{self.token}{command}\n".encode())
        self.gdb.process.stdin.flush()
        return self.token

    def ask(self, command, wanted="done"):
        """The results of a command that ends so."""
        token = self.send(command)
        record = self.wait(lambda: next((r for _, r in self.records() if r.token == token
                                         and r.name[0] == "^"), None), command)
        if record.name != "^" + wanted:
            raise harness.Failure(f"{command}: {record.name} {record.results}")
        return record.results

    def next(self, name):
        """The results of the next record of that name after the one that was taken last."""
        def look():
            for number, record in self.records():
                if record.name == name and number >= self.taken.get(name, 0):
                    self.taken[name] = number + 1
                    return record
            return None
        return self.wait(look, name).results

    def all(self, name):
        return [record.results for _, record in self.records() if record.name == name]

    def connect(self, server, target="remote"):
        self.ask(f"-target-select {target} {server.address}", "connected")
        self.taken["*stopped"] = len(self.lines())

    def go(self, command="-exec-continue"):
        """To the next stop."""
        self.ask(command, "running")
        return self.next("*stopped")

    def command(self, line):
        """What a command of the command line prints."""
        before = len(self.lines())
        quoted = line.replace("\\", "\\\\").replace('"', '\\"')
        self.ask(f'-interpreter-exec console "{quoted}"')
        return self.printed(before)

    def printed(self, since=0):
        return "".join(unescape(m.group(1)) for m in map(STREAM.match, self.lines()[since:]) if m)

    def value(self, expression):
        return self.ask(f'-data-evaluate-expression "{expression}"')["value"]

    def close(self):
        self.gdb.process.stdin.write(b"-gdb-exit\n")
        self.gdb.process.stdin.close()
        self.gdb.wait()
