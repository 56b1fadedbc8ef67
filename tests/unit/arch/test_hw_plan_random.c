/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random regions against a model of the processors that tries every way to cover a
 * region: each byte is watched, no other byte is, and no way takes fewer slots.
 */
#include "arch/aarch64/aarch64.h"
#include "arch/x86_64/x86_64.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "tests/unit/rng.h"

enum { SETS = 20000, REGIONS_MAX = 6, ROOM_MAX = 12, LEN_MAX = 96, PIECE_MAX = 8 };

/* What a processor allows. */
struct processor {
	const char *name;
	int (*plan)(const struct hw_region *region, struct hw_region *out,
		    unsigned int max);
	/* Can one slot watch just these bytes? */
	bool (*watches)(uint64_t addr, unsigned int len);
	bool reads_alone;      /* has it slots for reads only? */
	unsigned int insn_len; /* what a slot for execution is planned as */
	unsigned int insn_align;
};

/* 1, 2, 4 or 8 bytes that are aligned to their length. */
static bool x86_64_watches(uint64_t addr, unsigned int len)
{
	return (len == 1 || len == 2 || len == 4 || len == 8) && addr % len == 0;
}

/* 1 to 8 neighbouring bytes of one aligned doubleword. (Slots for more, a power of
 * two, are not what the kernel offers.) */
static bool aarch64_watches(uint64_t addr, unsigned int len)
{
	return len >= 1 && len <= 8 && addr / 8 == (addr + len - 1) / 8;
}

static const struct processor processors[] = {
	{"x86_64", x86_64_hw_plan, x86_64_watches, false, 1, 1},
	{"aarch64", aarch64_hw_plan, aarch64_watches, true, 4, 4},
};

/* ---- random numbers ---- */

/* Everywhere, and close to where addresses wrap around. */
static uint64_t random_addr(struct rng *rng)
{
	switch (rng_below(rng, 4)) {
	case 0:
		return rng_below(rng, 64);
	case 1:
		return 0 - (uint64_t)rng_below(rng, 2 * LEN_MAX);
	default:
		return rng_next(rng) >> rng_below(rng, 40);
	}
}

static unsigned int random_len(struct rng *rng)
{
	switch (rng_below(rng, 8)) {
	case 0:
		return 0;
	case 1:
		return UINT32_MAX - rng_below(rng, 1000);
	case 2:
		return (unsigned int)rng_next(rng);
	case 3:
		return rng_below(rng, LEN_MAX + 1);
	default:
		return rng_below(rng, 20);
	}
}

static struct hw_region random_region(struct rng *rng)
{
	static const enum hw_kind kinds[] = {HW_WRITE, HW_WRITE, HW_ACCESS, HW_READ,
					     HW_EXECUTE};

	return (struct hw_region){kinds[rng_below(rng, 5)], random_addr(rng),
				  random_len(rng)};
}

/* ---- the model ---- */

/* The fewest slots that watch these bytes and no other, over all covers, also those
 * whose pieces overlap: least[n] is that of the first n bytes. */
static int fewest_slots(const struct processor *processor, uint64_t addr,
			unsigned int len)
{
	int least[LEN_MAX + 1] = {0};

	for (unsigned int end = 1; end <= len; end++) {
		least[end] = INT32_MAX;
		for (unsigned int start = 0; start < len; start++)
			for (unsigned int past = end;
			     past <= len && past <= start + PIECE_MAX; past++)
				if (start < end &&
				    processor->watches(addr + start, past - start) &&
				    least[start] + 1 < least[end])
					least[end] = least[start] + 1;
	}
	return least[len];
}

