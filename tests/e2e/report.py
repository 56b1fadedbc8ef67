# SPDX-License-Identifier: BSD-2-Clause
"""What is printed of the tests' results: lines for people, or TAP."""
import sys


class Report:
    verbose = False

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def result(self, name, code, text, seconds):
        body, _, reason = text.rpartition("\n")
        if code == 0:
            self.passed += 1
        elif code == 2:
            self.skipped += 1
        else:
            self.failed += 1
            if code != 1:
                reason = f"the test process ended with {code}"
        self.show(name, {0: "pass", 2: "skip"}.get(code, "FAIL"), reason, body, seconds)


class LineReport(Report):
    @staticmethod
    def note(text):
        print(text)

    def show(self, name, result, reason, body, seconds):
        print(f"{result}  {name} ({seconds:.1f} s){': ' + reason if reason else ''}")
        if result == "FAIL" or self.verbose:
            print("    | " + body.replace("\n", "\n    | "))
        sys.stdout.flush()

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        return 1 if self.failed else 0


class TapReport(Report):
    def __init__(self, count):
        super().__init__()
        self.number = 0
        print(f"1..{count}", flush=True)

    @staticmethod
    def note(text):
        print("# " + text)

    def show(self, name, result, reason, body, seconds):
        self.number += 1
        ok = "not ok" if result == "FAIL" else "ok"
        reason = reason.replace("#", "no.")
        told = {"skip": f" # SKIP {reason}", "FAIL": f": {reason[:300]}"}.get(result, "")
        print(f"{ok} {self.number} - {name}{told}")
        if result == "FAIL" or self.verbose:
            print("# " + (body + "\n" + reason).replace("\n", "\n# "))
        sys.stdout.flush()

    def finish(self):
        print(f"# {self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        return 1 if self.failed else 0
