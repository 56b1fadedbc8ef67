/* SPDX-License-Identifier: BSD-2-Clause */
/* Binary data in packets, and how much of it fits into one. */
#ifndef TRUEHIT_RSP_BINARY_H
#define TRUEHIT_RSP_BINARY_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Has @c a meaning of its own in a packet, so that it is escaped and takes two bytes
 * ("Debugging with GDB", Remote Protocol, Overview)?
 */
static inline bool binary_is_special(char c)
{
	return c == '#' || c == '$' || c == '*' || c == '}';
}

/** The number of bytes at the start of @data that take at most @room bytes in a packet.
 */
size_t binary_fit(const void *data, size_t len, size_t room);

#endif
