# SPDX-License-Identifier: BSD-2-Clause
"""What gdb asks for apart from control: tables of the system, registers, memory, files."""
import os
import re
import shutil

import harness
import rsp
import test_protocol


def test_info_os(t):
    """gdb lists the tables, and finds the program in that of the processes."""
    server = t.server("COMM", t.prog("loop"), "1")
    pid = server.inferior()
    gdb = t.gdb(server, "info os", "info os processes", "info os threads", "info os nonesuch",
                prog=t.prog("loop"))
    text = gdb.output()
    for table in ("processes", "procgroups", "threads", "files", "sockets", "shm",
                  "semaphores", "msg", "modules", "cpus"):
        t.match(rf"^{table} +Listing of", text)
    t.match(rf"^{pid} +\S+ +\S*/loop 1 +[0-9,]+ *$", text)
    t.match(rf"^{pid} +loop +{pid} +\d+ *$", text)
    t.match("Empty data returned by target", text)


def test_no_target_description(t):
    """A gdb that may not read target.xml expects its own, plain set of registers."""
    server = t.server("COMM", t.prog("registers"))
    gdb = t.gdb(server, "print $ymm0", "print $xmm0", "break main", "continue",
                "print $sp > 0", "print $sp -= 16", "print $orig_rax", prog=t.prog("registers"),
                first=("set remote target-features-packet off",))
    text = gdb.output()
    t.no_match("packet reply is too long", text)
    t.match(r"^Breakpoint 1, main", text)
    t.match(r"^\$\d+ = 1$", text)


def g_length(client):
    return len(client.ask("g")) // 2


def test_registers_by_what_the_client_reads(t):
    """g holds what the client knows: all there is once it has read target.xml."""
    _, client = test_protocol.start(t)
    plain = g_length(client)
    client.ask("qXfer:features:read:nonesuch.xml:0,1000")
    t.equal(g_length(client), plain, "size of g after reading nothing")
    client.ask("qXfer:features:read:target.xml:0,1000")
    full = g_length(client)
    t.check(full >= plain, f"{full} bytes, fewer than {plain}")
    values = client.ask("g")
    t.equal(client.ask("G" + values), "OK", "G")
    t.equal(client.ask("g"), values, "registers after G")
    client.close()
    _, client = test_protocol.start(t)
    client.ask("qSupported:xmlRegisters=i386,arm")
    t.equal(g_length(client), full, "size of g for a client that names xmlRegisters")


def test_binary_reads(t):
    """x replies the bytes as they are, the readable ones, and never a bare OK."""
    _, client = test_protocol.start(t)
    t.match("binary-upload[+]", client.ask("qSupported:binary-upload+"))
    main = test_protocol.symbol(t, "calls", "main")

    def binary(what):
        client.send_bytes(client.frame(what))
        return client.receive()

    wanted = bytes.fromhex(client.ask(f"m{main:x},800"))
    t.equal(binary(f"x{main:x},800"), b"b" + wanted, "bytes at main")
    t.equal(binary("x0,0"), b"b", "no bytes")
    t.match("^E", client.ask("x10,10"))
    t.match("^E", client.ask(f"x{main:x}"))
    t.match("^E", client.ask(f"x{main:x},10,"))
    t.match("^E", client.ask("xnonsense"))


def end_of_stack(client, pid):
    with open(f"/proc/{pid}/maps", encoding="latin1") as file:
        return int(re.search(r"-([0-9a-f]+) .*\[stack\]", file.read()).group(1), 16)


def test_partly_readable_memory(t):
    """A range that ends in nothing is read as far as it goes."""
    server, client = test_protocol.start(t)
    end = end_of_stack(client, server.inferior())
    whole = client.ask(f"m{end - 16:x},10")
    t.equal(len(whole), 32, "digits of 16 bytes")
    t.equal(client.ask(f"m{end - 16:x},1000"), whole, "m over the end of the stack")
    client.send_bytes(client.frame(f"x{end - 16:x},1000"))
    t.equal(client.receive(), b"b" + bytes.fromhex(whole), "x over the end of the stack")
    t.match("^E", client.ask(f"m{end:x},10"))
    t.match("^E", client.ask("mffffffffffffffff,10"))
    t.match("^E", client.ask("m7fffffffffffffff,ffffffffffffffff"))
    t.match("^E", client.ask("Mffffffffffffff00,1:00"))


def test_files_to_and_fro(t):
    """remote put, get and delete, with bytes of all values; errors have their reasons."""
    source, there, back = (str(t.dir / name) for name in ("source", "there", "back"))
    data = bytes(range(256)) * 1000 + b"}#$*" * 10000
    with open(source, "wb") as file:
        file.write(data)
    server = t.server("--multi", "COMM")
    gdb = t.gdb(server, f"remote put {source} {there}", f"remote get {there} {back}",
                "python print('size', __import__('os').path.getsize(%r))" % there,
                f"remote delete {there}", f"remote delete {there}",
                f"remote get {t.dir} {back}2", f"remote get {there} {back}2",
                f"remote put {source} {t.dir}/none/there",
                connect="target extended-remote")
    text = gdb.output()
    t.match(rf"^size {len(data)}$", text)
    with open(back, "rb") as file:
        t.check(file.read() == data, "what came back differs")
    t.check(not os.path.exists(there), "the file is still there")
    t.match("Remote I/O error: No such file or directory", text)
    # gdb 13 has no text for the number of EISDIR.
    t.match("Remote I/O error: (Is a directory|Invalid argument)", text)


