# SPDX-License-Identifier: BSD-2-Clause
"""Runs each test in a process of its own, some at a time, and reports its result."""
import os
import shutil
import signal
import sys
import time
import traceback

import harness


def run_test(config, name, function, log):
    """In a child: runs one test; the exit status is 0 passed, 1 failed, 2 skipped.
    The last line of the log is the reason."""
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.setsid()
    harness.libc.prctl(harness.PR_SET_PDEATHSIG, signal.SIGKILL)
    harness.libc.prctl(harness.PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGALRM, on_alarm)
    signal.alarm(harness.TEST_LIMIT)
    test = harness.Test(config, name)
    status, reason = 0, ""
    try:
        function(test)
    except harness.Skip as skip:
        status, reason = 2, str(skip)
    except harness.Failure as failure:
        status, reason = 1, str(failure)
        traceback.print_exc(file=sys.stdout)
    except Exception as error:  # noqa: a broken test is a failed test
        status, reason = 1, f"{type(error).__name__}: {error}"
        traceback.print_exc(file=sys.stdout)
    signal.alarm(0)
    problems = test.close()
    if problems and status != 1:
        status, reason = 1, "; ".join(problems)
    test.show_logs()
    shutil.rmtree(test.dir, ignore_errors=True)
    print(reason.replace("\n", " "), end="", flush=True)
    os._exit(status)


def on_alarm(signo, frame):
    raise harness.Failure(f"the test has not ended within {harness.TEST_LIMIT} s")


def run_all(config, tests, report, jobs):
    harness.libc.prctl(harness.PR_SET_CHILD_SUBREAPER, 1)
    report.note(f"server: {config.server}, gdb: {config.gdb}, programs: {config.progs}")
    running, queue = {}, list(tests)
    while running or queue:
        while queue and len(running) < jobs:
            name, function = queue.pop(0)
            log = os.memfd_create("log")
            sys.stdout.flush()
            pid = os.fork()
            if pid == 0:
                run_test(config, name, function, log)
            running[pid] = (name, log, time.monotonic())
        try:
            pid, status = os.waitpid(-1, 0)
        except KeyboardInterrupt:
            for pid in running:
                os.kill(pid, signal.SIGKILL)
            harness.end_descendants()
            raise
        if pid not in running:
            continue
        name, log, start = running.pop(pid)
        with os.fdopen(log, "rb") as file:
            file.seek(0)
            text = file.read().decode(errors="replace")
        code = os.waitstatus_to_exitcode(status)
        report.result(name, code, text, time.monotonic() - start)
        if code not in (0, 1, 2):
            end_orphans(running)


def end_orphans(running):
    """Ends what a killed test left behind (it is our child now)."""
    keep = set(running)
    for pid in running:
        keep.update(harness.descendants(pid))
    for pid in harness.descendants(os.getpid()):
        if pid not in keep:
            os.kill(pid, signal.SIGKILL)
