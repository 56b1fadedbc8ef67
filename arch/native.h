/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Native code that decides a condition in the program itself, as far as it depends on
 * the processor. The code leaves the program as it was, but for memory below what its
 * stack pointer protects, and a counter; struct native_state says how to make of a
 * thread that is stopped in it one that has not begun it.
 */
#ifndef TRUEHIT_ARCH_NATIVE_H
#define TRUEHIT_ARCH_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct regs; /* arch/arch.h */

enum {
	NATIVE_MAX = 1536, /* bytes of code */
	NATIVE_LABELS_MAX = 128,
	NATIVE_FIXUPS_MAX = 192,
	NATIVE_STATES_MAX = 32,
	NATIVE_CHECKS_MAX = 24,
	NATIVE_SAVED_MAX = 17,
	NATIVE_UNBOUND = UINT16_MAX,
	NATIVE_GAPS = 3,
};

/** What code reads: memory that the program shares with the server. */
struct native_shared {
	/* Bytes from .start up to .end are not what memory shows, unless they are in a
	 * gap: to read one decides nothing. */
	uint64_t start, end;
	struct {
		uint64_t start, end;
	} gaps[NATIVE_GAPS];
	/* The server's thread, in these bits (FUTEX_TID_MASK): zeros when it has ended.
	 */
	uint32_t server, reserved;
};

/** From .offset on, up to where the next state begins. */
struct native_state {
	uint16_t offset;  /* in the code, bytes */
	uint16_t lowered; /* so much lower is the stack pointer */
	uint8_t saved;	  /* so many registers are saved, 8 bytes each, below what the
			   * program's stack pointer protects */
	bool changed;	  /* these are not the program's */
	bool counted;	  /* the hit has been counted as a false one */
	uint8_t counted_if_zero; /* ... or is, if the register of this number is zero,
				  * from 1 up; 0: there is none */
};

struct native_operand {
	enum { NATIVE_SLOT, NATIVE_CONSTANT, NATIVE_REGISTER } kind;
	uint64_t value; /* the slot, the constant, or the register's number */
};

enum native_compare {
	NATIVE_EQ,
	NATIVE_NE,
	NATIVE_LT_SIGNED,
	NATIVE_LE_SIGNED,
	NATIVE_GT_SIGNED,
	NATIVE_GE_SIGNED,
	NATIVE_LT_UNSIGNED,
	NATIVE_LE_UNSIGNED,
	NATIVE_GT_UNSIGNED,
	NATIVE_GE_UNSIGNED,
};

enum native_arith {
	NATIVE_ADD,
	NATIVE_SUB,
	NATIVE_MUL,
	NATIVE_DIV_SIGNED,
	NATIVE_DIV_UNSIGNED,
	NATIVE_REM_SIGNED,
	NATIVE_REM_UNSIGNED,
	NATIVE_LSH,
	NATIVE_RSH_SIGNED,
	NATIVE_RSH_UNSIGNED,
	NATIVE_AND,
	NATIVE_OR,
	NATIVE_XOR,
};

/** Where a reference to a label is. */
struct native_fixup {
	uint16_t at;
	uint16_t label;
	uint8_t len; /* bytes */
};

/** Labels: what is not false, and then those of the code's own. */
enum { NATIVE_NOT_FALSE, NATIVE_LABELS };

/** Code at work. Zeros are a beginning, but for .pc, .shared and .counter. */
struct native_code {
	uint64_t pc;	   /* what the program's PC is to be read as */
	uint64_t shared;   /* where the program has a struct native_shared */
	uint64_t counter;  /* ... and 8 bytes, in which false hits are counted */
	bool reads;	   /* it reads memory, which may fault */
	bool needs_server; /* it leads to the trap only while the server lives */
	uint32_t used;	   /* registers that the code needs: the processor's own */

	uint8_t bytes[NATIVE_MAX];
	unsigned int len;
	bool failed; /* it is too long */
	unsigned int nlabels;
	uint16_t label[NATIVE_LABELS_MAX]; /* where it is, or NATIVE_UNBOUND */
	struct native_fixup fixup[NATIVE_FIXUPS_MAX];
	unsigned int nfixups;
	struct native_state state[NATIVE_STATES_MAX];
	unsigned int nstates;
	uint16_t check[NATIVE_CHECKS_MAX]; /* labels of native_check_shadow() */
	unsigned int nchecks;
};

/**
 * What a processor tells of it. Code is made twice: the first time finds out .used,
 * which the second begins with. Slots keep 8 bytes each. A division by zero leads to
 * NATIVE_NOT_FALSE.
 */
