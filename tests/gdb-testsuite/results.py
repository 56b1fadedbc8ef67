# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of the suite's files gave, kept and compared."""
import collections
import dataclasses
import itertools
import json
import re
import shutil

RESULTS = ("PASS", "FAIL", "XPASS", "XFAIL", "KPASS", "KFAIL", "UNRESOLVED", "UNTESTED",
           "UNSUPPORTED", "ERROR", "WARNING")
MOST_SHOWN = 30   # differences of one file that a report names
LINE = re.compile(rf"({'|'.join(RESULTS)}): (.*)")


def folder_name(name):
    return name.removesuffix(".exp").replace("/", "__")


def normal(test):
    """A test's name without what differs from run to run: addresses, pids, ports; and
    without how many watchpoints fit, which is more than with gdbserver (wp-replication)."""
    test = re.sub(r"0x[0-9a-f]{5,}", "0xN", test)
    test = re.sub(r"(trigger \d+ out of |hw_watch_count=)\d+", r"\1N", test)
    return re.sub(r"(?<![\w.])\d{4,}(?![\w.])", "N", test)


@dataclasses.dataclass
class Outcome:
    """What running one file gave."""
    name: str
    seconds: float
    finished: bool   # within the time limit
    left: list       # the names of processes that it left behind
    tests: dict      # name of a test: how often it gave which result

    @staticmethod
    def of(name, work, end):
        tests = {}
        summary = work / "gdb.sum"
        lines = summary.read_text(errors="replace").splitlines() if summary.exists() else []
        for line in lines:
            match = LINE.match(line)
            if match:
                test = normal(match.group(2).replace(str(work), "$OUT"))
                counts = tests.setdefault(test, {})
                counts[match.group(1)] = counts.get(match.group(1), 0) + 1
        return Outcome(name, end["seconds"], end["finished"], end["left"], tests)

    def count(self, result, test=None):
        chosen = self.tests.values() if test is None else [self.tests.get(test, {})]
        return sum(counts.get(result, 0) for counts in chosen)

    def results_of(self, test):
        return sorted(self.tests.get(test, {}), key=RESULTS.index)

    def counts(self):
        others = sum(self.count(r) for r in RESULTS if r not in ("PASS", "FAIL", "WARNING"))
        return f"PASS={self.count('PASS')} FAIL={self.count('FAIL')}" + (
            f" other={others}" if others else "")

    def remarks(self):
        remarks = [] if self.finished else ["ended at the time limit"]
        if self.left:
            remarks.append("left behind: " + ", ".join(self.left))
        return f"  ({'; '.join(remarks)})" if remarks else ""

    def summary(self):
        return f"{self.name} {self.seconds} s {self.counts()}{self.remarks()}"


class Store:
    """Outcomes of one server in a directory, with their logs."""

    def __init__(self, directory):
        self.directory = directory

    def get(self, name):
        path = self.directory / folder_name(name) / "outcome.json"
        return Outcome(**json.loads(path.read_text())) if path.is_file() else None

    def put(self, outcome, work):
        """Keeps the outcome and the logs of work, which goes away."""
        folder = self.directory / folder_name(outcome.name)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for log in ("gdb.log", "gdb.sum", "runtest.log"):
            if (work / log).exists():
                shutil.move(work / log, folder)
        (folder / "outcome.json").write_text(json.dumps(dataclasses.asdict(outcome)))
        shutil.rmtree(work, ignore_errors=True)
        return outcome

    def forget_unfinished(self, names):
        """A machine that was too busy is no measure."""
        for name in names:
            outcome = self.get(name)
            if outcome and not outcome.finished:
                shutil.rmtree(self.directory / folder_name(name))

    def clear(self):
        shutil.rmtree(self.directory, ignore_errors=True)
        return self


@dataclasses.dataclass
class Remark:
    """A line of known or flaky: BOARD, FILE, TEST (which may end in an asterisk) and
    the reason, between tabs. An asterisk alone is any."""
    board: str
    file: str
    test: str
    reason: str

    def covers(self, board, file, test):
        wanted = self.test if self.test.endswith("*") else normal(self.test)
        matches = test.startswith(normal(wanted[:-1])) if wanted.endswith("*") \
            else test == wanted
        return self.board in ("*", board) and self.file in ("*", file) and matches


def read_remarks(path):
    remarks = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            fields = re.split(r"\t+", line.strip())
            if len(fields) != 4:
                raise ValueError(f"{path}:{number}: not BOARD, FILE, TEST, REASON")
            remarks.append(Remark(*fields))
    return remarks


