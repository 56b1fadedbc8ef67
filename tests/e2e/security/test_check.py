# SPDX-License-Identifier: BSD-2-Clause
"""truehit --check: what this machine and this user can have, for people and for scripts."""
import ctypes
import json
import os
import pty
import re
import struct
import subprocess

import harness
from test_rights import perf_is_roots, with_capabilities

FAST, FAILED, SLOW = 0, 1, 2    # the exit status
NEEDED = {"cap_bpf", "cap_perfmon"}
NAMES = ["version", "machine", "user", "hardware_slots", "counters", "until_count", "engines",
         "breakpoints", "hardware_breakpoints", "advice", "exit_status"]
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW, EPERM = 0x00050000, 0x7fff0000, 1
CALLS = {"x86_64": {"bpf": 321, "memfd_create": 319},
         "aarch64": {"bpf": 280, "memfd_create": 279}}[os.uname().machine]


def check(t, *options, program=None, preexec=None, env=None):
    """The exit status and what is printed."""
    t.truehit_only("--check")
    server = program or [t.config.server]
    done = subprocess.run([*server, *options], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False, preexec_fn=preexec, env=env, cwd="/",
                          timeout=harness.WAIT_LIMIT * harness.PATIENCE)
    t.note(done.stdout + done.stderr)
    return done.returncode, done.stdout


def told(t, **start):
    """What scripts read, after a look at what holds anywhere; each engine by its name, and
    each piece of advice."""
    status, text = check(t, "--check=json", **start)
    found = json.loads(text)
    t.equal(list(found), NAMES, "names")
    t.equal(found["exit_status"], status, "the exit status")
    t.equal(found["machine"]["kernel"], os.uname().release, "the kernel")
    t.equal(found["machine"]["architecture"], os.uname().machine, "the architecture")
    found["engines"] = {engine["name"]: engine for engine in found["engines"]}
    t.equal(list(found["engines"]), ["pad", "uprobe", "perf_event", "debugreg", "int3"],
            "engines")
    found["advice"] = {advice["name"]: advice["line"] for advice in found["advice"]}
    for name, engine in found["engines"].items():
        t.equal(engine["why_not"] is None, engine["usable"], f"a reason: {name}")
        t.check(engine["usable"] or engine["false_hit_ns"] is None, f"a cost: {name}")
    decides = found["breakpoints"]
    t.equal(status, FAST if {"program", "kernel"} & set(decides) else SLOW, "the exit status")
    t.equal("kernel" in decides, any(found["engines"][name]["usable"]
                                     for name in ("uprobe", "perf_event")), "the kernel decides")
    return found


def usable(found):
    return {name for name, engine in found["engines"].items() if engine["usable"]}


@harness.machines("main", "small")
def test_root(t):
    t.need_root("be root")
    t.need_kernel_conditions()
    found = told(t)
    t.equal(found["user"]["uid"], 0, "the user")
    t.check(NEEDED <= set(found["user"]["capabilities"]), "capabilities")
    t.check("kernel" in found["breakpoints"], f"who decides: {found['breakpoints']}")
    t.check("setcap" not in found["advice"], f"advice: {found['advice']}")
    t.check("int3" in usable(found), "int3")
    t.check(found["engines"]["int3"]["false_hit_ns"] > 0, "the cost of a stop")


@harness.machines("main", "small")
def test_capabilities(t):
    t.need_kernel_conditions()
    start = with_capabilities(t)
    found = told(t, **start)
    t.check(found["user"]["uid"] != 0, "the user")
    t.equal(set(found["user"]["file_capabilities"]), NEEDED, "of the file")
    t.check("setcap" not in found["advice"], f"advice: {found['advice']}")
    if not found["user"]["no_new_privs"] and not found["user"]["nosuid"]:
        t.equal(set(found["user"]["capabilities"]), NEEDED, "of the process")
        # Uprobes were root's before Linux 6.6, and some machines' hardware is of no use.
        t.check("kernel" in found["breakpoints"]
                or {"root", "perf_event_paranoid"} & set(found["advice"]),
                f"neither decided in the kernel nor advice: {found['advice']}")


