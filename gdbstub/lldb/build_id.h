/* SPDX-License-Identifier: BSD-2-Clause */
/* The build ID of an ELF file: what tells it from all others (ld's --build-id). */
#ifndef TRUEHIT_LLDB_BUILD_ID_H
#define TRUEHIT_LLDB_BUILD_ID_H

#include <stdint.h>
#include <sys/types.h>

enum { BUILD_ID_MAX = 64 };

/**
 * Reads it from a regular file, which may be made to harm its reader: nothing is
 * mapped, and little is read. How many bytes it has, at most BUILD_ID_MAX; 0: there is
 * none. Negative: it is no ELF file of 64 bits.
 */
int build_id_read(int fd, uint8_t id[BUILD_ID_MAX]);

#endif
