/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The intermediate representation: an agent expression as straight code over
 * numbered slots. What emits machine code (or BPF) starts from here.
 *
 * The code leaves by jumps to the labels IR_FALSE, IR_TRUE and IR_MAYBE, or by
 * reaching its end, where IR_FALSE is defined if a jump uses it. A command always
 * ends there, or at IR_MAYBE. Loops count their rounds, so that the code ends.
 */
#ifndef TRUEHIT_IR_IR_H
#define TRUEHIT_IR_IR_H

#include "gdbstub/ir/compare.h"
#include "gdbstub/agent/expr.h"

struct ir_operand {
	enum ir_operand_kind { IR_SLOT, IR_CONST, IR_REGISTER } kind;
	uint64_t value; /* the slot, the constant, or the register's number */
};

static inline struct ir_operand ir_slot(uint64_t number)
{
	return (struct ir_operand){IR_SLOT, number};
}

static inline struct ir_operand ir_constant(uint64_t value)
{
	return (struct ir_operand){IR_CONST, value};
}

static inline bool ir_is_slot(struct ir_operand operand, uint64_t number)
{
	return operand.kind == IR_SLOT && operand.value == number;
}

static inline bool ir_is_constant(struct ir_operand operand, uint64_t value)
{
	return operand.kind == IR_CONST && operand.value == value;
}

/** Labels below IR_LABELS are exits; the others are places in the code. */
enum { IR_FALSE, IR_TRUE, IR_MAYBE, IR_LABELS };

enum ir_op {
	IR_LABEL,  /* label: */
	IR_JUMP,   /* goto label */
	IR_BRANCH, /* if (a compare b) goto label */
	IR_SET,	   /* slot = a compare b */
	IR_MOVE,   /* slot = a */
	IR_HIDE,   /* slot = a, a constant that the verifier is not to know */
	IR_ARITH,  /* slot = a code b; a division by zero goes to IR_MAYBE (a constant
		    * divisor is not 0) */
	IR_EXTEND, /* slot = the low b (a constant, 0..63) bits of a, by code */
	IR_REF,	   /* slot = the b (a constant) bytes at a; or to IR_MAYBE */
	IR_THREAD, /* slot = the thread's number; or to IR_MAYBE */
	IR_GETV,   /* slot = trace state variable b (a constant) */
	IR_SETV,   /* trace state variable b (a constant) = a */
	IR_PRINT,  /* begin of a printf; its arguments follow */
	IR_STORE,  /* argument b (a constant) of the printf = a; or to IR_MAYBE */
};

struct ir_insn {
	enum ir_op op;
	enum ir_compare compare;
	uint8_t code; /* enum agent_code */
	unsigned int slot;
	uint32_t label;
	uint32_t printf;	/* IR_PRINT, IR_STORE: index of the operation */
	struct ir_operand a, b; /* may name the slot that is written */
};

struct ir {
	struct ir_insn *insns;
	size_t count, capacity;
	uint32_t labels;      /* all labels are below this number */
	unsigned int slots;   /* ... slots; the first are the most used */
	bool used[IR_LABELS]; /* can the code be left this way? */
};

/** What the code is made for. */
struct ir_target {
	unsigned int slots; /* how many it has */
	/* About how many operations loops may take, all together, before the code
	 * leaves by IR_MAYBE; at most AGENT_STEPS_MAX / 2. */
	unsigned int loop_steps;
	bool hides; /* emit IR_HIDE for constants that vary by the path taken */
	/** How many bits it has, as the code reads it, extended by zeroes; 0: it cannot
	 * be read, and to read it is a jump to IR_MAYBE. */
	unsigned int (*register_bits)(void *data, unsigned int number);
	bool reads_thread; /* it has IR_THREAD; else, to read it is a jump to IR_MAYBE
			    */
	/** Can the code read and set it? If not, that is a jump to IR_MAYBE. */
	bool (*has_variable)(void *data, unsigned int number);
	/** Told why a path always ends at IR_MAYBE: a text for people. */
	void (*undecided)(void *data, const char *reason);
	void *data;
};

void ir_deinit(struct ir *ir);

#endif
