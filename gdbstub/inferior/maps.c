/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/inferior/maps.h"

#include <stdlib.h>

#include "gdbstub/inferior/inferior.h"
#include "gdbstub/inferior/proc.h"

struct maps {
	struct buffer text; /* the lines */
	uint64_t number;    /* maps_number() when they were read; 0: never */
};

struct maps *maps_create(void)
{
	return calloc(1, sizeof(struct maps));
}

void maps_destroy(struct maps *maps)
{
	if (maps)
		buffer_deinit(&maps->text);
	free(maps);
}

void maps_outdate(struct inferiors *inferiors)
{
	inferiors->maps_outdated++;
}

/* A late thread is in a system call, which may map memory. */
static bool any_runs(const struct inferior *inferior)
{
	const struct inferior *other;
	const struct thread *thread;

	FOREACH_SHARING (other, inferior)
		FOREACH_THREAD (thread, other)
			if (thread->running || thread->late)
				return true;
	return false;
}

uint64_t maps_number(const struct inferior *inferior)
{
	return any_runs(inferior) ? 0 : inferior->owner->maps_outdated + 1;
}

int maps_read(const struct inferior *inferior, struct buffer *own, const char **text)
{
	struct maps *maps = inferior->maps;
	const uint64_t number = maps_number(inferior);
	int err;

	*text = "";
	if (maps && number > 0 && maps->number == number) {
		*text = buffer_string(&maps->text);
		return 0;
	}
	err = inferior_proc_file(inferior, "maps", own);
	if (err < 0)
		return err;
	if (!maps || number == 0) {
		*text = buffer_string(own);
		return 0;
	}
	buffer_deinit(&maps->text);
	maps->text = *own;
	maps->number = number;
	*own = (struct buffer){0};
	*text = buffer_string(&maps->text);
	return 0;
}
