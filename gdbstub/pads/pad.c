/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/pads/pad.h"

#include <string.h>

/* A pad at work. */
struct making {
	struct decoder *decoder;
	const struct displaced_ops *ops;
	const struct pad_text *text;
	struct pad *pad;
};

static bool decode(const struct making *m, unsigned int at)
{
	return at < m->text->len && decoder_run(m->decoder, m->text->bytes + at,
						m->text->len - at, m->text->addr + at);
}

static bool append(struct making *m, const uint8_t *code, unsigned int len,
		   const struct displaced_state *states, unsigned int count)
{
	struct pad *pad = m->pad;

	if (len > PAD_MAX - pad->len || count > PAD_STATES_MAX - pad->nstates)
		return false;
	for (unsigned int i = 0; i < count; i++) {
		pad->state[pad->nstates] = states[i];
		pad->state[pad->nstates++].offset += (uint16_t)pad->len;
	}
	memcpy(pad->code + pad->len, code, len);
	pad->len += len;
	return true;
}

static bool append_nop(struct making *m)
{
	const struct displaced_state state = {.pc = m->text->addr};

	return append(m, m->ops->nop, m->ops->nop_len, &state, 1);
}

/* A copy of what was decoded last. */
static bool append_copy(struct making *m, struct displaced *copy)
{
	m->ops->copy(m->decoder->insn, m->pad->addr + m->pad->len, copy);
	m->pad->pushes_return |= copy->pushes_return;
	return !copy->why_not &&
	       append(m, copy->code, copy->len, copy->state, copy->nstates);
}

static bool append_jump(struct making *m, uint64_t to)
{
	const struct displaced_state state = {.pc = to};
	uint8_t code[JUMP_LEN_MAX];
	const unsigned int len = m->ops->jump(m->pad->addr + m->pad->len, to, code);

	return len > 0 && append(m, code, len, &state, 1);
}

/* Wherever in the pad the reference is. */
void pad_text_keep_near(struct pad_text *text, const struct arch_ops *arch,
			uint64_t reference)
{
	const uint64_t reach = arch->displaced->reach - PAD_MAX;

	if (reference > reach && text->lowest < reference - reach)
		text->lowest = reference - reach;
	if (reference < UINT64_MAX - reach && text->highest > reference + reach)
		text->highest = reference + reach;
}

void pad_text_init(struct pad_text *text, uint64_t addr, const uint8_t *bytes,
		   size_t len)
{
	*text = (struct pad_text){.addr = addr, .len = len, .until = len};
	memcpy(text->bytes, bytes, len);
	memcpy(text->planted, bytes, len);
}

const char *pad_text_check(struct decoder *decoder, const struct arch_ops *arch,
			   struct pad_text *text)
{
	const struct making m = {
		.decoder = decoder, .text = text, .ops = arch->displaced};
	struct displaced copy;

	if (!m.ops || !decode(&m, 0))
		return "it is not known";
	text->insn_len = decoder->insn->size;
	text->lowest = 0;
	text->highest = UINT64_MAX;
	if (text->len < text->insn_len + m.ops->jump_len - 1)
		return "what follows it cannot be read";
	m.ops->copy(decoder->insn, text->addr, &copy);
	text->leaves = copy.leaves;
	pad_text_keep_near(text, arch, text->addr);
	if (copy.refers)
		pad_text_keep_near(text, arch, copy.reference);
	return copy.why_not;
}

const char *pad_text_next(struct decoder *decoder, const struct arch_ops *arch,
			  const struct pad_text *text, struct pad_text *ret)
{
	const char *why;

	if (text->leaves)
		return "nothing says that an instruction follows it";
	pad_text_init(ret, text->addr + text->insn_len, text->bytes + text->insn_len,
		      text->len - text->insn_len);
	memcpy(ret->planted, text->planted + text->insn_len, ret->len);
	ret->until = text->until - text->insn_len;
	why = pad_text_check(decoder, arch, ret);
	if (!why && ret->insn_len > ret->until)
		why = "another breakpoint is there";
	return why;
}

unsigned int pad_forms(const struct arch_ops *arch, const struct pad_text *text,
		       struct jump_form forms[JUMP_FORMS_MAX])
{
	const unsigned int all = arch->displaced->jump_forms(text->addr, text->planted,
							     text->insn_len, forms);
	unsigned int count = 0;

