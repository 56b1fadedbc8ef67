/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which instruction has made an access that a watchpoint tells of. Where the trap comes
 * before the access (aarch64), it is the one at the PC. Else it is the one that the PC
 * is after, a call that led to the PC, or one that repeats itself and is at the PC
 * still.
 */
#ifndef TRUEHIT_TEXT_ACCESS_H
#define TRUEHIT_TEXT_ACCESS_H

#include "arch/arch.h"
#include "gdbstub/inferior/inferior.h"

/** A stop at a watchpoint. */
struct access_stop {
	const struct regs *regs; /* as of the stop; the general ones are enough */
	uint64_t pc;
	uint64_t stack_top;	/* the word that the stack pointer points to, or 0 */
	uint64_t start;		/* of the function that the PC is in; 0: not known */
	uint64_t addr;		/* what is watched */
	unsigned int len;	/* ... in bytes */
	bool by_write, by_read; /* which accesses count */
	/** Reads code, as far as there is some: bytes, or a negative errno. */
	ssize_t (*read)(void *data, uint64_t addr, void *code, size_t len);
	void *data;
};

enum access_trust {
	ACCESS_UNKNOWN, /* no instruction was found */
	ACCESS_LIKELY,	/* this one fits, others may, too */
	ACCESS_SURE,
};

struct access {
	enum access_trust trust;
	uint64_t pc;	   /* of the instruction */
	unsigned int size; /* bytes that it accesses at a time; 0: not known */
	char text[INSN_TEXT_MAX];
};

/** Finds the instruction in the program of @inferior. */
void access_find(const struct inferior *inferior, const struct access_stop *stop,
		 struct access *ret);

#endif
