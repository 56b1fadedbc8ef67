/* SPDX-License-Identifier: BSD-2-Clause */
/* The uprobe engine's stops: back before the instruction, and on after it. */
#include "bpf/uprobe/uprobe_stop.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "arch/register_table.h"
#include "gdbstub/base/log.h"
#include "bpf/uprobe/uprobe_program.h"
#include "bpf/uprobe/uprobe.h"
#include "bpf/uprobe/uprobe_memory.h"
#include "bpf/uprobe/uprobe_sequence.h"
#include "bpf/uprobe/uprobe_text.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/hits/step_over.h"
#include "gdbstub/text/trap.h"
#include "gdbstub/text/undo.h"

/* A fault of the very instruction: it was not executed. Told of the hit, the client
 * has it executed anew, and it faults again. */
static bool has_faulted(const struct event *event, uint64_t pc)
{
	uint64_t now;

	if (event->kind != EVENT_SIGNAL || event->siginfo.si_code <= 0 ||
	    (event->signal != SIGSEGV && event->signal != SIGBUS &&
	     event->signal != SIGFPE && event->signal != SIGILL))
		return false;
	return thread_get_pc(event->thread, &now) == 0 && now == pc;
}

/* Fetches the general registers; *regset is which regset they are. */
static int fetch_general(const struct thread *thread, struct regs *regs,
			 unsigned int *regset)
{
	const struct arch_ops *arch = thread->inferior->arch;

	*regset = reg_by_number(arch, arch->pc_reg)->regset;
	regs_init(regs, arch);
	return regs_fetch(thread, regs, *regset);
}

/* Exchanges what was stored with what was there before. What could not be read then was
 * in a page that nobody had touched yet, of the frame: zeros. -EXDEV: others may have
 * seen it already. */
static int undo_store(const struct uprobe_placement *own, struct inferior *inferior,
		      const struct bpf_hit_record *record, struct undone *undone)
{
	static const uint8_t untouched[UNDO_BYTES_MAX];
	ssize_t n;

	if (undone->stored_len == 0)
		return 0;
	n = inferior_read(inferior, undone->stored_at, undone->stored,
			  undone->stored_len);
	if (n != (ssize_t)undone->stored_len)
		return n < 0 ? (int)n : -EFAULT;
	if (uprobe_has_stored_to_shared(own, inferior, undone->stored_at,
					undone->stored_len))
		return -EXDEV;
	return inferior_write(inferior, undone->stored_at,
			      record->stored_known ? record->stored : untouched,
			      undone->stored_len);
}

/* Out of the pad it is before the instruction. */
static bool is_out_of_pad(const struct regs *regs, const struct bpf_hit_record *record)
{
	uint64_t pc;

	return reg_read_u64(regs, regs->arch->pc_reg, &pc) == 0 && pc == record->pc;
}

/* Has it done nothing since the hit? */
static bool is_there(const struct uprobe_placement *own, const struct regs *regs,
		     const struct bpf_hit_record *record, bool restarts)
{
	uint64_t pc;

	if (own->pad.site)
		return is_out_of_pad(regs, record);
	if (restarts && reg_read_u64(regs, regs->arch->pc_reg, &pc) == 0 &&
	    pc == record->pc)
		return true; /* the kernel had begun the sequence anew already */
	if (!own->state->options.redirects)
		return uprobe_is_after(record, regs, own->undo.len, own->undo.jumps);
	return reg_read_u64(regs, regs->arch->pc_reg, &pc) == 0 &&
	       pc == regs->arch->nowhere;
}

/* -ESTALE: the thread is elsewhere by now. */
static int undo(const struct uprobe_placement *own, struct thread *thread,
		const struct bpf_hit_record *record, struct undone *undone)
{
	const struct insn_store *store = &own->undo.store;
	unsigned int regset;
	struct regs regs;
	int err = fetch_general(thread, &regs, &regset);

	if (err < 0)
		return err;
	if (!is_there(own, &regs, record, undone->restarts))
		return -ESTALE;
	if (own->pad.site)
		return 0;
	memcpy(undone->registers, regs.data[regset], sizeof(undone->registers));
	err = uprobe_put_back(record, &regs);
	if (err == 0 && store->len > 0 &&
	    (record->stored_known || !store->below_stack)) {
		undone->stored_len = store->len;
		err = uprobe_store_addr(store, &regs, &undone->stored_at);
	}
	if (err == 0)
		err = undo_store(own, thread->inferior, record, undone);
	return err < 0 ? err : regs_store(thread, &regs, regset);
}

