/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Restartable sequences (rseq(2)) at hits. When a thread returns to user mode after it
 * was preempted, the kernel looks whether its PC is in the sequence that its rseq_cs
 * describes. If so, it sends the thread to the sequence's abort handler; else it clears
 * rseq_cs. A hit's stop can come after that: perf events raise their SIGTRAP by task
 * work, which the kernel does just before it looks (kernel/entry/common.c,
 * resume_user_mode_work), and a uprobe's thread is elsewhere then. So the record tells
 * which sequence it was, and the stub puts back what the kernel has changed: the PC and
 * rseq_cs, nothing else. A thread that has stopped was switched away from, so the
 * kernel does the same again when it is resumed: no stop breaks a sequence.
 */
#ifndef TRUEHIT_BPF_PLACEMENT_SEQUENCE_H
#define TRUEHIT_BPF_PLACEMENT_SEQUENCE_H

#include "bpf/shared/hits.h"
#include "gdbstub/inferior/inferior.h"

/**
 * Was the thread, which has stopped for this hit, in a restartable sequence? Then it is
 * where it hit, if it was sent to the abort handler, and has its rseq_cs. 1, 0: it was
 * in none, or a negative errno.
 */
int sequence_put_back(struct thread *thread, const struct bpf_hit_record *record);

#endif
