/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/monitor/note.h"

#include "gdbstub/breakpoints/share.h"
#include "gdbstub/locations/carrier.h"
#include "gdbstub/locations/ignore.h"
#include "gdbstub/text/trap_inspection.h"

static void append_reason(const struct location *location, struct buffer *out)
{
	if (location->why)
		buffer_printf(out, "is served by %s: %s", location->engine->ops->name,
			      location->why);
}

static void append_unseen(const struct location *location, struct buffer *out)
{
	const struct location *carrier = share_carrier(location);
	const struct engine *engine = carrier ? carrier->engine : location->engine;
	const char *why =
		location->type == WATCHPOINT_WRITE && location->state != LOCATION_OUT
			? engine_no_kernel_hits(engine)
			: NULL;

	if (why)
		buffer_printf(out, "has no hits by writes of system calls: %s", why);
}

void note_append(enum note_kind kind, struct location *location, struct buffer *out)
{
	switch (kind) {
	case NOTE_REASON:
		append_reason(location, out);
		break;
	case NOTE_FATE:
		location_print_fate(location, out);
		break;
	case NOTE_UNSEEN:
		append_unseen(location, out);
		break;
	case NOTE_IGNORED:
		ignore_describe(location, out);
		break;
	case NOTE_KINDS:
		break;
	}
}
