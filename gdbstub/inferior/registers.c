/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/inferior/registers.h"

#include <errno.h>
#include <string.h>

#include "arch/register_table.h"
#include "gdbstub/inferior/compat.h"
#include "gdbstub/inferior/late.h"

static unsigned int pc_regset(const struct arch_ops *arch)
{
	return reg_by_number(arch, arch->pc_reg)->regset;
}

/* Keeps a regset that was fetched or stored, if it is the one to keep. What was stored
 * is not exact: the kernel leaves some bits as they are. */
static void keep_regset(const struct thread *thread, const struct regs *regs,
			unsigned int regset, bool is_exact)
{
	struct last_regset *last = thread->last_regset;

	if (!last || regset != pc_regset(regs->arch) ||
	    regs->size[regset] > sizeof(last->data))
		return;
	last->size = regs->size[regset];
	last->is_valid = is_exact;
	memcpy(last->data, regs->data[regset], last->size);
}

void regs_forget(const struct thread *thread)
{
	regs_outdate(thread);
	if (thread->last_regset)
		thread->last_regset->size = 0;
}

void regs_outdate(const struct thread *thread)
{
	if (thread->last_regset)
		thread->last_regset->is_valid = false;
}

static int recall_regset(const struct thread *thread, struct regs *regs,
			 unsigned int regset)
{
	const struct last_regset *last = thread->last_regset;

	if (!last || regset != pc_regset(regs->arch) || last->size == 0)
		return -ESRCH;
	memcpy(regs->data[regset], last->data, last->size);
	regs->size[regset] = last->size;
	return 0;
}

/* Has the regset that is kept been fetched since the thread stopped? */
static bool is_known(const struct thread *thread, bool is_kept)
{
	return is_kept && !thread->running && thread->last_regset &&
	       thread->last_regset->is_valid;
}

int regs_fetch(const struct thread *thread, struct regs *regs, unsigned int regset)
{
	int err;

	if (is_known(thread, regset == pc_regset(regs->arch)))
		return recall_regset(thread, regs, regset);
	err = task_regs_fetch(thread->tid, regs, regset);
	if (err == -ESRCH && !thread->running)
		return recall_regset(thread, regs, regset);
	if (err < 0)
		return err;
	if (regset == pc_regset(regs->arch) &&
	    regs_are_compat(regs->arch, regs->size[regset])) {
		regs->size[regset] = 0;
		return -ENODATA;
	}
	keep_regset(thread, regs, regset, true);
	return 0;
}

int regs_fetch_all(const struct thread *thread, struct regs *regs)
{
	for (unsigned int i = 0; i < regs->arch->nregsets; i++)
		if (regs_fetch(thread, regs, i) == -ESRCH)
			return -ESRCH;
	return 0;
}

int regs_store(const struct thread *thread, const struct regs *regs,
	       unsigned int regset)
{
	const int err = task_regs_store(thread->tid, regs, regset);

	if (err == 0 && !regs->arch->regsets[regset].read_only)
		keep_regset(thread, regs, regset, false);
	return err;
}

int thread_get_pc(const struct thread *thread, uint64_t *pc)
{
	const struct arch_ops *arch = thread->inferior->arch;
	struct regs regs;
	int ret;

	if (thread->late)
		return thread_late_register(thread, arch->pc_reg, pc);
	regs_init(&regs, arch);
	ret = regs_fetch(thread, &regs, pc_regset(arch));
	if (ret < 0)
		return ret;
	return reg_read_u64(&regs, arch->pc_reg, pc);
}

int thread_set_pc(const struct thread *thread, uint64_t pc)
{
	const struct arch_ops *arch = thread->inferior->arch;
	unsigned int regset = pc_regset(arch);
	struct regs regs;
	int ret;

	regs_init(&regs, arch);
	ret = regs_fetch(thread, &regs, regset);
	if (ret < 0)
		return ret;
	ret = reg_write_u64(&regs, arch->pc_reg, pc);
	if (ret == 0)
		ret = task_regs_store_pc(thread->tid, &regs, regset, pc);
	if (ret == 0)
		keep_regset(thread, &regs, regset, true); /* the kernel takes any PC */
	return ret;
}

/* 1 if they were otherwise, 0, or a negative errno. */
static int switch_bits(struct regs *regs, unsigned int number, uint64_t bits, bool on)
{
	uint64_t value, wanted;
	int r = reg_read_u64(regs, number, &value);

	wanted = on ? value | bits : value & ~bits;
	if (r < 0 || value == wanted)
		return r;
	r = reg_write_u64(regs, number, wanted);
	return r < 0 ? r : 1;
}

/* What the processor passes over the next breakpoint by. */
static int switch_passing(const struct thread *thread, bool on)
{
	const struct arch_ops *arch = thread->inferior->arch;
	unsigned int regset = pc_regset(arch);
	const struct reg_def *row;
	struct regs regs;
	bool any = false;
	int r;

	regs_init(&regs, arch);
	r = regs_fetch(thread, &regs, regset);
	for (unsigned int i = 0; r >= 0 && (row = reg_by_number(arch, i)); i++) {
		if (row->bpf_rule.set == 0 || row->regset != regset)
			continue;
		r = switch_bits(&regs, i, row->bpf_rule.set, on);
		any |= r > 0;
	}
	return r >= 0 && any ? regs_store(thread, &regs, regset) : r;
}

int thread_hit_again(const struct thread *thread)
{
	return switch_passing(thread, false);
}

int thread_hit_no_more(const struct thread *thread)
{
	return switch_passing(thread, true);
}

/* The regset that the thread pointer is in: the thread areas are there, too. */
static int fetch_thread_pointer(const struct thread *thread, struct regs *regs)
{
	const struct arch_ops *arch = thread->inferior->arch;
	const struct reg_def *reg = reg_by_name(arch, arch->thread_pointer);

	regs_init(regs, arch);
	return reg ? regs_fetch(thread, regs, reg->regset) : -ENODATA;
}

int thread_get_pointer(const struct thread *thread, uint64_t *pointer)
{
	struct regs regs;
	int ret = fetch_thread_pointer(thread, &regs);

	if (ret < 0)
		return ret;
	return reg_read_named(&regs, regs.arch->thread_pointer, pointer);
}

int thread_get_area(const struct thread *thread, int index, uint64_t *addr)
{
	struct regs regs;
	int ret = fetch_thread_pointer(thread, &regs);

	return ret < 0 ? ret : regs.arch->thread_area(&regs, index, addr);
}

bool regs_are_compat(const struct arch_ops *arch, size_t size)
{
	return size == arch->compat->regset_size;
}
