# SPDX-License-Identifier: BSD-2-Clause
"""What README's Rights tells root to do for ordinary users, word by word."""
import pwd
import re
import subprocess

import harness
from attempts import ALICE, need_attach


def recipe():
    """README's commands for an ordinary user."""
    text = (harness.ROOT / "README").read_text()
    rights = re.search(r"^Rights\n-+\n(.*?)^What it promises", text, re.S | re.M).group(1)
    return [re.split(r"\s{3,}", line)[0]
            for line in re.findall(r"^    # (.*)$", rights, re.M)]


INSTALL = """
set -e
directory=$1 server=$2
mkdir -p "$directory/etc"
mount -t tmpfs -o mode=755 none "$directory/etc"
cp -a /etc/. "$directory/etc"
mount --bind "$directory/etc" /etc
for file in /etc/group /etc/gshadow; do [ ! -e $file ] || sed -i /^truehit:/d $file; done
mount -t tmpfs -o mode=755 none /usr/local/bin
cp "$server" /usr/local/bin/truehit
chmod 755 /usr/local/bin/truehit
set -x
"""


def installed(t):
    """A script that installs truehit as README tells, in a mount name space of its own:
    nothing is left of it. What comes after it is run there."""
    t.need_any_engine("what README says")
    t.need_root()
    t.need_kernel_conditions()
    for tool in "setcap", "setpriv", "unshare", "groupadd", "usermod":
        t.need_tool(tool)
    try:
        subprocess.run(["unshare", "--mount", "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        t.skip("no mount name space can be made here")
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
        too_high = int(file.read()) > 2
    commands = recipe()
    t.check(any("setcap cap_bpf,cap_perfmon+ep " in c for c in commands), f"README: {commands}")
    script = INSTALL
    for command in commands:
        # Only where it is higher; and this is the whole machine's.
        if command.startswith("sysctl"):
            t.equal(command, "sysctl kernel.perf_event_paranoid=2", "README")
            continue
        script += command.replace("USER", "nobody") + "\n"
    return script, too_high


def run_installed(t, script, user, *argv):
    """argv is executed by this user, in its groups."""
    who = {"nobody": ["--reuid=nobody", f"--regid={pwd.getpwnam('nobody').pw_gid}",
                       "--init-groups"],
           "alice": [f"--reuid={ALICE}", f"--regid={ALICE}", "--clear-groups"]}[user]
    # setpriv itself has all capabilities until it executes something.
    return ["unshare", "--mount", "--propagation=private", "bash", "-c",
            script + 'set +x\nshift 2\nexec setpriv "$@"', "recipe", str(t.dir / user),
            t.config.server, *who, "/bin/sh", "-c", 'exec "$0" "$@"', *argv]


def test_readme(t):
    """What README tells, word by word: then it is as README says."""
    script, too_high = installed(t)
    (t.dir / "nobody").mkdir()
    prog, ids = t.public_copy(t.prog("conditions"), t.prog("ids"))
    for kind in "hbreak", "break":
        server = t.server("COMM", prog, cwd="/",
                          program=run_installed(t, script, "nobody", "/usr/local/bin/truehit"))
        gdb = t.gdb(server, f"{kind} {t.line('conditions.c', 'BODY')} if i % 20 == 7", prog=prog,
                    python="""
run("continue")
emit(i=value("i"), table=run("monitor breakpoints"), engines=run("monitor engines"))
run("kill")
""")
        result = gdb.results[0]
        t.equal(result["i"], "7", f"the true hit of {kind}")
        if too_high:
            t.match("needs root, or: sysctl kernel.perf_event_paranoid=2", server.output())
            continue
        t.no_match(r"perf_event .*(CAP_BPF|not permitted|[Pp]ermission)", result["engines"])
        t.no_match(r"needs root, or: .*setcap", server.output())
        if not re.search(r"^perf_event .*\n +not usable", result["engines"], re.M):
            t.match(r" (perf_event|uprobe) +kernel ", result["table"])
    need_attach(t)
    server = harness.Process(t, run_installed(t, script, "nobody", "/bin/bash", "-c", f"""
{ids} wait &
sleep 0.1
exec /usr/local/bin/truehit --attach :0 $!
"""), cwd="/")
    server.wait_output("Listening on port")
    t.match(r"Attached; pid = \d+", server.output())


def test_readme_other_users(t):
    """Who is not in the group cannot execute it."""
    script, _ = installed(t)
    (t.dir / "alice").mkdir()
    process = harness.Process(t, run_installed(t, script, "alice", "/usr/local/bin/truehit",
                                               "--version"), cwd="/")
    t.check(process.wait() > 0, "exit status")
    t.match("Permission denied", process.output())
