/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The breakpoint and watchpoint registers of one thread over ptrace: two
 * regsets, each with a pool of slots of its own (Arm ARM, "DBGBCR<n>_EL1" and
 * "DBGWCR<n>_EL1"; kernel arch/arm64/kernel/ptrace.c). Regions take the slots
 * of their pool in order.
 *
 * A hit stops before the instruction, data hits too, and the kernel does not
 * step over the hits of registers that ptrace set.
 */
#include "arch/aarch64/aarch64.h"

#include <asm/ptrace.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum pool { POOL_EXECUTE, POOL_WATCH, NPOOLS };

static const unsigned int nt_types[NPOOLS] = {
	[POOL_EXECUTE] = NT_ARM_HW_BREAK,
	[POOL_WATCH] = NT_ARM_HW_WATCH,
};

/* How many this processor has; filled by init. */
static unsigned int slots[NPOOLS];

static enum pool pool_of(enum hw_kind kind)
{
	return kind == HW_EXECUTE ? POOL_EXECUTE : POOL_WATCH;
}

static int get_state(pid_t tid, enum pool pool, struct user_hwdebug_state *state)
{
	struct iovec iov = {state, sizeof(*state)};

	memset(state, 0, sizeof(*state));
	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)nt_types[pool], &iov) < 0)
		return -errno;
	return 0;
}

/* ---- the number of slots ---- */

/* A child that stops itself, traced. */
static pid_t scratch_fork(void)
{
	pid_t tracer = getpid();
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == tracer && ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
		raise(SIGSTOP);
	_exit(0);
}

static int wait_for(pid_t pid, int options)
{
	siginfo_t info;

	while (waitid(P_PID, (id_t)pid, &info, options) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

/* What cannot be found out counts as no slots: other ways to stop remain. */
void aarch64_debugreg_init(void)
{
	struct user_hwdebug_state state;
	const unsigned int most = sizeof(state.dbg_regs) / sizeof(state.dbg_regs[0]);
	pid_t pid = scratch_fork();

	if (pid < 0)
		return;
	wait_for(pid, WSTOPPED | WEXITED | WNOWAIT);
	for (enum pool pool = 0; pool < NPOOLS; pool++)
		if (get_state(pid, pool, &state) == 0) {
			slots[pool] = state.dbg_info & 0xff;
			if (slots[pool] > most)
				slots[pool] = most;
		}
	kill(pid, SIGKILL);
	wait_for(pid, WEXITED);
}

unsigned int aarch64_hw_slots(enum hw_kind kind, bool *shared)
{
	*shared = false;
	return slots[pool_of(kind)];
}

/* ---- setting them ---- */

static uint32_t control_bits(const struct hw_region *region)
{
	enum { ENABLE = 1, USER = 2 << 1, TYPE_SHIFT = 3, BYTES_SHIFT = 5 };
	static const uint8_t types[] = {
		[HW_EXECUTE] = 0,
		[HW_READ] = 1,
		[HW_WRITE] = 2,
		[HW_ACCESS] = 3,
	};
	unsigned int first = region->kind == HW_EXECUTE ? 0 : region->addr % 8;
	uint32_t bytes = ((UINT32_C(1) << region->len) - 1) << first;

	return bytes << BYTES_SHIFT | (uint32_t)types[region->kind] << TYPE_SHIFT |
	       USER | ENABLE;
}

static uint64_t slot_addr(const struct hw_region *region)
{
	return region->kind == HW_EXECUTE ? region->addr : region->addr & ~UINT64_C(7);
}

/*
 * Writes only slots that are or were in use: the kernel reserves a slot for the
 * life of the thread once it has seen an address for it.
 */
static int set_pool(pid_t tid, enum pool pool, const struct hw_region *regions,
		    unsigned int count)
{
	struct user_hwdebug_state state, old;
	unsigned int used = 0;
	struct iovec iov = {&state, 0};
	int err = get_state(tid, pool, &old);

	if (err < 0)
		return err;
	memset(&state, 0, sizeof(state));
	for (unsigned int i = 0; i < count; i++) {
		if (pool_of(regions[i].kind) != pool)
			continue;
		if (used == slots[pool])
			return -ENOSPC;
		state.dbg_regs[used].addr = slot_addr(&regions[i]);
		state.dbg_regs[used++].ctrl = control_bits(&regions[i]);
	}
	for (unsigned int i = used; i < slots[pool]; i++)
		if (old.dbg_regs[i].addr || old.dbg_regs[i].ctrl)
			used = i + 1;
	if (used == 0)
		return 0;
	iov.iov_len = offsetof(struct user_hwdebug_state, dbg_regs) +
		      used * sizeof(state.dbg_regs[0]);
	if (ptrace(PTRACE_SETREGSET, tid, (void *)(uintptr_t)nt_types[pool], &iov) < 0)
		return -errno;
	return 0;
}

int aarch64_debugreg_set(pid_t tid, const struct hw_region *regions, unsigned int count)
{
	int err = set_pool(tid, POOL_EXECUTE, regions, count);

	return err < 0 ? err : set_pool(tid, POOL_WATCH, regions, count);
}

/* ---- hits ---- */

static int get_pc(pid_t tid, uint64_t *pc)
{
	struct user_pt_regs regs;
	struct iovec iov = {&regs, sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &iov) < 0)
		return -errno;
	*pc = regs.pc;
	return 0;
}

/* Bytes between an address and the bytes of a region; 0: inside. */
static uint64_t distance(const struct hw_region *region, uint64_t addr)
{
	if (addr < region->addr)
		return region->addr - addr;
	if (addr - region->addr < region->len)
		return 0;
	return addr - region->addr - region->len + 1;
}

static void nearest_watches(uint64_t addr, const struct hw_region *regions,
			    unsigned int count, uint32_t *mask)
{
	uint64_t nearest = UINT64_MAX;

	for (unsigned int i = 0; i < count; i++) {
		uint64_t away = distance(&regions[i], addr);

		if (regions[i].kind == HW_EXECUTE || away > nearest)
			continue;
		if (away < nearest)
			*mask = 0;
		nearest = away;
		*mask |= UINT32_C(1) << i;
	}
}

/*
 * si_addr is the PC, or the address of the access, which for an access of
 * several bytes need not be inside the region that caught it.
 */
int aarch64_debugreg_hits(pid_t tid, uint64_t siginfo_addr,
			  const struct hw_region *regions, unsigned int count,
			  uint32_t *mask)
{
	uint64_t pc;
	int err = get_pc(tid, &pc);

	*mask = 0;
	if (err < 0)
		return err;
	for (unsigned int i = 0; siginfo_addr == pc && i < count; i++)
		if (regions[i].kind == HW_EXECUTE && regions[i].addr == pc)
			*mask |= UINT32_C(1) << i;
	if (*mask == 0)
		nearest_watches(siginfo_addr, regions, count, mask);
	return 0;
}
