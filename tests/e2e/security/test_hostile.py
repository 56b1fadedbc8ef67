# SPDX-License-Identifier: BSD-2-Clause
"""Programs that are out to harm whoever debugs them."""
import lzma
import os
import re
import shutil
import signal
import struct
import subprocess
import threading
import time
import zlib

import harness
import rsp

# What `EXCHANGE_SECONDS=60 tests/e2e/run test_exchanged` runs at least, and so many offers
# of symbols; by default some of them.
SECONDS = float(os.environ.get("EXCHANGE_SECONDS", "0"))
OFFERS = 10000 if SECONDS else 1500


def find_threaddb():
    """The system's libthread_db, as a path."""
    for line in os.popen("ldconfig -p 2>/dev/null || /sbin/ldconfig -p 2>/dev/null"):
        if "libthread_db.so.1" in line:
            return line.split("=> ")[1].strip()
    for folder in (f"/lib/{os.uname().machine}-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib"):
        if os.path.exists(f"{folder}/libthread_db.so.1"):
            return f"{folder}/libthread_db.so.1"
    return None


def run_exchange(t, path=None):
    """A client that offers symbols again and again, which has the server look for a
    library, while the program exchanges the one in its directory."""
    good = find_threaddb()
    if not good:
        t.skip("no libthread_db here")
    own = t.dir / "own"
    own.mkdir()
    bad = shutil.copy(t.prog("libintruder.so"), own)
    if os.geteuid() == 0:
        os.chown(own, harness.NOBODY, harness.NOBODY)
    program = harness.Process(t, [*t.public_copy(t.prog("exchange")), own, good, bad],
                              preexec=t.become_nobody)
    program.wait_output("exchanging")
    server = t.server("--attach", "COMM", program.pid)
    client = rsp.Client(server)
    if path:
        t.match("set to", client.monitor(f"set libthread-db-search-path {path}"))
    begin, offers = time.monotonic(), 0
    while offers < OFFERS or time.monotonic() - begin < SECONDS:
        client.ask("qSymbol::")
        offers += 1
        if offers % 100 == 0 and list(own.glob("*.was-here")):
            break
    t.note(f"{offers} offers of symbols in {time.monotonic() - begin:.1f} s")
    t.check(not list(own.glob("*.was-here")), "the program's own code was loaded")
    t.equal(program.process.poll(), None, "the program's end")


def test_exchanged_library(t):
    run_exchange(t)


def test_exchanged_library_of_the_programs_directory(t):
    # Somebody else's program: an ordinary user trusts his own directories.
    t.need_root()
    t.truehit_only("check of the files")
    run_exchange(t, "$pdir")


# ---- work without end ----

ROOM = 64 << 10  # KiB that the server may need above the normal
QUICK = 20 * harness.PATIENCE  # s for what takes a second at most, on a busy machine