	for (unsigned int i = 0; i < all; i++) {
		struct jump_form form = forms[i];

		if (form.lowest < text->lowest)
			form.lowest = text->lowest;
		if (form.highest > text->highest)
			form.highest = text->highest;
		if (form.lowest <= form.highest)
			forms[count++] = form;
	}
	return count;
}

static unsigned int smaller(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* False: the pad is too far from the hop. */
static bool plant(struct making *m, const struct pad_place *place)
{
	struct pad *pad = m->pad;

	pad->jump_len =
		m->ops->jump_encode(place->form, pad->insn, pad->entry, pad->jump);
	pad->planted = smaller(pad->jump_len, pad->insn_len);
	for (unsigned int i = 0; i < place->nnext; i++) {
		const struct pad_next *next = &place->next[i];
		const unsigned int at = (unsigned int)(next->insn - pad->insn);

		pad->next[pad->nnext++] = *next;
		memcpy(pad->jump + at, next->jump, next->jump_len);
		pad->jump_len = at + next->jump_len;
		pad->planted = at + smaller(next->jump_len, next->insn_len);
	}
	if (pad->entry != pad->addr)
		pad->hop_len = m->ops->jump(pad->entry, pad->addr, pad->hop);
	return pad->entry == pad->addr || pad->hop_len > 0;
}

/* What follows the instruction, as far as the jump's bytes reach into it, and up to the
 * next location, which is to be hit. False: there is no room for the way back, or no
 * copy of a next one that has to have one. */
static bool append_following(struct making *m)
{
	unsigned int at = m->text->insn_len, next = 0;
	struct displaced copy = {0};
	while (at < m->pad->jump_len && decode(m, at) &&
	       at + m->decoder->insn->size <= m->text->until && append_copy(m, &copy)) {
		if (next < m->pad->nnext)
			m->pad->next[next++].copy = m->pad->len - copy.len;
		if (copy.leaves)
			return next == m->pad->nnext;
		at += m->decoder->insn->size;
	}
	return next == m->pad->nnext && append_jump(m, m->text->addr + at);
}

/* The hops to the copies of next instructions. */
static bool lead_to_next(struct making *m)
{
	for (unsigned int i = 0; i < m->pad->nnext; i++) {
		struct pad_next *next = &m->pad->next[i];

		next->hop_len =
			m->ops->jump(next->entry, m->pad->addr + next->copy, next->hop);
		if (next->hop_len == 0)
			return false;
	}
	return true;
}

const char *pad_make(struct decoder *decoder, const struct arch_ops *arch,
		     const struct pad_text *text, const struct pad_place *place,
		     const struct native_code *filter, struct pad *ret)
{
	struct making m = {
		.decoder = decoder, .ops = arch->displaced, .text = text, .pad = ret};
	struct displaced copy = {.why_not = "it is not known"};

	*ret = (struct pad){.entry = place->entry,
			    .addr = place->addr,
			    .insn = text->addr,
			    .insn_len = text->insn_len};
	if (!plant(&m, place))
		return "its pad is too far from the hop to it";
	if (filter && !append(&m, filter->bytes, filter->len, NULL, 0))
		return "its filter is too long";
	ret->trap = ret->len;
	if (!append_nop(&m) || !decode(&m, 0) || !append_copy(&m, &copy))
		return copy.why_not ? copy.why_not : "its copy is too long";
	ret->body = ret->trap + arch->displaced->nop_len;
	if (!copy.leaves && !append_following(&m))
		return "the way back is too far";
	return lead_to_next(&m) ? NULL : "its pad is too far from the hop to it";
}

static const struct displaced_state *state_at(const struct pad *pad, unsigned int at)
{
	for (unsigned int i = 0; i < pad->nstates; i++)
		if (pad->state[i].offset == at)
			return &pad->state[i];
	return NULL;
}

const struct displaced_state *pad_find_state(const struct pad *pad, uint64_t pc)
{
	if (pc - pad->addr < pad->trap || pc == pad->entry)
		return &pad->state[0];
	for (unsigned int i = 0; i < pad->nnext; i++)
		if (pc == pad->next[i].entry)
			return state_at(pad, pad->next[i].copy);
	return pc - pad->addr < pad->len ? state_at(pad, (unsigned int)(pc - pad->addr))
					 : NULL;
}
