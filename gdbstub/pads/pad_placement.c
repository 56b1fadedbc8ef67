/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/pads/pad_placement.h"

#include <string.h>

/* A placement at work. */
struct placing {
	struct pad_space *space;
	struct decoder *decoder;
	const struct arch_ops *arch;
	const struct native_code *filter;
	struct pad_text text[1 + PAD_NEXT_MAX]; /* of the instruction, and next ones */
	struct pad_next next[PAD_NEXT_MAX];	/* those that have jumps, too */
	unsigned int nnext;
	unsigned int tries; /* that are left */
	struct pad *pad;
};

enum {
	TRIES = 4000, /* places that are looked at for the hops of next instructions */
	TRIES_EACH = 8, /* ... of one that is not the last, for each of the last's */
};

static const char nowhere[] = "no memory that a jump there can lead to is free";

static unsigned int longest(const struct placing *p)
{
	return PAD_BODY_MAX + (p->filter ? p->filter->len : 0);
}

static const char *make(const struct placing *p, const struct pad_place *place)
{
	const char *why =
		pad_make(p->decoder, p->arch, p->text, place, p->filter, p->pad);

	if (!why && pad_space_take(p->space, place->addr, p->pad->len) < 0)
		why = "out of memory";
	return why;
}

/* The jump leads to the pad. */
static const char *place_pad(const struct placing *p, const struct jump_form *form)
{
	struct pad_place place = {.form = form, .next = p->next, .nnext = p->nnext};

	if (!pad_space_find(p->space, PADS, form->lowest, form->highest, longest(p),
			    &place.addr))
		return nowhere;
	place.entry = place.addr;
	return make(p, &place);
}

static bool find_near_hop(const struct placing *p, uint64_t entry, uint64_t *addr)
{
	struct pad_text text = p->text[0];

	pad_text_keep_near(&text, p->arch, entry);
	for (unsigned int i = 0; i < p->nnext; i++)
		pad_text_keep_near(&text, p->arch, p->next[i].entry);
	return pad_space_find(p->space, PADS, text.lowest, text.highest, longest(p),
			      addr);
}

/* The jump leads to a hop. */
static const char *place_hop(const struct placing *p, const struct jump_form *form)
{
	const unsigned int len = p->arch->displaced->jump_len;
	struct pad_place place = {.form = form, .next = p->next, .nnext = p->nnext};
	const char *why;

	if (!pad_space_find(p->space, HOPS, form->lowest, form->highest, len,
			    &place.entry))
		return nowhere;
	if (pad_space_take(p->space, place.entry, len) < 0)
		return "out of memory";
	why = find_near_hop(p, place.entry, &place.addr) ? make(p, &place) : nowhere;
	if (why)
		pad_space_give_back(p->space, place.entry);
	return why;
}

/* Pads are not in each other's way where a jump has the choice of more than a page. */
static bool is_wide(const struct placing *p, const struct jump_form *form)
{
	return form->highest - form->lowest >= p->space->page_size;
}

/* By a jump whose end is what the text has after the instruction. */
static const char *place(const struct placing *p)
{
	struct jump_form forms[JUMP_FORMS_MAX];
	const unsigned int count = pad_forms(p->arch, p->text, forms);
	const char *why = nowhere, *first;

	for (unsigned int i = 0; i < count && why; i++)
		if (is_wide(p, &forms[i]))
			why = place_pad(p, &forms[i]);
	first = why;
	for (unsigned int i = 0; i < count && why; i++)
		why = place_hop(p, &forms[i]);
	return why && first != nowhere ? first : why;
}

static const char *place_from(struct placing *p, unsigned int level);

/* Those before the next instruction of this number have these bytes after them. */
static void show(struct placing *p, unsigned int level, const uint8_t *bytes)
{
	const struct pad_next *next = &p->next[level - 1];

	for (unsigned int i = 0; i < level; i++)
		memcpy(p->text[i].planted + (next->insn - p->text[i].addr), bytes,
		       next->jump_len);
}

