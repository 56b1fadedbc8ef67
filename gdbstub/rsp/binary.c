/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/rsp/binary.h"

#include <string.h>

size_t binary_fit(const void *data, size_t len, size_t room)
{
	static const char escaped[] = {'#', '$', '*', '}'};
	const char *bytes = data;
	size_t count = 0;

	while (count < len) {
		size_t taken = memchr(escaped, bytes[count], sizeof(escaped)) ? 2 : 1;

		if (taken > room)
			break;
		room -= taken;
		count++;
	}
	return count;
}