def peak(pid):
    """The most memory that a process has had so far, in KiB; 0: it has gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="latin1") as file:
            return int(re.search(r"VmHWM:\s*(\d+)", file.read()).group(1))
    except (OSError, AttributeError):
        return 0


def readers(server):
    """The processes that read ELF files for the server."""
    found = []
    for pid in harness.descendants(server.serving):
        try:
            with open(f"/proc/{pid}/comm", encoding="latin1") as file:
                if file.read() == "truehit-symbols\n":
                    found.append(pid)
        except OSError:
            pass
    return found


class Watch:
    """Sees how much memory the server and its readers need meanwhile."""

    def __init__(self, t, server, client):
        self.t, self.server = t, server
        client.ask("?")  # the server has tried its engines by now
        self.normal = peak(server.serving)
        self.most = 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        """Whoever ends between two looks has had most of its memory by then."""
        while not self.ended.wait(0.003):
            for pid in readers(self.server):
                self.most = max(self.most, peak(pid))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *args):
        self.ended.set()
        self.thread.join()
        most = max(self.most, peak(self.server.serving))
        self.t.note(f"normal {self.normal} KiB, server {peak(self.server.serving)} KiB, "
                    f"reader {self.most} KiB")
        if args[0] is None:
            self.t.check(most < self.normal + ROOM, f"{most} KiB, normal are {self.normal}")


def attach(t, way):
    program = harness.Process(t, [t.prog("hostile"), way])
    where = program.wait_output(r"ready (0x[0-9a-f]+) (\d+)")
    if "cannot" in program.output():
        t.skip("this kernel lets no program change its arguments")
    server = t.server("--attach", "COMM", program.pid)
    return server, int(where.group(1), 16), int(where.group(2))


def ends_on_request(t, server, why):
    """SIGTERM, sent by now, is heeded."""
    begin = time.monotonic()
    server.kill(signal.SIGTERM)
    server.wait(QUICK)
    t.note(f"{why}: ended {time.monotonic() - begin:.2f} s after SIGTERM")


def test_forged_dynamic_section(t):
    t.truehit_only("bounds")
    server, _, _ = attach(t, "dynamic")
    client = rsp.Client(server)
    with Watch(t, server, client):
        t.match(r"^E\.the program's dynamic section has more than 65536 rows",
                client.ask("qXfer:libraries-svr4:read::0,fff"))
    ends_on_request(t, server, "dynamic section")


def test_forged_list_of_libraries(t):
    t.truehit_only("bounds")
    server, _, _ = attach(t, "libraries")
    client = rsp.Client(server)
    with Watch(t, server, client):
        for _ in range(2):
            t.match("^m<library-list-svr4",
                    client.ask("qXfer:libraries-svr4:read::0,fff"))
    text = server.wait_output(r"the list of shared libraries is cut off after (\d+) of them: "
                              "the list is longer than 8 MiB")
    t.check(int(text.group(1)) > 100, "libraries before the cut")
    t.equal(server.output().count("is cut off"), 1, "times that the warning is given")
    ends_on_request(t, server, "libraries")


def test_endless_arguments(t):
    t.truehit_only("bounds")
    server, _, _ = attach(t, "arguments")
    client = rsp.Client(server)
    with Watch(t, server, client):
        t.match("^[ml]<osdata", client.ask("qXfer:osdata:read:processes:0,fff"))
    ends_on_request(t, server, "arguments")


def begin_request(t, server, client, packet):
    """Sends a request that takes long; returns when it is being served."""
    def used():
        with open(f"/proc/{server.serving}/stat", encoding="latin1") as file:
            fields = file.read().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    before = used()
    client.send_bytes(client.frame(packet))
    harness.wait_for(lambda: used() > before + 20, f"work on {packet}")


def long_requests(where, size):
    return [f"qSearch:memory:{where:x};{size:x};\x02\x02\x02\x02", f"qCRC:{where:x},{size:x}"]


def test_end_is_heeded_within_long_work(t):
    for number in range(2):
        server, where, size = attach(t, "memory")
        client = rsp.Client(server)
        request = long_requests(where, size)[number]
        begin_request(t, server, client, request)
        ends_on_request(t, server, request[:4])


def test_clients_end_is_heeded_within_long_work(t):
    t.truehit_only("bounds")
    for number in range(2):
        server, where, size = attach(t, "memory")
        client = rsp.Client(server)
        begin_request(t, server, client, long_requests(where, size)[number])
        begin = time.monotonic()
        client.socket.close()
        client = rsp.Client(server)
        t.match("^T", client.ask("?"))
        t.note(f"the next client is served after {time.monotonic() - begin:.2f} s")
        ends_on_request(t, server, "the next client")


# ---- ELF files ----

def number(value):
    """As .xz files have it: seven bits in a byte."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def bomb(size, times):
    """An .xz file of that many zero bytes, so many times: its one block is repeated, and so
    is its row in the index (the .xz file format, 3 and 4)."""
    def crc(data):
        return struct.pack("<I", zlib.crc32(data))
    one = lzma.compress(bytes(size), check=lzma.CHECK_CRC32, preset=1)
    index_size = (struct.unpack("<I", one[-8:-4])[0] + 1) * 4
    block = one[12:-12 - index_size]
    old = one[-12 - index_size:-12]
    row = old[2:2 + next(n for n in range(2, 20)
                         if old[2:2 + n].endswith(number(size)))]
    index = b"\0" + number(times) + row * times
    index += bytes(-len(index) % 4)
    index += crc(index)
    end = struct.pack("<I", len(index) // 4 - 1) + one[-4:-2]
    return one[:12] + block * times + index + crc(end) + end + b"YZ"


def with_debugdata(t, name, data):
    """A copy of a program, without symbols but for these."""
    for tool in ("objcopy", "strip"):
        t.need_tool(tool)
    copy = t.dir / name
    packed = t.dir / "debugdata"
    packed.write_bytes(data)
    subprocess.run(["strip", "-o", copy, t.prog(name)], check=True)
    subprocess.run(["objcopy", "--add-section", f".gnu_debugdata={packed}", copy], check=True)
    return copy


def breakpoint_at_start(client):
    """A breakpoint where the program is, in its own file; its row of the table."""
    auxv = client.ask("qXfer:auxv:read::0,fff")[1:].encode("latin1")
    entry = next(value for key, value in struct.iter_unpack("=QQ", auxv[:len(auxv) // 16 * 16])
                 if key == 9)
    kind = 1 if os.uname().machine == "x86_64" else 4
    client.ask(f"Z0,{entry:x},{kind}")
    return client.monitor("breakpoints")


def test_packed_symbols(t):
    # Those of mini debug info, as some distributions have it.
    t.truehit_only("monitor breakpoints")
    subprocess.run(["strip", "--strip-debug", "-o", t.dir / "symbols", t.prog("loop")],
                   check=True)
    server = t.server("COMM", with_debugdata(
        t, "loop", lzma.compress((t.dir / "symbols").read_bytes())))
    t.match(r" _start ", breakpoint_at_start(rsp.Client(server)))


def test_packed_symbols_that_unpack_without_end(t):
    t.truehit_only("bounds")
    program = with_debugdata(t, "loop", bomb(64 << 20, 32))
    t.note(f"{os.path.getsize(program)} bytes")
    server = t.server("COMM", program)
    client = rsp.Client(server)
    with Watch(t, server, client) as watch:
        shown = breakpoint_at_start(client)
        t.match(r" loop\+0x[0-9a-f]+ ", shown)
        # On a slow machine the time is over before the memory is used up.
        reason = r"not all symbols of .*loop are known: (its .gnu_debugdata|it takes too long)"
        t.match("^" + reason, shown)
        client.ask("qSymbol::")
    t.check(watch.most > 0, "no reader was seen")
    server.wait_output(reason)
    ends_on_request(t, server, "packed symbols")
