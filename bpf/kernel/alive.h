/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does the kernel's BPF answer at all? Linux can come to a state in which every load
 * of a program waits for ever and cannot be killed (seen on 6.18: the works that free
 * programs had filled the queue of the one whose end they waited for). A server that
 * tried would hang with it, so a child tries first.
 */
#ifndef TRUEHIT_BPF_KERNEL_ALIVE_H
#define TRUEHIT_BPF_KERNEL_ALIVE_H

#include "gdbstub/base/error.h"

/**
 * Calls @try in a child that has none of our descriptors, and waits for its end, at
 * most @timeout milliseconds. ETIMEDOUT: it hangs; the child is left behind then, as
 * nobody can end it. What @try returns is not looked at.
 */
struct error *bpf_alive(int (*try)(void), int timeout);

#endif
