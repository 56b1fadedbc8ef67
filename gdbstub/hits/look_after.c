/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/hits/look_after.h"

#include <stdlib.h>
#include <string.h>

#include "arch/register_table.h"
#include "gdbstub/base/log.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/locations/index.h"
#include "gdbstub/control/control.h"
#include "gdbstub/control/stop.h"
#include "gdbstub/breakpoints/watch.h"

struct look_hit {
	unsigned int number; /* of the location */
	enum hit_verdict verdict;
	uint64_t addr;
	size_t len; /* of what is known of it before the access */
	uint8_t before[WATCH_BYTES];
};

/* A thread's access. */
struct look {
	enum { LOOK_NONE, LOOK_WANTED, LOOK_ENDED, LOOK_SHOWN } state;
	uint64_t pc;
	struct last_regset regset; /* the one with the PC, before it */
	unsigned int count;
	struct look_hit hit[HITS_MAX];
};

static bool is_in(const struct thread *thread, int state)
{
	return thread->control->look && (int)thread->control->look->state == state;
}

/* ---- the access ---- */

bool look_is_needed(const struct hit *hit)
{
	return !hit->before && !hit->late && watch_hit_looks_after(hit->location);
}

static unsigned int pc_regset(const struct thread *thread)
{
	const struct arch_ops *arch = thread->inferior->arch;

	return reg_by_number(arch, arch->pc_reg)->regset;
}

/* A new access, unless the thread is still at the one that is noted. */
static int begin_at(const struct thread *thread, struct look *look)
{
	const struct arch_ops *arch = thread->inferior->arch;
	const unsigned int regset = pc_regset(thread);
	struct regs regs;
	uint64_t pc = 0;
	int err;

	regs_init(&regs, arch);
	err = regs_fetch(thread, &regs, regset);
	if (err == 0)
		err = reg_read_u64(&regs, arch->pc_reg, &pc);
	if (err < 0)
		return err;
	if (look->state != LOOK_WANTED || look->pc != pc)
		*look = (struct look){.state = LOOK_WANTED, .pc = pc};
	if (regs.size[regset] > sizeof(look->regset.data))
		return 0;
	look->regset.size = regs.size[regset];
	memcpy(look->regset.data, regs.data[regset], look->regset.size);
	return 0;
}

static void add_hit(struct look *look, const struct hit *hit)
{
	for (unsigned int i = 0; i < look->count; i++) {
		if (look->hit[i].number == hit->location->number)
			return;
	}
	if (look->count < HITS_MAX)
		look->hit[look->count++] =
			(struct look_hit){.number = hit->location->number,
					  .verdict = hit->verdict,
					  .addr = hit->location->addr};
}

bool look_begin(struct thread *thread, const struct hits *hits)
{
	if (!thread->control->look)
		thread->control->look = calloc(1, sizeof(*thread->control->look));
	if (!thread->control->look) {
		log_warning("out of memory: a hit of thread %d is lost", thread->tid);
		return false;
	}
	if (begin_at(thread, thread->control->look) < 0)
		return false; /* it has been killed */
	for (unsigned int i = 0; i < hits->count; i++) {
		if (look_is_needed(&hits->hit[i]))
			add_hit(thread->control->look, &hits->hit[i]);
	}
	return true;
}

bool look_is_wanted(const struct thread *thread)
{
	return is_in(thread, LOOK_WANTED);
}

static struct location *find(const struct thread *thread, const struct look_hit *hit)
{
	struct location *location =
		index_number(thread->inferior->breakpoints, hit->number);

	return location && location->wanted ? location : NULL;
}

void look_note_memory(struct thread *thread)
{
	if (!look_is_wanted(thread))
		return;
	for (unsigned int i = 0; i < thread->control->look->count; i++) {
		struct look_hit *hit = &thread->control->look->hit[i];
		const struct location *location = find(thread, hit);
		ssize_t n = 0;

		memset(hit->before, 0, sizeof(hit->before));
		if (location && location->len <= WATCH_BYTES)
			n = inferior_read(thread->inferior, hit->addr, hit->before,
					  location->len);
		hit->len = n > 0 ? (size_t)n : 0;
	}
}