/* The jump of a next instruction leads to its .entry. */
static const char *place_before(struct placing *p, const struct jump_form *form,
				unsigned int level)
{
	const struct displaced_ops *ops = p->arch->displaced;
	struct pad_next *next = &p->next[level - 1];
	const char *why;

	next->jump_len = ops->jump_encode(form, next->insn, next->entry, next->jump);
	if (next->insn - p->text[0].addr + next->jump_len > JUMP_LEN_MAX)
		return nowhere;
	if (pad_space_take(p->space, next->entry, ops->jump_len) < 0)
		return "out of memory";
	show(p, level, next->jump);
	why = place_from(p, level - 1);
	if (!why)
		return NULL;
	show(p, level, p->text[level].planted);
	pad_space_give_back(p->space, next->entry);
	return why;
}

static const char *place_by_form(struct placing *p, const struct jump_form *form,
				 unsigned int level)
{
	const unsigned int len = p->arch->displaced->jump_len;
	unsigned int left = level == p->nnext ? TRIES : TRIES_EACH;
	uint64_t *entry = &p->next[level - 1].entry;
	const char *why = nowhere;

	if (!pad_space_find(p->space, HOPS, form->lowest, form->highest, len, entry))
		return nowhere;
	for (unsigned int i = 0; i <= form->highest - form->lowest && p->tries > 0 &&
				 left > 0 && why == nowhere;
	     i++) {
		p->tries--;
		if (!pad_space_try(p->space, form->lowest, form->highest, len, i,
				   entry))
			continue;
		left--;
		why = place_before(p, form, level);
	}
	return why;
}

/* The last next instruction comes first: its jump is the end of those before it. */
static const char *place_from(struct placing *p, unsigned int level)
{
	struct jump_form forms[JUMP_FORMS_MAX];
	unsigned int count;
	const char *why = nowhere;

	if (level == 0)
		return place(p);
	count = pad_forms(p->arch, &p->text[level], forms);
	for (unsigned int i = 0; i < count && why == nowhere && p->tries > 0; i++)
		why = place_by_form(p, &forms[i], level);
	return why;
}

/* One more next instruction has a jump; its copy is in the same pad. False: it cannot,
 * or the jump before does not end in it. */
static bool add_next(struct placing *p)
{
	struct pad_text *text = &p->text[p->nnext + 1];

	if (p->nnext == PAD_NEXT_MAX ||
	    text[-1].insn_len >= p->arch->displaced->jump_len ||
	    pad_text_next(p->decoder, p->arch, text - 1, text))
		return false;
	p->next[p->nnext++] =
		(struct pad_next){.insn = text->addr, .insn_len = text->insn_len};
	if (p->text[0].lowest < text->lowest)
		p->text[0].lowest = text->lowest;
	if (p->text[0].highest > text->highest)
		p->text[0].highest = text->highest;
	return true;
}

const char *pad_placement_make(struct pad_space *space, struct decoder *decoder,
			       const struct arch_ops *arch, const struct pad_text *text,
			       const struct native_code *filter, unsigned int next,
			       struct pad *ret)
{
	struct placing p = {.space = space,
			    .decoder = decoder,
			    .arch = arch,
			    .filter = filter,
			    .text = {*text},
			    .pad = ret};
	const char *why = pad_text_check(decoder, arch, p.text);

	if (why)
		return why;
	why = nowhere;
	do {
		p.tries = TRIES;
		if (p.nnext >= next)
			why = place_from(&p, p.nnext);
	} while (why == nowhere && add_next(&p));
	if (why)
		*ret = (struct pad){0};
	return why;
}

void pad_placement_undo(struct pad_space *space, const struct pad *pad)
{
	if (pad->hop_len > 0)
		pad_space_give_back(space, pad->entry);
	for (unsigned int i = 0; i < pad->nnext; i++)
		pad_space_give_back(space, pad->next[i].entry);
	pad_space_give_back(space, pad->addr);
}
