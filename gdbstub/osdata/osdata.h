/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What gdb's `info os` shows of this machine: processes, threads, open files, sockets
 * and so on, as the server may see them in /proc (proc(5)).
 *
 * Source of the form: "Debugging with GDB", "Operating System Auxiliary Information"
 * and qXfer:osdata:read. The tables and their columns are those of gdbserver.
 */
#ifndef TRUEHIT_OSDATA_OSDATA_H
#define TRUEHIT_OSDATA_OSDATA_H

#include "gdbstub/base/buffer.h"

/**
 * Appends the table @type ("processes", "sockets", ...) as an XML document; "" and
 * "types" are the table of tables. What cannot be read is left out. False: there
 * is no such table, and nothing is appended. A table that is longer than 16 MiB, or
 * takes longer than ten seconds, is cut off, and a warning says so. @client: as
 * patience_begin (gdbstub/base/patience.h).
 */
bool osdata_xml(const char *type, int client, struct buffer *out);

#endif
