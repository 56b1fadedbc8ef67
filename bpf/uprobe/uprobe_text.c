/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What memory shows of the kernel's traps. They are wherever the file is mapped: there
 * may be such mappings that have no location, as a file can be mapped twice, and as gdb
 * leaves locations behind in libraries that are gone.
 */
#include "bpf/uprobe/uprobe_text.h"

#include <errno.h>
#include <string.h>

#include "bpf/uprobe/uprobe.h"
#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/text/text.h"
#include "gdbstub/text/trap.h"
#include "gdbstub/text/traps.h"

int uprobe_note_insn(struct uprobe_placement *placement,
		     const struct location *location)
{
	const unsigned int len = placement->undo.len;

	return breakpoints_read_memory(location->inferior, location->addr,
				       placement->insn, len) == (ssize_t)len
		       ? 0
		       : -EFAULT;
}

bool uprobe_is_insn(const struct uprobe_placement *placement)
{
	const struct location *location = placement->base.location;
	const unsigned int len = placement->undo.len;
	uint8_t insn[INSN_LEN_MAX];

	return breakpoints_read_memory(location->inferior, location->addr, insn, len) ==
		       (ssize_t)len &&
	       memcmp(insn, placement->insn, len) == 0;
}

static bool is_in_file(const struct uprobe_placement *placement,
		       const struct file_id *file)
{
	const struct file_id *own = &placement->target.file;

	return placement->closing.fd >= 0 && file_id_equal(own, file);
}

/* A library may have gone, and another come. Code that was copied there is not gone. */
bool uprobe_has_vanished(const struct uprobe_placement *placement)
{
	const struct location *location = placement->base.location;
	struct uprobe_text text;

	return !trap_is_code(location) &&
	       !(uprobe_text_find(location->inferior, location->addr, &text) &&
		 is_in_file(placement, &text.file) &&
		 text.offset + (location->addr - text.start) ==
			 placement->target.offset);
}

/* A trap in the file itself is nothing that can be probed: each is the kernel's. */
static void show(const struct uprobe_placement *placement,
		 const struct uprobe_text *text, uint64_t addr, uint8_t *data,
		 size_t len)
{
	const struct arch_ops *arch = placement->state->arch;
	const uint64_t at =
		text->start + (placement->target.offset - text->offset) - addr;

	if (is_in_file(placement, &text->file) && len >= arch->breakpoint_len &&
	    at <= len - arch->breakpoint_len && addr + at < text->end &&
	    memcmp(data + at, arch->breakpoint_insn, arch->breakpoint_len) == 0)
		memcpy(data + at, placement->insn, arch->breakpoint_len);
}

void uprobe_show_originals(struct engine *engine, const struct inferior *inferior,
			   uint64_t addr, uint8_t *data, size_t len)
{
	const struct uprobe *state = engine->state;
	const struct uprobe_placement *placement;
	const uint64_t end = addr + len;
	struct uprobe_text text;

	if (TAILQ_EMPTY(&state->open))
		return;
	for (uint64_t at = addr; at < end && uprobe_text_find(inferior, at, &text);
	     at = text.end) {
		TAILQ_FOREACH (placement, &state->open, link)
			show(placement, &text, addr, data, len);
	}
}
