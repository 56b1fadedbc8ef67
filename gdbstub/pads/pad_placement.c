/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/pads/pad_placement.h"

#include <string.h>

/* A placement at work. */
struct placing {
	struct pad_space *space;
	struct decoder *decoder;
	const struct arch_ops *arch;
	const struct pad_text *text;
	const struct native_code *filter;
	const struct pad_next *next; /* or NULL */
	struct pad *pad;
};

enum { NEXT_TRIES = 2000 }; /* places for the next instruction's hop, at most */

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
	struct pad_place place = {.form = form, .next = p->next};

	if (!pad_space_find(p->space, PADS, form->lowest, form->highest, longest(p),
			    &place.addr))
		return nowhere;
	place.entry = place.addr;
	return make(p, &place);
}

static bool find_near_hop(const struct placing *p, uint64_t entry, uint64_t *addr)
{
	struct pad_text text = *p->text;

	pad_text_keep_near(&text, p->arch, entry);
	if (p->next)
		pad_text_keep_near(&text, p->arch, p->next->entry);
	return pad_space_find(p->space, PADS, text.lowest, text.highest, longest(p),
			      addr);
}

/* The jump leads to a hop. */
static const char *place_hop(const struct placing *p, const struct jump_form *form)
{
	const unsigned int len = p->arch->displaced->jump_len;
	struct pad_place place = {.form = form, .next = p->next};
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

/* By a jump whose end is what @text has after the instruction. */
static const char *place(const struct placing *p, const struct pad_text *text)
{
	struct jump_form forms[JUMP_FORMS_MAX];
	const unsigned int count = pad_forms(p->arch, text, forms);
	const char *why = nowhere, *first;

	for (unsigned int i = 0; i < count && why; i++)
		if (is_wide(p, &forms[i]))
			why = place_pad(p, &forms[i]);
	first = why;
	for (unsigned int i = 0; i < count && why; i++)
		why = place_hop(p, &forms[i]);
	return why && first != nowhere ? first : why;
}

/* The end of the jump is that of the next instruction to a hop there. */
static const char *place_before(struct placing *p, const struct jump_form *form,
				struct pad_next *next)
{
	struct pad_text text = *p->text;
	const char *why;

	next->jump_len = p->arch->displaced->jump_encode(form, next->insn, next->entry,
							 next->jump);
	if (text.insn_len + next->jump_len > JUMP_LEN_MAX)
		return nowhere;
	memcpy(text.planted + text.insn_len, next->jump, next->jump_len);
	if (pad_space_take(p->space, next->entry, p->arch->displaced->jump_len) < 0)
		return "out of memory";
	why = place(p, &text);
	if (why)
		pad_space_give_back(p->space, next->entry);
	return why;
}

static const char *place_by_form(struct placing *p, const struct jump_form *form,
				 struct pad_next *next)
{
	const unsigned int len = p->arch->displaced->jump_len;
	const char *why = nowhere;

	for (unsigned int i = 0; i < NEXT_TRIES && why == nowhere; i++)
		if (pad_space_try(p->space, form->lowest, form->highest, len, i,
				  &next->entry))
			why = place_before(p, form, next);
	return why;
}

/* The next instruction gets a jump, too. */
static const char *place_with_next(struct placing *p, struct pad_text *text)
{
	struct jump_form forms[JUMP_FORMS_MAX];
	struct pad_text following;
	struct pad_next next = {0};
	unsigned int count;
	const char *why = nowhere;

	if (pad_text_next(p->decoder, p->arch, text, &following))
		return nowhere;
	next.insn = following.addr;
	next.insn_len = following.insn_len;
	p->next = &next;
	count = pad_forms(p->arch, &following, forms);
	for (unsigned int i = 0; i < count && why == nowhere; i++)
		why = place_by_form(p, &forms[i], &next);
	return why;
}

const char *pad_placement_make(struct pad_space *space, struct decoder *decoder,
			       const struct arch_ops *arch, struct pad_text *text,
			       const struct native_code *filter, struct pad *ret)
{
	struct placing p = {.space = space,
			    .decoder = decoder,
			    .arch = arch,
			    .text = text,
			    .filter = filter,
			    .pad = ret};
	const char *why = pad_text_check(decoder, arch, text);

	if (!why)
		why = place(&p, text);
	if (why == nowhere)
		why = place_with_next(&p, text);
	if (why)
		*ret = (struct pad){0};
	return why;
}

void pad_placement_undo(struct pad_space *space, const struct pad *pad)
{
	if (pad->hop_len > 0)
		pad_space_give_back(space, pad->entry);
	if (pad->next.hop_len > 0)
		pad_space_give_back(space, pad->next.entry);
	pad_space_give_back(space, pad->addr);
}
