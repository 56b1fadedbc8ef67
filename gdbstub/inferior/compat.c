/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/inferior/compat.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/registers.h"

/* Types of entries are small numbers. The first entry of a vector of 32 bits has a
 * value where the upper half of a type of 64 bits would be: an address, or the
 * processor's features. */
void compat_find_out(struct inferior *inferior)
{
	struct buffer auxv _cleanup_buffer_ = {0};
	uint64_t type = 0;

	if (inferior_proc_file(inferior, "auxv", &auxv) == 0 &&
	    auxv.len >= sizeof(Elf64_auxv_t))
		memcpy(&type, auxv.data, sizeof(type));
	inferior->compat = type > UINT32_MAX;
}

/* Of x32, whose addresses have 32 bits and whose registers are ours. */
static int get_wide_pc(const struct thread *thread, uint32_t *pc)
{
	uint64_t wide;
	int r = thread_get_pc(thread, &wide);

	if (r == 0)
		*pc = (uint32_t)wide;
	return r;
}

int compat_get_pc(const struct thread *thread, uint32_t *pc)
{
	const struct arch_ops *arch = thread->inferior->arch;
	unsigned char data[1024];
	struct iovec iov = {.iov_base = data, .iov_len = sizeof(data)};

	if (ptrace(PTRACE_GETREGSET, thread->tid, (void *)NT_PRSTATUS, &iov) < 0)
		return -errno;
	if (!regs_are_compat(arch, iov.iov_len))
		return get_wide_pc(thread, pc);
	memcpy(pc, data + arch->compat->pc_offset, sizeof(*pc));
	return 0;
}

struct error *compat_refuse(const struct inferior *inferior)
{
	if (!inferior->compat)
		return NULL;
	return error_create(0,
			    "process %d runs a 32-bit program: truehit can continue, "
			    "interrupt, detach from and kill it, and nothing else",
			    (int)inferior->pid);
}
