# SPDX-License-Identifier: BSD-2-Clause
"""`monitor explain`: how a location is decided, and why."""
import re

import harness
from test_protocol import start, symbol
from uprobes import need_uprobes


SCRIPT = harness.ROOT / "scripts" / "truehit-gdb.py"


def explain(t, setup, location, program="conditions", arguments=(), go="main", start=None,
            part=None):
    """What is said of the location after the setup and one more stop; with a part of it,
    what is said of that, too."""
    path = t.prog(program)
    server = t.server(path, *arguments, **(start or {}))
    gdb = t.gdb(server, f"tbreak {go}", *setup, prog=path, python=f'''
run("continue")
emit(text=run("monitor explain {location}"),
     part=run("monitor explain {location} {part}") if {part!r} else None)
''')
    result = gdb.results[0]
    t.note(result["text"])
    if not part:
        return result["text"]
    t.note(result["part"])
    return result["text"], result["part"]


def sections(text):
    """The paragraphs, by the first word of each."""
    return {part.split()[0].rstrip(":"): part for part in text.split("\n\n")}


@harness.machines("main", "on=x86_64")
def test_decided_in_the_kernel(t):
    need_uprobes(t)
    text, program = explain(t, ["monitor set engine uprobe", "break body if i == 7 && n > 3"],
                            "body", part="bpf")
    parts = sections(text)
    t.match(r"^Location \d+: break \*0x[0-9a-f]+, body\+0x[0-9a-f]+ \(process \d+\)$", text)
    t.match(r"^ +engine: +uprobe: ", parts["Location"])
    t.match(r"^ +costs: +a false hit costs [\d.]+ us by a uprobe", parts["Location"])
    t.match(r"^ +decided by: +kernel$", parts["Location"])
    t.match(r"^ +hits: +0, 0 of them true", parts["Location"])
    t.match(r"^Condition: .* == 7 && .* > 3$", parts["Condition"])
    t.no_match(r"bytecode|BPF program|^ +\d+  reg ", text)
    t.match(r"^BPF program, \d+ instructions:\n +0: r6 = r1$", program)
    t.match(r"^ +\d+: r2 = \*\(u64 \*\)\(r2 \+\d+\) ; 0x7$", program)
    t.match(r"^ +\d+: if r\d+ != r2 goto pc[+-]\d+ <\d+>$", program)
    t.match(r"^ +\d+: call bpf_probe_read_user#112$", program)
    t.match(r"^ +\d+: r\d+ = \*\(u64 \*\)\(r6 \+\d+\) ; \$\w+$", program)
    t.match(r"^ +\d+: exit$", program)
    t.no_match(r"code 0x", program)
    t.match(r"page that is read is not resident", parts["Left"])
    t.no_match(r"divisor", parts["Left"])


def test_bytecode_on_request(t):
    t.truehit_only("monitor explain")
    text, code = explain(t, ["break body if i == 7 && n > 3"], "body", part="bytecode")
    t.match(r"^Condition: .* == 7 && .* > 3$", text)
    t.match(r"^Condition, \d+ bytes:\n +0  reg ", code)
    t.match(r"^ +\d+  end$", code)


def test_what_a_location_has_not(t):
    """Neither bytecode nor a program nor a pad."""
    t.truehit_only("monitor explain")
    t.need_any_engine("traps of the stub's")
    path = t.prog("conditions")
    for part, words in (("bytecode", "gdb sent no bytecode for location 1"),
                        ("bpf", "location 1 has no BPF program: hits stop their threads"),
                        ("pad", "location 1 has no pad: "), ("code", "no location body code")):
        gdb = t.gdb(t.server(path), "break body", "continue", f"monitor explain body {part}",
                    prog=path)
        t.match(f"^{words}", gdb.output())


def test_the_code_of_a_pad(t):
    need_uprobes(t)
    text, code = explain(t, ["monitor set engine uprobe", "monitor set pads always",
                             "break *body if i == 70000"], "body", part="pad")
    if "The trap is in a pad" not in text:
        t.skip("no pad: " + text.partition("No pad: ")[2].partition("\n")[0])
    t.no_match(r"^ +0x[0-9a-f]+  ", text)
    t.match(r"^The trap, and the instructions [^$]*\n +0x[0-9a-f]+  nop ", code)


