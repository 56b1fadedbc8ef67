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
#include "bpf/sequence.h"
#include "bpf/uprobe.h"
#include "inferior/symbols.h"

static const char refusal[] = "a uprobe would break the restartable sequence (rseq) "
			      "that the instruction is in";

static bool is_known_to_lack(const struct uprobe *state,
			     const struct sequence_free *file)
{
	for (unsigned int i = 0; i < SEQUENCE_FREE_MAX; i++) {
		const struct sequence_free *row = &state->sequence_free[i];

		if (row->pid == file->pid && row->file.inode == file->file.inode &&
		    row->file.major == file->file.major &&
		    row->file.minor == file->file.minor)
			return true;
	}
	return false;
}

/* Most files have no sequences: these are asked once. */
static bool is_described(struct uprobe_placement *placement,
			 const struct location *location)
{
	const struct sequence_free file = {location->inferior->pid,
					   placement->target.file};
	struct uprobe *state = placement->state;
	enum symbols_sequences found;
	struct symbols *symbols;

	if (is_known_to_lack(state, &file))
		return false;
	symbols = symbols_create(location->inferior);
	found = symbols_sequences(symbols, location->addr);
	symbols_destroy(symbols);
	if (found == SEQUENCES_NONE)
		state->sequence_free[state->sequence_free_next++ % SEQUENCE_FREE_MAX] =
			file;
	return found == SEQUENCES_COVER;
}

struct error *uprobe_check_sequence(struct uprobe_placement *placement,
				    struct location *location)
{
	if (!location->restartable)
		location->restartable = is_described(placement, location);
	return location->restartable ? error_create(0, "%s", refusal) : NULL;
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
