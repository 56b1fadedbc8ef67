/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The debug registers of one thread over ptrace (Intel SDM volume 3, "Debug
 * Registers"; kernel arch/x86/kernel/ptrace.c, traps.c). Region i is in slot i.
 *
 * What a hit looks like (seen on Linux 6.18):
 *   execution: SIGTRAP, TRAP_HWBKPT, si_addr and PC are the address; nothing is
 *       executed. The kernel sets RF in eflags, so that the thread gets past it.
 *   data: SIGTRAP, TRAP_HWBKPT, si_addr and PC are the *next* instruction: only
 *       DR6 tells which address was accessed.
 *   single step whose instruction accesses watched data: one SIGTRAP with
 *       TRAP_TRACE; DR6 has both BS and the slot's bit.
 *   single step from an execution address: TRAP_HWBKPT without BS first; the
 *       step that is asked for next is done. A step that ends at an execution
 *       address is a plain TRAP_TRACE; the hit comes with the next resume.
 *   system call that accesses watched data: nothing at all.
 */
#include "arch/x86_64/x86_64.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "arch/register_table.h"

enum { SLOTS = 4, DR_STATUS = 6, DR_CONTROL = 7 };

static int poke(pid_t tid, unsigned int dr, uint64_t value)
{
	size_t offset = offsetof(struct user, u_debugreg) + dr * sizeof(long);

	return ptrace(PTRACE_POKEUSER, tid, offset, value) == 0 ? 0 : -errno;
}

static int peek(pid_t tid, unsigned int dr, uint64_t *value)
{
	size_t offset = offsetof(struct user, u_debugreg) + dr * sizeof(long);
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKUSER, tid, offset, NULL);
	if (word == -1 && errno)
		return -errno;
	*value = (uint64_t)word;
	return 0;
}

/* The bits of one slot in DR7: enabled for the task, what to catch, how many
 * bytes. */
static uint64_t control_bits(const struct hw_region *region, unsigned int slot)
{
	static const uint8_t catches[] = {
		[HW_EXECUTE] = 0,
		[HW_WRITE] = 1,
		[HW_ACCESS] = 3,
	};
	static const uint8_t lengths[] = {[1] = 0, [2] = 1, [4] = 3, [8] = 2};
	uint64_t condition = catches[region->kind] | lengths[region->len] << 2;

	return UINT64_C(1) << 2 * slot | condition << (16 + 4 * slot);
}

/*
 * DR7 comes first as well as last: the kernel checks each new address against
 * the length that is still in the slot. Addresses of unused slots are left
 * alone, since the kernel reserves a slot for the life of the thread once it
 * has seen an address for it.
 */
int x86_64_debugreg_set(pid_t tid, const struct hw_region *regions, unsigned int count)
{
	uint64_t control = 0;
	int err;

	if (count > SLOTS)
		return -ENOSPC;
	err = poke(tid, DR_CONTROL, 0);
	for (unsigned int i = 0; err == 0 && i < count; i++) {
		control |= control_bits(&regions[i], i);
		err = poke(tid, i, regions[i].addr);
	}
	if (err == 0 && count > 0)
		err = poke(tid, DR_CONTROL, control);
	return err;
}

int x86_64_debugreg_hits(pid_t tid, uint64_t siginfo_addr,
			 const struct hw_region *regions, unsigned int count,
			 uint32_t *mask)
{
	uint64_t status = 0;
	int err = peek(tid, DR_STATUS, &status);

	(void)siginfo_addr;
	(void)regions;
	*mask = 0;
	if (err < 0)
		return err;
	*mask = (uint32_t)status & ((UINT32_C(1) << count) - 1);
	return *mask ? poke(tid, DR_STATUS, 0) : 0;
}

/*
 * By DR6 the kernel finds out what a debug exception is about (arch/x86/kernel/traps.c,
 * exc_debug_user, and hw_breakpoint.c, hw_breakpoint_handler): where that says nothing,
 * TRAP_BRKPT, as of an int1; where it says BS, TRAP_TRACE, as of a single step, and
 * breakpoints are passed over; where it names a slot that is free, TRAP_HWBKPT.
 */
bool x86_64_trap_is_own(int si_code, uint8_t last, const struct regs *regs)
{
	enum { INT1 = 0xf1, POPF = 0x9d, IRET = 0xcf, TRAP_FLAG = 0x100 };
	uint64_t flags;

	if (si_code == TRAP_BRKPT)
		return last == INT1;
	if (si_code != TRAP_TRACE)
		return si_code != TRAP_HWBKPT;
	return last == POPF || last == IRET ||
	       reg_read_named(regs, "eflags", &flags) < 0 || flags & TRAP_FLAG;
}
