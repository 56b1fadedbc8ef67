/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/locations/handed_conditions.h"

#include <errno.h>
#include <stdlib.h>

struct handed {
	enum breakpoint_type type;
	uint64_t addr;
	unsigned int len;
	struct agent_list conditions;
	TAILQ_ENTRY(handed) link;
};

static void drop(struct handed_list *list, struct handed *handed)
{
	TAILQ_REMOVE(list, handed, link);
	agent_list_clear(&handed->conditions);
	free(handed);
}

/* NULL: there is none; *count, which may be NULL, is then how many there are. */
static struct handed *find(const struct handed_list *list, enum breakpoint_type type,
			   uint64_t addr, unsigned int len, unsigned int *count)
{
	struct handed *handed;
	unsigned int n = 0;

	TAILQ_FOREACH (handed, list, link) {
		if (handed->type == type && handed->addr == addr &&
		    (handed->len == len || type <= BREAKPOINT_HARDWARE))
			return handed;
		n++;
	}
	if (count)
		*count = n;
	return NULL;
}

/* NULL: out of memory. */
static struct handed *add(struct handed_list *list, enum breakpoint_type type,
			  uint64_t addr, unsigned int len)
{
	struct handed *handed = calloc(1, sizeof(*handed));

	if (!handed)
		return NULL;
	handed->type = type;
	handed->addr = addr;
	handed->len = len;
	TAILQ_INSERT_TAIL(list, handed, link);
	return handed;
}

int handed_set(struct handed_list *list, enum breakpoint_type type, uint64_t addr,
	       unsigned int len, const struct agent_list *conditions)
{
	unsigned int count;
	struct handed *handed = find(list, type, addr, len, &count);

	if (conditions->count == 0) {
		if (handed)
			drop(list, handed);
		return 0;
	}
	if (!handed && count == HANDED_MAX)
		return -ENOSPC;
	if (!handed)
		handed = add(list, type, addr, len);
	if (handed && agent_list_set(&handed->conditions, conditions) == 0)
		return 0;
	if (handed)
		drop(list, handed);
	return -ENOMEM;
}

const struct agent_list *handed_find(const struct handed_list *list,
				     enum breakpoint_type type, uint64_t addr,
				     unsigned int len)
{
	static const struct agent_list none;
	const struct handed *handed = find(list, type, addr, len, NULL);

	return handed ? &handed->conditions : &none;
}

int handed_copy(struct handed_list *list, const struct handed_list *from)
{
	const struct handed *handed;
	int err = 0;

	TAILQ_FOREACH (handed, from, link) {
		if (err == 0 && handed->type > BREAKPOINT_HARDWARE)
			err = handed_set(list, handed->type, handed->addr, handed->len,
					 &handed->conditions);
	}
	return err;
}

void handed_clear(struct handed_list *list)
{
	struct handed *handed;

	while ((handed = TAILQ_FIRST(list)))
		drop(list, handed);
}
