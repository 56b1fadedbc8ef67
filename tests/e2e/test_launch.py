# SPDX-License-Identifier: BSD-2-Clause
"""Starting programs, to their end."""


def test_launch_to_main_and_exit(t):
    server = t.server("COMM", t.prog("calls"))
    gdb = t.gdb(server, "break main", "continue", "bt", "continue",
                "p $_exitcode", prog=t.prog("calls"))
    t.match(r"Breakpoint 1, main \(argc=1", gdb.output())
    t.match(r"exited with code 052", gdb.output())
    t.match(r"\$1 = 42", gdb.output())
    t.match(r"Remote debugging from host 127\.0\.0\.1", server.output())
    t.match(r"Child exited with status 42", server.output())
    t.match(r"result \d+ global 7 text original", server.output())
    t.equal(server.wait(), 0, "exit status of the server")


def test_launch_arguments(t):
    server = t.server("COMM", t.prog("calls"), "one", "two words", "", "*'\"\\x")
    t.gdb(server, "continue", prog=t.prog("calls"))
    output = server.output()
    for number, argument in enumerate(["one", "two words", "", "*'\"\\x"], 1):
        t.check(f"argument {number}: {argument}\n" in output, f"argument {number}")


def test_launch_prints_process_and_port(t):
    server = t.server("COMM", t.prog("loop"), "10")
    t.match(r"^Process \S*loop created; pid = \d+$", server.output())
    t.match(r"^Listening on port \d+$", server.output())


def test_launch_no_address_randomisation(t):
    """gdb asks for none by default; the program is where its file says + base."""
    seen = set()
    for _ in range(2):
        server = t.server("COMM", t.prog("calls"))
        gdb = t.gdb(server, "break main", "continue", "p $sp", "p $pc", "kill",
                    prog=t.prog("calls"))
        seen.add("".join(l for l in gdb.output().splitlines() if l.startswith("$")))
    t.equal(len(seen), 1, "number of different layouts")


def test_launch_killed_by_signal(t):
    server = t.server("COMM", t.prog("faults"))
    gdb = t.gdb(server, "continue", "p $_siginfo.si_signo", "continue", prog=t.prog("faults"))
    t.match(r"Program received signal SIGSEGV", gdb.output())
    t.match(r"/\* FAULT \*/", gdb.output())
    t.match(r"Program terminated with signal SIGSEGV", gdb.output())
    t.match(r"Child terminated with signal = 0?xb|Child terminated with signal", server.output())


def test_launch_program_from_path_and_directory(t):
    """The program inherits the server's directory and environment."""
    copy, = t.public_copy(t.prog("calls"))
    server = t.server("COMM", "./calls", "x", cwd=str(t.dir / "public"))
    gdb = t.gdb(server, "break triple", "continue", "continue", prog=copy)
    t.match(r"exited with code 052", gdb.output())


def test_launch_by_wrapper(t):
    """It may start processes of its own, and the first stop is the program's."""
    script = '(exec true); unset HOME; export TEST=1; exec "$@"'
    server = t.server("--wrapper", "sh", "-c", script, "sh", "--", "COMM",
                      t.prog("calls"), "one", "two words")
    gdb = t.gdb(server, "break main", "continue", "bt", 'p (char *) getenv("TEST")',
                'p (char *) getenv("HOME")', "continue", prog=t.prog("calls"))
    t.match(r"Breakpoint 1, main \(argc=3", gdb.output())
    t.match(r'\$1 = 0x[0-9a-f]+ "1"', gdb.output())
    t.match(r"\$2 = 0x0", gdb.output())
    t.check("argument 2: two words\n" in server.output(), "arguments")


def test_launch_wrapper_that_fails(t):
    server = t.server("--wrapper", "false", "--", "COMM", t.prog("calls"), comm=":1")
    t.equal(server.wait(), 1, "exit status")
    t.match("calls ended before it could run", server.output())
