# SPDX-License-Identifier: BSD-2-Clause
"""What monitor commands tell scripts: JSON, whose names truehit(1) has."""
import json
import re

import harness
import rsp
from test_protocol import start, symbol

COUNTS = {"hits": int, "false": int, "true": int, "maybe": int}
TEXT, NUMBER = (str, type(None)), (int, type(None))
LOCATION = {
    "number": int, "process": int, "type": str, "address": int, "length": NUMBER, "symbol": TEXT,
    "offset": NUMBER, "place": TEXT, "gdbs_own": bool, "engine": TEXT, "decides": TEXT,
    "filter": bool, "decided_by": TEXT, "counts": {**COUNTS, "ignored": int},
    "threads": [{"thread": NUMBER, "ended": bool, **COUNTS}], "conditions": [str],
    "commands": [str], "notes": [str]}
EXPLANATION = {
    **LOCATION, "value_filter": bool, "ignores": {"all": bool, "next": NUMBER, "all_but": NUMBER},
    "why": [str],
    "cost": {"trial_false_hit_ns": (float, type(None)),
             "measured_hit_ns_at_most": (float, type(None)), "measured_by": str, "hits": int,
             "processors_ns": int, "running_ns": int},
    "left_to_stub": [{"what": str, "reason": str}],
    "pad": {"made": bool, "why_not": TEXT, "why_no_filter": TEXT}}
ENGINES = {
    "engines": [{"name": str, "title": str, "usable": bool, "why_not": TEXT, "found": TEXT,
                 "watches_system_calls": bool, "costs": (dict, type(None))}],
    "hardware_slots": [{"process": int, "kinds": str, "count": int, "used": int, "others": int,
                        "free": int, "usable": bool, "why_not": TEXT}],
    "settings": {"engine": str, "pads": str, "watch_filter": bool}}
COUNTERS = {
    "counters": [{"event": str, "usable": bool, "exact": (bool, type(None)), "why_not": TEXT}],
    "until_count": [{"event": str, "usable": bool, "why_not": TEXT}]}
STATS = {"stats": [{
    "number": int, "process": int, "type": str, "address": int, "place": TEXT, "engine": TEXT,
    "decides": TEXT, "filter": bool, "decided_by": TEXT, **COUNTS, "running_ns": int,
    "processors_ns": int, "hits_per_second": (float, type(None))}]}
HELP = {"commands": [{"name": str, "arguments": str, "help": str, "details": TEXT, "json": bool}]}


def fits(t, value, shape, where="document"):
    """It has these names and no others, and values of these kinds."""
    if isinstance(shape, dict):
        t.equal(sorted(value), sorted(shape), f"names of {where}")
        for name, part in shape.items():
            fits(t, value[name], part, f"{where}.{name}")
    elif isinstance(shape, list):
        t.check(isinstance(value, list), f"{where} is a list")
        for element in value:
            fits(t, element, shape[0], f"{where}[]")
    else:
        # A bool is an int in Python.
        t.check(isinstance(value, shape) and
                (bool in (shape, *(shape if isinstance(shape, tuple) else ()))
                 or not isinstance(value, bool)), f"{where}: {value!r}")


def names_of(shape):
    if isinstance(shape, list):
        return names_of(shape[0])
    if isinstance(shape, dict):
        return set(shape).union(*map(names_of, shape.values()))
    return set()


def ask(t, client, line, shape):
    """One document, in one line."""
    text = client.monitor(f"{line} --json")
    t.match(r"\A.*\n\Z", text)
    found = json.loads(text)
    fits(t, found, shape)
    return found