def test_costs_by_the_clock(t):
    """Of hits that stop nobody, the time of processors is more than they have cost."""
    t.need_kernel_conditions()
    path = t.prog("loop")
    gdb = t.gdb(t.server(path, "20000"), f"hbreak {t.line('loop.c', 'BODY')} if count < 0",
                f"tbreak {t.line('loop.c', 'AFTER')}", "continue", prog=path,
                python='emit(text=run("monitor explain 1"))')
    t.match(r"^ +measured: +at most [\d.]+ (us|ns) a hit: 20,000 in \d+\.\d{3} s of processors",
            gdb.results[0]["text"])


def test_costs_of_hits_that_stop(t):
    t.truehit_only("monitor explain")
    path = t.prog("loop")
    gdb = t.gdb(t.server(path, "2000"), "monitor set engine ptrace", "monitor set pads off",
                f"break {t.line('loop.c', 'BODY')} if count == 1990", "continue", prog=path,
                python='''
text = run("monitor explain 1")
run("monitor reset")
emit(text=text, after=run("monitor explain 1"))
''')
    t.match(r"^ +measured: +at most [\d.]+ us a hit: 1,99\d in \d+\.\d{3} s in which the program "
            r"ran$", gdb.results[0]["text"])
    t.no_match("measured", gdb.results[0]["after"])


def test_a_condition_about_one_call(t):
    """gdb's extension guards it by the frame; people read where it holds."""
    t.need_breakpoint_registers()
    t.need_x86()
    t.truehit_only("monitor explain")
    path = t.prog("loop")
    gdb = t.gdb(t.server(path, "20"), f"break {t.line('loop.c', 'BODY')}", "continue", "delete",
                "watch count if count == 5 && i == 4", "continue", prog=path,
                first=[f"source {SCRIPT}"], python='''
numbers = [line.split()[0] for line in run("monitor breakpoints").splitlines()
           if " watch " in line]
emit(text=run(f"monitor explain {numbers[0]}"))
''')
    text = gdb.results[0]["text"]
    t.match(r"^Condition: \(s64\)\$rbp\[-\d+\] == 5 && .* == 4, where \$rip is 0x[0-9a-f]+ to 0x[0-9a-f]+ and "
            r"\$rbp is 0x[0-9a-f]+; elsewhere gdb decides$", text)
    t.match(r"^  It is about variables of one call, while that is at main\+0x[0-9a-f]+ to "
            r"main\+0x[0-9a-f]+;", text)


def test_jumps_lead_to_instructions(t):
    t.need_kernel_conditions()
    _, text = explain(t, ["break body if i == 7 || g_u8 / n > 3"], "body", part="bpf")
    numbers = [int(line.split(":")[0]) for line in text.splitlines()[1:]]
    targets = [int(number) for number in re.findall(r"goto pc.* <(-?\d+)>$", text, re.M)]
    t.check(len(targets) > 5, "jumps")
    for target in targets:
        t.check(target in numbers, f"no instruction {target}")


def test_what_is_left_to_the_stub(t):
    t.need_kernel_conditions()
    t.need_x86()
    text = explain(t, ["break body if i == 7 && n / i > 3 && $mxcsr"], "body")
    left = sections(text)["Left"]
    t.match(r"^    - the condition reads \$mxcsr$", left)
    t.match(r"divisor is zero", left)
    t.match(r"not resident", left)


def test_a_condition_that_is_always_decided(t):
    t.need_kernel_conditions()
    t.equal(sections(explain(t, ["hbreak body if 0"], "body"))["Left"].split(),
            ["Left", "to", "the", "stub:", "nothing"], "what is left to the stub")


def test_what_never_needs_a_decision(t):
    t.truehit_only("monitor explain")
    t.need_any_engine("traps of the stub's")
    text = explain(t, ["break body"], "body")
    t.match(r"^ +engine: +int3: ", text)
    t.match(r"^ +why: .*hardware slots", text)
    t.match(r"^Condition: gdb sent no condition", text)
    t.match(r"^  nothing: each hit is a stop", text)
    t.no_match(r"BPF", text)


def test_gdb_keeps_a_condition_to_itself(t):
    """A user who has set one is not told that the kernel decides it."""
    t.truehit_only("monitor breakpoints")
    t.need_any_engine("the text of another engine")
    path = t.prog("conditions")
    gdb = t.gdb(t.server(path), "tbreak main", "break body if (double) i > 2.5", "continue",
                "continue", prog=path, python='''
emit(table=run("monitor breakpoints"), text=run("monitor explain body"), i=value("i"))
run("kill")
''')
    result = gdb.results[0]
    t.equal(result["i"], "3", "the value at the stop")
    t.match(r" +gdb +[34] +0 +[34] +0 +0 gdb sent no condition$", result["table"])
    t.match(r"^ +decided by: +gdb$", result["text"])
    t.match(r"^Condition: gdb sent no condition$", result["text"])
    t.match(r"character literals", result["text"])


