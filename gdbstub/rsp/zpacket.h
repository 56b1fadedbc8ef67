/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of Z and z packets, taken apart: TYPE,ADDR,KIND[;X LEN,BYTECODE...]
 * [;cmds:...]. Pure.
 *
 * Source of the facts: "Debugging with GDB", Remote Protocol, Packets, Z0.
 */
#ifndef TRUEHIT_RSP_ZPACKET_H
#define TRUEHIT_RSP_ZPACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "rsp/parse.h"

enum { ZPACKET_CONDITION_MAX = 0x10000 }; /* bytes of bytecode */

struct zpacket {
	uint64_t type; /* any number: which ones are known is not for the parser */
	uint64_t addr;
	unsigned int kind;     /* bytes to watch, or the size of the instruction */
	struct cursor options; /* what follows: conditions, then commands */
};

/** Takes the packet's head apart. The error says what is wrong. */
struct error *zpacket_parse(struct cursor args, struct zpacket *ret);

struct zpacket_condition {
	uint8_t *bytecode; /* the caller frees it; NULL: there are no more */
	size_t len;
};

/**
 * The next condition in the options, which it moves behind. Commands, which are
 * not supported, and anything else are an error.
 */
struct error *zpacket_next_condition(struct cursor *options,
				     struct zpacket_condition *ret);

#endif
