# SPDX-License-Identifier: BSD-2-Clause
"""Starting programs, to their end."""
import fcntl
import os
import re
import shutil
import signal
import subprocess
import termios

import harness
import rsp


@harness.machines("main", "small")
def test_launch_to_main_and_exit(t):
    server = t.server("COMM", t.prog("calls"))
    gdb = t.gdb(server, "break main", "continue", "bt", "continue",
                "p $_exitcode", prog=t.prog("calls"))
    t.match(r"Breakpoint 1, main \(argc=1", gdb.output())
    t.match(r"exited with code 052", gdb.output())
    t.match(r"\$1 = 42", gdb.output())
    t.match(r"Remote debugging from host (127\.0\.0\.1|::1)", server.output())
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
    t.truehit_only("wrappers whose words hold blanks")
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
    server = t.server("--wrapper", "false", "--", "COMM", t.prog("calls"), comm="-")
    t.equal(server.wait(), 1, "exit status")
    t.match(r"During startup program exited with code 1\.\nExiting\n\Z", server.output())


def extended(t, *options, **kwargs):
    return t.server("--multi", *options, "COMM", **kwargs)


def run(t, server, *commands, prog="calls", args="", shell="on"):
    """One gdb that starts a program by vRun and runs it to its end."""
    return t.gdb(server, f"set remote exec-file {t.prog(prog)}", f"set args {args}",
                 f"set startup-with-shell {shell}", *commands, "run",
                 connect="target extended-remote", prog=t.prog(prog))


SHELLS = ["sh", "bash", "dash", "ksh", "mksh", "zsh", "csh", "tcsh", "fish", "yash"]


def test_launch_by_every_shell(t):
    """The program's words arrive as they are, and the first stop is its own."""
    words = ["*", "$HOME", "two  words", "", "'\"\\!`x`", "~", "a=b;c&d|e", "%1", "#"]
    for shell in SHELLS:
        path = shutil.which(shell)
        if not path:
            continue
        server = t.server("COMM", t.prog("calls"), *words, env=dict(os.environ, SHELL=path))
        gdb = t.gdb(server, "break main", "continue", "bt", "continue", prog=t.prog("calls"))
        t.match(rf"Breakpoint 1, main \(argc={len(words) + 1}", gdb.output(), shell)
        for number, word in enumerate(words, 1):
            t.check(f"argument {number}: {word}\n" in server.output(), f"{shell}: {word}")


def test_launch_by_no_shell(t):
    """Neither a strange $SHELL nor none is in the way."""
    t.truehit_only("way around a shell that is none")
    for shell in ("/usr/sbin/nologin", "/bin/false"):
        server = t.server("COMM", t.prog("calls"), "$x", env=dict(os.environ, SHELL=shell))
        gdb = t.gdb(server, "continue", prog=t.prog("calls"))
        t.match(r"exited with code 052", gdb.output())
    server = t.server("--no-startup-with-shell", "COMM", t.prog("calls"), "$x", "a b",
                      env=dict(os.environ, SHELL="/no/such/shell"))
    t.gdb(server, "continue", prog=t.prog("calls"))
    t.match(r"argument 1: \$x\nargument 2: a b\n", server.output())


def test_launch_arguments_for_the_shell(t):
    t.truehit_only("--no-escape-args")
    words = ("$((1+2))", "'a  b'", "", '"')
    for options, first in (((), "3"), (("--no-startup-with-shell",), r"\$\(\(1\+2\)\)")):
        server = t.server("--no-escape-args", *options, "COMM", t.prog("calls"), *words)
        t.gdb(server, "continue", prog=t.prog("calls"))
        t.match(rf"argument 1: {first}\nargument 2: 'a  b'\nargument 3: \nargument 4: \"\n",
                server.output())


def test_run_of_no_program(t):
    """gdb 16 shows the server's reason in place of its own text, which helps more."""
    t.truehit_only("reason")
    client = rsp.Client(t.server("--multi", "COMM"))
    client.ask("qSupported:error-message+")
    t.match(r'^E\..* failed; try "set remote exec-file"', client.ask("vRun;"))


def test_launch_program_without_a_name(t):
    """As in a script whose variable is empty; the name is missed, not a file."""
    t.truehit_only("wording of gdbserver 18")
    process = harness.Process(t, [t.config.server, "--once", ":0", "", "a", "b"])
    t.check(process.wait() != 0, "exit status")
    t.match(r"^(truehit: )?No program to debug\nExiting", process.output())