def test_watchpoint(t):
    t.need_kernel_conditions()
    text = explain(t, ["watch g_u64 if g_u64 == 1"], "g_u64")
    t.match(r"^Location \d+: watch \*0x[0-9a-f]+, 8 bytes, g_u64 \(", text)
    t.match(r"^  Those of watchpoints it evaluates itself", text)


def test_why_there_is_no_uprobe(t):
    """A locked instruction, where one would be wrong, or slow, is left to hardware."""
    t.need_kernel_conditions()
    t.need_breakpoint_registers()
    t.need_x86()
    path = t.prog("accesses")
    gdb = t.gdb(t.server(path), "break *by_xadd", "continue", prog=path, python="""
frame = gdb.selected_frame()
code = frame.architecture().disassemble(frame.pc(), frame.pc() + 30)
place = next(i["addr"] for i in code if i["asm"].startswith("lock"))
run("delete")
run("set breakpoint always-inserted on")
run(f"break *{place} if $rsp == 1")
auto = [run("monitor breakpoints"), run(f"monitor explain {place:#x}")]
run("monitor set engine hardware")
run("stepi")
emit(auto=auto, chosen=run(f"monitor explain {place:#x}"))
run("kill")
""")
    result = gdb.results[0]
    table, text = result["auto"]
    reason = (r"(the instruction there cannot be undone: it writes memory by a locked operation|"
              r"the kernel makes no uprobe at this instruction)$")
    t.match(r"^ +engine: +perf_event: ", text)
    # Where no memory need be undone, a uprobe steps over it, and is too slow.
    if not re.search(r"^ +costs: .* by a uprobe \(the kernel makes a step", text, re.M):
        t.match(r"^break \d+ is served by perf_event: " + reason, table)
        t.match(r"^ +why: .*" + reason, text)
    t.no_match(r"^ +slots:", text)
    t.match(r"^ +why: +monitor set engine hardware$", result["chosen"])
    t.no_match(reason, result["chosen"])


def test_unconditional_breakpoints_of_attached_programs(t):
    need_uprobes(t)
    t.need_any_engine()
    counts = t.dir / "counts"
    program = harness.Process(t, [t.prog("attach"), counts, "2"])
    harness.wait_for(counts.exists, "the program")
    server = t.server("--attach", "COMM", program.pid)
    gdb = t.gdb(server, "set breakpoint always-inserted on", "break *main", prog=t.prog("attach"),
                python='emit(text=run("monitor explain main"))')
    t.match(r"^ +engine: +uprobe: ", gdb.results[0]["text"])
    t.match(r"^ +why: +the program was attached to", gdb.results[0]["text"])
    t.no_match(r"^ +costs:", gdb.results[0]["text"])


@harness.machines("main", "on=x86_64")
def test_engines(t):
    need_uprobes(t)
    _, client = start(t)
    t.match(r"^uprobe .*\n +usable\n +made by (uprobe links|perf events).*; a false hit costs "
            r"[\d.]+ us where the kernel emulates the instruction, else [\d.]+ us",
            client.monitor("engines"))


@harness.machines("main")
def test_hardware_engine(t):
    """How its threads stop is what a trial hit has shown: both ways are legal."""
    t.need_kernel_conditions()
    t.need_breakpoint_registers()
    _, client = start(t)
    t.match(r"^perf_event .*\n +usable\n +threads stop by (the event|a signal)\b",
            client.monitor("engines"))


def test_no_slot_is_free(t):
    """Software breakpoints come last, whatever gdb puts in first."""
    t.need_kernel_conditions()
    t.need_x86()
    text = explain(t, ["monitor set engine hardware", "watch g_s8", "watch g_s16", "watch g_s32", "watch g_s64",
                       "break body if i == 7"], "body")
    t.match(r"^ +engine: +int3: ", text)
    t.match(r"^ +why: +\S", text)
    t.match(r"^ +slots: +used by (\d+ \(watch \*0x[0-9a-f]+, \d bytes?, g_s\d+\)(, |; )){4}"
            r"disable or delete one", text)
    t.match(r"^ +decided by: +(filter; )?stub$", text)
    t.match(r"^Condition: .* == 7$", text)
    t.match(r"^  every hit( of the trap in its pad)?: the thread stops, and the stub evaluates", text)


