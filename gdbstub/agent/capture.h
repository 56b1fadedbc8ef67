/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What commands print, told by two: a program at the hit stores the arguments of their
 * printfs in a record, and the stub makes the text of it later. Here is the record's
 * layout, which both go by, and the making of the text.
 * Pure code.
 *
 * A record has, for each printf in the order of the code: 8 bytes that say whether it
 * was reached (0 or 1), and its arguments. A value takes 8 bytes. A string takes 8
 * bytes for its length with its NUL, 0 for that of a null pointer, and the room for
 * its bytes.
 */
#ifndef TRUEHIT_AGENT_CAPTURE_H
#define TRUEHIT_AGENT_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "gdbstub/agent/list.h"
#include "gdbstub/base/error.h"

enum {
	/* Room for a string, with its NUL. One that fills it may be longer, as far as a
	 * program can tell. */
	CAPTURE_STRING_MAX = 256,
	CAPTURE_SIZE_MAX = 4096, /* of a record */
};

struct capture_argument {
	uint32_t offset; /* in the record, as all offsets here */
	uint32_t room;	 /* of a string, with its NUL; 0: it is a value */
	/* A string that fills the room is cut off there as its format wants it; else
	 * it may be longer. */
	bool cut;
};

struct capture_printf {
	size_t command; /* index in the list */
	size_t insn;	/* index in that expression */
	const char *format;
	uint32_t offset;
	struct capture_argument *arguments;
	size_t count;
};

/** {0} is the layout of no commands. The commands must outlive it. */
struct capture {
	struct capture_printf *printfs;
	size_t count;
	uint32_t text; /* bytes that the formats bring along, about */
	uint32_t size; /* of the record: not much smaller than its text, so that a ring
			* of records bounds that */
};

/**
 * Makes the layout. An error with no errno says what about the commands cannot be
 * captured. The caller frees the result by capture_deinit.
 */
struct error *capture_init(struct capture *capture, const struct agent_list *commands);
void capture_deinit(struct capture *capture);

/** A printf that can be reached; the indexes are those of struct capture_printf. */
const struct capture_printf *capture_find(const struct capture *capture, size_t command,
					  size_t insn);

/**
 * Prints what the commands would have printed, one printf at a time: 0, or -ENOMEM.
 * @record has capture->size bytes.
 */
int capture_render(const struct capture *capture, const void *record,
		   void (*print)(void *data, const char *text, size_t len), void *data);

#endif
