/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/inferior/task_registers.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "arch/register_table.h"

void regs_init(struct regs *regs, const struct arch_ops *arch)
{
	regs->arch = arch;
	memset(regs->size, 0, sizeof(regs->size));
	memset(regs->by_other, 0, sizeof(regs->by_other));
}

static int regset_call(enum __ptrace_request request, pid_t tid, unsigned int nt_type,
		       struct iovec *iov)
{
	if (ptrace(request, tid, (void *)(uintptr_t)nt_type, iov) == 0)
		return 0;
	/* The kernel says EINVAL for an unknown regset, ENODEV for an absent one. */
	return errno == EINVAL || errno == ENODEV ? -ENODATA : -errno;
}

/* Of one type: 0 with its size, or a negative errno without. */
static int fetch_type(pid_t tid, struct regs *regs, unsigned int regset,
		      unsigned int nt_type)
{
	struct iovec iov = {.iov_base = regs->data[regset], .iov_len = REGSET_MAX_SIZE};
	const int err = nt_type == 0
				? -ENODATA
				: regset_call(PTRACE_GETREGSET, tid, nt_type, &iov);

	regs->size[regset] = err == 0 ? iov.iov_len : 0;
	return err;
}

int task_regs_fetch(pid_t tid, struct regs *regs, unsigned int regset)
{
	const struct regset_def *def = &regs->arch->regsets[regset];
	const int err = fetch_type(tid, regs, regset, def->nt_type);

	regs->by_other[regset] = err == 0 && def->other_type &&
				 def->is_empty(regs->data[regset], regs->size[regset]);
	return regs->by_other[regset] ? fetch_type(tid, regs, regset, def->other_type)
				      : err;
}

int task_regs_store(pid_t tid, const struct regs *regs, unsigned int regset)
{
	const struct regset_def *def = &regs->arch->regsets[regset];
	struct iovec iov = {.iov_base = (void *)regs->data[regset],
			    .iov_len = regs->size[regset]};

	if (iov.iov_len == 0)
		return -ENODATA;
	if (def->read_only)
		return 0;
	return regset_call(PTRACE_SETREGSET, tid,
			   regs->by_other[regset] ? def->other_type : def->nt_type,
			   &iov);
}

int task_regs_store_pc(pid_t tid, const struct regs *regs, unsigned int regset,
		       uint64_t pc)
{
	const unsigned int offset = regs->arch->pc_in_user;

	if (offset == 0)
		return task_regs_store(tid, regs, regset);
	return ptrace(PTRACE_POKEUSER, tid, (void *)(uintptr_t)offset, pc) < 0 ? -errno
									       : 0;
}