struct native_ops {
	unsigned int slots;
	unsigned int protected; /* bytes below the stack pointer that are the program's
				 */

	/** Can this processor execute such code? */
	bool (*usable)(void);
	/** The bits of a register as the code reads it; 0: it cannot. */
	unsigned int (*register_bits)(unsigned int number);

	void (*begin)(struct native_code *code);
	void (*move)(struct native_code *code, unsigned int slot,
		     struct native_operand a);
	void (*arith)(struct native_code *code, enum native_arith op, unsigned int slot,
		      struct native_operand a, struct native_operand b);
	/** slot = the low @bits of a, 0 to 63. */
	void (*extend)(struct native_code *code, bool is_signed, unsigned int bits,
		       unsigned int slot, struct native_operand a);
	void (*set)(struct native_code *code, enum native_compare compare,
		    unsigned int slot, struct native_operand a,
		    struct native_operand b);
	/** slot = @size bytes of memory at a, which may fault. */
	void (*load)(struct native_code *code, unsigned int size, unsigned int slot,
		     struct native_operand a);
	void (*branch)(struct native_code *code, enum native_compare compare,
		       struct native_operand a, struct native_operand b,
		       unsigned int label);
	void (*jump)(struct native_code *code, unsigned int label);
	/** Compares the address of the first, or the last, byte that is to be read with
	 * the word at @offset of struct native_shared, */
	void (*compare_shared)(struct native_code *code, bool last, size_t offset);
	/** and this is what the comparison leads to. */
	void (*branch_on)(struct native_code *code, enum native_compare compare,
			  unsigned int label);
	/** To NATIVE_NOT_FALSE, unless 8 bytes so far from the thread pointer are
	 * zeros.
	 */
	void (*check_thread_word)(struct native_code *code, int32_t offset);
	/** Here, a false hit is counted and goes on @skip bytes after the code's end;
	 * what is not false, at that. */
	void (*end)(struct native_code *code, unsigned int skip);
	/** The @len bytes at @at refer to what is so many bytes after their beginning.
	 */
	void (*refer)(uint8_t *at, unsigned int len, int32_t distance);
	/** A reference of 4 bytes becomes one of a byte: by so many bytes its
	 * instruction ends earlier. 0: it reaches no such distance. NULL: all are 4
	 * bytes. */
	unsigned int (*shorten)(uint8_t *at, int32_t distance);
	/**
	 * Makes of the registers of a thread in that state those that it began with,
	 * all but the PC. @saved: what it has saved, 8 bytes each, the last first.
	 */
	int (*restore)(struct regs *regs, const struct native_state *state,
		       uint32_t used, const uint64_t *saved);
};

/** The label is here. */
void native_bind(struct native_code *code, unsigned int label);
/** Appends so many bytes. */
void native_append(struct native_code *code, const void *bytes, unsigned int len);
/** 4 bytes that are to refer to the label: native_link() sets them. */
void native_refer(struct native_code *code, unsigned int label);
/** What follows has this state; .offset is set. */
void native_begin_state(struct native_code *code, struct native_state state);
/** Labels for so many places: the first one's number. */
unsigned int native_new_labels(struct native_code *code, unsigned int count);
/** All labels are bound: sets what refers to them, in as few bytes as it can. */
void native_link(struct native_code *code, const struct native_ops *ops);
/** What is saved first; the other registers that the code uses follow, in the order of
 * their numbers in instructions. */
enum { NATIVE_SAVED_SCRATCH, NATIVE_SAVED_FLAGS, NATIVE_SAVED_OTHERS };
/** How many are saved before that register: 0 is the scratch one. For one that there is
 * not: how many in all. */
unsigned int native_saved_before(uint32_t used, unsigned int reg);
/**
 * What is to be read is what memory shows, or it is not for this code to decide. The
 * addresses of its first byte and of its last are where compare_shared() has them. What
 * is after all text, as data mostly is, runs through; the rest of all checks is where
 * native_check_rest() puts it, in the same state, out of the way.
 */
void native_check_shadow(struct native_code *code, const struct native_ops *ops);
void native_check_rest(struct native_code *code, const struct native_ops *ops);
/**
 * As native_ops.restore, but for the flags. @encoded: the numbers in instructions of
 * the registers that have gdb's numbers from 0 up to @count; NULL: the same.
 */
int native_restore(struct regs *regs, const struct native_state *state, uint32_t used,
		   const uint64_t *saved, unsigned int count, const uint8_t *encoded);
/** The state of who is at that offset of the code. */
const struct native_state *native_find_state(const struct native_code *code,
					     uint64_t offset);

#endif