@harness.machines("main", "small")
def test_no_rights(t):
    start = t.without_rights()
    found = told(t, **start)
    t.equal(found["user"]["capabilities"], [], "capabilities")
    t.check("kernel" not in found["breakpoints"], f"who decides: {found['breakpoints']}")
    t.check("Operation not permitted" in found["engines"]["uprobe"]["why_not"]
            or os.uname().machine != "x86_64", "why not")
    own = start["program"][0]
    if found["user"]["user_namespace"]:
        t.skip("in a user name space nobody is given more")
    if found["user"]["nosuid"]:
        own = "/usr/local/bin/truehit"
        t.equal(found["advice"]["install"], f"install -m 755 {start['program'][0]} {own}", "advice")
    t.equal(found["advice"]["setcap"], f"setcap cap_bpf,cap_perfmon+ep {own}", "advice")
    t.equal("no_new_privs" in found["advice"], found["user"]["no_new_privs"], "no_new_privs")
    t.equal("perf_event_paranoid" in found["advice"], perf_is_roots(), "kernel.perf_event_paranoid")


def test_the_advice_helps(t):
    """What is told is done word by word, and told no more then."""
    t.need_root()
    t.need_tool("setcap")
    t.need_kernel_conditions()
    start = t.without_rights()
    found = told(t, **start)
    lines = found["advice"]
    if set(lines) - {"ptrace_scope"} != {"setcap"}:
        t.skip(f"advice that is about the whole machine: {lines}")
    done = subprocess.run(lines["setcap"], shell=True, capture_output=True, text=True, check=False)
    if done.returncode:
        t.skip("no file capabilities here: " + done.stderr.strip())
    found = told(t, **start)
    t.check("setcap" not in found["advice"], f"advice: {found['advice']}")
    t.equal(set(found["user"]["capabilities"]), NEEDED, "capabilities")


def test_no_new_privs(t):
    t.need_tool("setpriv")
    start = with_capabilities(t)
    found = told(t, program=["setpriv", "--no-new-privs", *start["program"]],
                 preexec=start.get("preexec"))
    t.equal(found["user"]["no_new_privs"], True, "no_new_privs")
    t.equal(found["user"]["capabilities"], [], "capabilities")
    t.check("no_new_privs" in found["advice"] and "setcap" not in found["advice"],
            f"advice: {found['advice']}")


def in_name_spaces(t, *options, preexec=None):
    """What starts a program as root of a user name space, or in others."""
    t.need_tool("unshare")
    words = ["unshare", *options, "--fork", "--pid", "--mount-proc"]
    done = subprocess.run([*words, "true"], capture_output=True, text=True, check=False,
                          preexec_fn=preexec)
    if done.returncode:
        t.skip("no name spaces here: " + done.stderr.strip())
    return words


def test_container_of_an_ordinary_user(t):
    """As rootless podman and bwrap make them: root in there is nobody outside."""
    start = t.without_rights()
    words = in_name_spaces(t, "--user", "--map-root-user", preexec=start["preexec"])
    found = told(t, program=[*words, *start["program"]], preexec=start["preexec"])
    t.equal(found["user"]["uid"], 0, "the user")
    t.equal(found["user"]["user_namespace"], True, "the user name space")
    t.equal(found["user"]["pid_namespace"], True, "the PID name space")
    t.check("kernel" not in found["breakpoints"], f"who decides: {found['breakpoints']}")
    t.check("user_namespace" in found["advice"] and "setcap" not in found["advice"],
            f"advice: {found['advice']}")
    status, text = check(t, "--check", program=[*words, *start["program"]],
                         preexec=start["preexec"])
    t.equal(status, found["exit_status"], "the exit status")
    t.match(r"^  own user name space +yes \(no capability counts outside of it\)$", text)


def test_container_of_root(t):
    """As docker makes them, but for its files: without capabilities that are not asked for."""
    t.need_root("have a container of root's")
    t.need_tool("capsh")
    words = in_name_spaces(t)
    dropped = ",".join(sorted(NEEDED | {"cap_sys_admin", "cap_sys_ptrace"}))
    found = told(t, program=[*words, "capsh", f"--drop={dropped}", "--", "-c",
                             f"exec {t.config.server} \"$0\""])
    t.check(not NEEDED & set(found["user"]["bounding_capabilities"]), "what can be had")
    t.equal(found["user"]["pid_namespace"], True, "the PID name space")
    if not found["user"]["user_namespace"]:
        t.match(r"^(docker|podman) run --cap-add=BPF --cap-add=PERFMON \.\.\.$",
                found["advice"]["bounding_capabilities"])
        t.check("setcap" not in found["advice"], f"advice: {found['advice']}")


