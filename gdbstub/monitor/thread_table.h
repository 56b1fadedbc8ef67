/* SPDX-License-Identifier: BSD-2-Clause */
/* Which threads hit the locations of a list. */
#ifndef TRUEHIT_MONITOR_THREAD_TABLE_H
#define TRUEHIT_MONITOR_THREAD_TABLE_H

#include "gdbstub/base/buffer.h"
#include "gdbstub/monitor/breakpoint_list.h"

enum { THREADS_SHOWN = 10 }; /* of a location; the others are summed up, but by `all` */

/** Appends an empty line and a table of those locations that several threads have hit,
 * the busiest threads first; nothing if there is none. */
void thread_table_append(const struct breakpoint_list *list, struct buffer *out);

#endif
