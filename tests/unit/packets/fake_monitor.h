/* SPDX-License-Identifier: BSD-2-Clause */
/* Whom monitor commands call, and a client that types them. */
#ifndef TRUEHIT_TESTS_FAKE_MONITOR_H
#define TRUEHIT_TESTS_FAKE_MONITOR_H

#include <criterion/criterion.h>
#include <string.h>

#include "gdbstub/client/client.h"
#include "gdbstub/breakpoints/breakpoints.h"

/** What they work on, and have done. */
extern struct fake_monitor {
	struct run run;
	struct client client;
	struct inferior inferior; /* the only one */
	struct breakpoints breakpoints;
	struct buffer console; /* what the client was shown besides the reply */
	unsigned int resets, named;
	size_t table_size; /* bytes more of `breakpoints` */
	bool paused;
} fake;

void fake_begin(void);
void fake_end(void);
/** The reply to a line: "OK", "E01" or hex digits, which become text. */
void fake_type(const char *line, struct buffer *text);

#define assert_text(line, expected)                                                    \
	do {                                                                           \
		fake_type(line, &text);                                                \
		cr_assert_str_eq(buffer_string(&text), expected);                      \
		cr_assert_eq(fake.console.len, 0);                                     \
	} while (0)

#define assert_failure(line, expected)                                                 \
	do {                                                                           \
		fake_type(line, &text);                                                \
		cr_assert_str_eq(buffer_string(&text), "E01");                         \
		cr_assert(strncmp(buffer_string(&fake.console), expected,              \
				  strlen(expected)) == 0,                              \
			  "%s", buffer_string(&fake.console));                         \
	} while (0)

#endif