/* What the planner has to answer. */
static int model(const struct processor *processor, const struct hw_region *region,
		 unsigned int room)
{
	int slots;

	if (region->kind == HW_READ && !processor->reads_alone)
		return -EOPNOTSUPP;
	if (region->kind == HW_EXECUTE && region->addr % processor->insn_align != 0)
		return -EINVAL;
	if (region->kind == HW_EXECUTE)
		return room > 0 ? 1 : -ENOSPC;
	if (region->len == 0 || UINT64_MAX - region->addr < region->len - 1)
		return -EINVAL;
	if (region->len > LEN_MAX)
		return -ENOSPC; /* no slot does more than PIECE_MAX bytes */
	slots = fewest_slots(processor, region->addr, region->len);
	return slots <= (int)room ? slots : -ENOSPC;
}

_Static_assert(LEN_MAX >= ROOM_MAX * PIECE_MAX, "all that fits is tried");

/* ---- the checks ---- */

static void check_pieces(const struct processor *processor,
			 const struct hw_region *region, const struct hw_region *pieces,
			 int count)
{
	bool watched[LEN_MAX] = {false};

	for (int i = 0; i < count; i++) {
		uint64_t offset = pieces[i].addr - region->addr;

		cr_assert_eq(pieces[i].kind, region->kind);
		cr_assert(processor->watches(pieces[i].addr, pieces[i].len),
			  "%s: not for one slot: %u bytes at %#lx", processor->name,
			  pieces[i].len, (unsigned long)pieces[i].addr);
		cr_assert(offset < region->len && region->len - offset >= pieces[i].len,
			  "%s: more than was asked for", processor->name);
		memset(watched + offset, true, pieces[i].len);
	}
	for (unsigned int i = 0; i < region->len; i++)
		cr_assert(watched[i], "%s: %u bytes at %#lx: byte %u is not watched",
			  processor->name, region->len, (unsigned long)region->addr, i);
}

/* Plans one region; returns the slots that it takes. */
static unsigned int check_region(const struct processor *processor,
				 const struct hw_region *region, unsigned int room)
{
	struct hw_region pieces[ROOM_MAX + 1] = {0};
	int wanted = model(processor, region, room), count;

	count = processor->plan(region, pieces, room);
	cr_assert_eq(count, wanted,
		     "%s: kind %d, %u bytes at %#lx, %u slots: %d, not %d",
		     processor->name, region->kind, region->len,
		     (unsigned long)region->addr, room, count, wanted);
	cr_assert_eq(pieces[room].len, 0, "%s: writes more than there is room for",
		     processor->name);
	if (count < 0)
		return 0;
	if (region->kind != HW_EXECUTE)
		check_pieces(processor, region, pieces, count);
	else
		cr_assert(pieces[0].kind == HW_EXECUTE &&
			  pieces[0].addr == region->addr &&
			  pieces[0].len == processor->insn_len);
	return (unsigned int)count;
}

/* Regions that take their slots from one pool, one after the other. */
Test(hw_plan_random, sets_of_regions)
{
	enum { NPROCESSORS = sizeof(processors) / sizeof(processors[0]) };
	struct rng rng = {1};
	unsigned int fitted = 0, refused = 0;

	for (unsigned int i = 0; i < SETS; i++) {
		const struct processor *processor = &processors[i % NPROCESSORS];
		unsigned int room = rng_below(&rng, ROOM_MAX + 1);
		unsigned int count = 1 + rng_below(&rng, REGIONS_MAX);

		for (unsigned int j = 0; j < count; j++) {
			struct hw_region region = random_region(&rng);
			unsigned int used = check_region(processor, &region, room);

			room -= used;
			fitted += used > 0;
			refused += used == 0;
		}
	}
	cr_assert(fitted > SETS && refused > SETS, "%u fit, %u do not", fitted,
		  refused);
}

/* All short regions at all offsets, with all room. */
Test(hw_plan_random, all_short_regions)
{
	for (unsigned int p = 0; p < sizeof(processors) / sizeof(processors[0]); p++)
		for (uint64_t addr = 0x1000; addr < 0x1010; addr++)
			for (unsigned int len = 0; len <= 40; len++)
				for (unsigned int room = 0; room <= ROOM_MAX; room++) {
					struct hw_region region = {HW_WRITE, addr, len};

					check_region(&processors[p], &region, room);
				}
}
