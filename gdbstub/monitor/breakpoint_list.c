/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/monitor/breakpoint_list.h"

#include "gdbstub/locations/numbers.h"

void breakpoint_list_init(struct breakpoint_list *list, struct inferiors *inferiors,
			  bool all)
{
	const struct inferior *inferior;

	TAILQ_FOREACH (inferior, &inferiors->list, link)
		if (inferior->breakpoints)
			numbers_give(inferior->breakpoints);
	breakpoint_list_init_known(list, inferiors, all);
}

void breakpoint_list_init_known(struct breakpoint_list *list,
				struct inferiors *inferiors, bool all)
{
	const struct inferior *first = TAILQ_FIRST(&inferiors->list);

	*list = (struct breakpoint_list){
		.inferiors = inferiors,
		.all = all,
		.several = first && TAILQ_NEXT(first, link),
	};
}

/* The first one of this process and those after it. */
static struct location *first_from(const struct inferior *inferior)
{
	for (; inferior; inferior = TAILQ_NEXT(inferior, link))
		if (inferior->breakpoints &&
		    !TAILQ_EMPTY(&inferior->breakpoints->locations))
			return TAILQ_FIRST(&inferior->breakpoints->locations);
	return NULL;
}

static struct location *next_of(const struct location *location)
{
	struct location *next = TAILQ_NEXT(location, link);

	return next ? next : first_from(TAILQ_NEXT(location->inferior, link));
}

struct location *breakpoint_list_next(const struct breakpoint_list *list,
				      const struct location *after)
{
	struct location *location =
		after ? next_of(after)
		      : first_from(TAILQ_FIRST(&list->inferiors->list));

	while (location && (location->shown_number == 0 ||
			    (!list->all && location_is_gdbs(location))))
		location = next_of(location);
	return location;
}

void breakpoint_list_name(const struct breakpoint_list *list,
			  const struct location *location, struct buffer *out)
{
	buffer_printf(out, "%s %d", breakpoint_type_name(location->type),
		      location->shown_number);
	if (list->several)
		buffer_printf(out, " of process %d", (int)location->inferior->pid);
}
