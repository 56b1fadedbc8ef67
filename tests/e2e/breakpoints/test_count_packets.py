# SPDX-License-Identifier: BSD-2-Clause
"""The packet by which gdb's extension hands ignore counts over, and gets back what is left."""
import harness
import rsp

PACKET = "QTruehit.IgnoreCounts:"
ALWAYS, NEVER = ";X3,220127", ";X3,220027"
BODY, NEXT, LAST = 34, 35, 36  # lines of loop.c, an instruction each


class Session:
    """A client of a server with loop.c's program, which has come to its first line."""

    def __init__(self, t, options=("--once",)):
        t.truehit_only("counts handed over")
        t.need_x86()
        self.t = t
        self.server = t.server(*options, "COMM", t.prog("loop"), "100")
        self.connect()
        text = t.gdb(None, *[f"info line loop.c:{line}" for line in (BODY, NEXT, LAST)],
                     prog=t.prog("loop")).output()
        self.lines = {line: harness.LOADED_AT + int(t.match(
            rf"^Line {line} .* starts at address 0x([0-9a-f]+)", text).group(1), 16)
            for line in (BODY, NEXT, LAST)}
        self.process = f"p{self.server.inferior():x};"

    def connect(self):
        self.client = rsp.Client(self.server)
        self.features = self.client.ask("qSupported:multiprocess+;swbreak+")
        self.client.ask("?")

    def ask(self, text):
        return self.client.ask(PACKET + text)

    def hand(self, line, left, conditional=0):
        self.t.equal(self.ask(f"{self.process}hand,{self.lines[line]:x},{left:x},{conditional}"),
                     "OK", f"handing over {left} for line {line}")

    def take(self):
        """What is left, by lines."""
        reply = self.ask(f"{self.process}take")
        numbers = {address: line for line, address in self.lines.items()}
        return {numbers[int(address, 16)]: int(left, 16) for address, left in
                (part.split(",") for part in reply.split(";"))} if reply != "OK" else {}

    def z(self, letter, line, options=""):
        self.t.equal(self.client.ask(f"{letter}0,{self.lines[line]:x},1{options}"), "OK", letter)

    def stops_at(self, line, packet="vCont;c"):
        self.t.match("^T05", self.client.ask(packet))
        pc = int.from_bytes(bytes.fromhex(self.client.ask("p10")), "little")
        self.t.equal(hex(pc), hex(self.lines[line]), f"the PC after {packet}")

    def passes(self, line, options=""):
        """Makes a step from a breakpoint, as gdb does."""
        self.z("z", line)
        self.client.ask("vCont;s")
        self.z("Z", line, options)


def test_errors(t):
    session = Session(t)
    t.match(r"QTruehit\.IgnoreCounts\+", session.features)
    process = session.process
    for text, regex in {"": "expected pPID;", "p;take": "expected pPID;",
                        process: "expected hand or take", f"{process}hand,x": "expected ADDR",
                        f"{process}hand,1000,0,0": "1 to 2147483647",
                        f"{process}hand,1000,80000000,0": "1 to 2147483647",
                        f"{process}hand,1000,1,2": "IgnoreCounts",
                        "p7fffffff;hand,1000,1,0": ""}.items():
        t.match(rf"^E\..*{regex}", session.ask(text), text)
    t.equal(session.ask("p7fffffff;take"), "OK", "what is left in no process")
    session.z("Z", BODY)
    session.client.monitor(f"ignore *{session.lines[BODY]:#x} 5")
    t.match(r"^E\.break .?0x[0-9a-f]+ ignores hits already",
            session.ask(f"{process}hand,{session.lines[BODY]:x},3,0"))


def test_counts(t):
    """Before the breakpoint comes, and while it is there; replaced, and taken back."""
    session = Session(t)
    session.hand(BODY, 10)
    session.z("Z", BODY)
    session.z("Z", LAST)
    session.stops_at(LAST)
    t.equal((session.take(), session.take()), ({BODY: 9}, {}), "what is left, and after that")
    session.hand(BODY, 9)
    session.hand(BODY, 1)
    session.passes(LAST)
    session.stops_at(LAST)
    t.equal(session.take(), {BODY: 0}, "what is left at the second stop")
    session.passes(LAST)
    session.stops_at(BODY)


def test_conditions(t):
    """With a count for a breakpoint with a condition, that has to have come."""
    session = Session(t)
    session.hand(BODY, 10, conditional=1)
    session.z("Z", BODY)
    session.stops_at(BODY)
    t.equal(session.take(), {BODY: 10}, "left without a condition")
    session.hand(BODY, 3, conditional=1)
    session.passes(BODY, ALWAYS)
    session.z("Z", LAST)
    session.stops_at(LAST)
    session.passes(LAST)
    session.stops_at(LAST)
    t.equal(session.take(), {BODY: 2}, "left with a condition")
    session.hand(BODY, 3)
    session.passes(LAST)
    session.stops_at(BODY)
    t.equal(session.take(), {BODY: 3}, "left, of a count for one without, with a condition")


def test_steps(t):
    """A step that leads to the place makes one more, and its hit is counted once, whether
    the breakpoint is in place then or not."""
    for inserted in True, False:
        for condition, left in (ALWAYS, 0), (NEVER, 1):
            session = Session(t)
            session.z("Z", BODY)
            session.stops_at(BODY)
            session.z("Z", NEXT, condition)
            session.z("z", BODY)
            if not inserted:
                session.z("z", NEXT)
            session.hand(NEXT, 1, conditional=1)
            session.stops_at(LAST, "vCont;s")
            t.equal(session.take(), {NEXT: left}, f"left, inserted: {inserted}")


def test_a_step_that_has_none_left(t):
    """It ends at the place: gdb sees the hit."""
    session = Session(t)
    session.z("Z", BODY)
    session.z("Z", NEXT)
    session.hand(NEXT, 1)
    session.stops_at(BODY)
    session.passes(BODY)
    session.stops_at(BODY)
    t.equal(session.take(), {NEXT: 0}, "left")
    session.z("z", BODY)
    session.stops_at(NEXT, "vCont;s")


def test_forgotten(t):
    """With the client."""
    session = Session(t, options=())
    session.hand(BODY, 10)
    session.client.close()
    session.connect()
    session.z("Z", BODY)
    session.stops_at(BODY)
    t.equal(session.take(), {}, "what is left")
