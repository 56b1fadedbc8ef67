/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instructions that are executed elsewhere: a jump takes the place of one, and what it
 * leads to has a copy of it, which does the same as the original where it is. What the
 * copy leaves differs in nothing that the program can see but the PC, while a thread is
 * in it; struct displaced_state says what to make of such a thread.
 */
#ifndef TRUEHIT_ARCH_DISPLACED_H
#define TRUEHIT_ARCH_DISPLACED_H

#include <stdbool.h>
#include <stdint.h>

struct cs_insn; /* capstone/capstone.h */

enum {
	DISPLACED_MAX = 32,	  /* bytes of a copy */
	DISPLACED_STATES_MAX = 3, /* its instructions */
	JUMP_LEN_MAX = 16,
	JUMP_FORMS_MAX = 16,
};

/** At an instruction of a copy, before it is executed. */
struct displaced_state {
	uint16_t offset; /* of the instruction in the copy, bytes */
	uint8_t pushed;	 /* bytes that the copy has pushed, and the original has not at
			  * .pc: the stack pointer is that much too low */
	uint64_t pc;	 /* where the thread would be without the copy */
};

/** A copy of an instruction. */
struct displaced {
	const char *why_not; /* for people: "it ..."; NULL: there is a copy */
	bool refers;	     /* the copy has to be within reach of: */
	uint64_t reference;  /* ... an address, as far as a jump reaches */
	bool leaves;	     /* what follows the copy is never reached from it */
	bool pushes_return;  /* as a call does, but on no shadow stack */
	uint8_t code[DISPLACED_MAX];
	unsigned int len; /* bytes */
	struct displaced_state state[DISPLACED_STATES_MAX];
	unsigned int nstates;
};

/**
 * A jump that can take the place of an instruction so that no byte of what follows it
 * changes: these are the last bytes of the jump, if the instruction is shorter than it,
 * and fix a part of where it leads.
 */
struct jump_form {
	unsigned int prefixes;	  /* of no effect, before the jump */
	uint64_t lowest, highest; /* where it can lead: anywhere from here to there */
};

/** What a processor tells of them. */
struct displaced_ops {
	/** An instruction of one byte, or of the shortest length there is, that does
	 * nothing. */
	const uint8_t *nop;
	unsigned int nop_len;
	unsigned int jump_len;	   /* without prefixes, bytes */
	unsigned int address_bits; /* of the addresses that a program can have */
	uint64_t reach;		   /* so far from a jump to where it leads, bytes */

	/** Copies an instruction, decoded with details, to @to. */
	void (*copy)(const struct cs_insn *insn, uint64_t to, struct displaced *ret);
	/** A jump at @from to @to: its length, or 0: it is too far. */
	unsigned int (*jump)(uint64_t from, uint64_t to, uint8_t code[JUMP_LEN_MAX]);
	/** Do these bytes begin with a jump, of any form? Its length, or 0; *to: where
	 * it leads from @from. */
	unsigned int (*jump_target)(const uint8_t *code, unsigned int len,
				    uint64_t from, uint64_t *to);
	/**
	 * The forms of a jump in the place of the instruction at @addr, of @len bytes,
	 * which @text begins with, jump_len + @len - 1 bytes altogether. Those with the
	 * widest choice come first. How many there are, at most JUMP_FORMS_MAX.
	 */
	unsigned int (*jump_forms)(uint64_t addr, const uint8_t *text, unsigned int len,
				   struct jump_form forms[JUMP_FORMS_MAX]);
	/** The jump of that form, which leads to @to: its length. */
	unsigned int (*jump_encode)(const struct jump_form *form, uint64_t addr,
				    uint64_t to, uint8_t code[JUMP_LEN_MAX]);
};

#endif
