/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/run/retired.h"

#include <string.h>
#include <time.h>

#include "gdbstub/inferior/registers.h"
#include "gdbstub/text/text.h"

enum {
	CODE_MAX = 16,		/* bytes: no instruction is longer */
	STEPS_TO_A_LOOK = 1024, /* at the clock */
	TOLD_EVERY = 2000,	/* ms */
};

static struct retired *of(const struct thread *thread)
{
	return &thread->control->retired;
}

void retired_begin(struct thread *thread, enum retired_event event, uint64_t count,
		   uint64_t limit)
{
	struct retired *retired = of(thread);

	*retired = (struct retired){
		.event = event,
		.left = count,
		.wanted = count,
		.limit = limit,
		.in_call = retired->in_call,
		.signals_by = retired->signals_by,
	};
}

bool retired_is_on(const struct thread *thread)
{
	return of(thread)->left > 0;
}

/* ---- what is counted ---- */

static bool is_after_call(struct inferior *inferior, uint64_t pc)
{
	const struct arch_ops *arch = inferior->arch;
	const unsigned int len = arch->syscall_len;
	uint8_t code[CODE_MAX];

	return breakpoints_read_memory(inferior, pc - len, code, len) == (ssize_t)len &&
	       memcmp(code, arch->syscall_insn, len) == 0;
}

/* The step after one over a system call executes nothing, on aarch64; the next one at
 * the same place does, be it a branch to itself. */
static bool may_be_none(const struct thread *thread, uint64_t before)
{
	const struct retired *retired = of(thread);
	const struct arch_ops *arch = thread->inferior->arch;

	return arch->syscall_step_is_user && retired->branch.kind != BRANCH_NONE &&
	       !(retired->may_be_none && retired->pc == before) &&
	       is_after_call(thread->inferior, retired->pc);
}

void retired_note_step(struct thread *thread)
{
	struct retired *retired = of(thread);
	const uint64_t before = retired->pc;
	uint8_t code[CODE_MAX];
	ssize_t n;

	retired->runs = retired->known = false;
	if (retired->left == 0 || retired->in_call)
		return;
	if (thread_get_pc(thread, &retired->pc) < 0)
		return;
	n = breakpoints_read_memory(thread->inferior, retired->pc, code, sizeof(code));
	if (n <= 0)
		return; /* the step is a fault */
	retired->branch = thread->inferior->arch->branch(code, (size_t)n);
	retired->may_be_none = may_be_none(thread, before);
	retired->known = true;
}

void retired_note_run(struct thread *thread)
{
	of(thread)->lost |= retired_is_on(thread);
	of(thread)->runs = of(thread)->known = of(thread)->in_call = false;
}

void retired_note_cut_off(struct thread *thread)
{
	of(thread)->known = of(thread)->in_call = false;
}

static bool is_counted(const struct retired *retired, uint64_t pc)
{
	const struct insn_branch *branch = &retired->branch;

	if (retired->may_be_none && pc == retired->pc)
		return false;
	switch (retired->event) {
	case RETIRED_BRANCHES:
		return branch->kind != BRANCH_NONE;
	case RETIRED_CONDITIONAL:
		return branch->kind == BRANCH_CONDITIONAL;
	case RETIRED_TAKEN:
		return branch->kind == BRANCH_ALWAYS ||
		       (branch->kind == BRANCH_CONDITIONAL &&
			pc != retired->pc + branch->len);
	default:
		/* Else it repeats, and is not done. */
		return branch->kind != BRANCH_NONE || pc != retired->pc;
	}
}

static void count(struct retired *retired, const struct thread *thread)
{
	uint64_t pc;

	if (retired->known && thread_get_pc(thread, &pc) == 0 &&
	    is_counted(retired, pc))
		retired->left--;
	retired->known = retired->in_call = false;
}

void retired_note_call(struct thread *thread, bool returns)
{
	count(of(thread), thread);
	of(thread)->in_call = !returns;
}

/* ---- how far it is ---- */

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void tell(const struct run *run, const struct thread *thread, int64_t now)
{
	const struct retired *retired = of(thread);
	const struct output *output = control_output(run, thread->inferior);
	const uint64_t done = retired->wanted - retired->left;
	const uint64_t ms = (uint64_t)(now - retired->begin);
	_cleanup_buffer_ struct buffer text = {0};

	buffer_printf(&text, "%ju of %ju %s, %ju a second", (uintmax_t)done,
		      (uintmax_t)retired->wanted, retired_event_name(retired->event),
		      (uintmax_t)(done * 1000 / ms));
	if (done > 0)
		buffer_printf(&text, ", %.0f s left",
			      (double)ms / 1000 * (double)retired->left / (double)done);
	buffer_append_string(&text, "\n");
	output->print(output->data, buffer_string(&text), text.len);
}

void retired_look_at_clock(const struct run *run, const struct thread *thread)
{
	struct retired *retired = of(thread);
	const int64_t now = now_ms();

	if (retired->begin == 0)
		retired->begin = retired->told = now;
	if (now - retired->told < TOLD_EVERY)
		return;
	retired->told = now;
	tell(run, thread, now);
}

bool retired_steps_on(const struct run *run, struct thread *thread)
{
	struct retired *retired = of(thread);

	count(retired, thread);
	if (retired->steps++ % STEPS_TO_A_LOOK == 0)
		retired_look_at_clock(run, thread);
	if (retired->limit > 0 && --retired->limit == 0)
		return false;
	return retired->left > 0;
}