def test_documents(t):
    t.truehit_only("monitor --json")
    _, client = start(t)
    place = symbol(t, "calls", "triple")
    # $pc == 1
    condition = f"26{rsp.PC:04x}22011327"
    t.equal(client.ask(f"Z0,{place:x},1;X{len(condition) // 2:x},{condition}"), "OK", "inserted")
    found = ask(t, client, "breakpoints", {"breakpoints": [LOCATION]})["breakpoints"]
    t.equal([(one["number"], one["type"], one["address"], one["symbol"], one["offset"],
              one["place"], one["length"]) for one in found],
            [(1, "break", place, "triple", 0, "triple", None)], "locations")
    t.equal(len(found[0]["conditions"]), 1, "conditions")
    one = ask(t, client, "explain 1", EXPLANATION)
    t.equal({name: one[name] for name in LOCATION}, found[0], "the same in both")
    engines = ask(t, client, "engines", ENGINES)["engines"]
    t.equal([engine["name"] for engine in engines],
            ["uprobe", "perf_event", "debugreg", "int3", "shared"], "engines")
    usable = [engine["name"] for engine in engines if engine["usable"]]
    t.check(one["engine"] in usable, "it is served by one that is usable")
    ask(t, client, "counters", COUNTERS)
    stats = ask(t, client, "stats", STATS)["stats"]
    t.equal([(one["number"], one["place"], one["hits"], one["hits_per_second"]) for one in stats],
            [(1, "triple", 0, None)], "stats of one that has not run")
    commands = ask(t, client, "help", HELP)["commands"]
    t.equal([command["name"] for command in commands if command["json"]],
            re.findall(r"^  (\w+) .*\[--json\]$", client.monitor("help"), re.M), "commands")


def test_numbers_are_numbers(t):
    """Counts of more than three digits, who decides, and what it costs."""
    t.need_kernel_conditions()
    path = t.prog("loop")
    gdb = t.gdb(t.server(path, "20000"), f"hbreak {t.line('loop.c', 'BODY')} if count < 0",
                f"tbreak {t.line('loop.c', 'AFTER')}", "continue", "monitor ignore 1 17",
                prog=path, python='''
emit(all=run("monitor breakpoints --json"), one=run("monitor explain 1 --json"))
''')
    found, one = (json.loads(gdb.results[0][name]) for name in ("all", "one"))
    fits(t, found, {"breakpoints": [LOCATION]})
    fits(t, one, EXPLANATION)
    location = found["breakpoints"][0]
    t.equal(location["counts"],
            {"hits": 20000, "false": 20000, "true": 0, "maybe": 0, "ignored": 0}, "counts")
    t.equal(sum(thread["hits"] for thread in location["threads"]), 20000, "of all threads")
    t.equal((location["type"], location["decides"]), ("hbreak", "kernel"), "who decides")
    t.equal(one["ignores"], {"all": False, "next": 17, "all_but": None}, "ignored")
    t.check(location["notes"], "a note on ignored hits")
    t.equal((one["cost"]["hits"], one["cost"]["measured_by"]), (20000, "processors"), "hits")
    t.check(0 < one["cost"]["measured_hit_ns_at_most"] <= one["cost"]["processors_ns"] / 19999,
            f"what a hit costs at most: {one['cost']}")


def test_watchpoint(t):
    t.truehit_only("monitor --json")
    t.need_breakpoint_registers()
    _, client = start(t, "loop", "10")
    place = symbol(t, "loop", "counter")
    t.equal(client.ask(f"Z2,{place:x},8"), "OK", "inserted")
    one = ask(t, client, "explain counter", EXPLANATION)
    t.equal((one["type"], one["address"], one["length"], one["conditions"]),
            ("watch", place, 8, []), "what it is")


def test_failures_are_documents(t):
    t.truehit_only("monitor --json")
    server = t.server("COMM", t.prog("calls"))
    client = rsp.Client(server)
    for line, words in (("explain 77", "there are no breakpoints"), ("reset", "Usage: monitor"),
                        ("nonsense", "Unknown monitor command"), ("breakpoints some", "not 'some'")):
        client.console.clear()
        t.equal(client.ask("qRcmd," + f"{line} --json".encode().hex()), "E01", "reply")
        found = json.loads(client.console)
        t.equal(list(found), ["error"], "names")
        t.match(words, found["error"])


def test_the_manual_has_all_names(t):
    """Names of other things are easily missed; this only looks for the words."""
    page = (harness.ROOT / "doc" / "truehit.1").read_text(encoding="utf-8")
    page = page.partition(".Ss JSON\n")[2].partition("\n.Ss ")[0]
    t.check(page, "a section")
    words = set(re.findall(r"\w+", page))
    for shape in ({"breakpoints": [LOCATION]}, EXPLANATION, STATS, ENGINES, COUNTERS,
                  HELP):
        t.equal(names_of(shape) - words, set(), "names that the manual page lacks")
