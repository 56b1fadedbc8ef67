# SPDX-License-Identifier: BSD-2-Clause
"""How often locations are hit: `monitor stats`, and `truehit stats` of gdb's extension; and
the completion of monitor commands' words."""
import re

import harness
import rsp
from test_protocol import symbol

SCRIPT = harness.ROOT / "scripts" / "truehit-gdb.py"
ENDLESS = str(10 ** 12)
ROW = re.compile(r"^ +(\d+) (\w+) +(\S+) +(\w+) +(\d+\.\d{3}) +([\d,]+) +([\d,]+) +([\d,]+) +"
                 r"([\d,]+|-)$", re.M)


def number(text):
    return int(text.replace(",", ""))


def rows(text):
    """By the number: what, place, engine, seconds, hits, false, true."""
    return {int(row[0]): (row[1], row[2], row[3], float(row[4]), *map(number, row[5:8]))
            for row in ROW.findall(text)}


def test_since_the_last_time(t):
    t.truehit_only("monitor stats")
    body = t.line("loop.c", "BODY")
    gdb = t.gdb(t.server(t.prog("loop"), "6000"), f"break {body} if count % 2000 == 1999",
                prog=t.prog("loop"), python='''
texts = []
for line in ("continue", "monitor stats", "monitor stats", "continue", "monitor stats",
             "monitor reset", "monitor stats", "monitor breakpoints"):
    texts.append(run(line))
emit(texts=texts)
run("kill")
''')
    _, first, at_once, _, second, _, reset, table = gdb.results[0]["texts"]
    t.match(r"^Num What  Place +Engine +Seconds +Hits +False +True +Hits/s$", first)
    for text, hits, false in ((first, 2000, 1999), (second, 2000, 1999), (at_once, 0, 0),
                              (reset, 0, 0)):
        what, place, engine, seconds, *counts = rows(text)[1]
        t.equal((what, counts), ("break", [hits, false, hits - false]), "hits")
        t.match(r"^main\+0x", place, "place")
        t.match(rf"^ +1 break .* {engine} ", table)
        t.check(hits > 0 or seconds == 0, "the program has not run")


def test_while_it_runs(t):
    """The console has the table again and again; a stop is told after it."""
    t.truehit_only("monitor stats")
    server = t.server("COMM", t.prog("loop"), ENDLESS)
    client = rsp.Client(server)
    client.ask("?")
    place = symbol(t, "loop", "main") + 4
    t.equal(client.ask(f"Z0,{place:x},1;X3,220027"), "OK", "inserted")
    t.match("^While the program runs", client.monitor("stats every 0.1"))
    client.send_bytes(client.frame("vCont;c"))
    while client.console.count(b"Num ") < 4:
        client.take_console()
    client.interrupt()
    t.match("^T02", client.receive().decode("latin1"), "the stop")
    tables = client.console.decode().split("Num What")[1:]
    t.check(len(tables) >= 4, "tables")
    for table in tables:
        t.equal(list(rows(table)), [1], "locations")
    t.equal(rows(tables[0])[1][:2], ("break", "main+0x4"), "which one")
    client.console.clear()
    t.match("^The table is shown when", client.monitor("stats off"))
    client.send_bytes(client.frame("vCont;c"))
    client.interrupt()
    t.match("^T02", client.receive().decode("latin1"), "the stop")
    t.equal(client.console, b"", "console output")
    client.close()


def test_another_client_has_no_tables(t):
    t.truehit_only("monitor stats")
    server = t.server("COMM", t.prog("loop"), ENDLESS)
    client = rsp.Client(server)
    client.ask("?")
    client.monitor("stats every 0.1")
    client.close()
    server.wait_output("terminated connection")
    client = rsp.Client(server)
    client.ask("?")
    client.send_bytes(client.frame("vCont;c"))
    client.interrupt()
    t.match("^T02", client.receive().decode("latin1"), "the stop")
    t.equal(client.console, b"", "console output")
    client.close()


def test_what_is_refused(t):
    t.truehit_only("monitor stats")
    lines = {"every": "stats takes nothing, every or off, not 'every'",
             "every 0": "expected seconds, 0.1 to 3600, not '0'", "every x": "not 'x'",
             "every nan": "not 'nan'", "every 1 2": "not '1 2'", "some": "not 'some'"}
    gdb = t.gdb(t.server(t.prog("loop")), *(f"monitor stats {line}" for line in lines), "kill",
                "monitor stats", prog=t.prog("loop"), connect="target extended-remote")
    for words in lines.values():
        t.match(re.escape(words), gdb.output())
    t.match("There is no process, hence no breakpoints", gdb.output())


def test_not_in_non_stop_mode(t):
    t.truehit_only("monitor stats")
    server = t.server("COMM", t.prog("loop"), ENDLESS)
    client = rsp.Client(server)
    client.ask("?")
    t.equal(client.ask("QNonStop:1"), "OK", "non-stop mode")
    t.equal(client.ask("qRcmd," + b"stats every 1".hex()), "E01", "reply")
    t.match(r"^No breakpoints", client.monitor("stats"))
    client.close()


def test_the_extension_shows_it(t):
    """New breakpoints, too; the program is stopped when the time is over."""
    t.truehit_only("commands of the extension")
    server = t.server("COMM", t.prog("loop"), ENDLESS)
    gdb = t.gdb(server, "tbreak main", "continue", f"break {t.line('loop.c', 'BODY')} if count < 0",
                "truehit stats 3", "monitor stats off", prog=t.prog("loop"),
                first=[f"source {SCRIPT}"],
                python='emit(bad=run("truehit stats soon"), alive=alive())\nrun("kill")')
    output = gdb.output()
    t.match(r"^ +\d+ break main\+0x\w+ +\w+ +\d+\.\d+ +[\d,]+ +[\d,]+ +0 +[\d,]+$", output)
    t.match(r"SIGINT", output)
    t.check(output.index("Num What") < output.index("SIGINT"), "tables come before the stop")
    t.match("^error: truehit stats: expected how many seconds", gdb.results[0]["bad"])
    t.check(gdb.results[0]["alive"], "the program is there")


def test_the_extension_completes_words(t):
    t.truehit_only("commands of the extension")
    lines = {"monitor e": "engines exit explain", "monitor set pa": "pads",
             "monitor set pads a": "always auto", "set pads o": "off",
             "set wa": "watch-filter watch-kernel", "monitor until-s": "until-state",
             "monitor help set sk": "skid", "monitor breakpoints -": "--json",
             "explain 2 b": "bpf bytecode", "monitor explain 1 pa": "pad",
             "monitor nonsense x": "", "count 2 of": "off"}
    gdb = t.gdb(t.server(t.prog("loop"), "10"), prog=t.prog("loop"), first=[f"source {SCRIPT}"],
                python=f'''
lines = {list(lines)!r}
emit(before=[run("complete truehit " + line) for line in lines],
     out=[run("truehit set pads off"), run("truehit monitor set pads auto")])
run("kill")
emit(after=run("complete truehit monitor e"))
''')
    for line, text in zip(lines, gdb.results[0]["before"]):
        head = line.rpartition(" ")[0]
        t.equal(text.splitlines(), [f"truehit {head} {word}" for word in lines[line].split()],
                f"completion of {line}")
    t.match("the text itself", gdb.results[0]["out"][0])
    t.match("hit often", gdb.results[0]["out"][1])
    t.equal(gdb.results[1]["after"], "", "without a process")