def test_launch_inherits_ignored_signals(t):
    """nohup reaches the program."""
    server = t.server("COMM", t.prog("loop"), "10",
                      preexec=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    with open(f"/proc/{server.inferior()}/status", encoding="ascii") as file:
        text = file.read()
    t.equal(int(re.search(r"SigIgn:\t(\w+)", text).group(1), 16) & 1, 1, "SIGHUP ignored")
    with open("/proc/self/status", encoding="ascii") as file:
        blocked = [re.search("SigBlk.*", status).group(0) for status in (text, file.read())]
    t.equal(*blocked, "signals blocked")


def test_run_again_and_again(t):
    server = extended(t, "--wrapper", "env", "WRAPPED=yes", "--")
    gdb = run(t, server, "break main", "run", "kill", "run", 'p (char *) getenv("WRAPPED")',
              "delete", "continue", args="'one word' two")
    t.equal(len(re.findall(r"Breakpoint 1, main \(argc=3", gdb.output())), 2, "runs to main")
    t.match(r'\$1 = 0x[0-9a-f]+ "yes"', gdb.output())
    t.match(r"argument 1: one word\nargument 2: two\n", server.output())


def test_restart(t):
    """R, what gdb sends if it has no vRun."""
    server = extended(t)
    gdb = run(t, server, "break triple", "run", "set remote run-packet off",
              "set remote exec-file", "run", "bt", "delete", "continue")
    t.equal(len(re.findall(r"Breakpoint 1, triple", gdb.output())), 2, "runs to triple")
    t.match(r"exited with code 052", gdb.output())


def test_run_that_fails(t):
    """All goes on."""
    t.truehit_only("life after a start that failed")
    server = extended(t)
    gdb = t.gdb(server, "set remote exec-file /no/such/program", "run",
                f"set remote exec-file {t.prog('calls')}", "run",
                connect="target extended-remote", prog=t.prog("calls"))
    t.match(r"/no/such/program", gdb.output())
    t.match(r"exited with code 052", gdb.output())


def hexed(text):
    return text.encode().hex()


def test_run_that_fails_says_why(t):
    t.truehit_only("reasons in error replies")
    server = extended(t)
    client = rsp.Client(server)
    client.ask("qSupported:multiprocess+")
    client.ask("!")
    for setting in ("1", "0"):
        t.equal(client.ask(f"QStartupWithShell:{setting}"), "OK", "QStartupWithShell")
        t.match(r"^E\.Cannot exec /no/such: No such file or directory",
                client.ask("vRun;" + hexed("/no/such")))
        t.match(r"^E\.Cannot exec /etc/passwd: Permission denied",
                client.ask("vRun;" + hexed("/etc/passwd")))
    t.match("^E\\.", client.ask("vAttach;0"))
    t.match("^E\\.", client.ask(f"vAttach;{server.pid:x}"))
    t.match("^W00", client.ask("?"))
    t.match("^T05", client.ask("vRun;" + hexed(t.prog("calls")) + ";" + hexed("a b")))
    t.match(r"^S;[0-9a-f]+;27612062" "27;$", client.ask("qExecAndArgs"))


def test_run_by_default_program(t):
    """vRun without a name, and R, start the last one."""
    server = extended(t)
    client = rsp.Client(server)
    client.ask("qSupported:multiprocess+")
    client.ask("!")
    t.match("^E", client.ask("vRun;"))
    t.match("^T05", client.ask("vRun;" + hexed(t.prog("calls")) + ";" + hexed("x")))
    first = server.inferior()
    client.ask(f"Hgp{first:x}.{first:x}")
    client.send_bytes(client.frame("R00"))
    t.match("^QC", client.ask("qC"))
    t.match("^T05", client.ask("?"))
    t.equal(harness.process_state(first), None, "the first process's end")
    t.match("^W2a", client.ask("vCont;c"))
    t.match("^T05", client.ask("vRun;;" + hexed("y")))
    t.match("^W2a", client.ask("vCont;c"))
    t.equal(re.findall(r"argument 1: (\w+)", server.output()), ["x", "y"], "arguments")


def test_run_with_settings(t):
    """Environment, directory and randomization hold for later clients, too."""
    server = extended(t, env=dict(os.environ, OWN="1"))
    show = 'p (char *) getenv("OWN")', 'p (char *) getenv("A")', "info proc cwd"
    gdb = run(t, server, "set environment A=b c=d", "unset environment OWN", "set cwd /usr/lib",
              "break main", "run", *show, "kill")
    t.match(r"\$1 = 0x0", gdb.output())
    t.match(r'\$2 = 0x[0-9a-f]+ "b c=d"', gdb.output())
    t.match(r"cwd = '/usr/lib'", gdb.output())
    client = rsp.Client(server)
    client.ask("!")
    t.match("^T05", client.ask("vRun;"))
    pid = int(re.findall(r"pid = (\d+)", server.output())[-1])
    t.equal(os.readlink(f"/proc/{pid}/cwd"), "/usr/lib", "directory")
    with open(f"/proc/{pid}/environ", encoding="utf-8") as file:
        variables = file.read().split("\0")
    t.check("A=b c=d" in variables and "OWN=1" not in variables, "environment")
    client.ask(f"vKill;{pid:x}")
    t.equal(client.ask("QEnvironmentReset"), "OK", "QEnvironmentReset")
    t.equal(client.ask("QSetWorkingDir:"), "OK", "QSetWorkingDir")
    t.match("^T05", client.ask("vRun;"))
    pid = int(re.findall(r"pid = (\d+)", server.output())[-1])
    t.equal(os.readlink(f"/proc/{pid}/cwd"), os.getcwd(), "directory")
    with open(f"/proc/{pid}/environ", encoding="utf-8") as file:
        t.check("OWN=1" in file.read().split("\0"), "environment")


def test_run_with_one_string(t):
    """What gdb 17 and later send: the shell, if any, reads the string."""
    t.truehit_only("single-inf-arg")
    server = extended(t)
    client = rsp.Client(server)
    t.match(r"(^|;)single-inf-arg\+(;|$)", client.ask("qSupported:single-inf-arg+"))
    client.ask("!")
    for setting, expected in (("1", "3"), ("0", "$((1+2))")):
        client.ask(f"QStartupWithShell:{setting}")
        t.match("^T05", client.ask("vRun;" + hexed(t.prog("calls")) + ";" +
                                   hexed("$((1+2)) 'a  b'")))
        t.match("^W2a", client.ask("vCont;c"))
        t.match(re.escape(f"argument 1: {expected}\nargument 2: a  b\n"), server.output())


def need_gdb(t, version):
    text = subprocess.run([t.config.gdb, "--version"], capture_output=True, text=True,
                          check=True, env=dict(os.environ, LC_ALL="C")).stdout
    have = int(re.search(r"(\d+)\.\d+", text.splitlines()[0]).group(1))
    if have < version:
        t.skip(f"gdb {have} is older than {version}")


def test_arguments_and_a_newer_gdb(t):
    """gdb learns of the arguments here, and hands over its own unexpanded."""
    t.truehit_only("single-inf-arg")
    need_gdb(t, 18)
    server = t.server("COMM", t.prog("calls"), "a b", "*")
    gdb = t.gdb(server, "show args", "kill", prog=t.prog("calls"))
    t.check("is \"'a b' '*'\"." in gdb.output(), "args told")
    server = extended(t)
    run(t, server, args="$((1 + 2)) 'x  y'")
    t.match(r"argument 1: 3\nargument 2: x  y\n", server.output())


def test_terminal_belongs_to_the_program(t):
    """It reads what is typed, and the server may print all the same."""
    t.truehit_only("lending of the terminal on stdin")
    controller, terminal = os.openpty()
    modes = termios.tcgetattr(terminal)
    modes[3] |= termios.TOSTOP
    termios.tcsetattr(terminal, termios.TCSANOW, modes)

    def take_terminal():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    cat = shutil.which("cat")
    server = t.server("COMM", cat, stdin=terminal, preexec=take_terminal)
    gdb = t.gdb(server, "continue", wait=False)
    harness.wait_for(lambda: os.tcgetpgrp(controller) == server.inferior(), "the foreground")
    os.write(controller, b"hello\n\x04")
    gdb.wait()
    t.match(r"exited normally", gdb.output())
    t.match(r"^hello$", server.output())
    t.equal(server.wait(), 0, "exit status")
