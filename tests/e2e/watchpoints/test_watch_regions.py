# SPDX-License-Identifier: BSD-2-Clause
"""Regions of any length and address over hardware slots, several at once, and what
happens when slots run out. The program writes each byte of `area` once a round."""
import ctypes
import os
import random
import re
import struct
import subprocess

import harness
import rsp
from test_watch_filter import AHEAD

AREA = 64
SLOTS = 4  # of x86_64


class Regions:
    """A client of the program `regions`, byte by byte."""

    def __init__(self, t, *arguments, features="swbreak+;hwbreak+;error-message+",
                 path=None, **kwargs):
        t.need_x86()
        self.t = t
        text = subprocess.run(["nm", t.prog("regions")], capture_output=True, text=True,
                              check=True).stdout
        self.symbols = {name: harness.LOADED_AT + int(address, 16) for address, name
                        in re.findall(r"^([0-9a-f]+) \w (\w+)$", text, re.M)}
        self.area = self.symbols["area"]
        self.server = t.server("COMM", path or t.prog("regions"), *arguments, **kwargs)
        self.client = rsp.Client(self.server)
        self.ask = self.client.ask
        self.ask(f"qSupported:{features}")
        self.ask("?")

    def expect(self, wanted, packet):
        self.t.match(f"^(?:{wanted})$", self.ask(packet), packet)

    def watch(self, offset, length, kind=2):
        return self.ask(f"Z{kind},{self.area + offset:x},{length:x}")

    def unwatch(self, offset, length, kind=2):
        self.expect("OK", f"z{kind},{self.area + offset:x},{length:x}")

    def stop_between_rounds(self):
        """Goes to the first round, and will stop at each one."""
        self.expect("OK", f"Z0,{self.symbols['round_begins']:x},1")
        self.t.match("swbreak", self.ask("vCont;c"), "the stop where a round begins")
        self.leave = True

    leave = False

    def go(self):
        """To the next stop: its reason and address, or None between rounds."""
        if self.leave:
            place = f"0,{self.symbols['round_begins']:x},1"
            self.expect("OK", f"z{place}")
            self.ask(f"vCont;s:{self.ask('qC')[2:]}")
            self.expect("OK", f"Z{place}")
        reply = self.ask("vCont;c")
        self.leave = "swbreak" in reply
        match = re.search(r"(r?a?watch):([0-9a-f]+);", reply)
        if match:
            return match.group(1), int(match.group(2), 16) - self.area
        self.t.match(r"^T05.*swbreak|^W", reply, f"{reply}: a stop")
        return None

    def round(self):
        """The stops until the next round."""
        stops = []
        while stop := self.go():
            stops.append(stop)
        return stops

    def written(self):
        """How many bytes of the area have the round's value."""
        data = bytes.fromhex(self.ask(f"m{self.area:x},{AREA:x}"))
        return data.count(data[0])


def slots_needed(offset, length):
    """1, 2, 4 or 8 bytes, aligned, for each slot."""
    count = 0
    while length > 0:
        piece = max(p for p in (1, 2, 4, 8) if p <= length and offset % p == 0)
        offset, length, count = offset + piece, length - piece, count + 1
    return count


def check_round(r, regions):
    """Each byte of each region makes one stop, when it has just been written; a byte
    of several regions is told as the region that is in all of them."""
    wanted = []
    for byte in range(AREA):
        hits = [start for start, length in regions if start <= byte < start + length]
        if hits:
            wanted.append((("watch", max(hits)), byte + 1))
    got = []
    while stop := r.go():
        got.append((stop, r.written()))
    r.t.equal(got, wanted, f"stops and bytes written with {regions}")


def test_every_region_that_fits(t):
    """Alone: 3 bytes, 7 at an odd address, 32, ... and random ones; or a clear no."""
    r = Regions(t, "200")
    r.stop_between_rounds()
    numbers = random.Random(5)
    regions = [(0, 3), (5, 7), (8, 32), (0, 1), (63, 1), (1, 8), (32, 32), (0, 33), (0, 64)]
    regions += [(numbers.randrange(AREA - 24), numbers.randrange(1, 24)) for _ in range(15)]
    for offset, length in regions:
        reply = r.watch(offset, length)
        needed = slots_needed(offset, length)
        if needed > SLOTS:
            t.match(rf"^E\..*needs {needed} slots.*smaller part", reply)
            continue
        t.equal(reply, "OK", f"{length} bytes at {offset}")
        check_round(r, [(offset, length)])
        r.unwatch(offset, length)


