/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the text goes that commands of breakpoints print. */
#ifndef TRUEHIT_LOCATIONS_OUTPUT_H
#define TRUEHIT_LOCATIONS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

struct output {
	/** Takes the text of a printf: all of it, even if it is not ready. */
	void (*print)(void *data, const char *text, size_t len);
	/** False: print no more now, if that can wait. */
	bool (*ready)(void *data);
	void *data;
};

/** A descriptor, which stays the caller's: always ready, one write per printf. */
struct output output_descriptor(int fd);

#endif
