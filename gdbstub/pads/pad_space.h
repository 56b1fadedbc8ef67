/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where pads and hops can be in a program's memory: in pages that are mapped for them,
 * each when the first of them comes. Hops can be in pages of either kind, pads in those
 * of pads only.
 *
 * They must be where the program would not notice: what it maps, and what it asks the
 * kernel for, is to be at the addresses at which it would be without pads. So they keep
 * clear of what grows: the heap after the executable (brk(2)), what is mapped without
 * an address, which the kernel places below the lowest such mapping (kernel, mm/mmap.c,
 * arch_get_unmapped_area_topdown), and the stack.
 */
#ifndef TRUEHIT_PADS_PAD_SPACE_H
#define TRUEHIT_PADS_PAD_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Addresses from .start up to, but not including, .end. */
struct pad_range {
	uint64_t start, end;
};

struct pad_ranges {
	struct pad_range *range; /* in order, none overlaps another */
	size_t count, allocated;
};

enum pad_kind { PADS, HOPS, PAD_KINDS };

struct pad_space {
	uint64_t page_size;
	uint64_t top;			    /* a program has nothing from there on */
	struct pad_ranges free;		    /* what may be mapped */
	struct pad_ranges pages[PAD_KINDS]; /* what is, one page each */
	struct pad_ranges taken;	    /* by pads and hops */
};

/** @page_size: of the kernel's, bytes; @top: where the addresses end that a program can
 * have. */
void pad_space_init(struct pad_space *space, uint64_t page_size, uint64_t top);
void pad_space_deinit(struct pad_space *space);
/**
 * The program's memory is as these lines of /proc/PID/maps say; @image is an address in
 * its executable. Pages that were mapped for pads stay known. 0 or -ENOMEM.
 */
int pad_space_look(struct pad_space *space, const char *maps, uint64_t image);
/**
 * Finds room for @len bytes, at most a page, whose address is from @lowest to @highest.
 * False: there is none.
 */
bool pad_space_find(const struct pad_space *space, enum pad_kind kind, uint64_t lowest,
		    uint64_t highest, unsigned int len, uint64_t *addr);
/** Of many addresses from @lowest to @highest that differ in all their bytes, and where
 * there is room for a hop of @len bytes: the one with this number, if it is one. Those
 * in pages that there are come first. */
bool pad_space_try(const struct pad_space *space, uint64_t lowest, uint64_t highest,
		   unsigned int len, unsigned int number, uint64_t *addr);
/** The middle of the widest range that is free, where @len bytes can be: far from all
 * that grows, and of no use for pads. False: there is none. */
bool pad_space_middle(const struct pad_space *space, uint64_t len, uint64_t *addr);
/** The pages that this room needs and that are not mapped yet: how many, at most 2. */
unsigned int pad_space_missing(const struct pad_space *space, uint64_t addr,
			       unsigned int len, uint64_t pages[2]);
/** A page was mapped. 0 or -ENOMEM. */
int pad_space_add_page(struct pad_space *space, enum pad_kind kind, uint64_t page);
/** Room that was found is a pad's or a hop's, until it is given back. 0 or -ENOMEM. */
int pad_space_take(struct pad_space *space, uint64_t addr, unsigned int len);
/** Where the pad or hop that has this address begins. False: there is none. */
bool pad_space_taken(const struct pad_space *space, uint64_t addr, uint64_t *start);
void pad_space_give_back(struct pad_space *space, uint64_t addr);

#endif
