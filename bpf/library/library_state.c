/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "arch/register_table.h"
#include "bpf/library/library.h"
#include "gdbstub/inferior/task_registers.h"

/* All are in the PC's regset. */
static int fetch(const struct arch_ops *arch, pid_t tid, struct regs *regs)
{
	regs_init(regs, arch);
	return task_regs_fetch(tid, regs, reg_by_number(arch, arch->pc_reg)->regset);
}

int truehit_save(struct truehit *truehit, pid_t tid, struct truehit_match *ret)
{
	const size_t size = ret->size < sizeof(*ret) ? ret->size : sizeof(*ret);
	struct truehit_match match = {.size = ret->size};
	struct regs regs;
	int err = fetch(truehit->arch, tid, &regs);

	for (unsigned int i = 0; i <= truehit->arch->pc_reg && err == 0; i++) {
		match.registers |= UINT64_C(1) << i;
		err = reg_read_u64(&regs, i, &match.value[i]);
	}
	if (err == 0)
		memcpy(ret, &match, size);
	return err;
}

int truehit_register(const struct truehit *truehit, const char *name)
{
	for (unsigned int i = 0; i <= truehit->arch->pc_reg; i++)
		if (strcmp(reg_by_number(truehit->arch, i)->name, name) == 0)
			return (int)i;
	return -ENOENT;
}
