/* SPDX-License-Identifier: BSD-2-Clause */
/* Restartable sequences: none may be executed elsewhere than in its place. */
#ifndef TRUEHIT_BPF_UPROBE_UPROBE_SEQUENCE_H
#define TRUEHIT_BPF_UPROBE_UPROBE_SEQUENCE_H

#include "bpf/uprobe/uprobe.h"

/** An error if the location, whose target is known, is in a restartable sequence. */
struct error *uprobe_check_sequence(struct uprobe_placement *placement,
				    struct location *location);
/**
 * Was the thread, which has stopped for this hit, in a restartable sequence? Then it
 * has its rseq_cs again, and the location is to move. 0 or 1, or a negative errno.
 */
int uprobe_keep_sequence(struct uprobe_placement *placement, struct thread *thread,
			 const struct bpf_hit_record *record);

#endif
