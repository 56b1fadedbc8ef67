# SPDX-License-Identifier: BSD-2-Clause
"""The machines that QEMU can be."""
import dataclasses
import fcntl
import os
import pathlib

KVM_CREATE_VM = 0xAE01


@dataclasses.dataclass
class Arch:
    name: str
    debian: str          # Debian's name for it
    console: str
    emulated: list       # machine, processor, accelerator
    rich: list           # ... with all that QEMU can emulate

    @property
    def triple(self):
        return f"{self.name}-linux-gnu"


ARCHS = {arch.name: arch for arch in (
    Arch("aarch64", "arm64", "ttyAMA0", ["virt", "cortex-a72", "tcg"],
         ["virt,mte=on", "max,pauth-impdef=on", "tcg"]),
    # QEMU 7.2 garbles the flags at times when it emulates cmpxchg16b, and lets a kernel
    # that patches its code on one processor crash on another, unless they take turns.
    Arch("x86_64", "amd64", "ttyS0", *2 * [["q35", "max,-cx16", "tcg,thread=single"]]),
)}


def kvm_works():
    """Asked of processor and kernel: /dev/kvm may be there in vain, or in software."""
    flags = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    if os.uname().machine == "x86_64" and not {"vmx", "svm"} & set(flags):
        return False
    try:
        with open("/dev/kvm", "r+b", buffering=0) as kvm:
            os.close(fcntl.ioctl(kvm, KVM_CREATE_VM, 0))
    except OSError:
        return False
    return True
