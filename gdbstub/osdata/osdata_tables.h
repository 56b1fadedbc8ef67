/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of `info os` that are text files in /proc, a line each row. */
#ifndef TRUEHIT_OSDATA_OSDATA_TABLES_H
#define TRUEHIT_OSDATA_OSDATA_TABLES_H

#include "gdbstub/osdata/osdata_item.h"

/* Each appends its rows; none where the file cannot be read. */
void osdata_modules(struct osdata_table *table);
void osdata_queues(struct osdata_table *table);
void osdata_semaphores(struct osdata_table *table);
void osdata_shared_memory(struct osdata_table *table);
void osdata_sockets(struct osdata_table *table);
void osdata_cpus(struct osdata_table *table);

#endif
