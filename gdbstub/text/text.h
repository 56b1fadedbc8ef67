/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory as the client sees it: planted traps are not there. */
#ifndef TRUEHIT_TEXT_TEXT_H
#define TRUEHIT_TEXT_TEXT_H

#include <stdint.h>
#include <sys/types.h>

#include "gdbstub/locations/location.h"

/** Puts the program's own bytes into @data, read from memory at @addr. */
void traps_show_originals(const struct inferior *inferior, uint64_t addr, uint8_t *data,
			  size_t len);
/** Puts the traps that are planted there into @data, which has the program's own bytes.
 */
void traps_show_planted(const struct inferior *inferior, uint64_t addr, uint8_t *data,
			size_t len);
/**
 * Writes @data to memory at @addr; traps in there stay, the bytes under them
 * change. 0 or a negative errno (then nothing has changed).
 */
int traps_write_under(struct inferior *inferior, uint64_t addr, const void *data,
		      size_t len);

/** As inferior_read, but planted traps are not seen. */
ssize_t breakpoints_read_memory(struct inferior *inferior, uint64_t addr, void *data,
				size_t len);

#endif