def refuse_calls(*names):
    """For preexec: a seccomp filter under which these system calls are refused."""
    numbers = [CALLS[name] for name in names]
    # Load the number; jump over the rest to the refusal if it is one of them.
    code = [(0x20, 0, 0, 0)]
    code += [(0x15, len(numbers) - i, 0, number) for i, number in enumerate(numbers)]
    code += [(0x06, 0, 0, SECCOMP_RET_ALLOW), (0x06, 0, 0, SECCOMP_RET_ERRNO | EPERM)]
    filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *insn) for insn in code))
    program = struct.pack("HxxxxxxP", len(code), ctypes.addressof(filters))

    def preexec():
        kept = filters              # until it is used
        harness.libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if harness.libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program) or not kept:
            os._exit(99)
    return preexec


def test_seccomp(t):
    """A filter that refuses bpf(2) to root."""
    t.need_root("be refused what he has")
    t.need_kernel_conditions()
    found = told(t, preexec=refuse_calls("bpf"))
    t.equal(found["user"]["seccomp"], "filter", "seccomp")
    t.check("kernel" not in found["breakpoints"], f"who decides: {found['breakpoints']}")
    t.equal(list(found["advice"]), ["seccomp"], "advice")


def test_neither_kernel_nor_pads(t):
    """Every hit is a stop; the exit status says so."""
    start = t.without_rights()
    refuse = refuse_calls("bpf", "memfd_create")

    def preexec():
        start["preexec"]()
        refuse()
    found = told(t, program=start["program"], preexec=preexec)
    t.equal(found["breakpoints"], ["server"], "who decides")
    t.equal(found["exit_status"], SLOW, "the exit status")
    status, text = check(t, "--check", program=start["program"], preexec=preexec)
    t.equal(status, SLOW, "the exit status")
    t.match(r"^  conditions of breakpoints +the server \(", text)


def test_for_people(t):
    """The same facts; no colours where nobody looks."""
    status, text = check(t, "--check")
    found = told(t)
    t.equal(status, found["exit_status"], "the exit status")
    t.no_match("\033", text)
    for head in "Machine", "User", "Counters of the processor", "Ways to decide about a hit":
        t.match(f"^{head}$", text)
    for name, engine in found["engines"].items():
        what = "usable, a false hit costs" if engine["usable"] else "not usable: "
        t.match(rf"^  {name} .*\n +{what}", text)
    t.equal(re.search("^What would help$", text, re.M) is not None, bool(found["advice"]), "advice")
    for line in found["advice"].values():
        t.check(f"  {line}\n" in text, f"advice: {line}")


def names_in(value):
    """Of all objects in a JSON value."""
    if isinstance(value, list):
        return {name for part in value for name in names_in(part)}
    if isinstance(value, dict):
        return set(value) | names_in(list(value.values()))
    return set()


def test_names_are_documented(t):
    page = (harness.ROOT / "doc" / "truehit.1").read_text()
    section = re.search(r"^\.Ss What can be had$(.*?)^\.Ss ", page, re.S | re.M).group(1)
    found = json.loads(check(t, "--check=json", **t.without_rights())[1])
    missing = {name for name in names_in(found) if not re.search(rf"\b{name}\b", section)}
    t.equal(missing, set(), "names that truehit(1) lacks")


def on_terminal(t, **env):
    """What a terminal would show."""
    t.truehit_only("--check")
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(t.config.server, [t.config.server, "--check"], {**os.environ, **env})
    text = b""
    try:
        while chunk := os.read(fd, 4096):
            text += chunk
    except OSError:                 # the other side is closed
        pass
    os.close(fd)
    os.waitpid(pid, 0)
    return text.decode()


def test_colours(t):
    t.match("\033\\[1mMachine\033\\[0m", on_terminal(t, TERM="xterm", NO_COLOR=""))
    t.no_match("\033", on_terminal(t, TERM="xterm", NO_COLOR="1"))
    t.no_match("\033", on_terminal(t, TERM="dumb", NO_COLOR=""))


def test_wrong_format(t):
    done = subprocess.run([t.config.server, "--check=xml"], capture_output=True, text=True,
                          check=False)
    t.truehit_only("--check")
    t.equal(done.returncode, FAILED, "exit status")
    t.match("--check takes json, or nothing, not 'xml'", done.stderr)