def test_link_to_nothing(t):
    """gdb 16 looks for a link by vFile:stat, as its gdbserver took it; later ones, which
    announce multi-wp-addr, have vFile:lstat, and mean the file by vFile:stat."""
    t.truehit_only("vFile:lstat")
    link = t.dir / "link"
    link.symlink_to("nothing")
    missing, is_link = r"^F-1,2$", r"(?s)^F40;.{8}\x00\x00\x01\xff"
    for features, of_stat in (("swbreak+", is_link), ("swbreak+;multi-wp-addr+", missing)):
        client = rsp.Client(t.server("COMM", t.prog("calls")))
        client.ask(f"qSupported:{features}")
        for operation, expected in (("stat", of_stat), ("lstat", is_link)):
            reply = client.ask(f"vFile:{operation}:{os.fsencode(link).hex()}")
            t.match(expected, reply, f"{operation} for a client with {features}")
        t.match("^F-1,2$", client.ask(f"vFile:stat:{os.fsencode(t.dir / 'no').hex()}"))


def test_program_in_another_mount_name_space(t):
    """gdb has no file: it gets the program, which only its own name space holds, from
    the server, which itself stays where it is."""
    t.need_root("make a name space")
    t.need_tool("unshare")
    hidden = t.dir / "hidden"
    hidden.mkdir()
    script = (f"mount -t tmpfs none {hidden} && cp {t.prog('attach')} {hidden} && "
              f"echo ready && exec {hidden}/attach {t.dir}/counts")
    if harness.Process(t, ["unshare", "-m", "true"]).wait():
        t.skip("mount name spaces cannot be made here")
    program = harness.Process(t, ["unshare", "-m", "sh", "-c", script])
    program.wait_output("ready")
    harness.wait_for(lambda: os.path.basename(os.readlink(f"/proc/{program.pid}/exe")) == "attach",
                     "the program")
    server = t.server("COMM", "--attach", str(program.pid))
    gdb = t.gdb(server, "info inferiors", "break tick", "continue", "bt", "print id",
                f"shell readlink /proc/{server.pid}/ns/mnt", sysroot="target:")
    text = gdb.output()
    t.match(rf"Reading {hidden}/attach from remote target", text)
    t.match(r"Breakpoint 1, tick", text)
    t.check(not (hidden / "attach").exists(), "the file is here, too: no test")
    t.equal(t.match(r"^mnt:\S+", text).group(0), os.readlink("/proc/self/ns/mnt"),
            "the server's mount name space")


def test_malformed_requests(t):
    """Each is refused with a reason, or is not known; the session goes on."""
    _, client = test_protocol.start(t)
    huge = "f" * 16
    for packet in ("x", "x1", "x1,", f"x{huge},{huge}", f"m{huge},{huge}", "m1,1,1", "m,",
                   "M0,1:zz", "M0,2:00", "M0,1", "X0,2:a", f"X{huge},1:a", "p", "pzz", f"p{huge}",
                   "P", "P0", "P0=", "P0=zz", "P0=00", f"P{huge}=00", "G", "Gzz", "G00",
                   "qXfer:osdata:read", "qXfer:osdata:read:processes:0", "qXfer:auxv:read::-1,1",
                   f"qXfer:osdata:read:processes:{huge},{huge}", f"qXfer:auxv:read::{huge},1",
                   "qXfer:siginfo:write::0", f"qXfer:siginfo:write::{huge}:abc",
                   "qXfer:libraries-svr4:read:start=;:0,10", "qXfer:exec-file:read:zz:0,10",
                   "qCRC:", f"qCRC:{huge},{huge}", "qSearch:memory:", f"qSearch:memory:{huge};1;a",
                   "qRcmd,", "qRcmd,zz", "qRcmd,6", "qRcmd,00", "vFile:", "vFile:open",
                   "vFile:open:", "vFile:open:2f,,", f"vFile:open:2f,{huge},{huge}",
                   f"vFile:pread:{huge},1,1", "vFile:pread:0,1,1", "vFile:pwrite:0,0,a",
                   "vFile:close:0", f"vFile:close:{huge}", "vFile:fstat:-1", "vFile:setfs:-1",
                   f"vFile:setfs:{huge}", "vFile:unlink:zz", "vFile:readlink:", "vFile:stat:2"):
        reply = client.ask(packet)
        t.match("^(E.*|F-1,.*|)$", reply, f"reply to {packet}")
    t.equal(client.ask("m0,0"), "", "no bytes at all")
    t.match("^[TS]05", client.ask("?"))


