# SPDX-License-Identifier: BSD-2-Clause
"""Runs files of the suite with one server, some at a time, each by itself."""
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import results

HERE = pathlib.Path(__file__).resolve().parent
# What a user's environment may hold that would change what tests see.
UNWANTED = ("DEBUGINFOD_URLS", "DEJAGNU", "DISPLAY", "GDBHISTFILE", "GDBSERVER_DEBUG",
            "GDB_DEBUG", "INPUTRC", "LD_PRELOAD", "RUNTESTFLAGS")
POLL = 0.05
COMMAND_LIMIT, PACKET_LIMIT = 10, 2   # seconds, by default, for an answer of gdb's, to gdb


@dataclasses.dataclass
class Runner:
    suite: object
    board: str
    directory: pathlib.Path
    gdb: str
    jobs: int
    limit: float      # seconds for one file
    patience: float   # factor of all time limits

    def run(self, title, server, names, store, limits=None):
        """Runs those of the files that store has no outcome of. limits: outcomes of
        another server; a file then gets a few times what it took there."""
        queue = [name for name in names if not store.get(name)]
        total, done, running = len(queue), 0, []
        try:
            while queue or running:
                while queue and len(running) < self.jobs:
                    running.append(self._start(queue.pop(0), server, limits))
                time.sleep(POLL)
                for job in [job for job in running if job.process.poll() is not None]:
                    running.remove(job)
                    outcome = self._finish(job, store)
                    done += 1
                    print(f"{title} {done}/{total} {outcome.summary()}",
                          file=sys.stderr, flush=True)
        finally:
            for job in running:   # interrupted: each ends what is below itself
                job.process.terminate()
                job.process.wait()

    def _start(self, name, server, limits):
        # How long a program's path is changes what some tests see on its stack:
        # every server's tests run in the same place, and are moved afterwards.
        work = self.directory / "work" / results.folder_name(name)
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        (work / "site.exp").write_text(self._site())
        limit = self.limit * self.patience
        if limits and limits.get(name):
            limit = min(limit, 120 * self.patience + 5 * limits.get(name).seconds)
        command = [sys.executable, HERE / "alone.py", f"--limit={limit}",
                   "runtest", "--tool", "gdb", f"--target_board={self.board}",
                   f"GDB={self.gdb}", f"GDBSERVER={server}", name]
        environment = {k: v for k, v in os.environ.items() if k not in UNWANTED}
        environment.update(TERM="dumb", LC_ALL="C")
        with open(work / "runtest.log", "wb") as log:
            process = subprocess.Popen(command, cwd=work, env=environment, text=True,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=log)
        return Job(name, work, process)

    def _site(self):
        """What runtest reads first: the suite's configuration, and its time limits."""
        if self.patience == 1:
            return self.suite.site
        return (f"{self.suite.site}\n"
                f"set gdb_test_timeout {COMMAND_LIMIT * self.patience:.0f}\n"
                f'set GDBFLAGS "-l {PACKET_LIMIT * self.patience:.0f}"\n')

    @staticmethod
    def _finish(job, store):
        text = job.process.stdout.read()
        job.process.stdout.close()
        if job.process.returncode != 0:
            raise RuntimeError(f"{job.name}: alone.py ended with {job.process.returncode}, "
                               f"see {job.work}/runtest.log")
        outcome = results.Outcome.of(job.name, job.work, json.loads(text))
        return store.put(outcome, job.work)


@dataclasses.dataclass
class Job:
    name: str
    work: pathlib.Path
    process: subprocess.Popen
