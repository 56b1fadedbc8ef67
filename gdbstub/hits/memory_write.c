/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/hits/memory_write.h"

#include <string.h>

#include "gdbstub/locations/index.h"
#include "gdbstub/breakpoints/install.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/text/old_traps.h"
#include "gdbstub/hits/replay.h"
#include "gdbstub/text/text.h"
#include "gdbstub/text/trap.h"
#include "gdbstub/breakpoints/watch.h"

/* The kernel executes what the file has, and a pad what was there: not what is about to
 * be written. */
static bool is_overwritten(const struct location *location, uint64_t addr, size_t len)
{
	return location->trap &&
	       (location->engine->ops->kernel_traps || trap_is_jump(location)) &&
	       addr < location->addr + INSN_LEN_MAX && location->addr < addr + len;
}

/* Were there some? */
static bool take_out_overwritten(struct inferior *inferior, uint64_t addr, size_t len)
{
	struct location *location;
	struct index_walk walk;
	bool any = false;

	if (len == 0)
		return false;
	for (location = index_begin_near(&walk, inferior->breakpoints, addr, len,
					 INSN_LEN_MAX);
	     location; location = index_next(&walk)) {
		if (!is_overwritten(location, addr, len))
			continue;
		location_take_out(location, false);
		any = true;
	}
	return any;
}

/* Where a probe is still being closed, the kernel would take a trap that the client
 * writes for its own, and put the file's instruction in its place. */
static void settle_for_trap(const struct inferior *inferior, const void *data,
			    size_t len)
{
	const struct arch_ops *arch = inferior->arch;

	if (memmem(data, len, arch->breakpoint_insn, arch->breakpoint_len))
		engines_settle(inferior->breakpoints->engines);
}

int breakpoints_write_memory(struct inferior *inferior, uint64_t addr, const void *data,
			     size_t len)
{
	bool any;
	int err;

	watch_wrote(inferior, addr, len);
	if (!inferior->breakpoints)
		return traps_write_under(inferior, addr, data, len);
	replay_end(inferior);
	any = take_out_overwritten(inferior, addr, len);
	old_traps_forget(inferior->breakpoints, addr, len);
	settle_for_trap(inferior, data, len);
	err = traps_write_under(inferior, addr, data, len);
	if (any)
		locations_put_in_again(inferior->breakpoints);
	return err;
}
