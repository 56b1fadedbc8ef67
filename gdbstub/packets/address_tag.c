/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/packets/address_tag.h"

#include "gdbstub/inferior/proc.h"

/* Nobody is asked about an address that has no bits there, or is the kernel's own (the
 * upper half), whose bits all count. The mask changes while the process runs. */
uint64_t address_untag(const struct inferior *inferior, uint64_t addr)
{
	const struct address_tags *tags = inferior->arch->address_tags;
	uint64_t mask;

	if (!tags || addr >> tags->lowest_bit == 0 || addr >> 63)
		return addr;
	mask = proc_status_bits(inferior->pid, tags->line);
	return mask == 0 ? addr : addr & mask;
}