def test_no_description_without_a_process(t):
    """Until there is a process, the user may say what its architecture will be."""
    server = t.server("--multi", "COMM")
    small = {"x86_64": "i386", "aarch64": "arm"}[os.uname().machine]
    gdb = t.gdb(server, f"set architecture {small}", "print sizeof(void *)",
                "set architecture auto", f"set remote exec-file {t.prog('loop')}",
                "starti 1", "print sizeof(void *)", "print $pc != 0",
                connect="target extended-remote")
    t.equal([int(n) for n in re.findall(r"^\$\d+ = (\d+)$", gdb.output(), re.M)],
            [4, 8, 1], "sizes")


def test_breakpoint_in_memory_that_has_gone(t):
    """A trap goes with its library: steps are not refused for it."""
    gdb = t.gdb(t.server("COMM", t.prog("loop"), "1"), "break main", "continue",
                "set $p = ((char *(*)(void *, unsigned long, int, int, int, long))mmap)"
                "(0, 4096, 7, 0x22, -1, 0)", "break *$p",
                "print ((int (*)(void *, unsigned long))munmap)($p, 4096)", "delete", "stepi",
                "stepi", "next", "break never", "continue", prog=t.prog("loop"))
    text = gdb.output()
    t.match(r"^\$1 = 0$", text)
    t.no_match("failure reply|cannot be switched", text)
    t.match("exited normally", text)


def test_trap_of_the_users_own(t):
    """It stays where a breakpoint was, or is, whoever served that."""
    t.need_x86()
    for engine in ("auto", "uprobe"):
        gdb = t.gdb(t.server("COMM", t.prog("loop"), "20"),
                    f"monitor set engine {engine}",
                    f"break {t.line('loop.c', 'BODY')} if count == 3", "continue",
                    "set $p = (char *)$pc", "delete", "set $original = *$p",
                    "set *$p = 0xcc", "continue", "set *$p = $original", "set $pc = $p",
                    "set breakpoint always-inserted on", "break *$p if count == 5",
                    "continue", "set *$p = 0xcc", "delete", "continue",
                    prog=t.prog("loop"), python="emit(pc=value('(long)$pc - (long)$p'), count=value('count'))")
        t.equal(gdb.output().count("SIGTRAP"), 2, f"SIGTRAPs ({engine})")
        t.equal(gdb.results[0], {"pc": "1", "count": "5"}, f"stop ({engine})")


def test_error_texts_are_shown_as_they_are(t):
    """Nothing in the text of an error is escaped, for gdb would show the escapes."""
    _, client = test_protocol.start(t)
    main = test_protocol.symbol(t, "calls", "main")
    replies = [client.ask(f"Z1,{main + i:x},1") for i in range(9)]
    t.check(any(reply.startswith("E.") for reply in replies), "each breakpoint was taken")
    client.send_bytes(client.frame(f"Z1,{main + 8:x},1"))
    while client.byte() != b"$":
        pass
    raw = b""
    while (byte := client.byte()) != b"#":
        raw += byte
    t.check(b"}" not in raw, f"{raw!r} holds an escape")


def test_program_whose_file_has_gone(t):
    """Deleted, replaced by another, and with a file of the name that the kernel has for
    it: gdb gets the file that the process runs."""
    path = t.dir / "program"

    def replace():
        shutil.copy(t.prog("calls"), t.dir / "new")
        os.rename(t.dir / "new", path)

    def mislead():
        path.unlink()
        shutil.copy(t.prog("calls"), f"{path} (deleted)")

    for change in (lambda: None, path.unlink, replace, mislead):
        for sysroot in ("", "target:"):
            shutil.copy(t.prog("loop"), path)
            process = harness.Process(t, [path, "100000000000"])
            harness.wait_for(lambda: os.readlink(f"/proc/{process.pid}/exe") == str(path), "the program")
            change()
            server = t.server("--attach", "COMM", process.pid)
            exe = f"/proc/{process.pid}/exe" if os.readlink(f"/proc/{process.pid}/exe") != str(path) else str(path)
            client = rsp.Client(server)
            t.equal(client.ask("qXfer:exec-file:read::0,1000"), "l" + exe, "the program's file")
            client.close()
            gdb = t.gdb(server, "info line main", "detach", sysroot=sysroot)
            t.match(r'^Line \d+ of ".*loop\.c" starts at address', gdb.output())
            process.kill()
            process.wait()


def test_what_gdb_reads_of_the_process(t):
    """gdb 16 and later look there for the mask of address tags."""
    server = t.server("COMM", t.prog("loop"))
    client = rsp.Client(server)
    path = f"/proc/{server.inferior()}/status"
    t.equal(client.ask("vFile:setfs:0"), "F0", "setfs")
    t.equal(client.ask(f"vFile:open:{path.encode().hex()},0,0"), "F0", "open")
    text, part = "", "F1;x"
    while ";" in part and part[1:3] != "0;":
        part = client.ask(f"vFile:pread:0,400,{len(text):x}")
        text += part.partition(";")[2]
    with open(path, encoding="utf-8") as file:
        lines = [line.partition(":")[0] for line in file]
    t.equal([line.partition(":")[0] for line in text.splitlines()], lines, "the lines")