def test_several_regions(t):
    """Neighbours, one within another, overlapping ones."""
    t.need_all_slots_told()
    r = Regions(t, "200")
    r.stop_between_rounds()
    for regions in ([(0, 4), (4, 4)], [(8, 8), (12, 4)], [(12, 4), (8, 8)], [(0, 8), (6, 6)],
                    [(16, 8), (16, 4), (16, 2), (16, 1)], [(1, 3), (40, 8), (9, 1)]):
        for region in regions:
            t.equal(r.watch(*region), "OK", f"{region} of {regions}")
        check_round(r, regions)
        for region in regions:
            r.unwatch(*region)


def test_kinds(t):
    """x86 has no slot for reads alone, which gdb is told by an empty reply. Accesses
    are writes and reads; two kinds at one place are two watchpoints."""
    r = Regions(t, "200")
    r.stop_between_rounds()
    t.equal(r.watch(8, 4, kind=3), "", "reply to a watchpoint for reads")
    t.equal(r.watch(9, 2, kind=4), "OK", "reply")
    t.equal(r.round(), [("awatch", 9)] * 4, "two writes and two reads")
    t.equal(r.watch(9, 2), "OK", "reply")
    stops = r.round()
    t.equal([offset for _, offset in stops], [9] * 4, "two writes and two reads")
    t.equal([kind for kind, _ in stops[2:]], ["awatch"] * 2, "the reads")
    r.unwatch(9, 2, kind=4)
    t.equal(r.round(), [("watch", 9)] * 2, "two writes")


def test_threads_present_and_future(t):
    """Half of them are there when the watchpoint is set."""
    r = Regions(t, "1", "8")
    r.stop_between_rounds()
    t.equal(r.watch(13, 3), "OK", "reply")
    threads = set()
    for _ in range(9):
        for _ in range(3):
            t.equal(r.go(), ("watch", 13), "the stop")
            threads.add(r.ask("qC"))
        t.equal(r.go(), None, "the next round")
    t.equal(len(threads), 9, "threads that have written")


def test_non_stop(t):
    """Set while the threads run and nobody stops, it works at once."""
    r = Regions(t, "0", "2", features="multiprocess+;swbreak+;hwbreak+")
    r.expect("OK", "QNonStop:1")
    r.ask("?")
    r.expect("OK", "vStopped")
    r.expect("OK", "vCont;c")
    harness.wait_for(lambda: int(r.ask(f"m{r.area + AREA - 1:x},1"), 16), "rounds")
    for offset, length in ((3, 1), (17, 5)):
        t.equal(r.watch(offset, length), "OK", "reply")
        stop = r.client.notification()
        t.match(rf"^Stop:T05watch:{r.area + offset:x};", stop)
        thread = t.match(r"thread:([^;]*)", stop).group(1)
        while (more := r.ask("vStopped")) != "OK":
            t.match(rf"^T05watch:{r.area + offset:x};", more)
        r.unwatch(offset, length)
        r.expect("OK", "vCont;c")


def test_what_occupies_the_slots(t):
    """Execution and data share them. The error names the four and what to do, and
    `monitor engines`, as gdb does not show errors of watchpoints."""
    t.truehit_only("monitor engines")
    r = Regions(t, "2")
    main, begins = r.symbols["main"], r.symbols["round_begins"]
    r.expect("OK", f"Z1,{begins:x},1")
    t.match(r"in each thread: 4, 1 in use, 3 free$", r.client.monitor("engines"))
    t.equal(r.watch(4, 12), "OK", "two slots")
    r.expect("OK", f"Z1,{main:x},1")
    users = (rf"1 \(hbreak 0x{begins:x}, round_begins\), "
             rf"2 \(watch 0x{r.area + 4:x}, 12 bytes, area\+0x4\), "
             rf"3 \(hbreak 0x{main:x}, main\)")
    refused = r.watch(32, 8, kind=4)
    t.match(rf"^E\..*awatch 0x{r.area + 32:x}, 8 bytes, area\+0x20: it needs 1 slot, each "
            rf"thread has 4, 0 free; in use by {users}; delete", refused)
    text = r.client.monitor("engines")
    t.match(r"^Hardware slots of process \d+, in each thread: 4, 4 in use, 0 free$", text)
    t.match(rf"^ +2  watch \*0x{r.area + 4:x}, 12 bytes, area\+0x4: 2 slots$", text)
    t.match(rf"^ +3  hbreak \*0x{main:x}, main: 1 slot$", text)
    t.check(refused[2:] in text.replace("*", ""), "the refusal")
    # All of these still work, and what is deleted makes room.
    t.match("hwbreak", r.ask("vCont;c"), "the stop in main")
    t.no_match("Refused", r.client.monitor("engines"))
    r.expect("OK", f"z1,{main:x},1")
    t.equal(r.watch(32, 8, kind=4), "OK", "reply")
    t.match("hwbreak", r.ask("vCont;c"), "the stop where a round begins")
    t.equal([r.go() for _ in range(12)], [("watch", 4)] * 12, "stops")
    t.equal(r.go(), ("awatch", 32), "the stop")


