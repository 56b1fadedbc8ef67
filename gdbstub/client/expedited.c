/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/client/expedited.h"

#include <limits.h>
#include <string.h>
#include <sys/ptrace.h>

#include "arch/arch.h"
#include "arch/register_table.h"
#include "gdbstub/inferior/compat.h"
#include "gdbstub/inferior/inferior.h"
#include "gdbstub/inferior/late.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/hits/look_after.h"

static int fetch_once(const struct thread *thread, struct regs *regs,
		      unsigned int regset)
{
	return regs->size[regset] > 0 ? 0 : look_fetch(thread, regs, regset);
}

static bool read_register(const struct thread *thread, struct regs *regs,
			  const struct reg_def *reg, unsigned int row, void *value)
{
	uint64_t late;

	if (!thread->late)
		return fetch_once(thread, regs, reg->regset) == 0 &&
		       thread->inferior->arch->reg_read(regs, reg, value) == 0;
	if (thread_late_register(thread, row, &late) < 0)
		return false;
	memcpy(value, &late, sizeof(late));
	return true;
}

static void append_one(unsigned int row, const void *value, size_t size, bool as_json,
		       struct buffer *out)
{
	buffer_printf(out, as_json ? "\"%u\":\"" : "%02x:", row);
	buffer_append_hex(out, value, size);
	buffer_append_char(out, as_json ? '"' : ';');
}

/* Those that can be read. */
static void append_all(const struct thread *thread, bool as_json, struct buffer *out)
{
	const struct arch_ops *arch = thread->inferior->arch;
	const size_t before = out->len;
	struct regs regs;

	regs_init(&regs, arch);
	for (unsigned int i = 0; i < arch->nexpedited; i++) {
		const unsigned int row = arch->expedited[i];
		const struct reg_def *reg = reg_by_number(arch, row);
		unsigned char value[REG_MAX_SIZE];

		if (!reg || !read_register(thread, &regs, reg, row, value))
			continue;
		if (as_json && out->len > before)
			buffer_append_char(out, ',');
		append_one(row, value, reg_size(reg), as_json, out);
	}
}

void expedited_append(const struct thread *thread, struct buffer *out)
{
	append_all(thread, false, out);
}

void expedited_append_json(const struct thread *thread, struct buffer *out)
{
	append_all(thread, true, out);
}

uint64_t expedited_pc(const struct thread *thread)
{
	const struct arch_ops *arch = thread->inferior->arch;
	const struct reg_def *reg = reg_by_number(arch, arch->pc_reg);
	uint32_t compat = 0;
	uint64_t pc = 0;
	struct regs regs;

	if (thread->inferior->compat) {
		compat_get_pc(thread, &compat);
		return compat;
	}
	regs_init(&regs, arch);
	read_register(thread, &regs, reg, arch->pc_reg, &pc);
	return pc;
}

/*
 * What the kernel wrote into the program's struct rseq (rseq(2), which the C library
 * registers) when the thread went on to its program last. That is read in a third of
 * the time that /proc takes. -1: the program has none.
 */
static int cpu_by_rseq(const struct thread *thread)
{
	struct __ptrace_rseq_configuration rseq;
	uint32_t cpu[2]; /* cpu_id_start and cpu_id: the same, while it is in use */

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, thread->tid, (void *)sizeof(rseq),
		   &rseq) < (long)sizeof(rseq) ||
	    rseq.rseq_abi_pointer == 0 ||
	    inferior_read(thread->inferior, rseq.rseq_abi_pointer, cpu, sizeof(cpu)) !=
		    (ssize_t)sizeof(cpu))
		return -1;
	return cpu[0] == cpu[1] && cpu[1] <= INT_MAX ? (int)cpu[1] : -1;
}

int expedited_cpu(const struct thread *thread)
{
	const int cpu = cpu_by_rseq(thread);

	return cpu >= 0 ? cpu : thread_core(thread);
}
