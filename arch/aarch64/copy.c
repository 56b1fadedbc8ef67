/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies of instructions that do elsewhere what the originals do in their place (Arm
 * ARM, C4.1). Those that depend on the PC get a form of several instructions, which
 * writes no register before its last one but what the original writes.
 */
#include "arch/aarch64/aarch64.h"

#include <string.h>
#include <sys/auxv.h>

#include "arch/aarch64/insn.h"
#include "arch/capstone.h"

#ifndef HWCAP2_BTI
#define HWCAP2_BTI (1 << 17)
#endif
#ifndef HWCAP_GCS
#define HWCAP_GCS (UINT64_C(1) << 32)
#endif

/* A copy at work. */
struct copying {
	uint32_t insn;
	uint64_t addr; /* of the original, */
	uint64_t to;   /* and of the copy */
	struct displaced *ret;
};

/* ---- what has none ---- */

static const struct {
	struct insn_pattern insn;
	const char *why;
} refused[] = {
	{{0xff000000, 0xd4000000}, "it is an exception (svc, brk or the like)"},
	{{0x3b000000, 0x18000000}, "it reads a literal near it"},
	{{0xfe600000, 0xd6200000}, "it is an indirect call"}, /* blr, blraa, blrab */
	/* ldxr, stxr, ldxp, stxp, casp; not ldar, stlr, cas */
	{{0x3f800000, 0x08000000}, "it is an exclusive access"},
	{{0xffff0000, 0x00000000}, "it is undefined"},	       /* udf */
	{{0xfffff000, 0xd5233000}, "it begins a transaction"}, /* tstart */
};

/* Where an indirect branch leads to memory that is guarded, one of these has to be
 * (Arm ARM, D8.4 "Branch target identification"): bti, paciasp, pacibsp. */
static bool is_landing(uint32_t insn)
{
	return (insn & 0xffffff3f) == 0xd503241f || insn == 0xd503233f ||
	       insn == 0xd503237f;
}

static const char *why_not(uint32_t insn)
{
	for (unsigned int i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		if ((insn & refused[i].insn.mask) == refused[i].insn.value)
			return refused[i].why;
	if (is_landing(insn) && getauxval(AT_HWCAP2) & HWCAP2_BTI)
		return "indirect branches may lead to it (BTI)";
	if ((insn & INSN_B_MASK) == INSN_BL && getauxval(AT_HWCAP) & HWCAP_GCS)
		return "it may change a guarded control stack (GCS)";
	return NULL;
}

/* ---- the parts of a copy ---- */

/* @pc: where a thread that is at it would be without the copy. */
static void append(const struct copying *c, uint32_t insn, uint64_t pc)
{
	struct displaced *ret = c->ret;

	ret->state[ret->nstates++] =
		(struct displaced_state){.offset = (uint16_t)ret->len, .pc = pc};
	memcpy(ret->code + ret->len, &insn, sizeof(insn));
	ret->len += sizeof(insn);
}

static void append_data(const struct copying *c, uint64_t value)
{
	memcpy(c->ret->code + c->ret->len, &value, sizeof(value));
	c->ret->len += sizeof(value);
}

/* A jump out of the pad. Where the copy is tried out far away, any will do. */
static void append_jump(const struct copying *c, uint64_t target, uint64_t pc)
{
	append(c, insn_branch(INSN_B, (int64_t)(target - (c->to + c->ret->len))), pc);
	c->ret->refers = true;
	c->ret->reference = target;
}

/* ---- the kinds ---- */

static uint64_t target_of(const struct copying *c, unsigned int at, unsigned int len)
{
	return c->addr + (uint64_t)insn_field_signed(c->insn, at, len) * INSN_LEN;
}

static void copy_branch(const struct copying *c)
{
	append_jump(c, target_of(c, 0, 26), c->addr);
	c->ret->leaves = true;
}

/* ldr x30, 1f; b target; 1: .quad the instruction after the original */
static void copy_call(const struct copying *c)
{
	const uint64_t target = target_of(c, 0, 26);

	append(c, insn_with_distance19(0x58000000 | AARCH64_X30, 2 * INSN_LEN),
	       c->addr);
	append_jump(c, target, target);
	append_data(c, c->addr + INSN_LEN);
	c->ret->leaves = true;
	c->ret->pushes_return = true;
}

/* if so, goto 1f; goto 2f; 1: b target; 2: */
static void copy_conditional(const struct copying *c, uint32_t insn, uint64_t target)
{
	append(c, insn, c->addr);
	append(c, insn_branch(INSN_B, 2 * INSN_LEN), c->addr + INSN_LEN);
	append_jump(c, target, target);
}

static void copy_b_cond(const struct copying *c)
{
	copy_conditional(c, insn_with_distance19(c->insn, 2 * INSN_LEN),
			 target_of(c, 5, 19));
}

static void copy_tbz(const struct copying *c)
{
	copy_conditional(c, insn_with_distance14(c->insn, 2 * INSN_LEN),
			 target_of(c, 5, 14));
}

/* adr, adrp: ldr xd, 1f; b 2f; 1: .quad the address; 2: */
static void copy_adr(const struct copying *c)
{
	const int64_t distance =
		insn_field_signed(c->insn, 5, 19) * 4 | (int64_t)(c->insn >> 29 & 3);
	const bool is_page = c->insn >> 31;
	const uint64_t value =
		is_page ? (c->addr & ~UINT64_C(0xfff)) + (uint64_t)distance * 0x1000
			: c->addr + (uint64_t)distance;

	append(c, insn_with_distance19(0x58000000 | (c->insn & 31), 2 * INSN_LEN),
	       c->addr);
	append(c, insn_branch(INSN_B, 3 * INSN_LEN), c->addr + INSN_LEN);
	append_data(c, value);
}

static void copy_plain(const struct copying *c)
{
	append(c, c->insn, c->addr);
}

/* br, ret, and those that authenticate first */
static void copy_leaving(const struct copying *c)
{
	copy_plain(c);
	c->ret->leaves = true;
}

static const struct {
	struct insn_pattern insn;
	void (*copy)(const struct copying *c);
} kinds[] = {
	{{INSN_B_MASK, INSN_B}, copy_branch},	  {{INSN_B_MASK, INSN_BL}, copy_call},
	{{0xff000000, 0x54000000}, copy_b_cond},  /* bc.cond, too */
	{{0x7e000000, 0x34000000}, copy_b_cond},  /* cbz, cbnz */
	{{0x7e000000, 0x36000000}, copy_tbz},	  /* tbnz, too */
	{{0x1f000000, 0x10000000}, copy_adr},	  /* adrp, too */
	{{0xfe000000, 0xd6000000}, copy_leaving}, /* br, ret */
};

void aarch64_copy(const struct cs_insn *insn, uint64_t to, struct displaced *ret)
{
	struct copying c = {.addr = insn->address, .to = to, .ret = ret};

	memcpy(&c.insn, insn->bytes, sizeof(c.insn));
	*ret = (struct displaced){.why_not = why_not(c.insn)};
	if (ret->why_not)
		return;
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if ((c.insn & kinds[i].insn.mask) != kinds[i].insn.value)
			continue;
		kinds[i].copy(&c);
		return;
	}
	copy_plain(&c);
}
