/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who else sees what the instruction at a uprobe stores: what is undone, and done
 * again, must be nobody else's business. Below the stack pointer it is not.
 */
#include "bpf/uprobe/uprobe_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "arch/register_table.h"
#include "bpf/uprobe/uprobe.h"
#include "gdbstub/inferior/registers.h"

static bool is_seen(const struct insn_store *store)
{
	return store->len > 0 && !store->below_stack;
}

/* Those that share the memory. For a vfork child, a thread of its parent waits. */
static unsigned int count_threads(const struct inferior *inferior)
{
	const struct inferior *other;
	unsigned int count = 0;

	FOREACH_SHARING (other, inferior) {
		const struct thread *thread;

		FOREACH_THREAD (thread, other)
			count++;
		if (other->vfork_parent && count > 0)
			count--;
	}
	return count;
}

bool uprobe_has_witnesses(const struct uprobe_placement *placement,
			  const struct inferior *inferior)
{
	return is_seen(&placement->undo.store) && count_threads(inferior) != 1;
}

static bool find_stack(const struct thread *thread, uint64_t *addr)
{
	const struct arch_ops *arch = thread->inferior->arch;
	struct regs regs;

	regs_init(&regs, arch);
	return regs_fetch(thread, &regs, reg_by_number(arch, arch->sp_reg)->regset) ==
		       0 &&
	       reg_read_u64(&regs, arch->sp_reg, addr) == 0;
}

/* Where it stores, as far as that is known beforehand: a frame is where the stack is.
 */
static bool find_place(const struct location *location, const struct insn_store *store,
		       uint64_t *addr)
{
	const struct inferior *inferior = location->inferior;
	const struct thread *thread = TAILQ_FIRST(&inferior->threads);
	uint64_t base = 0;

	if (store->base == inferior->arch->pc_reg)
		base = location->addr;
	else if (store->base != REG_NONE)
		return thread && find_stack(thread, addr);
	*addr = base + (uint64_t)store->displacement;
	return true;
}

bool uprobe_stores_to_shared(const struct uprobe_placement *placement,
			     const struct location *location)
{
	const struct insn_store *store = &placement->undo.store;
	uint64_t addr;

	return is_seen(store) && find_place(location, store, &addr) &&
	       (uprobe_memory_is_shared(location->inferior, addr) ||
		uprobe_memory_is_shared(location->inferior, addr + store->len - 1));
}

/* Documentation/admin-guide/mm/pagemap.rst: bit 61 is set for pages of files and of
 * shared memory. What has just been written privately is the process's own page. */
static bool is_shared_page(int fd, uint64_t addr)
{
	const uint64_t shared = UINT64_C(1) << 61;
	const uint64_t page = addr / (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t entry = 0;

	return pread(fd, &entry, sizeof(entry), (off_t)(page * sizeof(entry))) ==
		       (ssize_t)sizeof(entry) &&
	       entry & shared;
}

bool uprobe_has_stored_to_shared(const struct uprobe_placement *placement,
				 const struct inferior *inferior, uint64_t addr,
				 unsigned int len)
{
	_cleanup_close_ int fd = -1;
	char path[32];

	if (!is_seen(&placement->undo.store) || len == 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/pagemap", inferior->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 &&
	       (is_shared_page(fd, addr) || is_shared_page(fd, addr + len - 1));
}
