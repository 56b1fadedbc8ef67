/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/uprobe/uprobe_site.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/uprobe/uprobe_program.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/text/trap.h"

static struct bpf_location *shared_of(const struct uprobe_placement *placement)
{
	return placement_shared(&placement->base, placement->state->placements);
}

/* ---- which are hot ---- */

/* To make a pad costs some tens of microseconds, and all threads halt for it; a hit
 * that it spares, half a microsecond and more. */
enum { HOT = 1000 };

/* Nothing is to be had of a pad, or of a second one. */
static bool is_settled(const struct uprobe_placement *placement)
{
	const struct location *location = placement->base.location;

	return placement->pad.site || location->hot || location->conditions.count == 0;
}

unsigned int uprobe_note_hot(struct engine *engine, bool *any)
{
	uint64_t hits[BPF_LOCATIONS_MAX] = {0};
	struct placement *placement;
	unsigned int cold = 0;

	tally_false_hits(engine->placements->kernel.shared, hits);
	TAILQ_FOREACH (placement, &engine->placements->list, link) {
		struct location *location = placement->location;

		if (placement->engine != engine ||
		    is_settled((struct uprobe_placement *)placement))
			continue;
		location->hot = hits[placement->index] >= HOT;
		*any |= location->hot;
		cold += !location->hot;
	}
	return cold;
}

/* ---- where ---- */

int uprobe_site_target(const struct uprobe_placement *placement,
		       struct uprobe_target *ret)
{
	const struct site *site = placement->pad.site;

	*ret = placement->target;
	ret->path = NULL;
	if (!site) {
		ret->path = strdup(placement->target.path);
	} else {
		ret->offset = site->offset;
		if (asprintf(&ret->path, "/proc/self/fd/%d", site->fd) < 0)
			ret->path = NULL;
	}
	return ret->path ? 0 : -ENOMEM;
}

static uint64_t trap_of(const struct site *site)
{
	return site->pad.addr + site->pad.trap;
}

void uprobe_site_arm(const struct uprobe_placement *placement)
{
	const struct arch_ops *arch = placement->state->arch;
	const struct location *location = placement->base.location;
	struct bpf_location *shared = shared_of(placement);

	shared->pc = location->addr;
	if (placement->pad.site)
		uprobe_arm(shared, trap_of(placement->pad.site), arch->displaced->nop,
			   arch->displaced->nop_len);
	else
		uprobe_arm(shared, location->addr, placement->insn,
			   placement->undo.len);
}

static bool is_trap_in_pad(const struct uprobe_placement *placement)
{
	const struct arch_ops *arch = placement->state->arch;
	uint8_t insn[TRAP_CODE_MAX];

	return inferior_read(placement->base.location->inferior,
			     trap_of(placement->pad.site), insn,
			     arch->breakpoint_len) == (ssize_t)arch->breakpoint_len &&
	       memcmp(insn, arch->breakpoint_insn, arch->breakpoint_len) == 0;
}

bool uprobe_site_plant(const struct uprobe_placement *placement)
{
	struct location *location = placement->base.location;

	if (!placement->pad.site)
		return trap_is_planted(location);
	return is_trap_in_pad(placement) &&
	       location_pad_plant(&placement->pad, location);
}
