/* SPDX-License-Identifier: BSD-2-Clause */
/* What a program at a uprobe does besides (uprobe_program.h). */
#ifndef TRUEHIT_BPF_COMPILER_EMIT_PROBE_H
#define TRUEHIT_BPF_COMPILER_EMIT_PROBE_H

#include "bpf/emit/compiler.h"

bool probe_is(const struct compiler *c);
/** First of all: a hit of a uprobe that is not armed, or elsewhere, is dropped. */
void probe_emit_begin(struct compiler *c);
/** Sends the record whose head is in the frame, with the state that the instruction is
 * about to change, and jumps to @sent; falls through if there is no room. REG_BY_STOP
 * does not survive. */
void probe_emit_send(struct compiler *c, uint32_t sent);

#endif
