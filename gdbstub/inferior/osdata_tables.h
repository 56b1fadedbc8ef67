/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of `info os` that are text files in /proc, a line each row. */
#ifndef TRUEHIT_INFERIOR_OSDATA_TABLES_H
#define TRUEHIT_INFERIOR_OSDATA_TABLES_H

#include "base/buffer.h"

/* Each appends its rows; none where the file cannot be read. */
void osdata_modules(struct buffer *out);
void osdata_queues(struct buffer *out);
void osdata_semaphores(struct buffer *out);
void osdata_shared_memory(struct buffer *out);
void osdata_sockets(struct buffer *out);
void osdata_cpus(struct buffer *out);

#endif
