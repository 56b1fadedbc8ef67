/* SPDX-License-Identifier: BSD-2-Clause */
/* The locations that a monitor command shows: those of all processes. */
#ifndef TRUEHIT_MONITOR_BREAKPOINT_LIST_H
#define TRUEHIT_MONITOR_BREAKPOINT_LIST_H

#include "gdbstub/breakpoints/breakpoints.h"

struct breakpoint_list {
	struct inferiors *inferiors;
	bool all;     /* gdb's own, too */
	bool several; /* there are several processes */
};

/** The locations have numbers then. */
void breakpoint_list_init(struct breakpoint_list *list, struct inferiors *inferiors,
			  bool all);
/** The same of those that have numbers already: what a program tells is not read. */
void breakpoint_list_init_known(struct breakpoint_list *list,
				struct inferiors *inferiors, bool all);
/** The first one; @after: the next one. NULL: there is none. */
struct location *breakpoint_list_next(const struct breakpoint_list *list,
				      const struct location *after);

/** All that is shown, in turn. */
#define FOREACH_SHOWN(location, list)                                                  \
	for ((location) = breakpoint_list_next((list), NULL); (location);              \
	     (location) = breakpoint_list_next((list), (location)))

/** Appends "hbreak 2", and the process if there are several. */
void breakpoint_list_name(const struct breakpoint_list *list,
			  const struct location *location, struct buffer *out);

#endif
