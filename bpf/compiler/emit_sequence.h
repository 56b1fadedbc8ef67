/* SPDX-License-Identifier: BSD-2-Clause */
/* Restartable sequences (sequence.h). */
#ifndef TRUEHIT_BPF_COMPILER_EMIT_SEQUENCE_H
#define TRUEHIT_BPF_COMPILER_EMIT_SEQUENCE_H

#include "bpf/emit/compiler.h"

/**
 * To the maybe exit if the thread is in a restartable sequence: the kernel is about to
 * execute the instruction elsewhere, where it would not begin the sequence anew. That
 * rseq_cs is not NULL does not say it: it stays when the sequence has ended.
 */
void sequence_emit_check(struct compiler *c);
/** Completes the record in the frame, of which the scratch is a part. */
void sequence_emit_record(struct compiler *c);

#endif