def test_slots_of_somebody_else(t):
    """Another user of perf has two of the slots. The engine that uses perf counts them."""
    t.need_kernel_conditions()
    r = Regions(t, "2")
    fds = [open_breakpoint(r.server.inferior(), r.symbols["main"]) for _ in range(2)]
    t.equal(r.watch(0, 3, kind=4), "OK", "two slots")
    t.match(r"^E\..*each thread has 4, 2 taken by another debugger or user of perf, 0 free; "
            r"in use by 1 \(awatch ", r.watch(8, 8))
    t.match(r"in each thread: 4, 2 in use, 2 taken by another .*, 0 free$",
            r.client.monitor("engines"))
    os.close(fds[0])
    t.match(r"2 in use, 1 taken by another .*, 1 free$", r.client.monitor("engines"))
    t.equal(r.watch(8, 8), "OK", "reply")
    os.close(fds[1])


def open_breakpoint(pid, address):
    """A perf event that is a breakpoint, switched off (see perf_event_open(2))."""
    sys_perf_event_open, perf_type_breakpoint, disabled, execute = 298, 5, 1, 4
    attr = bytearray(128)
    struct.pack_into("=IIQQQQQIIQQ", attr, 0, perf_type_breakpoint, len(attr), 0, 0, 0, 0,
                     disabled | 0x60, 0, execute, address, 8)
    fd = harness.libc.syscall(sys_perf_event_open, ctypes.c_char_p(bytes(attr)), pid, -1, -1, 0)
    if fd < 0:
        raise harness.Skip(f"perf_event_open: {os.strerror(ctypes.get_errno())}")
    return fd


def test_software_breakpoints_give_way(t):
    """Conditional ones are promoted to hardware while there is room. A watchpoint takes
    as many slots of theirs as it needs; one that cannot fit takes none."""
    t.need_breakpoint_registers()
    t.need_kernel_conditions()
    r = Regions(t, "2")
    r.client.monitor("set engine hardware")
    false = "X3,220027"  # const8 0; end
    for name in ("main", "write_all", "read_all", "thread_main"):
        r.expect("OK", f"Z0,{r.symbols[name]:x},1;{false}")
    promoted = lambda: len(re.findall(r" break .* perf_event ",
                                      r.client.monitor("breakpoints")))
    t.equal(promoted(), 4, "breakpoints in hardware")
    t.match(r"^E\..*needs 5 slots", r.watch(1, 17))
    t.equal(promoted(), 4, "breakpoints in hardware after a watchpoint that cannot fit")
    t.equal(r.watch(1, 3), "OK", "two slots")
    t.equal(promoted(), 2, "breakpoints in hardware")
    t.equal(r.watch(40, 16), "OK", "two slots")
    t.equal(promoted(), 0, "breakpoints in hardware")
    t.match(r"^E\.(?!.*\(break ).*in use by \d+ \(watch .*\), \d+ \(watch ", r.watch(16, 1, kind=4))
    r.stop_between_rounds()
    check_round(r, [(1, 3), (40, 16)])


def test_refused_takes_nothing(t):
    """Of the slots that one needs which does not fit, the free one stays free."""
    t.need_kernel_conditions()
    r = Regions(t, "2")
    for offset in 0, 16, 32:
        r.expect("OK", f"Z2,{r.area + offset:x},1")
    t.match(r"^E\..*needs 2 slots, each thread has 4, 1 free", r.watch(40, 16))
    r.expect("OK", f"Z2,{r.area + 48:x},1")
    t.equal(len(re.findall(r" watch .* perf_event ", r.client.monitor("breakpoints"))), 4,
            "watchpoints whose conditions the kernel decides")


def test_real_gdb(t):
    """What gdb's user sees of arrays at odd addresses, one inside another, and of what
    does not fit."""
    t.need_all_slots_told()
    gdb = t.gdb(t.server("COMM", t.prog("regions"), "1"), "break write_all", "continue",
                "delete", "watch *(char (*)[7]) &area[5]", "watch area[6]",
                prog=t.prog("regions"), python="""
seen = []
for _ in range(7):
    run("continue")
    seen.append([int(value("i"))] + sorted(b.number for b in events.stop.breakpoints))
run("watch *(char (*)[17]) &area[17]")
refused = run("continue")
emit(seen=seen, refused=refused, engines=run("monitor engines"))
""")
    result = gdb.results[0]
    t.equal(result["seen"], [[i, 2, 3] if i == 6 else [i, 2] for i in range(5, 12)],
            "i and watchpoints at the stops")
    t.match(r"^error: ", result["refused"])
    if not t.config.reference:
        t.match(r"^Refused .* needs \d slots, each thread has \d", result["engines"])


