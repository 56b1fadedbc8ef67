/* SPDX-License-Identifier: BSD-2-Clause */
/* What is told of the machine and of its user: one fact, one row, for people and for
 * scripts. */
#ifndef TRUEHIT_CHECK_MACHINE_FACTS_H
#define TRUEHIT_CHECK_MACHINE_FACTS_H

#include "gdbstub/check/findings.h"

enum fact_kind { FACT_UNKNOWN, FACT_TEXT, FACT_NUMBER, FACT_BOOL, FACT_WORDS };

struct fact_value {
	enum fact_kind kind;
	struct buffer text; /* FACT_TEXT; FACT_WORDS: with a blank between two */
	long number;	    /* FACT_NUMBER, FACT_BOOL */
	const char *note;   /* for people, or NULL */
};

static inline void cleanup_fact(struct fact_value *value)
{
	buffer_deinit(&value->text);
}
#define _cleanup_fact_ _cleanup_(cleanup_fact)

enum fact_group { FACT_MACHINE, FACT_USER, FACT_GROUPS };

struct fact {
	enum fact_group group;
	const char *name;  /* for scripts: never to be changed */
	const char *title; /* for people */
	void (*tell)(const struct findings *findings, struct fact_value *ret);
};

/** All facts, those of a group together: *count of them. */
const struct fact *facts(unsigned int *count);
/** "machine", "user". */
const char *fact_group_name(enum fact_group group);

#endif
