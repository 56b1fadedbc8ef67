/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pads. In the place of an instruction is a jump to its pad, or to a hop, which is one
 * more jump: where a hop is, a pad is often too long to be. The pad is:
 *
 *   a filter                 if there is one (filter.h)
 *   a nop                    where a trap may be, before anything is done
 *   the instruction's copy
 *   copies of what follows   as far as the jump has taken bytes of it for its own
 *   a jump back
 *
 * No byte of what follows the instruction changes (arch/displaced.h), so any thread may
 * be at any instruction of the text but this one, or come to it from anywhere. The
 * copies of what follows only spare threads the way back into bytes that the processor
 * has just decoded as the end of a jump.
 *
 * Where such a jump can lead nowhere, the next instruction has one, too, to a hop that
 * leads to its copy in the pad, or some next ones. These jumps' bytes, which are the
 * end of the first one, are then ours to choose. The same holds for the instructions
 * after them.
 *
 * Until the copy is executed, nothing but the PC has changed, and each state in between
 * has one outside that it stands for: so a thread that is stopped in a pad can be put
 * where it would be without one, by its PC alone (pad_find_state).
 */
#ifndef TRUEHIT_PADS_PAD_H
#define TRUEHIT_PADS_PAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/displaced.h"
#include "arch/native.h"
#include "gdbstub/text/decoder.h"

enum {
	PAD_BODY_MAX = 128, /* bytes, without a filter */
	PAD_MAX = PAD_BODY_MAX + NATIVE_MAX,
	PAD_STATES_MAX = 24,
	PAD_NEXT_MAX = 3,
};

enum { PAD_TEXT_MAX = 2 * JUMP_LEN_MAX + INSN_LEN_MAX };

/** The text that a pad is made for. */
struct pad_text {
	uint64_t addr;		       /* of the instruction, where it begins */
	uint8_t bytes[PAD_TEXT_MAX];   /* without traps and jumps */
	uint8_t planted[PAD_TEXT_MAX]; /* with those of others, for the jump's end */
	size_t len;		       /* bytes that are known */
	size_t until;	       /* what is copied: the bytes before the next location */
	unsigned int insn_len; /* the instruction's */
	bool leaves;	       /* the instruction after it is not the next one */
	uint64_t lowest, highest; /* where a pad for it can be */
};

/** One of the next instructions, if it has a jump, too. */
struct pad_next {
	uint64_t insn;
	unsigned int insn_len;
	uint8_t jump[JUMP_LEN_MAX]; /* in its place and after it */
	unsigned int jump_len;
	uint64_t entry;		   /* where that leads: */
	uint8_t hop[JUMP_LEN_MAX]; /* a jump to its copy */
	unsigned int hop_len;
	unsigned int copy; /* where in .code that is */
};

/** Where a pad is to be. */
struct pad_place {
	const struct jump_form *form; /* of the jump in the text, */
	uint64_t entry;		      /* and where that leads: to the pad, or its hop */
	uint64_t addr;		      /* the pad's */
	/* So many next instructions have jumps: all but .hop and .copy is set. */
	const struct pad_next *next;
	unsigned int nnext;
};

struct pad {
	uint64_t entry; /* where its jump leads: .addr, or where the hop is */
	uint8_t hop[JUMP_LEN_MAX];  /* a jump to .addr, */
	unsigned int hop_len;	    /* 0: there is none */
	uint64_t addr;		    /* of its first instruction */
	uint64_t insn;		    /* of the instruction that it stands in for, */
	unsigned int insn_len;	    /* whose bytes are so many */
	uint8_t jump[JUMP_LEN_MAX]; /* what the text has there, and after it */
	unsigned int jump_len;
	unsigned int planted; /* so many bytes of it are others than the text's own: the
			       * instruction's, at most, or those of next ones, too */
	struct pad_next next[PAD_NEXT_MAX]; /* their jumps are the end of .jump */
	unsigned int nnext;
	uint8_t code[PAD_MAX];
	unsigned int len;
	unsigned int trap; /* where in .code the nop is, after the filter, */
	unsigned int body; /* and where the instruction's copy begins */
	struct displaced_state
		state[PAD_STATES_MAX]; /* of its instructions, in order */
	unsigned int nstates;
	bool pushes_return; /* displaced.pushes_return */
};

/** No other location is in these bytes, at most PAD_TEXT_MAX of them, at @addr. */
void pad_text_init(struct pad_text *text, uint64_t addr, const uint8_t *bytes,
		   size_t len);
/** Decodes the instruction: sets what @text has after .len. Returns why it can have no
 * pad, for people ("it ..."); NULL: it can. */
const char *pad_text_check(struct decoder *decoder, const struct arch_ops *arch,
			   struct pad_text *text);
/** The pad is to be within reach of that address, too. */
void pad_text_keep_near(struct pad_text *text, const struct arch_ops *arch,
			uint64_t reference);
/** The forms of its jump that lead to where its pad can be: how many. Those with the
 * widest choice come first. */
unsigned int pad_forms(const struct arch_ops *arch, const struct pad_text *text,
		       struct jump_form forms[JUMP_FORMS_MAX]);
/** The instruction after it, of what is known. Returns why it can be in no pad, or
 * NULL. */
const char *pad_text_next(struct decoder *decoder, const struct arch_ops *arch,
			  const struct pad_text *text, struct pad_text *ret);
/** Makes the pad at that place; @filter: or NULL. Returns why not, or NULL. */
const char *pad_make(struct decoder *decoder, const struct arch_ops *arch,
		     const struct pad_text *text, const struct pad_place *place,
		     const struct native_code *filter, struct pad *ret);

/** What a thread with this PC is at; in the hop and the filter, it is at the nop yet to
 * come. NULL: none of the pad's instructions is there. */
const struct displaced_state *pad_find_state(const struct pad *pad, uint64_t pc);

#endif
