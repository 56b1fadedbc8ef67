/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/run/continuation.h"

#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/locations/index.h"
#include "gdbstub/text/kept_decoder.h"
#include "gdbstub/text/text.h"

enum { INSN_MAX = 16 };

/* Puts in place what is to hold from now on. */
static struct error *hold(struct run *run, bool holds)
{
	struct inferior *inferior;
	struct error *error = NULL;

	if (run->engines.handed_hold == holds)
		return NULL;
	run->engines.handed_hold = holds;
	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		if (!error && inferior->breakpoints && inferior->control &&
		    !inferior->control->pending_stop)
			error = breakpoints_apply_handed(inferior->breakpoints);
	}
	return error;
}

struct error *continuation_begin(struct run *run, bool only_continues)
{
	run->continuation = (struct continuation){
		.is_on = !run->non_stop,
		.steps_over = only_continues,
	};
	return hold(run, run->continuation.is_on);
}

void continuation_disturb(struct run *run)
{
	run->continuation.is_on = false;
}

/* ---- steps ---- */

static bool has_location(const struct breakpoints *breakpoints, uint64_t pc)
{
	struct index_walk walk;

	return index_begin(&walk, breakpoints, pc, pc) != NULL;
}

/* The length of an instruction that is no branch; 0: it is one, or is not known. */
static unsigned int plain_length(struct inferior *inferior, uint64_t pc)
{
	const struct arch_ops *arch = inferior->arch;
	struct decoder *decoder = NULL;
	uint8_t code[INSN_MAX];
	unsigned int len = 0;
	ssize_t n = breakpoints_read_memory(inferior, pc, code, sizeof(code));

	if (n > 0 && arch->branch(code, (size_t)n).kind == BRANCH_NONE)
		decoder = decoder_take(inferior);
	if (!decoder)
		return 0;
	if (decoder_run(decoder, code, (size_t)n, pc))
		len = decoder->insn->size;
	decoder_give_back(inferior, decoder);
	return len;
}

/* A step from a location, as a client begins that continues from there. */
static bool begin_step(struct run *run, struct thread *thread)
{
	struct continuation *continuation = &run->continuation;

	if (thread_get_pc(thread, &continuation->from) < 0 ||
	    !has_location(thread->inferior->breakpoints, continuation->from))
		return false;
	if (continuation->steps_over)
		return true;
	continuation->len = plain_length(thread->inferior, continuation->from);
	continuation->stepped = thread->tid;
	return continuation->len > 0;
}

/* The last step has ended after its instruction, or at it, if that is repeated: not in
 * a handler, nor in another function. */
static bool step_was_plain(struct run *run)
{
	struct continuation *continuation = &run->continuation;
	const struct thread *thread;
	uint64_t pc;

	if (continuation->stepped == 0)
		return true;
	thread = thread_find(&run->inferiors, continuation->stepped);
	continuation->stepped = 0;
	return thread && thread_get_pc(thread, &pc) == 0 &&
	       (pc == continuation->from ||
		pc == continuation->from + continuation->len);
}

/* ---- actions ---- */

static bool is_plain(struct run *run, struct thread *thread)
{
	const struct resume_action *action = &thread->control->action;

	if (action->kind == RESUME_NONE)
		return true;
	if (action->signal != 0)
		return false;
	if (action->kind == RESUME_STEP)
		return action->steps == 0 && run->continuation.stepped == 0 &&
		       begin_step(run, thread);
	return action->kind == RESUME_CONTINUE;
}

static bool all_are_plain(struct run *run)
{
	struct inferior *inferior;
	struct thread *thread;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		if (inferior->unattended || inferior->compat)
			continue;
		FOREACH_THREAD (thread, inferior) {
			if (!is_plain(run, thread))
				return false;
		}
	}
	return true;
}

struct error *continuation_check(struct run *run)
{
	struct continuation *continuation = &run->continuation;

	if (continuation->is_on &&
	    (run->non_stop || !step_was_plain(run) || !all_are_plain(run)))
		continuation->is_on = false;
	return hold(run, continuation->is_on);
}
