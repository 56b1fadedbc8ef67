/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Restartable sequences (rseq(2)) and uprobes. The kernel executes a probed instruction
 * in a page of its own: a thread that is preempted there is in no sequence by its PC,
 * so that the kernel clears rseq_cs, and what is left of the sequence runs unprotected.
 * So what the ELF section __rseq_cs covers gets no uprobe. Of other sequences (made
 * when the program runs, or of a file without that section) the program at the probe
 * learns at the hit, and stops the thread: that is put back to the instruction, with
 * rseq_cs as it was. As it has been switched away from, the kernel begins the sequence
 * anew when it is resumed, and the location moves to another engine before.
 */
#include "bpf/uprobe/uprobe_sequence.h"

#include "bpf/placement/sequence.h"
#include "bpf/uprobe/uprobe.h"
#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/locations/sequences.h"

static const char refusal[] = "a uprobe would break the restartable sequence (rseq) "
			      "that the instruction is in";

struct error *uprobe_check_sequence(struct uprobe_placement *placement,
				    struct location *location)
{
	if (!sequences_cover(location, &placement->target.file))
		return NULL;
	return error_create(0, "%s", refusal);
}

int uprobe_keep_sequence(struct uprobe_placement *placement, struct thread *thread,
			 const struct bpf_hit_record *record)
{
	int r = sequence_put_back(thread, record);

	if (r > 0) {
		placement->inexact = true;
		placement->base.location->restartable = true;
	}
	return r;
}