@dataclasses.dataclass
class Difference:
    file: str
    test: str
    times: int      # how many passes more or less
    instead: str    # what it gave in place of PASS, or the reason why it is no matter

    def __str__(self):
        name = self.test if self.test.startswith(self.file) else f"{self.file}: {self.test}"
        times = f" x{self.times}" if self.times > 1 else ""
        return f"{name}{times} [{self.instead}]"


class Comparison:
    """The outcomes of two servers for the same files. A regression is a test that
    passes with the first, and not with the second: it fails, or is not even run. A
    test that passes when the file is run again is unstable."""

    def __init__(self, board, known, flaky):
        self.board = board
        self.known_remarks = known
        self.flaky_remarks = flaky
        self.rows = []
        self.differences = collections.defaultdict(list)

    def add(self, base, ours, again=None):
        before = len(self.differences["regressions"])
        for test in sorted(set(base.tests) | set(ours.tests)):
            lost = base.count("PASS", test) - ours.count("PASS", test)
            if lost < 0:
                was = ", ".join(base.results_of(test)) or "absent"
                self._note("improvements", base.name, test, -lost, f"gdbserver: {was}")
            elif lost > 0:
                self._judge(base, ours, again, test, lost)
        regressions = self.differences["regressions"][before:]
        self.rows.append((base, ours, sum(d.times for d in regressions)))

    def _judge(self, base, ours, again, test, lost):
        instead = ", ".join(r for r in ours.results_of(test) if r != "PASS") or "absent"
        for kind, remarks in (("known", self.known_remarks), ("flaky", self.flaky_remarks)):
            for remark in remarks:
                if remark.covers(self.board, base.name, test):
                    self._note(kind, base.name, test, lost, f"{instead}: {remark.reason}")
                    return
        if again and again.count("PASS", test) >= base.count("PASS", test):
            self._note("unstable", base.name, test, lost, instead)
        else:
            self._note("regressions", base.name, test, lost, instead)

    def _note(self, kind, *difference):
        self.differences[kind].append(Difference(*difference))

    def number(self, kind):
        return sum(d.times for d in self.differences[kind])

    def files_with_regressions(self):
        return [base.name for base, _, regressions in self.rows if regressions]

    def verdicts(self):
        """How many files keep every pass of gdbserver's, do not, and have none."""
        judged = [(base, bad) for base, _, bad in self.rows if base.count("PASS")]
        failed = sum(1 for _, bad in judged if bad)
        return len(judged) - failed, failed, len(self.rows) - len(judged)

    TITLES = {
        "regressions": "pass with gdbserver, not with truehit (regressions)",
        "unstable": "pass with truehit in one of two runs (not counted)",
        "known": "known not to pass (not counted)",
        "flaky": "changing with gdbserver itself (not counted)",
        "improvements": "pass with truehit, not with gdbserver (improvements)",
    }

    def _shown(self, kind):
        """The differences a line each, but no flood of them from one file."""
        for _, group in itertools.groupby(self.differences[kind], lambda d: d.file):
            group = list(group)
            yield from (f"  {difference}" for difference in group[:MOST_SHOWN])
            if len(group) > MOST_SHOWN:
                yield f"  {group[0].file}: and {len(group) - MOST_SHOWN} more"

    def report(self):
        lines = [f"{'file on ' + self.board:<52} {'gdbserver':<32} truehit"]
        for base, ours, bad in self.rows:
            lines.append(f"{base.name:<52} {base.counts() + f' {base.seconds} s':<32} "
                         f"{ours.counts()} {ours.seconds} s"
                         + (f"  {bad} regressions" if bad else "")
                         + ours.remarks()
                         + ("" if base.finished else "  (no measure: gdbserver was too slow)"))
        for kind, title in self.TITLES.items():
            if self.differences[kind]:
                lines += ["", f"{title}:", *self._shown(kind)]
        lines += ["", ", ".join(f"{kind}: {self.number(kind)}" for kind in self.TITLES),
                  "files: %d passed, %d failed, %d skipped" % self.verdicts()]
        total = {(who, r): sum(row[who].count(r) for row in self.rows)
                 for who in (0, 1) for r in ("PASS", "FAIL")}
        lines.append(f"gdbserver PASS={total[0, 'PASS']} FAIL={total[0, 'FAIL']}; "
                     f"truehit PASS={total[1, 'PASS']} FAIL={total[1, 'FAIL']}; "
                     f"regressions={self.number('regressions')}")
        return "\n".join(lines)