/* What cannot be undone this time: the thread is told where it is. A call made twice
 * would leave a shadow stack with one return too many, of which the thread would die.
 */
static const char *why_after(const struct insn_undo *undo, const struct thread *thread,
			     const struct bpf_hit_record *record)
{
	if (undo->transfers_stack && undo_has_shadow_stack(thread))
		return "it has a shadow stack by now";
	if (undo->rewrites && !record->stored_known)
		return "what it has changed was not in memory";
	return NULL;
}

static const char *why_not_undone(int err)
{
	switch (err) {
	case -ESTALE:
		return "it did not stop there";
	case -EXDEV:
		return "what it has stored is in shared memory, where others may have "
		       "seen it";
	default:
		return strerror(-err);
	}
}

bool uprobe_undo(struct placement *placement, const struct event *event,
		 const struct bpf_hit_record *record, struct hits *hits)
{
	struct uprobe_placement *own = (struct uprobe_placement *)placement;
	struct undone *undone = &own->state->undone;
	struct thread *thread = event->thread;
	const char *why;
	int err, restarts;

	if (undone->tid == thread->tid)
		return true; /* by another probe at the place */
	restarts = uprobe_keep_sequence(own, thread, record);
	if (restarts < 0 && restarts != -ESRCH)
		log_warning("the rseq_cs of thread %d cannot be kept: %s", thread->tid,
			    strerror(-restarts));
	if (has_faulted(event, record->pc)) {
		hits->signal_comes_again = true;
		return true;
	}
	why = why_after(&own->undo, thread, record);
	if (why) {
		own->inexact = true;
		log_warning("thread %d is after its hit at 0x%jx: %s", thread->tid,
			    (uintmax_t)record->pc, why);
		return false;
	}
	undone->restarts = restarts > 0;
	err = undo(own, thread, record, undone);
	if (err == 0) {
		undone->tid = thread->tid;
		undone->by = own;
	}
	if (err == 0 || err == -ESRCH) /* killed */
		return true;
	own->inexact |= err == -EXDEV;
	log_warning("thread %d stays after the instruction at 0x%jx: %s", thread->tid,
		    (uintmax_t)record->pc, why_not_undone(err));
	return false;
}

void uprobe_take_moved(struct engine *engine, const struct event *event,
		       struct hits *hits)
{
	struct undone *undone = &((struct uprobe *)engine->state)->undone;
	struct location *location =
		hits->count < HITS_MAX ? trap_executed(event, engine) : NULL;

	if (!location)
		return;
	location->fate = TRAP_MOVED;
	undone->tid = event->tid;
	undone->by = location->engine_data;
	hits->hit[hits->count++] =
		(struct hit){.location = location, .verdict = HIT_PLAIN};
	hits->signal_is_ours = true;
}

static int redo(const struct undone *undone, struct thread *thread)
{
	unsigned int regset;
	struct regs regs;
	int err = fetch_general(thread, &regs, &regset);

	if (err < 0)
		return err;
	memcpy(regs.data[regset], undone->registers, regs.size[regset]);
	err = regs_store(thread, &regs, regset);
	if (err < 0 || undone->stored_len == 0)
		return err;
	return inferior_write(thread->inferior, undone->stored_at, undone->stored,
			      undone->stored_len);
}

/* Has the thread done what it was to do? What it did in a sequence that begins anew is
 * forgotten. */
static bool is_executed(struct uprobe_placement *placement, bool restarts)
{
	if (placement->state->options.redirects || placement->pad.site || restarts ||
	    placement->base.location->fate == TRAP_MOVED)
		return false;
	if (uprobe_is_insn(placement))
		return true;
	placement->inexact = true;
	return false;
}

void uprobe_pass(struct engine *engine, struct thread *thread)
{
	struct undone *undone = &((struct uprobe *)engine->state)->undone;
	int err;

	if (undone->tid != thread->tid)
		return;
	undone->tid = 0;
	if (!is_executed(undone->by, undone->restarts)) {
		step_over_want(thread, undone->by->base.location);
		return;
	}
	err = redo(undone, thread);
	if (err < 0 && err != -ESRCH)
		log_warning("thread %d executes an instruction again: %s", thread->tid,
			    strerror(-err));
}