void look_end(struct thread *thread, struct hits *hits)
{
	struct look *look = thread->control->look;

	if (!look_is_wanted(thread))
		return;
	look->state = LOOK_ENDED;
	for (unsigned int i = 0; i < look->count && hits->count < HITS_MAX; i++) {
		struct location *location = find(thread, &look->hit[i]);

		if (location)
			hits->hit[hits->count++] =
				(struct hit){.location = location,
					     .verdict = look->hit[i].verdict,
					     .before = look->hit[i].before};
	}
}

void look_forget(struct thread *thread)
{
	if (!thread->control->look)
		return;
	if (look_is_shown(thread))
		thread->inferior->breakpoints->shown_before = 0;
	thread->control->look->state = LOOK_NONE;
}

/* ---- telling ---- */

bool look_has_ended(const struct thread *thread)
{
	return is_in(thread, LOOK_ENDED) || look_is_shown(thread);
}

bool look_is_shown(const struct thread *thread)
{
	return is_in(thread, LOOK_SHOWN);
}

bool look_tell(struct thread *thread, struct stop *stop)
{
	struct breakpoints *breakpoints = thread->inferior->breakpoints;

	if (is_in(thread, LOOK_ENDED)) {
		thread->control->look->state = LOOK_SHOWN;
		breakpoints->shown_before = thread->tid;
		return true;
	}
	if (look_is_shown(thread)) {
		thread->control->look->state = LOOK_ENDED;
		breakpoints->shown_before = 0;
		stop->kind = STOP_SIGNAL;
		stop->looks = true;
	}
	return false;
}

/* ---- the picture ---- */

const struct last_regset *look_registers(const struct thread *thread)
{
	return look_has_ended(thread) && thread->control->look->regset.size > 0
		       ? &thread->control->look->regset
		       : NULL;
}

/* The regset that is shown otherwise, or NULL. */
static struct last_regset *shown_regset(const struct thread *thread,
					const struct regs *regs, unsigned int regset)
{
	if (!look_is_shown(thread) || regset != pc_regset(thread) ||
	    regs->size[regset] != thread->control->look->regset.size)
		return NULL;
	return &thread->control->look->regset;
}

static void show_registers(const struct thread *thread, struct regs *regs,
			   unsigned int regset)
{
	const struct last_regset *shown = shown_regset(thread, regs, regset);

	if (shown)
		memcpy(regs->data[regset], shown->data, shown->size);
}

int look_fetch(const struct thread *thread, struct regs *regs, unsigned int regset)
{
	int err = regs_fetch(thread, regs, regset);

	if (err == 0)
		show_registers(thread, regs, regset);
	return err;
}

int look_fetch_all(const struct thread *thread, struct regs *regs)
{
	int err = regs_fetch_all(thread, regs);

	if (err == 0)
		show_registers(thread, regs, pc_regset(thread));
	return err;
}

int look_store(struct thread *thread, const struct regs *regs, unsigned int regset)
{
	struct last_regset *shown = shown_regset(thread, regs, regset);
	struct regs actual;
	int err;

	if (!shown)
		return regs_store(thread, regs, regset);
	regs_init(&actual, regs->arch);
	err = regs_fetch(thread, &actual, regset);
	if (err < 0)
		return err;
	for (size_t i = 0; i < shown->size; i++) {
		if (shown->data[i] != regs->data[regset][i])
			actual.data[regset][i] = regs->data[regset][i];
		shown->data[i] = regs->data[regset][i];
	}
	return regs_store(thread, &actual, regset);
}

void look_show_memory(struct inferior *inferior, uint64_t addr, uint8_t *data,
		      size_t len)
{
	const struct thread *thread =
		inferior_thread(inferior, inferior->breakpoints->shown_before);

	if (!thread || !look_is_shown(thread))
		return;
	for (unsigned int i = 0; i < thread->control->look->count; i++) {
		const struct look_hit *hit = &thread->control->look->hit[i];

		for (size_t at = 0; at < hit->len; at++) {
			if (hit->addr + at - addr < len)
				data[hit->addr + at - addr] = hit->before[at];
		}
	}
}