def test_without_rights(t):
    t.truehit_only("monitor explain")
    t.need_breakpoint_registers()
    text = explain(t, ["break body if i == 7"], "body", start=t.without_rights())
    t.match(r"^ +why: +(uprobe|perf_event) is not usable: .*cap_bpf", text)
    reasons = re.findall(r"why: +(?! |monitor set engine)", text)
    t.equal(len(reasons), 1, "reasons but the user's wish")
    t.match(r"^  every hit( of the trap in its pad)?: the thread stops, and the stub evaluates", text)


def test_commands(t):
    t.truehit_only("agent dprintf")
    text = explain(t, ["set dprintf-style agent", 'dprintf body,"i=%d\\n", i',
                       "condition 2 i == 3"], "body")
    t.match(r"^Condition: .* == 3$", text)
    t.match(r'^Command: printf "i=%d\\n"', text)


def test_commands_in_the_kernel(t):
    t.need_kernel_conditions()
    text, program = explain(t, ["set dprintf-style agent", 'dprintf body,"%s\\n", &g_text[0]'],
                            "body", part="bpf")
    left = sections(text)["Left"]
    t.match(r"^  commands at hits at which\n(    - .*\n)*    - a string is too long", left)
    t.match(r"^    - the ring .* is full", left)
    # A uprobe's program looks at the instruction, too, and for restartable sequences.
    t.no_match(r"^  hits at which\n    - (?!the program has changed the instruction|"
               r"the thread is in a restartable)", left)
    t.match(r"; records of commands$", program)


def test_commands_in_the_stub(t):
    t.need_kernel_conditions()
    t.need_x86()
    text = explain(t, ["set dprintf-style agent", 'dprintf body,"%d\\n", $mxcsr'], "body")
    t.match(r"^  all commands, as one of them\n    - reads \$mxcsr$", text)


def test_counts(t):
    t.truehit_only("monitor explain")
    text = explain(t, ["break body if i % 10 == 9"], "body", go="printf")
    t.match(r"^ +hits: +10, 1 of them true", text)


def test_ignored(t):
    """Of six true hits the first one stops."""
    t.truehit_only("monitor explain")
    for command, words in (("ignore body 1000", "5 true ones so far, and the next 995"),
                           ("ignore body 2", "2 true ones so far"),
                           ("count body", "5 true ones so far, and all that come")):
        text = explain(t, ["break body if i % 10 == 9", "continue", f"monitor {command}"],
                       "body", go="printf")
        t.match(rf"^ +ignored: +{words}$", text)


def test_a_place_that_is_none(t):
    t.truehit_only("monitor explain")
    for text, words in (("77", "no location 77; see monitor breakpoints"),
                        ("nosuch", "no location nosuch"),
                        ("conditions.c:30", "only gdb knows where"), ("", "LOCATION")):
        path = t.prog("conditions")
        gdb = t.gdb(t.server(path), "break body", "continue", f"monitor explain {text}",
                    prog=path)
        t.match(words, gdb.output())


def test_a_refused_program(t):
    """More branches than the kernel's verifier follows: the location works all the
    same, and the verifier's words are shown."""
    t.need_kernel_conditions()
    t.need_x86()
    branches = 8300
    end = 6 * branches + 3
    # reg i; if_goto END ... const8 0; end; END: const8 1; end
    code = b"".join(bytes([0x26, 0, i % 16, 0x20, end >> 8, end & 255])
                    for i in range(branches)) + bytes([0x22, 0, 0x27, 0x22, 1, 0x27])
    _, client = start(t)
    place = f"Z1,{symbol(t, 'calls', 'triple'):x},1"
    t.equal(client.ask(f"{place};X{len(code):x},{code.hex()}"), "OK", "reply")
    text = client.monitor("explain triple")
    t.note(text[-1500:])
    t.match(r"^ +decided by: +stub; the kernel refused", text)
    t.match(r"^Condition: reg .*\.\.\.$", text)
    t.match(r"^  every hit: ", text)
    t.no_match("processed", text)
    program = client.monitor("explain triple bpf")
    t.match(r"^BPF program, \d+ instructions, which was refused:$", program)
    t.match(r"^    processed \d+ insns", program)
    t.match("^T05", client.ask("vCont;c"), "the stop")
    t.match(r"^ +hits: +1, 1 of them true; left to the stub: 1$", client.monitor("explain 1"))
