/* SPDX-License-Identifier: BSD-2-Clause */
/* BPF instructions as text, in the words of the kernel's verifier. */
#ifndef TRUEHIT_BPF_SHARED_DISASSEMBLY_H
#define TRUEHIT_BPF_SHARED_DISASSEMBLY_H

#include <linux/bpf.h>
#include <stddef.h>

#include "gdbstub/base/buffer.h"

/** Appends what a reader may want to know of an instruction, or nothing. */
typedef void bpf_comment_fn(void *data, const struct bpf_insn *insn,
			    struct buffer *out);

/**
 * Appends a program, one line an instruction: its number, its text and, after a jump,
 * the number that it leads to:
 *
 *     12: if r1 != 0x5 goto pc+3 <16>
 *     13: call bpf_probe_read_user#112
 *
 * An instruction that is not known is shown as "code 0xff ...". What @comment (or
 * NULL) says follows after " ; ".
 */
void bpf_print(const struct bpf_insn *insns, size_t count, bpf_comment_fn *comment,
	       void *data, struct buffer *out);

#endif
