/* SPDX-License-Identifier: BSD-2-Clause */
/* Hits by system calls. */
#ifndef TRUEHIT_BPF_EMIT_EMIT_KERNEL_MODE_H
#define TRUEHIT_BPF_EMIT_EMIT_KERNEL_MODE_H

#include "bpf/emit/compiler.h"

/** First of all: a hit in kernel mode by a task that stops for nobody is dropped. */
void kernel_mode_emit_begin(struct compiler *c);
/** To the maybe exit if the hit came in kernel mode; @reg is free to be used. */
void kernel_mode_check_user(struct compiler *c, uint8_t reg);

#endif
