/* SPDX-License-Identifier: BSD-2-Clause */
/* capstone's header: since version 5 it has an enumeration of the name of a structure
 * of <linux/bpf.h>. */
#ifndef TRUEHIT_ARCH_CAPSTONE_H
#define TRUEHIT_ARCH_CAPSTONE_H

#define bpf_insn capstone_bpf_insn
#include <capstone/capstone.h>
#undef bpf_insn

#endif
