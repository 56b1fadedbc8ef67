/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/rsp/binary.h"

#include "gdbstub/rsp/eight_bytes.h"

size_t binary_fit(const void *data, size_t len, size_t room)
{
	const char *bytes = data;
	size_t count = 0;

	while (count < len) {
		const size_t taken = binary_is_special(bytes[count]) ? 2 : 1;

		if (room >= EIGHT_BYTES && len - count >= EIGHT_BYTES &&
		    !eight_any_special(eight_load(bytes + count))) {
			room -= EIGHT_BYTES;
			count += EIGHT_BYTES;
			continue;
		}
		if (taken > room)
			break;
		room -= taken;
		count++;
	}
	return count;
}
