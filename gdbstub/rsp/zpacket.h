/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of Z and z packets, taken apart: TYPE,ADDR,KIND[;X LEN,BYTECODE...]
 * [;cmds:PERSIST,X LEN,BYTECODE...]. Pure.
 *
 * Source of the facts: "Debugging with GDB", Remote Protocol, Packets, Z0.
 */
#ifndef TRUEHIT_RSP_ZPACKET_H
#define TRUEHIT_RSP_ZPACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "gdbstub/base/error.h"
#include "gdbstub/rsp/parse.h"

enum { ZPACKET_BYTECODE_MAX = 0x10000 }; /* bytes of bytecode */

struct zpacket {
	uint64_t type; /* any number: which ones are known is not for the parser */
	uint64_t addr;
	uint64_t tag;	   /* what its receiver has taken out of the address, or 0 */
	unsigned int kind; /* bytes to watch, or the size of the instruction */
	struct zpacket_options {
		struct cursor text;
		bool commands;	 /* what comes next are commands */
		bool persistent; /* commands go on when the client has gone */
	} options;		 /* what follows: conditions, then commands */
};

/** Takes the packet's head apart. The error says what is wrong. */
struct error *zpacket_parse(struct cursor args, struct zpacket *ret);

struct zpacket_expr {
	bool is_command;
	uint8_t *bytecode; /* the caller frees it; NULL: there are no more */
	size_t len;
};

/** The next condition or command in the options, which it moves past. */
struct error *zpacket_next_expr(struct zpacket_options *options,
				struct zpacket_expr *ret);

#endif
