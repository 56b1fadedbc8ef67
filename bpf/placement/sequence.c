/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/placement/sequence.h"

#include <errno.h>
#include <linux/rseq.h>

#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/registers.h"

/* What is described at @addr. */
static bool covers(struct inferior *inferior, uint64_t addr, uint64_t pc,
		   struct rseq_cs *ret)
{
	return addr != 0 &&
	       inferior_read(inferior, addr, ret, sizeof(*ret)) ==
		       (ssize_t)sizeof(*ret) &&
	       pc - ret->start_ip < ret->post_commit_offset;
}

/* From the abort handler. */
static int put_back_pc(struct thread *thread, uint64_t abort, uint64_t pc)
{
	uint64_t now;
	int r = thread_get_pc(thread, &now);

	return r < 0 || now != abort ? r : thread_set_pc(thread, pc);
}

int sequence_put_back(struct thread *thread, const struct bpf_hit_record *record)
{
	const uint64_t at = record->rseq + offsetof(struct rseq, rseq_cs);
	struct inferior *inferior = thread->inferior;
	uint64_t sequence = record->sequence, now = 0;
	struct rseq_cs found;
	int r = 0;

	if (record->rseq == 0)
		return 0;
	if (inferior_read(inferior, at, &now, sizeof(now)) != (ssize_t)sizeof(now))
		return -EFAULT;
	if (sequence == 0)
		sequence = now;
	if (!covers(inferior, sequence, record->pc, &found))
		return 0;
	if (now != sequence)
		r = inferior_write(inferior, at, &sequence, sizeof(sequence));
	if (r >= 0)
		r = put_back_pc(thread, found.abort_ip, record->pc);
	return r < 0 ? r : 1;
}
