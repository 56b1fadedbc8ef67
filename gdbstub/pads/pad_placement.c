/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/pads/pad_placement.h"

/* A placement at work. */
struct placing {
	struct pad_space *space;
	struct decoder *decoder;
	const struct arch_ops *arch;
	const struct pad_text *text;
	const struct native_code *filter;
	struct pad *pad;
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
	struct pad_place place = {.form = form};

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
	return pad_space_find(p->space, PADS, text.lowest, text.highest, longest(p),
			      addr);
}

/* The jump leads to a hop. */
static const char *place_hop(const struct placing *p, const struct jump_form *form)
{
	const unsigned int len = p->arch->displaced->jump_len;
	struct pad_place place = {.form = form};
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

const char *pad_placement_make(struct pad_space *space, struct decoder *decoder,
			       const struct arch_ops *arch, struct pad_text *text,
			       const struct native_code *filter, struct pad *ret)
{
	const struct placing p = {.space = space,
				  .decoder = decoder,
				  .arch = arch,
				  .text = text,
				  .filter = filter,
				  .pad = ret};
	const char *why = pad_text_check(decoder, arch, text), *first;
	struct jump_form forms[JUMP_FORMS_MAX];
	const unsigned int count = why ? 0 : pad_forms(arch, text, forms);

	if (why)
		return why;
	why = nowhere;
	for (unsigned int i = 0; i < count && why; i++)
		if (is_wide(&p, &forms[i]))
			why = place_pad(&p, &forms[i]);
	first = why;
	for (unsigned int i = 0; i < count && why; i++)
		why = place_hop(&p, &forms[i]);
	if (!why)
		return NULL;
	*ret = (struct pad){0};
	return first == nowhere ? why : first;
}

void pad_placement_undo(struct pad_space *space, const struct pad *pad)
{
	if (pad->hop_len > 0)
		pad_space_give_back(space, pad->entry);
	pad_space_give_back(space, pad->addr);
}