def test_neighbours_share(t):
    """More watchpoints than slots: neighbours share, each hit is told as the one whose
    bytes have changed, and only that one counts it. With room again, they part."""
    t.need_all_slots_told()
    t.truehit_only("slots that several share")
    r = Regions(t, "200")
    r.stop_between_rounds()
    for regions in ([(0, 4), (4, 4), (8, 8), (16, 8), (24, 8)],
                    [(i, 1) for i in range(8)] + [(32, 8), (40, 8), (48, 8)],
                    [(0, 8), (9, 3), (12, 4), (32, 2), (34, 2), (40, 1)],
                    [(0, 1), (2, 1), (7, 1), (10, 4), (9, 1), (17, 7), (31, 1)],
                    [(0, 8), (2, 4), (16, 8), (24, 8), (32, 8)]):
        for region in regions:
            t.equal(r.watch(*region), "OK", f"{region} of {regions}")
        text = r.client.monitor("engines")
        t.match(r"in each thread: 4, 4 in use, 0 free$", text)
        t.match(r": shares \d slots? with \d", text)
        check_round(r, regions)
        rows = harness.breakpoint_rows(r.client.monitor("breakpoints"))
        counts = [(row["hits"], row["true"]) for row in rows if " watch " in row["text"]]
        t.equal(counts, [(length, length) for _, length in regions], "hits, true ones")
        r.unwatch(*regions.pop())
        check_round(r, regions)
        if sum(slots_needed(*region) for region in regions) <= SLOTS:
            t.no_match("shares", r.client.monitor("engines"))
        for region in regions:
            r.unwatch(*region)


def test_who_cannot_share(t):
    """Accesses, of which no value tells; and writes whose every one is wanted."""
    t.truehit_only("slots that several share")
    r = Regions(t, "2")
    for i in range(SLOTS):
        t.equal(r.watch(4 * i, 4, kind=4), "OK", "reply")
    t.match(r"^E\..*0 free; in use by", r.watch(16, 4, kind=4))
    t.match(r"^E\..*0 free; in use by", r.watch(16, 4))
    r.client.monitor("set watch-filter off")
    for i in range(SLOTS):
        r.unwatch(4 * i, 4, kind=4)
        t.equal(r.watch(4 * i, 4), "OK", "reply")
    t.match(r"^E\..*0 free; in use by", r.watch(16, 4))
    r = Regions(t, "2")
    for i in range(2 * SLOTS):
        t.equal(r.watch(4 * i, 4), "OK", "reply")
    t.match(r"^E\..*0 free; in use by", r.watch(2 * SLOTS * 4, 4))


def test_sharing_threads_and_conditions(t):
    """Threads that come later, too. A condition is of its own watchpoint."""
    t.truehit_only("slots that several share")
    r = Regions(t, "1", "8")
    r.stop_between_rounds()
    for i in range(5):
        # For area[12]: reg $rip; const8 0; equal; end
        false = ";X7,260010220013" + "27" if i == 3 else ""
        t.equal(r.ask(f"Z2,{r.area + 4 * i:x},4{false}"), "OK", "reply")
    for _ in range(9):
        t.equal([offset for _, offset in r.round()],
                [4 * (byte // 4) for byte in range(20) if byte // 4 != 3], "addresses")


def test_sharing_with_gdb(t):
    """Six elements of an array; stepping and deleting in between."""
    t.truehit_only("slots that several share")
    if AHEAD:
        t.skip("hits come before the access: no slot is shared")
    gdb = t.gdb(t.server("COMM", t.prog("regions"), "1"), "break write_all", "continue",
                "delete", *(f"watch area[{i}]" for i in range(6)), prog=t.prog("regions"),
                python="""
seen = []
for i in range(6):
    run("continue")
    seen.append([int(value("i"))] + [b.number for b in events.stop.breakpoints])
    if i in (1, 2):
        run("stepi")
    if i == 3:
        run("delete 2")
run("delete")
run("continue")
emit(seen=seen, alive=alive())
""")
    t.equal(gdb.results[0], {"seen": [[i, i + 2] for i in range(6)], "alive": False},
            "i and watchpoints at the stops, and the end")


def test_without_rights(t):
    """By ptrace's debug registers: all of this, without perf events."""
    t.need_all_slots_told()
    t.truehit_only("slots that several share")
    public = t.public_copy(t.prog("regions"))[0]
    r = Regions(t, "200", path=public, **t.without_rights())
    r.stop_between_rounds()
    for regions in ([(5, 7)], [(8, 8), (12, 4)], [(i, 1) for i in range(8)]):
        for region in regions:
            t.equal(r.watch(*region), "OK", f"{region} of {regions}")
        text = r.client.monitor("engines")
        t.match(r"perf_event .*\n +not usable", text)
        t.match(r"in each thread: 4, [2-4] in use, \d free$", text)
        check_round(r, regions)
        for region in regions:
            r.unwatch(*region)
