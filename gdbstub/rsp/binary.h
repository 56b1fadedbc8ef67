/* SPDX-License-Identifier: BSD-2-Clause */
/* How much binary data fits into one reply. */
#ifndef TRUEHIT_RSP_BINARY_H
#define TRUEHIT_RSP_BINARY_H

#include <stddef.h>

/**
 * The number of bytes at the start of @data that take at most @room bytes in a
 * packet: '#', '$', '*' and '}' are escaped there and take two ("Debugging with
 * GDB", Remote Protocol, Overview).
 */
size_t binary_fit(const void *data, size_t len, size_t room);

#endif
