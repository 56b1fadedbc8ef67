# SPDX-License-Identifier: BSD-2-Clause
"""What this machine, its kernel and this user have, found out without the server."""
import ctypes
import functools
import os
import re
import struct

libc = ctypes.CDLL(None, use_errno=True)
NO_REGISTERS = "breakpoint registers do not fire on this machine"


class Skip(Exception):
    """This machine, or this server, cannot run the test; the text says why."""


def is_virtual():
    """Is this a virtual machine, as far as the processor says?"""
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        return re.search(r"^flags\s*:.* hypervisor\b", file.read(), re.M) is not None


@functools.lru_cache(maxsize=None)
def is_emulated_x86():
    with open("/proc/cpuinfo", encoding="latin1") as file:
        return "QEMU TCG CPU" in file.read()


def kernel_release():
    """The first two numbers: (6, 12)."""
    return tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])


def kernel_conditions(server):
    """Why the kernel cannot evaluate conditions for this user's server, or None."""
    if os.geteuid() == 0 or not has_capabilities(server):
        return _try_bpf()
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
        if int(file.read()) > 2:
            return "kernel.perf_event_paranoid keeps perf events to root"
    return None


def has_capabilities(path):
    """Does the file give CAP_PERFMON and CAP_BPF to whoever executes it? (struct
    vfs_cap_data of linux/capability.h)"""
    try:
        data = os.getxattr(path, "security.capability")
    except OSError:
        return False
    flags, permitted = struct.unpack_from("<I8xI", data)
    return bool(flags & 1) and permitted >> 38 - 32 & 3 == 3


def _try_bpf():
    """Loads the smallest BPF program there is."""
    SYS_BPF = {"x86_64": 321, "aarch64": 280}.get(os.uname().machine)
    BPF_PROG_LOAD, BPF_PROG_TYPE_PERF_EVENT = 5, 7
    insns = (ctypes.c_uint64 * 2)(0xb7, 0x95)  # r0 = 0; exit
    licence = ctypes.create_string_buffer(b"GPL")
    attr = (ctypes.c_uint64 * 16)()
    attr[0] = BPF_PROG_TYPE_PERF_EVENT | 2 << 32
    attr[1] = ctypes.addressof(insns)
    attr[2] = ctypes.addressof(licence)
    fd = libc.syscall(SYS_BPF, BPF_PROG_LOAD, attr, ctypes.sizeof(attr))
    if fd < 0:
        return "no BPF programs for this user: " + os.strerror(ctypes.get_errno())
    os.close(fd)
    return None


def _open_counter(pid, kind, address, length, flags=0):
    """A perf event that counts what a breakpoint register sees; -1: not for this user."""
    SYS_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
    PERF_TYPE_BREAKPOINT, EXCLUDE_KERNEL, SIZE = 5, 1 << 5, 112
    attr = ctypes.create_string_buffer(SIZE)
    struct.pack_into("II", attr, 0, PERF_TYPE_BREAKPOINT, SIZE)
    struct.pack_into("QIIQQ", attr, 40, EXCLUDE_KERNEL | flags, 0, kind, address, length)
    return libc.syscall(SYS_PERF_EVENT_OPEN, attr, pid, -1, -1, 0)


@functools.lru_cache(maxsize=None)
def breakpoint_registers_fire():
    """In some virtual machines they can be set, and never do. A perf event counts writes
    of this process; where it may not have one, they are taken to fire."""
    HW_BREAKPOINT_W = 2
    word = ctypes.c_uint64()
    event = _open_counter(0, HW_BREAKPOINT_W, ctypes.addressof(word), ctypes.sizeof(word))
    if event < 0:
        return True
    word.value = 1
    count = int.from_bytes(os.read(event, 8), "little")
    os.close(event)
    return count > 0


class Witness:
    """Counts how often the thread @tid, and those that it makes, execute the instruction
    at @address, without any debugger. In virtual machines hits have come to nobody for a
    while (doc/exactness/verdicts.md)."""

    def __init__(self, tid, address):
        HW_BREAKPOINT_X, INHERIT = 4, 1 << 1
        length = ctypes.sizeof(ctypes.c_long) if os.uname().machine == "x86_64" else 4
        self.event = _open_counter(tid, HW_BREAKPOINT_X, address, length, INHERIT)

    def count(self):
        """None: this user may not have one."""
        return None if self.event < 0 else int.from_bytes(os.read(self.event, 8), "little")
